//! What holds for every cluster, tried on thousands: small ones, mostly healthy, in every state of
//! disrepair.
//!
//! Three judges that share no code: the planner, the checker, and [`survives`] here, which carries a plan
//! out in some order that it allows and watches the voters.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use plan::{
    Action, ApplyMode, Body, BootId, ClusterSpec, Cni, ConfigChange, Digest, Disk, Draft, Etcd,
    Fact, FieldChange, Goal, InstallDisk, Inventory, MachineFacts, MachineName, Member, MemberId,
    Moment, NodeIdentity, NodeState, Override, Plan, Planned, Precondition, Proof, RebootClass,
    Refusal, Rendering, Renderings, Request, Rule, Source, Span, Standing, Step, StepNumber, check,
    plan as make_plan,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;
use world::{NOW, known, not_known, unseen};

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
            for left_out in &plan.body().left_out {
                let touched = plan.steps().iter().any(|step| {
                    step.machine.as_str() == left_out.machine && !left_out.why.contains("upgrade")
                });
                prop_assert!(!touched, "{}", plan.table());
            }
            let overrides = !case.overrides.is_empty();
            prop_assert!(overrides || survives(&case, &plan, &order), "{}", plan.table());
            let text = plan.table();
            let checked = check(plan, &case.against());
            prop_assert!(checked.is_ok(), "{}\n{text}", checked.err().map(|e| e.text()).unwrap_or_default());
        }
    }

    /// The checker rejects what no planner would make.
    #[test]
    fn an_unsafe_edit_is_refused(case in sound_case(), edit in edit(), at in any::<Index>()) {
        if let Ok(Planned::Change(plan)) = case.plan() {
            let mut body = plan.body().clone();
            if edit.apply(&case, &mut body, at) {
                let edited = Plan::draft(body);
                let text = edited.table();
                prop_assert_ne!(edited.hash(), plan.hash());
                let checked = check(edited, &case.against());
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
                let checked = check(plan, &moved.against());
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
        let mut text = include_str!("../../../examples/pools/ichor.yaml").to_owned();
        for (at, cut, piece) in edits {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let from = *at.get(&places);
            let to = places.iter().copied().filter(|to| *to >= from).nth(cut).unwrap_or(text.len());
            text.replace_range(from..to, piece);
        }
        if let Err(error) = ClusterSpec::parse(&text, talos_config::Source(1)) {
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
    let (mut plans, mut edits) = (0, BTreeMap::new());
    for _ in 0..500 {
        let case = sound_case().new_tree(&mut runner).expect("a case").current();
        let edit = edit().new_tree(&mut runner).expect("an edit").current();
        let at = any::<Index>().new_tree(&mut runner).expect("a place").current();
        if let Ok(Planned::Change(plan)) = case.plan() {
            plans += 1;
            let mut body = plan.body().clone();
            *edits.entry(format!("{edit:?}")).or_insert(0) +=
                usize::from(edit.apply(&case, &mut body, at));
        }
    }
    assert!(plans > 300, "{plans} plans of 500 cases");
    assert!(edits.values().filter(|count| **count == 0).count() <= 1, "{edits:?}");
}

/// Carries a plan out, always taking one of the steps that may be taken, and watches the voters: a
/// machine that reboots is away until it is awaited.
fn survives(case: &Case, plan: &Plan<Draft>, order: &[Index]) -> bool {
    let etcd = case.inventory.etcd.current(NOW).cloned().unwrap_or_default();
    let mut voters: BTreeMap<String, bool> = etcd
        .members
        .iter()
        .filter(|(_, member)| member.voter)
        .map(|(id, member)| {
            let name = member.machine.as_ref().map_or_else(|| id.to_string(), ToString::to_string);
            (name, member.started && member.lag == Some(0))
        })
        .collect();
    let mut done: BTreeSet<StepNumber> = BTreeSet::new();
    for turn in 0..plan.steps().len() {
        let ready: Vec<&Step> = plan
            .steps()
            .iter()
            .filter(|step| !done.contains(&step.number))
            .filter(|step| step.after.iter().all(|before| done.contains(before)))
            .collect();
        let step = order[turn % order.len()].get(&ready);
        done.insert(step.number);
        let name = step.machine.to_string();
        let restarts = case
            .desired
            .get(&step.machine)
            .and_then(|r| r.change.as_ref())
            .is_some_and(|c| c.pauses_etcd);
        match &step.action {
            Action::BootstrapEtcd if !voters.is_empty() => return false,
            Action::BootstrapEtcd | Action::AwaitVoter => {
                voters.insert(name, true);
            }
            Action::RebootMachine => {
                voters.entry(name).and_modify(|able| *able = false);
            }
            Action::ApplyConfig { mode: ApplyMode::NoReboot, .. } if restarts => {
                voters.entry(name).and_modify(|able| *able = false);
            }
            _ => continue,
        }
        let able = voters.values().filter(|able| **able).count();
        if matches!(step.action, Action::RebootMachine | Action::ApplyConfig { .. })
            && voters.contains_key(step.machine.as_str())
            && able * 2 <= voters.len()
        {
            return false;
        }
    }
    true
}

/// What a person with an editor might do to a plan.
#[derive(Clone, Copy, Debug)]
enum Edit {
    ClaimMore,
    ForgetProof,
    ForgetOrder,
    ForgetPrecondition,
    ForgetAwait,
    ForgetBatch,
    ForgetGate,
    ForgetTimeOut,
    ForgetRecovery,
    WaitForLater,
    BeginTwice,
    BeginOnWorker,
    AnotherMachine,
    AnotherConfig,
    AnotherMode,
    AnotherCluster,
    RebootToo,
    OverrideAnything,
    OverrideWithoutReason,
    HideAChange,
    ResetInstead,
    AnotherGoal,
    NobodySaidSo,
}

impl Edit {
    const ALL: [Self; 23] = [
        Self::ClaimMore,
        Self::ForgetProof,
        Self::ForgetOrder,
        Self::ForgetPrecondition,
        Self::ForgetAwait,
        Self::ForgetBatch,
        Self::ForgetGate,
        Self::ForgetTimeOut,
        Self::ForgetRecovery,
        Self::WaitForLater,
        Self::BeginTwice,
        Self::BeginOnWorker,
        Self::AnotherMachine,
        Self::AnotherConfig,
        Self::AnotherMode,
        Self::AnotherCluster,
        Self::RebootToo,
        Self::OverrideAnything,
        Self::OverrideWithoutReason,
        Self::HideAChange,
        Self::ResetInstead,
        Self::AnotherGoal,
        Self::NobodySaidSo,
    ];

    /// Of these rules at least one must be named.
    fn rules(self) -> &'static [Rule] {
        match self {
            Self::ClaimMore | Self::ForgetProof => &[Rule::QuorumProof],
            Self::ForgetOrder => &[Rule::OrderControlPlanes],
            Self::ForgetPrecondition => &[Rule::FactsCurrent],
            Self::ForgetAwait => &[Rule::OrderAwait],
            Self::ForgetBatch => &[Rule::BatchSize, Rule::BatchDomain, Rule::OrderWorkers],
            Self::ForgetGate => &[Rule::WindowMissing],
            Self::ForgetTimeOut | Self::ForgetRecovery => &[Rule::StepIncomplete],
            Self::WaitForLater => &[Rule::OrderGraph],
            Self::BeginTwice => &[Rule::BootstrapOnce],
            Self::BeginOnWorker => &[Rule::BootstrapControlPlane],
            Self::AnotherMachine => &[Rule::IdentityMachine],
            Self::AnotherConfig | Self::HideAChange => &[Rule::ConfigDigest],
            Self::AnotherMode | Self::RebootToo => &[Rule::ConfigReboot, Rule::FactsCurrent],
            Self::ResetInstead | Self::AnotherGoal => &[Rule::DestroyGoal],
            Self::NobodySaidSo => &[Rule::QuorumDestroy],
            Self::AnotherCluster => &[Rule::IdentityCluster],
            Self::OverrideAnything | Self::OverrideWithoutReason => &[Rule::OverrideUnknown],
        }
    }

    /// Edits the plan where that is possible and unsafe.
    #[expect(clippy::too_many_lines, reason = "a table of edits")]
    fn apply(self, case: &Case, body: &mut Body, at: Index) -> bool {
        let control_plane = |step: &Step| case.spec.is_control_plane(&step.machine);
        let all: Vec<usize> = (0..body.steps.len()).collect();
        let any = |suits: &dyn Fn(&Step) -> bool| -> Option<usize> {
            let suiting: Vec<usize> =
                all.iter().copied().filter(|at| suits(&body.steps[*at])).collect();
            (!suiting.is_empty()).then(|| *at.get(&suiting))
        };
        let touches = |step: &Step| {
            control_plane(step)
                && !matches!(
                    step.action,
                    Action::AwaitNode { .. }
                        | Action::FetchKubeconfig
                        | Action::ApplyConfig { mode: ApplyMode::Maintenance, .. }
                )
        };
        let number = StepNumber(u32::try_from(body.steps.len() + 1).expect("few steps"));
        let found = match self {
            Self::ClaimMore => {
                let found = any(&|step| step.proof.is_some());
                if let Some(proof) = found.and_then(|at| body.steps[at].proof.as_mut()) {
                    *proof = Proof { able: proof.able + 1, ..*proof };
                }
                found
            }
            Self::ForgetProof => {
                let found = any(&|step| step.proof.is_some());
                found.inspect(|at| body.steps[*at].proof = None)
            }
            Self::ForgetOrder => {
                let first = body.steps.iter().position(touches);
                let found = any(&|step| touches(step) && Some(number_of(step)) > first);
                found.inspect(|at| body.steps[*at].after.clear())
            }
            Self::ForgetPrecondition => {
                let found = any(&|step| !step.preconditions.is_empty());
                found.inspect(|at| {
                    body.steps[*at].preconditions.pop();
                })
            }
            Self::ForgetAwait => {
                let disturbed: BTreeSet<MachineName> = body
                    .steps
                    .iter()
                    .filter(|step| {
                        step.action.is_disruptive() || step.action.verb() == "apply config"
                    })
                    .map(|step| step.machine.clone())
                    .collect();
                let found = any(&|step| {
                    matches!(step.action, Action::AwaitNode { .. })
                        && disturbed.contains(&step.machine)
                });
                found.inspect(|at| {
                    // The rest of the machine's steps go on as if nothing were missing.
                    let machine = body.steps[*at].machine.clone();
                    let waits = |step: &Step| {
                        matches!(step.action, Action::AwaitNode { .. }) && step.machine == machine
                    };
                    for step in body.steps.iter_mut().filter(|step| waits(step)) {
                        step.action = Action::FetchKubeconfig;
                    }
                })
            }
            Self::ForgetBatch => {
                let first = |step: &Step| {
                    let worker = !control_plane(step);
                    let begins = matches!(
                        step.action,
                        Action::ApplyConfig { mode: ApplyMode::NoReboot | ApplyMode::Staged, .. }
                    );
                    worker && begins && !step.after.is_empty()
                };
                let found = any(&first);
                // To be concurrent with a control plane's mere wait is harmless, and so is a batch that could
                // have been larger.
                let before = found.map(|at| &body.steps[..at]).unwrap_or_default();
                let disturbed: BTreeSet<&MachineName> = before
                    .iter()
                    .filter(|step| step.action.is_disruptive())
                    .map(|step| &step.machine)
                    .collect();
                let domain = |name: &MachineName| {
                    case.spec.machine(name).and_then(|(m, _)| m.domain.clone())
                };
                let own = found.map(|at| domain(&body.steps[at].machine));
                let at_once = case.spec.policy.workers_at_once as usize;
                let unsafe_with = |name: &&MachineName| {
                    case.spec.is_control_plane(name) || Some(domain(name)) != own
                };
                let harms = disturbed.len() >= at_once || disturbed.iter().any(unsafe_with);
                found.filter(|_| harms).inspect(|at| body.steps[*at].after.clear())
            }
            Self::ForgetGate => {
                let found = any(&|step| !step.gates.is_empty());
                found.inspect(|at| body.steps[*at].gates.clear())
            }
            Self::ForgetTimeOut => {
                any(&|_| true).inspect(|at| body.steps[*at].time_out = Span::seconds(0))
            }
            Self::ForgetRecovery => any(&|_| true).inspect(|at| body.steps[*at].recovery.clear()),
            Self::WaitForLater => any(&|_| true).inspect(|at| body.steps[*at].after.push(number)),
            Self::BeginTwice => {
                let found = any(&touches);
                found.inspect(|at| {
                    let mut again = body.steps[*at].clone();
                    again.after = vec![again.number];
                    (again.action, again.number) = (Action::BootstrapEtcd, number);
                    again.preconditions = vec![Precondition::NoMembers];
                    body.steps.push(again);
                })
            }
            Self::BeginOnWorker => {
                let worker = case.spec.machines().map(|(machine, _)| &machine.name);
                let worker =
                    worker.filter(|name| !case.spec.is_control_plane(name)).last().cloned();
                let found = any(&|step| step.action == Action::BootstrapEtcd);
                found.zip(worker).map(|(at, worker)| {
                    body.steps[at].machine = worker;
                    at
                })
            }
            Self::AnotherMachine => any(&|_| true)
                .inspect(|at| body.steps[*at].machine = "stranger".parse().expect("a name")),
            Self::AnotherConfig => {
                let found = any(&|step| matches!(step.action, Action::ApplyConfig { .. }));
                if let Some(Action::ApplyConfig { config, .. }) =
                    found.map(|at| &mut body.steps[at].action)
                {
                    *config = digest(999);
                }
                found
            }
            Self::AnotherMode => {
                let found = any(&|step| matches!(step.action, Action::ApplyConfig { .. }));
                if let Some(Action::ApplyConfig { mode, .. }) =
                    found.map(|at| &mut body.steps[at].action)
                {
                    *mode = match mode {
                        ApplyMode::Staged => ApplyMode::NoReboot,
                        ApplyMode::NoReboot | ApplyMode::Maintenance => ApplyMode::Staged,
                    };
                }
                found
            }
            Self::AnotherCluster => any(&|_| true).inspect(|_| body.identity = digest(999)),
            Self::RebootToo => {
                let found = any(&|step| {
                    let change = case.desired.get(&step.machine).and_then(|r| r.change.as_ref());
                    change.is_none_or(|change| change.class != RebootClass::WithReboot)
                });
                found.inspect(|at| {
                    let mut reboot = body.steps[*at].clone();
                    reboot.after = vec![reboot.number];
                    (reboot.action, reboot.number) = (Action::RebootMachine, number);
                    body.steps.push(reboot);
                })
            }
            Self::OverrideAnything => any(&|_| true).inspect(|_| {
                let (rule, reason) = ("identity.foreign".to_owned(), "because".to_owned());
                body.overrides.push(Override { rule, reason });
            }),
            Self::OverrideWithoutReason => any(&|_| true).inspect(|_| {
                let (rule, reason) = ("quorum.tolerance".to_owned(), " ".to_owned());
                body.overrides.push(Override { rule, reason });
            }),
            Self::HideAChange => {
                let shows = |step: &Step| matches!(&step.action, Action::ApplyConfig { changes, .. } if !changes.is_empty());
                let found = any(&shows);
                if let Some(Action::ApplyConfig { changes, .. }) =
                    found.map(|at| &mut body.steps[at].action)
                {
                    changes.pop();
                }
                found
            }
            Self::ResetInstead => {
                let found = any(&|step| step.action != Action::ResetMachine);
                found.inspect(|at| body.steps[*at].action = Action::ResetMachine)
            }
            Self::AnotherGoal => any(&|_| true).inspect(|_| {
                body.goal = match body.goal {
                    Goal::Spec => Goal::Destroyed,
                    Goal::Destroyed => Goal::Spec,
                };
            }),
            Self::NobodySaidSo => {
                any(&|step| step.action == Action::ResetMachine).inspect(|_| body.overrides.clear())
            }
        };
        found.is_some()
    }
}

/// What may happen between planning and checking.
#[derive(Clone, Copy, Debug)]
enum Drift {
    MachineGone,
    MachineForeign,
    MachineReplaced,
    MachineRebooted,
    DiskGone,
    ConfigChanged,
    SpecChanged,
    OtherVotersStopped,
    EverythingOld,
}

impl Drift {
    const ALL: [Self; 9] = [
        Self::MachineGone,
        Self::MachineForeign,
        Self::MachineReplaced,
        Self::MachineRebooted,
        Self::DiskGone,
        Self::ConfigChanged,
        Self::SpecChanged,
        Self::OtherVotersStopped,
        Self::EverythingOld,
    ];

    /// Changes what was seen of a machine that a step needs; false where that harms nothing.
    fn apply(self, case: &mut Case, steps: &[Step], at: Index) -> bool {
        let suiting: Vec<&Step> = steps
            .iter()
            .filter(|step| match self {
                Self::MachineGone | Self::MachineForeign | Self::EverythingOld => true,
                Self::MachineReplaced => {
                    step.preconditions.iter().any(|given| matches!(given, Precondition::NodeIs(_)))
                }
                Self::MachineRebooted => step.action == Action::RebootMachine,
                Self::DiskGone => step.preconditions.contains(&Precondition::InMaintenance),
                Self::ConfigChanged => step
                    .preconditions
                    .iter()
                    .any(|given| matches!(given, Precondition::ConfigIs(_))),
                Self::SpecChanged => matches!(step.action, Action::ApplyConfig { .. }),
                Self::OtherVotersStopped => {
                    let etcd = case.inventory.etcd.current(NOW).cloned().unwrap_or_default();
                    let other = |member: &Member| {
                        member.voter
                            && member.started
                            && member.machine.as_ref() != Some(&step.machine)
                    };
                    // What is to end harms nobody when it has stopped before.
                    case.goal == Goal::Spec
                        && step.proof.is_some()
                        && etcd.members.values().any(other)
                }
            })
            .collect();
        if suiting.is_empty() {
            return false;
        }
        let step = at.get(&suiting);
        let facts = case.inventory.machines.get_mut(&step.machine).expect("facts");
        match self {
            Self::MachineGone => facts.standing = not_known("connection refused"),
            Self::MachineForeign => facts.standing = known(Standing::Another, Source::TalosApi),
            Self::DiskGone => facts.disks = known(disks(false), Source::Maintenance),
            Self::MachineReplaced => {
                facts.node = known(NodeIdentity("a third".to_owned()), Source::TalosApi);
            }
            Self::MachineRebooted => {
                facts.boot = known(BootId("a third".to_owned()), Source::TalosApi);
            }
            Self::ConfigChanged => facts.config = known(digest(998), Source::TalosApi),
            Self::SpecChanged => {
                case.desired.get_mut(&step.machine).expect("a rendering").digest = digest(997);
            }
            Self::OtherVotersStopped => {
                if let Fact::Known { value, .. } = &mut case.inventory.etcd {
                    for member in value.members.values_mut() {
                        if member.machine.as_ref() != Some(&step.machine) {
                            (member.started, member.lag) = (false, None);
                        }
                    }
                }
            }
            Self::EverythingOld => case.inventory.taken = Moment(NOW.0 + 3_600),
        }
        true
    }
}

/// A cluster in some state.
#[derive(Clone, Debug)]
struct Case {
    spec: ClusterSpec,
    goal: Goal,
    desired: Renderings,
    inventory: Inventory,
    overrides: Vec<Override>,
}

impl Case {
    fn plan(&self) -> Result<Planned, Refusal> {
        make_plan(&Request {
            spec: &self.spec,
            goal: self.goal,
            desired: &self.desired,
            inventory: &self.inventory,
            identity: digest(0),
            parent: None,
            overrides: &self.overrides,
        })
    }

    /// Whoever wants the end of a cluster says so.
    fn with_goal(mut self, goal: Goal) -> Self {
        if goal == Goal::Destroyed {
            self.overrides.push(overriding(Rule::QuorumDestroy));
        }
        Self { goal, ..self }
    }

    fn against(&self) -> plan::Against<'_> {
        plan::Against {
            spec: &self.spec,
            desired: &self.desired,
            inventory: &self.inventory,
            identity: digest(0),
        }
    }
}

/// Any cluster, with any overrides.
fn case() -> impl Strategy<Value = Case> {
    let rules: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| rule.can_be_overridden()).collect();
    let overrides = prop_oneof![3 => Just(Vec::new()), 1 => vec(select(rules), 1..4)];
    (machines(3), etcd(), overrides, policy(), goal()).prop_map(
        |(machines, etcd, rules, policy, goal)| {
            let overrides = rules.into_iter().map(overriding);
            build(&machines, etcd, overrides.collect(), policy).with_goal(goal)
        },
    )
}

/// Most clusters are wanted.
fn goal() -> impl Strategy<Value = Goal> {
    prop_oneof![9 => Just(Goal::Spec), 1 => Just(Goal::Destroyed)]
}

fn overriding(rule: Rule) -> Override {
    Override { rule: rule.name().to_owned(), reason: "a test".to_owned() }
}

/// A cluster that most plans can be made for, without overrides.
fn sound_case() -> impl Strategy<Value = Case> {
    (machines(30), etcd(), policy(), goal()).prop_map(|(machines, etcd, policy, goal)| {
        let fresh = machines.control_planes.iter().all(|machine| machine.standing == 0);
        let etcd = if fresh || etcd.kind < 2 { etcd } else { EtcdShape { kind: 3, ..etcd } };
        build(&machines, etcd, Vec::new(), policy).with_goal(goal)
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    select(Edit::ALL.to_vec())
}

fn drift() -> impl Strategy<Value = Drift> {
    select(Drift::ALL.to_vec())
}

/// What a case is made of; numbers so that a failing one shrinks.
#[derive(Clone, Debug)]
struct Machines {
    control_planes: Vec<MachineShape>,
    workers: Vec<MachineShape>,
}

#[expect(clippy::struct_excessive_bools, reason = "independent marks")]
#[derive(Clone, Debug)]
struct MachineShape {
    /// Maintenance, ours, not seen, another's.
    standing: u64,
    class: RebootClass,
    pauses_etcd: bool,
    recorded: bool,
    replaced: bool,
    /// Node and boot are known.
    identified: bool,
    node: NodeState,
    domain: u64,
    /// It has the disk that Talos is to be installed to.
    disk: bool,
}

#[derive(Clone, Copy, Debug)]
struct EtcdShape {
    /// Not known, empty, members but for some, members on all that run.
    kind: u64,
    stopped: u64,
    learning: u64,
    foreign: bool,
    leader: u64,
}

/// `soundness` to one that a machine is as it should be in each respect.
fn machines(soundness: u64) -> impl Strategy<Value = Machines> {
    // Mostly one to three control planes, seldom more.
    let control_planes = prop_oneof![3 => 1..=3_usize, 1 => 4..=MOST_CONTROL_PLANES];
    let workers = prop_oneof![3 => 0..=3_usize, 1 => 4..=MOST_WORKERS];
    let most = MOST_CONTROL_PLANES + MOST_WORKERS;
    (0..7_u8, control_planes, workers, vec(any::<u64>(), most)).prop_map(
        move |(all, control_planes, workers, dice)| {
            // All wait for configuration, all run, or some of each.
            let usual = |die: &mut Die| match all {
                0..=2 => 1,
                3..=4 => 0,
                _ => die.throw(2),
            };
            let mut shapes = dice.into_iter().map(|die| {
                let mut die = Die(die);
                let usual = usual(&mut die);
                shape(&mut die, usual, soundness)
            });
            Machines {
                control_planes: shapes.by_ref().take(control_planes).collect(),
                workers: shapes.take(workers).collect(),
            }
        },
    )
}

fn shape(die: &mut Die, usual: u64, soundness: u64) -> MachineShape {
    let mut mostly = || die.throw(soundness + 1) != soundness;
    let (usually, recorded, same, identified) = (mostly(), mostly(), mostly(), mostly());
    let disk = mostly();
    MachineShape {
        standing: if usually { usual } else { die.throw(4) },
        class: match die.throw(4) {
            0..=1 => RebootClass::Nothing,
            2 => RebootClass::WithoutReboot,
            _ => RebootClass::WithReboot,
        },
        pauses_etcd: die.throw(2) == 1,
        recorded,
        replaced: !same,
        identified,
        node: match die.throw(5) {
            0..=2 => NodeState::Ready,
            3 => NodeState::NotReady,
            _ => NodeState::Absent,
        },
        domain: die.throw(3),
        disk,
    }
}

/// One random number, of which several small ones are taken: faster than as many strategies, and what
/// shrinks to zero shrinks to a machine that is as it should be.
struct Die(u64);

impl Die {
    fn throw(&mut self, sides: u64) -> u64 {
        let side = self.0 % sides;
        self.0 /= sides;
        side
    }
}

fn etcd() -> impl Strategy<Value = EtcdShape> {
    any::<u64>().prop_map(|die| {
        let mut die = Die(die);
        let mask = |die: &mut Die| if die.throw(5) == 4 { die.throw(256) } else { 0 };
        EtcdShape {
            kind: 3_u64.saturating_sub(die.throw(8).saturating_sub(4)),
            stopped: mask(&mut die),
            learning: mask(&mut die),
            foreign: die.throw(10) == 9,
            leader: die.throw(6),
        }
    })
}

/// Workers at once, windows, a network plug-in.
fn policy() -> impl Strategy<Value = (u32, bool, bool)> {
    (1..=3_u32, any::<bool>(), any::<bool>())
}

fn build(
    machines: &Machines,
    etcd: EtcdShape,
    overrides: Vec<Override>,
    policy: (u32, bool, bool),
) -> Case {
    let (at_once, windows, plug_in) = policy;
    let mut spec = LARGEST.clone();
    spec.control_plane.machines.truncate(machines.control_planes.len());
    spec.pools[0].machines.truncate(machines.workers.len());
    spec.policy.workers_at_once = at_once;
    if !windows {
        spec.policy.windows.clear();
    }
    if !plug_in {
        spec.network.cni = Cni::None;
    }
    let (mut desired, mut seen) = (Renderings::new(), BTreeMap::new());
    let pools = spec.pools.iter_mut().flat_map(|pool| &mut pool.machines);
    let shapes = machines.control_planes.iter().chain(&machines.workers);
    for (at, (machine, shape)) in
        spec.control_plane.machines.iter_mut().chain(pools).zip(shapes).enumerate()
    {
        machine.domain =
            ["a", "b"].get(index(shape.domain)).map(|name| name.parse().expect("a name"));
        let at = u32::try_from(at).expect("few machines");
        let (facts, rendering) = facts(&machine.name, shape, at);
        seen.insert(machine.name.clone(), facts);
        desired.insert(machine.name.clone(), rendering);
    }
    let etcd = members(&spec, &seen, &etcd);
    let kubeconfig = known(at_once == 1, Source::Directory);
    Case {
        spec,
        goal: Goal::Spec,
        desired,
        inventory: Inventory { taken: NOW, machines: seen, etcd, kubeconfig },
        overrides,
    }
}

/// What the spec of every case is cut from.
static LARGEST: LazyLock<ClusterSpec> = LazyLock::new(|| {
    let more = "policy: {windows: [{from: \"01:00\", to: \"05:00\"}]}\n";
    let text = world::World::text(MOST_CONTROL_PLANES, MOST_WORKERS, more);
    ClusterSpec::parse(&text, talos_config::Source(1)).expect("a spec")
});

const MOST_CONTROL_PLANES: usize = 5;
const MOST_WORKERS: usize = 7;

fn facts(name: &MachineName, shape: &MachineShape, at: u32) -> (MachineFacts, Rendering) {
    let wanted = digest(100 + at);
    let has = if shape.class == RebootClass::Nothing { wanted } else { digest(200 + at) };
    let talos = "v1.13.9".parse().expect("a version");
    let mut facts = world::ours(name, has, talos);
    facts.kubernetes = known(shape.node, Source::Kubernetes);
    match shape.standing {
        0 => {
            facts = unseen("it has no configuration");
            facts.standing = known(Standing::Maintenance, Source::Maintenance);
            facts.disks = known(disks(shape.disk), Source::Maintenance);
        }
        1 => {}
        2 => facts = unseen("connection refused"),
        _ => facts.standing = known(Standing::Another, Source::TalosApi),
    }
    if !shape.recorded {
        facts.recorded = None;
    }
    if shape.replaced {
        facts.node = known(NodeIdentity("another".to_owned()), Source::TalosApi);
    }
    if !shape.identified {
        facts.node = not_known("not asked");
        facts.boot = not_known("not asked");
    }
    let field = FieldChange {
        document: "v1alpha1".to_owned(),
        path: "machine.env.A".to_owned(),
        before: None,
        after: Some("1".to_owned()),
    };
    let changes = shape.class != RebootClass::Nothing;
    let change = (shape.standing == 1).then(|| ConfigChange {
        from: has,
        class: shape.class,
        pauses_etcd: shape.pauses_etcd && changes,
        changes_role: false,
        changes_kubernetes: false,
        fields: changes.then_some(field).into_iter().collect(),
    });
    let disk = InstallDisk::At(DISK.to_owned());
    (facts, Rendering { redacted: String::new(), digest: wanted, disk, change })
}

fn disks(has_it: bool) -> Vec<Disk> {
    let disk = |device: &str| Disk { device: device.to_owned(), ..Disk::default() };
    ["/dev/sdb", DISK].into_iter().filter(|device| has_it || *device != DISK).map(disk).collect()
}

/// The disk that Talos is to be installed to.
const DISK: &str = "/dev/sda";

fn members(
    spec: &ClusterSpec,
    seen: &BTreeMap<MachineName, MachineFacts>,
    shape: &EtcdShape,
) -> Fact<Etcd> {
    let ours = |name: &MachineName| {
        seen[name].standing.current(NOW).is_none_or(|standing| *standing == Standing::Ours)
    };
    let runs =
        spec.control_plane.machines.iter().map(|machine| &machine.name).filter(|name| ours(name));
    let bit = |mask: u64, at: usize| mask >> (at % 8) & 1 == 1;
    let members = runs.enumerate().filter(|(at, _)| shape.kind == 3 || !bit(shape.leader, *at));
    let mut members: BTreeMap<MemberId, Member> = members
        .map(|(at, name)| {
            let stopped = bit(shape.stopped, at) || seen[name].standing.current(NOW).is_none();
            let member = Member {
                machine: Some(name.clone()),
                voter: !bit(shape.learning, at),
                started: !stopped,
                lag: (!stopped).then_some(0),
            };
            (MemberId(at as u64 + 1), member)
        })
        .collect();
    if shape.foreign && !members.is_empty() {
        let member = Member { machine: None, voter: true, started: true, lag: Some(0) };
        members.insert(MemberId(99), member);
    }
    let leader = members.keys().nth(index(shape.leader)).copied();
    match shape.kind {
        0 => not_known("no answer"),
        1 => known(Etcd::default(), Source::TalosApi),
        _ => known(Etcd { members, leader }, Source::TalosApi),
    }
}

fn rules<T>(checked: &Result<T, Refusal>) -> Vec<Rule> {
    let findings = checked.as_ref().err().map(|refusal| refusal.findings.as_slice());
    findings.unwrap_or_default().iter().map(|finding| finding.rule).collect()
}

fn number_of(step: &Step) -> usize {
    usize::try_from(step.number.0).expect("a number") - 1
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}

fn digest(number: u32) -> Digest {
    format!("{number:064x}").parse().expect("a digest")
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
