//! Hostile and hopeless input is refused with its place, quickly and without much memory.

use talos_config::yaml::{Dialect, Limits, parse};
use talos_config::{Coded, Config, Error, Patch, SourceId, apply};

#[test]
fn an_alias_bomb_does_not_go_off() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = format!("*a{}, ", level - 1).repeat(9);
        text = format!("{text}a{level}: &a{level} [{}]\n", aliases.trim_end_matches(", "));
    }
    let error = parse(&text, SourceId(1), Limits::default()).err().expect("a refusal");
    assert_eq!(error.problem, "document contains excessive aliasing");
}

#[test]
fn too_deep_is_refused_in_every_style() {
    let deep = Limits::default().depth + 1;
    let block: String = (0..deep).map(|level| " ".repeat(level) + "a:\n").collect();
    for text in
        ["[".repeat(100_000), "{a: ".repeat(deep), "- ".repeat(deep), block, "? ".repeat(deep)]
    {
        let error = parse(&text, SourceId(1), Limits::default()).err().expect("a refusal");
        assert!(error.problem.starts_with("exceeded max depth"), "{error:?}");
    }
}

#[test]
fn too_long_is_refused() {
    let text = "a".repeat(Limits::default().bytes + 1);
    assert!(parse(&text, SourceId(1), Limits::default()).is_err());
}

#[test]
fn aliases_add_neither_depth_nor_bytes_beyond_the_limits() {
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(150), "]".repeat(150));
    let deep = format!("a: &a {}\nb: &b {}\n", nested("x"), nested("*a"));
    let error = parse(&deep, SourceId(1), Limits::default()).err().expect("a refusal");
    assert!(error.problem.starts_with("exceeded max depth"), "{error:?}");

    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(100));
    let error = parse(&long, SourceId(1), Limits::default()).err().expect("a refusal");
    assert_eq!(error.problem, "document contains excessive aliasing");
}

#[test]
fn operations_cannot_grow_without_bounds() {
    let doubled: Vec<String> = (0..40)
        .map(|step| format!(r#"{{"op":"copy","from":"/machine","path":"/machine/x{step}"}}"#))
        .collect();
    let patch = Patch::parse(&format!("[{}]", doubled.join(",")), SourceId(2)).expect("a patch");
    let error =
        apply("machine: {}\n", SourceId(1), &[patch], Dialect::V1_14).err().expect("a refusal");
    assert!(error.to_string().contains("too large"), "{error}");
}

#[test]
fn an_anchor_cannot_contain_itself() {
    for text in ["a: &a [*a]", "&a [*a]", "&a {b: *a}", "a: &a\n  b: *a"] {
        assert!(parse(text, SourceId(1), Limits::default()).is_err(), "{text}");
    }
}

#[test]
fn errors_name_line_and_column() {
    for (text, line, column, words) in [
        ("a: b: c", 1, 5, "mapping values are not allowed in this context"),
        ("a:\n\t- b", 2, 1, "found character that cannot start any token"),
        ("a: [b", 1, 6, "did not find expected ',' or ']'"),
        ("a: \"b", 1, 6, "found unexpected end of stream"),
        ("a: \u{1}", 1, 4, "control characters are not allowed"),
        ("a: *b", 1, 4, "unknown anchor referenced"),
        ("%YAML 1.2\n---\na: b", 1, 1, "found incompatible YAML document"),
    ] {
        let error = parse(text, SourceId(1), Limits::default()).err().expect("a refusal");
        assert_eq!((error.origin.line, error.origin.column), (line, column), "{text}: {error:?}");
        assert_eq!(error.problem, words, "{text}");
    }
}

#[test]
fn a_misspelt_key_is_told_with_what_was_meant() {
    let error = Config::parse("machine:\n  netwrok: {}\n", SourceId(1)).err().expect("a refusal");
    assert_eq!(error.code(), "config.document");
    assert_eq!(error.origin().map(|origin| (origin.line, origin.column)), Some((2, 3)));
    assert_eq!(error.hint().as_deref(), Some("did you mean \"network\"?"));
}

#[test]
fn secrets_are_named_as_such() {
    let text = "cluster: {id: a}\nsecrets: {}\ntrustdinfo: {}\ncerts: {}\n";
    let error = Config::parse(text, SourceId(1)).err().expect("a refusal");
    assert_eq!(error.to_string(), "these are secrets, not machine configuration");
}

#[test]
fn what_is_wrong_is_told_all_at_once() {
    let text = "machine:\n  type: [a]\n  foo: 1\n  install: {wipe: maybe}\n";
    let Error::Document(problems) = Config::parse(text, SourceId(1)).err().expect("a refusal")
    else {
        panic!("problems of a document");
    };
    let lines: Vec<u32> =
        problems.iter().filter_map(|problem| Some(problem.location?.line)).collect();
    assert_eq!(lines, [2, 3, 4]);
}

#[test]
fn secrets_are_in_no_error() {
    for text in [
        "machine: {token: [hunter2]}",
        "machine: {ca: {crt: YQ==, key: '!hunter2'}}",
        "apiVersion: v1alpha1\nkind: WireguardConfig\nname: a\nprivateKey: {hunter2: x}\n",
        "cluster: {secret: 2001-01-01, token: {hunter2: 1}}",
        // One level too high, or in place of something else.
        "machine: {ca: hunter2}",
        "cluster: {serviceAccount: hunter2}",
        "machine: {registries: {config: {x: {auth: hunter2}}}}",
        "machine: {token: *hunter2}",
        "cluster: {controlPlane: {endpoint: 'https://user:hunter2@h:x'}}",
        "machine: {systemDiskEncryption: {state: {keys: [{slot: 0, static: hunter2}]}}}",
    ] {
        for error in [Config::parse(text, SourceId(1)).err(), Patch::parse(text, SourceId(1)).err()]
        {
            let error = error.expect("a refusal");
            assert!(
                !format!("{error} {error:?} {:?}", error.hint()).contains("hunter2"),
                "{error}"
            );
        }
    }
}
