//! Level `peers`: every real program is there, runs, and is the release that was pinned.

use std::process::Command;

use testkit::peers;

#[test]
#[ignore = "level peers: needs all real programs (cargo xtask test)"]
fn each_program_is_the_release_that_is_pinned() {
    let mut wrong = Vec::new();
    for (_, program) in peers::compared() {
        let Some(version) = &program.version else { continue };
        let output = Command::new(peers::program(program.name))
            .args(version.arguments)
            .output()
            .expect("a program that runs");
        let said =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || !said.contains(version.says) {
            wrong.push(format!("{} ({}): {said}", program.name, output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "level peers: needs Go and the modules of Talos (cargo xtask test)"]
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
