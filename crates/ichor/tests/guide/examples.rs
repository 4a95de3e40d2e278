//! Examples in the help of commands that need no machine do what they show, each in a directory that has what it names.

use crate::{Directory, SECRETS, age_key};

#[test]
fn examples_of_help_run_as_printed() {
    let mut commands = vec![ichor::args::command()];
    let mut seen = 0;
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().cloned());
        let help = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter_map(|line| line.strip_prefix("  ichor ")) {
            if is_local(line) {
                run(line);
                seen += 1;
            }
        }
    }
    assert!(seen >= 25, "{seen}");
}

/// Returns whether a line needs neither machines nor an image factory.
fn is_local(line: &str) -> bool {
    let verbs = [
        "init",
        "gen",
        "patch",
        "validate",
        "lint",
        "explain",
        "extensions",
        "diff",
        "version",
        "import",
    ];
    let remote = [" -n 10.", "--register", "--refresh", "diff -n"];
    verbs.iter().any(|verb| line.split(' ').next() == Some(verb))
        && !remote.iter().any(|word| line.contains(word))
}

fn run(line: &str) {
    let directory = directory(line);
    // What an import is compared with are machines.
    let line = line.strip_suffix(" && ichor diff -C home").unwrap_or(line);
    let line = line.replace(" > ", " -o ").replace("gen schema -o ichor.schema.json", "gen schema");
    for line in line.split(" && ichor ") {
        let line = line.replace("$ENDPOINT", "https://127.93.8.11:6443").replace('\'', "");
        let line = line.replace("clusterconfig/*.yaml", "clusterconfig/home-cp-1.yaml");
        // A patch in quotes is one word.
        let words: Vec<&str> = match line.split_once(" -p {") {
            None => line.split(' ').collect(),
            Some((before, patch)) => {
                let after = &patch[patch.rfind('}').expect("a patch") + 1..];
                let patch = &line[before.len() + " -p ".len()..line.len() - after.len()];
                before.split(' ').chain(["-p", patch]).chain(after.split_whitespace()).collect()
            }
        };
        let said = directory.run_words(&words, &[("SOPS_AGE_KEY", &age_key().1)]);
        assert!(matches!(said.code, 0 | 2), "{line}: {}{}", said.stdout, said.stderr);
    }
}

/// A directory with the files that a line names.
fn directory(line: &str) -> Directory {
    let directory = Directory::new(&[]);
    if line.starts_with("init") {
        return directory;
    }
    let recipient = age_key().0;
    directory.write(".sops.yaml", &format!("creation_rules:\n  - age: {recipient}\n"));
    if line.starts_with("gen talconfig") {
        directory.write("cluster.yaml", "node_cidr: 10.0.0.0/24\ncluster_api_addr: 10.0.0.10\n");
        let node = "  - {name: cp-1, address: 10.0.0.11, controller: true, disk: /dev/sda, mac_addr: '00:11:22:33:44:01', \
                    schematic_id: 376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba}\n";
        directory.write("nodes.yaml", &format!("nodes:\n{node}"));
        directory.write("talos/talenv.yaml", "talosVersion: v1.13.9\nkubernetesVersion: v1.36.3\n");
        directory.write("talos/talsecret.yaml", SECRETS);
        return directory;
    }
    let native = line.starts_with("gen machines")
        || matches!(line, "validate" | "lint")
        || line.contains("-n cp-1");
    let at = if native { "." } else { "talos" };
    let kind = if native { "" } else { " --talhelper" };
    directory.done(&format!(
        "init home{kind} -C {at} --endpoint https://127.93.8.11:6443 --control-plane cp-1=127.93.8.11"
    ));
    if native || line == "gen secrets" {
        return directory;
    }
    if !line.starts_with("gen secrets") {
        directory.done("gen secrets");
        directory.done("gen config home https://127.93.8.11:6443 --with-secrets secrets.yaml -o .");
    }
    if line.starts_with("gen config") {
        for name in ["controlplane.yaml", "worker.yaml", "talosconfig"] {
            fs_err::remove_file(directory.path(name)).expect("a file");
        }
    }
    if line.contains("worker.yaml") && line.starts_with("explain") {
        let old = "machine:\n  network: {interfaces: [{interface: eth0, mtu: 1500}]}\n  sysctls: {net.core.somaxconn: '1'}\n";
        directory.write("old.yaml", old);
        let link = "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses: [{address: 10.0.0.1/24}]\n";
        directory.write("link.yaml", link);
        directory.done("patch worker.yaml -p @old.yaml -p @link.yaml -o worker.yaml --force");
    }
    let patch = "machine: {sysctls: {vm.swappiness: '10'}}\n";
    directory.write("new.yaml", patch);
    directory.write("patches/all.yaml", patch);
    for name in ["cp-1.yaml", "cp-2.yaml", "clusterconfig/home-cp-1.yaml", "old.yaml"] {
        if directory.path("controlplane.yaml").exists() {
            directory.write(name, &directory.read("controlplane.yaml"));
        }
    }
    if line.starts_with("diff") {
        directory.write("new.yaml", &directory.read("worker.yaml"));
    }
    directory.write("schematic.yaml", "customization: {extraKernelArgs: [quiet]}\n");
    directory
}
