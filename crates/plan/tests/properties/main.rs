//! What holds for every cluster, tried on thousands: small ones, mostly healthy, in every state of
//! disrepair.
//!
//! Three judges that share no code: the planner, the checker, and [`survives`](run::survives) here, which carries a plan
//! out in some order that it allows and watches the voters.

mod case;
mod drift;
mod edit;
mod run;
#[path = "../world/mod.rs"]
mod world;

use std::collections::BTreeMap;

use case::{case, sound_case};
use drift::{Drift, drift};
use edit::{Edit, edit};
use plan::{ClusterSpec, Goal, Plan, Planned, Refusal, Rule, check};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;
use run::survives;

proptest! {
    #![proptest_config(tried(10_000))]

    /// The checker accepts what the planner makes, and no allowed order of its steps loses etcd.
    #[test]
    fn what_is_planned_is_accepted_and_safe(case in case(), order in vec(any::<Index>(), 16)) {
        if let Ok(Planned::Change(plan)) = case.plan() {
            let again = case.plan();
            prop_assert!(matches!(again, Ok(Planned::Change(again)) if again.hash() == plan.hash()));
            let loaded = Plan::decode(&plan.encode());
            prop_assert_eq!(loaded.map(|loaded| loaded.hash()).ok(), Some(plan.hash()));
            for skipped in plan.body().skipped.iter().filter(|skipped| !skipped.why.contains("upgrade")) {
                let touched = plan.steps().iter().any(|step| {
                    step.on == skipped.on && !case.destroys_orphan(step)
                });
                prop_assert!(!touched, "{}", plan.table());
            }
            // Other overrides are there to do what is unsafe.
            let overrides = case.overrides.iter().any(|given| !given.rule.starts_with("identity."));
            prop_assert!(overrides || survives(&case, &plan, &order), "{}", plan.table());
            let text = plan.table();
            let checked = check(plan, &case.input());
            prop_assert!(checked.is_ok(), "{}\n{text}", checked.err().map(|e| e.text()).unwrap_or_default());
        }
    }

    /// The checker rejects what no planner would make.
    #[test]
    fn an_unsafe_edit_is_refused(case in sound_case(), edits in vec((edit(), any::<Index>()), 3)) {
        if let Ok(Planned::Change(plan)) = case.plan() {
            for (edit, at) in edits {
                let mut body = plan.body().clone();
                if !edit.apply(&case, &mut body, at) {
                    continue;
                }
                let edited = Plan::draft(body);
                let text = edited.table();
                prop_assert_ne!(edited.hash(), plan.hash());
                let checked = check(edited, &case.input());
                prop_assert!(checked.is_err(), "{edit:?}\n{}\n{text}", plan.table());
                let rules = rules(&checked);
                // A step that does not end a cluster is refused before anything else about it is looked at.
                let ends = |rule: &Rule| case.goal == Goal::Destroyed && *rule == Rule::DestroyGoal;
                let wanted = |rule: &Rule| edit.rules().contains(rule) || ends(rule);
                prop_assert!(rules.iter().any(wanted), "{edit:?} {rules:?}\n{text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(tried(2_000))]

    /// The checker rejects a good plan when the world has moved on.
    #[test]
    fn a_plan_for_another_world_is_refused(case in sound_case(), drift in drift(), at in any::<Index>()) {
        if let Ok(Planned::Change(plan)) = case.plan() {
            let mut moved = case.clone();
            if drift.apply(&mut moved, plan.steps(), at) {
                let text = plan.table();
                let checked = check(plan, &moved.input());
                prop_assert!(checked.is_err(), "{drift:?}\n{text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(tried(2_000))]

    /// No file makes reading panic, and its errors name a place within the text.
    #[test]
    fn no_file_is_too_strange(edits in vec((any::<Index>(), 0..4_usize, select(PIECES)), 1..4)) {
        let mut text = include_str!("../../../../examples/pools/ichor.yaml").to_owned();
        for (at, cut, piece) in edits {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let from = *at.get(&places);
            let to = places.iter().copied().filter(|to| *to >= from).nth(cut).unwrap_or(text.len());
            text.replace_range(from..to, piece);
        }
        if let Err(error) = ClusterSpec::parse(&text, talos_config::SourceId(1)) {
            let line = error.origin().map(|origin| origin.line as usize);
            prop_assert!(line.is_some_and(|line| line <= text.lines().count() + 1), "{error}\n{text}");
        }
    }
}

/// What is put into a file.
const PIECES: &[&str] = &[
    "", " ", "\n", "\n  ", ":", ": ", "- ", "{", "}", "[", "\"", "|", "&a ", "*a", "0", "null",
    "name: ", "ä",
];

/// Properties that speak of plans show nothing when there are none.
#[test]
fn most_cases_have_a_plan() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(tried(1));
    let (mut plans, mut suiting) = (0, BTreeMap::new());
    for _ in 0..CASES {
        let case = sound_case().new_tree(&mut runner).expect("a case").current();
        let at = any::<Index>().new_tree(&mut runner).expect("a place").current();
        let Ok(Planned::Change(plan)) = case.plan() else { continue };
        plans += 1;
        for edit in Edit::ALL {
            let suits = edit.apply(&case, &mut plan.body().clone(), at);
            *suiting.entry(format!("{edit:?}")).or_insert(0) += usize::from(suits);
        }
        for drift in Drift::ALL {
            let suits = drift.apply(&mut case.clone(), plan.steps(), at);
            *suiting.entry(format!("{drift:?}")).or_insert(0) += usize::from(suits);
        }
    }
    assert!(plans * 2 > CASES, "{plans} plans of {CASES} cases");
    let rare = suiting.iter().filter(|(_, count)| **count * 200 < CASES);
    assert_eq!(rare.collect::<Vec<_>>(), [], "{suiting:?}");
}

/// Enough that every edit and every drift finds a plan that suits it.
const CASES: usize = 1_000;

fn rules<T>(checked: &Result<T, Refusal>) -> Vec<Rule> {
    let findings = checked.as_ref().err().map(|refusal| refusal.findings.as_slice());
    findings.unwrap_or_default().iter().map(|finding| finding.rule).collect()
}

/// The same cases in every run, unless `ICHOR_SEED` asks for others.
fn tried(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: testkit::cases(cases),
        rng_seed: RngSeed::Fixed(testkit::seeds(1).start),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
