//! Rules for the documents about the system itself: what runs on it, where it reports to, what it trusts.

use super::cursor::Cursor;
use super::go_compat::{self, quoted};
use super::storage::TEN_SECONDS;
use super::{Findings, certificates, container, image, labels, oci};
use crate::REDACTED;
use crate::cel::{self, Environment};

/// Checks a document; false when its kind is none of these.
pub(super) fn check(kind: &str, root: Cursor<'_>, findings: &mut Findings) -> bool {
    match kind {
        "DiscoveryIdentityConfig" => first(discovery_identity(root), root, findings),
        "DiscoveryServiceConfig" => first(discovery_service(root), root, findings),
        "UnattendedInstallConfig" => unattended_install(root, findings),
        "RegistryMirrorConfig" => registry_mirror(root, findings),
        "RegistryAuthConfig" => registry_auth(root, findings),
        "RegistryTLSConfig" => registry_tls(root, findings),
        "CRIBaseRuntimeSpecConfig" => first(oci::check(root.at("overrides")), root, findings),
        "CRICustomizationConfig" => {
            let name = root.at("name");
            if let Err(reason) = labels::qualified_name(name.text()) {
                findings.error(name, format!("invalid name: {reason}"));
            }
            if name.text() == "customization" {
                findings.error(
                    name,
                    "name \"customization\" is reserved for the legacy CRI customization",
                );
            }
        }
        "ImageVerificationConfig" => image_verification(root, findings),
        "ExtensionServiceConfig" => first(extension_service(root), root, findings),
        "EventSinkConfig" => {
            if let Err(reason) = go_compat::split_host_port(root.at("endpoint").text()) {
                findings.error(root.at("endpoint"), format!("event sink endpoint: {reason}"));
            }
        }
        "KmsgLogConfig" => first(kmsg_log(root), root, findings),
        "WatchdogTimerConfig" => first(watchdog(root), root, findings),
        "OOMConfig" => oom(root, findings),
        "EnvironmentConfig" => environment(root, findings),
        "EtcFileConfig" => first(etc_file(root.at("name").text()), root.at("name"), findings),
        "SysctlConfig" => no_empty_key(root, "sysctl", findings),
        "SysfsConfig" => no_empty_key(root, "sysfs", findings),
        "KernelModuleConfig" => findings.require(root.at("name"), "name is required"),
        "SideroLinkConfig" => first(siderolink(root), root.at("apiUrl"), findings),
        "ContainerConfig" => container::check(root, findings),
        _ => return false,
    }
    true
}

/// For documents of which only the first problem is told.
fn first(outcome: Result<(), String>, cursor: Cursor<'_>, findings: &mut Findings) {
    if let Err(reason) = outcome {
        findings.error(cursor, reason);
    }
}

fn unless(wrong: bool, reason: &str) -> Result<(), String> {
    if wrong { Err(reason.to_owned()) } else { Ok(()) }
}

fn discovery_identity(root: Cursor<'_>) -> Result<(), String> {
    let secret = root.at("clusterSecret").text();
    unless(root.at("clusterID").text().is_empty(), "clusterID is required")?;
    unless(secret.is_empty(), "clusterSecret is required")?;
    // talosctl shows the secret here; we do not.
    match go_compat::base64_length(secret) {
        Ok(32) => Ok(()),
        Ok(length) => {
            Err(format!("invalid clusterSecret: expected 32 bytes, got {length}: {REDACTED}"))
        }
        Err(reason) => Err(format!(
            "invalid clusterSecret: failed to decode from base64: {REDACTED}; {reason}"
        )),
    }
}

fn discovery_service(root: Cursor<'_>) -> Result<(), String> {
    unless(root.at("name").text().is_empty(), "name is required")?;
    let url = root.at("endpoint").url().ok_or("endpoint is required")?;
    unless(url.scheme.is_empty(), "endpoint scheme is required")?;
    let known = ["http", "https", "grpc"].contains(&url.scheme.as_str());
    unless(!known, "endpoint scheme must be http://, https:// or grpc://")?;
    unless(url.host_name().is_empty(), "endpoint host is required")
}

fn unattended_install(root: Cursor<'_>, findings: &mut Findings) {
    if root.at("installer.image").text().is_empty() {
        findings.warn(
            root,
            "installer.image is not set, if Talos is not booted from asset built by Image Factory, \
             installation will fail",
        );
    }
    let selector = root.at("provisioning.diskSelector.match");
    if !selector.is_set() {
        findings.error(selector, "provisioning.diskSelector.match is required");
    } else if let Err(reason) = cel::check(selector.text(), Environment::Disk) {
        findings.error(selector, format!("provisioning.diskSelector.match: {reason}"));
    }
}

fn registry_mirror(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("name"), "name must be specified");
    for (index, endpoint) in root.at("endpoints").items().enumerate() {
        let cursor = endpoint.at("url");
        match cursor.url() {
            None => findings.error(endpoint, format!("endpoints[{index}].url must be specified")),
            Some(url) if !matches!(url.scheme.as_str(), "http" | "https") => {
                let scheme = quoted(&url.scheme);
                let message = format!("endpoints[{index}].url has unsupported scheme: {scheme}");
                findings.error(cursor, message);
            }
            Some(_) => {}
        }
    }
}

fn registry_auth(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("name"), "name must be specified");
    let has = |key: &str| !root.at(key).text().is_empty();
    if has("username") && has("identityToken") {
        findings.error(
            root.at("identityToken"),
            "only one of username/password or identityToken authentication can be specified",
        );
    }
    if has("auth") && (has("username") || has("identityToken")) {
        findings.error(
            root.at("auth"),
            "only one of auth, username/password or identityToken authentication can be specified",
        );
    }
}

fn registry_tls(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("name"), "name must be specified");
    let (ca, identity) = (root.at("ca"), root.at("clientIdentity"));
    if !ca.text().is_empty() && !certificates::has_certificate(ca.text()) {
        findings.error(ca, "ca must be a valid PEM-encoded certificate");
    }
    if identity.is_set()
        && let Err(reason) = certificates::check_pair(identity, false)
    {
        findings.error(identity, format!("client identity: {reason}"));
    }
}

fn image_verification(root: Cursor<'_>, findings: &mut Findings) {
    for (index, rule) in root.at("rules").items().enumerate() {
        let pattern = rule.at("image");
        let text = pattern.text();
        if text.is_empty() {
            findings.error(rule, format!("rule {index}: imagePattern must be specified"));
        }
        let behind_registry = text.split_once('/').map_or("", |(_, name)| name);
        for (found, sign) in [(text.contains('@'), '@'), (behind_registry.contains(':'), ':')] {
            if found {
                let message = format!(
                    "rule {index}: imagePattern contains '{sign}' but matching only applies to the \
                     image registry and repository, not the tag or digest"
                );
                findings.warn(pattern, message);
            }
        }
        if !text.is_empty() && image::matches_nothing(text) {
            let message = format!(
                "rule {index}: imagePattern {} cannot match any image: references are matched in \
                 their normalized '<registry domain>/<repository>' form, e.g. 'nginx' is matched as \
                 'docker.io/library/nginx'",
                quoted(text)
            );
            findings.warn(pattern, message);
        }
        verification_rule(index, rule, findings);
    }
}

fn verification_rule(index: usize, rule: Cursor<'_>, findings: &mut Findings) {
    let (skip, deny) = (rule.at("skip").flag(), rule.at("deny").flag());
    let (keyless, public_key) = (rule.at("keyless"), rule.at("publicKey"));
    let verified = keyless.is_set() || public_key.is_set();
    let unnamed = ["subject", "subjectRegex"].iter().all(|key| keyless.at(key).text().is_empty());
    let no_issuer = keyless.at("issuer").text().is_empty();
    let no_certificate = public_key.at("certificate").text().is_empty();
    for (wrong, problem) in [
        (skip && deny, "skip and deny cannot both be true"),
        ((skip || deny) && verified, "verifiers cannot be configured if skip or deny is true"),
        (!skip && !deny && !verified, "at least one verifier must be configured"),
        (
            keyless.is_set() && public_key.is_set(),
            "only one of keyless or publicKey verifier can be configured",
        ),
        (keyless.is_set() && no_issuer, "verifier OIDC issuer must be specified"),
        (keyless.is_set() && unnamed, "verifier subject or subjectRegex must be specified"),
        (public_key.is_set() && no_certificate, "verifier certificates must be specified"),
    ] {
        if wrong {
            findings.error(rule, format!("rule {index}: {problem}"));
        }
    }
}

fn extension_service(root: Cursor<'_>) -> Result<(), String> {
    let name = root.at("name").text();
    unless(name.is_empty(), "name is required")?;
    let (files, name) = (root.at("configFiles"), quoted(name));
    let nothing = files.is_empty() && root.at("environment").is_empty();
    unless(nothing, &format!("no config files found for extension {name}"))?;
    for file in files.items() {
        let content = file.at("content").text();
        let path = file.at("mountPath").text();
        unless(content.is_empty(), &format!("extension content is required for extension {name}"))?;
        unless(path.is_empty(), &format!("extension mount path is required for extension {name}"))?;
    }
    Ok(())
}

fn kmsg_log(root: Cursor<'_>) -> Result<(), String> {
    unless(root.at("name").text().is_empty(), "name is required")?;
    let url = root.at("url").url().ok_or("url is required")?;
    let known = ["tcp", "udp"].contains(&url.scheme.as_str());
    unless(!known, "url scheme must be tcp:// or udp://")?;
    unless(!["", "/"].contains(&url.path.as_str()), "url path must be empty")?;
    unless(url.port().is_empty(), "url port is required")
}

fn watchdog(root: Cursor<'_>) -> Result<(), String> {
    let timeout = root.at("timeout").duration();
    unless(root.at("device").text().is_empty(), "watchdog device: empty value")?;
    unless(timeout != 0 && timeout < TEN_SECONDS, "watchdog timeout: minimum value is 10s")
}

fn oom(root: Cursor<'_>, findings: &mut Findings) {
    for (key, environment, what) in [
        ("triggerExpression", Environment::OomTrigger, "trigger"),
        ("cgroupRankingExpression", Environment::OomRanking, "cgroup scoring"),
    ] {
        let expression = root.at(key);
        if expression.is_set()
            && let Err(reason) = cel::check(expression.text(), environment)
        {
            findings.error(expression, format!("OOM {what} expression is invalid: {reason}"));
        }
    }
    let interval = root.at("sampleInterval");
    findings.not_negative(interval, "OOM sample interval must be longer than 0");
}

fn environment(root: Cursor<'_>, findings: &mut Findings) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    for (key, cursor) in root.at("variables").entries() {
        let fine = !key.is_empty()
            && key.bytes().all(plain)
            && !key.starts_with(|c: char| c.is_ascii_digit());
        if !fine {
            findings.error(cursor, format!("invalid environment variable name: {}", quoted(key)));
        }
    }
}

fn etc_file(path: &str) -> Result<(), String> {
    unless(path.is_empty(), "user etc file name cannot be empty")?;
    let shown = quoted(path);
    unless(
        !go_compat::is_local_path(path) || path.starts_with('.'),
        &format!("user etc file {shown} must be a local path"),
    )?;
    let below = |directory: &&str| {
        path.strip_prefix(*directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let managed = MANAGED_FILES.contains(&path) || MANAGED_DIRECTORIES.iter().any(below);
    unless(managed, &format!("user etc file {shown} is managed by Talos"))
}

const MANAGED_FILES: [&str; 7] = [
    "resolv.conf",
    "hosts",
    "machine-id",
    "extensions.yaml",
    "localtime",
    "os-release",
    "xattr.conf",
];

const MANAGED_DIRECTORIES: [&str; 12] = [
    "apparmor.d",
    "apparmor",
    "ca-certificates",
    "cni",
    "cri",
    "iscsi",
    "kubernetes",
    "lvm",
    "nvme",
    "pki",
    "selinux",
    "ssl",
];

fn no_empty_key(root: Cursor<'_>, what: &str, findings: &mut Findings) {
    for (_, cursor) in root.at("params").entries().filter(|(key, _)| key.is_empty()) {
        findings.error(cursor, format!("{what} key cannot be empty"));
    }
}

fn siderolink(root: Cursor<'_>) -> Result<(), String> {
    let url = root.at("apiUrl").url().ok_or("apiUrl is required")?;
    let known = ["https", "grpc"].contains(&url.scheme.as_str());
    unless(!known, "apiUrl scheme must be https:// or grpc://")?;
    unless(!["", "/"].contains(&url.path.as_str()), "apiUrl path must be empty")
}
