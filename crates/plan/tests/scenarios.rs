//! Planner scripts ([`testkit::scripts`]): `tests/scenarios/*.txt` are read as documentation and run as tests.

mod world;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use plan::{
    Action, ApplyMode, Body, BootId, DigestKey, Disk, Draft, Goal, Instance, MachineName, Member,
    MemberId, NodeIdentity, NodeState, Orphan, Override, Ownership, PatchSource, Plan, Planned,
    ProviderId, QuorumProof, Renderer, ResetMachine, Source, Span, SpecError, StepNumber, Target,
    Timestamp, check, compare,
};
use talos_config::{Coded, Diagnostic, Location, Mode, Secret};
use testkit::scripts;
use world::{NOW, SECRETS, World, known, not_known};

#[test]
fn every_script_says_what_it_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    scripts::compare(&folder, 20, |script| {
        let mut stage = Stage::default();
        scripts::answer(script, |line, text| stage.command(line, text))
    });
}

#[derive(Default)]
struct Stage {
    world: Option<World>,
    patches: BTreeMap<String, Secret<String>>,
    plan: Option<Plan<Draft>>,
    kept: Option<Plan<Draft>>,
}

impl Stage {
    fn command(&mut self, line: &str, text: &str) -> String {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "cluster" | "file" => {
                self.world = None;
                self.describe(line, text)
            }
            "now" => self.describe(rest, text),
            "patch-file" => {
                self.patches.insert(rest.to_owned(), Secret::new(text.to_owned()));
                String::new()
            }
            "patch" => self.patch(rest, text),
            "seen" => self.seen(rest),
            "upgraded" => {
                let talos = self.world().spec.talos.clone();
                let name = rest.parse().expect("a name");
                self.world().facts(&name).talos = known(talos, Source::TalosApi);
                String::new()
            }
            "etcd" => self.etcd(rest),
            "provider" => self.provider(rest),
            "later" => self.later(rest),
            "the" => self.cluster_says(rest),
            "no" => {
                assert_eq!(rest, "overrides");
                self.world().overrides.clear();
                String::new()
            }
            "override" => {
                let (rule, reason) = rest.split_once(": ").expect("a rule and a reason");
                let (rule, machine) = match rule.split_once('=') {
                    Some((rule, machine)) => (rule, Some(machine.parse().expect("a name"))),
                    None => (rule, None),
                };
                let (rule, reason) = (rule.to_owned(), reason.to_owned());
                self.world().overrides.push(Override { rule, machine, reason });
                String::new()
            }
            "plan" => {
                self.world().goal = match rest {
                    "the end" => Goal::Destroyed,
                    _ => Goal::Spec,
                };
                self.plan()
            }
            "check" => self.check(),
            "show" => {
                let number = StepNumber(rest.parse().expect("a number"));
                self.plan.as_ref().and_then(|plan| plan.step(number)).expect("a step").detail()
            }
            "edit" => self.edit(rest),
            "keep" => {
                self.kept = self.plan.clone();
                String::new()
            }
            "compare" => {
                let (old, new) =
                    (self.kept.as_ref().expect("a plan"), self.plan.as_ref().expect("a plan"));
                lines(compare(old, new).iter())
            }
            "explain" => self.explain(rest),
            "layers" => {
                let name = rest.parse().expect("a name");
                let layers = self.world().layers();
                lines(
                    layers
                        .of(&name)
                        .map(|layer| format!("{:<16} {}", layer.scope.to_string(), layer.name)),
                )
            }
            other => panic!("no command {other:?}"),
        }
    }

    fn world(&mut self) -> &mut World {
        self.world.as_mut().expect("a cluster first")
    }

    /// A cluster by its file, or `cluster 3 control planes, 2 workers, talos: v1.13.9`.
    fn describe(&mut self, line: &str, text: &str) -> String {
        let Some(rest) = line.strip_prefix("cluster ") else { return self.spec(text) };
        let mut counts = [0, 0];
        let mut more = String::new();
        for part in rest.split(", ") {
            match part.split_once(' ') {
                Some((count, "control planes" | "control plane")) => {
                    counts[0] = count.parse().expect("a count");
                }
                Some((count, "workers" | "worker")) => counts[1] = count.parse().expect("a count"),
                _ => {
                    let _ = writeln!(more, "{part}");
                }
            }
        }
        self.spec(&World::text(counts[0], counts[1], &more));
        String::new()
    }

    fn spec(&mut self, text: &str) -> String {
        match World::new(text) {
            Ok(mut world) => {
                world.patches = std::mem::take(&mut self.patches);
                // The same machines, described anew.
                if let Some(old) = self.world.take() {
                    world.patches.extend(old.patches);
                    world.live = old.live;
                    world.staged = old.staged;
                    let machines = old.inventory.machines.clone();
                    let added = std::mem::replace(&mut world.inventory, old.inventory).machines;
                    world.inventory.machines = added;
                    world.inventory.machines.extend(machines);
                    let spec = &world.spec;
                    world.inventory.machines.retain(|name, _| spec.machine(name).is_some());
                }
                let spec = &world.spec;
                let workers: usize = spec.pools.iter().map(|pool| pool.machines.len()).sum();
                let text = format!(
                    "control planes: {}, workers: {workers}, Talos {}, Kubernetes {}, {}",
                    spec.control_plane.machines.len(),
                    spec.talos,
                    spec.kubernetes,
                    spec.endpoint
                );
                self.world = Some(world);
                text
            }
            Err(error) => refused(&error),
        }
    }

    fn patch(&mut self, rest: &str, text: &str) -> String {
        let patch = PatchSource {
            patch: text.parse().expect("a patch"),
            origin: Location { line: 1, ..Location::default() },
        };
        let spec = &mut self.world().spec;
        let patches = match rest.split_once(' ') {
            None if rest == "all" => &mut spec.patches,
            None if rest == "control-plane" => &mut spec.control_plane.patches,
            Some(("pool", name)) => {
                let pool = spec.pools.iter_mut().find(|pool| pool.name.as_str() == name);
                &mut pool.expect("a pool").patches
            }
            Some(("machine", name)) => {
                let pools = spec.pools.iter_mut().flat_map(|pool| &mut pool.machines);
                let mut machines = spec.control_plane.machines.iter_mut().chain(pools);
                let machine = machines.find(|machine| machine.name.as_str() == name);
                &mut machine.expect("a machine").patches
            }
            _ => panic!("no such level {rest:?}"),
        };
        patches.push(patch);
        String::new()
    }

    /// `all in maintenance`, `cp-1 cp-2 running`, `w-1 not reachable`
    fn seen(&mut self, rest: &str) -> String {
        let words: Vec<&str> = rest.split(' ').collect();
        let world = self.world();
        let known_names = world.names();
        let count = words
            .iter()
            .take_while(|word| known_names.iter().any(|name| name.as_str() == **word))
            .count();
        let (names, state) = match (words[0], count) {
            ("all", _) => (known_names, &words[1..]),
            ("workers", _) => {
                let workers =
                    known_names.into_iter().filter(|name| !world.spec.is_control_plane(name));
                (workers.collect::<Vec<_>>(), &words[1..])
            }
            (_, 0) => panic!("no machine in {rest:?}"),
            (_, count) => {
                let named = words[..count].iter().map(|name| name.parse().expect("a name"));
                (named.collect(), &words[count..])
            }
        };
        let state = state.join(" ");
        for name in &names {
            match state.as_str() {
                "in maintenance" => world.maintenance(name),
                "reset by hand" => world.reset(name),
                "coming" => world.coming(name),
                "running" => {
                    if let Err(error) = world.running(std::slice::from_ref(name)) {
                        return format!("{error}");
                    }
                    if world.spec.is_control_plane(name) && world.etcd().on(name).is_none() {
                        world.voter(name);
                    }
                    world.inventory.kubeconfig = known(true, Source::Directory);
                }
                "configured, without etcd" => {
                    world.running(std::slice::from_ref(name)).expect("a configuration");
                    world.facts(name).kubernetes = known(NodeState::Absent, Source::Kubernetes);
                }
                "without its disk" => {
                    let disk = Disk {
                        device: "/dev/nvme0n1".to_owned(),
                        size: 500_107_862_016,
                        transport: "nvme".to_owned(),
                        ..Disk::default()
                    };
                    world.facts(name).disks = known(vec![disk], Source::Maintenance);
                }
                "not provided" => world.provided(name, None),
                "provided" => world.provided(name, Some(instance(name))),
                "not reachable" => world.facts(name).ownership = not_known("connection refused"),
                "of another cluster" => {
                    world.facts(name).ownership = known(Ownership::Foreign, Source::TalosApi);
                }
                "installed anew" => {
                    let node = NodeIdentity(format!("new-node-of-{name}"));
                    world.facts(name).node = known(node, Source::TalosApi);
                }
                state if let Some(other) = state.strip_prefix("at the address of ") => {
                    let other = other.parse().expect("a name");
                    let node = world.facts(&other).node.clone();
                    world.facts(name).node = node;
                }
                "rebooted" => {
                    let boot = BootId(format!("next-boot-of-{name}"));
                    world.facts(name).boot = known(boot, Source::TalosApi);
                }
                "ready" => {
                    world.facts(name).kubernetes = known(NodeState::Ready, Source::Kubernetes);
                }
                "away" => {
                    let facts = world.facts(name);
                    facts.ownership = known(Ownership::Away, Source::Directory);
                    facts.disturbed = Some(facts_moment());
                }
                "disturbed by us" => world.facts(name).disturbed = Some(facts_moment()),
                "with a scheduler that fails" => {
                    let unwell = vec!["kube-scheduler: CrashLoopBackOff".to_owned()];
                    world.facts(name).unwell = known(unwell, Source::TalosApi);
                }
                // With what the spec says now.
                "with another configuration staged" => {
                    let layers = world.layers();
                    let mut renderer =
                        Renderer::new(&world.spec, &layers, &SECRETS, &world.key, Mode::Metal);
                    let staged = renderer.config(name).expect("a configuration");
                    let digest = world.key.config(&staged);
                    world.facts(name).staged = known(Some(digest), Source::TalosApi);
                    world.staged.insert(name.clone(), staged);
                }
                "never recorded" => world.facts(name).recorded = None,
                "not ready" => {
                    world.facts(name).kubernetes = known(NodeState::NotReady, Source::Kubernetes);
                }
                "not registered" => {
                    world.facts(name).kubernetes = known(NodeState::Absent, Source::Kubernetes);
                }
                other => panic!("no state {other:?}"),
            }
        }
        String::new()
    }

    /// `also made server-9 for cp-1`
    fn provider(&mut self, rest: &str) -> String {
        let ["also", "made", id, "for", name] = rest.split(' ').collect::<Vec<_>>()[..] else {
            panic!("no event {rest:?}")
        };
        let instance = Instance { id: ProviderId(id.to_owned()), generation: 1 };
        let name = name.parse().expect("a name");
        let world = self.world();
        let orphans = world.inventory.orphans.current(NOW).cloned().unwrap_or_default();
        let orphans = orphans.into_iter().chain([Orphan { name, instance }]).collect();
        world.inventory.orphans = known(orphans, Source::Provider);
        String::new()
    }

    /// `led by cp-2`, `member of cp-3 stopped`, `old member of cp-2`, `cp-3 apart`, `without members`, `not known`
    fn etcd(&mut self, rest: &str) -> String {
        let world = self.world();
        let mut etcd = world.etcd();
        let id = |etcd: &plan::Etcd, name: &str| {
            let name = name.parse().expect("a name");
            etcd.on(&name).expect("a member").0
        };
        match rest.split(' ').collect::<Vec<_>>().as_slice() {
            ["led", "by", name] => etcd.leader = Some(id(&etcd, name)),
            ["member", "of", name, state @ ..] => {
                let member = id(&etcd, name);
                let member = etcd.members.get_mut(&member).expect("a member");
                match state {
                    ["stopped"] => (member.started, member.lag) = (false, None),
                    ["lags"] => member.lag = Some(1_000_000),
                    ["learns"] => member.voter = false,
                    other => panic!("no state {other:?}"),
                }
            }
            ["old", "member", "of", name] => {
                let machine = Some(name.parse().expect("a name"));
                let old = Member { machine, voter: true, started: false, lag: None };
                etcd.members.insert(MemberId(0xd0), old);
            }
            [name, "apart"] => {
                let member = id(&etcd, name);
                etcd.members.remove(&member);
                etcd.apart.push(name.parse().expect("a name"));
            }
            ["without", "members"] => etcd = plan::Etcd::default(),
            ["not", "known"] => {
                world.inventory.etcd = not_known("no answer within 5 s");
                return String::new();
            }
            other => panic!("no state {other:?}"),
        }
        world.inventory.etcd = known(etcd, Source::TalosApi);
        String::new()
    }

    /// `the API answers`, `the API is silent`, `the journal has member e1 of cp-1`
    fn cluster_says(&mut self, rest: &str) -> String {
        let inventory = &mut self.world().inventory;
        match rest.split(' ').collect::<Vec<_>>().as_slice() {
            ["API", "answers"] => inventory.api = known(true, Source::Kubernetes),
            ["API", "is", "silent"] => inventory.api = not_known("no answer within 5 s"),
            ["journal", "has", "member", id, "of", name] => {
                let (id, name) = (id.parse().expect("a member"), name.parse().expect("a name"));
                inventory.begun.insert(id, name);
            }
            other => panic!("nothing says {other:?}"),
        }
        String::new()
    }

    fn later(&mut self, rest: &str) -> String {
        let span: Span = rest.parse().expect("a span");
        let Timestamp(now) = self.world().inventory.taken;
        let seconds = i64::try_from(span.duration().as_secs()).expect("seconds");
        self.world().inventory.taken = Timestamp(now + seconds);
        String::new()
    }

    fn plan(&mut self) -> String {
        let world = self.world();
        let desired = match world.renderings() {
            Ok(desired) => desired,
            Err(error) => return with_sources(&error, error.code()),
        };
        match world.plan(&desired) {
            Err(refusal) => format!("refused\n{}", refusal.text()),
            Ok(Planned::Nothing) => "nothing to do".to_owned(),
            Ok(Planned::Blocked(skipped)) => format!("blocked\n{}", lines(skipped.iter())),
            Ok(Planned::Change(plan)) => {
                let text = plan.table();
                self.plan = Some(plan);
                format!("{text}{}", self.check())
            }
        }
    }

    fn check(&mut self) -> String {
        let plan = self.plan.clone().expect("a plan");
        let world = self.world();
        let desired = world.renderings().expect("renderings");
        match check(plan, &world.input(&desired)) {
            Ok(plan) if plan.overridden().is_empty() => "checked".to_owned(),
            Ok(plan) => {
                let rules: Vec<&str> = plan.overridden().iter().map(|rule| rule.name()).collect();
                format!("checked, overriding {}", rules.join(", "))
            }
            Err(refusal) => format!("refused\n{}", refusal.text()),
        }
    }

    /// Changes the plan as a person with an editor would, and seals it again; `in the file` does not.
    fn edit(&mut self, rest: &str) -> String {
        let plan = self.plan.clone().expect("a plan");
        if let Some(rest) = rest.strip_prefix("in the file: ") {
            let (from, to) = rest.split_once(" -> ").expect("from and to");
            let text = plan.encode();
            assert!(text.contains(from), "{text}");
            return match Plan::decode(&text.replacen(from, to, 1)) {
                Ok(_) => "loaded".to_owned(),
                Err(error) => {
                    format!(
                        "{}\nhint: {}",
                        with_sources(&error, error.code()),
                        error.hint().unwrap_or_default()
                    )
                }
            };
        }
        let mut body: Body = plan.body().clone();
        let step = |number: &str| number.parse::<usize>().expect("a number") - 1;
        match rest.split(' ').collect::<Vec<_>>().as_slice() {
            ["step", number, "is", "for", machine] => {
                let name: MachineName = machine.parse().expect("a name");
                body.steps[step(number)].on = Target::from(&name);
            }
            ["step", number, "waits", "for", "nothing"] => body.steps[step(number)].after.clear(),
            ["step", number, "waits", "for", other] => {
                body.steps[step(number)].after = vec![StepNumber(other.parse().expect("a number"))];
            }
            ["step", number, "claims", healthy, "of", voters] => {
                body.steps[step(number)].proof = Some(QuorumProof {
                    voters: voters.parse().expect("a count"),
                    healthy: healthy.parse().expect("a count"),
                });
            }
            ["step", number, "does", "not", "reboot"] => {
                let Action::ApplyConfig(given) = &mut body.steps[step(number)].action else {
                    panic!("no configuration");
                };
                given.mode = ApplyMode::NoReboot;
            }
            ["step", number, "resets", "the", "machine"] => {
                body.steps[step(number)].action = ResetMachine {}.into();
            }
            ["key", "of", "another", "vault"] => {
                body.identity = DigestKey::new([8; 32]).cluster(&body.cluster);
            }
            ["cluster", name] => body.cluster = name.parse().expect("a name"),
            other => panic!("no edit {other:?}"),
        }
        self.plan = Some(Plan::draft(body));
        String::new()
    }

    fn explain(&mut self, rest: &str) -> String {
        let (name, path) = rest.split_once(' ').expect("a machine and a path");
        let name = name.parse().expect("a name");
        let world = self.world();
        let layers = world.layers();
        let renderer = Renderer::new(&world.spec, &layers, &SECRETS, &world.key, Mode::Metal);
        let explained = match renderer.explain(&name, path) {
            Ok(explained) => explained,
            Err(error) => return with_sources(&error, error.code()),
        };
        lines(
            explained.history.iter().map(|(place, value)| {
                format!("{place}: {}", value.as_deref().unwrap_or("taken away"))
            }),
        )
    }
}

fn facts_moment() -> Timestamp {
    Timestamp(world::NOW.0 - 60)
}

fn lines(items: impl Iterator<Item = impl std::fmt::Display>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join("\n")
}

fn refused(error: &SpecError) -> String {
    let SpecError::Problems(problems) = error else {
        let place = error.origin().map(|origin| origin.to_string()).unwrap_or_default();
        return format!("{}, {place}", with_sources(error, error.code()));
    };
    let line = |problem: &Diagnostic<Location>| {
        let at = problem.location.unwrap_or_default();
        let place = format!("ichor.yaml:{}:{}", at.line, at.column);
        let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!("hint: {hint}\n"));
        format!("{}: {place}: {}\n{hint}", problem.code, problem.message)
    };
    problems.iter().map(line).collect()
}

fn with_sources(error: &dyn std::error::Error, code: &str) -> String {
    let mut text = format!("{code}: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

fn instance(name: &MachineName) -> Instance {
    Instance { id: ProviderId(format!("server-of-{name}")), generation: 1 }
}
