//! Arguments of `ichor gen config`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use talos_config::DEFAULT;

/// Generate the machine configuration of a cluster
///
/// Writes controlplane.yaml, worker.yaml and talosconfig in the layout of the Talos release, without
/// comments: what talosctl writes with --with-docs=false --with-examples=false.
///
///   ichor gen secrets
///   ichor gen config home $ENDPOINT --with-secrets secrets.yaml
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct GenConfigArgs {
    /// Name of the cluster
    pub cluster: String,

    /// URL of the Kubernetes API: https://host:port
    pub endpoint: String,

    /// Use these secrets; by default new ones are generated
    #[arg(long, value_name = "FILE")]
    pub with_secrets: Option<PathBuf>,

    /// Use the layout of this Talos release
    #[arg(long, alias = "talos", default_value = DEFAULT.talos, value_name = "VERSION")]
    pub talos_version: String,

    /// Set the Kubernetes version; by default the one that the Talos release comes with
    #[arg(long, alias = "kubernetes", value_name = "VERSION")]
    pub kubernetes_version: Option<String>,

    /// Install to this disk; empty for none
    #[arg(long, default_value = "/dev/sda", value_name = "DEVICE")]
    pub install_disk: String,

    /// Install this image; by default the installer of the Talos release without extensions
    #[arg(long, value_name = "IMAGE")]
    pub install_image: Option<String>,

    /// Accept the flag of talosctl; no documentation comments are written
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub with_docs: Option<bool>,

    /// Accept the flag of talosctl; no example comments are written
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub with_examples: Option<bool>,

    /// Add subject alternative names for the machines and the API
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub additional_sans: Vec<String>,

    /// Set the DNS domain of the cluster
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    pub dns_domain: String,

    /// Add a registry mirror: HOST=URL
    #[arg(long, value_delimiter = ',', value_name = "HOST=URL")]
    pub registry_mirror: Vec<String>,

    /// Enable cluster discovery
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub with_cluster_discovery: bool,

    /// Enable encrypted networking between machines
    #[arg(long)]
    pub with_kubespan: bool,

    /// Patch all machines: @FILE, FILE, or the text of a patch; can be repeated
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch: Vec<String>,

    /// Patch control planes: @FILE, FILE, or the text of a patch; can be repeated
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch_control_plane: Vec<String>,

    /// Patch workers: @FILE, FILE, or the text of a patch; can be repeated
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch_worker: Vec<String>,

    /// Write these outputs
    #[arg(
        short = 't',
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "controlplane,worker,talosconfig",
        value_name = "TYPE"
    )]
    pub output_types: Vec<OutputType>,

    /// Write to this directory, or to this file if there is one output; `-` is stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,
}

/// Outputs of `ichor gen config`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum OutputType {
    /// Configuration of control planes
    Controlplane,
    /// Configuration of workers
    Worker,
    /// Client configuration
    Talosconfig,
}
