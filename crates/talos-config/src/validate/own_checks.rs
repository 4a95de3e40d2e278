//! Our own checks: mistakes that Talos takes without a word and that show later, on the machine.
//!
//! They are warnings. Each has a code; none changes whether a configuration is valid.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::cursor::Cursor;
use super::go_compat::{self, Prefix, quoted};
use super::{Findings, certificates};
use crate::{Config, code_table, kinds};

code_table! {
    pub(super) CODES;
    ADDRESS = "check.address";
    CA = "check.ca";
    NAME = "check.name";
    PORT = "check.port";
    SECRET = "check.secret";
    SUBNET = "check.subnet";
}

pub(super) fn check(config: &Config, findings: &mut Findings) {
    if let Some(legacy) = config.document(kinds::V1ALPHA1.name, "").map(Cursor::root) {
        addresses(legacy.at("machine.network"), findings);
        names(legacy.at("machine"), findings);
        secrets(legacy, findings);
        authorities(legacy, findings);
        port(legacy.at("machine.features.kubePrism.port"), findings);
        port(legacy.at("cluster.controlPlane.localAPIServerPort"), findings);
        subnets(legacy.at("cluster.network"), findings);
    }
    if let Some(server) = config.document("KubeAPIServerConfig", "").map(Cursor::root) {
        port(server.at("apiPort"), findings);
    }
    if let Some(network) = config.document("KubeNetworkConfig", "").map(Cursor::root) {
        subnets(network, findings);
    }
}

fn addresses(network: Cursor<'_>, findings: &mut Findings) {
    let hosts = network.at("extraHostEntries").items().map(|entry| entry.at("ip"));
    for cursor in network.at("nameservers").items().chain(hosts) {
        if go_compat::parse_addr(cursor.text()).is_err() {
            let message = format!("{} is not an IP address", quoted(cursor.text()));
            findings.note(cursor, ADDRESS, message);
        }
    }
}

fn names(machine: Cursor<'_>, findings: &mut Findings) {
    for (key, cursor) in machine.at("env").entries() {
        let odd = key.is_empty() || key.contains(['=', ' ', '\0']);
        if odd || key.starts_with(|c: char| c.is_ascii_digit()) {
            let message = format!("{} is not the name of a variable", quoted(key));
            findings.note(cursor, NAME, message);
        }
    }
    for what in ["sysctls", "sysfs"] {
        for (_, cursor) in machine.at(what).entries().filter(|(key, _)| key.is_empty()) {
            findings.note(cursor, NAME, format!("an entry of {what} has no name"));
        }
    }
}

fn secrets(legacy: Cursor<'_>, findings: &mut Findings) {
    let (machine, token) = (legacy.at("machine"), legacy.at("machine.token"));
    if machine.is_set() && token.text().is_empty() {
        let message = ".machine.token is empty: the machine cannot join the others";
        findings.note(machine, SECRET, message);
    }
    let secret = legacy.at("cluster.secret");
    if !secret.text().is_empty() && go_compat::base64_length(secret.text()) != Ok(32) {
        let message = ".cluster.secret is not 32 bytes of base64: discovery will not work";
        findings.note(secret, SECRET, message);
    }
}

fn authorities(legacy: Cursor<'_>, findings: &mut Findings) {
    for path in ["machine.ca", "cluster.ca", "cluster.aggregatorCA", "cluster.etcd.ca"] {
        let crt = legacy.at(path).at("crt");
        let text = STANDARD.decode(crt.text()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let fine = text.is_some_and(|text| certificates::has_certificate(&text));
        if !crt.text().is_empty() && !fine {
            findings.note(crt, CA, format!(".{path}.crt is not a certificate"));
        }
    }
}

fn port(port: Cursor<'_>, findings: &mut Findings) {
    let number = port.number();
    if port.is_set() && !(1..=65535).contains(&number) {
        findings.note(port, PORT, format!("{number} is not a port"));
    }
}

/// Subnets that are none, and pods that have addresses of services.
fn subnets(network: Cursor<'_>, findings: &mut Findings) {
    let read = |key: &str| -> Vec<(Cursor<'_>, Option<Prefix>)> {
        let items = network.at(key).items();
        items.map(|cursor| (cursor, Prefix::parse(cursor.text()))).collect()
    };
    let (pods, services) = (read("podSubnets"), read("serviceSubnets"));
    for (cursor, prefix) in pods.iter().chain(&services) {
        if prefix.is_none() {
            let message = format!("{} is not a subnet", quoted(cursor.text()));
            findings.note(*cursor, SUBNET, message);
        }
    }
    for (cursor, pod) in &pods {
        for (other, service) in &services {
            if let (Some(pod), Some(service)) = (pod, service)
                && pod.overlaps(service)
            {
                let message = format!(
                    "the subnet {} of pods overlaps {} of services",
                    cursor.text(),
                    other.text()
                );
                findings.note(*cursor, SUBNET, message);
            }
        }
    }
}
