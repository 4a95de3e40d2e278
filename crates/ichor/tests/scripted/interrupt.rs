//! `ichor apply` that is stopped while a machine boots: by one signal, and by two.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::journal::Entry;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plan::StepNumber;

use crate::Home;
use crate::talos::{APPLY_CONFIGURATION, BOOTSTRAP, Script, Talos, loopback};

#[test]
fn apply_that_is_terminated_ends_its_step_and_starts_no_other() {
    let (home, machine, mut apply) = under_way();
    apply.signal(Signal::SIGTERM);
    apply.until_said("stopping: no further step is started");
    // The step goes on until the machine is there.
    machine.boot();
    assert_eq!(apply.end(), 130, "{:?}", apply.said);
    assert!(
        apply.has_said("1 step done, 4 not done; `ichor resume` continues"),
        "{:?}",
        apply.said
    );

    let entries = home.entries();
    assert_eq!(started(&entries), [StepNumber(1)], "{entries:?}");
    let ended = |entry: &&Entry| matches!(entry, Entry::StepDone { .. } | Entry::StepFailed { .. });
    let ended: Vec<&Entry> = entries.iter().filter(ended).collect();
    assert!(matches!(ended[..], [Entry::StepDone { step: StepNumber(1), .. }]), "{entries:?}");
    assert!(
        matches!(entries.last(), Some(Entry::PlanEnded { complete: false, .. })),
        "{entries:?}"
    );
    assert_eq!(machine.count(BOOTSTRAP), 0);
    assert_eq!(home.outcomes(), ["begun", "interrupted"]);
    home.run("history --verify").ends_with(0);
}

#[test]
fn apply_that_is_interrupted_twice_drops_its_step_at_once() {
    let (home, machine, mut apply) = under_way();
    apply.signal(Signal::SIGINT);
    apply.until_said("stopping: no further step is started");
    // The machine does not boot: nothing but the second signal ends the step.
    apply.signal(Signal::SIGINT);
    assert_eq!(apply.end(), 130, "{:?}", apply.said);

    let entries = home.entries();
    assert_eq!(started(&entries), [StepNumber(1)], "{entries:?}");
    let ends = |entry: &Entry| {
        matches!(entry, Entry::StepDone { .. } | Entry::StepFailed { .. } | Entry::PlanEnded { .. })
    };
    assert!(!entries.iter().any(ends), "{entries:?}");
    assert_eq!(home.outcomes(), ["begun", "interrupted"]);
    home.run("history --verify").ends_with(0);

    // The plan is known as one that was interrupted, and nothing is sent unasked.
    let resumed = home.run("resume").ends_with(3);
    assert!(resumed.stderr.contains("continuing after plan "), "{resumed:?}");
    assert!(resumed.stderr.contains("error[confirm.unasked]"), "{resumed:?}");
    assert_eq!(machine.count(APPLY_CONFIGURATION), 1);
}

/// An `ichor apply` whose only machine has got its configuration, and does not boot yet.
fn under_way() -> (Home, Talos, Running) {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    let mut apply = Running::start(&home, "apply --yes");
    apply.until_said("cp-1: apply config …");
    for _ in 0..LOOKS {
        if machine.count(APPLY_CONFIGURATION) == 1 {
            return (home, machine, apply);
        }
        pause();
    }
    panic!("the machine got no configuration: {:?}", apply.said);
}

/// The steps that were started.
fn started(entries: &[Entry]) -> Vec<StepNumber> {
    let step = |entry: &Entry| match entry {
        Entry::StepStarted { step, .. } => Some(*step),
        _ => None,
    };
    entries.iter().filter_map(step).collect()
}

/// A command that is under way, and is ended with the test.
struct Running {
    child: Child,
    lines: Receiver<String>,
    /// The lines of stderr so far.
    said: Vec<String>,
}

impl Running {
    fn start(home: &Home, line: &str) -> Self {
        let mut command = home.command(line);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("ichor");
        let stderr = child.stderr.take().expect("a pipe");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                // A test that has failed does not listen any more.
                let _ = sender.send(line);
            }
        });
        Self { child, lines, said: Vec::new() }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().expect("an id of a process"));
        kill(pid, signal).expect("a process");
    }

    /// Waits until it has said something.
    #[track_caller]
    fn until_said(&mut self, text: &str) {
        while !self.has_said(text) {
            let Ok(line) = self.lines.recv_timeout(LONGEST) else {
                panic!("it did not say {text:?}: {:?}", self.said)
            };
            self.said.push(line);
        }
    }

    fn has_said(&self, text: &str) -> bool {
        self.said.iter().any(|line| line.contains(text))
    }

    /// Waits until it has ended, and gives its status.
    #[track_caller]
    fn end(&mut self) -> i32 {
        loop {
            match self.lines.recv_timeout(LONGEST) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {:?}", self.said),
            }
        }
        self.child.wait().expect("an end").code().expect("no signal")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a test waits for another process")]
fn pause() {
    thread::sleep(Duration::from_millis(20));
}

/// Only so that a test that waits in vain says for what. After a stop a step gets five minutes, which is longer.
const LONGEST: Duration = Duration::from_mins(1);
/// As many as take twenty seconds.
const LOOKS: usize = 1_000;
