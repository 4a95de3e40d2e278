//! What is around a talconfig: env files, secrets, encrypted files, flags, and what is done after the first run.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Maker;
use super::anchors::push;
use super::combinations::{ENV_FILES, FLAGS, SEALED, SECRETS, annotate};

impl Maker {
    /// Makes the first machine need a file that is encrypted.
    pub(super) fn put_sealed(&mut self, cluster: &mut Value) {
        let name = self.one_shown(SEALED, 20);
        let node = &mut cluster["nodes"][0];
        let (file, text) = match name {
            "an encrypted patch" => {
                push(&mut node["patches"], json!("@sealed.sops.yaml"));
                ("sealed.sops.yaml", recorded("sops-patch", "p.sops.yaml"))
            }
            "an encrypted machine file" => {
                let file = json!({
                    "content": "@sealed.yaml",
                    "op": "create",
                    "path": "/var/sealed",
                    "permissions": 0o600,
                    "skipEnvsubst": self.random.one_in(2),
                });
                push(&mut node["machineFiles"], file);
                ("sealed.yaml", recorded("sops-mf-yaml", "y.yaml"))
            }
            "an encrypted inline manifest" => {
                let manifest = json!({ "name": "sealed", "contents": "@sealed.yaml" });
                push(&mut cluster["inlineManifests"], manifest);
                ("sealed.yaml", recorded("sops-inline", "m.yaml"))
            }
            "encrypted extraManifests" => {
                push(&mut node["extraManifests"], json!("sealed.yaml"));
                ("sealed.yaml", recorded("sops-extramanifest", "m.yaml"))
            }
            _ => return,
        };
        self.files.insert(file.to_owned(), text);
        self.give_key();
    }

    /// Sets variables, with env files or without, and says where secrets are.
    pub(super) fn surround(&mut self, cluster: &mut Value) {
        for name in ["OUTSIDE", "BOTH"] {
            self.variables.insert(name.to_owned(), "from-outside".to_owned());
        }
        let name = self.one_shown(ENV_FILES, 3);
        let text = ENV_FILES.iter().find(|file| file.name == name).map_or("", |file| file.text);
        match name {
            "several env files" => {
                self.beside("talenv.yaml", "VALUE: first\nBOTH: from-file\nNOTHING: x\n");
                self.beside("talenv.yml", "VALUE: from-env\nNOTHING:\n");
            }
            "env files by flag" => {
                self.beside("one.yaml", "VALUE: first\nBOTH: from-file\n");
                self.beside("two.yml", "VALUE: from-env\nNOTHING:\n");
                self.flags.extend(words("-e one.yaml,two.yml"));
            }
            "an encrypted env file" | "a key of SOPS in an env file" => {
                self.beside("talenv.sops.yaml", &recorded("sops-env-key", "talenv.yaml"));
                annotate(cluster, "sealed", "${A} ${NUM} ${F} ${B} ${D} ${Q}");
                if name == "an encrypted env file" {
                    self.beside("talenv.yaml", ENV);
                    self.give_key();
                } else {
                    let key = AGE_KEY.lines().find(|line| line.starts_with("AGE-SECRET"));
                    let key = key.expect("a key");
                    self.beside("talenv.yaml", &format!("SOPS_AGE_KEY: {key}\n{ENV}"));
                }
            }
            "variables of the process alone" => {
                self.variables.insert("VALUE".to_owned(), "from-process".to_owned());
                self.variables.insert("NOTHING".to_owned(), String::new());
            }
            "releases from an env file" => {
                let mut text = ENV.to_owned();
                for key in ["talosVersion", "kubernetesVersion"] {
                    if let Some(version) = cluster[key].as_str() {
                        text.extend([key, ": ", version, "\n"]);
                        cluster[key] = json!(format!("${{{key}}}"));
                    }
                }
                self.beside("talenv.yaml", &text);
            }
            "" => self.beside("talenv.yaml", ENV),
            _ => self.beside("talenv.yaml", text),
        }
        self.secrets();
        if self.shows("a talconfig elsewhere", 15) {
            self.flags.extend(words("-c sub/talconfig.yaml"));
        }
    }

    fn secrets(&mut self) {
        let name = self.one_shown(SECRETS, 3);
        let text = if name == "secrets with AES-CBC" || self.minor == 2 {
            let further = "secrets:\n  aescbcencryptionsecret: YWVzLWNiYy1hZXMtY2JjLWFlcy1jYmMtYWVzLWNiYzE=\n";
            OWN_SECRETS.replace("secrets:\n", further)
        } else {
            OWN_SECRETS.to_owned()
        };
        let token = text.lines().skip_while(|line| *line != "trustdinfo:").nth(1);
        let token =
            token.and_then(|line| line.strip_prefix("  token: ")).expect("a token").to_owned();
        let other = text.replace(&token, "other0.0123456789abcdef");
        match name {
            "no secrets" => {}
            "secrets that are not where they should be" => {
                self.flags.extend(words("-s nowhere.yaml"));
            }
            "the last of several secrets files" => {
                self.beside("talsecret.yaml", &other);
                self.beside("talsecret.sops.yml", &text);
            }
            "several secrets files by flag" => {
                self.beside("first.yaml", &other);
                self.beside("second.yaml", &text);
                self.flags.extend(words("-s first.yaml,second.yaml"));
            }
            "secrets with variables" => {
                self.beside("talsecret.yaml", &text.replace(&token, "${TRUSTD_TOKEN}"));
                self.variables.insert("TRUSTD_TOKEN".to_owned(), token);
            }
            "encrypted secrets" => {
                let text = recorded("sops-secret", "talsecret.sops.yaml");
                self.beside("talsecret.sops.yaml", &text);
                self.give_key();
            }
            // The shared ones lack what Talos 1.2 needs.
            "" if self.minor > 2 => self.flags.extend(words("-s SECRET")),
            _ => {
                let file = *self.random.pick(&["talsecret.yaml", "talsecret.yml"]);
                self.beside(file, &text);
            }
        }
    }

    /// Whether secrets are made anew by every run.
    pub(super) fn is_random(&self) -> bool {
        self.shown.contains("no secrets")
            || self.shown.contains("secrets that are not where they should be")
    }

    /// Puts in what is wrong.
    pub(super) fn spoil(&mut self, cluster: &mut Value) {
        let Some(fault) = self.fault else { return };
        for (path, text) in fault.sets {
            let (parent, key) = path.rsplit_once('/').expect("a path");
            let parent = cluster.pointer_mut(parent).and_then(Value::as_object_mut);
            let parent = parent.expect("an object that is there");
            if text.is_empty() {
                parent.remove(key);
            } else {
                parent.insert(key.to_owned(), super::parsed(text));
            }
        }
        self.flags.extend(words(fault.flags));
    }

    pub(super) fn commands(&mut self) -> Vec<Vec<String>> {
        let mut generate = words("genconfig --offline-mode");
        let flag = self.one_shown(FLAGS, 6);
        if flag == "--dry-run" && self.is_random() {
            self.shown.remove(flag);
        } else {
            self.flags.extend(words(flag));
        }
        generate.extend(self.flags.iter().cloned());
        let mut commands = vec![generate];
        for _ in 0..self.random.below(3) {
            let line = self.random.pick(FURTHER);
            commands.push(words(line));
        }
        commands
    }

    /// Where the talconfig is. What it names is found from there.
    pub(super) fn place(&mut self) -> String {
        if !self.shown.contains("a talconfig elsewhere") {
            return "talconfig.yaml".to_owned();
        }
        let files = std::mem::take(&mut self.files);
        self.files = files.into_iter().map(|(name, text)| (format!("sub/{name}"), text)).collect();
        "sub/talconfig.yaml".to_owned()
    }

    /// What is done where something has been done before. Gives the files that change before that.
    pub(super) fn run_again(
        &mut self,
        written: &Value,
        place: &str,
        commands: &mut Vec<Vec<String>>,
    ) -> BTreeMap<usize, (String, String)> {
        let mut changes = BTreeMap::new();
        if self.shows("a .gitignore that is there", 8) {
            let folder = if self.shown.contains("-o out/deep") {
                "out/deep"
            } else if self.shown.contains("-o out/") {
                "out"
            } else {
                "clusterconfig"
            };
            let text = *self.random.pick(GITIGNORES);
            self.beside(&format!("{folder}/.gitignore"), text);
        }
        let is_written = !self.is_random() && !self.shown.contains("--dry-run");
        if is_written && self.shows("a second run", 12) {
            commands.push(commands[0].clone());
        }
        if is_written && self.shows("a dry run over what is there", 8) {
            let mut changed = written.clone();
            changed["additionalMachineCertSans"] = json!(["changed.lan"]);
            changed["domain"] = json!("changed.lan");
            changes.insert(commands.len(), (place.to_owned(), self.text(&changed)));
            let mut again = commands[0].clone();
            again.push("--dry-run".to_owned());
            commands.push(again);
        }
        changes
    }

    fn beside(&mut self, name: &str, text: &str) {
        self.beside.insert(name.to_owned(), text.to_owned());
    }

    /// Lets files be opened that are encrypted.
    fn give_key(&mut self) {
        self.variables.insert("SOPS_AGE_KEY_FILE".to_owned(), "AGEKEY".to_owned());
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// A file of a recorded case; it was encrypted by the real sops.
fn recorded(case: &str, file: &str) -> String {
    let begin = format!("{{\"name\": \"{case}\",");
    let mut cases = include_str!("../../talhelper/cases.jsonl").lines();
    let case = super::parsed(cases.find(|line| line.starts_with(&begin)).expect("a case"));
    case["in"][file].as_str().expect("a file").to_owned()
}

const ENV: &str = "# variables\nVALUE: from-env\nBOTH: from-file\nNOTHING:\n";

const OWN_SECRETS: &str = include_str!("../../talhelper/throw-away-secrets/talsecret.yaml");

const AGE_KEY: &str = include_str!("../../talhelper/throw-away-secrets/age.key");

/// What is done besides.
const FURTHER: &[&str] = &[
    "gencommand apply --extra-flags --insecure",
    "gencommand apply -n n1",
    "gencommand upgrade --offline-mode",
    "gencommand upgrade --offline-mode -n n0",
    "gencommand bootstrap",
    "gencommand health",
    "gencommand health -n n1",
    "gencommand kubeconfig -n 10.0.0.10",
    "gencommand reset",
    "gencommand reset -n nobody",
    "gencommand upgrade-k8s",
    "genurl installer --offline-mode",
    "genurl installer --offline-mode -n n1",
    "genurl image --offline-mode",
    "genurl image --offline-mode -n n0",
    "genurl installer --offline-mode -c none -e siderolabs/a,siderolabs/b -k x=y",
    "validate talconfig",
    "validate talconfig --no-substitute",
];

const GITIGNORES: &[&str] = &[
    "",
    "mine",
    "*.yaml\n",
    "c1-*\n!c1-n0.yaml\n",
    "# c1-n0.yaml\n/c1-n1.yaml   \n",
    "**/n[01].yaml\ntalos*\n",
    "clusterconfig/\nn?.yaml\n",
];
