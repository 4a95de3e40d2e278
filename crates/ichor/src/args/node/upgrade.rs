//! Arguments of `ichor node upgrade`.

use clap::Args;

use super::{NodeOverrideArgs, RebootMode, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Install another image on machines, one after the other
///
/// The image is pulled, installed beside the one that runs, and booted; the machine goes back to
/// the old one by itself when the new one does not come up, which is told as an error. Machines
/// before Talos 1.13 do all of it by themselves.
///
/// Without --image a machine gets the installer that its cluster's directory gives it: in a talconfig
/// the talosImageURL with the talosVersion, else that of its schematic.
///
///   ichor node upgrade -n cp-1
///   ichor node upgrade -n 10.0.0.11 --image factory.talos.dev/metal-installer/…:v1.14.1
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of talosctl")]
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct UpgradeArgs {
    /// The installer, with the extensions that the machine shall have; else the one that the cluster's directory gives it
    #[arg(short, long)]
    pub image: Option<String>,

    /// Only tell which machine would get which image
    #[arg(long)]
    pub dry_run: bool,

    /// How to reboot
    #[arg(short = 'm', long, value_enum, default_value_t, value_name = "MODE")]
    pub reboot_mode: RebootMode,

    /// Install, and leave the reboot for later; Talos 1.13 and later
    #[arg(long, conflicts_with_all = ["legacy", "stage"])]
    pub no_reboot: bool,

    /// Let the machine do all of it by itself, as before Talos 1.13
    #[arg(long)]
    pub legacy: bool,

    /// Install at the next boot, before anything uses the disk; before Talos 1.13, or with --legacy
    #[arg(long)]
    pub stage: bool,

    /// Keep the data of a machine before Talos 1.8, which loses it otherwise
    #[arg(long)]
    pub preserve: bool,

    /// Do not ask whether etcd can spare the machine; before Talos 1.13, or with --legacy
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
