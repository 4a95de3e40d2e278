//! Arguments of `ichor gen config`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Make the machine configuration of a cluster
///
/// Writes controlplane.yaml, worker.yaml and talosconfig, laid out as the Talos release wants it and
/// without comments: what talosctl writes with --with-docs=false --with-examples=false.
///
///   ichor gen secrets
///   ichor gen config home $ENDPOINT --with-secrets secrets.yaml
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct GenConfigArgs {
    /// The name of the cluster
    pub cluster: String,

    /// Where the Kubernetes API will be reached: https://host:port
    pub endpoint: String,

    /// The secrets of the cluster; new ones when left out
    #[arg(long, value_name = "FILE")]
    pub with_secrets: Option<PathBuf>,

    /// The Talos release whose layout the configuration has; the newest when left out. It does not change
    /// the versions of Kubernetes and of the installer
    #[arg(long, value_name = "VERSION")]
    pub talos_version: Option<String>,

    /// The version of Kubernetes
    #[arg(long, default_value = DEFAULT_KUBERNETES, value_name = "VERSION")]
    pub kubernetes_version: String,

    /// The disk to install to; empty for none
    #[arg(long, default_value = "/dev/sda", value_name = "DEVICE")]
    pub install_disk: String,

    /// The image to install
    #[arg(long, default_value = DEFAULT_INSTALLER, value_name = "IMAGE")]
    pub install_image: String,

    /// Comments that document fields; there are none, so only `false` is of any use
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub with_docs: Option<bool>,

    /// Comments with examples; there are none, so only `false` is of any use
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub with_examples: Option<bool>,

    /// Further names and addresses of the machines and the API
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub additional_sans: Vec<String>,

    /// The domain of the cluster
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    pub dns_domain: String,

    /// A mirror of a registry: HOST=URL
    #[arg(long, value_delimiter = ',', value_name = "HOST=URL")]
    pub registry_mirror: Vec<String>,

    /// Whether machines find each other through the discovery service
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub with_cluster_discovery: bool,

    /// Build an encrypted network between the machines
    #[arg(long)]
    pub with_kubespan: bool,

    /// A patch for every machine: @FILE, FILE, or its text; repeat it for several
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch: Vec<String>,

    /// A patch for control planes: @FILE, FILE, or its text; repeat it for several
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch_control_plane: Vec<String>,

    /// A patch for workers: @FILE, FILE, or its text; repeat it for several
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch_worker: Vec<String>,

    /// What to write
    #[arg(
        short = 't',
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "controlplane,worker,talosconfig",
        value_name = "TYPE"
    )]
    pub output_types: Vec<OutputType>,

    /// The directory to write to, or the file when there is one type; `-` is stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite files that exist
    #[arg(short, long)]
    pub force: bool,
}

/// What `ichor gen config` writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum OutputType {
    /// The configuration of control planes
    Controlplane,
    /// The configuration of workers
    Worker,
    /// The client's side
    Talosconfig,
}

/// What talosctl 1.14.1 writes when it is not told otherwise.
const DEFAULT_KUBERNETES: &str = "1.37.0";
const DEFAULT_INSTALLER: &str = "factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.14.1";
