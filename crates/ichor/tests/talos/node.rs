//! `ichor node` on machines that a test has for itself.

use std::time::Duration;

use testkit::talos::{self, Cluster, Role, Size};

use crate::native::{CONFIG, Own, Programs, Said, eventually};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn configuration_is_applied_in_every_mode() {
    let own = Own::new();
    let programs = &own.programs;
    let insecure = ["node", "apply-config", "-i", "-n", &own.endpoint, "-f", CONFIG];
    let with = |more: &[&'static str]| programs.ichor(&[&insecure[..], more].concat());

    // In maintenance.
    let dry = with(&["--dry-run"]).expect(2, "would be applied without a reboot");
    own.assert_no_secret(&dry);
    assert!(dry.stdout.contains("+ machine.type: controlplane"), "{dry:?}");
    let theirs =
        programs.talosctl(&["apply-config", "-i", "-n", &own.endpoint, "-f", CONFIG, "--dry-run"]);
    theirs.expect(0, "Applied configuration without a reboot (skipped in dry-run)");
    let other = ["--cert-fingerprint", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="];
    with(&other).expect(1, "error[machine.untrusted]");
    let wrong = with(&["-p", r#"{"machine": {"type": "nothing"}}"#]);
    own.assert_no_secret(&wrong.expect(3, r#"unknown machine type "nothing""#));
    for refused in [
        &["node", "reset", "--insecure", "--yes", "-n", &own.endpoint][..],
        &["node", "meta", "write", "10", "x", "--insecure", "-n", &own.endpoint],
    ] {
        programs.ichor(refused).expect(1, "error[machine.denied]");
    }
    with(&[]).expect(0, "accepted the configuration and leaves maintenance mode");
    own.answers();

    // With credentials: nothing to change, then something.
    let apply = |patch: &str, more: &[&str]| {
        own.node(&[&["apply-config", "-f", CONFIG, "-p", patch], more].concat())
    };
    let same = own.node(&["apply-config", "-f", CONFIG, "--dry-run"]).expect(0, "");
    assert_eq!(same.stdout, "");
    let theirs = own.talosctl(&["apply-config", "-f", CONFIG, "--dry-run"]);
    theirs.expect(0, "No changes.");
    let dry = apply(&swappiness(1), &["--dry-run"]).expect(2, "without a reboot");
    assert!(dry.stdout.contains("+ machine.sysctls.vm.swappiness: 1"), "{dry:?}");
    let dry = apply(&swappiness(1), &["--dry-run", "-o", "json"]).expect(2, r#""after": "1""#);
    assert!(dry.stdout.starts_with("[\n  {\n    \"node\": "), "{dry:?}");

    apply(&swappiness(2), &["--mode", "no-reboot"]).expect(0, "applied without a reboot");
    assert!(own.config("v1alpha1").contains(&line(2)));
    apply(&swappiness(3), &["--mode", "staged"]).expect(0, "takes effect with the next reboot");
    assert!(own.config("v1alpha1").contains(&line(2)));
    assert!(own.config("persistent").contains(&line(3)));

    // What is staged is what is patched, and nobody asks a machine that has something in the air.
    let patch =
        |number, more: &[&str]| own.node(&[&["patch", "-p", &swappiness(number)], more].concat());
    patch(4, &["--dry-run"]).expect(2, "staged or on trial").expect(2, "3 → 4");
    patch(4, &["--mode", "no-reboot"]).expect(0, "3 → 4");
    assert!(own.config("v1alpha1").contains(&line(4)));
    patch(4, &[]).expect(0, "nothing to change");

    // A trial ends, and looking at it does not make it last.
    patch(5, &["--mode", "try", "--timeout", "8s"]).expect(0, "applied for 8 s");
    assert!(own.config("v1alpha1").contains(&line(5)));
    patch(6, &["--dry-run"]).expect(2, "4 → 6");
    eventually(Duration::from_secs(30), || own.config("v1alpha1").contains(&line(4)));

    // What needs a reboot.
    let refused = apply(FILE, &["--mode", "no-reboot"]).expect(3, "error[machine.invalid]");
    own.assert_no_secret(&refused);
    assert!(refused.stderr.contains("hint: the machine has to reboot for it"), "{refused:?}");
    let theirs = own.talosctl(&["apply-config", "-f", CONFIG, "-p", FILE, "--mode", "no-reboot"]);
    assert!(theirs.stderr.contains("can't be applied in immediate mode"), "{theirs:?}");
    apply(FILE, &["--dry-run"]).expect(2, "would be applied with a reboot");
    apply(FILE, &[]).expect(3, "error[confirm.unasked]: apply-config, which reboots");
    let before = own.boot_id();
    apply(FILE, &["--yes"]).expect(0, ": back after");
    assert_ne!(own.boot_id(), before);

    let audit = programs.audit();
    let last = audit.last().expect("a line");
    for part in [r#""user":"tester""#, r#""detail":"sha256:"#, "mode auto", r#""outcome":"done""#] {
        assert!(last.contains(part), "{part}: {last}");
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_machine_is_bootstrapped_restarted_and_switched_off() {
    let own = Own::configured();
    own.node(&["bootstrap", "-n", "127.0.0.1"]).expect(3, "a bootstrap is for one machine");
    own.node(&["bootstrap"]).expect(0, "etcd runs");
    let again = own.node(&["bootstrap"]).expect(1, "error[etcd.already-bootstrapped]");
    assert!(again.stderr.contains("hint: a cluster is bootstrapped once"), "{again:?}");
    own.talosctl(&["bootstrap"]).expect(1, "AlreadyExists");

    // Services.
    let theirs = own.talosctl(&["service", "kubelet", "restart"]);
    let response = r#"Service "kubelet" restarted"#;
    theirs.expect(0, response);
    own.node(&["service", "kubelet", "restart", "--yes"]).expect(0, response);
    own.node(&["service", "kubelet", "restart"]).expect(3, "error[confirm.unasked]");
    let refusal = r#"service "apid" doesn't support stop operation via API"#;
    own.talosctl(&["service", "apid", "stop"]).expect(1, refusal);
    let refused = own.node(&["service", "apid", "stop", "--yes"]).expect(1, refusal);
    assert!(refused.stderr.contains("error[machine.refused]"), "{refused:?}");
    own.node(&["service", "nothing", "start"]).expect(1, "error[machine.not-found]");

    // Images.
    let image = "registry.k8s.io/pause:3.10.1";
    let theirs = own.talosctl(&["image", "pull", image]);
    let text = format!("{}{}", theirs.stdout, theirs.stderr);
    let (_, pinned) = text.trim_end().split_once("pulled image ").expect("a name");
    own.node(&["image", "pull", image]).expect(0, pinned);
    own.node(&["image", "pull", image, "--namespace", "system"]).expect(0, pinned);
    let refusal = "invalid reference format";
    own.talosctl(&["image", "pull", "Bad Ref"]).expect(1, refusal);
    own.node(&["image", "pull", "Bad Ref"]).expect(1, refusal);
    let missing = own.node(&["image", "pull", "registry.k8s.io/pause:9.9"]);
    missing.expect(1, "error[machine.not-found]");

    // What a container does not do.
    let refusal = "method is not supported in container mode";
    for (arguments, theirs) in [
        (&["rollback", "--yes"][..], &["rollback"][..]),
        (&["meta", "write", "0x0a", "x"], &["meta", "write", "10", "x"]),
        (&["meta", "delete", "10"], &["meta", "delete", "10"]),
        (&["upgrade", "--yes", "--image", image], &["upgrade", "--image", image, "--drain=false"]),
        (
            &["upgrade", "--yes", "--legacy", "--image", image],
            &["upgrade", "--legacy", "--image", image],
        ),
    ] {
        let ours = own.node(arguments).expect(1, refusal);
        assert!(ours.stderr.contains("error[machine.refused]"), "{ours:?}");
        assert!(ours.stderr.contains("hint: the machine runs as a container"), "{ours:?}");
        own.talosctl(theirs).expect(1, refusal);
    }
    own.node(&["upgrade", "--yes", "--image", image, "--stage"])
        .expect(3, "--stage is not supported");
    let refusal = r#"blockdevice "vda" not found"#;
    own.talosctl(&["wipe", "disk", "vda"]).expect(1, refusal);
    own.node(&["wipe", "disk", "vda", "--yes"]).expect(1, refusal);

    // The only member.
    own.node(&["etcd", "alarms", "disarm"]).expect(0, "no alarms");
    own.node(&["etcd", "defrag"]).expect(0, "defragmented");
    let refusal = "cannot forfeit leadership, only one member";
    own.talosctl(&["etcd", "forfeit-leadership"]).expect(1, refusal);
    own.node(&["etcd", "forfeit-leadership"]).expect(1, refusal);
    own.node(&["etcd", "leave", "--yes"]).expect(4, "error[etcd.quorum]");
    own.node(&["etcd", "remove-member", "nobody", "--yes"]).expect(3, "error[etcd.member]");

    // The next boot, and the one that is not begun.
    let before = own.boot_id();
    own.node(&["reboot"]).expect(3, "error[confirm.unasked]: reboot");
    // One that is not there: behind it nothing is touched, before it everything is done.
    let nobody = "127.99.99.99";
    let first = own.node(&["reboot", "--yes", "-n", nobody, "--deadline", "3s"]);
    first.expect(5, &format!("not changed: {}", own.address));
    assert_eq!(own.boot_id(), before);
    let both = format!("{},{nobody}", own.address);
    let last = own.programs.ichor(&["node", "reboot", "--yes", "-n", &both, "--deadline", "3s"]);
    let last = last.expect(1, ": back");
    assert!(last.stderr.contains("error[machine.unreachable]"), "{last:?}");
    assert_ne!(own.boot_id(), before);
    let before = own.boot_id();
    own.node(&["reboot", "--yes", "--timeout", "1s"]).expect(6, "error[machine.not-done]");
    eventually(Duration::from_mins(2), || {
        let now = own.talosctl(&["read", "/proc/sys/kernel/random/boot_id"]);
        now.code == 0 && now.stdout != before
    });
    let off = own.node(&["shutdown", "--yes", "--force"]).expect(0, ": off after");
    assert!(off.stderr.contains("shutdown: "), "its tasks are told: {off:?}");
    own.node(&["reboot", "--yes", "--deadline", "3s"]).expect(5, "error[machine.unreachable]");
    assert_ne!(own.machine.name, "");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_cluster_begins_with_a_snapshot_or_says_why_not() {
    let own = Own::configured();
    let cluster = talos::cluster(Size::ONE);
    let theirs = Programs::new(Some(cluster.talosconfig()));
    let path = own.programs.directory.path().join("snapshot");
    let snapshot = path.to_str().expect("a path");
    let address = cluster.nodes[0].address.to_string();
    theirs.talosctl(&["-n", &address, "etcd", "snapshot", snapshot]).expect(0, "");
    let right = fs_err::read(&path).expect("a snapshot");

    // Damaged ones are never sent.
    let mut wrong = right.clone();
    let middle = wrong.len() / 2;
    wrong[middle] ^= 1;
    fs_err::write(&path, &wrong).expect("written");
    for arguments in
        [&["bootstrap", "--recover-from", snapshot][..], &["etcd", "recover", snapshot]]
    {
        own.node(arguments).expect(3, "error[etcd.snapshot]");
    }
    fs_err::write(&path, &right[..right.len() - 700]).expect("written");
    own.node(&["etcd", "recover", snapshot]).expect(3, "incomplete");

    fs_err::write(&path, &right).expect("written");
    own.node(&["etcd", "recover", snapshot]).expect(0, "received the snapshot");
    own.node(&["bootstrap", "--recover-from", snapshot]).expect(0, "etcd runs");
    let audit = own.programs.audit();
    assert!(audit.last().expect("a line").contains(r#""detail":"sha256:"#), "{audit:?}");
    // What was in it is there.
    let after = own.programs.directory.path().join("after");
    let after = after.to_str().expect("a path");
    own.talosctl(&["etcd", "snapshot", after]).expect(0, "");
    let bytes = fs_err::read(after).expect("a snapshot");
    let key = format!("/registry/minions/{}", cluster.nodes[0].name);
    assert!(bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{key}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_snapshot_that_etcd_cannot_use_is_a_failure() {
    let own = Own::configured();
    let path = own.programs.directory.path().join("database");
    // The first page looks like one, nothing else does.
    let mut database = vec![0_u8; 64 << 10];
    database[16..20].copy_from_slice(&0xED0C_DAED_u32.to_le_bytes());
    fs_err::write(&path, &database).expect("written");
    let path = path.to_str().expect("a path");
    let arguments = ["bootstrap", "--recover-from", path, "--recover-skip-hash-check"];
    let failed = own.node(&arguments).expect(1, "error[etcd.failed]");
    assert!(failed.stderr.contains("hint: `ichor logs etcd` shows more"), "{failed:?}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn members_of_etcd_come_and_go_and_never_too_many() {
    let cluster = talos::cluster_alone(Size::FOUR);
    let etcd = Members { programs: Programs::new(Some(cluster.talosconfig())), cluster };
    let names: Vec<String> =
        etcd.cluster.nodes.iter().map(|node| node.address.to_string()).collect();
    let (first, second, third) = (&names[0], &names[1], &names[2]);
    etcd.has(3);

    // Another one leads.
    let leader = etcd.leader();
    let follower = [first, second].into_iter().find(|name| **name != leader).expect("another");
    etcd.node(&["etcd", "forfeit-leadership", "-n", follower]).expect(0, "was not the leader");
    etcd.node(&["etcd", "forfeit-leadership", "-n", &leader]).expect(0, "the leader is now ");
    assert_ne!(etcd.leader(), leader);

    // The leader comes last, wherever it is named.
    let leader = etcd.leader();
    let mut order: Vec<&str> = vec![&leader];
    order.extend(names[..3].iter().map(String::as_str).filter(|name| *name != leader));
    let said = etcd.node(&["etcd", "defrag", "-n", &order.join(",")]).expect(0, "defragmented");
    assert!(said.stderr.lines().last().is_some_and(|line| line.starts_with(&leader)), "{said:?}");
    etcd.node(&["etcd", "alarms", "disarm", "-n", first]).expect(0, "no alarms");

    // With one machine off nobody else can be spared.
    let lost = etcd.cluster.nodes[2].clone();
    etcd.cluster.power_off(&lost);
    etcd.node(&["etcd", "leave", "--yes", "-n", second]).expect(4, "error[etcd.quorum]");
    let second_name = &etcd.cluster.nodes[1].name;
    let remove = ["etcd", "remove-member", second_name, "--yes", "-n", first];
    let refused = etcd.node(&remove).expect(4, "1 of the remaining 2 voters");
    assert!(refused.stderr.contains("--override quorum.tolerance --reason"), "{refused:?}");
    etcd.has(3);
    etcd.cluster.power_on(&lost);
    etcd.well(3);

    // A machine leaves, boots, and is back.
    etcd.node(&["etcd", "leave", "--yes", "-n", third]).expect(0, "left etcd");
    etcd.has(2);
    etcd.node(&["reboot", "--yes", "-n", third]).expect(0, ": back");
    etcd.well(3);

    // Another machine joins and is lost for good.
    let machine = talos::machine(Size::FOUR);
    let endpoint = machine.endpoint.to_string();
    let config = etcd.cluster.config(Role::ControlPlane);
    let config = config.to_str().expect("a path");
    etcd.node(&["apply-config", "-i", "-n", &endpoint, "-f", config]).expect(0, "accepted");
    etcd.well(4);
    let name = machine.name.clone();
    drop(machine);
    let remove = ["etcd", "remove-member", &name, "-n", first];
    etcd.node(&remove).expect(3, "error[confirm.unasked]: etcd remove-member");
    let reason = ["--yes", "--override", "quorum.tolerance", "--reason", "the disk is dead"];
    etcd.node(&[&remove[..], &reason].concat()).expect(0, "removed member");
    let audit = etcd.programs.audit();
    let line = audit.last().expect("a line");
    assert!(line.contains("override quorum.tolerance: the disk is dead"), "{line}");
    assert!(line.contains(&format!("({name})")), "{line}");
    etcd.well(3);
}

/// A cluster whose members come and go.
struct Members {
    programs: Programs,
    cluster: Cluster,
}

impl Members {
    fn node(&self, arguments: &[&str]) -> Said {
        self.programs.ichor(&[&["node"], arguments].concat())
    }

    /// The address of the machine whose member leads, as talosctl shows it.
    fn leader(&self) -> String {
        let nodes: Vec<String> =
            self.cluster.nodes[..3].iter().map(|node| node.address.to_string()).collect();
        let said = self.programs.talosctl(&["-n", &nodes.join(","), "etcd", "status"]);
        let said = said.expect(0, "LEADER");
        // NODE MEMBER SIZE UNIT IN-USE UNIT (PERCENT) LEADER …
        let leads = |line: &&str| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells.len() > 8 && cells[2..].contains(&cells[1])
        };
        let line = said.stdout.lines().skip(1).find(leads).expect("a leader");
        line.split_whitespace().next().expect("a node").to_owned()
    }

    #[track_caller]
    fn has(&self, members: usize) {
        assert_eq!(self.count(), Some(members));
    }

    /// Waits until there are so many members, and all of them vote and answer.
    #[track_caller]
    fn well(&self, members: usize) {
        eventually(Duration::from_mins(4), || self.count() == Some(members) && self.all_answer());
    }

    /// How many members there are; nothing while one of them only learns or etcd does not answer.
    fn count(&self) -> Option<usize> {
        let node = self.cluster.nodes[0].address.to_string();
        let said = self.programs.talosctl(&["-n", &node, "etcd", "members"]);
        let voters = said.stdout.lines().skip(1).all(|line| line.trim_end().ends_with("false"));
        (said.code == 0 && voters).then(|| said.stdout.lines().count() - 1)
    }

    fn all_answer(&self) -> bool {
        self.cluster.nodes[..3].iter().all(|node| {
            let node = node.address.to_string();
            let said = self.programs.ichor(&["services", "etcd", "-n", &node]);
            said.code == 0 && said.stdout.contains("OK")
        })
    }
}

/// A change that needs no reboot, which each number makes another one.
fn swappiness(number: u32) -> String {
    format!(r#"{{"machine": {{"sysctls": {{"vm.swappiness": "{number}"}}}}}}"#)
}

fn line(number: u32) -> String {
    format!("vm.swappiness: \"{number}\"")
}

/// A change that needs a reboot.
const FILE: &str = r#"{"machine": {"files": [{"path": "/var/x", "content": "x", "op": "create", "permissions": 420}]}}"#;
