//! Tables of named cases, each beside what the real talosctl makes of it.

#[path = "../data/strings.rs"]
mod strings;

use talos_config::yaml::Dialect;
use talos_config::{Config, SourceId};

use crate::cases::rich;
use crate::patches::{Outcome, compare};
use crate::talosctl::Release;
use crate::{first_difference, machinery, talosctl};

#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn deletions() {
    let mut wrong = Vec::new();
    let lines = rows(include_str!("../data/deletes.txt"));
    for line in &lines {
        let patch = [line.split(" --- ").collect::<Vec<_>>().join("\n---\n") + "\n"];
        for release in talosctl::ALL {
            let outcome = compare(release, &rich(release.dialect), &patch);
            wrong.extend(told(release, line, outcome));
        }
    }
    assert!(lines.len() > 70, "{}", lines.len());
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), lines.len(), wrong.join("\n\n"));
}

#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn merges() {
    let mut wrong = Vec::new();
    let lines = rows(include_str!("../data/merges.txt"));
    for line in &lines {
        let (left, right) = line.split_once(" <- ").expect("a row");
        for release in talosctl::ALL {
            let outcome = compare(release, &written_out(left), &[written_out(right)]);
            wrong.extend(told(release, line, outcome));
        }
    }
    assert!(lines.len() > 55, "{}", lines.len());
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), lines.len(), wrong.join("\n\n"));
}

#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn scalars_of_every_type() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in rows(include_str!("../data/scalars.txt")) {
        let (template, texts) = line.split_once(" : ").expect("a row");
        for text in texts.split(" | ") {
            let patch = [written_out(&template.replace('?', text))];
            for release in talosctl::ALL {
                let outcome = compare(release, "machine: {type: worker}\n", &patch);
                wrong.extend(told(release, &format!("{template} with {text}"), outcome));
            }
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The files that the tests of Talos' own patcher use, with what they expect.
#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn patches_of_talos() {
    let folder = machinery().join("config/configpatcher/testdata");
    let read =
        |file: &str| fs_err::read_to_string(folder.join(file)).expect("a file of the module");
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "apply/config.yaml",
            &[
                "apply/strategic1.yaml",
                "apply/jsonpatch1.yaml",
                "apply/jsonpatch2.yaml",
                "apply/strategic2.yaml",
                "apply/strategic3.yaml",
            ],
            "apply/expected.yaml",
        ),
        ("apply/config.yaml", &["apply/strategic4.yaml"], "apply/expected_manifests.yaml"),
        (
            "multidoc/config.yaml",
            &["multidoc/strategic1.yaml", "multidoc/strategic2.yaml", "multidoc/strategic3.yaml"],
            "multidoc/expected.yaml",
        ),
        ("auditpolicy/config.yaml", &["auditpolicy/patch1.yaml"], "auditpolicy/expected.yaml"),
        ("patchlink/base.yaml", &["patchlink/patch.yaml"], "patchlink/expected.yaml"),
        ("patchmixed/base.yaml", &["patchmixed/patch.yaml"], "patchmixed/expected.yaml"),
        ("patchdelete/config.yaml", &["patchdelete/strategic1.yaml"], "patchdelete/expected.yaml"),
        (
            "patchdelete/controlplane_orig.yaml",
            &[
                "patchdelete/strategic2.yaml",
                "patchdelete/strategic3.yaml",
                "patchdelete/strategic4.yaml",
            ],
            "patchdelete/controlplane_expected.yaml",
        ),
    ];
    for (config, patches, expected) in cases {
        let patches: Vec<String> = patches.iter().map(|file| read(file)).collect();
        let ours = crate::patches::patched(Dialect::V1_14, &read(config), &patches)
            .expect("a patch that applies");
        let expected = read(expected);
        assert!(ours == expected, "{config}\n{}", first_difference(&ours, &expected));
    }
    for (config, patch, words) in [
        ("multidoc/config.yaml", "multidoc/jsonpatch.yaml", "not supported for multi-document"),
        ("patchdeletemissing/config.yaml", "patchdeletemissing/strategic1.yaml", "lookup failed"),
    ] {
        let refused = crate::patches::patched(Dialect::V1_14, &read(config), &[read(patch)])
            .expect_err("a patch that does not apply");
        assert!(refused.to_string().contains(words), "{refused}");
    }
}

/// Left, right and expected of the tests of Talos' own merge, compared as documents.
#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn merges_of_talos() {
    let folder = machinery().join("config/types/v1alpha1/testdata/strategic");
    let mut count = 0;
    for entry in fs_err::read_dir(folder).expect("a folder of the module") {
        let folder = entry.expect("an entry").path();
        let read =
            |file: &str| fs_err::read_to_string(folder.join(file)).expect("a file of the module");
        let ours =
            crate::patches::patched(Dialect::V1_14, &read("left.yaml"), &[read("right.yaml")])
                .expect("a merge");
        let expected = Config::parse(&read("expected.yaml"), SourceId(1)).expect("a configuration");
        let expected = expected.encode(Dialect::V1_14).into_exposed();
        assert!(ours == expected, "{}\n{}", folder.display(), first_difference(&ours, &expected));
        count += 1;
    }
    assert!(count >= 6, "{count}");
}

/// What the tests of Talos' own loader load, and what they refuse.
#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn configurations_of_talos_are_read() {
    let folder = machinery().join("config/configloader");
    let read =
        |file: &str| fs_err::read_to_string(folder.join(file)).expect("a file of the module");
    for file in
        ["controlplane", "worker", "empty1", "empty2", "multidoc1", "multidoc2", "multidoc3"]
    {
        let config = Config::parse(&read(&format!("testdata/{file}.test")), SourceId(1));
        assert!(config.is_ok(), "{file}: {:?}", config.err());
    }
    for file in ["controlplane", "worker"] {
        let config =
            Config::parse(&read(&format!("internal/decoder/testdata/{file}.yaml")), SourceId(1));
        assert!(config.is_ok(), "{file}: {:?}", config.err());
    }
    let double =
        Config::parse(&read("internal/decoder/testdata/double/v1alpha1.yaml"), SourceId(1));
    let refusal = double.err().expect("a document that stands twice").to_string();
    assert!(refusal.contains("not allowed"), "{refusal}");
}

/// Every text of the table of strings, written by the talosctl of each release line.
#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn strings_in_every_dialect() {
    let texts: Vec<String> = strings::rows().into_iter().map(|(text, _)| text).collect();
    let escaped = |text: &String| {
        text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect::<Vec<_>>().concat()
    };
    let mut config = String::new();
    // Arguments are written by another rule.
    for place in ["machine:\n    sysctls:\n", "cluster:\n    apiServer:\n        extraArgs:\n"] {
        config.push_str(place);
        for (index, text) in texts.iter().enumerate() {
            config = format!("{config}            k{index}: \"{}\"\n", escaped(text));
        }
    }
    for release in talosctl::ALL {
        let dialect = release.dialect;
        let patch = "machine: {type: worker}\n".to_owned();
        let theirs = talosctl::patch_with(release, &config, std::slice::from_ref(&patch))
            .expect("a patch that applies");
        let ours = talos_config::apply(
            &config,
            SourceId(1),
            &[talos_config::Patch::parse(&patch, SourceId(2)).expect("a patch")],
            dialect,
        );
        let ours = ours.expect("a patch that applies").encode(dialect).into_exposed();
        assert!(ours == theirs, "{release:?}\n{}", first_difference(&ours, &theirs));
    }
}

/// How the outcome of a row is told where the two differ.
fn told(release: Release, row: &str, outcome: Result<Outcome, String>) -> Option<String> {
    outcome.err().map(|problem| format!("{} {row}\n{problem}", release.version))
}

fn rows(table: &str) -> Vec<&str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

fn written_out(document: &str) -> String {
    document.replace("{K: ", "{apiVersion: v1alpha1, kind: ") + "\n"
}
