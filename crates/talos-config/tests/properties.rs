//! Rules that hold for every input, tried on thousands of generated ones.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use talos_config::yaml::{
    Content, Dialect, Limits, Node, Resolved, Style, Tree, emit, parse, resolve,
};
use talos_config::{Patch, SourceId, apply, fuzzing};

proptest! {
    #![proptest_config(tried(10_000))]

    /// What we write, we read as the same, and write the same way again.
    #[test]
    fn what_is_written_is_read_back(shape in shape()) {
        let tree = shape.tree();
        let mut text = String::new();
        emit(&tree, Dialect::V1_14, &mut text);
        let documents = parse(&text, SourceId(1), Limits::default());
        prop_assert!(documents.is_ok(), "{:?}\n{text}", documents.err());
        let documents = documents.unwrap();
        prop_assert_eq!(documents.len(), 1);
        let again = tree_of(&documents[0].root);
        prop_assert!(again == tree, "{text}");
        let mut second = String::new();
        emit(&again, Dialect::V1_14, &mut second);
        prop_assert_eq!(second, text);
    }

    /// No text makes the parser panic, and its errors name a place within the text.
    #[test]
    fn no_text_is_too_strange(text in strange_text()) {
        if let Err(error) = parse(&text, SourceId(1), Limits::default()) {
            let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
            prop_assert!((1..=lines).contains(&(error.origin.line as usize)), "{error:?}\n{text}");
        }
    }
}

proptest! {
    #![proptest_config(tried(2_000))]

    /// No text makes reading or patching panic; what is read can be written and read again.
    #[test]
    fn no_configuration_is_too_strange(text in strange_text(), patch in strange_text()) {
        fuzzing::parse(&text);
        if let Ok(patch) = Patch::parse(&patch, SourceId(2)) {
            let _ = apply(&text, SourceId(1), std::slice::from_ref(&patch), Dialect::V1_14);
            let _ = apply(BASE, SourceId(1), &[patch], Dialect::V1_14);
        }
    }
}

/// The same cases in every run, unless `ICHOR_SEED` asks for others. A failing case is printed whole, so
/// nothing needs to be stored.
fn tried(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: testkit::cases(cases),
        rng_seed: RngSeed::Fixed(testkit::seeds(1).start),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn tree_of(node: &Node) -> Tree<'static> {
    match &node.content {
        Content::Scalar { text, style }
            if *style == Style::Plain && resolve(text, *style) != Resolved::Text =>
        {
            Tree::Verbatim(Cow::Owned(text.to_string()))
        }
        Content::Scalar { text, .. } => Tree::Text(Cow::Owned(text.to_string())),
        Content::Sequence(items) => Tree::List(items.iter().map(tree_of).collect()),
        Content::Mapping(entries) => {
            let entry = |(key, value): &(Node, Node)| {
                let (key, _) = key.scalar().expect("a key that is text");
                (Cow::Owned(key.to_owned()), tree_of(value))
            };
            Tree::Map(entries.iter().map(entry).collect())
        }
    }
}

/// A tree that may be shown when a test fails.
#[derive(Clone, Debug)]
enum Shape {
    Text(String),
    Verbatim(&'static str),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Shape {
    fn tree(&self) -> Tree<'_> {
        match self {
            Self::Text(text) => Tree::Text(text.into()),
            Self::Verbatim(text) => Tree::Verbatim((*text).into()),
            Self::List(items) => Tree::List(items.iter().map(Self::tree).collect()),
            Self::Map(entries) => {
                Tree::Map(entries.iter().map(|(key, value)| (key.into(), value.tree())).collect())
            }
        }
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        8 => readable_text().prop_map(Shape::Text),
        1 => prop_oneof![Just("null"), Just("true"), Just("false"), Just("12"), Just("1.5")]
            .prop_map(Shape::Verbatim),
        1 => Just(Shape::List(Vec::new())),
        1 => Just(Shape::Map(Vec::new())),
    ];
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 1..5).prop_map(Shape::List),
            vec((readable_text(), inner), 1..5).prop_map(Shape::Map),
        ]
    })
}

/// Text that the encoder can write so that it can be read. It cannot where text of several lines begins
/// with white space, whose indentation is then told wrongly, or has line breaks of several kinds: by
/// Talos as by us.
fn readable_text() -> impl Strategy<Value = String> {
    text().prop_filter("readable", |text| {
        let indented = text.trim_start_matches('\n').starts_with([' ', '\t']);
        !text.contains('\n') || !(indented || text.contains(['\u{2028}', '\u{2029}']))
    })
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(" "),
        Just("\n"),
        Just(":"),
        Just("#"),
        Just("-"),
        Just("'"),
        Just("\""),
        Just("\t"),
        Just("é"),
        Just("\u{2028}"),
        Just("\u{1F600}"),
        Just("\\"),
        Just("0"),
        Just("1"),
        Just("yes"),
        Just("null"),
        Just("~"),
        Just("{"),
        Just("]"),
        Just("&"),
        Just("*"),
        Just("|"),
        Just("%"),
        Just("a"),
        Just("b c"),
        Just("\u{feff}"),
        Just("\r"),
        Just("."),
        Just("e"),
        Just("x"),
        Just("_"),
        Just("2001-01-01"),
    ];
    prop_oneof![
        vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        "[a-z]{1,8}",
        "[ -~]{0,20}",
        any::<String>(),
        "[a-z ]{120,140}",
    ]
}

/// Text that is nearly YAML, or not at all.
fn strange_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("machine:\n"),
        Just("  network:\n"),
        Just("    interfaces:\n"),
        Just("  - "),
        Just("    - interface: eth0\n"),
        Just("cluster: "),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(": "),
        Just("- "),
        Just("? "),
        Just("&a "),
        Just("*a"),
        Just("!!str "),
        Just("|\n"),
        Just(">-\n"),
        Just("\"x"),
        Just("'"),
        Just("\n"),
        Just("  "),
        Just("\t"),
        Just("---\n"),
        Just("...\n"),
        Just("%YAML 1.1\n"),
        Just("$patch: delete\n"),
        Just("apiVersion: v1alpha1\n"),
        Just("kind: LinkConfig\n"),
        Just("name: a\n"),
        Just("op: add\n"),
        Just("path: /machine\n"),
        Just("# c\n"),
        Just("token: 1\n"),
        Just("<<: "),
        Just("\u{1F600}"),
        Just("\r\n"),
        Just(","),
        Just("null"),
        Just("mtu: 5\n"),
    ];
    prop_oneof![6 => vec(piece, 0..24).prop_map(|pieces| pieces.concat()), 1 => any::<String>()]
}

const BASE: &str = "machine:\n    type: worker\n    network:\n        interfaces:\n            - interface: eth0\n\
                    cluster: {}\n---\napiVersion: v1alpha1\nkind: LinkConfig\nname: a\nmtu: 1400\n";
