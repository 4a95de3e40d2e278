//! Settings of the commands that create a cluster's directory.

use std::path::PathBuf;

use super::{ClusterLocation, keys};
use crate::args::start::{ImportArgs, InitArgs};
use crate::sops_files::SopsKeys;

/// Settings of `ichor init`.
pub(crate) struct Init {
    pub(crate) cluster: String,
    pub(crate) endpoint: String,
    /// `NAME=ADDRESS` each, as in the workers.
    pub(crate) control_plane: Vec<String>,
    pub(crate) worker: Vec<String>,
    pub(crate) talos: String,
    pub(crate) kubernetes: String,
    /// Create a directory for talhelper.
    pub(crate) talhelper: bool,
    pub(crate) root: PathBuf,
    pub(crate) keys: SopsKeys,
}

/// Settings of `ichor import`.
pub(crate) struct Import {
    pub(crate) location: ClusterLocation,
    pub(crate) target: PathBuf,
}

impl Init {
    pub(super) fn resolve(args: InitArgs) -> Self {
        Self {
            cluster: args.cluster,
            endpoint: args.endpoint,
            control_plane: args.control_plane,
            worker: args.worker,
            talos: args.talos,
            kubernetes: args.kubernetes,
            talhelper: args.talhelper,
            root: args.directory.unwrap_or_else(|| ".".into()),
            keys: keys(),
        }
    }
}

impl Import {
    pub(super) fn resolve(args: ImportArgs) -> Self {
        Self { location: ClusterLocation::resolve(args.cluster_dir.directory), target: args.output }
    }
}
