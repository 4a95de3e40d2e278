//! Commands of talosctl and talhelper, and their counterparts in `ichor`.

use crate::Error;

/// Counterpart of a command.
enum Instead {
    /// The same command under another name.
    Command(&'static str),
    /// No counterpart: the missing feature, and a hint.
    Missing(&'static str, &'static str),
}

use Instead::{Command, Missing};

/// Words after `ichor`, and their counterparts.
const ELSEWHERE: &[(&str, Instead)] = &[
    ("apply-config", Command("ichor node apply-config")),
    ("bootstrap", Command("ichor node bootstrap")),
    ("edit", Command("ichor node edit")),
    ("meta", Command("ichor node meta")),
    ("reboot", Command("ichor node reboot")),
    ("reset", Command("ichor node reset")),
    ("rollback", Command("ichor node rollback")),
    ("shutdown", Command("ichor node shutdown")),
    ("upgrade", Command("ichor node upgrade")),
    ("upgrade talos", Command("ichor node upgrade")),
    ("upgrade k8s", KUBERNETES),
    ("upgrade-k8s", KUBERNETES),
    ("wipe", Command("ichor node wipe disk")),
    ("etcd alarm disarm", Command("ichor node etcd alarms disarm")),
    ("etcd alarm list", Command("ichor etcd alarms")),
    ("etcd defrag", Command("ichor node etcd defrag")),
    ("etcd forfeit-leadership", Command("ichor node etcd forfeit-leadership")),
    ("etcd leave", Command("ichor node etcd leave")),
    ("etcd remove-member", Command("ichor node etcd remove-member")),
    ("image pull", Command("ichor node image pull")),
    ("image default", Missing("a list of default images", "run `ichor image list -n NODE`")),
    ("patch machineconfig", Command("ichor node patch")),
    ("patch machineconfigs", Command("ichor node patch")),
    ("patch mc", Command("ichor node patch")),
    ("machineconfig", Command("ichor patch")),
    ("machineconfig gen", Command("ichor gen config")),
    ("machineconfig patch", Command("ichor patch")),
    ("inject", Missing("service accounts for the Talos API", RUN_HELP)),
    ("interfaces", Command("ichor links")),
    ("completion", Command("ichor completions")),
    ("cgroups", Missing("a view of control groups", "run `ichor stats -n NODE`")),
    (
        "cluster",
        Missing("local test clusters", "run `ichor init --help` for a cluster of machines"),
    ),
    ("conformance", Missing("conformance tests", RUN_HELP)),
    ("dashboard", Missing("a dashboard", "run `ichor status --watch`")),
    ("debug", Missing("debug containers", RUN_HELP)),
    ("restart", Missing("restarting containers", "run `ichor node service ID restart -n NODE`")),
    ("rotate-ca", Missing("rotation of certificate authorities", "run `ichor certs -n NODE`")),
    ("remove", Missing("removing a machine from a cluster", "run `ichor node reset -n NODE`")),
    ("backup", Command("ichor etcd snapshot")),
    ("genconfig", Command("ichor talhelper genconfig")),
    ("gensecret", Command("ichor talhelper gensecret")),
    ("gencommand", Command("ichor talhelper gencommand")),
    ("genurl", Command("ichor talhelper genurl")),
    ("genschema", Command("ichor talhelper genschema")),
];

const KUBERNETES: Instead =
    Missing("upgrading Kubernetes", "run `talosctl upgrade-k8s` until Ichor can do it");
const RUN_HELP: &str = "run `ichor --help` for the list of commands";

/// Explains a refused command line that begins with a command of another program.
pub(super) fn named(words: &[&str]) -> Option<Error> {
    if let ["services" | "service", id, action @ ("start" | "stop" | "restart"), ..] = *words {
        return Some(Error::Usage {
            message: format!("`ichor services` only shows services: it cannot {action} {id}"),
            hint: format!("run `ichor node service {id} {action}`"),
        });
    }
    let (typed, instead) = (1..=words.len().min(3)).rev().find_map(|count| {
        let typed = words[..count].join(" ");
        let (_, instead) = ELSEWHERE.iter().find(|(name, _)| *name == typed)?;
        Some((typed, instead))
    })?;
    let (message, hint) = match instead {
        Command(name) => (format!("unknown command `ichor {typed}`"), format!("run `{name}`")),
        Missing(what, hint) => (
            format!("unknown command `ichor {typed}`: {what} is not supported yet"),
            (*hint).to_owned(),
        ),
    };
    Some(Error::Usage { message, hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word that is a command by now must not be called missing.
    #[test]
    fn commands_of_other_programs_are_none_of_ours_and_their_hints_parse() {
        for (typed, instead) in ELSEWHERE {
            let mut words: Vec<&str> = ["ichor"].into_iter().chain(typed.split(' ')).collect();
            if let ["ichor", "patch", ..] = *words {
                words.push("-n");
            }
            assert!(crate::args::check(&words).is_err(), "`ichor {typed}` exists");
            if let Command(name) = instead {
                let words: Vec<&str> = name.split(' ').collect();
                assert_eq!(crate::args::check(&words), Ok(()), "{name}");
            }
        }
    }
}
