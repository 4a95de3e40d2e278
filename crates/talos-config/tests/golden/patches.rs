//! Patches, beside what the real talosctl makes of them.

use talos_config::yaml::Dialect;
use talos_config::{Diagnostic, Error, Location, Patch, SourceId, apply};

use crate::cases::Case;
use crate::talosctl::{self, NEWEST, Release, V1_12, V1_13};
use crate::validation::in_parallel;
use crate::{first_difference, machinery};

#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn seeded_patches_end_as_with_talosctl() {
    seeded_patches(NEWEST, 600);
}

#[test]
#[ignore = "level bytes: needs talosctl (cargo xtask test)"]
fn seeded_patches_end_as_with_talosctl_1_13() {
    seeded_patches(V1_13, 400);
}

#[test]
#[ignore = "level bytes: needs talosctl (cargo xtask test)"]
fn seeded_patches_end_as_with_talosctl_1_12() {
    seeded_patches(V1_12, 400);
}

fn seeded_patches(release: Release, cases: u64) {
    let bases: Vec<String> = release
        .contracts
        .iter()
        .flat_map(|contract| {
            ["base-controlplane", "overrides-worker"].map(|name| format!("{contract}/{name}.yaml"))
        })
        .map(|file| machinery().join("config/types/v1alpha1/testdata/stability").join(file))
        .map(|path| fs_err::read_to_string(path).expect("a file of the module"))
        .collect();
    let seeds: Vec<u64> = testkit::seeds(cases).collect();
    let outcomes = in_parallel(&seeds, |seed| {
        let case = Case::new(*seed, &bases, release.dialect);
        compare(release, &case.config, &case.patches).map_err(|problem| {
            let patches = case.patches.join("\n=====\n");
            format!("seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1)\n{problem}\n{patches}")
        })
    });
    report(release, outcomes, seeds.len() / 4);
}

/// Fails where the two differ, and where too little was written to show much.
pub(crate) fn report(release: Release, outcomes: Vec<Result<Outcome, String>>, wanted: usize) {
    let count = outcomes.len();
    let written = |outcome: &&Result<_, _>| matches!(outcome, Ok(Outcome::Applied));
    let written = outcomes.iter().filter(written).count();
    let wrong: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{release:?}: {} of {count} differ\n{shown}", wrong.len());
    assert!(count < 100 || written >= wanted, "{release:?}: only {written} of {count} applied");
}

/// What became of a patch on both sides.
pub(crate) enum Outcome {
    Applied,
    Refused,
    /// An older release crashed, or refused, over a document to delete that is not there.
    Stumbled,
}

/// Patches with both programs; the error says how they differ. What is excused for older releases stands in
/// docs/reference/talosctl.md.
pub(crate) fn compare(
    release: Release,
    config: &str,
    patches: &[String],
) -> Result<Outcome, String> {
    let theirs = talosctl::patch_with(release, config, patches);
    let older = release.dialect < NEWEST.dialect;
    let deletes = patches.iter().any(|patch| patch.contains("$patch"));
    match (patched(release.dialect, config, patches), theirs) {
        (Ok(ours), Ok(theirs)) if ours == theirs => Ok(Outcome::Applied),
        (Ok(ours), Ok(theirs)) if older && ours == without_empty_documents(&theirs) => {
            Ok(Outcome::Applied)
        }
        (Ok(_), Err(theirs)) if older && theirs.contains(ENCODED_SELECTOR) => Ok(Outcome::Stumbled),
        (_, Err(theirs)) if older && deletes && theirs.starts_with(SEVERAL) => {
            Ok(Outcome::Stumbled)
        }
        (Err(ours), Ok(_)) if older && is_newer_rule(&ours) => Ok(Outcome::Refused),
        (Ok(ours), Ok(theirs)) => Err(first_difference(&ours, &theirs)),
        (Ok(_), Err(theirs)) => Err(format!("  only they refuse: {theirs}")),
        (Err(ours), Ok(_)) => Err(format!("  only we refuse: {ours:?}")),
        (Err(ours), Err(theirs)) if same_words(release, &ours, &theirs) => Ok(Outcome::Refused),
        (Err(ours), Err(theirs)) => Err(format!("  ours    {ours}\n  theirs  {theirs}")),
    }
}

/// Where a document to delete is not there, older releases write an empty one, which nothing reads.
fn without_empty_documents(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let documents = lines.split(|line| *line == "---\n").map(<[_]>::concat);
    documents.filter(|document| document != "{}\n").collect::<Vec<_>>().join("---\n")
}

/// Whether we refuse for all releases what only the newest does: dates for texts, and null in lists of objects.
fn is_newer_rule(ours: &Error) -> bool {
    let newer = ["a date where text is wanted", "null value is not allowed at"];
    let problems = match ours {
        Error::Document(problems) => problems.as_slice(),
        _ => &[],
    };
    let is_newer =
        |problem: &Diagnostic<Location>| newer.iter().any(|words| problem.message.contains(words));
    !problems.is_empty() && problems.iter().all(is_newer)
}

/// What they say of operations on a configuration with such an empty document in it.
const SEVERAL: &str = "JSON6902 patches are not supported for multi-document";

/// How older releases crash where it is a part of such a document that is to be deleted.
const ENCODED_SELECTOR: &str = "cannot return value obtained from unexported field";

pub(crate) fn patched(dialect: Dialect, config: &str, patches: &[String]) -> Result<String, Error> {
    let patches: Vec<Patch> = patches
        .iter()
        .zip(2..)
        .map(|(patch, source)| Patch::parse(patch, SourceId(source)))
        .collect::<Result<_, _>>()?;
    let result = apply(config, SourceId(1), &patches, dialect)?;
    Ok(result.encode(dialect).into_exposed())
}

/// Refusals of patches have the words that scripts know; other refusals need only be refusals.
fn same_words(release: Release, ours: &Error, theirs: &str) -> bool {
    let older = release.dialect < NEWEST.dialect;
    let said = ours.to_string();
    let mut message = said.as_str();
    if release.dialect == V1_12.dialect {
        // It does not say where.
        message = message.rsplit_once(" (line ").map_or(message, |(what, _)| what);
        let deletion = message.strip_prefix("error processing patch delete statements at line ");
        message = deletion.and_then(|at| at.split_once(": ")).map_or(message, |(_, what)| what);
    }
    match ours {
        // Talos crashed, which is a refusal too.
        _ if theirs.contains("runtime error") || theirs.starts_with("panic: ") => true,
        // They had come to an earlier document, which only older releases do not read.
        Error::PatchSyntax(_) if older && theirs.starts_with("error decoding") => true,
        // Talos names Go types and fields in these.
        Error::Patch(_) if message.contains("merge ") => true,
        Error::Patch(_)
        | Error::PatchSyntax(_)
        | Error::Conflict { .. }
        | Error::Empty
        | Error::SeveralDocuments { .. } => theirs.contains(message),
        Error::Syntax(_) | Error::Document(_) | Error::Input(_) => true,
    }
}
