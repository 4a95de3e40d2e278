//! Talos machine configuration: read, written, merged, patched, compared and explained.
//!
//! Text goes in as documents ([`Config::parse`]), patches change them ([`Patch`]), and text comes out
//! byte for byte as talosctl writes it ([`Config::encode`]). Every value remembers where it was written.
//!
//! Always holds: the crate knows no clock, no randomness, no files and no network; no input makes it
//! panic; text that holds secrets leaves it as a [`Secret`], text for people has none in it.

mod bundle;
mod cel;
pub mod civil;
mod confidential;
mod config;
mod contract;
mod decode;
mod delete;
mod diagnostic;
mod diff;
mod encode;
mod error;
mod explain;
mod field_docs;
mod format;
#[doc(hidden)]
pub mod fuzzing;
mod generate;
mod hex;
mod json_patch;
pub mod kinds;
mod kubeconfig;
mod location;
mod merge;
mod natural_order;
mod newer;
mod patch;
mod patches_between;
pub mod pki;
mod releases;
pub mod schema;
mod schematic;
mod secret;
mod suggest;
mod talosconfig;
mod text_format;
mod validate;
mod value;
mod version;
pub mod yaml;

pub use bundle::Bundle;
#[cfg(feature = "pki")]
pub use bundle::{KubernetesPki, SecretSource};
pub use confidential::Confidential;
pub use config::{Config, Document};
pub use contract::{Contract, NoContract};
pub use diagnostic::{Coded, Diagnostic, ErrorKind, FileLocation, Level};
pub use diff::{Difference, diff, diff_hiding};
pub use error::Error;
pub use explain::{Explanation, ValueChange, explain, explain_steps, origins};
pub use field_docs::{FieldDocs, field_docs};
pub use format::size::{bytes as parse_bytes, satisfies as size_satisfies, spell as spell_bytes};
pub use generate::{Generate, Options, Role};
pub use hex::hex;
pub use kubeconfig::{Decision, Kubeconfig, Part, Renamed};
pub use location::{Location, SourceId};
pub use patch::{Patch, Patched, apply};
pub use patches_between::patches_between;
pub use releases::{DEFAULT, KubernetesRange, NewestPatch, RELEASES, Release};
pub use schematic::{Schematic, plain_installer};
pub use secret::{REDACTED, Secret};
pub use suggest::suggest;
pub use talosconfig::{Context, Talosconfig};
pub use text_format::{InvalidText, TextFormat};
pub use validate::{Finding, Mode, Validation, rules};
pub use value::{Data, Value};
pub use version::{KubernetesVersion, TalosVersion};
