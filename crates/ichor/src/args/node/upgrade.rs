//! Arguments of `ichor node upgrade`.

use clap::Args;

use super::{NodeOverrideArgs, RebootMode, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Upgrade Talos on machines, one after the other
///
/// Pulls the image, installs it beside the running one, and reboots. If the new one does not come up,
/// the machine rolls back by itself, which is reported as an error. Machines before Talos 1.13 do all
/// of this by themselves.
///
/// Without --image a machine gets the installer from its cluster directory: in a talconfig the
/// talosImageURL with the talosVersion, or else that of its schematic.
///
///   ichor node upgrade -n cp-1
///   ichor node upgrade -n 10.0.0.11 --image factory.talos.dev/metal-installer/…:v1.14.1
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of talosctl")]
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct UpgradeArgs {
    /// Install this image, with the extensions that the machine needs; by default the one from the cluster directory
    #[arg(short, long)]
    pub image: Option<String>,

    /// Only show which machine would get which image
    #[arg(long)]
    pub dry_run: bool,

    /// Choose how to reboot
    #[arg(short = 'm', long, value_enum, default_value_t, value_name = "MODE")]
    pub reboot_mode: RebootMode,

    /// Install without rebooting; Talos 1.13 and later
    #[arg(long, conflicts_with_all = ["legacy", "stage"])]
    pub no_reboot: bool,

    /// Use the upgrade call of Talos before 1.13
    #[arg(long)]
    pub legacy: bool,

    /// Install during the next boot; before Talos 1.13, or with --legacy
    #[arg(long)]
    pub stage: bool,

    /// Preserve the data of a machine before Talos 1.8
    #[arg(long)]
    pub preserve: bool,

    /// Skip the etcd check of the machine; before Talos 1.13, or with --legacy
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
