//! A directory of its own for one run of a program, and what is left in it.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A working directory, a home, and the secrets that cases share.
pub(crate) struct Sandbox {
    root: TempDir,
    before: BTreeMap<String, String>,
}

/// What a program said, and how it ended.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) codes: Vec<i32>,
}

impl Sandbox {
    /// Makes a directory with files in it; a name that ends with a slash is a directory.
    pub(crate) fn new(files: &BTreeMap<String, String>) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let work = root.path().join("work");
        fs_err::create_dir(&work).expect("a directory");
        fs_err::create_dir(root.path().join("home")).expect("a directory");
        for (name, text) in files {
            let path = work.join(name);
            if name.ends_with('/') {
                fs_err::create_dir_all(path).expect("a directory");
                continue;
            }
            fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs_err::write(&path, text).expect("a file");
            if name.contains("secret") {
                fs_err::set_permissions(path, Permissions::from_mode(0o600)).expect("a mode");
            }
        }
        Self { root, before: files.clone() }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Runs a program in the directory and adds what it says.
    pub(crate) fn run(
        &self,
        program: &Path,
        arguments: &[String],
        variables: &BTreeMap<String, String>,
        path: &str,
        said: &mut Said,
    ) {
        let output = Command::new(program)
            .args(arguments.iter().map(|argument| self.filled(argument)))
            .current_dir(self.work())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.root.path().join("home"))
            .env("TZ", "UTC")
            .envs(variables.iter().map(|(name, value)| (name, self.filled(value))))
            .stdin(Stdio::null())
            .output()
            .expect("the program runs");
        said.stdout.push_str(&self.plain(&String::from_utf8_lossy(&output.stdout)));
        said.stderr.push_str(&self.plain(&String::from_utf8_lossy(&output.stderr)));
        said.codes.push(output.status.code().unwrap_or(-1));
    }

    /// The files that were made or changed. What is new in every talosconfig is left out.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        self.collect(&self.work(), &mut files);
        files.retain(|name, text| self.before.get(name) != Some(text));
        for (name, text) in &mut files {
            if name.ends_with("talosconfig") {
                *text = without_credentials(text);
            }
            *text = self.plain(text);
        }
        files
    }

    /// The mode of a file or directory, as four octal digits.
    pub(crate) fn mode(&self, name: &str) -> String {
        let metadata = fs_err::metadata(self.work().join(name));
        metadata.map_or("none".to_owned(), |metadata| {
            format!("{:04o}", metadata.permissions().mode() & 0o777)
        })
    }

    fn collect(&self, folder: &Path, files: &mut BTreeMap<String, String>) {
        for entry in fs_err::read_dir(folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                self.collect(&path, files);
            } else {
                let name = path.strip_prefix(self.work()).expect("a file of the directory");
                let bytes = fs_err::read(&path).expect("a file");
                let text = String::from_utf8_lossy(&bytes).into_owned();
                files.insert(name.to_string_lossy().into_owned(), text);
            }
        }
    }

    /// Puts paths in the place of the words that stand for them.
    fn filled(&self, text: &str) -> String {
        let shared = |name: &str| secrets().join(name).display().to_string();
        if text.starts_with("AGE-SECRET-KEY") || text.contains(" AGE-SECRET-KEY") {
            return text.to_owned();
        }
        text.replace("AGEKEY2", &shared("age2.key"))
            .replace("AGEKEY", &shared("age.key"))
            .replace("SECRET", &shared("talsecret.yaml"))
            .replace("CASE", &self.work().display().to_string())
    }

    /// Puts the words back, and one for the time.
    fn plain(&self, text: &str) -> String {
        let shared = |name: &str| secrets().join(name).display().to_string();
        let text = text
            .replace(&self.work().display().to_string(), "CASE")
            .replace(&self.root.path().join("home").display().to_string(), "HOME")
            .replace(&shared("talsecret.yaml"), "SECRET")
            .replace(&shared("age2.key"), "AGEKEY2")
            .replace(&shared("age.key"), "AGEKEY");
        text.split_inclusive('\n')
            .map(|line| match line.get(..20) {
                Some(stamp) if is_time(stamp) => format!("TIME {}", &line[20..]),
                _ => line.to_owned(),
            })
            .collect()
    }
}

/// Where the secrets are that are made for these tests.
pub(crate) fn secrets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/talhelper/throw-away-secrets")
}

/// `YYYY/MM/DD HH:MM:SS `
fn is_time(text: &str) -> bool {
    let form = "0000/00/00 00:00:00 ";
    text.chars().zip(form.chars()).all(|(found, wanted)| match wanted {
        '0' => found.is_ascii_digit(),
        other => found == other,
    })
}

fn without_credentials(text: &str) -> String {
    let line = |line: &str| {
        let begun = line.trim_start();
        let pad = &line[..line.len() - begun.len()];
        match begun {
            _ if begun.starts_with("crt: LS0t") => format!("{pad}crt: CRT\n"),
            _ if begun.starts_with("key: LS0t") => format!("{pad}key: KEY\n"),
            _ => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(line).collect()
}
