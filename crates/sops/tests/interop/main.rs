//! Level `interop`: files go between us and the real `sops`, both ways.

mod documents;

use std::path::Path;
use std::process::{Command, Output};
use talos_config::Coded;

use sops::{CreationRules, Format, Identities, Timestamp, decrypt, encrypt};
use tempfile::TempDir;
use testkit::peers;

use documents::Random;

/// Each rule, in the words of `.sops.yaml`.
const RULES: &[(&str, &str)] = &[
    ("usual", ""),
    ("unencrypted_suffix", "unencrypted_suffix: _plain"),
    ("encrypted_suffix", "encrypted_suffix: _secret"),
    ("encrypted_regex", "encrypted_regex: ^(data|token.*|k[0-4])$"),
    ("unencrypted_regex", "unencrypted_regex: ^(meta|k[0-4])"),
    ("encrypted_comment_regex", "encrypted_comment_regex: hide"),
    ("unencrypted_comment_regex", "unencrypted_comment_regex: show"),
    ("mac_only_encrypted", "mac_only_encrypted: true"),
    ("mac_only_some", "mac_only_encrypted: true\n    encrypted_regex: k[0-4]"),
];

const FORMATS: &[(&str, Format)] =
    &[("f.yaml", Format::Yaml), ("f.json", Format::Json), ("f.env", Format::Dotenv)];

#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn every_rule_and_format_goes_both_ways() {
    for (rule, settings) in RULES {
        for (file, format) in FORMATS {
            let plain = match format {
                Format::Yaml => documents::YAML,
                Format::Json => documents::JSON,
                Format::Dotenv => documents::DOTENV,
            };
            let bench = Bench::new(&config(settings, ""));
            bench.both_ways(file, *format, plain, rule);
        }
    }
}

#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn other_layouts_and_several_keys_go_both_ways() {
    let two = format!("creation_rules:\n  - age: {},\n      {}\n", key(FIRST).1, key(SECOND).1);
    let groups = |threshold: &str| {
        let (first, second) = (key(FIRST).1, key(SECOND).1);
        format!(
            "creation_rules:\n  - key_groups:\n    - age: [{first}]\n    - age:\n      - {second}\n    \
             - merge:\n      - age: [{first}]\n      age: [{second}]\n{threshold}"
        )
    };
    for (name, config) in [
        ("two recipients", two),
        ("three groups", groups("")),
        ("two of three groups", groups("    shamir_threshold: 2\n")),
        ("indent 2", config("", "stores: {yaml: {indent: 2}, json: {indent: 3}}\n")),
        ("indent 3", config("", "stores: {yaml: {indent: 3}, json: {indent: 0}}\n")),
        ("indent 1", config("", "stores: {yaml: {indent: 1}, json: {indent: -1}}\n")),
    ] {
        for (file, format) in FORMATS {
            let plain = match format {
                Format::Yaml => documents::YAML,
                Format::Json => documents::JSON,
                Format::Dotenv => documents::DOTENV,
            };
            // Their plain text follows the layout of the configuration; ours has the default one.
            let bench = Bench { plain_config: String::new(), ..Bench::new(&config) };
            bench.both_ways(file, *format, plain, name);
        }
    }
}

/// One of two groups is not enough, and two of three are.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn a_split_key_needs_its_groups() {
    let (first, second) = (key(FIRST).1, key(SECOND).1);
    let config = format!(
        "creation_rules:\n  - shamir_threshold: 2\n    key_groups:\n    - age: [{first}]\n    \
         - age: [{second}]\n"
    );
    let bench = Bench::new(&config);
    let theirs = bench.sops(&["encrypt"], "f.yaml", "a: 1\n", ALL).expect("encrypted");
    let error = decrypt(&theirs, Format::Yaml, &identities(&[FIRST])).err().expect("an error");
    assert_eq!(error.code(), "sops.no-key");
    let both = decrypt(&theirs, Format::Yaml, &identities(ALL)).expect("decrypted");
    assert_eq!(both.expose(), "a: 1\n");
}

/// Documents of every shape, with comments everywhere: 30 documents a file, under every rule.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn seeded_documents_go_both_ways() {
    for (number, (rule, settings)) in RULES.iter().enumerate() {
        let bench = Bench::new(&config(settings, ""));
        let seed = 1000 + number as u64;
        let mut random = Random(seed);
        let batch: Vec<String> = (0..30)
            .map(|index| format!("\"k{index}\": {}", documents::json(&mut random, 0)))
            .collect();
        let object = format!("{{{}}}", batch.join(", "));
        bench.both_ways("f.json", Format::Json, &object, rule);
        let batch: String = (0..30).map(|_| documents::dotenv(&mut random)).collect();
        bench.both_ways("f.env", Format::Dotenv, &batch, rule);

        // SOPS cannot read all that it makes of comments in unusual places, so it is asked about the data
        // without them, and about what we make of them.
        let batch = |comments: bool| {
            let mut random = Random(seed);
            let documents: Vec<String> =
                (0..30).map(|_| documents::yaml(&mut random, comments)).collect();
            documents.join("---\n")
        };
        let (bare, commented) = (batch(false), batch(true));
        bench.both_ways("f.yaml", Format::Yaml, &bare, rule);
        let expected = bench.sops(&["encrypt"], "f.yaml", &bare, ALL).expect("encrypted");
        let expected = bench.sops(&["decrypt"], "f.yaml", &expected, ALL).expect("decrypted");
        let ours = bench.ours("f.yaml", Format::Yaml, &commented).expect("encrypted");
        let by_them = bench
            .sops(&["decrypt"], "f.yaml", &ours, ALL)
            .unwrap_or_else(|error| panic!("{rule}: they decrypt ours: {error}"));
        let expected = without_comments(&expected);
        same(&without_comments(&by_them), &expected, &format!("{rule}: they decrypt ours"));
        let by_us = decrypt(&ours, Format::Yaml, &identities(ALL)).expect("decrypted");
        same(&without_comments(by_us.expose()), &expected, &format!("{rule}: we decrypt ours"));
    }
}

/// Ichor reads every file that SOPS reads, with comments.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn seeded_documents_of_theirs_are_read() {
    let mut read = 0;
    for seed in 0..60 {
        let (rule, settings) = RULES[seed % RULES.len()];
        let bench = Bench::new(&config(settings, ""));
        let mut random = Random(5000 + seed as u64);
        let documents: Vec<String> = (0..4).map(|_| documents::yaml(&mut random, true)).collect();
        let Ok(theirs) = bench.sops(&["encrypt"], "f.yaml", &documents.join("---\n"), ALL) else {
            continue;
        };
        let Ok(expected) = bench.sops(&["decrypt"], "f.yaml", &theirs, ALL) else { continue };
        let ours = decrypt(&theirs, Format::Yaml, &identities(ALL))
            .unwrap_or_else(|error| panic!("{rule}, seed {seed}: {error}\n{theirs}"));
        let what = format!("{rule}, seed {seed}");
        same(&without_comments(ours.expose()), &without_comments(&expected), &what);
        read += 1;
    }
    assert!(read > 30, "sops could read only {read} of its own 60 files");
}

/// The keys that a merge brings in are those of the mapping still, tag or no tag.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn a_merge_stays_a_merge() {
    let plain =
        "a: &a\n  x: 1\nb:\n  <<: *a\n  y_unencrypted: 2\nc:\n  - <<: [*a]\nd_unencrypted: '<<'\n";
    let bench = Bench::new(&config("", ""));
    let theirs = bench.sops(&["encrypt"], "f.yaml", plain, ALL).expect("encrypted");
    let expected = bench.sops(&["decrypt"], "f.yaml", &theirs, ALL).expect("decrypted");
    let ours = bench.ours("f.yaml", Format::Yaml, plain).expect("encrypted");
    assert_eq!(bench.sops(&["decrypt"], "f.yaml", &ours, ALL).expect("decrypted"), expected);
    let expected = expected.replace("!!merge <<:", "<<:").replace("!!merge <<", "\"<<\"");
    for text in [theirs, ours] {
        let decrypted = decrypt(&text, Format::Yaml, &identities(ALL)).expect("decrypted");
        assert_eq!(*decrypted.expose(), expected);
    }
}

/// SOPS makes an empty text of each empty comment in a list; it is given none.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn an_empty_comment_is_no_data() {
    let plain = "n:\n  -\n    #\n    m: 1\n  #\n  - 2\n  - #\n    - 3\n    #\n  #\nx: 1 #\n#\n";
    let bench = Bench::new(&config("", ""));
    let ours = bench.ours("f.yaml", Format::Yaml, plain).expect("encrypted");
    let theirs = bench.sops(&["decrypt", "--output-type", "json"], "f.yaml", &ours, ALL);
    let theirs: serde_json::Value =
        serde_json::from_str(&theirs.expect("decrypted")).expect("JSON");
    assert_eq!(theirs, serde_json::json!({"n": [{"m": 1}, 2, [3]], "x": 1}));
}

/// SOPS writes such a text so that it reads differently within a list; what we write is asked for as JSON.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn a_text_that_begins_with_a_blank_stays_what_it_is() {
    let texts =
        [" lead\nline", "\nline", "\n", " ", "\n\n x\n", "\t\n", "a\u{2028}\nb", "\u{feff}\nx"];
    let json = |text: &str| serde_json::to_string(text).expect("JSON");
    let plain: Vec<String> = texts.iter().map(|text| json(text)).collect();
    let plain = format!("a: [{0}]\nb: {{c: [[{0}]]}}\nd_unencrypted: [{0}]\n", plain.join(", "));
    let bench = Bench::new(&config("", ""));
    let ours = bench.ours("f.yaml", Format::Yaml, &plain).expect("encrypted");
    let decrypted =
        decrypt(&ours, Format::Yaml, &identities(ALL)).expect("decrypted").into_exposed();
    let again = bench.ours("f.yaml", Format::Yaml, &decrypted).expect("encrypted again");
    for encrypted in [ours, again] {
        let read = bench.sops(&["decrypt", "--output-type", "json"], "f.yaml", &encrypted, ALL);
        let read: serde_json::Value =
            serde_json::from_str(&read.expect("decrypted")).expect("JSON");
        for list in [&read["a"], &read["b"]["c"][0], &read["d_unencrypted"]] {
            assert_eq!(*list, serde_json::json!(texts));
        }
    }
}

/// A file that was changed is refused by both.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn what_was_changed_is_refused_by_both() {
    let bench = Bench::new(&config("", ""));
    let plain = "a: alpha\nb_unencrypted: beta\nc:\n  d: gamma\n";
    let theirs = bench.sops(&["encrypt"], "f.yaml", plain, ALL).expect("encrypted");
    let line =
        |name: &str| theirs.lines().find(|line| line.trim().starts_with(name)).expect("a line");
    let changes = [
        ("a readable value", theirs.replace("beta", "gamma"), "sops.mac"),
        (
            "a value",
            theirs.replace(line("a:"), &line("a:").replace("data:", "data:AAAA")),
            "sops.value",
        ),
        ("a plain value", theirs.replace(line("a:"), "a: alpha"), "sops.value"),
        ("a key", theirs.replace("    d: ", "    e: "), "sops.value"),
        ("a value taken away", theirs.replace(&format!("{}\n", line("a:")), ""), "sops.mac"),
        ("the MAC", theirs.replace("    mac: ENC", "    mac: NEC"), "sops.mac"),
        ("no MAC", theirs.replace(line("mac:"), "    mac: \"\""), "sops.mac"),
        ("the time", theirs.replace("lastmodified: \"2", "lastmodified: \"1"), "sops.mac"),
        ("no time", theirs.replace("lastmodified:", "lastmended:"), "sops.metadata"),
        ("no recipient", theirs.replace("    age:", "    ega:"), "sops.metadata"),
        (
            "another age file",
            theirs.replace("\n            YWdl", "\n            YWdm"),
            "sops.metadata",
        ),
        ("no metadata", theirs.replace("\nsops:", "\nspos:"), "sops.not-encrypted"),
        (
            "two rules",
            theirs.replace("    version:", "    encrypted_suffix: x\n    version:"),
            "sops.metadata",
        ),
        (
            "another kind",
            theirs.replace(
                "    age:",
                "    pgp: [{created_at: \"2020-01-01T00:00:00Z\", enc: x, fp: y}]\n    ega:",
            ),
            "sops.key-kind",
        ),
    ];
    for (what, changed, code) in changes {
        assert!(changed != theirs, "{what}: nothing was changed");
        bench.sops(&["decrypt"], "f.yaml", &changed, ALL).expect_err(what);
        let error = decrypt(&changed, Format::Yaml, &identities(ALL)).err().expect(what);
        assert_eq!(error.code(), code, "{what}: {error}");
        let said = format!("{error} {error:?} {:?}", error.hint());
        for secret in ["alpha", "beta", "gamma", "AGE-SECRET", "data:"] {
            assert!(!said.contains(secret), "{what}: {said}");
        }
    }
}

#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn without_the_right_key_nothing_is_decrypted_and_all_sources_are_named() {
    let bench = Bench::new(&config("", ""));
    let theirs = bench.sops(&["encrypt"], "f.yaml", "a: one\n", ALL).expect("encrypted");
    bench.sops(&["decrypt"], "f.yaml", &theirs, &[SECOND]).expect_err("another key");
    let mut wrong = identities(&[SECOND]);
    wrong.add("garbage", "AGE-SECRET-KEY-1GARBAGE");
    wrong.add_missing("SOPS_AGE_KEY", "not set");
    let error = decrypt(&theirs, Format::Yaml, &wrong).err().expect("an error");
    assert_eq!(error.code(), "sops.no-key");
    assert_eq!(
        error.to_string(),
        "no age identity decrypts the file; second.txt: one key, which does not fit; \
         garbage: line 1 is not an age key: its length is wrong; SOPS_AGE_KEY: not set"
    );
    assert!(error.hint().expect("a hint").contains(&key(FIRST).1));
}

/// Documents that both refuse to encrypt.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn what_cannot_be_encrypted_is_refused_by_both() {
    for (file, plain, code) in [
        ("f.yaml", "", "sops.empty"),
        ("f.yaml", "- a\n", "sops.syntax"),
        ("f.yaml", "text\n", "sops.syntax"),
        ("f.yaml", "a: [\n", "sops.syntax"),
        ("f.yaml", "1: a\n", "sops.value"),
        ("f.yaml", "a: 1\na: 2\n", "sops.value"),
        ("f.yaml", "a: 18446744073709551615\n", "sops.value"),
        ("f.yaml", "sops: {}\n", "sops.already-encrypted"),
        ("f.yaml", "a: 1\n---\nsops: {}\n", "sops.already-encrypted"),
        ("f.json", "[]", "sops.syntax"),
        ("f.json", "{\"sops\": 1}", "sops.already-encrypted"),
        ("f.env", "no line\n", "sops.syntax"),
        ("f.env", "sops_x=1\n", "sops.already-encrypted"),
    ] {
        let bench = Bench::new(&config("", ""));
        bench.sops(&["encrypt"], file, plain, ALL).expect_err(plain);
        let format = Format::of_path(file).expect("a format");
        let error = bench.ours(file, format, plain).expect_err(plain);
        assert_eq!(error.code(), code, "{plain:?}: {error}");
    }
}

/// Paths and the rules that apply to them.
#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn a_path_has_the_same_rule() {
    let config = format!(
        "stores: {{yaml: {{indent: 2}}}}\ncreation_rules:\n  - path_regex: talos/.*\\.sops\\.ya?ml\n    \
         mac_only_encrypted: true\n    age: &k {0}\n  - path_regex: ^b/\n    age: [*k]\n    \
         encrypted_regex: ^a$\n  - path_regex: c$\n    age: ''\n    key_groups: [{{age: [*k]}}]\n    \
         encrypted_suffix: b\n",
        key(FIRST).1
    );
    let bench = Bench::new(&config);
    let rules = CreationRules::parse(&config).expect("rules");
    for path in
        ["talos/x.sops.yaml", "x/talos/y.sops.yml", "b/f.yaml", "a/b/f.yaml", "f.c", "f.yaml"]
    {
        let theirs = bench.sops(
            &["encrypt", "--input-type", "yaml", "--output-type", "yaml"],
            path,
            "a: 1\nb: 2\n",
            ALL,
        );
        let ours = rules.rule_for(path);
        match (theirs, ours) {
            (Ok(theirs), Ok(rule)) => {
                let (name, text) = rule.selection.setting();
                assert!(theirs.contains(&format!("  {name}: {text}")), "{path}: {theirs}");
                assert_eq!(theirs.contains("mac_only_encrypted: true"), rule.mac_only_encrypted);
            }
            (Err(_), Err(error)) => assert_eq!(error.code(), "sops.no-rule", "{path}"),
            (theirs, ours) => panic!("{path}: {theirs:?} {ours:?}"),
        }
    }
}

/// A directory with a `.sops.yaml` in which `sops` runs.
struct Bench {
    directory: TempDir,
    config: String,
    /// The configuration under which `sops` decrypts.
    plain_config: String,
}

impl Bench {
    fn new(config: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { directory, config: config.to_owned(), plain_config: config.to_owned() }
    }

    /// Checks that each decrypts the other's output, with equal plain texts.
    fn both_ways(&self, file: &str, format: Format, plain: &str, what: &str) {
        let fail =
            |step: &str, error: String| -> String { panic!("{what}, {file}: {step}: {error}") };
        let theirs =
            self.sops(&["encrypt"], file, plain, ALL).unwrap_or_else(|e| fail("they encrypt", e));
        let expected =
            self.sops(&["decrypt"], file, &theirs, ALL).unwrap_or_else(|e| fail("they decrypt", e));
        let ours =
            self.ours(file, format, plain).unwrap_or_else(|e| fail("we encrypt", e.to_string()));
        let by_them = self
            .sops(&["decrypt"], file, &ours, ALL)
            .unwrap_or_else(|e| fail("they decrypt ours", format!("{e}\n{ours}")));
        for (step, text) in [("we decrypt theirs", &theirs), ("we decrypt ours", &ours)] {
            let decrypted = decrypt(text, format, &identities(&[FIRST, SECOND]))
                .unwrap_or_else(|e| panic!("{what}, {file}: {step}: {e}\n{text}"));
            same(decrypted.expose(), &expected, &format!("{what}, {file}: {step}"));
        }
        same(&by_them, &expected, &format!("{what}, {file}: they decrypt ours"));
    }

    fn ours(&self, file: &str, format: Format, plain: &str) -> Result<String, sops::Error> {
        let rule = CreationRules::parse(&self.config)?.rule_for(file)?;
        let mut random = Random(7);
        encrypt(plain, format, &rule, &Timestamp::from_unix(1_800_000_000), &mut |bytes| {
            random.fill(bytes);
        })
    }

    fn sops(
        &self,
        arguments: &[&str],
        file: &str,
        text: &str,
        keys: &[&str],
    ) -> Result<String, String> {
        let config = if arguments[0] == "decrypt" { &self.plain_config } else { &self.config };
        let path = self.directory.path().join(file);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs_err::write(self.directory.path().join(".sops.yaml"), config).expect("a file");
        fs_err::write(&path, text).expect("a file");
        let keys: Vec<String> = keys.iter().map(|name| key(name).0).collect();
        let output: Output = Command::new(peers::program("sops"))
            .args(arguments)
            .arg(file)
            .current_dir(self.directory.path())
            .env_clear()
            .env("HOME", self.directory.path())
            .env("SOPS_AGE_KEY", keys.join("\n"))
            .output()
            .expect("sops runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }
}

#[track_caller]
fn same(ours: &str, theirs: &str, what: &str) {
    let mut lines = ours.lines().zip(theirs.lines()).enumerate();
    if let Some((number, (left, right))) = lines.find(|(_, (left, right))| left != right) {
        let from = number.saturating_sub(4);
        let around = |text: &str| text.lines().skip(from).take(9).collect::<Vec<_>>().join("\n");
        panic!(
            "{what}: line {}:\n{left}\n{right}\n\n{}\n\n{}",
            number + 1,
            around(ours),
            around(theirs)
        );
    }
    assert!(ours == theirs, "{what}: one is longer\n{ours}\n\n{theirs}");
}

/// The text without comments, and without the blank lines that SOPS puts around some.
fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#') && !line.is_empty());
    lines.flat_map(|line| [line.split(" #").next().unwrap_or_default(), "\n"]).collect()
}

fn config(settings: &str, more: &str) -> String {
    let settings = if settings.is_empty() { String::new() } else { format!("    {settings}\n") };
    format!("creation_rules:\n  - age: {}\n{settings}{more}", key(FIRST).1)
}

/// The private and the public part of a key that protects nothing.
fn key(file: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/throw-away-keys");
    let text = fs_err::read_to_string(folder.join(file)).expect("a key file");
    let public = text.lines().find_map(|line| line.strip_prefix("# public key: "));
    (text.clone(), public.expect("a public key").to_owned())
}

fn identities(names: &[&str]) -> Identities {
    let mut identities = Identities::default();
    for name in names {
        identities.add(name, &key(name).0);
    }
    identities
}

const FIRST: &str = "first.txt";
const SECOND: &str = "second.txt";
const ALL: &[&str] = &[FIRST, SECOND];
