//! Documents of Talos' own tests, read and written again.

use std::path::{Path, PathBuf};

use talos_config::yaml::Dialect;
use talos_config::{Config, SourceId};

use crate::mutations::Mutation;
use crate::patches::{compare, report};
use crate::talosctl::{NEWEST, OLDER, V1_12, V1_13};
use crate::validation::{in_parallel, seedlings};
use crate::{first_difference, machinery};

/// Samples that were written for reading only: their keys are not in the order of the encoder.
const INPUT_ONLY: &[&str] = &[
    "volumeconfig_tpm_encryption_no_options.yaml",
    "volumeconfig_tpm_encryption_with_pcr_settings.yaml",
    "volumeconfig_tpm_encryption_with_pcrs_disabled.yaml",
];

#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn documents_are_written_as_they_were() {
    let files = samples();
    let mut different = Vec::new();
    for file in files.iter().filter(|file| !INPUT_ONLY.iter().any(|name| file.ends_with(name))) {
        let input = sample(file);
        match Config::parse(&input, SourceId(1)) {
            Ok(config) => {
                let ours = config.encode(Dialect::V1_14).into_exposed();
                if ours != input {
                    different.push(format!(
                        "{}\n{}",
                        file.display(),
                        first_difference(&ours, &input)
                    ));
                }
            }
            Err(error) => different.push(format!("{}\n{error:?}", file.display())),
        }
    }
    assert!(files.len() >= 150, "{}", files.len());
    assert!(
        different.is_empty(),
        "{} of {} differ\n{}",
        different.len(),
        files.len(),
        different.join("\n")
    );
}

/// The same samples, read and written by the talosctl of older releases: those that they know, while what came
/// later is refused by both.
#[test]
#[ignore = "level bytes: needs talosctl (cargo xtask test)"]
fn documents_are_written_as_older_releases_do() {
    let files = samples();
    for release in OLDER {
        let outcomes = in_parallel(&files, |file| {
            let outcome = compare(release, &sample(file), &[NOTHING.to_owned()]);
            outcome.map_err(|problem| format!("{}\n{problem}", file.display()))
        });
        report(release, outcomes, 60);
    }
}

/// A patch without which a configuration would be printed as it was.
const NOTHING: &str = "machine: {}\n";

/// Seeded configurations, right and wrong, of what a release knows.
#[test]
#[ignore = "level bytes: needs talosctl (cargo xtask test)"]
fn seeded_configurations_are_written_as_talosctl_does() {
    let seedlings = seedlings();
    for (release, cases) in [(NEWEST, 150), (V1_13, 250), (V1_12, 250)] {
        let seeds: Vec<u64> = testkit::seeds(cases).collect();
        let outcomes = in_parallel(&seeds, |seed| {
            let mut config = Mutation::new(*seed, &seedlings).config;
            config.forget_later(release.dialect);
            let config = config.text();
            compare(release, &config, &[NOTHING.to_owned()])
                .map_err(|problem| format!("seed {seed}\n{problem}\n{config}"))
        });
        report(release, outcomes, seeds.len() / 2);
    }
}

/// The documents of Talos' own tests.
fn samples() -> Vec<PathBuf> {
    yaml_files(&machinery().join("config/types"), |path| {
        let text = path.to_string_lossy();
        text.contains("/testdata/") && !text.contains("/strategic/") && !text.ends_with("secrets.yaml")
            // Patches, not documents.
            && !text.contains("stability/patch")
    })
}

fn sample(file: &Path) -> String {
    let text = fs_err::read_to_string(file).expect("a file of the module");
    // Samples of arguments are a part of a document: they get one around them.
    if file.to_string_lossy().contains("/args_") { in_document(&text) } else { text }
}

fn in_document(arguments: &str) -> String {
    let indented = match arguments.trim_end() {
        "{}" => String::new(),
        lines => format!("extraArgs:\n    {}\n", lines.replace('\n', "\n    ")),
    };
    format!("apiVersion: v1alpha1\nkind: KubeletConfig\nimage: \"\"\nconfig: {{}}\n{indented}")
}

fn yaml_files(folder: &Path, wanted: impl Fn(&Path) -> bool + Copy) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs_err::read_dir(folder).expect("a folder of the module") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(yaml_files(&path, wanted));
        } else if path.extension().is_some_and(|extension| extension == "yaml") && wanted(&path) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Documents with secrets, redacted as the tests of Talos' own types expect it.
#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn secrets_are_redacted_as_talos_does() {
    let files = yaml_files(&machinery().join("config/types"), |path| {
        path.to_string_lossy().ends_with("_redacted.yaml")
    });
    let mut same = 0;
    for file in &files {
        let expected = fs_err::read_to_string(file).expect("a file of the module");
        let original = file.to_string_lossy().replace("_redacted", "");
        let original = fs_err::read_to_string(original).expect("a file of the module");
        let config = Config::parse(&original, SourceId(1)).expect("a document");
        // The tests of Talos have another word in place of the stars.
        let ours = config.redacted(Dialect::V1_14).replace("'******'", "REDACTED");
        // Some samples were made from another document than the one beside them: there only the secrets
        // can be compared.
        let secret =
            |line: &&str| ["key:", "secret:"].iter().any(|key| line.trim_start().starts_with(key));
        let hidden = |line: &str| line.ends_with(": REDACTED");
        assert!(ours.lines().filter(secret).all(hidden), "{}", file.display());
        if ours.lines().count() == expected.lines().count() {
            assert!(ours == expected, "{}\n{}", file.display(), first_difference(&ours, &expected));
            same += 1;
        }
    }
    assert!(same >= 2, "{same}");
    assert!(files.len() >= 5, "{}", files.len());
}
