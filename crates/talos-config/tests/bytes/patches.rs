//! Patches, beside what the real talosctl makes of them.

use talos_config::yaml::Dialect;
use talos_config::{Error, Patch, Source, apply};

use crate::cases::Case;
use crate::{first_difference, machinery, talosctl};

const CASES: u64 = 600;

#[test]
#[ignore = "level bytes: needs talosctl (cargo xtask test)"]
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
        let theirs = talosctl::patch(&case.config, &case.patches);
        let ours = patched(&case);
        let problem = match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) if ours == theirs => {
                accepted += 1;
                continue;
            }
            (Ok(ours), Ok(theirs)) => first_difference(ours, theirs),
            (Ok(_), Err(theirs)) => format!("  only they refuse: {theirs}"),
            (Err(ours), Ok(_)) => format!("  only we refuse: {ours:?}"),
            (Err(ours), Err(theirs)) if same_words(ours, theirs) => continue,
            (Err(ours), Err(theirs)) => format!("  ours    {ours}\n  theirs  {theirs}"),
        };
        wrong.push(format!("seed {seed}\n{problem}\n{}", case.patches.join("\n=====\n")));
    }
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {count} differ, {accepted} accepted\n{shown}", wrong.len());
    assert!(accepted * 4 > count, "only {accepted} of {count} accepted: the cases show too little");
}

fn patched(case: &Case) -> Result<String, Error> {
    let patches: Vec<Patch> = case
        .patches
        .iter()
        .zip(2..)
        .map(|(patch, source)| Patch::parse(patch, Source(source)))
        .collect::<Result<_, _>>()?;
    let patched = apply(&case.config, Source(1), &patches, Dialect::V1_14)?;
    Ok(patched.encode(Dialect::V1_14).into_exposed())
}

/// Refusals of patches have the words that scripts know; other refusals need only be refusals.
fn same_words(ours: &Error, theirs: &str) -> bool {
    let message = ours.to_string();
    match ours {
        // Talos names Go types and fields in these.
        Error::Patch(_) if message.contains("merge ") => true,
        Error::Patch(_) => theirs.contains(&message),
        _ => true,
    }
}
