//! Arguments of `ichor patch`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Apply patches to machine configuration
///
/// Accepts the patches that talosctl accepts: strategic merge patches, with `$patch: delete`, and
/// RFC 6902 operations as JSON or YAML. The result is what talosctl 1.14 writes, byte for byte. It is
/// not validated: a machine may still reject it.
///
///   ichor patch controlplane.yaml -p @patches/all.yaml
///   ichor patch worker.yaml -p '{"machine": {"sysctls": {"a": "1"}}}' -o w-1.yaml
///   ichor patch cp-1.yaml cp-2.yaml -p @new.yaml -o patched/
///
/// With --layout the result is converted to the layout of another Talos release: keys become
/// documents, or documents become keys. Moved and unmoved fields are reported. The meaning does not
/// change, so new defaults of that release are not added.
///
///   ichor patch clusterconfig/*.yaml --layout v1.14 -o newer/
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct PatchArgs {
    /// Machine configuration to patch; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Apply a patch: @FILE, FILE, or its text; can be repeated
    #[arg(
        short,
        long = "patch",
        value_name = "PATCH",
        allow_hyphen_values = true,
        required_unless_present = "layout"
    )]
    pub patches: Vec<String>,

    /// Convert to the layout of this Talos release
    #[arg(long, value_name = "VERSION")]
    pub layout: Option<String>,

    /// Write to this file, or to this directory if it exists or there are several files; by default stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,

    /// Quote strings like this release of talosctl
    #[arg(long, value_enum, default_value_t, value_name = "RELEASE")]
    pub dialect: Dialect,
}

/// Releases of talosctl whose output differs.
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
