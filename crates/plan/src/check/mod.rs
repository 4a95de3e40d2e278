//! The checker: every safety rule, looked at apart from the planner.
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
mod service;
mod targets;

use std::collections::BTreeMap;

use graph::Graph;

use domain::MachineName;

use crate::finding::{Finding, Refusal};
use crate::plan::{Body, Checked, Draft, Goal, Override, Plan};
use crate::planner::PlanningInput;
use crate::rule::Rule;
use crate::spec::ClusterSpec;
use crate::step::{Step, StepNumber};

/// Checks a plan.
pub fn check(draft: Plan<Draft>, input: &PlanningInput<'_>) -> Result<Plan<Checked>, Refusal> {
    let body = draft.body();
    let mut findings = Findings(Vec::new());
    cluster(body, input, &mut findings);
    overrides(body, input.spec, &mut findings);
    match Graph::new(&body.steps) {
        None => findings.about_plan(
            Rule::OrderGraph,
            "the steps are not numbered in order, or wait for steps that come later".to_owned(),
            "make a new plan",
        ),
        Some(mut graph) => {
            graph.mark(|machine| input.spec.is_control_plane(machine));
            let mut check =
                Check { graph, input, overrides: &body.overrides, out: BTreeMap::new() };
            check.out = check.out_of_service();
            check.kinds(body.goal, &mut findings);
            match body.goal {
                Goal::Spec => {
                    check.installations(&mut findings);
                    check.targets(&mut findings);
                    check.order(&mut findings);
                    check.service(&mut findings);
                    check.etcd(&mut findings);
                }
                Goal::Destroyed => check.destroy(&mut findings),
            }
        }
    }
    let (overridden, broken): (Vec<Finding>, Vec<Finding>) =
        findings.0.into_iter().partition(|finding| body.overrides(finding.rule, finding.machine()));
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
    input: &'a PlanningInput<'a>,
    overrides: &'a [Override],
    /// Machines that do not serve although they should, and why.
    out: BTreeMap<&'a MachineName, String>,
}

impl Check<'_> {
    fn is_control_plane(&self, step: &Step) -> bool {
        self.graph.is_marked(step)
    }
}

struct Findings(Vec<Finding>);

impl Findings {
    fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    fn about_plan(&mut self, rule: Rule, message: String, hint: &str) {
        self.push(Finding::about_plan(rule, message, hint));
    }

    fn about_step(&mut self, rule: Rule, step: &Step, message: String, hint: &str) {
        self.push(Finding::about(step.on.clone(), rule, message, hint).in_step(step));
    }
}

fn cluster(body: &Body, input: &PlanningInput<'_>, findings: &mut Findings) {
    if body.cluster != input.spec.cluster {
        let message =
            format!("the plan is for cluster {}, and this is {}", body.cluster, input.spec.cluster);
        findings.about_plan(
            Rule::IdentityCluster,
            message,
            "run it in the directory of its cluster",
        );
    } else if body.identity != input.identity {
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

fn overrides(body: &Body, spec: &ClusterSpec, findings: &mut Findings) {
    for Override { rule, machine, reason } in &body.overrides {
        let parsed = Rule::parse(rule);
        let unknown = machine.as_ref().filter(|machine| spec.machine(machine).is_none());
        let problem = match (parsed, machine) {
            (None, _) => "there is no such rule".to_owned(),
            (Some(rule), _) if !rule.can_be_overridden() => {
                "this rule cannot be overridden".to_owned()
            }
            (Some(rule), None) if rule.is_for_one_machine() => {
                format!("it needs the machine that it is for, as in {rule}=NAME")
            }
            (Some(_), Some(_)) if let Some(machine) = unknown => {
                format!("the spec has no machine {machine}")
            }
            _ if reason.trim().is_empty() => "there is no reason".to_owned(),
            _ => continue,
        };
        let message = format!("override of {rule:?}: {problem}");
        let hint =
            "name a rule that can be overridden, and why: docs/reference/errors.md lists them";
        findings.about_plan(Rule::OverrideUnknown, message, hint);
    }
}

/// Returns a number as people count steps.
fn at(number: StepNumber) -> usize {
    usize::try_from(number.0).unwrap_or(usize::MAX)
}
