//! `ichor gen machine`: prints the entry that describes a machine.
//!
//! In: disks and links of a machine. Out: an entry that passes the checks of its file. Every choice is reported with
//! its reason.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::Path;

use engine::atomic_file::Access;
use engine::bounded_file;
use plan::MachineName;
use serde_json::Value;
use talos_config::spell_bytes;

use crate::args::files::generate::{EntryForm, GenMachineArgs};
use crate::commands::inspect::disks::{self, Disk};
use crate::commands::inspect::links::{self, Link};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, files, nodes, runtime};

use super::entry_list::{EntryList, ONLY};

pub(in crate::commands) fn run(
    args: &GenMachineArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(async {
        let nodes =
            Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
        if let Some(name) = &args.name {
            nodes.single("--name")?;
            name.parse::<MachineName>().map_err(|malformed| Error::Usage {
                message: format!("invalid machine name {name:?}"),
                hint: malformed.to_string(),
            })?;
        }
        let ask = |node: talos_api::Node| async move {
            Ok((disks::disks(&node).await?, links::links(&node).await?))
        };
        let (answers, failures) = nodes.call_each(ask).await.split();
        let mut described = 0;
        let mut statuses = Vec::new();
        let mut entries = Vec::new();
        for (machine, (disks, links)) in answers {
            match describe(&machine, &disks, &links, args) {
                Ok(described_machine) => {
                    for reason in described_machine.reasons {
                        printer.note(&format!("{machine}: {reason}"));
                    }
                    entries.push(described_machine.entry);
                    described += 1;
                }
                Err(error) => statuses.push(printer.error(&error)),
            }
        }
        match &args.write {
            None => {
                for entry in &entries {
                    printer.plain(entry)?;
                }
            }
            Some(file) if !entries.is_empty() => {
                write(file, &args.list(), &entries)?;
                printer.note(&format!("{}: {} added", file.display(), counted(entries.len())));
            }
            Some(_) => {}
        }
        let status = nodes::report(failures, described, printer);
        Ok(if statuses.is_empty() { status } else { ExitStatus::Failed })
    })
}

/// Adds entries to the list in a file, all or none.
fn write(file: &Path, list: &EntryList, entries: &[String]) -> Result<(), Error> {
    let mut text = bounded_file::read_to_string(file).map_err(Error::Input)?;
    for entry in entries {
        text = list.add(&text, entry).map_err(|problem| Error::Usage {
            message: format!("{}: cannot add an entry: {problem}", file.display()),
            hint: "without --write the entry is printed".to_owned(),
        })?;
    }
    files::update(file, &text, Access::Shared)
}

fn counted(entries: usize) -> String {
    if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
}

impl GenMachineArgs {
    /// Returns the list that an entry belongs to.
    fn list(&self) -> EntryList {
        match (self.form, self.control_plane) {
            (EntryForm::Talconfig, _) => {
                EntryList { path: &["nodes"], unique: &["hostname", "ipAddress"] }
            }
            (EntryForm::Nodes, _) => {
                EntryList { path: &["nodes"], unique: &["name", "address", "mac_addr"] }
            }
            (EntryForm::Ichor, true) => {
                EntryList { path: &["controlPlane", "machines"], unique: &["name", "address"] }
            }
            (EntryForm::Ichor, false) => {
                EntryList { path: &["pools", ONLY, "machines"], unique: &["name", "address"] }
            }
        }
    }
}

struct Described {
    entry: String,
    reasons: Vec<String>,
}

fn describe(
    machine: &str,
    disks: &[Disk],
    links: &[Link],
    args: &GenMachineArgs,
) -> Result<Described, Error> {
    let missing =
        |problem: String, hint| Error::NoEntry { machine: machine.to_owned(), problem, hint };
    let (disk, mut reasons) = choose_disk(disks, args.usb).map_err(|left_out| {
        let left_out =
            if left_out.is_empty() { "it has none".to_owned() } else { left_out.join(", ") };
        missing(
            format!("no disk to install to: {left_out}"),
            "--usb accepts disks that are attached by USB",
        )
    })?;
    let (link, address) = choose_link(machine, links).ok_or_else(|| {
        missing("no link has this address".to_owned(), "`ichor links` lists the links")
    })?;
    reasons.push(format!("link {} has {address}: {}", link.link, link.hardware_address));
    if machine.parse() != Ok(address) {
        reasons.push(format!(
            "warning: {address} differs from the address of the call: it is the only one"
        ));
    }
    if !is_plain(link) {
        let (name, kind) = (&link.link, &link.kind);
        reasons.push(format!("warning: {name} is a {kind}: add it and the links below it by hand"));
    }
    let digits: String = link.hardware_address.chars().filter(char::is_ascii_hexdigit).collect();
    let made = || format!("node-{}", &digits[digits.len().saturating_sub(6)..]);
    let entry = Entry {
        name: &args.name.clone().unwrap_or_else(made),
        address: &address.to_string(),
        is_control_plane: args.control_plane,
        disk,
        link,
    };
    let text = match args.form {
        EntryForm::Talconfig => entry.talconfig(),
        EntryForm::Nodes => entry.nodes(),
        EntryForm::Ichor => entry.ichor(),
    };
    Ok(Described { entry: text, reasons })
}

/// Chooses the disk to install to, with the reasons; or returns the reasons why there is none.
fn choose_disk(disks: &[Disk], usb: bool) -> Result<(&Disk, Vec<String>), Vec<String>> {
    let mut left_out = Vec::new();
    let mut fitting: Vec<&Disk> = Vec::new();
    for disk in disks {
        let is_usb = disk.transport == "usb" || disk.bus_path.contains("/usb");
        let reason = match disk {
            Disk { r#type: "CD", .. } => Some("a CD"),
            Disk { read_only: true, .. } => Some("read-only"),
            Disk { size: 0, .. } => Some("empty"),
            _ if is_usb && !usb => Some("attached by USB"),
            _ => None,
        };
        match reason {
            Some(reason) => left_out.push(format!("{} is {reason}", disk.device)),
            None => fitting.push(disk),
        }
    }
    // What it is installed to already comes first, then fast before slow, small before large.
    let speed =
        |disk: &Disk| ["NVME", "SSD", "HDD", "SD"].iter().position(|kind| *kind == disk.r#type);
    fitting.sort_by_key(|disk| {
        (!disk.system_disk, speed(disk).unwrap_or(usize::MAX), disk.size, disk.device.clone())
    });
    let Some((chosen, others)) = fitting.split_first() else { return Err(left_out) };
    let mut reasons = vec![format!("disk {}", spelled(chosen))];
    if chosen.system_disk {
        reasons.push("Talos is already installed there".to_owned());
    }
    reasons.extend(
        others
            .iter()
            .map(|other| format!("not {}: slower, larger or second by name", spelled(other))),
    );
    reasons.extend(left_out.into_iter().map(|reason| format!("not {reason}")));
    Ok((chosen, reasons))
}

fn spelled(disk: &Disk) -> String {
    let serial =
        if disk.serial.is_empty() { String::new() } else { format!(", serial {}", disk.serial) };
    let model = if disk.model.is_empty() { String::new() } else { format!(", {}", disk.model) };
    format!("{} ({}, {}{model}{serial})", disk.device, disk.r#type, spell_bytes(disk.size))
}

/// Chooses the link that has the address of the machine. A machine that is called by name, or through NAT, is
/// identified by its only address.
fn choose_link<'a>(machine: &str, links: &'a [Link]) -> Option<(&'a Link, IpAddr)> {
    let of = |link: &'a Link| {
        link.addresses.iter().filter_map(move |text| {
            let address: IpAddr = text.split('/').next()?.parse().ok()?;
            Some((link, address))
        })
    };
    let mut all = links.iter().filter(|link| link.r#type == "ether").flat_map(of);
    let called = machine.parse::<IpAddr>().ok();
    if let Some(found) = all.clone().find(|(_, address)| Some(*address) == called) {
        return Some(found);
    }
    let mut plain = all
        .by_ref()
        .filter(|(link, address)| is_plain(link) && link.link_state && address.is_ipv4());
    plain.next().filter(|_| plain.next().is_none())
}

/// Returns whether a link is a network card. In a container one end of a veth pair is the card.
fn is_plain(link: &Link) -> bool {
    ["", "veth"].contains(&link.kind.as_str())
}

/// Content of an entry.
struct Entry<'a> {
    name: &'a str,
    address: &'a str,
    is_control_plane: bool,
    disk: &'a Disk,
    link: &'a Link,
}

impl Entry<'_> {
    fn talconfig(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            text,
            "  - hostname: {}\n    ipAddress: {}\n    controlPlane: {}\n    installDisk: {}\n    \
             networkInterfaces:\n      - deviceSelector:\n          hardwareAddr: {}\n        dhcp: true\n",
            self.name,
            quoted(self.address),
            self.is_control_plane,
            self.disk.device,
            quoted(&self.link.hardware_address),
        );
        if self.link.mtu != USUAL_MTU {
            let _ = writeln!(text, "        mtu: {}", self.link.mtu);
        }
        text
    }

    fn nodes(&self) -> String {
        let mut text = format!(
            "  - name: {}\n    address: {}\n    controller: {}\n    disk: {}\n    mac_addr: {}\n    schematic_id: {}\n",
            self.name,
            quoted(self.address),
            self.is_control_plane,
            quoted(&self.disk.device),
            quoted(&self.link.hardware_address),
            quoted(&talconfig::simple_schematic(&[], &[]).id()),
        );
        if self.link.mtu != USUAL_MTU {
            let _ = writeln!(text, "    mtu: {}", self.link.mtu);
        }
        text
    }

    fn ichor(&self) -> String {
        let indent = if self.is_control_plane { 4 } else { 6 };
        let (name, address, disk) = (self.name, self.address, &self.disk.device);
        format!("{:indent$}- {{name: {name}, address: {address}, disk: {disk}}}\n", "")
    }
}

/// Colons in it would make numbers of the text.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The default MTU.
const USUAL_MTU: u32 = 1500;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::args::{ConnectionArgs, MaintenanceArgs};

    fn disk(device: &str, kind: &'static str, gigabytes: u64) -> Disk {
        let (device, size) = (device.to_owned(), gigabytes * 1_000_000_000);
        Disk { device, r#type: kind, size, ..Disk::default() }
    }

    fn links() -> Vec<Link> {
        let link = |name: &str, kind: &str, mac: &str, addresses: &[&str]| Link {
            link: name.to_owned(),
            r#type: "ether".to_owned(),
            kind: kind.to_owned(),
            hardware_address: mac.to_owned(),
            mtu: 1500,
            link_state: true,
            addresses: addresses.iter().map(|&address| address.to_owned()).collect(),
            ..Link::default()
        };
        vec![
            link("eno1", "", "52:54:00:12:34:01", &[]),
            link("eno2", "", "52:54:00:12:34:02", &["fd00::2/64", "10.0.0.13/24"]),
            link("dummy0", "dummy", "52:54:00:12:34:03", &["10.1.0.1/24"]),
        ]
    }

    fn args(form: EntryForm) -> GenMachineArgs {
        GenMachineArgs {
            form,
            write: None,
            name: None,
            control_plane: true,
            usb: false,
            maintenance: MaintenanceArgs { insecure: true, cert_fingerprint: Vec::new() },
            connection: ConnectionArgs {
                nodes: Vec::new(),
                endpoints: Vec::new(),
                talosconfig: None,
                context: None,
                deadline: Duration::from_secs(1),
            },
        }
    }

    #[test]
    fn the_disk_is_one_that_talos_can_be_installed_to() {
        let cd = disk("/dev/sr0", "CD", 1);
        let mut stick = disk("/dev/sda", "SSD", 32);
        stick.transport = "usb".to_owned();
        let mut locked = disk("/dev/loop0", "UNKNOWN", 1);
        locked.read_only = true;
        let empty = disk("/dev/sdz", "SD", 0);
        let useless = [cd, stick, locked, empty];
        let with = |fitting: &[Disk]| [&useless, fitting].concat();
        let chosen =
            |disks: &[Disk], usb| choose_disk(disks, usb).map(|(disk, _)| disk.device.clone());
        assert_eq!(
            chosen(&useless, false),
            Err(vec![
                "/dev/sr0 is a CD".to_owned(),
                "/dev/sda is attached by USB".to_owned(),
                "/dev/loop0 is read-only".to_owned(),
                "/dev/sdz is empty".to_owned(),
            ])
        );
        assert_eq!(chosen(&useless, true).as_deref(), Ok("/dev/sda"));
        let slow = disk("/dev/sdb", "HDD", 500);
        let fast = disk("/dev/nvme1n1", "NVME", 1000);
        let small = disk("/dev/nvme0n1", "NVME", 250);
        assert_eq!(
            chosen(&with(&[slow.clone(), fast.clone(), small.clone()]), false).as_deref(),
            Ok("/dev/nvme0n1")
        );
        let installed = Disk { system_disk: true, ..slow };
        assert_eq!(chosen(&with(&[fast, small, installed]), false).as_deref(), Ok("/dev/sdb"));
    }

    #[test]
    fn an_entry_passes_the_checks_of_its_file() {
        let disks = [disk("/dev/nvme0n1", "NVME", 500)];
        for machine in ["10.0.0.13", "machine.example"] {
            let described =
                |form| describe(machine, &disks, &links(), &args(form)).expect("an entry");
            let native = format!(
                "ichor: v1\ncluster: home\nendpoint: https://10.0.0.10:6443\ncontrolPlane:\n  machines:\n{}",
                described(EntryForm::Ichor).entry
            );
            let spec =
                plan::ClusterSpec::parse(&native, talos_config::SourceId(1)).expect("a spec");
            assert_eq!(spec.control_plane.machines[0].disk, "/dev/nvme0n1");
            let nodes = format!("nodes:\n{}", described(EntryForm::Nodes).entry);
            let cluster = "node_cidr: 10.0.0.0/24\ncluster_api_addr: 10.0.0.10\n";
            let guide = talconfig::cluster_template::ClusterTemplate::parse(
                (cluster, talos_config::SourceId(1)),
                (&nodes, talos_config::SourceId(2)),
            );
            let guide = guide.map_err(|error| error.to_string()).expect("a guide");
            assert_eq!(guide.node_names().collect::<Vec<_>>(), ["node-123402"]);
            assert!(
                nodes.contains("376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba")
            );
            let talconfig = described(EntryForm::Talconfig).entry;
            assert!(talconfig.contains("hardwareAddr: \"52:54:00:12:34:02\""), "{talconfig}");
        }
    }

    #[test]
    fn a_machine_whose_link_is_not_plain_is_told() {
        let disks = [disk("/dev/sda", "SSD", 500)];
        let described =
            describe("10.1.0.1", &disks, &links(), &args(EntryForm::Talconfig)).expect("an entry");
        assert!(
            described.reasons.last().is_some_and(|reason| reason.starts_with("warning: dummy0"))
        );
        // Behind NAT.
        let behind =
            describe("192.0.2.1", &disks, &links(), &args(EntryForm::Ichor)).expect("an entry");
        assert_eq!(behind.entry, "    - {name: node-123402, address: 10.0.0.13, disk: /dev/sda}\n");
        let mut several = links();
        several[0].addresses = vec!["10.0.0.12/24".to_owned()];
        let error = describe("192.0.2.1", &disks, &several, &args(EntryForm::Talconfig)).err();
        assert_eq!(
            error.map(|error| error.to_string()).as_deref(),
            Some("192.0.2.1: no link has this address")
        );
    }
}
