//! Machine configuration converted to the layout of another Talos release.
//!
//! In: a configuration and a contract. Out: the same settings in the documents of that contract, a
//! list of moved settings, and a list of settings that stay because no other document can hold
//! them.
//!
//! Always holds: nothing is added that changes a machine's behaviour, and nothing is lost. New
//! defaults of a release are not part of its layout. Interfaces become documents in the same way as
//! in the talhelper door, which is why this module is in the same crate.

mod draft;
mod kubernetes;
mod machine;

use talos_config::{Config, Contract, Error};

use draft::Draft;

/// A configuration in another layout.
pub struct Converted {
    /// The configuration.
    pub config: Config,
    /// The moved settings.
    pub moved: Vec<Moved>,
    /// The settings that could not be moved.
    pub not_moved: Vec<NotMoved>,
}

/// A moved setting.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Moved {
    /// The old path.
    pub from: String,
    /// The new path.
    pub to: String,
}

/// A setting that stays.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct NotMoved {
    /// The path.
    pub path: String,
    /// The reason why it stays.
    pub reason: String,
}

/// Converts a configuration to the layout of a contract.
pub fn convert(config: &Config, contract: Contract) -> Result<Converted, Error> {
    let mut draft = Draft::new(config);
    for conversion in CONVERSIONS {
        if contract >= Contract::new(1, conversion.since) {
            (conversion.forward)(&mut draft);
        } else {
            (conversion.back)(&mut draft);
        }
    }
    draft.finish(contract)
}

/// One setting that has another path in newer releases.
struct Conversion {
    /// The minor Talos release with the newer path.
    since: u32,
    forward: fn(&mut Draft),
    back: fn(&mut Draft),
}

const fn conversion(since: u32, forward: fn(&mut Draft), back: fn(&mut Draft)) -> Conversion {
    Conversion { since, forward, back }
}

const CONVERSIONS: &[Conversion] = &[
    conversion(12, machine::hidden_features, |_| {}),
    conversion(12, machine::hostname, machine::hostname_back),
    conversion(12, machine::resolver, machine::resolver_back),
    conversion(12, machine::static_hosts, machine::static_hosts_back),
    conversion(12, machine::interfaces, |_| {}),
    conversion(12, machine::time, machine::time_back),
    conversion(12, machine::registries, machine::registries_back),
    conversion(12, machine::disk_encryption, |_| {}),
    conversion(13, machine::renames_13, machine::renames_13_back),
    conversion(14, kubernetes::discovery, kubernetes::discovery_back),
    conversion(14, machine::install, machine::install_back),
    conversion(14, machine::renames_14, machine::renames_14_back),
    conversion(14, machine::kernel_modules, machine::kernel_modules_back),
    conversion(14, machine::static_pods, machine::static_pods_back),
    // Before the cluster moves: the endpoint is the issuer of service accounts.
    conversion(14, kubernetes::authorities, |_| {}),
    conversion(14, kubernetes::cluster, kubernetes::cluster_back),
    conversion(14, |_| {}, kubernetes::authorities_back),
    conversion(14, kubernetes::node, kubernetes::node_back),
    conversion(14, kubernetes::kubelet, kubernetes::kubelet_back),
    conversion(14, kubernetes::network, kubernetes::network_back),
    conversion(14, kubernetes::features, kubernetes::features_back),
    conversion(14, kubernetes::encryption, kubernetes::encryption_back),
    conversion(14, kubernetes::control_plane, kubernetes::control_plane_back),
    conversion(14, kubernetes::manifests, kubernetes::manifests_back),
];
