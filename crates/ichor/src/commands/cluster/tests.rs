//! The cluster commands as their users meet them: scripts ([`testkit::scripts`]) of command lines with stdout, stderr and exit
//! status, on a real directory and machines in memory ([`testkit::world`]).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use engine::journal::FileJournal;
use talos_config::yaml::Dialect;
use testkit::scripts;
use testkit::world::cluster::text;
use testkit::world::engine::{Directory, Engine, What, World, paused_runtime};
use testkit::world::model::happening;

use super::{carry_out, show};
use crate::args::{ParsedLine, parse};
use crate::directory::{OpenedDirectory, STATE};
use crate::live_cluster::{ExternalPorts, LiveCluster};
use crate::printer::{Answers, Printer, Stream};
use crate::settings::{Cluster, ClusterLocation, ClusterVerb, Settings};
use crate::{Error, ExitStatus};

#[test]
fn every_script_says_what_it_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    scripts::compare(&folder, 8, |script| {
        let (runtime, mut stage) = (paused_runtime(), Stage::new());
        scripts::answer(script, |line, text| runtime.block_on(stage.command(line, text)))
    });
}

/// A cluster's directory on the disk, and the machines that it describes.
struct Stage {
    home: tempfile::TempDir,
    world: Option<World>,
    /// Whose clock, randomness and wish to stop commands have.
    engine: Option<Arc<Engine>>,
    /// What a person types at the next questions.
    answers: VecDeque<String>,
}

impl Stage {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        Self { home, world: None, engine: None, answers: VecDeque::new() }
    }

    async fn command(&mut self, line: &str, more: &str) -> String {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            // `cluster 3 control planes, and 1 worker`, with more keys of the spec as its text
            ["cluster", control_planes, "control", _, "and", workers, _] => {
                let (first, second) = (control_planes.parse(), workers.parse());
                let text = text(first.expect("a count"), second.expect("a count"), more);
                self.describe(&text).await;
                String::new()
            }
            ["created"] => {
                let said = self.ichor(&["apply", "--yes"]).await;
                assert!(said.ends_with("status: 0"), "{said}");
                self.world().settle().await;
                String::new()
            }
            ["machine", name, state @ ..] => {
                // A person has done it, so that a quorum that is lost is no fault of the command.
                self.world().with(|model| {
                    model.may_lose_quorum = true;
                    happening(name, &state.join(" "))(model);
                });
                self.world().with(|model| model.may_lose_quorum = false);
                String::new()
            }
            ["wait", span] => {
                let span: plan::Span = span.parse().expect("a span");
                self.world().wait(span.duration()).await;
                String::new()
            }
            // What is typed at the next question of the next command
            ["answer", answer @ ..] => {
                self.answers.push_back(answer.join(" "));
                String::new()
            }
            ["file", name] => {
                fs_err::write(self.home.path().join(name), more).expect("a file");
                String::new()
            }
            ["show", name] => {
                let text = fs_err::read_to_string(self.home.path().join(name)).expect("a file");
                steady(&text).join("\n")
            }
            // `fault apply-config w-1 maintenance: refuse`: every such call is refused, until it is healed
            ["fault", ..] => {
                let label = line["fault ".len()..].strip_suffix(": refuse").expect("a fault");
                self.world().always(label, What::Refuse);
                String::new()
            }
            ["heal", label @ ..] => {
                self.world().heal(&label.join(" "));
                String::new()
            }
            ["ichor", words @ ..] => self.ichor(words).await,
            other => panic!("no command {other:?}"),
        }
    }

    async fn describe(&mut self, text: &str) {
        let root = self.home.path();
        fs_err::write(root.join("ichor.yaml"), text).expect("a file");
        let secrets = testkit::world::cluster::parse(text).secrets.encode(Dialect::default());
        fs_err::write(root.join("secrets.yaml"), secrets.expose()).expect("a file");
        let directory = OpenedDirectory::open(&self.location()).await.expect("a directory");
        match &self.world {
            Some(world) => world.with(|model| model.add(&directory.cluster)),
            None => {
                let world = World::new(&directory.cluster);
                self.engine = Some(Arc::new(Engine::new(&world, &Directory::new("first"))));
                self.world = Some(world);
            }
        }
    }

    fn world(&self) -> &World {
        self.world.as_ref().expect("a cluster first")
    }

    fn location(&self) -> ClusterLocation {
        ClusterLocation {
            directory: Some(self.home.path().to_owned()),
            ..ClusterLocation::default()
        }
    }

    /// Returns what a command line says, and its status if that is not 0.
    async fn ichor(&mut self, words: &[&str]) -> String {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        let can_ask = !self.answers.is_empty();
        let answers = Typed { lines: std::mem::take(&mut self.answers), can_ask };
        let mut printer = Printer::with_streams(
            Box::new(stdout.clone()),
            Box::new(stderr.clone()),
            Box::new(answers),
        );
        self.world().with(|model| {
            model.may_lose_quorum = words.contains(&"destroy") || words.contains(&"resume");
        });
        let outcome = self.run(words, &mut printer).await;
        self.world().with(|model| model.may_lose_quorum = false);
        let status = outcome.unwrap_or_else(|error| printer.error(&error));
        let mut text = String::new();
        for (name, stream) in [("stdout", stdout), ("stderr", stderr)] {
            for line in steady(&self.without_path(&stream.text())) {
                let _ = writeln!(text, "{name}: {line}");
            }
        }
        let _ = write!(text, "status: {}", status as u8);
        self.world().assert_unharmed();
        text
    }

    fn without_path(&self, text: &str) -> String {
        let root = fs_err::canonicalize(self.home.path()).expect("a path");
        let root = root.display().to_string();
        text.replace(&format!("{root}/"), "").replace(&root, "HOME")
    }

    async fn run(&self, words: &[&str], printer: &mut Printer) -> Result<ExitStatus, Error> {
        // Files that are named are in the directory.
        let word = |word: &&str| match word.strip_prefix("./") {
            Some(file) => self.home.path().join(file).into_os_string(),
            None => OsString::from(word),
        };
        let words = std::iter::once("ichor".into()).chain(words.iter().map(word));
        let args = match parse(words)? {
            ParsedLine::Command(args) => args,
            ParsedLine::Answer(answer) => return printer.text(&answer),
        };
        let Settings::Cluster(settings) = Settings::resolve(*args)? else {
            panic!("not a command about a cluster");
        };
        let Cluster { mut verb, mut environment } = *settings;
        environment.user = "tester".to_owned();
        environment.state = None;
        environment.location = self.location();
        if let ClusterVerb::Approve(settings) = &mut verb {
            settings.by = "tester".to_owned();
        }
        if let ClusterVerb::Show(settings) = &verb {
            return show::run(settings, printer);
        }
        let engine = self.engine.as_ref().expect("a cluster first");
        let mut directory = OpenedDirectory::open(&environment.location).await?;
        directory.journal = FileJournal::new(
            &self.home.path().join(STATE),
            Arc::clone(engine) as _,
            Arc::clone(engine) as _,
        );
        let outside = ExternalPorts {
            machines: Arc::clone(engine) as _,
            lifecycle: Arc::clone(engine) as _,
            etcd: Arc::clone(engine) as _,
            kubernetes: Arc::clone(engine) as _,
            provider: Arc::clone(engine) as _,
            clock: Arc::clone(engine) as _,
            entropy: Arc::clone(engine) as _,
            stop: Arc::clone(engine) as _,
            holder: "tester@here (ichor)".to_owned(),
        };
        let live = LiveCluster::new(directory, outside);
        carry_out(&verb, &live, &environment, printer).await
    }
}

/// Returns the lines in an order and with values that are the same in every run: steps of several machines take their turns as
/// the journal gets to the disk.
fn steady(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(masked).collect();
    lines.dedup_by(|next, line| next == line && line.contains("step-waits"));
    for steps in lines.chunk_by_mut(|line, next| line.starts_with('[') && next.starts_with('[')) {
        steps.sort_by_key(|line| {
            let number = line.trim_start_matches('[').split('/').next();
            number.and_then(|number| number.parse::<u32>().ok())
        });
    }
    lines
}

/// Replaces times, durations, digests and the number of an engine.
fn masked(line: &str) -> String {
    let line = match line.split_once(" done in ") {
        Some((step, _)) if line.starts_with('[') => format!("{step} done"),
        _ => line.to_owned(),
    };
    let line = after(&line, r#""took":"#, "<seconds>");
    let line = after(&line, "(ichor) ", "<engine>");
    // Waits are jittered.
    let line = match line.split_once("} ") {
        Some((metric, _)) if line.starts_with("ichor_step_seconds_total{") => {
            format!("{metric}}} <seconds>")
        }
        _ => line,
    };
    let words = line.split_inclusive(['"', ' ']).map(|word| {
        let bare = word.trim_end_matches(['"', ' ']);
        let is_digest = bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = bare.parse::<jiff::Timestamp>().is_ok();
        match (is_digest, is_time) {
            (true, _) => word.replace(bare, "<digest>"),
            (_, true) => word.replace(bare, "<time>"),
            _ => word.to_owned(),
        }
    });
    words.collect()
}

/// Replaces the value behind a mark.
fn after(line: &str, mark: &str, with: &str) -> String {
    let Some((before, rest)) = line.split_once(mark) else { return line.to_owned() };
    let end = rest.find([' ', '"', ',', '}']).unwrap_or(rest.len());
    format!("{before}{mark}{with}{}", &rest[end..])
}

/// A stream that keeps what was written.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// As it is without a terminal, which has no colours.
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        anstream::adapter::strip_str(&String::from_utf8(bytes).expect("text")).to_string()
    }
}

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Captured {
    fn is_terminal(&self) -> bool {
        false
    }

    fn write_data(&mut self, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(self, bytes)
    }
}

/// A person who types lines.
struct Typed {
    lines: VecDeque<String>,
    can_ask: bool,
}

impl Answers for Typed {
    fn can_ask(&self) -> bool {
        self.can_ask
    }

    fn read(&mut self) -> Result<String, Error> {
        Ok(self.lines.pop_front().expect("an answer"))
    }
}
