//! Our protos beside those of Talos.

mod descriptors;

use std::collections::BTreeSet;

use descriptors::Declarations;

/// The protos we speak are those of this release.
const NEWEST: &str = "talos-1.14.1";
/// Machines of these are spoken to as well; they lack what was added later.
const OLDER: &[&str] = &["talos-1.13.9", "talos-1.12.0"];

#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn what_we_declare_is_what_talos_declares() {
    let ours = Declarations::ours();
    let theirs = Declarations::of(NEWEST);
    let mut wrong = Vec::new();
    for (name, fact) in &ours.facts {
        match theirs.facts.get(name) {
            None => wrong.push(format!("{name}: not in Talos")),
            Some(other) if other != fact => wrong.push(format!("{name}: {fact}, Talos: {other}")),
            Some(_) => {}
        }
    }
    // A message may be left out, a part of one may not.
    for name in theirs.facts.keys().filter(|name| !ours.facts.contains_key(*name)) {
        if name.rsplit_once(['/', '#']).is_some_and(|(owner, _)| ours.facts.contains_key(owner)) {
            wrong.push(format!("{name}: not declared"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Nothing was lost on the way here.
    let counts = ["service", "rpc", "message", "enum"].map(|kind| ours.count(kind));
    assert_eq!(counts, [12, 81, 348, 56]);
}

#[test]
#[ignore = "level golden: needs the modules of Talos (cargo xtask test)"]
fn older_releases_never_mean_something_else() {
    let ours = Declarations::ours();
    for pin in OLDER {
        let theirs = Declarations::of(pin);
        let wrong: Vec<_> = ours
            .facts
            .iter()
            .filter_map(|(name, fact)| Some((name, fact, theirs.facts.get(name)?)))
            .filter(|(_, fact, other)| fact != other)
            .map(|(name, fact, other)| format!("{name}: {fact}, {pin}: {other}"))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn resource_types_are_those_of_talos() {
    let resources = testkit::peers::module(NEWEST, "github.com/siderolabs/talos/pkg/machinery");
    let source = descriptors::go_files(&resources.join("resources"))
        .iter()
        .map(|path| fs_err::read_to_string(path).expect("a file of the module"))
        .collect::<String>();
    let unknown: BTreeSet<_> = talos_api::resource::TYPES
        .iter()
        // The two types that describe all others are not of Talos.
        .filter(|kind| !kind.ends_with(".meta.cosi.dev"))
        .filter(|kind| !source.contains(&format!("resource.Type(\"{kind}\")")))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
