//! The audit log of actions on machines: a line before each action, and one with its outcome.
//!
//! A line is one JSON object. It holds the hash of the line before it, so that a line cannot be taken out or changed
//! without a trace ([`verify`]). The log of a cluster's directory is in its `.ichor`, everything else in the user's own
//! state. What a crash left of a line is cut off before the next one is written ([`LineFile`]).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::LineFile;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use talos_config::{Coded, hex};

use crate::settings::UserEnvironment;
use crate::{Error, clock};

/// One action that is under way.
#[derive(Debug)]
pub(crate) struct AuditEntry {
    file: PathBuf,
    action: Action,
    /// Whether "interrupted" is written on drop.
    open: bool,
}

/// User, action and nodes. It names no secret.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Action {
    user: String,
    action: String,
    /// Options, digests of what was sent, and overridden rules with their reasons.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
    nodes: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Line {
    time: i64,
    #[serde(flatten)]
    action: Action,
    outcome: String,
    /// The hash of the line before, as it stands in the file.
    previous: String,
}

impl AuditEntry {
    /// Writes down what is about to be done. What cannot be written down must not be done.
    pub(crate) fn begin(
        action: &str,
        detail: &str,
        nodes: Vec<String>,
        environment: &UserEnvironment,
    ) -> Result<Self, Error> {
        let state = environment.state.as_deref().ok_or(Error::NoHome {
            what: "the audit log",
            hint: "set HOME, or XDG_STATE_HOME: without an audit log nothing is done",
        })?;
        let mut audit = Self {
            file: state.join(FILE),
            action: Action {
                user: environment.user.clone(),
                action: action.to_owned(),
                detail: detail.to_owned(),
                nodes,
            },
            open: false,
        };
        audit.write("begun").map_err(Error::Audit)?;
        audit.open = true;
        Ok(audit)
    }

    /// Writes down how it ended.
    pub(crate) fn end<T>(self, outcome: Result<T, Error>) -> Result<T, Error> {
        let text = match &outcome {
            Ok(_) => "done".to_owned(),
            Err(error) => format!("failed: {}", error.code()),
        };
        self.close(&text)?;
        outcome
    }

    /// Records the outcome in words.
    pub(crate) fn close(mut self, outcome: &str) -> Result<(), Error> {
        self.open = false;
        self.write(outcome).map_err(Error::Audit)
    }

    fn write(&self, outcome: &str) -> std::io::Result<()> {
        let mut file = LineFile::create(&self.file)?;
        // Two writers at the same time would break the chain.
        let mut locked = file.lock()?;
        let lines = locked.read_new()?;
        let line = Line {
            time: clock::now(),
            action: self.action.clone(),
            outcome: outcome.to_owned(),
            previous: last(&lines).map_or_else(String::new, hash),
        };
        locked.append(&(serde_json::to_string(&line)? + "\n"))
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        if self.open {
            // Nothing can be done here about a disk that is full.
            let _ = self.write("interrupted");
        }
    }
}

/// Returns the machines on which an action was begun within the last so long, but for those where a safety rule refused it.
pub(crate) fn recent(
    action: &str,
    within: Duration,
    environment: &UserEnvironment,
) -> Result<BTreeSet<String>, Error> {
    let Some(state) = environment.state.as_deref() else { return Ok(BTreeSet::new()) };
    let Some(mut file) = LineFile::open(&state.join(FILE)).map_err(Error::Audit)? else {
        return Ok(BTreeSet::new());
    };
    let bytes = file.read_new().map_err(Error::Audit)?;
    let since = clock::now() - i64::try_from(within.as_secs()).unwrap_or(i64::MAX);
    let mut machines = BTreeSet::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        // What cannot be read is for `verify`.
        let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
        if line.action.action != action || line.time < since {
            continue;
        }
        let is_refused = ["failed: bootstrap.", "failed: etcd."]
            .iter()
            .any(|refusal| line.outcome.starts_with(refusal));
        for node in line.action.nodes {
            if is_refused {
                machines.remove(&node)
            } else {
                machines.insert(node)
            };
        }
    }
    Ok(machines)
}

/// How many lines the log of a directory has, or the first line at which its chain is broken.
pub(crate) fn verify(state: &Path) -> Result<Result<usize, usize>, Error> {
    let Some(mut file) = LineFile::open(&state.join(FILE)).map_err(Error::Audit)? else {
        return Ok(Ok(0));
    };
    let bytes = file.read_new().map_err(Error::Audit)?;
    let mut previous = String::new();
    let mut count = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let parsed: Option<Line> = serde_json::from_slice(line).ok();
        if parsed.is_none_or(|parsed| parsed.previous != previous) {
            return Ok(Err(count + 1));
        }
        previous = hash(line);
        count += 1;
    }
    Ok(Ok(count))
}

/// Formats a SHA-256 for the log.
pub(crate) fn digest(hash: &[u8]) -> String {
    format!("sha256:{}", hex(hash))
}

/// The last of whole lines, without its line break.
fn last(lines: &[u8]) -> Option<&[u8]> {
    let lines = lines.strip_suffix(b"\n")?;
    Some(lines.rsplit(|byte| *byte == b'\n').next().unwrap_or(lines))
}

fn hash(line: &[u8]) -> String {
    hex(&Sha256::digest(line))
}

const FILE: &str = "audit.jsonl";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{CandidatePaths, ClusterLocation};

    fn environment(state: &Path) -> UserEnvironment {
        UserEnvironment {
            location: ClusterLocation::default(),
            talosconfigs: CandidatePaths::default(),
            takes_all: true,
            kubeconfigs: CandidatePaths::default(),
            state: Some(state.to_owned()),
            user: "jürgen".to_owned(),
            editor: "vi".into(),
            runtime: None,
        }
    }

    fn act(state: &Path) {
        let nodes = vec!["127.0.0.1".to_owned()];
        let audit = AuditEntry::begin("reboot", "ä — ü", nodes, &environment(state)).unwrap();
        audit.end(Ok(())).unwrap();
    }

    #[test]
    fn the_chain_holds_and_a_changed_line_breaks_it() {
        let directory = tempfile::tempdir().unwrap();
        act(directory.path());
        act(directory.path());
        assert_eq!(verify(directory.path()).unwrap(), Ok(4));
        let file = directory.path().join(FILE);
        let text = fs_err::read_to_string(&file).unwrap();
        fs_err::write(&file, text.replacen("reboot", "reset", 1)).unwrap();
        assert_eq!(verify(directory.path()).unwrap(), Err(2));
        let lines: Vec<&str> = text.lines().collect();
        fs_err::write(&file, format!("{}\n{}\n", lines[0], lines[3])).unwrap();
        assert_eq!(verify(directory.path()).unwrap(), Err(2));
    }

    #[test]
    fn a_torn_line_is_cut_wherever_it_was_torn() {
        let directory = tempfile::tempdir().unwrap();
        act(directory.path());
        let file = directory.path().join(FILE);
        let whole = fs_err::read(&file).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for cut in first..whole.len() {
            // Also in the middle of a character.
            fs_err::write(&file, &whole[..cut]).unwrap();
            act(directory.path());
            assert_eq!(verify(directory.path()).unwrap(), Ok(3), "cut at {cut}");
        }
        // Bytes that are not UTF-8 stop nothing, and show.
        fs_err::write(&file, [&whole[..first], &[0xff, b'\n']].concat()).unwrap();
        act(directory.path());
        assert_eq!(verify(directory.path()).unwrap(), Err(2));
    }

    #[test]
    fn an_action_that_is_dropped_was_interrupted() {
        let directory = tempfile::tempdir().unwrap();
        drop(AuditEntry::begin("reset", "", Vec::new(), &environment(directory.path())).unwrap());
        let text = fs_err::read_to_string(directory.path().join(FILE)).unwrap();
        assert!(text.lines().nth(1).unwrap().contains("\"outcome\":\"interrupted\""), "{text}");
        assert_eq!(verify(directory.path()).unwrap(), Ok(2));
    }

    #[test]
    fn nothing_is_begun_where_no_place_for_the_log_is_known() {
        let nowhere = UserEnvironment { state: None, ..environment(Path::new("unused")) };
        let refused = AuditEntry::begin("reset", "", Vec::new(), &nowhere).unwrap_err();
        assert_eq!(refused.code(), "home.unset");
    }

    #[test]
    fn a_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("other");
        fs_err::write(&other, "mine\n").unwrap();
        let state = directory.path().join("state");
        fs_err::create_dir(&state).unwrap();
        fs_err::os::unix::fs::symlink(&other, state.join(FILE)).unwrap();
        assert!(AuditEntry::begin("reset", "", Vec::new(), &environment(&state)).is_err());
        assert_eq!(fs_err::read_to_string(&other).unwrap(), "mine\n");
    }
}
