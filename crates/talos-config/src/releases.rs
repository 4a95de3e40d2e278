//! The minor releases of Talos, a row each: the one place that knows which there are.
//!
//! A row says what holds for a release as a whole. What *came* with a release is marked where it is, by the contract
//! that brought it: kinds and fields (`since`), words (`later`), calls of the API, settings that need no reboot.

use std::fmt;
use std::ops::RangeInclusive;

use crate::contract::Contract;
use crate::version::KubernetesVersion;
use crate::yaml::Dialect;

/// A minor release of Talos.
#[derive(Debug)]
pub struct Release {
    /// The contract of its configuration.
    pub contract: Contract,
    /// The way in which it reads, merges and writes YAML.
    pub dialect: Dialect,
    /// The releases of Kubernetes that it runs, where they are known.
    pub kubernetes: Option<KubernetesRange>,
    /// Its newest patch; none where its machines cannot be managed.
    pub newest: Option<NewestPatch>,
}

/// The newest patch of a release that we know.
#[derive(Clone, Copy, Debug)]
pub struct NewestPatch {
    /// The release of Talos.
    pub talos: &'static str,
    /// The release of Kubernetes that it comes with.
    pub kubernetes: &'static str,
}

/// The minor releases of Kubernetes that a release of Talos runs.
#[derive(Clone, Debug)]
pub struct KubernetesRange(RangeInclusive<u32>);

/// Every release that configuration can be written for, in their order.
pub const RELEASES: &[Release] = &[
    written(0),
    written(1),
    known(2, 23..=25),
    known(3, 24..=26),
    known(4, 25..=27),
    managed(5, Dialect::V1_12, "v1.5.6", 26..=28, "v1.28.3"),
    managed(6, Dialect::V1_12, "v1.6.8", 24..=29, "v1.29.7"),
    managed(7, Dialect::V1_12, "v1.7.7", 25..=30, "v1.30.5"),
    managed(8, Dialect::V1_12, "v1.8.4", 26..=31, "v1.31.4"),
    managed(9, Dialect::V1_12, "v1.9.6", 27..=32, "v1.32.4"),
    managed(10, Dialect::V1_12, "v1.10.9", 28..=33, "v1.33.6"),
    managed(11, Dialect::V1_12, "v1.11.6", 29..=34, "v1.34.1"),
    managed(12, Dialect::V1_12, "v1.12.10", 30..=35, "v1.35.4"),
    managed(13, Dialect::V1_13, "v1.13.9", 31..=36, "v1.36.3"),
    managed(14, Dialect::V1_14, "v1.14.1", 32..=37, "v1.37.0"),
    Release { dialect: Dialect::V1_14, ..written(15) },
];

/// The releases of what names none, in every command and file: those that the tests with real nodes run.
pub const DEFAULT: NewestPatch =
    RELEASES[13].newest.expect("the tests with real nodes run a release that can be managed");

impl Release {
    /// Returns the oldest and the newest release whose machines can be managed.
    pub fn managed() -> (&'static Self, &'static Self) {
        let managed = || RELEASES.iter().filter(|release| release.newest.is_some());
        let bound = |release: Option<&'static Self>| release.unwrap_or(&RELEASES[0]);
        (bound(managed().next()), bound(managed().next_back()))
    }

    /// Returns the newest patch to run configuration of a contract with: that of the contract's own release, else of the
    /// nearest one that can be managed.
    pub fn patch_for(contract: Contract) -> NewestPatch {
        let mut managed = RELEASES.iter().filter_map(|release| Some((release, release.newest?)));
        let (oldest, newest) = Self::managed();
        let nearest = contract.clamp(oldest.contract, newest.contract);
        let own = managed.find(|(release, _)| release.contract == nearest);
        own.map_or(DEFAULT, |(_, patch)| patch)
    }
}

impl KubernetesRange {
    /// Returns whether a release is among them. A pre-release counts as its release.
    pub fn has(&self, version: &KubernetesVersion) -> bool {
        let (major, minor) = version.minor();
        major == 1 && self.0.contains(&minor)
    }

    /// Returns the minors of the oldest and the newest.
    pub fn minors(&self) -> &RangeInclusive<u32> {
        &self.0
    }
}

impl fmt::Display for KubernetesRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1.{} to v1.{}", self.0.start(), self.0.end())
    }
}

/// A release that configuration can be written for, and no more.
const fn written(minor: u32) -> Release {
    let contract = Contract::new(1, minor);
    Release { contract, dialect: Dialect::V1_12, kubernetes: None, newest: None }
}

const fn known(minor: u32, kubernetes: RangeInclusive<u32>) -> Release {
    Release { kubernetes: Some(KubernetesRange(kubernetes)), ..written(minor) }
}

const fn managed(
    minor: u32,
    dialect: Dialect,
    talos: &'static str,
    runs: RangeInclusive<u32>,
    kubernetes: &'static str,
) -> Release {
    let newest = Some(NewestPatch { talos, kubernetes });
    Release { dialect, newest, ..known(minor, runs) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::TalosVersion;

    #[test]
    fn rows_are_in_order_and_say_the_same_as_their_versions() {
        for (minor, row) in (0..).zip(RELEASES) {
            assert_eq!(row.contract, Contract::new(1, minor));
            let Some(NewestPatch { talos, kubernetes }) = row.newest else { continue };
            let talos: TalosVersion = talos.parse().expect("a version");
            assert_eq!(talos.contract(), row.contract);
            let kubernetes = kubernetes.parse().expect("a version");
            assert!(row.kubernetes.as_ref().is_some_and(|runs| runs.has(&kubernetes)), "{talos}");
        }
        assert!(RELEASES.is_sorted_by_key(|row| row.dialect));
    }

    #[test]
    fn the_default_is_what_the_tests_with_real_nodes_run() {
        use testkit::talos::{NODES_KUBERNETES, NODES_TALOS};
        assert_eq!((DEFAULT.talos, DEFAULT.kubernetes), (NODES_TALOS, NODES_KUBERNETES));
    }

    #[test]
    fn configuration_of_every_contract_has_a_release_to_run_it() {
        for (minor, talos) in [(0, "v1.5.6"), (5, "v1.5.6"), (12, "v1.12.10"), (15, "v1.14.1")] {
            assert_eq!(Release::patch_for(Contract::new(1, minor)).talos, talos);
        }
    }
}
