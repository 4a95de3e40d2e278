//! Where values come from: every leaf of a result names the layer, the line and the column.

use std::collections::BTreeMap;

use talos_config::yaml::{Content, Dialect, Limits, parse};
use talos_config::{Coded, Confidential, Location, Patch, SourceId, apply, explain, origins};

const CONFIG: &str = "\
machine:
  type: worker
  network:
    hostname: first
    interfaces:
      - interface: eth0
        mtu: 1400
  sysctls:
    net.core.somaxconn: '1'
cluster: {}
---
apiVersion: v1alpha1
kind: LinkConfig
name: eth1
mtu: 1400
";

const ALL: &str = "\
machine:
  network:
    hostname: second
    interfaces: [{interface: eth0, dhcp: true}]
";

const ONE: &str = "\
machine:
  network: {hostname: third}
---
apiVersion: v1alpha1
kind: LinkConfig
name: eth1
mtu: 9000
";

#[test]
fn every_leaf_of_the_result_has_its_origin() {
    let config = apply(CONFIG, SourceId(1), &patches(&[ALL, ONE]), Dialect::V1_14).unwrap();
    let found: BTreeMap<String, Location> =
        origins(&config.into_config().unwrap()).into_iter().collect();
    for (path, place) in [
        ("v1alpha1.machine.type", (1, 2, 9)),
        ("v1alpha1.machine.network.hostname", (3, 2, 23)),
        ("v1alpha1.machine.network.interfaces[0].mtu", (1, 7, 14)),
        ("v1alpha1.machine.network.interfaces[0].dhcp", (2, 4, 42)),
        ("v1alpha1.machine.sysctls.net.core.somaxconn", (1, 9, 25)),
        ("LinkConfig/eth1.mtu", (3, 7, 6)),
    ] {
        let (source, line, column) = place;
        assert_eq!(
            found.get(path),
            Some(&Location { source: SourceId(source), line, column }),
            "{path}"
        );
    }
    assert!(found.values().all(|origin| origin.source != SourceId(0)), "{found:?}");
}

#[test]
fn origins_survive_operations() {
    let config = CONFIG.split("---").next().unwrap();
    let operations = r#"[{"op": "replace", "path": "/machine/network/hostname", "value": "json"}]"#;
    let patches = patches(&[
        ALL,
        operations,
        "machine: {network: {interfaces: [{interface: eth0, mtu: 9}]}}",
    ]);
    let config =
        apply(config, SourceId(1), &patches, Dialect::V1_14).unwrap().into_config().unwrap();
    let found: BTreeMap<String, Location> = origins(&config).into_iter().collect();
    assert_eq!(found["v1alpha1.machine.type"].source, SourceId(1));
    assert_eq!(found["v1alpha1.machine.network.interfaces[0].dhcp"].source, SourceId(2));
    assert_eq!(found["v1alpha1.machine.network.hostname"].source, SourceId(3));
    assert_eq!(found["v1alpha1.machine.network.interfaces[0].mtu"].source, SourceId(4));
}

#[test]
fn a_history_names_every_change() {
    let explained = explain(
        CONFIG,
        SourceId(1),
        &patches(&[ALL, ONE]),
        "machine.network.hostname",
        &Confidential::default(),
    )
    .unwrap();
    let history: Vec<_> = explained
        .history
        .iter()
        .map(|change| (change.layer, change.value.as_deref(), change.origin.line))
        .collect();
    assert_eq!(history, [(0, Some("first"), 4), (1, Some("second"), 3), (2, Some("third"), 2)]);
}

#[test]
fn a_deletion_is_part_of_the_history() {
    let patches = patches(&["machine: {network: {hostname: {$patch: delete}}}"]);
    let explained = explain(
        CONFIG,
        SourceId(1),
        &patches,
        "machine.network.hostname",
        &Confidential::default(),
    )
    .unwrap();
    assert_eq!(explained.value, None);
    assert_eq!(
        explained.history.last().map(|change| (change.layer, change.value.is_none())),
        Some((1, true))
    );
}

#[test]
fn what_is_gone_from_a_map_is_still_explained() {
    let patches = patches(&["machine: {sysctls: {net.core.somaxconn: {$patch: delete}}}"]);
    let explained = explain(
        CONFIG,
        SourceId(1),
        &patches,
        "machine.sysctls.net.core.somaxconn",
        &Confidential::default(),
    )
    .unwrap();
    assert_eq!(explained.value, None);
    assert_eq!(explained.history.len(), 2);
    // Nothing new was written, so no line of the configuration is blamed.
    let explained =
        explain(CONFIG, SourceId(1), &patches, "machine.sysctls", &Confidential::default())
            .unwrap();
    assert_eq!(explained.history.last().map(|change| change.origin.line), Some(0));
}

#[test]
fn secrets_are_in_no_explanation() {
    let config = "apiVersion: v1alpha1\nkind: KubeEtcdEncryptionConfig\nconfig:\n  resources:\n    - providers:\n        \
                  - aescbc: {keys: [{name: key1, secret: 12345678}]}\n---\napiVersion: v1alpha1\n\
                  kind: SideroLinkConfig\napiUrl: grpc://user:12345678@h/?jointoken=12345678\n";
    for path in [
        "KubeEtcdEncryptionConfig.config.resources[0].providers[0].aescbc.keys[key1].secret",
        "KubeEtcdEncryptionConfig.config",
        "KubeEtcdEncryptionConfig",
        "SideroLinkConfig.apiUrl",
    ] {
        let explained = explain(config, SourceId(1), &[], path, &Confidential::default()).unwrap();
        let value = explained.value.as_deref().unwrap_or_default();
        assert!(
            !format!("{explained:?}").contains("12345678") && value.contains("**"),
            "{path}: {explained:?}"
        );
    }
}

#[test]
fn a_named_document_is_asked_for_by_its_name() {
    let error =
        explain(CONFIG, SourceId(1), &[], "LinkConfig.mtu", &Confidential::default()).unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("there is: LinkConfig/eth1"));
}

#[test]
fn paths_reach_everything() {
    for (path, value) in [
        ("LinkConfig/eth1.mtu", "1400"),
        ("machine.network.interfaces[eth0].mtu", "1400"),
        ("machine.network.interfaces[0].interface", "eth0"),
        ("machine.sysctls.net.core.somaxconn", "1"),
        ("LinkConfig/eth1", "{name: eth1, mtu: 1400}"),
    ] {
        let explained = explain(CONFIG, SourceId(1), &[], path, &Confidential::default()).unwrap();
        assert_eq!(explained.value.as_deref(), Some(value), "{path}");
    }
}

fn patches(texts: &[&str]) -> Vec<Patch> {
    texts
        .iter()
        .zip(2..)
        .map(|(text, source)| Patch::parse(text, SourceId(source)).expect("a patch"))
        .collect()
}

/// Who writes a file again with its comments must know where each stood.
#[test]
fn comments_aliases_and_brackets_have_their_places() {
    let text = "a: &x | # one\n  text\nb: [*x] # two\n# three\nc: {d: 1}\n";
    let documents = parse(text, SourceId(1), Limits::default()).expect("YAML");
    let [document] = documents.as_slice() else { panic!("one document") };
    let comments: Vec<_> = document
        .comments
        .iter()
        .map(|comment| (&*comment.text, comment.origin.line, comment.own_line))
        .collect();
    assert_eq!(comments, [(" one", 1, false), (" two", 3, false), (" three", 4, true)]);
    let list = document.root.get("b").expect("a list");
    let Content::Sequence(items) = &list.content else { panic!("a list") };
    assert_eq!((items[0].origin.line, items[0].origin.column), (1, 4));
    let alias = items[0].alias.expect("an alias");
    assert_eq!((alias.line, alias.column), (3, 5));
    assert!(list.flow && document.root.get("c").is_some_and(|node| node.flow));
    assert!(!document.root.flow && !document.root.get("a").is_some_and(|node| node.flow));
}
