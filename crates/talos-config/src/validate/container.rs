//! Rules for containers that Talos runs itself.

use std::collections::{BTreeMap, BTreeSet};

use super::cursor::Cursor;
use super::go_compat::{self, quoted};
use super::{Findings, image};
use crate::format::size;

pub(super) fn check(root: Cursor<'_>, findings: &mut Findings) {
    let name = root.at("name");
    if let Some(problem) = name_problem(name.text()) {
        findings.error(name, problem);
    }
    check_image(root, findings);
    for (index, variable) in root.at("environment").items().enumerate() {
        if !variable.text().contains('=') {
            let text = quoted(variable.text());
            let message = format!("environment[{index}]: {text} must be in KEY=value form");
            findings.error(variable, message);
        }
    }
    mounts(root.at("mounts"), findings);
    security(root.at("security"), findings);
    let mode = root.at("network.mode");
    if !matches!(mode.text(), "" | "none" | "host") {
        let text = quoted(mode.text());
        findings.error(mode, format!("unsupported network mode {text}, expected none or host"));
    }
    limits(root.at("resources.limits"), findings);
    depends_on(root, findings);
    for key in ["uid", "gid"] {
        let id = root.at("runAs").at(key);
        if id.number() < 0 {
            let message = format!("runAs.{key} must be non-negative, got {}", id.number());
            findings.error(id, message);
        }
    }
}

fn name_problem(name: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() {
        Some("name is required".to_owned())
    } else if name.len() > 63 {
        Some(format!("name {} must be 63 characters or fewer", quoted(name)))
    } else if !name.bytes().all(plain) {
        Some(format!(
            "name {}: name can only contain lowercase ASCII letters, digits and hyphens",
            quoted(name)
        ))
    } else {
        None
    }
}

fn check_image(root: Cursor<'_>, findings: &mut Findings) {
    let image = root.at("image");
    let text = image.text();
    if text.is_empty() {
        findings.error(image, "image is required");
        return;
    }
    match image::is_pinned(text) {
        None => {
            let message = format!(
                "invalid image reference {}: could not parse reference: {text}",
                quoted(text)
            );
            findings.error(image, message);
        }
        Some(false) => {
            let (name, text) = (quoted(root.at("name").text()), quoted(text));
            let message = format!(
                "container {name}: image {text} is not digest-pinned, the running image may change \
                 on restart"
            );
            findings.warn(image, message);
        }
        Some(true) => {}
    }
}

fn mounts(mounts: Cursor<'_>, findings: &mut Findings) {
    let mut destinations = BTreeSet::new();
    for (index, mount) in mounts.items().enumerate() {
        let kinds = ["userVolume", "tmpfs", "hostPath"];
        let set: Vec<&str> = kinds.into_iter().filter(|kind| mount.at(kind).is_set()).collect();
        let [kind] = set[..] else {
            let message = format!(
                "mounts[{index}]: exactly one of userVolume, tmpfs or hostPath must be set"
            );
            findings.error(mount, message);
            continue;
        };
        let problems = mount_problems(mount.at(kind), kind);
        if !problems.is_empty() {
            findings.error(mount, format!("mounts[{index}]: {}", problems.join("\n")));
            continue;
        }
        let destination = mount.at(kind).at("destination").text();
        if !destinations.insert(destination) {
            let destination = quoted(destination);
            findings.error(mount, format!("mounts[{index}]: duplicate destination {destination}"));
        }
    }
}

fn mount_problems(mount: Cursor<'_>, kind: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if kind == "userVolume" && mount.at("name").text().is_empty() {
        problems.push("userVolume.name is required".to_owned());
    }
    if kind == "hostPath" {
        problems.extend(path_problem("hostPath.source", mount.at("source").text()));
    }
    problems.extend(path_problem(&format!("{kind}.destination"), mount.at("destination").text()));
    let options: Vec<&str> = mount.at("options").items().map(Cursor::text).collect();
    for option in options.iter().filter(|option| !MOUNT_OPTIONS.contains(*option)) {
        problems.push(format!("unsupported mount option {}", quoted(option)));
    }
    if options.contains(&"ro") && options.contains(&"rw") {
        problems.push("mount options ro and rw are mutually exclusive".to_owned());
    }
    problems
}

const MOUNT_OPTIONS: [&str; 8] =
    ["ro", "rw", "noexec", "nosuid", "nodev", "noatime", "rbind", "rshared"];

fn path_problem(what: &str, path: &str) -> Option<String> {
    match path {
        "" => Some(format!("{what} is required")),
        _ if path.starts_with('/') => None,
        _ => Some(format!("{what} {} must be an absolute path", quoted(path))),
    }
}

fn security(security: Cursor<'_>, findings: &mut Findings) {
    let profile = security.at("profile");
    if !matches!(profile.text(), "" | "restricted" | "privileged") {
        let text = quoted(profile.text());
        let message =
            format!("unsupported security profile {text}, expected restricted or privileged");
        findings.error(profile, message);
    }
    let (add, drop) = (security.at("capabilities.add"), security.at("capabilities.drop"));
    for capability in add.items() {
        if capability.text() == "ALL" {
            findings.error(
                capability,
                "capabilities.add does not accept ALL, use profile: privileged instead",
            );
        } else if let Some(problem) = capability_problem(capability.text()) {
            findings.error(capability, format!("capabilities.add: {problem}"));
        }
    }
    for capability in drop.items().filter(|capability| capability.text() != "ALL") {
        if let Some(problem) = capability_problem(capability.text()) {
            findings.error(capability, format!("capabilities.drop: {problem}"));
        }
    }
    let dropped: Vec<&str> = drop.items().map(Cursor::text).collect();
    for capability in add.items().filter(|capability| dropped.contains(&capability.text())) {
        let text = quoted(capability.text());
        findings.error(capability, format!("capability {text} appears in both add and drop"));
    }
}

fn capability_problem(name: &str) -> Option<String> {
    let shown = quoted(name);
    if name.is_empty() {
        Some("capability name must not be empty".to_owned())
    } else if name.starts_with("CAP_") {
        Some(format!("capability {shown} must be given without the CAP_ prefix"))
    } else if name.to_uppercase() != name {
        Some(format!("capability {shown} must be upper case"))
    } else if !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
        Some(format!("capability {shown} may only contain upper case letters and underscores"))
    } else {
        None
    }
}

fn limits(limits: Cursor<'_>, findings: &mut Findings) {
    let (memory, cpu) = (limits.at("memory"), limits.at("cpu"));
    if !memory.text().is_empty()
        && let Err(reason) = size::bytes(memory.text())
    {
        let text = quoted(memory.text());
        let number = memory.text().starts_with(|c: char| c.is_ascii_digit());
        let reason = if number {
            reason
        } else {
            "strconv.ParseFloat: parsing \"\": invalid syntax".to_owned()
        };
        findings.error(memory, format!("limits.memory {text} is not a valid size: {reason}"));
    }
    if !cpu.text().is_empty()
        && let Err(reason) = millicores(cpu.text())
    {
        findings.error(cpu, format!("limits.cpu {} {reason}", quoted(cpu.text())));
    }
}

fn millicores(text: &str) -> Result<(), String> {
    let number = text.strip_suffix('m').ok_or("must be expressed in millicores, e.g. 1500m")?;
    match go_compat::parse_uint(number, 64) {
        Err(reason) => Err(format!("is not a valid millicore quantity: {reason}")),
        Ok(0) => Err("must be greater than zero".to_owned()),
        Ok(_) => Ok(()),
    }
}

fn depends_on(root: Cursor<'_>, findings: &mut Findings) {
    let depends = root.at("dependsOn");
    for path in depends.at("paths").items() {
        if let Some(problem) = path_problem("dependsOn.paths entry", path.text()) {
            findings.error(path, problem);
        }
    }
    for network in depends.at("networks").items() {
        if !["addresses", "connectivity", "hostname", "etcfiles"].contains(&network.text()) {
            let text = quoted(network.text());
            findings.error(network, format!("unsupported dependsOn.networks condition {text}"));
        }
    }
    for container in depends.at("containers").items() {
        if container.text().is_empty() {
            findings.error(container, "dependsOn.containers entry must not be empty");
        } else if container.text() == root.at("name").text() {
            let name = quoted(container.text());
            findings.error(container, format!("container {name} cannot depend on itself"));
        }
    }
}

/// Checks what containers wait for: each must be there, and none may wait for itself in the end.
pub(super) fn check_dependencies(containers: &[Cursor<'_>], findings: &mut Findings) {
    let edges: BTreeMap<&str, Vec<&str>> = containers
        .iter()
        .map(|container| {
            let others = container.at("dependsOn.containers").items().map(Cursor::text);
            (container.at("name").text(), others.collect())
        })
        .collect();
    for container in containers {
        let name = quoted(container.at("name").text());
        for other in container.at("dependsOn.containers").items() {
            if !edges.contains_key(other.text()) {
                let text = quoted(other.text());
                let message = format!(
                    "container {name} depends on container {text}, which is not configured"
                );
                findings.error(other, message);
            }
        }
    }
    let mut walk = Walk { edges: &edges, done: BTreeSet::new(), cycles: BTreeSet::new() };
    for name in edges.keys() {
        walk.from(name, &mut Vec::new());
    }
    if !walk.cycles.is_empty() {
        let cycles: Vec<String> = walk.cycles.into_iter().collect();
        let message = format!("container dependsOn cycle detected: {}", cycles.join(", "));
        findings.error(containers[0], message);
    }
}

struct Walk<'a> {
    edges: &'a BTreeMap<&'a str, Vec<&'a str>>,
    done: BTreeSet<&'a str>,
    cycles: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    fn from(&mut self, name: &'a str, path: &mut Vec<&'a str>) {
        if self.done.contains(name) {
            return;
        }
        if let Some(start) = path.iter().position(|before| *before == name) {
            let mut cycle = path[start..].to_vec();
            cycle.push(name);
            self.cycles.insert(cycle.join(" -> "));
            return;
        }
        path.push(name);
        for other in self.edges.get(name).into_iter().flatten() {
            if self.edges.contains_key(other) {
                self.from(other, path);
            }
        }
        path.pop();
        self.done.insert(name);
    }
}
