//! What people did to machines, written down before it is done and again when it is over.
//!
//! A line is one JSON object. It holds the hash of the line before it, so that a line cannot be taken out or changed
//! without a trace. The log of a cluster's directory is in its `.ichor`, everything else in the user's own state.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::settings::Surroundings;
use crate::{Error, makers};

/// One action that is under way.
#[derive(Debug)]
pub(crate) struct Audit {
    file: PathBuf,
    action: Action,
}

/// What is done, by whom and to what. It names no secret.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Action {
    user: String,
    action: String,
    /// How it is done: what was given, as a digest, and which rules are overridden for which reason.
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

impl Audit {
    /// Writes down what is about to be done. What cannot be written down must not be done.
    pub(crate) fn begin(
        action: &str,
        detail: &str,
        nodes: Vec<String>,
        surroundings: &Surroundings,
    ) -> Result<Self, Error> {
        let audit = Self {
            file: surroundings.state.join(FILE),
            action: Action {
                user: surroundings.user.clone(),
                action: action.to_owned(),
                detail: detail.to_owned(),
                nodes,
            },
        };
        audit.write("begun").map_err(Error::Audit)?;
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

    /// The same in words.
    pub(crate) fn close(self, outcome: &str) -> Result<(), Error> {
        self.write(outcome).map_err(Error::Audit)
    }

    fn write(&self, outcome: &str) -> std::io::Result<()> {
        let mut file = open(&self.file)?;
        // Two of us at the same time would break the chain.
        file.file().lock()?;
        let line = Line {
            time: makers::now(),
            action: self.action.clone(),
            outcome: outcome.to_owned(),
            previous: last_line(&mut file)?.map_or_else(String::new, |line| hash(&line)),
        };
        let text = serde_json::to_string(&line)? + "\n";
        file.write_all(text.as_bytes())?;
        file.sync_data()
    }
}

/// What the log says instead of what was given to a machine, from its SHA-256.
pub(crate) fn digest(hash: &[u8]) -> String {
    format!("sha256:{}", hex(hash))
}

fn open(path: &Path) -> std::io::Result<fs_err::File> {
    use fs_err::os::unix::fs::OpenOptionsExt;
    if let Some(directory) = path.parent() {
        fs_err::create_dir_all(directory)?;
    }
    fs_err::OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path)
}

fn last_line(file: &mut fs_err::File) -> std::io::Result<Option<String>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LINE)))?;
    let mut last = None;
    for line in BufReader::new(&mut *file).lines() {
        last = Some(line?);
    }
    Ok(last)
}

fn hash(line: &str) -> String {
    hex(&Sha256::digest(line.as_bytes()))
}

/// Bytes as people compare them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

const FILE: &str = "audit.jsonl";
/// How far back the last line begins at most.
const LONGEST_LINE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Place;

    #[test]
    fn every_line_holds_the_hash_of_the_one_before() {
        let directory = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            place: Place::default(),
            talosconfigs: Vec::new(),
            kubeconfigs: Vec::new(),
            state: directory.path().join("state"),
            user: "somebody".to_owned(),
        };
        for node in ["127.0.0.1", "127.0.0.2"] {
            let audit = Audit::begin("reboot", "", vec![node.to_owned()], &surroundings).unwrap();
            audit.end(Ok(())).unwrap();
        }
        let text = fs_err::read_to_string(directory.path().join("state/audit.jsonl")).unwrap();
        let mut previous = String::new();
        for text in text.lines() {
            let line: Line = serde_json::from_str(text).unwrap();
            assert_eq!(line.previous, previous);
            previous = hash(text);
        }
        assert_eq!(text.lines().count(), 4);
    }
}
