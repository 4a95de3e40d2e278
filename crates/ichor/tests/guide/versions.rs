//! Flags for releases have one name wherever they are typed.

use crate::Directory;

#[test]
fn a_release_is_named_by_either_flag() {
    let directory = Directory::new(&[("schematic.yaml", "customization: {}\n")]);
    for (talos, kubernetes) in [("talos", "kubernetes"), ("talos-version", "kubernetes-version")] {
        for (line, has_kubernetes) in [
            (
                "init home --endpoint https://127.93.8.11:6443 --control-plane cp-1=127.93.8.11 -C",
                true,
            ),
            ("gen config home https://127.93.8.11:6443 -o", true),
            ("gen secrets -o", false),
        ] {
            let with =
                if has_kubernetes { format!("--{kubernetes} v1.36.3") } else { String::new() };
            directory.done(&format!("{line} {talos}-{} --{talos} v1.13.9 {with}", line.len()));
        }
        directory.done(&format!("gen schematic schematic.yaml --{talos} v1.13.9"));
    }
}
