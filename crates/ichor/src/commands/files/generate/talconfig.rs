//! `ichor gen talconfig`: a talconfig of `cluster.yaml` and `nodes.yaml`, and its patches from templates.
//!
//! Always holds: a file whose name says that it is encrypted is never written or shown in clear.

use std::path::{Path, PathBuf};

use engine::bounded_file;
use sops::Format;
use talconfig::cluster_template::{ClusterTemplate, PatchFiles, SCOPES, TEMPLATE};
use talos_config::yaml::{self, Limits};
use talos_config::{Diagnostic, SourceId};

use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::{GenTalconfig, Input};
use crate::sops_files::{self, SopsKeys};
use crate::sources::SourceMap;
use crate::talhelper::diff;
use crate::{Error, ExitStatus};

pub(in crate::commands) fn run(
    settings: &GenTalconfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenTalconfig { root, target: output, .. } = settings;
    let mut sources = SourceMap::default();
    let (cluster, cluster_source) = sources.read(&Input::File(root.join("cluster.yaml")))?;
    let (nodes, nodes_source) = sources.read(&Input::File(root.join("nodes.yaml")))?;
    let guide = ClusterTemplate::parse((&cluster, cluster_source), (&nodes, nodes_source))
        .map_err(|error| sources.locate(&error, cluster_source))?;
    for warning in &guide.warnings {
        printer.note(&warning.clone().in_file(|origin| sources.place(origin)).to_string());
    }
    let folder = root.join(TEMPLATES);
    let patches = patch_files(&folder.join("patches"), &guide, printer)?;
    let mut templates = Templates { folder: &folder, guide: &guide, patches: &patches, sources };
    let mut made = Vec::new();
    let talconfig = match templates.fill_in(TALCONFIG)? {
        Some(text) => text,
        None => guide.talconfig(&patches),
    };
    made.push((output.join(TALCONFIG), talconfig));
    for name in names(&folder)? {
        let Some(file) = name.strip_suffix(".j2").filter(|file| *file != TALCONFIG) else {
            continue;
        };
        if let Some(text) = templates.fill_in(file)? {
            made.push((output.join(file), text));
        }
    }
    let talenv = output.join("talenv.yaml");
    if !talenv.exists() && made.iter().all(|(path, _)| *path != talenv) {
        printer.note(&format!(
            "{} is missing: create it with `talosVersion: v…` and `kubernetesVersion: v…`",
            talenv.display()
        ));
    }
    for (scope, names) in &patches {
        for name in names {
            let path = format!("patches/{scope}/{name}");
            if let Some(text) = templates.fill_in(&path)? {
                made.push((output.join(path), text));
            }
        }
    }
    write(made, settings, printer)
}

/// Writes what is not there yet or says something else.
fn write(
    made: Vec<(PathBuf, String)>,
    settings: &GenTalconfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let keys = &settings.keys;
    let mut pending = Vec::new();
    let mut changed = Vec::new();
    for (path, text) in made {
        let is_encrypted = sops_files::has_sops_name(&path);
        let found = if path.exists() {
            Some(bounded_file::read_to_string(&path).map_err(Error::Input)?)
        } else {
            None
        };
        let is_same = match &found {
            Some(found) if is_encrypted => says_the_same(found, &text, &path, keys)?,
            Some(found) => *found == text,
            None => false,
        };
        if is_same {
            continue;
        }
        if settings.dry_run {
            let shown = path.display().to_string();
            let slash = if shown.starts_with('/') { "" } else { "/" };
            let difference = if is_encrypted {
                format!("Encrypted files a{slash}{shown} and b{slash}{shown} differ\n")
            } else {
                diff::unified(&format!("{slash}{shown}"), &found.unwrap_or_default(), &text)
            };
            printer.plain(&difference)?;
        } else if found.is_some() {
            changed.push(path.display().to_string());
        }
        let text = if is_encrypted { sops_files::encrypt(&text, &path, keys)? } else { text };
        pending.push(if is_encrypted {
            OutputFile::secret(path, text)
        } else {
            OutputFile::shared(path, text)
        });
    }
    if pending.is_empty() {
        printer.note("nothing to do: all files are up to date");
        return Ok(ExitStatus::Done);
    }
    if settings.dry_run {
        return Ok(ExitStatus::Pending);
    }
    if !changed.is_empty() && !settings.overwrite {
        let action = format!("overwrite {}", changed.join(", "));
        match printer.ask(&action)? {
            Some(true) => {}
            Some(false) => return Err(Error::Declined(action)),
            None => {
                let hint = "--dry-run shows what would change, --force overwrites it";
                return Err(Error::Exists { path: PathBuf::from(&changed[0]), hint });
            }
        }
    }
    files::write_tree(&pending, true, printer)
}

/// Returns whether an encrypted file has the same content as a text. A file in clear text does not count.
fn says_the_same(found: &str, text: &str, path: &Path, keys: &SopsKeys) -> Result<bool, Error> {
    if !sops::is_encrypted(found, Format::Yaml) {
        return Ok(false);
    }
    let opened = sops_files::decrypt(found.to_owned(), path, keys)?;
    // Encryption lays a text out anew.
    let laid_out = |text: &str| {
        let documents = yaml::parse(text, SourceId::default(), Limits::default()).ok()?;
        Some(yaml::rewrite(&documents, 2, false))
    };
    Ok(laid_out(&opened).is_some_and(|opened| laid_out(text) == Some(opened)))
}

/// Templates of one directory.
struct Templates<'a> {
    folder: &'a Path,
    guide: &'a ClusterTemplate,
    patches: &'a PatchFiles,
    sources: SourceMap,
}

impl Templates<'_> {
    /// Renders the template of a file, if there is one.
    fn fill_in(&mut self, file: &str) -> Result<Option<String>, Error> {
        let path = self.folder.join(format!("{file}.j2"));
        if !path.exists() {
            return Ok(None);
        }
        let (template, source) = self.sources.read(&Input::File(path))?;
        let filled = self.guide.render(self.sources.name(source), &template, self.patches);
        filled.map(Some).map_err(|detail| {
            Diagnostic { hint: detail.hint, ..Diagnostic::error(TEMPLATE, detail.message) }.into()
        })
    }
}

/// Returns the patches that have templates. Unused templates are reported.
fn patch_files(
    folder: &Path,
    guide: &ClusterTemplate,
    printer: &mut Printer,
) -> Result<PatchFiles, Error> {
    let mut patches = PatchFiles::new();
    if !folder.is_dir() {
        printer.note(&format!(
            "{} does not exist: name servers and time servers reach machines only through patches",
            folder.display()
        ));
        return Ok(patches);
    }
    for scope in names(folder)? {
        // A file beside the directories, such as README.md.j2, is no patch.
        if !folder.join(&scope).is_dir() {
            continue;
        }
        if !SCOPES.contains(&scope.as_str()) && !guide.node_names().any(|name| name == scope) {
            let place = folder.join(&scope);
            printer.note(&format!("warning: {}: no node has this name", place.display()));
            continue;
        }
        let mut files = Vec::new();
        for name in names(&folder.join(&scope))? {
            match name.strip_suffix(".yaml.j2") {
                Some(stem) => files.push(format!("{stem}.yaml")),
                None => {
                    let place = folder.join(&scope).join(&name);
                    printer.note(&format!(
                        "warning: {}: skipped: the name of a patch is NAME.yaml.j2",
                        place.display()
                    ));
                }
            }
        }
        patches.insert(scope, files);
    }
    Ok(patches)
}

/// Lists a directory, sorted; empty if it does not exist.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(Error::Input)? {
        names.push(entry.map_err(Error::Input)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

const TALCONFIG: &str = "talconfig.yaml";
const TEMPLATES: &str = "templates/config/talos";
