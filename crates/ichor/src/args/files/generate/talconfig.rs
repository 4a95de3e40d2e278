//! Arguments of `ichor gen talconfig`.

use std::path::PathBuf;

use clap::Args;

/// Generate a talconfig from cluster.yaml and nodes.yaml
///
/// Checks both files first. Patches are rendered from the templates below templates/config/talos/patches: in `global`,
/// `controller`, `worker`, and in directories with the names of nodes. Templates in templates/config/talos are rendered
/// as well; without a talconfig.yaml.j2 among them the talconfig is the one of the operations guide.
/// Templates called NAME.sops.yaml.j2 are written encrypted, by the rules of the nearest .sops.yaml.
///
///   ichor gen talconfig --dry-run
///   ichor gen talconfig && ichor validate
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GenTalconfigArgs {
    /// Read cluster.yaml and nodes.yaml from this directory; by default the current one
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Write to this directory; by default `talos` beside the files
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Show what would change and write nothing; the exit status is 2 if anything would
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Overwrite changed files without asking
    #[arg(short, long)]
    pub force: bool,
}
