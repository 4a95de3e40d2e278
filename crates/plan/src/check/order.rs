//! Rules about what may happen at the same time, and what must come first.

use std::collections::{BTreeMap, BTreeSet};

use domain::{FailureDomain, MachineName, Target};

use super::etcd::votes;
use super::{Check, Findings};
use crate::action::{Awaited, ChangeKind, EtcdEffect};
use crate::plan::Goal;
use crate::rule::Rule;
use crate::step::Step;

impl Check<'_> {
    pub(super) fn order(&self, findings: &mut Findings) {
        self.awaits(findings);
        self.control_planes(findings);
        self.leader(findings);
        self.workers(findings);
        self.batches(findings);
    }

    /// Kinds of change that exclude each other are not in one plan, and only the end of a cluster ends machines.
    pub(super) fn kinds(&self, goal: Goal, findings: &mut Findings) {
        let mut first: BTreeMap<ChangeKind, &Step> = BTreeMap::new();
        for step in self.graph.steps {
            let Some(kind) = step.action.nature().change else { continue };
            first.entry(kind).or_insert(step);
        }
        for (kind, other) in ChangeKind::EXCLUSIVE {
            if let (Some(step), Some(other)) = (first.get(kind), first.get(other)) {
                let (verb, other) = (step.action.verb(), other.action.verb());
                let message = format!("{verb} and {other} exclude each other in one plan");
                findings.about_step(Rule::OrderKinds, step, message, "make a new plan");
            }
        }
        for step in self.graph.steps {
            let ends = step.action.nature().change == Some(ChangeKind::Destroy);
            if ends != (goal == Goal::Destroyed) {
                let message = if ends {
                    format!("{} would lose its configuration and data", step.on)
                } else {
                    format!("{} does not end a cluster", step.action.verb())
                };
                let hint = "only a plan that ends the cluster resets or destroys machines: make a new plan";
                findings.about_step(Rule::DestroyGoal, step, message, hint);
            }
        }
    }

    /// Whatever is done to a machine, a later step waits until it serves again.
    fn awaits(&self, findings: &mut Findings) {
        for step in self.graph.steps {
            let lacks = |awaited: &&Awaited| {
                let mut on = self.graph.on(&step.on).iter();
                !on.any(|other| {
                    other.action.nature().awaits == Some(**awaited)
                        && self.graph.precedes(step, other)
                })
            };
            let missing = match self.awaited(step).find(lacks) {
                None => continue,
                Some(Awaited::Machine) => "to answer again",
                Some(Awaited::Node) => "to serve in Kubernetes again",
                Some(Awaited::Voter) => "to vote in etcd again",
            };
            let message = format!("nothing waits for {} {missing}", step.on);
            findings.about_step(Rule::OrderAwait, step, message, "make a new plan");
        }
    }

    /// What has to be waited for after a step; only control planes vote.
    fn awaited(&self, step: &Step) -> impl Iterator<Item = &'static Awaited> {
        let votes = self.is_control_plane(step);
        let awaited = step.action.nature().leaves_awaited.iter();
        awaited.filter(move |awaited| votes || **awaited != Awaited::Voter)
    }

    /// Steps on control planes happen one after the other, each machine being waited for.
    fn control_planes(&self, findings: &mut Findings) {
        let bootstrap = self.bootstraps().next();
        let chain = self.chain(findings);
        // Before there is a cluster, nothing is served that could be interrupted.
        let serves =
            |step: &Step| bootstrap.is_none_or(|bootstrap| !self.graph.precedes(step, bootstrap));
        let disturbing: Vec<&Step> = chain
            .into_iter()
            .filter(|step| step.action.nature().disturbs && serves(step))
            .collect();
        for (index, second) in disturbing.iter().enumerate() {
            for first in disturbing[..index].iter().filter(|first| first.on != second.on) {
                let waited = |awaited: &Awaited| {
                    self.graph.on(&first.on).iter().any(|other| {
                        other.action.nature().awaits == Some(*awaited)
                            && self.graph.precedes(first, other)
                            && self.graph.precedes(other, second)
                    })
                };
                if !self.awaited(first).all(waited) {
                    let message = format!("{} is not waited for before that", first.on);
                    let hint = "control planes are changed one at a time: make a new plan";
                    findings.about_step(Rule::OrderControlPlanes, second, message, hint);
                    break;
                }
            }
        }
    }

    /// The steps that touch etcd, which happen one after the other.
    pub(super) fn chain(&self, findings: &mut Findings) -> Vec<&Step> {
        let chain: Vec<&Step> = self.etcd_steps().collect();
        for pair in chain.windows(2) {
            if !self.graph.precedes(pair[0], pair[1]) {
                let message =
                    format!("{} may be changed at the same time as {}", pair[1].on, pair[0].on);
                let hint = "control planes are changed one at a time: make a new plan";
                findings.about_step(Rule::OrderControlPlanes, pair[1], message, hint);
            }
        }
        chain
    }

    /// The steps that begin etcd.
    pub(super) fn bootstraps(&self) -> impl Iterator<Item = &Step> {
        let begins = |step: &&Step| step.action.nature().etcd == EtcdEffect::Begin;
        self.graph.steps.iter().filter(begins)
    }

    /// The steps that may change what etcd is or does. Where a plan begins etcd, machines join side by side.
    pub(super) fn etcd_steps(&self) -> impl Iterator<Item = &Step> {
        let begins = self.bootstraps().next().is_some();
        self.graph.steps.iter().filter(move |step| {
            self.is_control_plane(step)
                && match step.action.nature().etcd {
                    EtcdEffect::None => false,
                    EtcdEffect::Join => !begins,
                    _ => true,
                }
        })
    }

    /// The leader of etcd is the last healthy control plane to be disturbed, and hands over before it reboots.
    fn leader(&self, findings: &mut Findings) {
        let inventory = self.input.inventory;
        let Some(etcd) = inventory.etcd.current(inventory.taken) else { return };
        let leader = etcd.leader.and_then(|id| etcd.members.get(&id)?.machine.as_ref());
        let Some(leader) = leader.map(Target::from) else { return };
        let healthy = etcd.members.values().filter(|member| member.voter && votes(member)).count();
        // Those that join before a step, or vote again, can lead as well.
        let several = |step: &Step| {
            let restored = self.etcd_steps().filter(|other| {
                other.action.nature().etcd == EtcdEffect::Restore
                    && other.on != leader
                    && !self.has_healthy_voter(other)
                    && self.graph.precedes(other, step)
            });
            let restored: BTreeSet<&Target> = restored.map(|other| &other.on).collect();
            healthy + restored.len() > 1
        };
        let leads = self.graph.on(&leader).iter().filter(|step| step.action.nature().disturbs);
        for step in leads {
            let later = self.graph.steps.iter().find(|other| {
                other.action.nature().disturbs
                    && other.on != leader
                    && self.has_healthy_voter(other)
                    && !self.graph.precedes(other, step)
            });
            // One that is out of service comes before all others, since its change may be its cure.
            if let Some(later) = later.filter(|_| !self.is_out(step)) {
                let message = format!("{leader} leads etcd and comes before {}", later.on);
                let hint = "make a new plan, or use --override order.leader";
                findings.about_step(Rule::OrderLeader, step, message, hint);
            }
            let handed_over = self.graph.on(&leader).iter().any(|other| {
                other.action.nature().etcd == EtcdEffect::MoveLeader
                    && self.graph.precedes(other, step)
            });
            if step.action.nature().reboots && !handed_over && several(step) {
                let message = format!("{leader} leads etcd and would reboot without handing over");
                let hint = "make a new plan, or use --override order.leader";
                findings.about_step(Rule::OrderLeader, step, message, hint);
            }
        }
    }

    /// Whether a step is on a control plane that etcd counts on; where the members are not known, on any.
    fn has_healthy_voter(&self, step: &Step) -> bool {
        let inventory = self.input.inventory;
        let Some(etcd) = inventory.etcd.current(inventory.taken) else {
            return self.is_control_plane(step);
        };
        self.is_control_plane(step)
            && etcd.members.values().any(|member| {
                member.machine.as_ref() == step.on.machine() && member.voter && votes(member)
            })
    }

    /// Workers are disturbed after the control planes that etcd counts on; one that is stuck holds up no worker.
    fn workers(&self, findings: &mut Findings) {
        let disturbing = || self.graph.steps.iter().filter(|step| step.action.nature().disturbs);
        let control_planes: Vec<&Step> =
            disturbing().filter(|step| self.has_healthy_voter(step)).collect();
        for step in disturbing().filter(|step| !self.is_control_plane(step)) {
            let early = control_planes.iter().find(|other| !self.graph.precedes(other, step));
            if let Some(other) = early {
                let message = format!("{} is disturbed before control plane {}", step.on, other.on);
                let hint = "make a new plan, or use --override order.workers";
                findings.about_step(Rule::OrderWorkers, step, message, hint);
            }
        }
    }

    /// Workers that may be disturbed at the same time are few, and fail together anyway.
    fn batches(&self, findings: &mut Findings) {
        let spec = self.input.spec;
        let domains: Domains<'_> =
            spec.machines().map(|(machine, _)| (&machine.name, machine.domain.as_ref())).collect();
        let times = self.times(&domains);
        let most = usize::try_from(spec.policy.workers_at_once).unwrap_or(usize::MAX);
        for one in &times {
            let apart = |other: &Time<'_>| {
                self.graph.precedes(one.ends, other.begins)
                    || self.graph.precedes(other.ends, one.begins)
            };
            let together: Vec<&Time<'_>> = times.iter().filter(|other| !apart(other)).collect();
            let machine = &one.begins.on;
            if together.len() > most {
                let message = format!(
                    "{machine} may be disturbed together with {} others, and {most} at once are allowed",
                    together.len() - 1
                );
                let hint = "raise policy.workersAtOnce, or use --override batch.size";
                findings.about_step(Rule::BatchSize, one.begins, message, hint);
            }
            if let Some(other) = together.iter().find(|other| other.domain != one.domain) {
                let message = format!(
                    "{machine} and {} of another failure domain may be disturbed together",
                    other.begins.on
                );
                let hint = "make a new plan, or use --override batch.domain";
                findings.about_step(Rule::BatchDomain, one.begins, message, hint);
            }
            self.beside(one, &together, &domains, findings);
        }
    }

    fn times<'s>(&'s self, domains: &Domains<'s>) -> Vec<Time<'s>> {
        let mut times = Vec::new();
        for (target, steps) in self.graph.targets() {
            let begins = steps.iter().find(|step| step.action.nature().disturbs);
            let ends =
                steps.iter().rfind(|step| step.action.nature().awaits == Some(Awaited::Node));
            if let (Some(begins), Some(ends)) = (begins, ends)
                && !self.is_control_plane(begins)
            {
                let domain = target.machine().and_then(|name| domains.get(name).copied().flatten());
                times.push(Time { begins, ends, domain: domain.map(FailureDomain::as_str) });
            }
        }
        times
    }
}

/// The failure domain of each machine.
pub(super) type Domains<'a> = BTreeMap<&'a MachineName, Option<&'a FailureDomain>>;

/// From the first step that disturbs a worker to the last one that waits for it.
pub(super) struct Time<'a> {
    pub(super) begins: &'a Step,
    ends: &'a Step,
    pub(super) domain: Option<&'a str>,
}
