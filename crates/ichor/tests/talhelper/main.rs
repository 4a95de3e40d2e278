//! What talhelper 3.1.15 did in 868 recorded cases, done again.
//!
//! Each case is a line of `cases.jsonl`: files, arguments and variables, and what the real program made of
//! them. Whatever is different must be in `differences.txt`, with the reason; what is in there must be
//! different, and what we do instead is in a snapshot. Lines that begin with `hint:` or `warning:` are ours and are
//! not compared. Long values of the one secrets file stand as words such as `<os.crt>`.

mod hostile;
mod layout;
mod lint;
mod recorded;
mod sandbox;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;

use insta::assert_snapshot;
use recorded::{Case, NEED_SOPS, PATH};

#[test]
fn recorded_cases_come_out_the_same() {
    let mut cases: Vec<Case> = recorded::cases().collect();
    // What needs another program is compared where that program is.
    cases.retain(|case| !NEED_SOPS.contains(&case.name.as_str()));
    let found = each(&cases, |case| case.replay(PATH));
    let complaints = compare(&found);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What we do in the cases that come out differently on purpose. Whatever is in the snapshot was read by a person and is
/// meant so.
#[test]
fn what_is_different_on_purpose_is_meant_so() {
    let known = differences();
    let mut cases: Vec<Case> = recorded::cases().collect();
    cases.retain(|case| known.contains_key(&case.name));
    let told = each(&cases, |case| {
        // Without the programs of this machine: one of them might open what nobody else can.
        let (sandbox, said) = case.run("");
        let files: Vec<String> = sandbox.files().into_keys().collect();
        let mut text = format!("# {}\nexit: {:?}\n", case.name, said.codes);
        for file in files {
            let _ = writeln!(text, "file: {file}");
        }
        // What is a help text has snapshots of its own.
        let stdout = if said.stdout.contains("Usage: ") { "" } else { said.stdout.as_str() };
        for (name, said) in [("stdout", stdout), ("stderr", said.stderr.as_str())] {
            for line in said.lines() {
                let _ = writeln!(text, "{}", format!("{name}: {line}").trim_end());
            }
        }
        text
    });
    assert_snapshot!(told.into_values().collect::<Vec<_>>().join("\n"));
}

/// Does something with every case, several at once.
fn each<T: Send>(cases: &[Case], act: impl Fn(&Case) -> T + Sync) -> BTreeMap<String, T> {
    let queue = Mutex::new(cases.iter());
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().expect("the queue").next() else { break };
                    let result = act(case);
                    done.lock().expect("the results").insert(case.name.clone(), result);
                }
            });
        }
    });
    done.into_inner().expect("the results")
}

/// Holds what was found against what is known to be different.
fn compare(found: &BTreeMap<String, BTreeMap<&'static str, String>>) -> Vec<String> {
    let known = differences();
    let mut complaints = Vec::new();
    for (name, wrong) in found {
        let expected = known.get(name).cloned().unwrap_or_default();
        for (aspect, what) in wrong {
            if !expected.contains(*aspect) {
                complaints.push(format!("{name}: {aspect} differs:\n{what}"));
            }
        }
        for aspect in expected.iter().filter(|aspect| !wrong.contains_key(aspect.as_str())) {
            complaints
                .push(format!("{name}: {aspect} is the same now; differences.txt is out of date"));
        }
    }
    let gone = known.keys().filter(|name| !found.contains_key(*name));
    complaints.extend(gone.map(|name| format!("{name}: there is no such case")));
    complaints
}

/// For every case the aspects that differ on purpose.
fn differences() -> BTreeMap<String, BTreeSet<String>> {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in include_str!("differences.txt").lines() {
        // A reason is a comment above the cases that it is the reason for.
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, aspects) = line.split_once(": ").expect("a name and aspects");
        let aspects = aspects.split(' ').map(str::to_owned);
        known.entry(name.to_owned()).or_default().extend(aspects);
    }
    known
}
