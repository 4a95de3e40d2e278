//! Arguments of `ichor node image`.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::args::ConnectionArgs;
use crate::args::inspect::ImageNamespace;
use crate::args::values::duration;

/// Verbs of `ichor node image`.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeImageCommand {
    Pull(ImagePullArgs),
}

/// Pull a container image ahead of time
///
///   ichor node image pull registry.k8s.io/kube-apiserver:v1.36.3 -n 10.0.0.11
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct ImagePullArgs {
    /// Reference of the image
    pub reference: String,

    /// Pull into this namespace
    #[arg(long, value_enum, default_value_t = ImageNamespace::Cri)]
    pub namespace: ImageNamespace,

    /// Stop waiting for one machine after this time
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
