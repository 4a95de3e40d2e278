//! `ichor gen age-key`: a key for encrypted files, and the rule that encrypts for it.

use std::path::{Path, PathBuf};

use super::with_hint;
use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::talhelper::gitignore;
use crate::{Error, ExitStatus, directory, entropy, sops_files};

pub(in crate::commands) fn run(output: &Path, printer: &mut Printer) -> Result<ExitStatus, Error> {
    if output.exists() {
        return Err(Error::Exists { path: output.to_owned(), hint: KEEP_KEY });
    }
    let name = output.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_usable = |name: &String| name != ".sops.yaml" && !name.contains(char::is_control);
    let Some(name) = name.filter(is_usable) else {
        return Err(Error::NotAFile(output.to_owned()));
    };
    let (key, recipient) = entropy::with_secret_source(|makers| {
        sops::generate_key(&mut |bytes| (makers.random)(bytes))
    })?;
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut outputs = vec![OutputFile::secret(output.to_owned(), key.into_exposed())];
    let has_rules = sops_files::has_rules_above(output)?;
    if !has_rules {
        let rule = format!("  - path_regex: \\.sops\\.ya?ml$\n    age: {recipient}\n");
        let rules = format!("creation_rules:\n{rule}");
        outputs.push(OutputFile::shared(folder.join(".sops.yaml"), rules));
    }
    gitignore::extend(folder, &[&gitignore::exactly(&name)])?;
    files::write_all(&outputs, false, printer).map_err(|error| with_hint(error, KEEP_KEY))?;
    if has_rules {
        printer.note(
            "the .sops.yaml that exists is unchanged: add the recipient to its creation rules",
        );
    }
    printer.note("keep a copy of the key: without it nobody can read what is encrypted for it");
    let is_found = |key: PathBuf| fs_err::canonicalize(output).is_ok_and(|own| own == key);
    if directory::repository_key(folder).is_some_and(is_found) {
        printer.note("next: `ichor init`; commands in this directory and below find the key");
    } else {
        let path = std::path::absolute(output).unwrap_or_else(|_| output.to_owned());
        printer.note(&format!("next: export SOPS_AGE_KEY_FILE={}", path.display()));
    }
    printer.text(&recipient)
}

const KEEP_KEY: &str =
    "this may be the only key of encrypted files: keep it, and choose another name with -o";
