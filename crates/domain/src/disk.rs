//! Disks of a machine, as Talos lists them.

use std::fmt;

use serde::{Deserialize, Serialize};
use talos_config::{size_satisfies, spell_bytes};

/// A disk that a machine lists.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Disk {
    /// Its device.
    pub device: String,
    /// Other paths to it; older releases of Talos tell none.
    pub links: Vec<String>,
    /// In bytes.
    pub size: u64,
    /// Its model.
    pub model: String,
    /// Its serial number.
    pub serial: String,
    /// The kernel's module alias.
    pub modalias: String,
    /// Its UUID.
    pub uuid: String,
    /// Its world-wide identity.
    pub wwid: String,
    /// The path on the bus.
    pub bus_path: String,
    /// The transport; empty for what is not hardware.
    pub transport: String,
    /// True if it spins.
    pub rotational: bool,
    /// True if nothing can be written to it.
    pub read_only: bool,
    /// True if it is a drive for CDs.
    pub cd: bool,
}

impl Disk {
    /// Returns whether Talos would choose it by itself.
    pub fn is_hardware(&self) -> bool {
        !self.transport.is_empty() && !self.read_only && !self.cd
    }

    /// Returns whether it meets one property of a `diskSelector`, as Talos reads it.
    pub fn satisfies(&self, property: &str, wanted: &str) -> bool {
        match property {
            "size" => size_satisfies(self.size, wanted),
            "type" => match wanted {
                "nvme" => self.transport == "nvme",
                "sd" => self.transport == "mmc",
                "hdd" => self.rotational,
                "ssd" => !self.rotational,
                _ => true,
            },
            "model" => is_like(wanted, &self.model),
            "serial" => is_like(wanted, &self.serial),
            "modalias" => is_like(wanted, &self.modalias),
            "uuid" => is_like(wanted, &self.uuid),
            "wwid" => is_like(wanted, &self.wwid),
            "busPath" => is_like(wanted, &self.bus_path),
            _ => true,
        }
    }
}

/// As in `/dev/sda (82 GB, serial 4711)`.
impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.device, spell_bytes(self.size))?;
        if !self.serial.is_empty() {
            write!(f, ", serial {}", self.serial)?;
        }
        f.write_str(")")
    }
}

/// Returns whether a text is like a pattern, in which `*` stands for anything.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some((_, after)) = text.split_once(piece) else { return false };
        text = after;
    }
    text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text) in
            [("*", ""), ("a*", "a"), ("*b*", "abc"), ("a*b*c", "axxbxxc"), ("a", "a")]
        {
            assert!(is_like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a*", "ba"), ("*b", "abc"), ("a*b*c", "acb"), ("ab*ba", "aba")]
        {
            assert!(!is_like(pattern, text), "{pattern} {text}");
        }
    }
}
