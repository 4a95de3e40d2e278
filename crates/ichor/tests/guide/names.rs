//! Machines are named as the talconfig names them or by their addresses, and no command tells the two apart.

use std::sync::Mutex;
use std::thread;

use crate::{Directory, SECRETS};

#[test]
fn every_command_takes_a_name_and_an_address_alike() {
    let directory = directory();
    let machines = COMMANDS.iter().map(|command| (*command, "w-1", "127.91.4.21"));
    let control_planes = OF_CONTROL_PLANES.iter().map(|command| (*command, "cp-1", "127.91.4.11"));
    // Questions are asked again for a while where nobody answers: several at once.
    let queue = Mutex::new(machines.chain(control_planes));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((command, name, address)) = queue.lock().expect("the queue").next()
                    else {
                        break;
                    };
                    let run = |machine: &str| {
                        directory.run(&format!("{command} -n {machine} --deadline 20s"))
                    };
                    let (by_name, by_address) = (run(name), run(address));
                    // Commands that act name the machine beside its address.
                    let label = format!("{name} ({address})");
                    let named = if command.starts_with("node ") { &label } else { address };
                    let unreachable = format!("error[machine.unreachable]: {named}: ");
                    assert_eq!(by_name.code, 5, "{command}: {}", by_name.stderr);
                    assert!(by_name.stderr.contains(&unreachable), "{command}: {}", by_name.stderr);
                    assert_eq!(by_address.code, 5, "{command}: {}", by_address.stderr);
                    assert_eq!(by_address.stderr, by_name.stderr, "{command}");
                }
            });
        }
    });
    // What could not be fetched has left nothing.
    for file in ["copied", "db.snapshot"] {
        assert!(!directory.path(file).exists(), "{file}");
    }
}

#[test]
fn what_is_asked_of_the_directory_takes_both_too() {
    let directory = directory();
    for (command, code, said) in [
        ("explain machine.type", 0, "v1alpha1 machine.type: worker\n"),
        ("diff", 5, "w-1: "),
        ("node upgrade --dry-run", 0, "127.91.4.21: would get "),
    ] {
        let run = |machine: &str| directory.run(&format!("{command} -n {machine}"));
        let (by_name, by_address) = (run("w-1"), run("127.91.4.21"));
        assert_eq!(by_name.code, code, "{command}: {}", by_name.stderr);
        let all = format!("{}{}", by_name.stdout, by_name.stderr);
        assert!(all.contains(said), "{command}: {all}");
        assert!(!all.contains("cp-1") && !all.contains("127.91.4.11"), "{command}: {all}");
        assert_eq!(by_address.code, code, "{command}: {}", by_address.stderr);
        assert_eq!(format!("{}{}", by_address.stdout, by_address.stderr), all, "{command}");
    }
    for command in ["apply", "reset", "upgrade --offline-mode"] {
        let line = |machine: &str| format!("talhelper gencommand {command} -n {machine}");
        let by_name = directory.done(&line("w-1"));
        assert!(by_name.contains("--nodes=127.91.4.21"), "{by_name}");
        // A name stands for all addresses of a machine, an address for itself.
        let by_address = directory.done(&line("127.91.4.21"));
        assert_eq!(by_name.lines().next(), by_address.lines().next(), "{command}");
    }
}

fn directory() -> Directory {
    let directory = Directory::new(&[
        ("talconfig.yaml", TALCONFIG),
        ("talsecret.yaml", SECRETS),
        ("patch.yaml", "machine:\n  sysctls:\n    a: b\n"),
    ]);
    directory.done("talhelper genconfig --offline-mode");
    directory
}

/// What can be asked of any machine and done to it. What is disruptive is confirmed, and nothing is waited for.
const COMMANDS: [&str; 34] = [
    "services",
    "services kubelet",
    "logs",
    "logs kubelet",
    "dmesg",
    "get members",
    "get links --insecure",
    "disks",
    "disks --insecure",
    "links",
    "links --insecure",
    "containers",
    "stats",
    "image list",
    "certs",
    "read /etc/os-release",
    "ls /",
    "cp /etc/os-release copied",
    "version",
    "gen machine",
    "gen machine --insecure",
    "node apply-config -f clusterconfig/home-w-1.yaml",
    "node apply-config -f clusterconfig/home-w-1.yaml --insecure",
    "node patch --patch-file patch.yaml",
    "node reboot --yes --wait=false",
    "node shutdown --yes --wait=false",
    "node rollback --yes --wait=false",
    "node reset --yes --wait=false",
    "node reset --yes --wait=false --insecure",
    "node upgrade --image registry.example/installer:v1.12.0 --yes --wait=false",
    "node service kubelet restart --yes",
    "node image pull registry.example/pause:1",
    "node meta write 10 x",
    "node wipe disk /dev/sdb --yes",
];

/// The same for control planes.
const OF_CONTROL_PLANES: [&str; 6] = [
    "etcd status",
    "etcd members",
    "etcd alarms",
    "etcd snapshot db.snapshot",
    "kubeconfig -",
    "node bootstrap --wait=false",
];

const TALCONFIG: &str = "\
clusterName: home
talosVersion: v1.12.0
kubernetesVersion: v1.35.0
endpoint: https://127.91.4.10:6443
nodes:
  - hostname: cp-1
    ipAddress: 127.91.4.11
    controlPlane: true
    installDisk: /dev/sda
  - hostname: w-1
    ipAddress: 127.91.4.21, 10.0.0.21
    installDisk: /dev/sda
";
