//! Rules for the documents about disks and volumes.

use std::collections::BTreeSet;

use super::Findings;
use super::cursor::Cursor;
use super::go_compat::quoted;
use crate::cel::{self, Environment};
use crate::format::size;

/// Checks a document; false when its kind is none of these.
pub(super) fn check(kind: &str, root: Cursor<'_>, findings: &mut Findings) -> bool {
    match kind {
        "VolumeConfig" => volume(root, findings),
        "UserVolumeConfig" => user_volume(root, findings),
        "RawVolumeConfig" | "SwapVolumeConfig" => {
            volume_name(root, Some(34), findings);
            provisioning(root.at("provisioning"), true, true, findings);
            encryption(root.at("encryption"), findings);
        }
        "ExistingVolumeConfig" => existing_volume(root, findings),
        "ExternalVolumeConfig" => external_volume(root, findings),
        "ZswapConfig" => {
            let percent = root.at("maxPoolPercent");
            if !(0..=100).contains(&percent.number()) {
                findings.error(percent, "maxPoolPercent must be between 0 and 100");
            }
        }
        "FilesystemTrimConfig" => {
            findings.not_negative(root.at("interval"), "interval cannot be negative");
        }
        "FilesystemScrubConfig" => scrub(root, findings),
        "LVMVolumeGroupConfig" => {
            array_name(root, 63, findings);
            members(root, findings);
        }
        "LVMLogicalVolumeConfig" => logical_volume(root, findings),
        "RAIDArrayConfig" => {
            array_name(root, 32, findings);
            members(root, findings);
        }
        _ => return false,
    }
    true
}

const SYSTEM_VOLUMES: [&str; 7] =
    ["STATE", "EPHEMERAL", "IMAGECACHE", "ETCD", "CRI", "KUBELET", "LOG"];

fn volume(root: Cursor<'_>, findings: &mut Findings) {
    let name = root.at("name").text();
    if !SYSTEM_VOLUMES.contains(&name) {
        let message =
            format!("only [{}] volumes are supported", SYSTEM_VOLUMES.map(quoted).join(" "));
        findings.error(root.at("name"), message);
        return;
    }
    let (mount, filesystem) = (root.at("mount"), root.at("filesystem"));
    let provisioned = is_provisioned(root.at("provisioning"));
    let not_allowed = |what: &str| format!("{what} is not allowed for the {} volume", quoted(name));
    match name {
        "STATE" => {
            if provisioned {
                findings.error(root.at("provisioning"), not_allowed("provisioning config"));
            }
            for key in root.at("encryption.keys").items() {
                if key.at("lockToState").flag() {
                    findings.error(key, not_allowed("state-locked key"));
                }
            }
            if mount.is_set() {
                findings.error(mount, not_allowed("mount config"));
            }
        }
        "IMAGECACHE" => {
            if mount.is_set() {
                findings.error(mount, not_allowed("mount config"));
            }
            if filesystem.is_set() {
                findings.error(filesystem, not_allowed("filesystem config"));
            }
        }
        "ETCD" | "CRI" | "KUBELET" | "LOG" if mount.is_set() && !provisioned => {
            let message = format!(
                "mount config for the {} volume is only supported when it is provisioned onto a \
                 dedicated partition",
                quoted(name)
            );
            findings.error(mount, message);
        }
        _ => {}
    }
    provisioning(root.at("provisioning"), false, true, findings);
    encryption(root.at("encryption"), findings);
    upkeep(root, findings);
}

fn user_volume(root: Cursor<'_>, findings: &mut Findings) {
    volume_name(root, Some(34), findings);
    let (space, secret) = (root.at("provisioning"), root.at("encryption"));
    let filesystem = root.at("filesystem");
    match root.at("volumeType").text() {
        "directory" => {
            let invalid = |what: &str| format!("{what} is invalid for volumeType directory");
            let time = root.at("mount.disableAccessTime");
            let encrypted = !is_unencrypted(secret);
            for (wrong, cursor, what) in [
                (is_provisioned(space), space, "provisioning spec"),
                (encrypted, secret, "encryption spec"),
                (!filesystem.is_empty(), filesystem, "filesystem spec"),
                (time.is_set(), time, "mount.disableAccessTime"),
            ] {
                if wrong {
                    findings.error(cursor, invalid(what));
                }
            }
        }
        kind @ ("disk" | "partition" | "") => {
            provisioning(space, true, kind != "disk", findings);
            check_filesystem(filesystem, findings);
            encryption(secret, findings);
        }
        other => {
            let message = format!("unsupported volume type {}", quoted(other));
            findings.error(root.at("volumeType"), message);
        }
    }
    upkeep(root, findings);
}

fn volume_name(root: Cursor<'_>, most: Option<usize>, findings: &mut Findings) {
    let wrong = "name can only contain lowercase and uppercase ASCII letters, digits, and hyphens";
    name(root, most, b"-", wrong, findings);
}

fn array_name(root: Cursor<'_>, most: usize, findings: &mut Findings) {
    let wrong = "name can only contain ASCII letters, digits, hyphens and underscores";
    name(root, Some(most), b"-_", wrong, findings);
}

/// A name of letters, digits and some signs.
fn name(root: Cursor<'_>, most: Option<usize>, signs: &[u8], wrong: &str, findings: &mut Findings) {
    let name = root.at("name");
    findings.require(name, "name is required");
    if let Some(most) = most
        && !(1..=most).contains(&name.text().len())
    {
        findings.error(name, format!("name must be between 1 and {most} characters long"));
    }
    if !name.text().bytes().all(|byte| byte.is_ascii_alphanumeric() || signs.contains(&byte)) {
        findings.error(name, wrong);
    }
}

/// Whether anything is said about where a volume goes.
fn is_provisioned(space: Cursor<'_>) -> bool {
    let keys = ["diskSelector.match", "grow", "minSize", "maxSize"];
    keys.iter().any(|key| space.at(key).is_set())
}

fn provisioning(space: Cursor<'_>, required: bool, sized: bool, findings: &mut Findings) {
    let selector = space.at("diskSelector.match");
    if selector.is_set() {
        if let Err(reason) = cel::check(selector.text(), Environment::Disk) {
            findings.error(selector, format!("disk selector is invalid: {reason}"));
        }
    } else if required {
        findings.error(space, "disk selector is required");
    }
    let (least, most) = (space.at("minSize"), space.at("maxSize"));
    if !sized {
        if least.is_set() || most.is_set() || space.at("grow").is_set() {
            findings.error(space, "min size, max size and grow are not supported");
        }
        return;
    }
    let absolute = most.is_set() && !is_share(most) && !is_negative(most);
    if least.is_set() && absolute {
        if bytes(least) > bytes(most) {
            findings.error(least, "min size is greater than max size");
        }
    } else if required && !least.is_set() && !most.is_set() {
        findings.error(space, "min size or max size is required");
    }
    if is_negative(least) {
        findings.error(least, "min size cannot be negative");
    }
}

fn is_share(size: Cursor<'_>) -> bool {
    size.text().ends_with('%')
}

fn is_negative(size: Cursor<'_>) -> bool {
    size.text().starts_with('-')
}

/// An amount without its sign.
fn bytes(size: Cursor<'_>) -> u64 {
    size::bytes(size.text().trim_start_matches('-')).unwrap_or_default()
}

fn check_filesystem(filesystem: Cursor<'_>, findings: &mut Findings) {
    let kind = filesystem.at("type");
    let is_xfs = matches!(kind.text(), "" | "none" | "xfs");
    if !is_xfs && !matches!(kind.text(), "ext4" | "btrfs") {
        findings.error(kind, format!("unsupported filesystem type: {}", kind.text()));
    } else if filesystem.at("projectQuotaSupport").flag() && !is_xfs {
        findings.error(filesystem, "project quota support is only available for xfs filesystem");
    } else if filesystem.at("xfs").is_set() && !is_xfs {
        findings.error(filesystem.at("xfs"), "xfs options are only available for xfs filesystem");
    }
}

fn is_unencrypted(encryption: Cursor<'_>) -> bool {
    matches!(encryption.at("provider").text(), "" | "none") && encryption.at("keys").is_empty()
}

fn encryption(encryption: Cursor<'_>, findings: &mut Findings) {
    if is_unencrypted(encryption) {
        return;
    }
    let (provider, keys) = (encryption.at("provider"), encryption.at("keys"));
    if provider.text() != "luks2" {
        let name = if provider.text().is_empty() { "none" } else { provider.text() };
        findings.error(provider, format!("unsupported encryption provider: {name}"));
    }
    if keys.is_empty() {
        findings.error(encryption, "encryption keys are required");
    }
    let mut slots = BTreeSet::new();
    for key in keys.items() {
        let slot = key.at("slot").number();
        if !slots.insert(slot) {
            findings.error(key, format!("duplicate key slot {slot}"));
        }
        if !["static", "nodeID", "kms", "tpm"].iter().any(|kind| key.at(kind).is_set()) {
            let message =
                format!("at least one encryption key type must be specified for slot {slot}");
            findings.error(key, message);
        }
        for register in key.at("tpm.options.pcrs").items() {
            let number = register.number();
            if !(0..=23).contains(&number) {
                findings.error(register, format!("TPM PCR {number} is out of range (0-23)"));
            }
        }
    }
}

fn upkeep(root: Cursor<'_>, findings: &mut Findings) {
    findings.not_negative(root.at("trim.interval"), "trim interval cannot be negative");
    scrub(root.at("scrub"), findings);
}

fn scrub(scrub: Cursor<'_>, findings: &mut Findings) {
    let interval = scrub.at("interval");
    if interval.duration() != 0 && interval.duration() < TEN_SECONDS {
        findings.error(interval, "scrub interval: minimum value is 10s");
    }
}

pub(super) const TEN_SECONDS: i64 = 10_000_000_000;

fn existing_volume(root: Cursor<'_>, findings: &mut Findings) {
    volume_name(root, None, findings);
    let selector = root.at("discovery.volumeSelector.match");
    if !selector.is_set() {
        findings.error(selector, "volume selector is required");
    } else if let Err(reason) = cel::check(selector.text(), Environment::Volume) {
        findings.error(selector, format!("volume selector is invalid: {reason}"));
    }
    upkeep(root, findings);
}

fn external_volume(root: Cursor<'_>, findings: &mut Findings) {
    volume_name(root, Some(34), findings);
    let filesystem = root.at("filesystemType");
    if filesystem.text() != "virtiofs" {
        let name = if filesystem.text().is_empty() { "none" } else { filesystem.text() };
        findings.error(filesystem, format!("invalid filesystem type: {name}"));
        return;
    }
    let mount = root.at("mount.virtiofs");
    if !mount.is_set() {
        findings.error(mount, "virtiofs mount spec is required");
    } else if mount.at("tag").text().is_empty() {
        findings.error(mount, "virtiofs tag is required");
    }
}

fn members(root: Cursor<'_>, findings: &mut Findings) {
    let selector = root.at("provisioning.volumeSelector.match");
    if !selector.is_set() {
        findings.error(selector, "provisioning.volumeSelector.match is required");
    } else if let Err(reason) = cel::check(selector.text(), Environment::MemberVolume) {
        findings.error(selector, format!("provisioning.volumeSelector.match: {reason}"));
    }
}

fn logical_volume(root: Cursor<'_>, findings: &mut Findings) {
    array_name(root, 63, findings);
    let kind = root.at("type").text();
    let kind = if kind.is_empty() { "linear" } else { kind };
    for (key, levels, least) in
        [("mirrors", ["raid1", "raid10"], 1), ("stripes", ["raid0", "raid10"], 2)]
    {
        let cursor = root.at(key);
        if !cursor.is_set() {
            continue;
        }
        if !levels.contains(&kind) {
            let levels = levels.join("/");
            findings.error(cursor, format!("{key} is only valid for {levels}, not {kind}"));
        } else if cursor.number() < least {
            findings.error(cursor, format!("{key} must be at least {least}"));
        }
    }
    let space = root.at("provisioning");
    let (least, most) = (space.at("minSize"), space.at("maxSize"));
    findings.require(space.at("volumeGroup"), "provisioning.volumeGroup is required");
    if !most.is_set() {
        findings.error(space, "provisioning.maxSize is required");
    }
    if is_negative(most) {
        findings.error(most, "provisioning.maxSize must not be negative");
    }
    if least.is_set() && !is_share(most) && bytes(least) > bytes(most) {
        findings.error(least, "provisioning.minSize must not exceed provisioning.maxSize");
    }
}
