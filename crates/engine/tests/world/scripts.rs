//! Scripts ([`testkit::scripts`]): `tests/scenarios/*.txt` are read as documentation and run as tests. A command says the
//! calls that changed something, in their order, and the end.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use talos_config::Coded;

use ::engine::{Clock, Cluster, Error, Event, Outcome, Want};
use domain::{Digest, Span};
use plan::{Draft, Goal, Plan};
use testkit::scripts;

use crate::cluster::{overriding, parse, provided_text, text, text_of};
use crate::engine::{Directory, Engine, KillPhase, What, World, paused_runtime};
use crate::model::happening;

#[test]
fn every_script_says_what_it_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    scripts::compare(&folder, 10, |script| {
        let (runtime, mut stage) = (paused_runtime(), Stage::default());
        scripts::answer(script, |line, text| runtime.block_on(stage.command(line, text)))
    });
}

#[derive(Default)]
struct Stage {
    cluster: Option<Cluster>,
    world: Option<World>,
    directory: Option<Directory>,
    /// The call at which the next engine is killed.
    kill: Option<(String, KillPhase)>,
    overrides: Vec<String>,
    /// Every proposal, in the order in which they were made. The last one waits for its approval.
    proposals: Vec<Plan<Draft>>,
}

impl Stage {
    async fn command(&mut self, line: &str, more: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            // `cluster 3 control planes, and 1 worker`, with more keys of the spec as its text
            ["cluster", control_planes, "control", _, "and", workers, _] => {
                let (first, second) = (control_planes.parse(), workers.parse());
                let text = text(first.expect("a count"), second.expect("a count"), more);
                self.describe(parse(&text));
                String::new()
            }
            // `cluster of cp-2 and w-1`
            ["cluster", "of", names @ ..] => {
                let names =
                    names.iter().filter(|word| **word != "and").map(|name| (*name).to_owned());
                let (control_planes, workers): (Vec<String>, Vec<String>) =
                    names.partition(|name| name.starts_with("cp-"));
                self.describe(parse(&text_of(&control_planes, &workers, more)));
                String::new()
            }
            // The same of machines that a provider makes
            ["provided", "cluster", control_planes, "control", _, "and", workers, _] => {
                let (first, second) = (control_planes.parse(), workers.parse());
                let (first, second) = (first.expect("a count"), second.expect("a count"));
                self.describe(parse(&provided_text(first, second, more)));
                String::new()
            }
            ["created"] => {
                let cluster = self.cluster.as_ref().expect("a cluster");
                let (world, directory) = World::created(cluster).await;
                (self.world, self.directory) = (Some(world), Some(directory));
                String::new()
            }
            ["apply"] => self.engine("first", Goal::Spec).await,
            // A pass of a server: what it proposes is kept for the next one
            ["propose"] => self.pass(false).await,
            ["approve"] => self.pass(true).await,
            ["destroy"] => {
                self.world().with(|model| model.may_lose_quorum = true);
                self.engine("first", Goal::Destroyed).await
            }
            ["resume"] => {
                let unfinished = self.directory.as_ref().expect("a world").ledger().unfinished;
                let goal = unfinished.map_or(Goal::Spec, |plan| plan.goal);
                self.engine("first", goal).await
            }
            ["second", "engine"] => self.engine("second", Goal::Spec).await,
            ["override", rule] => {
                self.overrides.push((*rule).to_owned());
                String::new()
            }
            ["wait", span] => {
                let span: Span = span.parse().expect("a span");
                self.world().wait(span.duration()).await;
                String::new()
            }
            ["kill", phase, call @ ..] => {
                let phase = match *phase {
                    "before" => KillPhase::Before,
                    "after" => KillPhase::After,
                    other => panic!("no phase {other:?}"),
                };
                self.kill = Some((call.join(" "), phase));
                String::new()
            }
            ["heal", label @ ..] => {
                self.world().heal(&label.join(" "));
                String::new()
            }
            // `at reboot cp-2: lose answer`, `at second approve: cancel`
            ["at", ..] => {
                let (label, what) = line["at ".len()..].split_once(": ").expect("a call: a fault");
                let second = label.strip_prefix("second ");
                let (label, skip) = second.map_or((label, 0), |label| (label, 1));
                self.world().fault(label, skip, 1, fault(what));
                String::new()
            }
            ["always", ..] => {
                let (label, what) = line["always ".len()..].split_once(": ").expect("a fault");
                self.world().always(label, fault(what));
                String::new()
            }
            ["machine", name, state @ ..] => {
                let happens = happening(name, &state.join(" "));
                self.world().with(|model| happens(model));
                String::new()
            }
            // By an upgrade, or because it failed.
            ["machines", "run", release] => self.machines_run(release),
            ["provider"] => self.world().with(|model| {
                let instances = model.instances.iter().map(|(id, (key, _))| {
                    format!("{id} is {}, generation {}", key.machine, key.generation)
                });
                instances.collect::<Vec<_>>().join("\n")
            }),
            ["journal"] => {
                let ledger = self.directory.as_ref().expect("a world").ledger();
                let recorded: Vec<String> =
                    ledger.recorded.keys().map(ToString::to_string).collect();
                let unfinished = ledger.unfinished.map(|plan| plan.goal);
                format!("recorded: {}\nunfinished: {unfinished:?}", recorded.join(" "))
            }
            other => panic!("no command {other:?}"),
        }
    }

    fn describe(&mut self, cluster: Cluster) {
        match &self.world {
            Some(world) => world.with(|model| model.add(&cluster)),
            None => {
                self.world = Some(World::new(&cluster));
                self.directory = Some(Directory::new("first"));
            }
        }
        self.cluster = Some(cluster);
    }

    fn machines_run(&mut self, release: &str) -> String {
        let world = self.world.as_mut().expect("a cluster first");
        world.talos = release.parse().expect("a release");
        String::new()
    }

    fn world(&self) -> &World {
        self.world.as_ref().expect("a cluster first")
    }

    async fn engine(&mut self, id: &'static str, goal: Goal) -> String {
        let cluster = self.cluster.as_ref().expect("a cluster first");
        let world = self.world.as_ref().expect("a cluster first");
        let own = self.directory.as_ref().expect("a cluster first");
        let directory = if id == "first" { own.clone() } else { Directory::new(id) };
        world.calls().clear();
        let engine = match self.kill.take() {
            None => Engine::new(world, &directory),
            Some((label, phase)) => Engine::killed_at_label(world, &directory, &label, phase),
        };
        let rules = self.overrides.iter().map(|rule| overriding(rule));
        let ending = (goal == Goal::Destroyed).then(|| overriding("quorum.destroy"));
        let want = Want::Goal(goal, rules.chain(ending).collect());
        let outcome = engine.run(cluster, want).await;
        self.tell(&engine, outcome.as_ref())
    }

    /// One pass, with the proposal of the pass before it.
    async fn pass(&mut self, approves: bool) -> String {
        let cluster = self.cluster.as_ref().expect("a cluster first");
        let world = self.world.as_ref().expect("a cluster first");
        let directory = self.directory.as_ref().expect("a cluster first");
        world.calls().clear();
        let engine = if approves {
            Engine::new(world, directory)
        } else {
            Engine::without_approval(world, directory)
        };
        let pending = self.proposals.last().cloned().map(|plan| Want::Pending(Box::new(plan)));
        let want = pending.unwrap_or_else(|| Want::Goal(Goal::Spec, Vec::new()));
        let outcome = ::engine::run(cluster, want, &engine.ports()).await;
        if let Ok(Outcome::NeedsApproval(plan)) = &outcome
            && self.number(plan.hash()).is_none()
        {
            self.proposals.push((**plan).clone().into_draft());
        }
        self.tell(&engine, Some(&outcome))
    }

    /// The number of a proposal.
    fn number(&self, plan: Digest) -> Option<usize> {
        self.proposals.iter().position(|known| known.hash() == plan).map(|index| index + 1)
    }

    fn tell(&self, engine: &Engine, outcome: Option<&Result<Outcome, Error>>) -> String {
        let world = &engine.world;
        let mut text = world.calls().iter().fold(String::new(), |text, call| text + call + "\n");
        for event in engine.events() {
            let line = match event {
                Event::LeaseLost { holder } => format!("lease lost to {holder}"),
                Event::LeaseUnavailable { why } => format!("no lease: {why}"),
                Event::Stopping => "stopping".to_owned(),
                Event::Replanned { replaces, differences, .. } => {
                    let number = self.number(replaces).expect("a proposal");
                    format!("plan {number} is outdated: {}", differences.join(", "))
                }
                Event::Approved { plan, .. } => match self.number(plan) {
                    Some(number) => format!("plan {number} is approved"),
                    None => continue,
                },
                Event::GateShut { why, .. } => why,
                _ => continue,
            };
            // A gate says so again and again.
            if !text.ends_with(&format!("{line}\n")) {
                text += &(line + "\n");
            }
        }
        for violation in world.with(|model| std::mem::take(&mut model.violations)) {
            let _ = writeln!(text, "VIOLATION: {violation}");
        }
        if let Some(Ok(Outcome::NeedsApproval(plan))) = outcome {
            let number = self.number(plan.hash()).expect("a proposal");
            return format!("{text}plan {number} needs approval: {} steps", plan.steps().len());
        }
        text + &ended(outcome)
    }
}

fn ended(outcome: Option<&Result<Outcome, Error>>) -> String {
    let mut lines = Vec::new();
    let skip = |skipped: &plan::Skipped| format!("skipped: {skipped}");
    match outcome {
        None => lines.push("killed".to_owned()),
        Some(Ok(Outcome::Settled)) => lines.push("nothing to do".to_owned()),
        Some(Ok(Outcome::Blocked(skipped))) => {
            lines.extend(skipped.iter().map(skip));
            lines.push("blocked".to_owned());
        }
        Some(Ok(Outcome::NeedsApproval(_))) => lines.push("needs approval".to_owned()),
        Some(Ok(Outcome::Outdated(refusal))) => {
            lines.push(format!("outdated: {}", refusal.code()));
        }
        Some(Ok(Outcome::Ran(report))) => {
            lines.extend(report.failures.iter().map(|failure| {
                let (step, on, error) = (failure.step, &failure.on, &failure.error);
                format!("failed: step {step} on {on}: {}: {error}", error.code)
            }));
            lines.extend(report.skipped.iter().map(skip));
            let end = if report.is_complete() { "complete" } else { "incomplete" };
            let (done, left) = (report.done.len(), report.left.len());
            lines.push(format!("{end}: {done} steps done, {left} not started"));
        }
        Some(Err(Error::Refused(refusal))) => lines.extend(
            refusal
                .findings
                .iter()
                .map(|finding| format!("refused: {}: {}", finding.rule, finding.message)),
        ),
        Some(Err(error)) => lines.push(format!("{}: {error}", error.code())),
    }
    lines.join("\n")
}

fn fault(text: &str) -> What {
    match text.split(' ').collect::<Vec<_>>().as_slice() {
        ["unreachable"] => What::Unreachable,
        ["refuse", "for", "now"] => What::RefuseNow,
        ["refuse"] => What::Refuse,
        ["lose", "answer"] => What::LoseAnswer,
        ["already", "done"] => What::AlreadyDone,
        ["delay", span] => What::Delay(span.parse::<Span>().expect("a span").duration()),
        ["cancel"] => What::Meanwhile(Arc::new(|engine, _| engine.directory.cancel(engine.now()))),
        ["stop"] => What::Meanwhile(Arc::new(|engine, _| {
            engine.stop.send_replace(true);
        })),
        // The time of day jumps, as after a suspend.
        ["clock", "jumps", span] => {
            let jump = span.parse::<Span>().expect("a span").duration().as_secs();
            let jump = i64::try_from(jump).expect("seconds");
            What::Meanwhile(Arc::new(move |engine, _| {
                engine.wall_ahead.fetch_add(jump, Relaxed);
            }))
        }
        ["no", "credentials"] => What::NoCredentials,
        ["both", "clocks", "jump", span] => {
            let jump = span.parse::<Span>().expect("a span").duration().as_secs();
            What::Meanwhile(Arc::new(move |engine, _| {
                engine.wall_ahead.fetch_add(i64::try_from(jump).expect("seconds"), Relaxed);
                engine.monotonic_ahead.fetch_add(jump, Relaxed);
            }))
        }
        ["machine", name, state @ ..] => What::meanwhile(happening(name, &state.join(" "))),
        other => panic!("no fault {other:?}"),
    }
}
