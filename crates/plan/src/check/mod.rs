//! Whether a plan may be run: every safety rule, looked at apart from the planner.
//!
//! In: a draft, from the planner or a file, and what is wanted and seen *now*. Out: the same plan as
//! [`Checked`], or every rule that it breaks.
//!
//! Always holds: the checker trusts nothing that the draft says. It follows the steps by itself, counts
//! etcd's voters by itself, and shares no code for either with the planner. It looks at every order in
//! which the steps may happen, not only at the one in which they stand.

mod destroy;
mod etcd;
mod graph;
mod order;
mod targets;

use graph::Graph;

use crate::digest::Digest;
use crate::inventory::Inventory;
use crate::names::MachineName;
use crate::plan::{Body, Checked, Draft, Goal, Plan};
use crate::render::Renderings;
use crate::rule::{Finding, Refusal, Rule};
use crate::spec::ClusterSpec;
use crate::step::{Step, StepNumber};

/// What a plan is checked against.
#[derive(Clone, Copy)]
pub struct Against<'a> {
    /// What is wanted.
    pub spec: &'a ClusterSpec,
    /// The configuration of each machine, compared with what it has.
    pub desired: &'a Renderings,
    /// What was seen.
    pub inventory: &'a Inventory,
    /// Which cluster it is ([`DigestKey::cluster`](crate::DigestKey::cluster)).
    pub identity: Digest,
}

/// Checks a plan.
pub fn check(draft: Plan<Draft>, against: &Against<'_>) -> Result<Plan<Checked>, Refusal> {
    let body = draft.body();
    let mut findings = Findings(Vec::new());
    cluster(body, against, &mut findings);
    overrides(body, &mut findings);
    match Graph::new(&body.steps) {
        None => findings.about_plan(
            Rule::OrderGraph,
            "the steps are not numbered in order, or wait for steps that come later".to_owned(),
            "make a new plan",
        ),
        Some(mut graph) => {
            graph.mark(|machine| against.spec.is_control_plane(machine));
            let check = Check { graph, against };
            match body.goal {
                Goal::Spec => {
                    check.targets(&mut findings);
                    check.order(&mut findings);
                    check.etcd(&mut findings);
                }
                Goal::Destroyed => check.destroy(&mut findings),
            }
        }
    }
    let (overridden, broken): (Vec<Finding>, Vec<Finding>) =
        findings.0.into_iter().partition(|finding| body.overrides(finding.rule));
    if !broken.is_empty() {
        return Err(Refusal { findings: broken });
    }
    let mut rules: Vec<Rule> = overridden.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    Ok(draft.checked(rules))
}

/// A plan whose steps can be followed.
struct Check<'a> {
    graph: Graph<'a>,
    against: &'a Against<'a>,
}

impl Check<'_> {
    fn is_control_plane(&self, step: &Step) -> bool {
        self.graph.is_marked(step)
    }
}

struct Findings(Vec<Finding>);

impl Findings {
    fn about_plan(&mut self, rule: Rule, message: String, hint: &str) {
        self.0.push(Finding { rule, step: None, machine: None, message, hint: hint.to_owned() });
    }

    fn about_machine(&mut self, rule: Rule, machine: &MachineName, message: String, hint: &str) {
        let (machine, hint) = (Some(machine.clone()), hint.to_owned());
        self.0.push(Finding { rule, step: None, machine, message, hint });
    }

    fn about_step(&mut self, rule: Rule, step: &Step, message: String, hint: &str) {
        self.0.push(Finding {
            rule,
            step: Some(step.number),
            machine: Some(step.machine.clone()),
            message,
            hint: hint.to_owned(),
        });
    }
}

fn cluster(body: &Body, against: &Against<'_>, findings: &mut Findings) {
    if body.cluster != against.spec.cluster {
        let message = format!(
            "the plan is for cluster {}, and this is {}",
            body.cluster, against.spec.cluster
        );
        findings.about_plan(
            Rule::IdentityCluster,
            message,
            "run it in the directory of its cluster",
        );
    } else if body.identity != against.identity {
        let message = format!(
            "the plan is for another cluster that is called {} as well: its vault has another key",
            body.cluster
        );
        findings.about_plan(
            Rule::IdentityCluster,
            message,
            "run it in the directory of its cluster",
        );
    }
}

fn overrides(body: &Body, findings: &mut Findings) {
    for given in &body.overrides {
        let problem = match Rule::parse(&given.rule) {
            None => "there is no such rule",
            Some(rule) if !rule.can_be_overridden() => "this rule cannot be overridden",
            Some(_) if given.reason.trim().is_empty() => "there is no reason",
            Some(_) => continue,
        };
        let message = format!("override of {:?}: {problem}", given.rule);
        let hint =
            "name a rule that can be overridden, and why: docs/reference/errors.md lists them";
        findings.about_plan(Rule::OverrideUnknown, message, hint);
    }
}

/// A number as people count steps.
fn at(number: StepNumber) -> usize {
    usize::try_from(number.0).unwrap_or(usize::MAX)
}
