//! Machine configuration in the layout of another release of Talos.
//!
//! In: a configuration and a contract. Out: the same said in the documents of that contract, a list of what has
//! moved, and a list of what stays where it is because no other place says the same.
//!
//! Always holds: nothing is added that changes what a machine does, and nothing gets lost. New defaults of a
//! release are no part of its layout. Interfaces become documents here as they do for a talconfig, which is why
//! this stands beside it.

mod draft;
mod kubernetes;
mod machine;

use talos_config::{Config, Contract, Error};

use draft::Draft;

/// A configuration in another layout.
pub struct Converted {
    /// The configuration.
    pub config: Config,
    /// What has moved.
    pub moved: Vec<Moved>,
    /// What could not be moved.
    pub not_moved: Vec<NotMoved>,
}

/// Something that has moved.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Moved {
    /// Where it was.
    pub from: String,
    /// Where it is now.
    pub to: String,
}

/// Something that stays where it is.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct NotMoved {
    /// Where it is.
    pub path: String,
    /// Why it does not move.
    pub reason: String,
}

/// Lays a configuration out as a contract does.
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

/// One thing that has found another place.
struct Conversion {
    /// The minor release with the newer place.
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
