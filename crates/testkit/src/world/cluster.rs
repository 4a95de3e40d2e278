//! Specs of clusters, with secrets of no cluster.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use ::engine::Cluster;
use domain::{DigestKey, MachineName, Timestamp};
use plan::{ClusterSpec, Layers, Override};
use talos_config::{Bundle, Contract, Mode, SecretSource, SourceId};

/// A cluster of so many machines.
pub fn cluster(control_planes: usize, workers: usize) -> Cluster {
    parse(&text(control_planes, workers, ""))
}

/// The same with more keys in its spec.
pub fn cluster_with(control_planes: usize, workers: usize, more: &str) -> Cluster {
    parse(&text(control_planes, workers, more))
}

pub fn text(control_planes: usize, workers: usize, more: &str) -> String {
    let names = |prefix: &'static str, count: usize| {
        (1..=count).map(move |number| format!("{prefix}-{number}"))
    };
    let control_planes: Vec<String> = names("cp", control_planes).collect();
    let workers: Vec<String> = names("w", workers).collect();
    text_of(&control_planes, &workers, more)
}

/// A spec of machines by their names. Addresses follow from names, so that a machine keeps its own in every spec.
pub fn text_of(control_planes: &[String], workers: &[String], more: &str) -> String {
    let mut text = format!("ichor: v1\ncluster: home\n{more}controlPlane:\n  machines:\n");
    for name in control_planes {
        let _ = writeln!(text, "    - {{name: {name}, address: {}}}", address(name));
    }
    if !workers.is_empty() {
        text.push_str("pools:\n  - name: workers\n    machines:\n");
        for name in workers {
            let _ = writeln!(text, "      - {{name: {name}, address: {}}}", address(name));
        }
    }
    text
}

/// A cluster whose machines a provider makes.
pub fn provided(control_planes: usize, workers: usize) -> Cluster {
    parse(&provided_text(control_planes, workers, ""))
}

pub fn provided_text(control_planes: usize, workers: usize, more: &str) -> String {
    format!(
        "ichor: v1\ncluster: home\nprovider: model\nendpoint: https://cluster.example:6443\n{more}\
         controlPlane: {{replicas: {control_planes}, class: small}}\n\
         pools:\n  - {{name: workers, replicas: {workers}, class: large}}\n"
    )
}

pub fn parse(text: &str) -> Cluster {
    let spec =
        ClusterSpec::parse(text, SourceId(1)).unwrap_or_else(|error| panic!("{error}: {text}"));
    let layers =
        Layers::native(&spec, "ichor.yaml", &BTreeMap::new(), &BTreeMap::new()).expect("layers");
    let key = DigestKey::new([7; 32]);
    Cluster { spec, layers, secrets: SECRETS.clone(), key, mode: Mode::Metal }
}

pub fn address(name: &str) -> String {
    let (prefix, number) = name.rsplit_once('-').expect("a name and a number");
    let number: usize = number.parse().expect("a number");
    let net = if prefix == "cp" { 1 } else { 2 };
    format!("127.{net}.{}.{}", number / 250, number % 250 + 1)
}

pub fn name(name: &str) -> MachineName {
    name.parse().expect("a name")
}

pub fn overriding(rule: &str) -> Override {
    let (rule, machine) = match rule.split_once('=') {
        Some((rule, machine)) => (rule, Some(name(machine))),
        None => (rule, None),
    };
    Override { rule: rule.to_owned(), machine, reason: "a test".to_owned() }
}

/// Takes effect while machines run.
pub const WITHOUT_REBOOT: &str =
    "patches:\n  - |\n    machine:\n      sysctls:\n        net.core.somaxconn: \"65535\"\n";

/// Takes effect when machines boot.
pub const WITH_REBOOT: &str =
    "patches:\n  - |\n    machine:\n      env:\n        https_proxy: http://proxy.example:3128\n";

static SECRETS: LazyLock<Bundle> = LazyLock::new(|| {
    let mut counter = 0_u8;
    let mut random = |bytes: &mut [u8]| {
        for byte in bytes {
            counter = counter.wrapping_mul(5).wrapping_add(3);
            *byte = counter;
        }
    };
    let mut rsa = || unreachable!("the contract below has other keys");
    let mut makers = SecretSource { now: BASE.0, random: &mut random, rsa: &mut rsa };
    Bundle::generate(Contract::new(1, 6), &mut makers)
});

/// The time of day when the world begins: a Friday, 08:00 UTC.
pub const BASE: Timestamp = Timestamp(1_800_000_000);
