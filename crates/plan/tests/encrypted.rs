//! What came out of an encrypted file is in nothing that is shown of a native cluster.

mod world;

use std::collections::BTreeMap;

use plan::{Planned, RebootClass, Renderer, Step};
use talos_config::{Confidential, Mode, Secret};
use world::{SECRETS, World};

#[test]
fn values_of_encrypted_patches_are_hidden_in_plans_and_explanations() {
    let mut world = running(&sealed("old"));
    world.encrypt("patches/s.sops.yaml", &sealed("new"));
    let desired = world.renderings().expect("renderings");
    let Planned::Change(draft) = world.plan(&desired).expect("a plan") else { panic!("no plan") };
    let mut said = vec![draft.encode(), draft.table()];
    said.extend(draft.steps().iter().map(Step::detail));
    said.extend(desired.values().map(|rendering| format!("{rendering:?}")));
    let layers = world.layers();
    let renderer = Renderer::new(&world.spec, &layers, &SECRETS, &world.key, Mode::Metal);
    for path in PATHS {
        let name = "cp-1".parse().expect("a name");
        let explained = renderer.explain(&name, path).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(explained.explanation.value.is_some(), "{path} is not set");
        said.push(format!("{explained:?}"));
    }
    for text in &said {
        assert!(!text.contains("canary"), "{text}");
    }
    // A change is shown as one all the same, with its field.
    let table = &said[1];
    for path in [
        "v1alpha1 machine.env.TOKEN",
        "v1alpha1 machine.sysctls.a",
        "v1alpha1 cluster.extraManifestHeaders.Authorization",
        "v1alpha1 cluster.apiServer.extraArgs.token",
    ] {
        assert!(table.contains(&format!("{path}: ****** → ******\n")), "{path}\n{table}");
    }
}

#[test]
fn fields_of_an_encrypted_patch_are_hidden_however_short_their_values() {
    let patch = |value: &str| {
        format!("machine:\n  sysctls:\n    secret: \"{value}\"\n    b: \"{value}\"\n")
    };
    let mut world = running(&patch("1"));
    world.encrypt("patches/s.sops.yaml", &patch("2").replace("    b: \"2\"\n", ""));
    // The same value in a patch that is in clear hides nothing.
    world.patches.insert(
        "patches/clear.yaml".to_owned(),
        Secret::new("machine:\n  sysctls:\n    b: \"2\"\n".to_owned()),
    );
    let desired = world.renderings().expect("renderings");
    let change = desired.values().next().and_then(|one| one.change.as_ref()).expect("a change");
    let shown: Vec<String> = change.fields.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["v1alpha1 machine.sysctls.b: 1 → 2", "v1alpha1 machine.sysctls.secret: ****** → ******"]
    );
}

#[test]
fn a_change_means_what_it_means_though_it_is_hidden() {
    let image =
        |tag: &str| format!("machine:\n  kubelet:\n    image: registry.example/kubelet:{tag}\n");
    let mut world = running(&image("v1.36.3"));
    world.encrypt("patches/s.sops.yaml", &image("v1.37.0"));
    let desired = world.renderings().expect("renderings");
    let change = desired.values().next().and_then(|one| one.change.as_ref()).expect("a change");
    assert!(change.changes_kubernetes);
    assert_eq!(change.class, RebootClass::WithoutReboot);
    assert_eq!(change.fields[0].to_string(), "v1alpha1 machine.kubelet.image: ****** → ******");
}

#[test]
fn an_encrypted_spec_hides_its_inline_patches() {
    let inline = "patches:\n  - |\n    machine:\n      sysctls:\n        a: canary-inline\n        b: \"7\"\n";
    let mut world = World::new(&World::text(1, 0, &format!("{VERSIONS}{inline}"))).expect("a spec");
    let mut values = Confidential::default();
    values.add_value("canary-inline");
    world.encrypted = BTreeMap::from([("ichor.yaml".to_owned(), values)]);
    let layers = world.layers();
    let renderer = Renderer::new(&world.spec, &layers, &SECRETS, &world.key, Mode::Metal);
    let name = "cp-1".parse().expect("a name");
    let explained = renderer.explain(&name, "machine.sysctls").expect("a value");
    assert_eq!(explained.explanation.value.as_deref(), Some("{a: ******, b: ******}"));
}

/// Control planes that run with a patch, which is no longer there.
fn running(patch: &str) -> World {
    let files = "patches: [patches/s.sops.yaml, patches/clear.yaml]\n";
    let mut world = World::new(&World::text(3, 0, &format!("{VERSIONS}{files}"))).expect("a spec");
    let clear = "machine:\n  type: controlplane\n".to_owned();
    world.patches.insert("patches/s.sops.yaml".to_owned(), Secret::new(patch.to_owned()));
    world.patches.insert("patches/clear.yaml".to_owned(), Secret::new(clear));
    let names = world.names();
    world.running(&names).expect("a configuration");
    for name in &names {
        world.voter(name);
    }
    world
}

impl World {
    /// Puts a patch in the place of another, as if it had come out of an encrypted file.
    fn encrypt(&mut self, path: &str, patch: &str) {
        let mut values = Confidential::default();
        values.add_text(patch);
        self.patches.insert(path.to_owned(), Secret::new(patch.to_owned()));
        self.encrypted.insert(path.to_owned(), values);
    }
}

/// A patch with a value of its own in every place where people keep secrets.
fn sealed(which: &str) -> String {
    format!(
        "machine:
  env:
    TOKEN: canary-env-{which}
  certSANs: [canary-san-{which}.example]
  sysctls:
    a: canary-sysctl-{which}
  nodeLabels:
    owner: canary-label-{which}
  files:
    - path: /etc/canary-path-{which}
      permissions: 0o600
      op: create
      content: |
        first: line
        second: canary-file-{which}
  pods:
    - metadata: {{name: canary-pod-{which}}}
cluster:
  extraManifestHeaders:
    Authorization: Bearer canary-header-{which}
  inlineManifests:
    - name: canary-manifest-{which}
      contents: |
        kind: Secret
        stringData: {{password: canary-inline-{which}}}
  apiServer:
    extraArgs:
      token: canary-arg-{which}
      several: [canary-first-{which}, canary-second-{which}]
---
apiVersion: v1alpha1
kind: ExtensionServiceConfig
name: canary-service-{which}
environment: [KEY=canary-extension-{which}]
configFiles:
  - mountPath: /etc/canary-mount-{which}
    content: canary-config-{which}
"
    )
}

const VERSIONS: &str = "talos: v1.13.0\nkubernetes: v1.36.3\nendpoint: https://10.1.0.1:6443\n";

const PATHS: &[&str] = &[
    "machine",
    "machine.env",
    "machine.env.TOKEN",
    "machine.certSANs",
    "machine.certSANs[0]",
    "machine.sysctls.a",
    "machine.nodeLabels",
    "machine.files",
    "machine.files[0].content",
    "machine.files[0].path",
    "machine.pods[0].metadata",
    "cluster",
    "cluster.extraManifestHeaders.Authorization",
    "cluster.inlineManifests[0].contents",
    "cluster.inlineManifests[0].name",
    "cluster.apiServer.extraArgs",
    "cluster.apiServer.extraArgs.several[1]",
    "v1alpha1",
];
