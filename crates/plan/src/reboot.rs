//! The reboot class of a change of configuration on a running machine.
//!
//! Up to 1.13 Talos has a list of fields that it takes over at once; a change of any other field of the
//! oldest document needs a reboot, other documents never do. From 1.14 on everything is taken over at
//! once. A machine whose release is not known gets the shortest list.

use std::fmt;

use domain::TalosVersion;
use serde::{Deserialize, Serialize};
use talos_config::Difference;

/// The need of a reboot for a change.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RebootClass {
    /// There is nothing to change.
    Nothing,
    /// It is taken over while the machine runs.
    WithoutReboot,
    /// It is taken over when the machine boots.
    WithReboot,
}

impl fmt::Display for RebootClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::WithoutReboot => "without reboot",
            Self::WithReboot => "with reboot",
        })
    }
}

/// Returns the class of all differences together.
pub(crate) fn class(
    differences: &[Difference],
    same: bool,
    talos: Option<&TalosVersion>,
) -> RebootClass {
    if same {
        RebootClass::Nothing
    } else if differences.iter().any(|difference| needs_reboot(difference, talos)) {
        RebootClass::WithReboot
    } else {
        RebootClass::WithoutReboot
    }
}

/// Returns whether a component of Kubernetes gets another release.
pub(crate) fn changes_kubernetes(difference: &Difference) -> bool {
    let image = if difference.document == OLDEST {
        KUBERNETES.contains(&difference.path.as_str())
    } else {
        difference.document.starts_with("Kube") && difference.path == "image"
    };
    // A component that comes or goes has no other release.
    let (Some(before), Some(after)) = (&difference.before, &difference.after) else { return false };
    let tag = |image: &str| image.rsplit_once(':').map(|(_, tag)| tag.to_owned());
    image && tag(before) != tag(after)
}

fn needs_reboot(difference: &Difference, talos: Option<&TalosVersion>) -> bool {
    let since = |minor: u32| talos.is_some_and(|talos| talos.contract().since(minor));
    if difference.document != OLDEST {
        return false;
    }
    // Every release reads these when etcd starts, and nothing but a boot starts it again.
    if is_within(&difference.path, ETCD) && !is_within(&difference.path, ETCD_IMMEDIATE) {
        return true;
    }
    if since(14) {
        return false;
    }
    let known = IMMEDIATE.iter().filter(|(minor, _)| since(*minor) || *minor == 0);
    !known.flat_map(|(_, fields)| *fields).any(|field| is_within(&difference.path, field))
}

/// Returns whether a path is a field or something in it.
fn is_within(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The name of the oldest document.
const OLDEST: &str = "v1alpha1";

/// The fields of the oldest document that name images of Kubernetes.
const KUBERNETES: &[&str] = &[
    "machine.kubelet.image",
    "cluster.apiServer.image",
    "cluster.controllerManager.image",
    "cluster.proxy.image",
    "cluster.scheduler.image",
];

/// The arguments of etcd, and the one field of them that a controller of Talos watches.
const ETCD: &str = "cluster.etcd";
const ETCD_IMMEDIATE: &str = "cluster.etcd.advertisedSubnets";

/// Fields that are taken over at once, by the first minor release in which that is certain.
const IMMEDIATE: &[(u32, &[&str])] = &[
    (
        0,
        &[
            "debug",
            "cluster",
            "machine.time",
            "machine.certSANs",
            "machine.install",
            "machine.network",
            "machine.sysfs",
            "machine.sysctls",
            "machine.logging",
            "machine.controlPlane",
            "machine.kubelet",
            "machine.kernel",
            "machine.registries",
            "machine.pods",
            "machine.seccompProfiles",
            "machine.nodeLabels",
            "machine.features.kubernetesTalosAPIAccess",
            "machine.features.kubePrism",
        ],
    ),
    (
        8,
        &[
            "machine.ca",
            "machine.acceptedCAs",
            "machine.nodeTaints",
            "machine.nodeAnnotations",
            "machine.features.hostDNS",
        ],
    ),
    (11, &["machine.features.imageCache", "machine.features.nodeAddressSortAlgorithm"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(document: &str, path: &str, talos: Option<&str>) -> RebootClass {
        let talos = talos.map(|talos| talos.parse().expect("a version"));
        let (document, path) = (document.to_owned(), path.to_owned());
        let difference = Difference { document, path, before: None, after: None };
        class(&[difference], false, talos.as_ref())
    }

    #[test]
    fn the_list_grows_with_the_release() {
        use RebootClass::{WithReboot, WithoutReboot};
        for (document, path, talos, wanted) in [
            ("v1alpha1", "machine.sysctls.a", Some("v1.5.0"), WithoutReboot),
            ("v1alpha1", "machine.nodeTaints.a", Some("v1.5.0"), WithReboot),
            ("v1alpha1", "machine.nodeTaints.a", Some("v1.8.0"), WithoutReboot),
            ("v1alpha1", "machine.nodeTaints.a", None, WithReboot),
            ("v1alpha1", "machine.env.A", Some("v1.13.9"), WithReboot),
            ("v1alpha1", "machine.env.A", Some("v1.14.1"), WithoutReboot),
            ("v1alpha1", "machine.networking", Some("v1.13.9"), WithReboot),
            ("v1alpha1", "machine.network", Some("v1.13.9"), WithoutReboot),
            ("HostnameConfig", "hostname", Some("v1.13.9"), WithoutReboot),
            ("v1alpha1", "cluster.etcd.extraArgs.quota-backend-bytes", Some("v1.13.9"), WithReboot),
            ("v1alpha1", "cluster.etcd.image", Some("v1.14.1"), WithReboot),
            ("v1alpha1", "cluster.etcd.advertisedSubnets[0]", Some("v1.13.9"), WithoutReboot),
            ("v1alpha1", "cluster.network", Some("v1.13.9"), WithoutReboot),
        ] {
            assert_eq!(of(document, path, talos), wanted, "{document} {path} {talos:?}");
        }
    }
}
