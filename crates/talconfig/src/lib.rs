//! The talhelper door: `talconfig.yaml` and its files as layers of machine configuration and as a `ClusterSpec`.
//!
//! A talconfig goes in through a [`Host`] that reads files and knows variables ([`Talconfig::load`]), layers
//! come out ([`Cluster::layers`]), and from them the configuration of each machine, byte for byte as talhelper
//! 3.1.15 writes it ([`Cluster::machine`]). For plans the same is a `ClusterSpec` and its layers
//! ([`Cluster::translate`]).
//!
//! The crate has five parts:
//!
//! | module | holds |
//! |---|---|
//! | `door` | from the files of a talconfig to machine configuration and to a `ClusterSpec` |
//! | `gotemplate` | Go's `text/template` with sprig's functions, as far as talconfigs use them |
//! | [`lint`] | mistakes that neither talhelper nor Talos reports |
//! | [`migrate`] | machine configuration converted to the documents of another Talos release |
//! | [`cluster_template`] | `cluster.yaml` and `nodes.yaml` of the cluster-template, as a talconfig |
//!
//! Always holds: the crate reads no file, no variable, no clock and no network itself; the same host gives the
//! same bytes; contents of encrypted files never reach debug or warning output.

pub mod cluster_template;
mod door;
mod error;
mod gotemplate;
mod host;
pub mod lint;
pub mod migrate;
mod value_ext;

pub use door::check::Finding;
pub use door::environment::Environment;
pub use door::image::{
    Factory, Images, MachineSpec, Registration, read_schematic, simple_schematic,
};
pub use door::json_schema::json_schema;
pub use door::layers::{Layer, LayerOp};
pub use door::load::{Node, Talconfig};
pub use door::machine::{Cluster, Machine};
pub use door::release_catalog::{LATEST, ReleaseCatalog, ReleaseContents, tag};
pub use door::secrets::Secrets;
pub use door::sops_files::read_decrypted;
pub use door::translate::check_spec;
pub use error::{Error, ErrorDetail, LocatedError};
pub use host::{FileError, Host};
