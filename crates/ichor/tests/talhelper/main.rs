//! What talhelper 3.1.15 did in 868 recorded cases, done again.
//!
//! Each case is a line of `cases.jsonl`: files, arguments and variables, and what the real program made of
//! them. Whatever is different must be in `differences.txt`, with the reason; what is in there must be
//! different. Lines that begin with `hint:` or `warning:` are ours and are not compared. Long values of the one
//! secrets file stand as words such as `<os.crt>`.

mod layout;
mod lint;
mod recorded;
mod sandbox;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use recorded::{Case, NEED_SOPS, PATH};

#[test]
fn recorded_cases_come_out_the_same() {
    let mut cases: Vec<Case> = recorded::cases().collect();
    // What needs another program is compared where that program is.
    cases.retain(|case| !NEED_SOPS.contains(&case.name.as_str()));
    let queue = Mutex::new(cases.iter());
    let found = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().expect("the queue").next() else { break };
                    let wrong = case.replay(PATH);
                    found.lock().expect("the results").insert(case.name.clone(), wrong);
                }
            });
        }
    });
    let complaints = compare(&found.into_inner().expect("the results"));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
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
