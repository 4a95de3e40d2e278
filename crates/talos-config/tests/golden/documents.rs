//! Documents of Talos' own tests, read and written again.

use std::path::{Path, PathBuf};

use talos_config::yaml::Dialect;
use talos_config::{Config, SourceId};

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
    let files = yaml_files(&machinery().join("config/types"), |path| {
        let text = path.to_string_lossy();
        text.contains("/testdata/") && !text.contains("/strategic/") && !text.ends_with("secrets.yaml")
            && !INPUT_ONLY.iter().any(|name| path.ends_with(name))
            // Patches, not documents.
            && !text.contains("stability/patch")
    });
    let mut different = Vec::new();
    for file in &files {
        let text = fs_err::read_to_string(file).expect("a file of the module");
        // Samples of arguments are a part of a document: they get one around them.
        let arguments = file.to_string_lossy().contains("/args_");
        let input = if arguments { in_document(&text) } else { text };
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
