//! Tests of layers and of the configuration that they give.

mod host;

use talconfig::{Cluster, Environment, Error, Images, LayerOp, Secrets, Talconfig};
use talos_config::Coded;

use host::Files;

#[test]
fn a_patch_for_all_machines_has_the_last_word() {
    let host = files(&[
        ("talconfig.yaml", TALCONFIG),
        ("p.yaml", "machine:\n  sysctls:\n    a: from-${WHO}\n    c: from-${WHO}\n"),
        ("talenv.yaml", "WHO: group\n"),
        ("talsecret.yaml", SECRETS),
    ]);
    let mut environment = Environment::default();
    let env_files = ["talenv.yaml".to_owned()];
    let talconfig = Talconfig::load("talconfig.yaml", &env_files, &mut environment, &host);
    let talconfig = talconfig.map_err(|error| error.to_string()).expect("a talconfig");
    let secrets = Secrets::load("talsecret.yaml", &environment, &host);
    let secrets = secrets.map_err(|error| error.to_string()).expect("secrets");
    let images = Images::for_talconfig(&talconfig, true, &host, &environment);
    let cluster = Cluster::new(&talconfig, &secrets, &images, "metal").expect("a cluster");
    let node = &talconfig.nodes[0];
    let layers = cluster.layers(node).expect("layers");
    let patches: Vec<&str> = layers
        .iter()
        .filter(|layer| matches!(layer.op, LayerOp::Patch(_) | LayerOp::GlobalPatch(_)))
        .map(|layer| layer.origin.as_str())
        .collect();
    assert_eq!(patches, ["controlPlane.patches[0]", "nodes[0].patches[0]", "patches[0]"]);
    let machine = cluster.machine(node).map_err(|error| error.to_string()).expect("a machine");
    let text = machine.text.expose();
    assert!(text.contains("    a: from-global\n    b: from-node\n    c: from-group\n"), "{text}");
}

#[test]
fn a_variable_that_is_not_set_is_told_with_its_line() {
    let text = TALCONFIG.replace("clusterName: c1", "clusterName: ${NOBODY}");
    let host = files(&[("talconfig.yaml", &text)]);
    let loaded = Talconfig::load("talconfig.yaml", &[], &mut Environment::default(), &host);
    let error = loaded.err().expect("an error");
    assert_eq!(error.to_string(), "failed to substitute env: variable ${NOBODY} not set");
    assert_eq!(error.code(), "talconfig.variable");
    assert!(
        error.hint().is_some_and(|hint| hint.starts_with("talconfig.yaml: line 2: set NOBODY")),
        "{error}"
    );
}

#[test]
fn no_template_makes_it_panic() {
    for template in [
        "{{",
        "{{ é",
        "{{ ( }}",
        "{{ \"",
        "{{ . | }}",
        "{{ if }}",
        "{{ end }}",
        "{{- -}}",
        "{{ $ }}",
        "{{ .A.B.. }}",
        "{{ range }}{{ end }}",
        "{{ index 1 2 }}",
        "{{ slice }}",
        "{{/* */}}",
        "}}",
        "{{ printf \"%\" }}",
        "{{ trunc -1 \"é\" }}",
        "{{ repeat 9999999999 \"x\" }}",
    ] {
        let quoted = format!("{template:?}").replace('$', "$$");
        let text = TALCONFIG.replace("tmpl: x", &format!("tmpl: {quoted}"));
        let host = files(&[
            ("talconfig.yaml", &text),
            ("p.yaml", "machine: {}\n"),
            ("talsecret.yaml", SECRETS),
        ]);
        let mut environment = Environment::default();
        let Ok(talconfig) = Talconfig::load("talconfig.yaml", &[], &mut environment, &host) else {
            continue;
        };
        let secrets =
            Secrets::load("talsecret.yaml", &environment, &host).map_err(|e| e.to_string());
        let secrets = secrets.expect("secrets");
        let images = Images::for_talconfig(&talconfig, true, &host, &environment);
        let cluster = Cluster::new(&talconfig, &secrets, &images, "metal").expect("a cluster");
        if let Err(error) = cluster.machine(&talconfig.nodes[0]) {
            assert!(
                matches!(error, Error::Template(_) | Error::Machine(_) | Error::Patch(_)),
                "{error}"
            );
        }
    }
}

fn files(files: &[(&str, &str)]) -> Files {
    Files::new(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

const TALCONFIG: &str = "\
# A cluster of one
clusterName: c1
talosVersion: v1.13.0
kubernetesVersion: v1.34.1
endpoint: https://10.0.0.1:6443
patches: ['machine: {sysctls: {a: from-global}}']
controlPlane:
  patches: ['@./p.yaml']
nodes:
  - hostname: n1
    ipAddress: 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
    patches: ['machine: {sysctls: {a: from-node, b: from-node}}']
    nodeLabels: {tmpl: x}
";

/// Made for tests, and of no use anywhere else.
const SECRETS: &str = include_str!("../../ichor/tests/talhelper/throw-away-secrets/talsecret.yaml");
