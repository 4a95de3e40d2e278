//! Plans get the configuration that talhelper would write, in every recorded case and in generated
//! directories.

#[path = "../../ichor/tests/golden/directories.rs"]
mod directories;
mod host;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use plan::{DigestKey, MachineName, NativeExport, Renderer};
use serde_json::Value;
use talconfig::{Cluster, Environment, Error, Host as _, Images, Secrets, Talconfig};
use talos_config::{Config, Mode, SourceId};

use directories::Directory;
use host::Files;

#[test]
fn recorded_directories_are_rendered_as_talhelper_writes_them() {
    let cases: Vec<Value> = include_str!("../../ichor/tests/talhelper/cases.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a case"))
        .collect();
    let map = |case: &Value, key: &str| -> BTreeMap<String, String> {
        let entries = case.get(key).and_then(Value::as_object).into_iter().flatten();
        entries.map(|(key, text)| (key.clone(), text.as_str().unwrap_or("").to_owned())).collect()
    };
    let seen = Seen::of(&cases, |case, seen| {
        let generates = |argv: &&Value| argv.get(0).is_some_and(|verb| verb == "genconfig");
        let command = case["argv"].as_array().into_iter().flatten().find(generates);
        if let Some(command) = command.and_then(Value::as_array) {
            let words = command.iter().filter_map(Value::as_str).map(str::to_owned);
            let name = case["name"].as_str().unwrap_or_default();
            seen.compare(name, &map(case, "in"), &map(case, "env"), &words.collect::<Vec<_>>());
        }
    });
    seen.judge();
    assert!(seen.machines > 450, "only {} machines were compared", seen.machines);
    assert!(seen.native > 45, "only {} clusters were said natively", seen.native);
}

#[test]
fn seeded_directories_are_rendered_as_talhelper_writes_them() {
    let seeds: Vec<u64> = testkit::seeds(100).collect();
    let seen = Seen::of(&seeds, |seed, seen| {
        let directory = Directory::new(*seed);
        let name = format!("seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1)");
        seen.compare(&name, &directory.files, &directory.variables, &directory.commands[0]);
    });
    seen.judge();
}

/// Replaces placeholders by paths.
fn filled(host: &Files, text: &str) -> String {
    let shared = |name: &str| {
        let shared = "../ichor/tests/talhelper/throw-away-secrets";
        Path::new(env!("CARGO_MANIFEST_DIR")).join(shared).join(name).display().to_string()
    };
    if text.starts_with("AGE-SECRET-KEY") || text.contains(" AGE-SECRET-KEY") {
        return text.to_owned();
    }
    text.replace("AGEKEY2", &shared("age2.key"))
        .replace("AGEKEY", &shared("age.key"))
        .replace("SECRET", &shared("talsecret.yaml"))
        .replace("CASE", &host.absolute("."))
}

/// The results so far.
#[derive(Default)]
struct Seen {
    machines: usize,
    /// Clusters that talhelper takes and no spec can say, with the reason.
    refused: Vec<String>,
    clusters: usize,
    /// Clusters that were exported natively.
    native: usize,
    wrong: Vec<String>,
}

impl Seen {
    /// Looks at everything, on all processors.
    fn of<T: Sync>(all: &[T], look: impl Fn(&T, &mut Self) + Sync) -> Self {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut seen = Self::default();
            while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                look(one, &mut seen);
            }
            seen
        };
        let count = thread::available_parallelism().map_or(2, usize::from);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).fold(
                Self::default(),
                |mut all, seen| {
                    all.machines += seen.machines;
                    all.clusters += seen.clusters;
                    all.native += seen.native;
                    all.refused.extend(seen.refused);
                    all.wrong.extend(seen.wrong);
                    all
                },
            )
        })
    }

    fn compare(
        &mut self,
        name: &str,
        files: &BTreeMap<String, String>,
        variables: &BTreeMap<String, String>,
        command: &[String],
    ) {
        let host = Files::new(files);
        let mut environment: Environment =
            variables.iter().map(|(name, value)| (name.clone(), filled(&host, value))).collect();
        let flag = |names: [&str; 2]| -> Option<&String> {
            let at = command.iter().position(|word| names.contains(&word.as_str()))?;
            command.get(at + 1)
        };
        let config = flag(["-c", "--config-file"]).map_or("talconfig.yaml", String::as_str);
        let env_files: Vec<String> = match flag(["-e", "--env-file"]) {
            Some(list) => list.split(',').map(str::to_owned).collect(),
            None => ENV_FILES.map(str::to_owned).to_vec(),
        };
        let Ok(talconfig) = Talconfig::load(config, &env_files, &mut environment, &host) else {
            return;
        };
        // The choice of secrets does not matter here; reading them takes long.
        let secrets = SECRETS.get_or_init(|| {
            let secrets = Secrets::load(&filled(&host, "SECRET"), &environment, &host);
            secrets.map_err(|error| error.to_string()).expect("secrets")
        });
        let images = Images::for_talconfig(&talconfig, true, &host, &environment);
        let mode = flag(["-m", "--mode"]).map_or("metal", String::as_str);
        let Ok(cluster) = Cluster::new(&talconfig, secrets, &images, mode) else { return };
        let machines: Result<Vec<_>, _> =
            talconfig.nodes.iter().map(|node| cluster.machine(node)).collect();
        let Ok(machines) = machines else { return };
        self.clusters += 1;
        let names = talconfig.nodes.iter().filter_map(talconfig::Node::machine_name);
        let names: Vec<MachineName> = names.collect();
        let (spec, layers) = match cluster.translate(SourceId(1), names.first()) {
            Ok(translated) => translated,
            Err(Error::Spec(error)) => return self.refused.push(format!("{name}: {error}")),
            Err(error) => return self.wrong.push(format!("{name}: {error}")),
        };
        let key = DigestKey::new([7; 32]);
        let mode = Mode::parse(mode).expect("a mode");
        let mut renderer = Renderer::new(&spec, &layers, &secrets.bundle, &key, mode);
        let configs =
            names.iter().filter_map(|name| Some((name.clone(), renderer.config(name).ok()?)));
        let configs: BTreeMap<_, _> = configs.collect();
        // A valid cluster can be written natively, down to the last field.
        if talconfig::check_spec(&spec).is_ok() && configs.len() == names.len() {
            match NativeExport::from_configs(&spec, &configs, &secrets.bundle, &key, mode) {
                Ok(_) => self.native += 1,
                Err(error) => self.wrong.push(format!("{name}: natively: {error}")),
            }
        }
        for (machine, name_of) in machines.iter().zip(&names) {
            let config = match renderer.config(name_of) {
                Ok(config) => config,
                Err(error) => {
                    self.wrong.push(format!("{name}: {name_of}: {error}"));
                    continue;
                }
            };
            let theirs = Config::parse(machine.text.expose(), SourceId::default());
            if theirs.is_ok_and(|theirs| theirs != config) {
                self.wrong.push(format!("{name}: {name_of} has another configuration"));
            }
            if renderer.text(name_of, &config).expose() != machine.text.expose() {
                self.wrong.push(format!("{name}: {name_of} has another text"));
            }
            self.machines += 1;
        }
        self.explain(name, &renderer, &names);
    }

    /// The recorded layers of a machine end in its configuration.
    fn explain(&mut self, name: &str, renderer: &Renderer<'_>, names: &[MachineName]) {
        let Some(first) = names.first() else { return };
        match renderer.explain(first, "machine.type") {
            Ok(explained) => {
                if explained.history.first().is_none_or(|(layer, _)| layer != "generated") {
                    self.wrong.push(format!("{name}: {first}: nobody set machine.type"));
                }
            }
            Err(error) => self.wrong.push(format!("{name}: {first}: {error}")),
        }
    }

    #[track_caller]
    fn judge(&self) {
        let Self { refused, clusters, wrong, .. } = self;
        assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
        // A few clusters have no spec: names without an address, invalid endpoints.
        let (many, few) = (*clusters >= 20, refused.len() * 20 <= *clusters);
        assert!(!many || few, "of {clusters} clusters refused:\n{}", refused.join("\n"));
    }
}

static SECRETS: OnceLock<Secrets> = OnceLock::new();

const ENV_FILES: [&str; 4] = ["talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml"];
