//! Commands that print data without machines, or about machines that are not there: what they print fits its schema, which
//! every run compares.

use crate::Directory;
use crate::api::loopback;
use crate::machine::with_disk;

#[test]
fn data_fits_its_schema() {
    let directory = Directory::new(&[
        ("schematic.yaml", "customization: {extraKernelArgs: [quiet]}\n"),
        ("old.yaml", "machine: {type: worker}\n"),
        ("new.yaml", "machine: {type: worker, sysctls: {a: '1'}}\n"),
    ]);
    let machine = with_disk(loopback()).address.ip();
    directory.done(&format!(
        "init home --endpoint https://127.93.8.11:6443 --control-plane cp-1={machine} --worker w-1=127.93.8.21"
    ));
    directory.done("gen talosconfig -o talosconfig");
    for (line, code) in [
        ("version", 0),
        ("extensions v1.12.0", 0),
        ("gen schematic schematic.yaml", 0),
        ("gen schematic schematic.yaml --talos-version v1.13.9", 0),
        ("config contexts --talosconfig talosconfig", 0),
        ("config info --talosconfig talosconfig", 0),
        ("certs --client --talosconfig talosconfig", 0),
        ("diff old.yaml new.yaml", 2),
        ("diff old.yaml old.yaml", 0),
        ("diff", 1),
        ("explain machine.type -n cp-1", 0),
        ("explain machine.sysctls.a new.yaml", 0),
        ("validate", 0),
        ("validate old.yaml", 3),
        ("lint", 0),
        ("status", 1),
        ("health", 1),
        ("history", 0),
        ("plan --out change.plan", 2),
        ("show change.plan", 0),
        (&format!("disks --insecure -n {machine}"), 0),
        (&format!("links --insecure -n {machine}"), 0),
    ] {
        let said = directory.run(&format!("{line} -o json"));
        assert_eq!(said.code, code, "{line}: {}{}", said.stdout, said.stderr);
        assert!(!said.stdout.is_empty(), "{line}");
    }
}
