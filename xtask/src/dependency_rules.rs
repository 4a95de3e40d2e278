//! Which crate may use which: the arrows of the architecture, proved against cargo's own view.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::output;
use crate::workspace::Workspace;

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let metadata = workspace.metadata()?;
    let mut wrong = forbidden_dependencies(&metadata)?;
    wrong.extend(impure_crates(&metadata)?);
    if wrong.is_empty() {
        return Ok(());
    }
    for line in &wrong {
        output::progress(line);
    }
    bail!(
        "{} dependencies go against the architecture; remove them, or change ARCHITECTURE.md and \
         xtask/src/dependency_rules.rs together and say why in an ADR",
        wrong.len()
    )
}

/// Compares each dependency inside the workspace with [`ALLOWED`] and [`TEST_ONLY`].
fn forbidden_dependencies(metadata: &Value) -> Result<Vec<String>> {
    let packages: Vec<&Value> = metadata["packages"]
        .as_array()
        .context("packages in cargo's metadata")?
        .iter()
        .filter(|package| package["source"].is_null())
        .collect();
    let ours: BTreeSet<&str> =
        packages.iter().filter_map(|package| package["name"].as_str()).collect();

    let mut wrong = Vec::new();
    for package in packages {
        let from = package["name"].as_str().context("a package's name")?;
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == from) else {
            wrong.push(format!("{from}: unknown to xtask/src/dependency_rules.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().context("its dependencies")? {
            let to = dependency["name"].as_str().context("a dependency's name")?;
            let for_tests = dependency["kind"] == "dev";
            let fine = !ours.contains(to)
                || allowed.contains(&to)
                || (for_tests && TEST_ONLY.contains(&to));
            if !fine {
                let kind = if for_tests { " (for tests)" } else { "" };
                wrong.push(format!("{from} → {to}{kind}: not allowed; {from} may use {allowed:?}"));
            }
        }
    }
    Ok(wrong)
}

/// Looks for async runtimes, sockets and Kubernetes anywhere below the pure crates.
fn impure_crates(metadata: &Value) -> Result<Vec<String>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo's resolved graph")?;
    let name_of: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .context("packages in cargo's metadata")?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let uses: BTreeMap<&str, Vec<&str>> = nodes
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, normal_dependencies(node))))
        .collect();

    let mut wrong = Vec::new();
    for (id, name) in name_of.iter().filter(|(_, name)| PURE.contains(name)) {
        let mut seen = BTreeSet::new();
        let mut open = vec![*id];
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(uses.get(next).into_iter().flatten());
            }
        }
        let impure =
            seen.iter().filter_map(|id| name_of.get(id)).filter(|name| IMPURE.contains(name));
        wrong.extend(impure.map(|found| format!("{name} → … → {found}: {name} is pure")));
    }
    Ok(wrong)
}

/// The packages that one node of the graph links, tests and build scripts aside.
fn normal_dependencies(node: &Value) -> Vec<&str> {
    node["deps"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| {
            let kinds = dependency["dep_kinds"].as_array();
            kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        })
        .filter_map(|dependency| dependency["pkg"].as_str())
        .collect()
}

/// From each crate to those it may use. A crate that is not here cannot be added.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "ichor",
        &[
            "talos-config",
            "sops",
            "talconfig",
            "talos-api",
            "domain",
            "plan",
            "engine",
            "netboot",
            "operator",
            "server",
            "sim",
        ],
    ),
    ("server", &["engine", "plan", "domain"]),
    ("operator", &["engine", "plan", "domain"]),
    ("engine", &["plan", "domain", "talos-api", "talos-config", "sops", "netboot"]),
    ("talconfig", &["plan", "talos-config", "sops"]),
    ("plan", &["domain", "talos-config"]),
    ("domain", &["talos-config"]),
    ("talos-api", &["talos-config"]),
    ("sim", &["engine", "domain", "talos-api", "talos-config"]),
    ("talos-config", &[]),
    ("sops", &["talos-config"]),
    ("netboot", &[]),
    ("testkit", &["engine", "plan", "domain", "talos-config"]),
    ("xtask", &["testkit"]),
];

/// What any crate may use in its tests.
const TEST_ONLY: &[&str] = &["sim", "testkit"];

/// Crates without clock, randomness, files, sockets, async and Kubernetes.
const PURE: &[&str] = &["talos-config", "sops", "talconfig", "domain", "plan"];

/// What would make a pure crate impure, wherever it comes in.
const IMPURE: &[&str] =
    &["async-std", "hyper", "k8s-openapi", "kube", "mio", "smol", "socket2", "tokio", "tonic"];
