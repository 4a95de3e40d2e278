//! Single rules of Talos, for those who look at parts of a configuration before there is one.
//!
//! In: a value or a text. Out: what is wrong, in Talos' words and order; nothing when it is fine.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::{Findings, devices, go_compat, labels, v1alpha1};
use crate::cel::{self, Environment};
use crate::format;
use crate::value::{Data, Value};

/// The problems of a value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Problems {
    /// The problems that make it invalid.
    pub errors: Vec<String>,
    /// The problems that do not.
    pub warnings: Vec<String>,
}

/// Labels of a node.
pub fn node_labels(map: &BTreeMap<&str, &str>) -> Vec<String> {
    labels::label_problems(map.iter().map(|(key, value)| (*key, *value)))
}

/// Annotations of a node.
pub fn node_annotations(map: &BTreeMap<&str, &str>) -> Vec<String> {
    labels::annotation_problems(map.iter().map(|(key, value)| (*key, *value)))
}

/// Taints of a node.
pub fn node_taints(map: &BTreeMap<&str, &str>) -> Vec<String> {
    labels::taint_problems(map.iter().map(|(key, value)| (*key, *value)))
}

/// Checks one entry of `machine.network.interfaces`; `is_member`: whether an interface of a name is part of a bond.
pub fn interface(device: &Value, is_member: impl Fn(&str) -> bool) -> Problems {
    collect(|findings| devices::check_one(Cursor::of(device), is_member, findings))
}

/// `cluster.network.cni`
pub fn cni(cni: &Value) -> Problems {
    collect(|findings| v1alpha1::cni(Cursor::of(cni), findings))
}

/// `cluster.inlineManifests`
pub fn inline_manifests(manifests: &Value) -> Problems {
    collect(|findings| v1alpha1::inline_manifests(Cursor::of(manifests), findings))
}

/// `machine.install.diskSelector`
pub fn disk_selector(selector: &Value) -> Option<String> {
    v1alpha1::disk_selector_problem(Cursor::of(selector))
}

/// Checks a URL with a host and, if there is one, a port that can be.
pub fn endpoint(text: &str) -> Result<(), String> {
    v1alpha1::endpoint_uri(text)
}

/// Checks an expression that selects a link.
pub fn link_expression(expression: &str) -> Result<(), String> {
    cel::check(expression, Environment::Link)
}

/// Parses an address with or without a prefix length, and writes it with one. Host bits stay.
pub fn prefix(text: &str) -> Option<String> {
    format::address::cidr(text).ok().or_else(|| {
        let address = format::address::ip(text).ok()?;
        let bits = if address.contains(':') { 128 } else { 32 };
        Some(format!("{address}/{bits}"))
    })
}

/// Returns whether a text is an address, without a zone.
pub fn is_ip(text: &str) -> bool {
    go_compat::is_ip(text)
}

/// Returns whether a text is an address with a prefix length.
pub fn is_cidr(text: &str) -> bool {
    go_compat::parse_cidr(text).is_ok()
}

/// Parses an address and a port, as they are written.
pub fn address_and_port(text: &str) -> Option<String> {
    format::address::ip_port(text).ok()
}

/// Returns whether a text is the name of a host.
pub fn is_domain(text: &str) -> bool {
    !text.is_empty() && v1alpha1::is_dns_name(text)
}

/// Checks an address; the error is in Go's words.
pub fn address(text: &str) -> Result<String, String> {
    go_compat::parse_addr(text)?;
    format::address::ip(text)
}

/// Checks an address with a prefix length; the error is in Go's words.
pub fn network(text: &str) -> Result<String, String> {
    go_compat::parse_prefix(text)?;
    format::address::cidr(text)
}

/// Nanoseconds of a duration such as `1m30s`.
pub fn duration(text: &str) -> Option<i64> {
    format::duration::nanoseconds(text)
}

/// Returns a duration in the one way to write it, such as `1m30s`.
pub fn spelled_duration(text: &str) -> Option<String> {
    format::duration::canonical(text).ok()
}

/// Returns the size of a partition in the way in which Talos writes it.
pub fn disk_size(text: &str) -> Result<Data, String> {
    format::size::disk(text)
}

/// Parses an amount of bytes such as `10GiB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    format::size::bytes(text)
}

/// Returns a text in double quotes as Go writes it.
pub fn quoted(text: &str) -> String {
    go_compat::quoted(text)
}

fn collect(check: impl FnOnce(&mut Findings)) -> Problems {
    let mut findings = Findings::new(None);
    check(&mut findings);
    let messages =
        |found: Vec<super::Finding>| found.into_iter().map(|finding| finding.problem.message);
    Problems {
        errors: messages(findings.errors).collect(),
        warnings: messages(findings.warnings).collect(),
    }
}
