//! The talhelper door: `talconfig.yaml` and what belongs to it, turned into layers of machine configuration.
//!
//! A talconfig goes in through a [`World`] that reads files and knows variables ([`Talconfig::load`]), layers
//! come out ([`Cluster::layers`]), and from them the configuration of each machine, byte for byte as talhelper
//! 3.1.15 writes it ([`Cluster::machine`]). For plans the same is a `ClusterSpec` and its layers
//! ([`Cluster::translate`]).
//!
//! Always holds: the crate reads no file, no variable, no clock and no network itself; the same world gives the
//! same bytes; nothing of an encrypted file is told to anybody who only listens.

mod ask;
mod check;
mod decode;
mod documents;
mod dotenv;
mod environment;
mod error;
pub mod guide;
mod image;
mod layers;
mod layout;
mod lint;
mod load;
mod located;
mod machine;
mod network;
mod original;
mod schema;
mod sealed;
mod secrets;
mod shape;
mod steps;
mod substitute;
mod template;
mod text;
mod translate;
mod versions;
mod world;

pub use check::Finding;
pub use environment::Environment;
pub use error::{Error, Trouble};
pub use image::{Factory, Images, MachineSpec, Registration, read_schematic, simple_schematic};
pub use layers::{Change, Layer};
pub use layout::{Moved, Relaid, Stays, relay};
pub use lint::{
    Files, Level, Place, Remark, lint_codes, lint_ignored, lint_native, lint_talconfig,
};
pub use load::{Node, Talconfig};
pub use machine::{Cluster, Machine};
pub use schema::json_schema;
pub use sealed::open_file;
pub use secrets::Secrets;
pub use translate::checked;
pub use versions::{LATEST, Release, Versions, tag};
pub use world::{FileError, World};
