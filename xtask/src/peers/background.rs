//! Peers that are built while other things run: one process after the other, at the lowest priority.
//!
//! In: names in the order in which they are needed. Out: for a name, that its program is there or why it is not.
//! Always holds: no process of a build outlives this one, nor the [`Builds`] that started it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::getpgrp;

use crate::output;

/// The builds of one test run. Dropping it ends the one that runs and begins no other.
pub(crate) struct Builds {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Builds {
    /// Starts to build the queue. The command builds the names that it is made for, and ends with its standard input.
    pub(crate) fn start(
        queue: Vec<Vec<&'static str>>,
        command: impl Fn(&[&'static str]) -> Command + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::default());
        shared.state().pending.extend(queue.iter().flatten());
        let worker = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for names in queue {
                let Some(built) = worker.build(command(&names)) else { return };
                worker.finish(&names, built);
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// Those of the named programs that are not built yet.
    pub(crate) fn pending(&self, names: &[&'static str]) -> Vec<&'static str> {
        let state = self.shared.state();
        names.iter().copied().filter(|name| state.pending.contains(name)).collect()
    }

    /// Waits until all named programs are built, or until one of them cannot be.
    pub(crate) fn wait(&self, names: &[&'static str]) -> Result<()> {
        let mut state = self.shared.state();
        loop {
            if let Some(reason) = names.iter().find_map(|name| state.failed.get(name)) {
                bail!("{reason}");
            }
            if !names.iter().any(|name| state.pending.contains(name)) {
                return Ok(());
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Builds {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.stopped = true;
        state.running = None;
        drop(state);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to end.
            thread.join().ok();
        }
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What waits for its turn or is being built.
    pending: BTreeSet<&'static str>,
    failed: BTreeMap<&'static str, String>,
    /// The pipe that the running build ends with.
    running: Option<ChildStdin>,
    stopped: bool,
}

impl Shared {
    /// Runs one build to its end; none when no more are to begin.
    fn build(&self, mut command: Command) -> Option<std::io::Result<Output>> {
        // A group of its own, which is ended as a whole.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // Held while it starts, so that a build that begins is one that can be ended.
        let mut state = self.state();
        if state.stopped {
            return None;
        }
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Some(Err(error)),
        };
        state.running = child.stdin.take();
        drop(state);
        Some(child.wait_with_output())
    }

    fn finish(&self, names: &[&'static str], built: std::io::Result<Output>) {
        let mut state = self.state();
        state.running = None;
        if !state.stopped {
            match outcome(built) {
                Ok(said) => output::progress(said.trim_end()),
                Err(reason) => {
                    state.failed.extend(names.iter().map(|name| (*name, reason.clone())));
                }
            }
        }
        state.pending.retain(|name| !names.contains(name));
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what a build said, or why it failed.
fn outcome(built: std::io::Result<Output>) -> Result<String, String> {
    let output = built.map_err(|error| format!("cannot start a build ({error})"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // Its own words about the error come last, after its progress.
    let reason = said.find(ERROR).map_or(said.trim(), |start| said[start + ERROR.len()..].trim());
    if reason.is_empty() {
        Err(format!("a build ended with {}", output.status))
    } else {
        Err(reason.to_owned())
    }
}

/// What `cargo xtask` puts before an error.
const ERROR: &str = "error: ";

/// `cargo xtask peers` for some names, which takes only the time that nothing else wants.
pub(crate) fn command(names: &[&'static str]) -> Command {
    let mut nice = Command::new("nice");
    // By our process id: under `nice`, "self" is `nice`. This also works when the file was replaced meanwhile.
    let own = format!("/proc/{}/exe", std::process::id());
    nice.args(["-n", "19", &own, "peers", "--tied"]).args(names);
    nice
}

/// Ends the process group of this process when its standard input ends: when the process that started it wants that or
/// is gone, however it ended.
pub(super) fn end_with_stdin() {
    thread::spawn(|| {
        // An error, too, means that nothing holds the other end.
        std::io::stdin().read_to_end(&mut Vec::new()).ok();
        killpg(getpgrp(), Signal::SIGKILL).ok();
    });
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_level_waits_for_its_own_peers_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let built = directory.path().join("built");
        // The second one is built when the first was waited for.
        let script =
            format!("[ $0 = one ] || while ! [ -e {} ]; do sleep 0.01; done", built.display());
        let builds =
            Builds::start(vec![vec!["one"], vec!["two"]], move |names| shell(&script, names));
        builds.wait(&["one", "there before"]).expect("the first");
        assert_eq!(builds.pending(&["one", "two"]), ["two"]);
        fs_err::write(built, "").expect("a file");
        builds.wait(&["two"]).expect("the second");
        assert!(builds.pending(&["one", "two"]).is_empty());
    }

    #[test]
    fn a_failed_build_is_reported_for_its_programs_and_the_next_one_is_built() {
        let queue = vec![vec!["one"], vec!["two", "three"], vec!["four"]];
        let script =
            "[ $0 != two ] || { echo 'building two'; echo 'error: no such module' >&2; exit 1; }";
        let builds = Builds::start(queue, move |names| shell(script, names));
        let error = builds.wait(&["one", "three"]).expect_err("a failure");
        assert_eq!(error.to_string(), "no such module");
        builds.wait(&["one", "four"]).expect("what was built before and after it");
    }

    #[test]
    fn a_build_that_cannot_start_or_says_nothing_is_reported_too() {
        let builds = Builds::start(vec![vec!["one"], vec!["two"]], |names| match names {
            ["one"] => Command::new("/nowhere/at/all"),
            _ => shell("exit 3", names),
        });
        let error = builds.wait(&["one"]).expect_err("a failure").to_string();
        assert!(error.starts_with("cannot start a build"), "{error}");
        let error = builds.wait(&["two"]).expect_err("a failure").to_string();
        assert_eq!(error, "a build ended with exit status: 3");
    }

    #[test]
    fn dropping_ends_the_build_that_runs_and_starts_no_other() {
        let directory = tempfile::tempdir().expect("a directory");
        let begun = |name| directory.path().join(name);
        let script = format!("touch {}/$0; cat", directory.path().display());
        let builds =
            Builds::start(vec![vec!["one"], vec!["two"]], move |names| shell(&script, names));
        let end = Instant::now() + Duration::from_mins(1);
        while !begun("one").exists() {
            assert!(Instant::now() < end, "it did not start");
            thread::sleep(Duration::from_millis(5));
        }
        drop(builds);
        assert!(!begun("two").exists());
    }

    /// A shell with the first name as `$0`.
    fn shell(script: &str, names: &[&'static str]) -> Command {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).args(names);
        shell
    }
}
