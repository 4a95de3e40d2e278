//! Arguments of `ichor image`.

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{ConnectionArgs, OutputArgs};

/// Verbs of `ichor image`.
#[derive(Clone, Debug, Subcommand)]
pub enum ImageCommand {
    #[command(visible_aliases = ["l", "ls"])]
    List(ImageListArgs),
}

/// List container images
#[derive(Clone, Debug, Args)]
pub struct ImageListArgs {
    /// List the images of this namespace
    #[arg(long, value_enum, default_value_t)]
    pub namespace: ImageNamespace,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Namespaces of images.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ImageNamespace {
    /// All workloads of Kubernetes
    #[default]
    Cri,
    /// etcd and the kubelet
    System,
    /// Talos' own services, in memory; Talos 1.13 and later
    Inmem,
}
