//! An interactive session that changes a cluster: shows the plan, asks for approval, and reports progress. Approvals
//! are in the audit log before the first step.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use engine::journal::{Entry, Journal as _};
use engine::{
    Activity, Approver, Clock, Event, EventSink, Outcome, PlanProgress, PortError, StepPlace,
};
use plan::{ApplyMode, Approval, Body, Checked, Goal, Override, Plan, Step};
use talos_config::Coded;

use super::plan_file::show_plan;
use crate::Error;
use crate::args::OutputFormat;
use crate::audit::AuditEntry;
use crate::directory::{OpenedDirectory, STATE};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Execution, UserEnvironment};

pub(super) struct InteractiveSession<'a> {
    directory: &'a OpenedDirectory,
    /// With the audit log of the directory.
    environment: UserEnvironment,
    skip_confirmation: bool,
    output: OutputFormat,
    clock: &'a dyn Clock,
    state: Mutex<State<'a>>,
}

struct State<'a> {
    printer: &'a mut Printer,
    clock: &'a dyn Clock,
    /// There once a plan was shown.
    progress: Option<PlanProgress>,
    /// There once a plan was allowed.
    audit: Option<AuditEntry>,
    /// Outcome of the last approved plan, in the words of the audit log.
    ended: Option<String>,
    /// The first failure of that plan.
    failed: Option<&'static str>,
    /// No further step of that plan is started.
    stopping: bool,
    /// Error of the approval, reported at the end.
    error: Option<Error>,
}

impl<'a> InteractiveSession<'a> {
    pub(super) fn new(
        live: &'a LiveCluster,
        environment: &UserEnvironment,
        execution: &Execution,
        printer: &'a mut Printer,
    ) -> Self {
        let (directory, clock) = (&live.directory, live.clock());
        let environment =
            UserEnvironment { state: Some(directory.root.join(STATE)), ..environment.clone() };
        let state = State {
            printer,
            clock,
            progress: None,
            audit: None,
            ended: None,
            failed: None,
            stopping: false,
            error: None,
        };
        let &Execution { skip_confirmation, metrics: _, output } = execution;
        Self { directory, environment, skip_confirmation, output, clock, state: Mutex::new(state) }
    }

    /// Writes down how it ended, and gives the printer back.
    pub(super) fn end(
        self,
        outcome: Result<Outcome, engine::Error>,
    ) -> (&'a mut Printer, Result<Outcome, Error>) {
        let State { printer, audit, ended, error, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcome = match error {
            Some(error) => Err(error),
            None => outcome.map_err(Error::from),
        };
        let Some(audit) = audit else { return (printer, outcome) };
        // What came after the plan is not how it ended.
        let said = match (&outcome, ended) {
            (Ok(Outcome::Ran(_)), _) | (_, None) => audited(&outcome),
            (_, Some(ended)) => ended,
        };
        match audit.close(&said) {
            Ok(()) => (printer, outcome),
            Err(error) => (printer, outcome.and(Err(error))),
        }
    }

    /// Stores an error, to be reported in full at the end.
    fn fail(&self, error: Error) -> PortError {
        let port_error = error.port_error();
        self.with(|state| state.error = Some(error));
        port_error
    }

    fn with<T>(&self, act: impl FnOnce(&mut State<'a>) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks for approval, and records it.
    fn allow(&self, plan: &Plan<Checked>, given: Option<Approval>) -> Result<Approval, Error> {
        // The plan of an earlier pass has ended, whatever is said about this one.
        let before = self.with(|state| {
            (state.failed, state.stopping) = (None, false);
            state.audit.take().map(|audit| (audit, state.ended.take()))
        });
        if let Some((before, ended)) = before {
            // What was allowed and never started had been overtaken.
            before.close(ended.as_deref().unwrap_or("outdated"))?;
        }
        let approval = match given {
            Some(approval) => approval,
            None => {
                self.with(|state| confirm(plan, self.skip_confirmation, state.printer))?;
                let (by, at) = (self.environment.user.clone(), self.clock.now());
                Approval { plan: plan.hash(), by, at }
            }
        };
        let overrides = plan.body().overrides.iter();
        let overrides = overrides.map(|Override { rule, machine, reason }| {
            let machine = machine.as_ref().map_or(String::new(), |name| format!("={name}"));
            format!(", overriding {rule}{machine} because: {reason}")
        });
        let detail = format!(
            "{}, approved by {}{}",
            count(plan.steps().len(), "step"),
            approval.by,
            overrides.collect::<String>()
        );
        let mut nodes: Vec<String> = plan.steps().iter().map(|step| step.on.to_string()).collect();
        nodes.sort();
        nodes.dedup();
        let action = format!("plan {}", plan.hash().short());
        let audit = AuditEntry::begin(&action, &detail, nodes, &self.environment)?;
        self.with(|state| state.audit = Some(audit));
        Ok(approval)
    }
}

#[async_trait]
impl Approver for InteractiveSession<'_> {
    async fn approve(&self, plan: &Plan<Checked>) -> Result<Option<Approval>, PortError> {
        let records = match self.directory.journal.read().await {
            Ok(records) => records,
            Err(error) => return Err(self.fail(engine::Error::from(error).into())),
        };
        let policy = &self.directory.cluster.spec.policy;
        let progress = PlanProgress::new(plan.hash(), plan.steps(), policy, &records);
        let shown = self.with(|state| {
            state.progress = Some(progress);
            match self.output {
                OutputFormat::Table => {
                    show_plan(plan, OutputFormat::Table, state.printer).map(drop)
                }
                OutputFormat::Json | OutputFormat::Yaml => Ok(()),
            }
        });
        // An approval that was given before.
        let given = records.into_iter().rev().find_map(|record| match record.entry {
            Entry::PlanApproved(approval) if approval.plan == plan.hash() => Some(approval),
            _ => None,
        });
        match shown.and_then(|()| self.allow(plan, given)) {
            Ok(approval) => {
                if plan.steps().iter().any(installs) {
                    let warnings = self.directory.register().await;
                    self.with(|state| {
                        for warning in &warnings {
                            state.printer.note(&warning.to_string());
                        }
                    });
                }
                Ok(Some(approval))
            }
            Err(Error::Declined(_)) => Ok(None),
            Err(error) => Err(self.fail(error)),
        }
    }
}

impl EventSink for InteractiveSession<'_> {
    fn emit(&self, event: &Event) {
        self.with(|state| {
            if let Some(progress) = &mut state.progress {
                progress.record(event);
            }
            match event {
                Event::StepFailed { code, .. } => drop(state.failed.get_or_insert(code)),
                Event::Stopping => state.stopping = true,
                Event::Ended { left, .. } => state.ended = Some(state.said_of_end(*left)),
                _ => {}
            }
            match self.output {
                OutputFormat::Table => state.tell(event),
                // The reader may be gone; the work goes on.
                OutputFormat::Json | OutputFormat::Yaml => {
                    drop(state.printer.item(event, self.output));
                }
            }
        });
    }
}

impl State<'_> {
    /// Describes for the audit log how a plan ended that another one may follow.
    fn said_of_end(&self, left: usize) -> String {
        match (self.stopping, self.failed, left) {
            (true, _, _) => "interrupted".to_owned(),
            (false, Some(code), _) => format!("failed: {code}"),
            (false, None, 0) => "done".to_owned(),
            (false, None, _) => "incomplete".to_owned(),
        }
    }

    fn tell(&mut self, event: &Event) {
        let line = |place: &StepPlace, text: &str| {
            let StepPlace { step, of, on, verb, .. } = place;
            format!("[{step}/{of}] {on}: {verb}{text}")
        };
        match event {
            Event::LeaseUnavailable { why } => {
                self.printer.note(&format!("no lease in the cluster, only the journal locks this plan: {why}"));
            }
            Event::LeaseAwaited { holder } => self.printer.note(&format!(
                "{holder} has the lease; waiting up to a minute for it to renew or expire"
            )),
            Event::LeaseLost { holder } => self.printer.note(&format!(
                "lease lost to {holder}: no further step is started"
            )),
            Event::Stopping => self.printer.note(
                "stopping: no further step is started, running steps are completed (again to abort them)",
            ),
            Event::GateShut { place, why, .. } => self.printer.note(&line(place, &format!(": {why}"))),
            // On a terminal the view below shows running steps.
            Event::StepBegun(place) if !self.printer.is_watched() => {
                self.printer.note(&line(place, " …"));
            }
            Event::StepDone { place, took } => {
                let left = self.left().map_or(String::new(), |left| format!(", {left}"));
                self.printer.note(&line(place, &format!(" done in {}{left}", short(*took))));
            }
            Event::StepFailed { place, code, message } => {
                self.printer.note(&line(place, &format!(" failed[{code}]: {message}")));
            }
            Event::Replanned { replaces, plan, differences } => self.printer.note(&format!(
                "plan {} is outdated, replaced by plan {}:\n  {}",
                replaces.short(),
                plan.short(),
                differences.join("\n  ")
            )),
            // Machines that are unreachable are told as skipped.
            Event::Observed { .. }
            | Event::Planned { .. }
            | Event::Approved { .. }
            | Event::LeaseAcquired { .. }
            | Event::StepBegun(_)
            | Event::StepWaits { .. }
            | Event::Ended { .. } => {}
        }
        self.view();
    }

    /// Shows the current step of every machine, on a terminal.
    fn view(&mut self) {
        let Some(progress) = &self.progress else { return };
        let now = self.clock.now();
        let doing: Vec<Activity<'_>> = progress.activities(now).collect();
        let width = doing.iter().map(|doing| doing.on.to_string().len()).max().unwrap_or(0);
        let mut lines: Vec<String> = doing
            .iter()
            .map(|Activity { on, action: _, verb, for_what, since }| {
                let waits =
                    if for_what.is_empty() { String::new() } else { format!(": {for_what}") };
                format!("  {on:<width$}  {verb}{waits} ({})", short(*since))
            })
            .collect();
        if lines.is_empty() {
            return;
        }
        let left = self.left().map_or(String::new(), |left| format!(", {left}"));
        lines.insert(0, format!("{} of {} steps done{left}", progress.done(), progress.steps()));
        self.printer.view(&lines);
    }

    /// Estimates the remaining time.
    fn left(&self) -> Option<String> {
        let left = self.progress.as_ref()?.left(self.clock.now());
        (!left.is_zero()).then(|| format!("about {} left", short(left)))
    }
}

/// A session of a read-only command: approves nothing and prints nothing.
pub(super) struct NonInteractive;

#[async_trait]
impl Approver for NonInteractive {
    async fn approve(&self, _plan: &Plan<Checked>) -> Result<Option<Approval>, PortError> {
        Ok(None)
    }
}

impl EventSink for NonInteractive {
    fn emit(&self, _event: &Event) {}
}

/// Describes for the audit log how a run ended. The words are stable: scripts search for them.
fn audited(outcome: &Result<Outcome, Error>) -> String {
    match outcome {
        Ok(Outcome::Ran(report)) if report.stopped => "interrupted".to_owned(),
        Ok(Outcome::Ran(report)) => match (report.failures.first(), report.skipped.len()) {
            (Some(failure), _) => format!("failed: {}", failure.error.code),
            (None, _) if !report.is_complete() => "incomplete".to_owned(),
            (None, 0) => "done".to_owned(),
            (None, skipped) => format!("done, {skipped} skipped"),
        },
        Ok(Outcome::Settled) => "done".to_owned(),
        Ok(Outcome::Blocked(_)) => "blocked".to_owned(),
        Ok(Outcome::NeedsApproval(_)) => "not approved".to_owned(),
        Ok(Outcome::Outdated(_)) => "outdated".to_owned(),
        // Ctrl-C at the question about a later plan.
        Err(Error::Interrupted) => "interrupted".to_owned(),
        Err(error) => format!("failed: {}", error.code()),
    }
}

/// `45 s`, `2 min 5 s`
pub(super) fn short(duration: Duration) -> String {
    match (duration.as_secs() / 60, duration.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// Returns whether a machine may install Talos in this step.
fn installs(step: &Step) -> bool {
    step.action.config().is_some_and(|given| given.mode == ApplyMode::Maintenance)
}

/// Asks for approval of a plan; of the end of a cluster by the cluster's name.
fn confirm(plan: &Plan<Checked>, skip: bool, printer: &mut Printer) -> Result<(), Error> {
    let Body { cluster, goal, steps, .. } = plan.body();
    let question = match goal {
        Goal::Spec => format!("carry out {}", count(steps.len(), "step")),
        Goal::Destroyed => {
            let machines: BTreeSet<_> = steps.iter().filter_map(|step| step.on.machine()).collect();
            let lose = if machines.len() == 1 { "loses its" } else { "lose their" };
            let machines = count(machines.len(), "machine");
            format!("destroy cluster {cluster}: {machines} {lose} configuration and data")
        }
    };
    match goal {
        Goal::Spec => printer.confirm(&question, skip),
        Goal::Destroyed => printer.confirm_by_name(&question, cluster.as_str(), skip),
    }
}

/// `1 step`, `3 steps`
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine::{Failure, Report};
    use plan::{
        ClusterSpec, Digest, ErrorKind, Fact, Inventory, PlanningInput, Refusal, Renderings,
        Skipped, StepNumber, Target, Timestamp, check,
    };
    use talos_config::SourceId;

    use super::*;

    #[test]
    fn audit_log_has_a_word_for_each_way_in_which_a_run_ends() {
        let left = || vec![StepNumber(2)];
        for (outcome, expected) in [
            (ran(|_| {}), "done"),
            (ran(|report| report.skipped = vec![skipped(), skipped()]), "done, 2 skipped"),
            (ran(|report| report.left = left()), "incomplete"),
            (
                ran(|report| {
                    report.left = left();
                    report.skipped = vec![skipped()];
                }),
                "incomplete",
            ),
            (
                ran(|report| {
                    report.failures = vec![failure("machine.refused"), failure("machine.denied")];
                    report.left = left();
                }),
                "failed: machine.refused",
            ),
            // The stop is why it ended, whatever else went wrong.
            (
                ran(|report| {
                    report.failures = vec![failure("engine.cancelled")];
                    report.stopped = true;
                }),
                "interrupted",
            ),
            (
                ran(|report| {
                    report.left = left();
                    report.stopped = true;
                }),
                "interrupted",
            ),
            (Ok(Outcome::Settled), "done"),
            (Ok(Outcome::Blocked(vec![skipped()])), "blocked"),
            (Ok(Outcome::NeedsApproval(Box::new(checked()))), "not approved"),
            (Ok(Outcome::Outdated(Refusal { findings: Vec::new() })), "outdated"),
            (Err(Error::Interrupted), "interrupted"),
            (Err(Error::Declined("plan".to_owned())), "failed: confirm.declined"),
        ] {
            assert_eq!(audited(&outcome), expected, "{outcome:?}");
        }
    }

    /// A plan of which everything was done, but for what is changed.
    #[expect(clippy::unnecessary_wraps, reason = "as a pass gives it")]
    fn ran(change: impl FnOnce(&mut Report)) -> Result<Outcome, Error> {
        let mut report = Report {
            plan: Digest::of("plan"),
            done: BTreeSet::from([StepNumber(1)]),
            failures: Vec::new(),
            left: Vec::new(),
            skipped: Vec::new(),
            stopped: false,
            needs_another_pass: false,
        };
        change(&mut report);
        Ok(Outcome::Ran(report))
    }

    fn failure(code: &'static str) -> Failure {
        Failure {
            step: StepNumber(2),
            on: Target::Cluster,
            error: PortError::new(code, ErrorKind::Retryable, "it failed"),
            leaves: "everything as it was".to_owned(),
            recovery: "ichor resume".to_owned(),
        }
    }

    fn skipped() -> Skipped {
        Skipped { on: Target::Cluster, rule: None, why: "unreachable".to_owned() }
    }

    /// The smallest plan that keeps every rule: the end of a cluster without machines that are left.
    fn checked() -> Plan<Checked> {
        let text = "ichor: v1\ncluster: home\ncontrolPlane:\n  machines:\n    - {name: cp-1, address: 127.92.0.1}\n";
        let spec = ClusterSpec::parse(text, SourceId::default()).expect("a spec");
        let not_known = "not asked";
        let inventory = Inventory {
            taken: Timestamp(0),
            machines: BTreeMap::new(),
            etcd: Fact::NotKnown { why: not_known.to_owned() },
            api: Fact::NotKnown { why: not_known.to_owned() },
            begun: BTreeMap::new(),
            bootstrapping: None,
            kubeconfig: Fact::NotKnown { why: not_known.to_owned() },
            orphans: Fact::NotKnown { why: "not asked".to_owned() },
        };
        let (desired, identity) = (Renderings::new(), Digest::of("home"));
        let draft = Plan::draft(Body {
            cluster: spec.cluster.clone(),
            identity,
            goal: Goal::Destroyed,
            made: Timestamp(0),
            parent: None,
            overrides: Vec::new(),
            steps: Vec::new(),
            skipped: Vec::new(),
        });
        let input = PlanningInput {
            spec: &spec,
            goal: Goal::Destroyed,
            desired: &desired,
            inventory: &inventory,
            identity,
            parent: None,
            overrides: &[],
        };
        check(draft, &input).expect("a plan that keeps every rule")
    }
}
