//! What is committed beside the code is what the code says: examples, schema, reference of errors.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use plan::{Action, ClusterSpec, Inventory, Layers, json_schema, steps_reference};
use talos_config::{Coded, Config, Secret, SourceId};
use world::World;

#[test]
fn the_examples_can_be_planned() {
    let mut found = 0;
    for entry in fs_err::read_dir(root().join("examples")).expect("examples") {
        let directory = entry.expect("an entry").path();
        if !directory.is_dir() {
            continue;
        }
        found += 1;
        let text = fs_err::read_to_string(directory.join("ichor.yaml")).expect("a spec");
        let mut world = World::new(&text).unwrap_or_else(|error| panic!("{directory:?}: {error}"));
        for path in world.spec.patch_files() {
            let text = fs_err::read_to_string(directory.join(path)).expect("a patch");
            world.patches.insert(path.to_owned(), Secret::new(text));
        }
        for name in world.names() {
            world.maintenance(&name);
        }
        let desired = world.renderings().unwrap_or_else(|error| panic!("{directory:?}: {error}"));
        let planned = world.plan(&desired).unwrap_or_else(|refusal| panic!("{}", refusal.text()));
        let plan::Planned::Change(plan) = planned else { panic!("{directory:?}: no plan") };
        assert!(plan::check(plan, &world.input(&desired)).is_ok(), "{directory:?}");
    }
    assert_eq!(found, 3);
}

#[test]
fn the_example_of_all_keys_says_what_it_says() {
    let text = fs_err::read_to_string(root().join("examples/pools/ichor.yaml")).expect("a spec");
    let spec = ClusterSpec::parse(&text, talos_config::SourceId(1)).expect("a spec");
    let pools: Vec<(&str, usize)> =
        spec.pools.iter().map(|pool| (pool.name.as_str(), pool.machines.len())).collect();
    assert_eq!(pools, [("general", 4), ("storage", 3)]);
    assert_eq!(spec.kubernetes.to_string(), "v1.36.3");
    assert_eq!(spec.policy.windows[0].to_string(), "fri sat 22:00–04:00 UTC");
    let backup = spec.backup.as_ref().expect("backups");
    assert_eq!((backup.every.to_string().as_str(), backup.keep), ("6h", 28));
    assert!(spec.installer().starts_with("factory.talos.dev/metal-installer/"));
    let (machine, _) = spec.machine(&"s-2".parse().expect("a name")).expect("a machine");
    assert_eq!(machine.domain.as_ref().map(plan::FailureDomain::as_str), Some("room-2"));
    assert_eq!(machine.origin.line, 29);
}

#[test]
fn the_schema_is_fresh() {
    let committed = fs_err::read_to_string(root().join("docs/reference/ichor.schema.json"));
    assert_eq!(committed.expect("a schema"), json_schema(), "run `cargo xtask gen`");
}

#[test]
fn the_reference_of_steps_is_fresh() {
    let committed = fs_err::read_to_string(root().join("docs/reference/steps.md"));
    assert_eq!(committed.expect("a page"), steps_reference(), "run `cargo xtask gen`");
    let samples = Action::samples();
    let verbs: BTreeSet<&str> = samples.iter().map(Action::verb).collect();
    assert_eq!(verbs.len(), samples.len(), "two actions are shown alike");
}

#[test]
fn mistakes_of_a_spec_are_told_at_once_in_the_order_of_their_lines() {
    let text = "ichor: v1\ncluster: home\ntalos: v1.99.0\nkubernetes: v1.36.3\n\
                controlplane:\n  machines:\n    - {name: cp-1, address: 10.0.0.11, disc: sda}\n    \
                - {name: cp-1, address: 10.0.0.11}\npolicy: {workersAtOnce: many}\n";
    let error = ClusterSpec::parse(text, SourceId(1)).expect_err("a refusal");
    let told: Vec<(u32, &str)> = error
        .diagnostics()
        .iter()
        .map(|problem| (problem.location.expect("a location").line, problem.code))
        .collect();
    // The second machine has the address of the first, which is the first: that is told by its name.
    assert_eq!(
        told,
        [
            (3, "spec.version"),
            (5, "spec.unknown-key"),
            (7, "spec.unknown-key"),
            (8, "spec.duplicate-name"),
            (9, "spec.value"),
        ],
        "{error}"
    );
    let empty = ClusterSpec::parse("", SourceId(1)).expect_err("a refusal");
    assert_eq!(empty.origin().map(|origin| (origin.line, origin.column)), Some((1, 1)));
}

#[test]
fn a_mistake_in_a_patch_is_told_with_its_line_of_the_spec() {
    let spec = |patch: &str| {
        format!(
            "ichor: v1\ncluster: home\ncontrolPlane:\n  machines:\n    - {{name: cp-1, address: 10.0.0.11}}\n\
             patches:\n{patch}"
        )
    };
    let block = spec("  - |\n    machine:\n      sysctl: {a: b}\n");
    let inline = spec("  - \"{machine: {sysctl: {a: b}}}\"\n");
    let file = spec("  - patches/a.yaml\n");
    let none = spec("  - patches/b.yaml\n");
    let patches =
        [("patches/a.yaml".to_owned(), Secret::new("machine:\n  sysctl: {}\n".to_owned()))];
    let patches = patches.into_iter().collect();
    for (text, code, location) in [
        (block, "layer.patch", "ichor.yaml:9"),
        (inline, "layer.patch", "ichor.yaml:7"),
        (file, "layer.patch", "patches/a.yaml:2:3"),
        (none, "layer.no-file", "ichor.yaml:7:5"),
    ] {
        let spec = ClusterSpec::parse(&text, SourceId(1)).expect("a spec");
        let error = Layers::native(&spec, "ichor.yaml", &patches, &BTreeMap::new());
        let told = error.err().expect("a refusal").diagnostics();
        let shown: Vec<_> = told
            .iter()
            .map(|told| (told.code, told.location.clone().expect("a location")))
            .collect();
        assert_eq!(shown.len(), 1, "{text}");
        assert_eq!((shown[0].0, shown[0].1.to_string().as_str()), (code, location), "{text}");
    }
}

/// Checker, view and comparison know of a step what its action declares, so that a new action needs no change of them.
#[test]
fn checker_view_and_comparison_name_no_action() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let checker = fs_err::read_dir(source.join("check")).expect("the checker");
    let mut files: Vec<PathBuf> = checker.map(|entry| entry.expect("an entry").path()).collect();
    assert!(files.len() > 5);
    files.extend([source.join("view.rs"), source.join("compare.rs")]);
    for path in files {
        let text = fs_err::read_to_string(&path).expect("a file");
        assert!(!text.contains("Action::"), "{}", path.display());
    }
}

#[test]
fn an_inventory_is_read_as_it_was_written() {
    let mut world = World::new(&World::text(3, 1, "")).expect("a spec");
    world.running(&world.names()).expect("a configuration");
    world.voter(&"cp-1".parse().expect("a name"));
    let text = world.inventory.encode();
    assert_eq!(Inventory::decode(&text).expect("an inventory"), world.inventory);
    let other = text.replacen("ichor-inventory/v2", "ichor-inventory/v1", 1);
    assert_eq!(Inventory::decode(&other).expect_err("a refusal").code(), "inventory.format");
    let extra = text.replacen("\"taken\"", "\"token\": 1, \"taken\"", 1);
    assert_eq!(Inventory::decode(&extra).expect_err("a refusal").code(), "inventory.syntax");
}

/// Whatever is stored or shown of a plan has no secret of the cluster in it.
#[test]
fn nothing_that_is_stored_has_a_secret_in_it() {
    let mut world = World::new(&World::text(3, 1, "")).expect("a spec");
    for name in world.names() {
        world.maintenance(&name);
    }
    let secrets = world::SECRETS.encode(talos_config::yaml::Dialect::V1_14);
    let secrets: Vec<&str> = secrets
        .expose()
        .lines()
        .filter_map(|line| line.trim().split_once(": ").map(|(_, value)| value.trim_matches('"')))
        .filter(|value| value.len() > 10)
        .collect();
    assert!(secrets.len() > 8, "{}", secrets.len());
    let desired = world.renderings().expect("renderings");
    let Ok(plan::Planned::Change(plan)) = world.plan(&desired) else { panic!("a plan") };
    let mut texts =
        vec![plan.encode(), plan.table(), format!("{plan:?}"), world.inventory.encode()];
    texts.extend(plan.steps().iter().map(plan::Step::detail));
    texts.push(format!("{:?}", world.spec));
    texts.push(format!("{desired:?}"));
    let certificates = |value: &str| value.starts_with("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS");
    let keys: Vec<&str> = secrets.into_iter().filter(|value| !certificates(value)).collect();
    for text in &texts {
        assert!(keys.iter().all(|secret| !text.contains(secret)), "{text}");
    }
    // Beside what machines of no cluster have, every value is a change that is shown.
    let mut other = World::new(&World::text(3, 1, "")).expect("a spec");
    other.running(&other.names()).expect("configurations");
    for config in other.live.values_mut() {
        *config = Config::parse("version: v1alpha1\nmachine:\n  type: worker\n", SourceId(9))
            .expect("a configuration");
    }
    let changed = other.renderings().expect("renderings");
    let fields = changed.values().filter_map(|rendering| rendering.change.as_ref());
    assert!(fields.clone().all(|change| change.fields.len() > 10) && fields.count() == 4);
    let changed = format!("{changed:?}");
    // The identity of the cluster is no secret.
    assert_eq!(keys.iter().filter(|key| changed.contains(**key)).count(), 1, "{changed}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
