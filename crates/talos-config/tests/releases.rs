//! What older releases read, patch and write in another way. The level `bytes` shows that they do.

use talos_config::yaml::Dialect;
use talos_config::{Coded, Error, Patch, SourceId, apply};

#[test]
fn search_domains_are_added_to_before_1_14() {
    let config = "{apiVersion: v1alpha1, kind: ResolverConfig, searchDomains: {domains: [a]}}";
    let patch = "{apiVersion: v1alpha1, kind: ResolverConfig, searchDomains: {domains: [b]}}";
    assert!(
        patched(config, patch, Dialect::V1_13).ends_with("domains:\n        - a\n        - b\n")
    );
    assert!(patched(config, patch, Dialect::V1_14).ends_with("domains:\n        - b\n"));
}

#[test]
fn a_document_may_stand_twice_in_a_patch_since_1_14() {
    let patch = "{apiVersion: v1alpha1, kind: HostnameConfig, hostname: a}\n---\n# again\n\
                 {apiVersion: v1alpha1, kind: HostnameConfig, auto: off}\n";
    for dialect in [Dialect::V1_12, Dialect::V1_13] {
        let refusal = refused(MACHINE, patch, dialect).to_string();
        let words = "duplicate document v1alpha1/HostnameConfig/ is not allowed (line 4)";
        assert_eq!(refusal, words, "{dialect:?}");
    }
    assert!(patched(MACHINE, patch, Dialect::V1_14).ends_with("hostname: a\n"));
}

#[test]
fn talos_1_12_deletes_by_plain_text_and_by_own_keys_only() {
    let config = "{apiVersion: v1alpha1, kind: LinkConfig, name: a, mtu: 1400, addresses: [{address: 10.0.0.1/8}]}\n\
                  ---\nmachine: {kubelet: {extraConfig: {a: 1}}}\n";
    let link = "apiVersion: v1alpha1\nkind: LinkConfig\nname: a\n";
    for patch in [
        &format!("{link}mtu: {{$patch: delete}}\n"),
        &format!("{link}addresses: [{{address: 10.0.0.1/8, $patch: delete}}]\n"),
        "machine: {kubelet: {extraConfig: {a: {$patch: delete}}}}",
    ] {
        let refusal = refused(config, patch, Dialect::V1_12).to_string();
        assert!(refusal.ends_with("lookup failed"), "{refusal}");
        patched(config, patch, Dialect::V1_13);
    }
}

#[test]
fn arguments_were_plain_texts_in_1_12() {
    let arguments = |text: &str| format!("cluster: {{apiServer: {{extraArgs: {{a: {text}}}}}}}");
    let written = |text, dialect| patched(MACHINE, &arguments(text), dialect);
    assert!(written("\"\"", Dialect::V1_12).contains("a: \"\"\n"));
    assert!(written("\"\"", Dialect::V1_13).contains("a: null\n"));
    assert!(written("off", Dialect::V1_12).contains("a: \"off\"\n"));
    assert!(written("off", Dialect::V1_13).contains("a: off\n"));
    let refusal = refused(MACHINE, &arguments("[b]"), Dialect::V1_12);
    assert_eq!(refusal.to_string(), "cluster.apiServer.extraArgs.a: a list as an argument");
    assert_eq!(refusal.hint().as_deref(), Some("it came with Talos 1.13"));
    assert!(written("[b]", Dialect::V1_13).contains("- b\n"));
    let overridden = |dialect| patched(&arguments("b"), &arguments("null"), dialect);
    assert!(overridden(Dialect::V1_12).contains("a: b\n"));
    assert!(overridden(Dialect::V1_13).contains("a: null\n"));
}

#[test]
fn the_control_plane_is_always_written_before_1_14() {
    let patch = "cluster: {clusterName: a}";
    assert!(patched(MACHINE, patch, Dialect::V1_13).contains("    controlPlane: null\n"));
    assert!(!patched(MACHINE, patch, Dialect::V1_14).contains("controlPlane"));
}

#[test]
fn what_came_later_is_refused() {
    for (patch, dialect) in [
        ("{apiVersion: v1alpha1, kind: VRFConfig, name: a}", Dialect::V1_12),
        ("{apiVersion: v1alpha1, kind: VethConfig, name: a}", Dialect::V1_13),
        ("{apiVersion: v1alpha1, kind: VolumeConfig, name: STATE, trim: null}", Dialect::V1_13),
        (
            "{apiVersion: v1alpha1, kind: UserVolumeConfig, name: a, filesystem: {type: btrfs}}",
            Dialect::V1_13,
        ),
        (
            "{apiVersion: v1alpha1, kind: UserVolumeConfig, name: a, provisioning: {minSize: -1GiB}}",
            Dialect::V1_12,
        ),
        ("machine: {time: {bootTimeout: 0}}", Dialect::V1_12),
        ("machine: {time: {bootTimeout: 1e3}}", Dialect::V1_13),
    ] {
        let refusal = refused(MACHINE, patch, dialect);
        assert!(
            refusal.hint().is_some_and(|hint| hint.starts_with("it came with Talos")),
            "{patch}"
        );
        // In the configuration too, where a patch makes it be read.
        refused(patch, "machine: {type: worker}", dialect);
        patched(MACHINE, patch, Dialect::V1_14);
    }
}

fn patched(config: &str, patch: &str, dialect: Dialect) -> String {
    let patch = Patch::parse(patch, SourceId(2)).expect("a patch");
    let patched = apply(config, SourceId(1), &[patch], dialect);
    patched.expect("a patch that applies").encode(dialect).into_exposed()
}

fn refused(config: &str, patch: &str, dialect: Dialect) -> Error {
    let patch = Patch::parse(patch, SourceId(2)).expect("a patch");
    apply(config, SourceId(1), &[patch], dialect).err().expect("a refusal")
}

const MACHINE: &str = "machine: {type: worker}\n";
