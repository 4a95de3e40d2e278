//! Files that the real `sops` made, read without it; and what holds of our own files whatever reads them.

use std::path::Path;
use talos_config::Coded;

use sops::{
    CreationRules, Format, Identities, Recipient, Rule, Selection, Timestamp, decrypt,
    decrypt_with_values, encrypt, is_encrypted,
};

#[test]
fn recorded_files_are_decrypted() {
    for (file, plain) in [
        (
            "split.yaml",
            "# head\n# line\nA: alpha\nNUM: 12\nF: 1.5\nB: true\nQ: quoted value\n\
             D: 2024-01-02T00:00:00Z\n",
        ),
        ("d.env", "A=1\n# c\nB=\"x y\"\nC=\n"),
        (
            "j.json",
            "{\n\t\"a\": \"b\",\n\t\"n\": 1,\n\t\"l\": [\n\t\t1,\n\t\t\"x\",\n\t\ttrue,\n\t\tnull\n\t],\n\
             \t\"f\": 1.5,\n\t\"o\": {\n\t\t\"z\": \"q\"\n\t}\n}\n",
        ),
    ] {
        let format = Format::of_path(file).expect("a format");
        let text = read(file);
        assert!(is_encrypted(&text, format), "{file}");
        let decrypted =
            decrypt(&text, format, &identities()).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(decrypted.expose(), plain, "{file}");
        assert!(!is_encrypted(plain, format), "{file}");
    }
}

#[test]
fn a_file_for_other_keys_says_who_can_read_it() {
    let error =
        decrypt(&read("pgp-only.yaml"), Format::Yaml, &identities()).err().expect("an error");
    assert_eq!(error.code(), "sops.key-kind");
    assert_eq!(error.to_string(), "the file is encrypted for unsupported kinds of key: pgp");
    assert_eq!(
        error.hint().expect("a hint"),
        "use the `sops` program; Ichor supports age keys only (`age1…`)"
    );
}

#[test]
fn only_values_that_were_encrypted_are_confidential() {
    let (mut rule, _) = rule();
    rule.selection = Selection::EncryptedSuffix("_secret".to_owned());
    let plain =
        "clear: in-the-clear\nlist_secret: [hunter-2, 12345678]\nmap_secret:\n  a: swordfish\n";
    let timestamp = Timestamp::from_unix(0);
    let text = encrypt(plain, Format::Yaml, &rule, &timestamp, &mut |bytes| bytes.fill(7));
    let decrypted = decrypt_with_values(&text.expect("encrypted"), Format::Yaml, &identities())
        .expect("decrypted");
    assert!(decrypted.text.expose().contains("in-the-clear"));
    for value in ["hunter-2", "12345678", "swordfish"] {
        assert!(decrypted.values.is_in(value), "{value}");
    }
    assert!(!decrypted.values.is_in("in-the-clear"));
}

#[test]
fn without_keys_the_hint_names_the_recipient() {
    let error =
        decrypt(&read("d.env"), Format::Dotenv, &Identities::default()).err().expect("an error");
    assert_eq!(error.code(), "sops.no-key");
    assert!(error.hint().expect("a hint").contains(rule().1.as_str()));
}

#[test]
fn the_same_randomness_gives_the_same_file_and_other_randomness_another() {
    let (rule, _) = rule();
    let with = |byte: u8| {
        encrypt(PLAIN, Format::Yaml, &rule, &Timestamp::from_unix(0), &mut |bytes| bytes.fill(byte))
            .expect("encrypted")
    };
    assert_eq!(with(1), with(1));
    assert!(with(1) != with(2));
    assert_eq!(decrypt(&with(1), Format::Yaml, &identities()).expect("decrypted").expose(), PLAIN);
}

/// Keys, order and comments stay where they were; nothing of the values does.
#[test]
fn only_values_and_comments_are_hidden() {
    let (mut rule, recipient) = rule();
    rule.selection = Selection::EncryptedSuffix("_secret".to_owned());
    let text =
        encrypt(PLAIN, Format::Yaml, &rule, &Timestamp::from_unix(0), &mut |bytes| bytes.fill(1))
            .expect("encrypted");
    let (content, metadata) = text.split_once("sops:\n").expect("metadata");
    let hidden = content.split("ENC[AES256_GCM,").next().expect("a beginning");
    assert_eq!(hidden, "# above\nz: 1\na_secret:\n    #");
    assert!(!text.contains("hidden") && !text.contains("beside"));
    assert!(content.ends_with("empty: []\n# below\n"));
    let names: Vec<&str> = metadata
        .lines()
        .filter(|line| line.starts_with("    ") && !line.starts_with("     "))
        .map(|line| line.trim().split(':').next().expect("a name"))
        .collect();
    assert_eq!(names, ["age", "encrypted_suffix", "lastmodified", "mac", "version"]);
    assert!(metadata.contains(&format!("recipient: {recipient}\n")));
    assert!(metadata.contains("lastmodified: \"1970-01-01T00:00:00Z\"\n"));
}

/// A comment that makes a value secret is found at every position.
#[test]
fn no_comment_of_a_rule_is_overlooked() {
    let (mut rule, _) = rule();
    let config =
        format!("creation_rules: [{{age: {}, encrypted_comment_regex: hide}}]", self::rule().1);
    rule.selection = CreationRules::parse(&config)
        .and_then(|rules| rules.rule_for("f"))
        .expect("a rule")
        .selection;
    for plain in [
        "# hide\na: WORD\n",
        "a: WORD # hide\n",
        "a: # hide\n  b: WORD\n",
        "a: # hide\n  - WORD\n  - WORD\n",
        "a: | # hide\n  WORD\n",
        "a: >- # hide\n  WORD\n",
        "a: \"WORD\n  WORD\" # hide\n",
        "a: # hide\n  WORD\n",
        "a:\n  # hide\n  WORD\n",
        "a:\n  # hide\n  - WORD\n",
        "a:\n# hide\n- WORD\n",
        "a:\n  - # hide\n    b: WORD\n    c: WORD\n",
        "a:\n  - {b: WORD, c: WORD} # hide\n",
        "a: [WORD] # hide\n",
        "a: [\n  # hide\n  WORD]\n",
        "a: {b: WORD} # hide\n",
        "a: !!str WORD # hide\n",
        "a: &x WORD # hide\n",
        "x_plain: &x 1\na:\n  # hide\n  - *x\n  - 2\n# hide\nb: WORD\n",
        "? a # hide\n: WORD\n",
        "a:\n  b: 1\n# hide\nc: WORD\n",
        "a:\n- 1\n# hide\nc: WORD\n",
        "--- # hide\na: WORD\n",
    ] {
        let text = encrypt(plain, Format::Yaml, &rule, &Timestamp::from_unix(0), &mut |bytes| {
            bytes.fill(1);
        })
        .unwrap_or_else(|error| panic!("{plain}: {error}"));
        assert!(!text.contains("WORD"), "{plain}\n{text}");
        decrypt(&text, Format::Yaml, &identities())
            .unwrap_or_else(|error| panic!("{plain}: {error}"));
    }
}

/// An error must not hold what the file is to hide.
#[test]
fn no_plain_text_is_in_an_error() {
    let (rule, _) = rule();
    for (format, plain) in [
        (Format::Yaml, "a: [WORD\n"),
        (Format::Yaml, "WORD: WORD: WORD\n"),
        (Format::Yaml, "? [WORD]\n: 1\n"),
        (Format::Yaml, "a: !!binary WORD_WORD\n"),
        (Format::Yaml, "a: *WORD\n"),
        (Format::Json, "{\"a\": WORD}"),
        (Format::Json, "\"WORD\""),
        (Format::Dotenv, "WORD\n"),
    ] {
        let error =
            encrypt(plain, format, &rule, &Timestamp::from_unix(0), &mut |bytes| bytes.fill(1))
                .expect_err(plain);
        let said = format!("{error} {error:?} {:?}", error.hint());
        assert!(!said.contains("WORD"), "{said}");
    }
}

/// Hostile texts are refused quickly, however much they nest or repeat.
#[test]
fn texts_without_measure_are_refused() {
    let (rule, _) = rule();
    let deep_list = format!("a: {}", "[".repeat(100_000));
    let deep_map = "a: {".repeat(5_000);
    let wide = format!("a: [{}]", "1,".repeat(400_000));
    let deep_json = format!("{{\"a\": {}{}}}", "[".repeat(100), "]".repeat(100));
    let wide_json = format!("{{\"a\": [{}1]}}", "1,".repeat(400_000));
    let long_key = format!("{}: 1", "k".repeat(20_000));
    let bomb = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        let aliases = vec![format!("*a{}", n - 1); 9].join(",");
        format!("{text}a{n}: &a{n} [{aliases}]\n")
    });
    for (format, text) in [
        (Format::Yaml, &deep_list),
        (Format::Yaml, &deep_map),
        (Format::Yaml, &wide),
        (Format::Yaml, &long_key),
        (Format::Yaml, &bomb),
        (Format::Json, &deep_json),
        (Format::Json, &wide_json),
    ] {
        let error =
            encrypt(text, format, &rule, &Timestamp::from_unix(0), &mut |bytes| bytes.fill(1));
        let error = error.expect_err("an error");
        assert!(["sops.syntax", "sops.value"].contains(&error.code()), "{error}");
    }
}

#[test]
fn rules_that_cannot_be_meant_are_refused() {
    let (_, recipient) = rule();
    for (text, code) in [
        ("", "sops.rules"),
        ("creation_rules: x", "sops.rules"),
        ("creation_rules: [", "sops.rules"),
        ("a: 1", "sops.no-rule"),
        ("creation_rules: []", "sops.no-rule"),
        ("creation_rules: [{path_regex: x}]", "sops.no-rule"),
        ("creation_rules: [{path_regex: (}]", "sops.rules"),
        ("creation_rules: [{}]", "sops.rules"),
        ("creation_rules: [{age: ''}]", "sops.rules"),
        ("creation_rules: [{age: x}]", "sops.recipient"),
        ("creation_rules: [{age: {}}]", "sops.rules"),
        ("creation_rules: [{age: R, pgp: F}]", "sops.key-kind"),
        ("creation_rules: [{key_groups: [{age: [R], kms: [{arn: x}]}]}]", "sops.key-kind"),
        ("creation_rules: [{key_groups: [{age: [R]}, {age: []}]}]", "sops.rules"),
        (
            "creation_rules: [{key_groups: [{age: [R]}, {age: [R]}], shamir_threshold: 3}]",
            "sops.rules",
        ),
        (
            "creation_rules: [{key_groups: [{age: [R]}, {age: [R]}], shamir_threshold: 1}]",
            "sops.rules",
        ),
        ("creation_rules: [{age: R, shamir_threshold: many}]", "sops.rules"),
        ("creation_rules: [{age: R, encrypted_regex: a, encrypted_suffix: b}]", "sops.rules"),
        ("creation_rules: [{age: R, encrypted_regex: [a]}]", "sops.rules"),
        ("creation_rules: [{age: R, mac_only_encrypted: maybe}]", "sops.rules"),
        ("stores: {yaml: {indent: -1}}\ncreation_rules: [{age: R}]", "sops.rules"),
        ("stores: {yaml: {indent: x}}\ncreation_rules: [{age: R}]", "sops.rules"),
    ] {
        let text = text.replace('R', recipient.as_str());
        let rule = CreationRules::parse(&text).and_then(|rules| rules.rule_for("f.yaml"));
        assert_eq!(rule.expect_err(&text).code(), code, "{text}");
    }
}

#[test]
fn rules_are_read_as_they_are_written() {
    let (_, recipient) = rule();
    let text = format!(
        "keys:\n  - &me {recipient}\nx: &usual {{mac_only_encrypted: true, age: [*me, *me]}}\n\
         stores: {{yaml: {{indent: 2}}, json: {{indent: 3}}}}\ncreation_rules:\n  - path_regex: ^a/\n    \
         age: >-\n      {recipient},\n      {recipient}\n    unencrypted_regex: ^x\n  - <<: *usual\n"
    );
    let rules = CreationRules::parse(&text).expect("rules");
    let first = rules.rule_for("a/b.yaml").expect("a rule");
    assert_eq!(first.selection.setting(), ("unencrypted_regex", "^x"));
    assert!(!first.mac_only_encrypted);
    assert_eq!((first.layout.yaml_indent, first.layout.json_indent), (2, Some(3)));
    let second = rules.rule_for("c/a/b.yaml").expect("a rule");
    assert_eq!(second.selection.setting(), ("unencrypted_suffix", "_unencrypted"));
    assert!(second.mac_only_encrypted);
}

fn rule() -> (Rule, Recipient) {
    let text = read("first.txt");
    let public = text.lines().find_map(|line| line.strip_prefix("# public key: ")).expect("a key");
    let recipient = Recipient::parse(public).expect("a recipient");
    (Rule::for_recipients(vec![recipient.clone()]).expect("a rule"), recipient)
}

fn identities() -> Identities {
    let mut identities = Identities::default();
    for name in ["first.txt", "second.txt"] {
        identities.add(name, &read(name));
    }
    identities
}

fn read(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/throw-away-keys");
    fs_err::read_to_string(folder.join(file)).expect("a file")
}

const PLAIN: &str = "\
# above
z: 1
a_secret:
    # beside
    c: hidden
    b:
        - hidden
        - true
empty: []
# below
";
