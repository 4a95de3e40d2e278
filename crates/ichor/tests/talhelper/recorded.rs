//! The recorded cases, and how one is done again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::sandbox::{self, Said, Sandbox};

/// All cases.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    let words = words();
    include_str!("cases.jsonl").lines().map(move |line| Case::read(line, &words))
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) argv: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default, rename = "in")]
    pub(crate) input: BTreeMap<String, String>,
    #[serde(default, rename = "out")]
    pub(crate) output: BTreeMap<String, String>,
    #[serde(default)]
    modes: BTreeMap<String, String>,
    /// What is made is new every time.
    #[serde(default)]
    random: bool,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
    pub(crate) codes: Vec<i32>,
}

impl Case {
    fn read(line: &str, words: &[(String, String)]) -> Self {
        let mut case: Self = serde_json::from_str(line).expect("a case");
        let texts = case.input.values_mut().chain(case.output.values_mut());
        for text in texts.chain([&mut case.stdout, &mut case.stderr]) {
            if text.contains('<') {
                for (word, value) in words {
                    *text = text.replace(word, value);
                }
            }
        }
        case
    }

    /// Runs the case: what is said, and where files are left.
    pub(crate) fn run(&self, path: &str) -> (Sandbox, Said) {
        let sandbox = Sandbox::new(&self.input);
        let mut said = Said::default();
        for arguments in &self.argv {
            let mut words = vec!["talhelper".to_owned()];
            words.extend(arguments.iter().cloned());
            sandbox.run(Path::new(env!("CARGO_BIN_EXE_ichor")), &words, &self.env, path, &mut said);
        }
        (sandbox, said)
    }

    /// Runs the case and gives the aspects that are not as recorded.
    pub(crate) fn replay(&self, path: &str) -> BTreeMap<&'static str, String> {
        let (sandbox, said) = self.run(path);
        let mut wrong = BTreeMap::new();
        if said.codes != self.codes {
            wrong.insert("code", format!("{:?} instead of {:?}", said.codes, self.codes));
        }
        for (name, mode) in &self.modes {
            let found = sandbox.mode(name);
            if found != *mode {
                wrong.insert("files", format!("{name} has mode {found} instead of {mode}"));
            }
        }
        if self.random {
            return wrong;
        }
        if said.stdout != self.stdout {
            wrong.insert("stdout", both(&self.stdout, &said.stdout));
        }
        let ours = |line: &&str| !line.starts_with("hint: ") && !line.starts_with("warning: ");
        let stderr: String = said.stderr.split_inclusive('\n').filter(ours).collect();
        if stderr != self.stderr {
            wrong.insert("stderr", both(&self.stderr, &stderr));
        }
        let mut files = sandbox.files();
        let failed = |codes: &[i32]| codes.iter().all(|code| *code != 0);
        // What does not succeed leaves neither.
        let whole = self.output.keys().any(|name| name.ends_with("talosconfig"))
            || failed(&self.codes) && failed(&said.codes);
        if !whole {
            // Recorded only where that is what the case is about.
            files.retain(|name, _| !name.ends_with("talosconfig") && !name.ends_with(".gitignore"));
        }
        for name in self.output.keys().chain(files.keys()).collect::<BTreeSet<_>>() {
            let (theirs, ours) = (self.output.get(name), files.get(name));
            if theirs != ours {
                let text =
                    |text: Option<&String>| text.map_or("(none)\n", String::as_str).to_owned();
                wrong.insert("files", format!("{name}\n{}", both(&text(theirs), &text(ours))));
            }
        }
        wrong
    }
}

/// The lines at which two texts part.
fn both(theirs: &str, ours: &str) -> String {
    let (theirs, ours): (Vec<_>, Vec<_>) = (theirs.lines().collect(), ours.lines().collect());
    let same = theirs.iter().zip(&ours).take_while(|(theirs, ours)| theirs == ours).count();
    let part =
        |lines: &[&str]| lines.iter().skip(same).take(6).copied().collect::<Vec<_>>().join("\n  ");
    format!("  recorded, from line {}:\n  {}\n  ours:\n  {}", same + 1, part(&theirs), part(&ours))
}

/// The words that stand for long values, and the values.
fn words() -> Vec<(String, String)> {
    let text =
        fs_err::read_to_string(sandbox::secrets().join("talsecret.yaml")).expect("the secrets");
    let mut words = Vec::new();
    let mut name = "";
    for line in text.lines().map(str::trim) {
        match line.split_once(": ") {
            None => name = line.trim_end_matches(':'),
            Some((key @ ("crt" | "key"), value)) => {
                words.push((format!("<{name}.{key}>"), value.to_owned()));
            }
            Some(_) => {}
        }
    }
    words
}

/// Where the programs of the operating system are, for keys that a command prints.
pub(crate) const PATH: &str = "/usr/bin:/bin";

/// Cases with SSH keys or INI files, which the `sops` program opens for us.
pub(crate) const NEED_SOPS: [&str; 4] =
    ["sops-mf-ini", "sops-ssh-envcmd", "sops-ssh-envfile", "sops-ssh-home"];
