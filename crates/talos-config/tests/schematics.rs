//! Ids of schematics, as talhelper 3.1.15 printed them; some are published elsewhere as well.

use serde_json::Value;
use talos_config::{Coded, Schematic, SourceId};

#[test]
fn ids_are_those_of_the_factory() {
    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("data/schematics.json")).expect("vectors");
    assert!(vectors.len() >= 42, "{}", vectors.len());
    for vector in vectors {
        let [name, yaml, canonical, id] = ["name", "yaml", "canonical", "id"]
            .map(|key| vector[key].as_str().expect("text").to_owned());
        let schematic = Schematic::parse_lenient(&yaml, SourceId(1)).expect("a schematic");
        assert_eq!(schematic.canonical(), canonical, "{name}");
        assert_eq!(schematic.id(), id, "{name}");
    }
}

#[test]
fn a_misspelt_key_would_be_another_image() {
    let error = Schematic::parse("customization: {extraKernelArg: [a]}\n", SourceId(1))
        .err()
        .expect("a refusal");
    assert_eq!(error.hint().as_deref(), Some("did you mean \"extraKernelArgs\"?"));
}

#[test]
fn images_are_named_after_the_id() {
    let stock = Schematic::parse("customization: {}\n", SourceId(1)).expect("a schematic");
    assert_eq!(
        stock.installer("metal", "v1.14.1", false),
        "factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.14.1"
    );
}
