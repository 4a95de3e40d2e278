//! `talhelper gencommand …`: lines for a shell, each a call of talosctl.

use std::borrow::Cow;

use talconfig::{Images, Node, Talconfig};

use super::args::{Common, Verb};
use super::{Session, TalhelperError};

pub(super) fn run(
    session: &mut Session<'_>,
    verb: Verb,
    common: &Common,
    offline: bool,
) -> Result<(), TalhelperError> {
    let talconfig = session.load(&common.config_file, &common.env_files, false)?;
    let failed = |reason: String| {
        TalhelperError::new(format!(
            "failed to generate talosctl {} command: {reason}",
            verb.attempt()
        ))
    };
    let environment = session.environment.clone();
    let images = Images::for_talconfig(&talconfig, offline, session.host, &environment);
    let command = Command { talconfig: &talconfig, common, verb, images: &images };
    let lines = command.lines().map_err(failed)?;
    for line in lines {
        session.say(&line)?;
    }
    Ok(())
}

struct Command<'a> {
    talconfig: &'a Talconfig,
    common: &'a Common,
    verb: Verb,
    images: &'a Images<'a>,
}

impl Command<'_> {
    fn lines(&self) -> Result<Vec<String>, String> {
        let lines = match self.verb {
            Verb::Apply | Verb::Upgrade | Verb::Reset => self.on_machines()?,
            Verb::Bootstrap | Verb::Kubeconfig | Verb::UpgradeK8s => self.on_control_plane()?,
            Verb::Health => self.health(),
        };
        if lines.is_empty() {
            return Err(format!("node with IP or hostname {} not found", self.common.node));
        }
        Ok(lines)
    }

    /// Prints one line for every address of every selected machine.
    fn on_machines(&self) -> Result<Vec<String>, String> {
        let wanted = self.common.node.as_str();
        let mut lines = Vec::new();
        for node in &self.talconfig.nodes {
            // An image that cannot be named is an error, also for machines that are not selected.
            let image = match self.verb {
                Verb::Upgrade => {
                    Some(self.images.installer(node, &self.talconfig.talos()).map_err(|error| {
                        format!("failed to generate installer url for {}, {error}", node.hostname())
                    })?)
                }
                _ => None,
            };
            let addresses =
                if !wanted.is_empty() && node.addresses().iter().any(|one| one == wanted) {
                    vec![wanted.to_owned()]
                } else if wanted.is_empty() || wanted == node.hostname() {
                    node.addresses()
                } else {
                    continue;
                };
            for address in addresses {
                let mut flags = vec![format!("--nodes={}", quoted(&address))];
                if self.verb == Verb::Apply {
                    let name = self.talconfig.file_name(node).map_err(|error| error.to_string())?;
                    flags.push(format!("--file={}/{}", self.common.out_dir, quoted(&name)));
                }
                flags.extend(image.iter().map(|image| format!("--image={}", quoted(image))));
                flags.extend(self.common.extra_flags.iter().cloned());
                lines.push(self.line(&flags));
            }
        }
        Ok(lines)
    }

    /// One line for one control plane.
    fn on_control_plane(&self) -> Result<Vec<String>, String> {
        let wanted = self.common.node.as_str();
        for node in &self.talconfig.nodes {
            let by_address = !wanted.is_empty() && node.addresses().iter().any(|one| one == wanted);
            let by_name = !wanted.is_empty() && wanted == node.hostname();
            let by_default = wanted.is_empty() && node.is_control_plane();
            if !by_address && !by_name && !by_default {
                continue;
            }
            if !node.is_control_plane() {
                let what = if by_address { "IP" } else { "hostname" };
                return Err(format!("node with {what} {wanted} is not a controlplane node"));
            }
            let address = if by_address { wanted.to_owned() } else { first_address(node) };
            let mut flags = Vec::new();
            if self.verb == Verb::UpgradeK8s {
                flags.push(format!("--to=v{}", quoted(self.talconfig.kubernetes())));
            }
            flags.extend(self.common.extra_flags.iter().cloned());
            flags.push(format!("--nodes={}", quoted(&address)));
            return Ok(vec![self.line(&flags)]);
        }
        Ok(Vec::new())
    }

    fn health(&self) -> Vec<String> {
        let wanted = self.common.node.as_str();
        let address = if wanted.is_empty() {
            self.talconfig.nodes.iter().find(|node| node.is_control_plane()).map(first_address)
        } else {
            let mut nodes = self.talconfig.nodes.iter();
            let found = nodes.any(|node| {
                node.hostname() == wanted || node.addresses().iter().any(|one| one == wanted)
            });
            found.then(|| wanted.to_owned())
        };
        let line = address.map(|address| {
            let mut flags = vec![format!("--nodes={}", quoted(&address))];
            flags.extend(self.common.extra_flags.iter().cloned());
            self.line(&flags)
        });
        line.into_iter().collect()
    }

    fn line(&self, flags: &[String]) -> String {
        let talosconfig = format!("--talosconfig={}/talosconfig", self.common.out_dir);
        let words: Vec<&str> =
            std::iter::once(talosconfig.as_str()).chain(flags.iter().map(String::as_str)).collect();
        format!("talosctl {} {};", self.verb.command(), words.join(" "))
    }
}

/// Returns a word of the talconfig as a shell reads it unchanged; what the user typed stays as it is.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

fn first_address(node: &Node) -> String {
    node.addresses().into_iter().next().unwrap_or_default()
}
