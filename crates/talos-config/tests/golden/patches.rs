//! Patches, beside what the real talosctl makes of them.

use talos_config::yaml::Dialect;
use talos_config::{Error, Patch, SourceId, apply};

use crate::cases::Case;
use crate::{first_difference, machinery, talosctl};

const CASES: u64 = 600;

#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn seeded_patches_end_as_with_talosctl() {
    let bases: Vec<String> = ["v1.6", "v1.11", "v1.13", "v1.14"]
        .iter()
        .flat_map(|contract| {
            ["base-controlplane", "overrides-worker"].map(|name| format!("{contract}/{name}.yaml"))
        })
        .map(|file| machinery().join("config/types/v1alpha1/testdata/stability").join(file))
        .map(|path| fs_err::read_to_string(path).expect("a file of the module"))
        .collect();
    let seeds = testkit::seeds(CASES);
    let count = seeds.end - seeds.start;
    let mut wrong = Vec::new();
    let mut accepted = 0;
    for seed in seeds {
        let case = Case::new(seed, &bases);
        match compare(&case.config, &case.patches) {
            Ok(Outcome::Applied) => accepted += 1,
            Ok(Outcome::Refused) => {}
            Err(problem) => {
                let patches = case.patches.join("\n=====\n");
                wrong.push(format!(
                    "seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1)\n{problem}\n{patches}"
                ));
            }
        }
    }
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {count} differ, {accepted} applied\n{shown}", wrong.len());
    assert!(
        count < 100 || accepted * 4 > count,
        "only {accepted} of {count} applied: the cases show too little"
    );
}

/// What became of a patch on both sides.
pub(crate) enum Outcome {
    Applied,
    Refused,
}

/// Patches with both programs; the error says how they differ.
pub(crate) fn compare(config: &str, patches: &[String]) -> Result<Outcome, String> {
    let theirs = talosctl::patch_with("1.14.1", config, patches);
    match (patched(config, patches), theirs) {
        (Ok(ours), Ok(theirs)) if ours == theirs => Ok(Outcome::Applied),
        (Ok(ours), Ok(theirs)) => Err(first_difference(&ours, &theirs)),
        (Ok(_), Err(theirs)) => Err(format!("  only they refuse: {theirs}")),
        (Err(ours), Ok(_)) => Err(format!("  only we refuse: {ours:?}")),
        (Err(ours), Err(theirs)) if same_words(&ours, &theirs) => Ok(Outcome::Refused),
        (Err(ours), Err(theirs)) => Err(format!("  ours    {ours}\n  theirs  {theirs}")),
    }
}

pub(crate) fn patched(config: &str, patches: &[String]) -> Result<String, Error> {
    let patches: Vec<Patch> = patches
        .iter()
        .zip(2..)
        .map(|(patch, source)| Patch::parse(patch, SourceId(source)))
        .collect::<Result<_, _>>()?;
    let result = apply(config, SourceId(1), &patches, Dialect::V1_14)?;
    Ok(result.encode(Dialect::V1_14).into_exposed())
}

/// Refusals of patches have the words that scripts know; other refusals need only be refusals.
fn same_words(ours: &Error, theirs: &str) -> bool {
    let message = ours.to_string();
    match ours {
        // Talos crashed, which is a refusal too.
        _ if theirs.contains("runtime error") => true,
        // Talos names Go types and fields in these.
        Error::Patch(_) if message.contains("merge ") => true,
        Error::Patch(_)
        | Error::PatchSyntax(_)
        | Error::Conflict { .. }
        | Error::Empty
        | Error::SeveralDocuments { .. } => theirs.contains(&message),
        Error::Syntax(_) | Error::Document(_) | Error::Input(_) => true,
    }
}
