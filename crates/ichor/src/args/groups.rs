//! The help of `ichor` itself: commands in groups, by task.

use std::fmt::Write as _;

use clap::Command;

use super::leading::LEADING;
use super::log;

/// Groups and their commands, in the order of the help. A command in no group is shown in the last one.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "import"]),
    (
        "Cluster",
        &[
            "status", "health", "plan", "apply", "diff", "resume", "cancel", "show", "approve",
            "history", "destroy",
        ],
    ),
    ("Files", &["gen", "patch", "validate", "lint", "explain"]),
    (
        "Inspect machines",
        &[
            "get",
            "services",
            "logs",
            "dmesg",
            "events",
            "containers",
            "stats",
            "image",
            "memory",
            "processes",
            "mounts",
            "disks",
            "links",
            "netstat",
            "time",
            "usage",
            "ls",
            "read",
            "cp",
            "etcd",
            "certs",
            "kubeconfig",
            "pcap",
            "support",
            "inspect",
        ],
    ),
    ("Act on machines", &["node"]),
    ("Other", &["config", "extensions", "version", "completions", "talhelper"]),
];

/// Sets the help template with groups.
pub(super) fn grouped(root: Command) -> Command {
    let template = template(&root);
    root.help_template(template)
}

fn template(root: &Command) -> String {
    let styles = root.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let last = GROUPS.len() - 1;
    for (number, (group, names)) in GROUPS.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{header}{group}:{header:#}");
        let listed = names.iter().filter_map(|name| root.find_subcommand(name));
        let others = root.get_subcommands().filter(|command| {
            number == last && !is_grouped(command.get_name()) && !command.is_hide_set()
        });
        for command in listed.chain(others) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:<11}{literal:#}  {about}", command.get_name());
        }
    }
    let _ =
        writeln!(text, "\n{header}Options, before or after the command that takes them:{header:#}");
    for (option, about) in LEADING.iter().map(super::leading::Leading::help) {
        let _ = writeln!(text, "  {literal}{option:<25}{literal:#}  {about}");
    }
    let _ = writeln!(text, "\n{header}Options of every command:{header:#}");
    for (option, about) in log::HELP {
        let _ = writeln!(text, "  {literal}{option:<25}{literal:#}  {about}");
    }
    text + "\n{options}\n\nRun `ichor help COMMAND` for the options and examples of a command.{after-help}"
}
