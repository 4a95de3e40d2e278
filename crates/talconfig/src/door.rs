//! From a talconfig to machine configuration, and to what plans know of a cluster.
//!
//! In: the files of a talconfig directory, read through a [`Host`](crate::Host). Out: layers, the configuration of each
//! machine, a `ClusterSpec`.
//!
//! The stages, in their order:
//!
//! 1. Files become text: [`environment`], [`dotenv`], [`sops_files`], [`substitute`], [`text`].
//! 2. Text becomes checked values: [`load`], [`decode`] by the tables of [`schema`], [`check`], [`secrets`].
//! 3. Values become layers: [`layers`], [`documents`], [`network`], [`image`] and its [`release_catalog`].
//! 4. Layers become configuration: [`machine`], which records a [`trace`] on request.
//! 5. Configuration becomes a spec and prerendered layers: [`translate`].
//!
//! Values carry the location in the file that they come from; [`source_text`] says it for people.

pub(crate) mod check;
pub(crate) mod decode;
pub(crate) mod documents;
pub(crate) mod dotenv;
pub(crate) mod environment;
pub(crate) mod image;
pub(crate) mod json_schema;
pub(crate) mod layers;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod network;
pub(crate) mod release_catalog;
pub(crate) mod schema;
pub(crate) mod secrets;
pub(crate) mod sops_files;
pub(crate) mod source_text;
pub(crate) mod substitute;
pub(crate) mod text;
pub(crate) mod trace;
pub(crate) mod translate;
