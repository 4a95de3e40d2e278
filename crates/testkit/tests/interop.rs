//! Level `interop`: the real programs run, and are the releases that were pinned.

use std::collections::BTreeSet;

use testkit::peers;

#[test]
#[ignore = "level interop: needs real programs (cargo xtask test)"]
fn each_program_that_is_there_is_the_release_that_is_pinned() {
    let mut asked = BTreeSet::new();
    let mut wrong = Vec::new();
    for (pin, program) in peers::all() {
        // No level needs all of them, and those of later levels may still be built.
        let Ok(path) = pin.locate(program) else { continue };
        asked.insert(program.name);
        wrong.extend(program.check_release(&path).err().map(|error| error.to_string()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of_this_level = ["etcd", "kube-apiserver", "kubectl", "sops", "talosctl-1.14.1"];
    assert!(of_this_level.iter().all(|name| asked.contains(name)), "{asked:?}");
}

#[test]
#[ignore = "level interop: needs Go and the modules of Talos (cargo xtask test)"]
fn test_data_and_protocols_of_talos_are_where_they_lie() {
    for folder in ["talos-1.14.1", "talos-1.13.9", "talos-1.12.0"] {
        let talos = peers::module(folder, "github.com/siderolabs/talos");
        let machinery = peers::module(folder, "github.com/siderolabs/talos/pkg/machinery");
        assert!(talos.join("api/machine/machine.proto").is_file(), "{}", talos.display());
        assert!(
            machinery.join("config/types/v1alpha1/testdata/stability").is_dir(),
            "{}",
            machinery.display()
        );
    }
}
