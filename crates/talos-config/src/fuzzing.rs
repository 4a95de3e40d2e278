//! The bodies of the fuzz targets, which the tests run again over every text that was ever found.

use crate::cel::{self, Environment};
use crate::yaml::{Dialect, Limits, parse as parse_yaml};
use crate::{
    Bundle, Confidential, Config, Mode, Patch, Patched, SourceId, apply, diff, explain, origins,
};

/// Parses; what is read as a configuration must survive being written and read again.
pub fn parse(text: &str) {
    let _ = parse_yaml(text, SourceId(1), Limits::default());
    if let Ok(config) = Config::parse(text, SourceId(1)) {
        let written = config.encode(Dialect::V1_14).into_exposed();
        let again = Config::parse(&written, SourceId(1));
        // The encoder of Talos writes some texts so that they cannot be read, and so do we.
        if let Ok(again) = again {
            assert!(diff(&config, &again).is_empty(), "read differently after being written");
        }
        let _ = origins(&config);
        let _ = config.redacted(Dialect::V1_14);
    }
}

/// Lays the part behind the first form feed over the part before it.
pub fn merge(text: &str) {
    let (left, right) = text.split_once('\u{c}').unwrap_or((text, text));
    if let Ok(patch) = Patch::parse(right, SourceId(2)) {
        let patches = [patch];
        for dialect in [Dialect::V1_12, Dialect::V1_13, Dialect::V1_14] {
            let merged = apply(left, SourceId(1), &patches, dialect);
            let _ = merged.and_then(Patched::into_config);
        }
    }
}

/// Applies the text as a patch, and asks about a field on the way.
pub fn patch(text: &str) {
    let Ok(patch) = Patch::parse(text, SourceId(2)) else { return };
    let patches = [patch];
    let _ = apply(EVERYTHING, SourceId(1), &patches, Dialect::V1_14);
    let _ = explain(
        EVERYTHING,
        SourceId(1),
        &patches,
        "machine.network.interfaces[eth0].mtu",
        &Confidential::default(),
    );
    let single = EVERYTHING.split("---").next().unwrap_or_default();
    if let Ok(result) = apply(single, SourceId(1), &patches, Dialect::V1_14) {
        let _ = result.encode(Dialect::V1_14);
    }
}

/// Validates in every mode; what is said must not depend on what was said before.
pub fn validate(text: &str) {
    let Ok(config) = Config::parse(text, SourceId(1)) else { return };
    for mode in Mode::ALL {
        let validation = config.validate(mode, false);
        assert!(validation == config.validate(mode, false), "validated twice with two results");
        let strict = config.validate(mode, true);
        assert!(strict.errors.len() >= validation.errors.len(), "strictness took an error away");
        let _ = validation.text();
    }
}

/// Reads the text as secrets; what is read must survive being written and read again.
pub fn bundle(text: &str) {
    let Ok(bundle) = Bundle::parse(text, SourceId(1)) else { return };
    let written = bundle.encode(Dialect::V1_14).into_exposed();
    if let Ok(again) = Bundle::parse(&written, SourceId(1)) {
        assert!(again.encode(Dialect::V1_14).into_exposed() == written, "written differently");
    }
    #[cfg(feature = "pki")]
    if bundle.problems().is_empty() {
        let _ = bundle.unusable_authorities(0);
    }
}

/// Checks the text as an expression everywhere one can stand.
pub fn expression(text: &str) {
    for environment in Environment::ALL {
        let _ = cel::check(text, environment);
    }
}

const EVERYTHING: &str = "\
machine:
    type: worker
    ca: {crt: YQ==, key: Yg==}
    network:
        interfaces:
            - {interface: eth0, mtu: 1400, vlans: [{vlanId: 1}]}
            - deviceSelector: {driver: e1000}
    kubelet: {extraArgs: {a: [x]}, extraConfig: {a: 1, l: [1], m: {k: v}}}
    registries: {mirrors: {docker.io: {endpoints: [https://a]}}}
    sysctls: {a: '1'}
cluster:
    controlPlane: {endpoint: https://h:6443/a?b#c}
    apiServer: {admissionControl: [{name: P, configuration: {a: 1}}]}
---
apiVersion: v1alpha1
kind: UserVolumeConfig
name: a
provisioning: {diskSelector: {match: system_disk}, minSize: 1GiB, maxSize: 50%}
encryption: {provider: luks2, keys: [{slot: 0, nodeID: {}}]}
---
apiVersion: v1alpha1
kind: LinkConfig
name: eth0
addresses: [{address: 10.0.0.1/8}]
";
