//! The rules of a spec as a whole, for every door.

use std::collections::BTreeMap;

use domain::{Network, ProviderName, Span};
use talos_config::{Diagnostic, Location, Release};

use super::error::SpecRule as Rule;
use super::{ClusterSpec, Machine, Policy};

/// Returns everything that is wrong, in the order of the rules.
pub(super) fn broken(spec: &ClusterSpec) -> Vec<Diagnostic<Location>> {
    let mut problems = Vec::new();
    no_control_plane(spec, &mut problems);
    duplicate_names(spec, &mut problems);
    duplicate_addresses(spec, &mut problems);
    machine_sources(spec, &mut problems);
    overlapping_networks(spec, &mut problems);
    versions(spec, &mut problems);
    short_times(spec, &mut problems);
    problems
}

fn no_control_plane(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    if spec.control_plane.machines.is_empty() {
        let first = spec.machines().next().map(|(machine, _)| machine);
        let origin = first.map_or_else(Location::default, |machine| machine.origin);
        let message = first.map_or_else(
            || "there is no control plane".to_owned(),
            |machine| format!("{} would be the first machine, but is a worker", machine.name),
        );
        let problem = Rule::NoControlPlane.problem(origin, message);
        problems.push(problem.with_hint("list a machine under controlPlane.machines"));
    }
}

fn duplicate_names(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    let machines = spec.machines().map(|(machine, _)| (machine.name.as_str(), machine.origin));
    let pools = spec.pools.iter().map(|pool| (pool.name.as_str(), pool.origin));
    for (what, names) in [("machine", machines.collect::<Vec<_>>()), ("pool", pools.collect())] {
        let mut seen: BTreeMap<&str, Location> = BTreeMap::new();
        for (name, origin) in names {
            if let Some(first) = seen.insert(name, origin) {
                let message = format!("two {what}s are called {name}{}", there(first));
                let problem = Rule::DuplicateName.problem(origin, message);
                problems.push(problem.with_hint(format!("give each {what} a name of its own")));
            }
        }
    }
}

fn duplicate_addresses(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    let mut seen: BTreeMap<_, &Machine> = BTreeMap::new();
    for (machine, _) in spec.machines() {
        let Some(address) = machine.address() else { continue };
        // A machine that is listed twice is told once, by its name.
        if let Some(first) =
            seen.insert(address, machine).filter(|first| first.name != machine.name)
        {
            let message = format!(
                "{} has the address {address} of {}{}",
                machine.name,
                first.name,
                there(first.origin)
            );
            let problem = Rule::DuplicateAddress.problem(machine.origin, message);
            problems.push(problem.with_hint("correct one of the two addresses"));
        }
    }
}

/// Requires a provider that makes machines, which `metal` does not, for machines without address.
fn machine_sources(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    let made = spec.machines().find(|(machine, _)| machine.class().is_some());
    let makes =
        spec.provider.as_ref().is_some_and(|provider| provider.as_str() != ProviderName::METAL);
    if let (Some((machine, _)), false) = (made, makes) {
        let message =
            format!("{} has no address, and there is no provider that makes it", machine.name);
        let hint = "give it an address; this release has no provider that makes machines";
        problems.push(Rule::MachineSource.problem(machine.origin, message).with_hint(hint));
    }
}

fn overlapping_networks(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    let network = &spec.network;
    let named = |what: &'static str, networks: &[Network]| -> Vec<(&'static str, Network)> {
        networks.iter().map(|network| (what, *network)).collect()
    };
    let all = [named("pods", &network.pods), named("services", &network.services)].concat();
    let note = |origin: Location, message: String, problems: &mut Vec<Diagnostic<Location>>| {
        let hint = "set network.pods and network.services to ranges that nothing else uses";
        problems.push(Rule::OverlappingNetworks.problem(origin, message).with_hint(hint));
    };
    for (at, (what, one)) in all.iter().enumerate() {
        for (other_what, other) in &all[at + 1..] {
            if one.overlaps(other) {
                let message = format!("{one} of {what} overlaps {other} of {other_what}");
                note(network.origin, message, problems);
            }
        }
    }
    for (machine, _) in spec.machines() {
        let Some(address) = machine.address() else { continue };
        if let Some((what, network)) = all.iter().find(|(_, range)| range.contains(address)) {
            let message = format!(
                "{} has the address {address} in {network}, which is for {what}",
                machine.name
            );
            note(machine.origin, message, problems);
        }
    }
}

fn versions(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    let origins = &spec.releases;
    let mut note = |origin: Location, message: String, hint: String| {
        problems.push(Rule::Version.problem(origin, message).with_hint(hint));
    };
    let release = spec.talos.contract().release().filter(|release| release.newest.is_some());
    match release.and_then(|release| release.kubernetes.as_ref()) {
        None => {
            let (oldest, newest) = Release::managed();
            note(
                origins.talos,
                format!("Talos {} is not among the releases that can be managed", spec.talos),
                format!("{} to {} can", oldest.contract, newest.contract),
            );
        }
        Some(runs) if !runs.has(&spec.kubernetes) => note(
            origins.kubernetes,
            format!("Talos {} does not run Kubernetes {}", spec.talos, spec.kubernetes),
            format!("it runs {runs}"),
        ),
        Some(_) if spec.contract > spec.talos.contract() => note(
            origins.talos,
            format!("Talos {} cannot read configuration of {}", spec.talos, spec.contract),
            format!("contract is {} or older", spec.talos.contract()),
        ),
        Some(_) => {}
    }
}

fn short_times(spec: &ClusterSpec, problems: &mut Vec<Diagnostic<Location>>) {
    let Policy { install_within, heals_within, origins, .. } = &spec.policy;
    if *install_within < SHORTEST_INSTALL {
        let message = format!("no machine is installed and boots within {install_within}");
        let hint = format!("set policy.installWithin to {SHORTEST_INSTALL} or more");
        problems.push(Rule::TooShort.problem(origins.install_within, message).with_hint(hint));
    }
    if *heals_within < SHORTEST_HEALING {
        let message = format!("no component restarts within {heals_within}");
        let hint = format!("set policy.healsWithin to {SHORTEST_HEALING} or more");
        problems.push(Rule::TooShort.problem(origins.heals_within, message).with_hint(hint));
    }
}

fn there(origin: Location) -> String {
    if origin.line == 0 { String::new() } else { format!(" (line {})", origin.line) }
}

/// A container boots in seconds, and nothing that is installed in less than a minute.
const SHORTEST_INSTALL: Span = Span::minutes(1);
/// Talos reads the pods of a control plane every fifteen seconds, and a component needs some to start.
const SHORTEST_HEALING: Span = Span::minutes(1);
