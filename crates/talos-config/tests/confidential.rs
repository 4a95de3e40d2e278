//! What is hidden wherever a configuration is shown, beside what Talos itself hides.

use talos_config::yaml::Dialect;
use talos_config::{Confidential, Config, Patch, SourceId, diff, diff_hiding, explain};

#[test]
fn texts_in_which_people_keep_secrets_are_hidden_wherever_they_come_from() {
    let left = config(&PRIVATE.replace("canary", "canary-old"));
    let right = config(PRIVATE);
    let differences = diff(&left, &right);
    for difference in &differences {
        assert!(!format!("{difference:?}").contains("canary"), "{difference:?}");
    }
    // Lists of texts count twice: what is gone, and what is new.
    assert_eq!(differences.len(), 12, "{differences:#?}");
    let nothing = Confidential::default();
    let shown = right.covered(Dialect::V1_14, &nothing);
    assert!(!shown.contains("canary"), "{shown}");
    // Talos shows them, and so does what is compared with it.
    assert!(right.redacted(Dialect::V1_14).contains("canary"));
    for path in
        ["machine", "machine.env.A", "cluster.inlineManifests[a].contents", "EtcFileConfig/a"]
    {
        let explained = explain(PRIVATE, SourceId(1), &[], path, &nothing).expect("a value");
        assert!(!format!("{explained:?}").contains("canary"), "{explained:?}");
        assert!(explained.value.is_some_and(|value| value.contains("******")), "{path}");
    }
}

#[test]
fn both_sides_of_what_an_encrypted_patch_sets_are_hidden() {
    let mut confidential = Confidential::default();
    confidential.add_patch(&patch("machine: {sysctls: {a: '2'}, certSANs: [b]}"));
    let operations = r#"[{"op": "add", "path": "/machine/nodeLabels", "value": {"x~y/z": "2"}},
                         {"op": "add", "path": "/cluster/apiServer/certSANs/-", "value": "2"}]"#;
    confidential.add_patch(&patch(operations));
    let text = |value: &str| {
        config(&format!(
            "machine:\n  type: worker\n  sysctls: {{a: '{value}', clear: '{value}'}}\n  certSANs: ['{value}']\n  \
             nodeLabels: {{'x~y/z': '{value}'}}\ncluster:\n  apiServer: {{certSANs: ['{value}']}}\n"
        ))
    };
    assert_eq!(
        shown(&text("1"), &text("2"), &confidential),
        [
            "machine.certSANs[] ****** -",
            "machine.certSANs[] - ******",
            "machine.sysctls.a ****** ******",
            "machine.sysctls.clear 1 2",
            "machine.nodeLabels.x~y/z ****** ******",
            "cluster.apiServer.certSANs[] ****** -",
            "cluster.apiServer.certSANs[] - ******",
        ]
    );
}

#[test]
fn what_is_gone_beside_what_is_hidden_is_hidden() {
    let mut confidential = Confidential::default();
    confidential.add_value("new-secret");
    let text = |secret: &str| {
        config(&format!(
            "machine:\n  type: worker\n  sysctls: {{a.{secret}: x, b: y}}\n  network:\n    extraHostEntries:\n      \
             - {{ip: 10.0.0.1, aliases: [{secret}]}}\n  registries:\n    mirrors:\n      {secret}.example: \
             {{endpoints: [\"https://{secret}.example\"]}}\n---\napiVersion: v1alpha1\nkind: LinkConfig\n\
             name: {secret}\nmtu: 1400\n"
        ))
    };
    let shown = shown(&text("old-secret"), &text("new-secret"), &confidential);
    for line in &shown {
        assert!(!line.contains("secret"), "{line}");
    }
    // Without the other side it is not known to have been encrypted.
    let gone =
        diff_hiding(&text("old-secret"), &config("machine: {type: worker}\n"), &confidential);
    assert!(gone.iter().any(|difference| difference.document == "LinkConfig/old-secret"));
}

/// The differences, a line each: path, before, after.
fn shown(left: &Config, right: &Config, confidential: &Confidential) -> Vec<String> {
    let or_none = |side: Option<String>| side.unwrap_or_else(|| "-".to_owned());
    let lines = diff_hiding(left, right, confidential).into_iter().map(|difference| {
        let path = match difference.document.as_str() {
            "v1alpha1" => difference.path,
            document => format!("{document} {}", difference.path),
        };
        format!("{path} {} {}", or_none(difference.before), or_none(difference.after))
    });
    lines.collect()
}

fn config(text: &str) -> Config {
    Config::parse(text, SourceId(1)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn patch(text: &str) -> Patch {
    Patch::parse(text, SourceId(2)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const PRIVATE: &str = "\
machine:
  type: controlplane
  env: {A: canary}
  files:
    - {path: /var/a, permissions: 0o600, op: create, content: canary}
cluster:
  extraManifestHeaders: {Authorization: Bearer canary}
  inlineManifests:
    - {name: a, contents: 'a: canary'}
  apiServer:
    env: {A: canary}
---
apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: a
environment: [A=canary]
configFiles:
  - {mountPath: /etc/a, content: canary}
---
apiVersion: v1alpha1
kind: EnvironmentConfig
variables: {A: canary}
---
apiVersion: v1alpha1
kind: EtcFileConfig
name: a
mode: 0o600
contents: canary
---
apiVersion: v1alpha1
kind: KubeInlineManifestConfig
name: a
manifest: 'a: canary'
---
apiVersion: v1alpha1
kind: KubeExternalManifestConfig
name: a
url: https://a.example
headers: {A: canary}
";
