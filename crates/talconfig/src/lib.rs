//! The talhelper door: `talconfig.yaml` and what belongs to it, turned into layers of machine configuration.
//!
//! A talconfig goes in through a [`Host`] that reads files and knows variables ([`Talconfig::load`]), layers
//! come out ([`Cluster::layers`]), and from them the configuration of each machine, byte for byte as talhelper
//! 3.1.15 writes it ([`Cluster::machine`]). For plans the same is a `ClusterSpec` and its layers
//! ([`Cluster::translate`]).
//!
//! Always holds: the crate reads no file, no variable, no clock and no network itself; the same world gives the
//! same bytes; nothing of an encrypted file is told to anybody who only listens.

mod check;
pub mod cluster_template;
mod decode;
mod documents;
mod dotenv;
mod environment;
mod error;
mod error_location;
mod gotemplate;
mod host;
mod image;
mod json_schema;
mod layers;
pub mod lint;
mod load;
mod machine;
pub mod migrate;
mod network;
mod release_catalog;
mod schema;
mod secrets;
mod sops_files;
mod source_text;
mod substitute;
mod text;
mod trace;
mod translate;
mod value_ext;

pub use check::Finding;
pub use environment::Environment;
pub use error::{Error, ErrorDetail};
pub use host::{FileError, Host};
pub use image::{Factory, Images, MachineSpec, Registration, read_schematic, simple_schematic};
pub use json_schema::json_schema;
pub use layers::{Layer, LayerOp};
pub use load::{Node, Talconfig};
pub use machine::{Cluster, Machine};
pub use release_catalog::{LATEST, ReleaseCatalog, ReleaseContents, tag};
pub use secrets::Secrets;
pub use sops_files::read_decrypted;
pub use translate::check_spec;
