//! Releases of Talos and Kubernetes are named in one table, `crates/talos-config/src/releases.rs`, and nowhere else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Comments and tests may name releases: they say what was true of one. So may data beside the code.
#[test]
fn releases_stand_in_their_table_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "fuzz"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 300, "{} files", files.len());
    let mut wrong = Vec::new();
    let mut named = BTreeSet::new();
    for path in files {
        let file = path.strip_prefix(&root).expect("a path below").to_string_lossy().into_owned();
        let text = fs_err::read_to_string(&path).expect("a source file");
        for (number, line) in (1..).zip(code(&text)) {
            let Some(release) = release_in(line) else { continue };
            match ALLOWED.iter().find(|(allowed, _)| *allowed == file) {
                Some((allowed, _)) => drop(named.insert(*allowed)),
                None => wrong.push(format!("{file}:{number}: {release}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "take these from `talos_config::RELEASES` or `DEFAULT`, or say in {} why not:\n{}",
        file!(),
        wrong.join("\n")
    );
    let stale: Vec<_> = ALLOWED.iter().filter(|(file, _)| !named.contains(file)).collect();
    assert!(stale.is_empty(), "these name no release any more: {stale:?}");
}

#[test]
fn literals_are_found() {
    for (line, found) in [
        (r#"const A: &str = "v1.13.9";"#, Some("v1.13.9")),
        (r#"kubernetes: "1.37.0","#, Some("1.37.0")),
        (r#"join("v1.14/base.yaml")"#, Some("v1.14")),
        (r#"Range { first: "1.5" }"#, Some("1.5")),
        (r#"peer: "talosctl-1.14.1","#, None),
        (r#"["1.1.1.1", "10.1.14.1", "1.14.0.1"]"#, None),
        (r#"growth: 1.25, runc: "1.4.2""#, None),
    ] {
        assert_eq!(release_in(line), found, "{line}");
    }
}

/// Files that name releases all the same, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/talos-config/src/releases.rs", "the table"),
    ("crates/talos-config/src/version.rs", "an example of a version in a message"),
    ("crates/plan/src/spec/file.rs", "an example of a contract in a message"),
    ("crates/talconfig/src/door/check.rs", "an example of a version in a message"),
    ("crates/talconfig/src/door/schema.rs", "examples of versions in a schema"),
    ("crates/talconfig/src/door/release_catalog.rs", "a fact of talhelper"),
    ("crates/ichor/src/args/files/patch.rs", "the names of the dialects"),
    ("crates/testkit/src/peers.rs", "the pin of Go"),
    ("crates/testkit/src/peers/pins.rs", "the pins"),
    ("crates/talos-config/examples/measure_generate.rs", "input of a measurement"),
    ("xtask/src/bench/cases.rs", "input of measurements"),
];

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if !["generated", "target", "tests", "corpus"].contains(&name.as_str()) {
                sources(&path, files);
            }
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

/// Returns the lines of a file without its tests, which stand last, and with comments emptied.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    let lines = lines.take_while(|line| !line.starts_with("#[cfg(all(test"));
    lines.map(|line| if line.trim_start().starts_with("//") { "" } else { line })
}

/// Returns the first release of Talos 1.5 or later, or of Kubernetes, in a line: `v1.13`, `v1.13.9`, `1.36.3`, or `1.13`
/// where it is a whole text. What follows a hyphen is the name of a program.
fn release_in(line: &str) -> Option<&str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let bytes = line.as_bytes();
    let starts =
        (0..bytes.len()).filter(|at| is_part(bytes[*at]) && (*at == 0 || !is_part(bytes[at - 1])));
    for start in starts {
        let token = &line[start..];
        let end = token.bytes().position(|byte| !is_part(byte)).unwrap_or(token.len());
        let token = token[..end].trim_end_matches('.');
        let (marked, bare) = match token.strip_prefix('v') {
            Some(bare) => (true, bare),
            None => (false, token),
        };
        let numbers: Option<Vec<u32>> = bare.split('.').map(|part| part.parse().ok()).collect();
        let quoted = start > 0 && bytes[start - 1] == b'"' && bytes.get(start + end) == Some(&b'"');
        match numbers.as_deref() {
            Some([1, minor, _]) if *minor >= 5 => return Some(token),
            Some([1, minor]) if *minor >= 5 && (marked || quoted) => return Some(token),
            _ => {}
        }
    }
    None
}
