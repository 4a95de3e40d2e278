//! What a configuration says about installing Talos: which image, and to which disk.
//!
//! Always holds: a disk is missing only where that is certain. What nobody could look at, and what only Talos can find, is
//! none of our business.

use std::collections::BTreeMap;

use domain::Disk;
use talos_config::{Config, Value};

/// What a configuration says about installing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Install {
    /// The installer's image, if one is named.
    pub image: Option<String>,
    /// The disk.
    pub disk: InstallDisk,
}

/// The disk that Talos is to be installed to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum InstallDisk {
    /// None is named, or by an expression that Talos evaluates.
    #[default]
    LeftToTalos,
    /// The one at this path.
    At(String),
    /// The first one with these properties.
    Like(BTreeMap<String, String>),
}

impl Install {
    /// What a configuration says.
    pub fn of(config: &Config) -> Self {
        let root = |kind: &str| config.document(kind, "").map(|document| &document.body);
        let install = root("v1alpha1")
            .and_then(|body| body.get("machine"))
            .and_then(|machine| machine.get("install"));
        if let Some(install) = install {
            let selector = install.get("diskSelector").and_then(Value::as_map);
            let disk = match (selector, install.get("disk").and_then(Value::as_text)) {
                (Some(selector), _) => InstallDisk::Like(
                    selector
                        .iter()
                        .filter_map(|(key, value)| Some((key, value.as_text()?)))
                        .map(|(key, text)| (key.clone(), text.to_owned()))
                        .collect(),
                ),
                (None, Some(path)) => InstallDisk::At(path.to_owned()),
                (None, None) => InstallDisk::LeftToTalos,
            };
            return Self { image: text(install.get("image")), disk };
        }
        let Some(unattended) = root("UnattendedInstallConfig") else { return Self::default() };
        let image = unattended.get("installer").and_then(|installer| installer.get("image"));
        let expression = unattended
            .get("provisioning")
            .and_then(|provisioning| provisioning.get("diskSelector")?.get("match")?.as_text());
        // The expression that stands for a path; others are for Talos.
        let path = expression
            .and_then(|expression| expression.strip_prefix("disk.dev_path == \""))
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|path| !path.contains(['"', '\\']));
        let disk = path.map_or(InstallDisk::LeftToTalos, |path| InstallDisk::At(path.to_owned()));
        Self { image: text(image), disk }
    }
}

impl InstallDisk {
    /// What is wrong when none of these disks is the one.
    pub fn missing(&self, disks: &[Disk]) -> Option<String> {
        let wanted = match self {
            Self::LeftToTalos => return None,
            Self::At(path) => {
                let told = disks.iter().any(|disk| !disk.links.is_empty());
                // A link that nobody tells about may be there.
                if path.starts_with("/dev/disk/") && !told {
                    return None;
                }
                path.clone()
            }
            Self::Like(properties) => {
                let properties: Vec<String> =
                    properties.iter().map(|(name, value)| format!("{name} {value}")).collect();
                format!("disk with {}", properties.join(", "))
            }
        };
        if disks.iter().any(|disk| self.is(disk)) {
            return None;
        }
        let there: Vec<String> =
            disks.iter().filter(|disk| disk.is_hardware()).map(ToString::to_string).collect();
        let there = if there.is_empty() { "no disk at all".to_owned() } else { there.join(", ") };
        Some(format!("there is no {wanted} to install Talos to; it has {there}"))
    }

    fn is(&self, disk: &Disk) -> bool {
        match self {
            Self::LeftToTalos => true,
            Self::At(path) => disk.device == *path || disk.links.contains(path),
            Self::Like(properties) => {
                disk.is_hardware()
                    && properties.iter().all(|(name, value)| disk.satisfies(name, value))
            }
        }
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_text).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use talos_config::SourceId;

    use super::*;

    fn disk(device: &str) -> Disk {
        Disk {
            device: device.to_owned(),
            links: vec![format!("/dev/disk/by-id{}", &device[4..])],
            size: 500_107_862_016,
            model: "Samsung SSD 870".to_owned(),
            serial: "S5Y1NG".to_owned(),
            transport: "sata".to_owned(),
            ..Disk::default()
        }
    }

    fn missing(install: &str, disks: &[Disk]) -> Option<String> {
        let text = format!("version: v1alpha1\nmachine:\n  install: {install}\n");
        let config = Config::parse(&text, SourceId::default()).expect("a configuration");
        Install::of(&config).disk.missing(disks)
    }

    #[test]
    fn a_disk_is_found_by_its_path_or_a_link() {
        let disks = [disk("/dev/sda"), disk("/dev/sdb")];
        for there in ["{disk: /dev/sdb}", "{disk: /dev/disk/by-id/sda}", "{wipe: false}"] {
            assert_eq!(missing(there, &disks), None, "{there}");
        }
        assert_eq!(
            missing("{disk: /dev/nvme0n1}", &disks).expect("nothing there"),
            "there is no /dev/nvme0n1 to install Talos to; it has /dev/sda (500 GB, serial S5Y1NG), /dev/sdb (500 GB, serial S5Y1NG)"
        );
        assert!(missing("{disk: /dev/disk/by-id/other}", &disks).is_some());
        assert!(missing("{disk: /dev/sda}", &[]).is_some());
        // Machines that tell no links may have them.
        let silent = Disk { links: Vec::new(), ..disk("/dev/sda") };
        assert_eq!(missing("{disk: /dev/disk/by-id/other}", &[silent]), None);
    }

    #[test]
    fn a_disk_is_found_by_what_it_is_like() {
        let one = [disk("/dev/sda")];
        let is_there = |selector: &str, disks: &[Disk]| {
            missing(&format!("{{diskSelector: {selector}, disk: /dev/ignored}}"), disks).is_none()
        };
        for selector in [
            "{serial: S5Y1NG}",
            "{model: Samsung*, size: '>= 400GB', type: ssd}",
            "{model: '*SSD*'}",
            "{size: '< 1TB'}",
        ] {
            assert!(is_there(selector, &one), "{selector}");
        }
        for selector in
            ["{serial: s5y1ng}", "{model: WDC*}", "{type: hdd}", "{type: nvme}", "{size: '> 1TB'}"]
        {
            assert!(!is_there(selector, &one), "{selector}");
        }
        for unfit in [
            Disk { read_only: true, ..disk("/dev/sda") },
            Disk { cd: true, ..disk("/dev/sda") },
            Disk { transport: String::new(), ..disk("/dev/sda") },
        ] {
            assert!(!is_there("{model: Samsung*}", &[unfit]));
        }
    }

    #[test]
    fn documents_say_it_too() {
        let text = |matched: &str| {
            format!(
                "apiVersion: v1alpha1\nkind: UnattendedInstallConfig\ninstaller: {{image: some/installer:v1.14.1}}\nprovisioning:\n  diskSelector: {{match: {matched}}}\n"
            )
        };
        let install = |matched: &str| {
            Install::of(
                &Config::parse(&text(matched), SourceId::default()).expect("a configuration"),
            )
        };
        let by_path = install("disk.dev_path == \"/dev/sda\"");
        assert_eq!(by_path.image.as_deref(), Some("some/installer:v1.14.1"));
        assert_eq!(by_path.disk, InstallDisk::At("/dev/sda".to_owned()));
        assert_eq!(install("disk.size > 10u * GB").disk, InstallDisk::LeftToTalos);
    }
}
