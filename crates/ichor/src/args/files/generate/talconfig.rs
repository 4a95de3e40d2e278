//! Arguments of `ichor gen talconfig`.

use std::path::PathBuf;

use clap::Args;

/// Make a talconfig of cluster.yaml and nodes.yaml
///
/// Both files are checked first. Patches are the templates below templates/config/talos/patches: in `global`,
/// `controller`, `worker`, and in directories with the names of nodes. Templates in templates/config/talos are filled in
/// as well; without a talconfig.yaml.j2 among them the talconfig is the one of the operations guide.
/// What is called NAME.sops.yaml.j2 is written encrypted, by the rules of the nearest .sops.yaml.
///
///   ichor gen talconfig --dry-run
///   ichor gen talconfig && ichor talhelper validate talconfig talos/talconfig.yaml
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GenTalconfigArgs {
    /// The directory of cluster.yaml and nodes.yaml; the current one when left out
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// The directory to write to; `talos` beside the files when left out
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Show what would change and write nothing; ends with 2 when something would
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Overwrite files that say something else, without asking
    #[arg(short, long)]
    pub force: bool,
}
