//! Arguments of `ichor patch`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Apply patches to machine configuration
///
/// Takes what talosctl takes: strategic merge patches, with `$patch: delete`, and RFC 6902
/// operations as JSON or YAML. The result is what talosctl 1.14 writes, byte for byte. It is not
/// validated yet: a machine may still refuse it.
///
///   ichor patch controlplane.yaml -p @patches/all.yaml
///   ichor patch worker.yaml -p '{"machine": {"sysctls": {"a": "1"}}}' -o w-1.yaml
///   ichor patch cp-1.yaml cp-2.yaml -p @new.yaml -o patched/
///
/// With --layout the result is laid out as another release of Talos does it: keys become
/// documents, or documents become keys. What has moved and what stays is told. What it means is
/// not changed, so new defaults of that release are not among it.
///
///   ichor patch clusterconfig/*.yaml --layout v1.14 -o newer/
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct PatchArgs {
    /// Machine configuration to patch; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// A patch: @FILE, FILE, or its text; repeat it for several
    #[arg(
        short,
        long = "patch",
        value_name = "PATCH",
        allow_hyphen_values = true,
        required_unless_present = "layout"
    )]
    pub patches: Vec<String>,

    /// Lay the result out as this release of Talos does
    #[arg(long, value_name = "VERSION")]
    pub layout: Option<String>,

    /// The file to write to, or the directory: one that exists, or for several files; stdout when
    /// left out
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite files that exist
    #[arg(short, long)]
    pub force: bool,

    /// Quote texts as the talosctl of this release does
    #[arg(long, value_enum, default_value_t, value_name = "RELEASE")]
    pub dialect: Dialect,
}

/// Release lines of talosctl whose output differs.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Dialect {
    /// talosctl 1.14 and later
    #[default]
    #[value(name = "1.14")]
    V1_14,
    /// talosctl 1.13
    #[value(name = "1.13")]
    V1_13,
    /// talosctl 1.12 and earlier
    #[value(name = "1.12")]
    V1_12,
}

impl From<Dialect> for talos_config::yaml::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::V1_14 => Self::V1_14,
            Dialect::V1_13 => Self::V1_13,
            Dialect::V1_12 => Self::V1_12,
        }
    }
}
