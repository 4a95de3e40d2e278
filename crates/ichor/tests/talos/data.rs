//! What is fetched from machines: logs, events, files, etcd's data, credentials.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use testkit::peers;
use testkit::talos::{self, Cluster, Size};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn logs_are_those_of_talosctl() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    let containers = talosctl(&cluster, &["--nodes", &node, "containers", "-k"]);
    let container = containers
        .split_whitespace()
        .find(|word| {
            word.starts_with("kube-system/kube-apiserver") && word.contains(":kube-apiserver")
        })
        .expect("the API server's container");
    for arguments in [&["etcd"][..], &["kubelet"], &["machined"], &["-k", container]] {
        // Logs grow: ours is at least what talosctl saw before, and at most what it sees afterwards.
        let theirs = || talosctl(&cluster, &[&["--nodes", &node, "logs"], arguments].concat());
        let before = theirs();
        let ours = shown(&cluster, &[&["logs"], arguments].concat());
        let after = theirs();
        assert!(!ours.is_empty(), "{arguments:?}");
        assert!(ours.starts_with(&before) && after.starts_with(&ours), "{arguments:?}");
    }
    assert_eq!(shown(&cluster, &["logs", "etcd", "--tail", "3"]).lines().count(), 3);

    let names = shown(&cluster, &["logs"]);
    let names: Vec<&str> =
        names.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert!(names.contains(&"etcd") && names.contains(&"controller-runtime"), "{names:?}");
    for name in &names[1..] {
        talosctl(&cluster, &["--nodes", &node, "logs", name, "--tail", "1"]);
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn what_one_machine_does_not_tell_keeps_nothing_back_of_the_others() {
    let cluster = talos::cluster(Size::ONE);
    let both = format!("{},{NOBODY}", node(&cluster));
    for arguments in
        [&["logs", "etcd", "--tail", "2"][..], &["ls", "/etc"], &["etcd", "members"], &["dmesg"]]
    {
        let output = ichor(&cluster, &[arguments, &["--nodes", &both]].concat());
        let (told, complained) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {complained}");
        assert!(
            told.lines().any(|line| line.starts_with(&node(&cluster))),
            "{arguments:?}: {told}"
        );
        assert!(
            complained.contains(&format!("error[machine.unreachable]: {NOBODY}: ")),
            "{complained}"
        );
    }
    for (arguments, code, said) in [
        (&["logs", "nothing"][..], "machine.not-found", "`ichor logs` without a name"),
        (&["logs", "-k", "nothing"], "machine.not-found", "container \"nothing\" not found"),
        (&["read", "/nothing"], "machine.not-found", "/nothing"),
        (&["read", "/etc"], "machine.failed", "regular file"),
        (&["ls", "/nothing"], "machine.not-found", "/nothing"),
        (&["cp", "/nothing", "-"], "machine.not-found", "/nothing"),
    ] {
        let output = ichor(&cluster, arguments);
        let complained = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {complained}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let expected = format!("error[{code}]: {}: ", node(&cluster));
        assert!(complained.starts_with(&expected) && complained.contains(said), "{complained}");
    }
    let nobody = ichor(&cluster, &["etcd", "status", "--nodes", NOBODY]);
    assert_eq!(nobody.status.code(), Some(5), "{}", text(&nobody.stderr));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn the_kernel_says_what_it_says_to_talosctl() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    // The machine computes the times anew each time it is asked, and ours names the machine also before what follows in
    // a message of several lines.
    let without_times = |text: String| -> Vec<String> {
        let line = |line: &str| {
            let message = line.strip_prefix(&format!("{node}: ")).unwrap_or(line);
            match message
                .split_once(" [")
                .and_then(|(head, rest)| Some((head, rest.split_once("Z]: ")?)))
            {
                Some((head, (_, message))) => format!("{head} {message}"),
                None => message.to_owned(),
            }
        };
        text.lines().map(line).collect()
    };
    let theirs = || without_times(talosctl(&cluster, &["--nodes", &node, "dmesg"]));
    let before = theirs();
    let ours = without_times(shown(&cluster, &["dmesg"]));
    let after = theirs();
    assert!(ours.len() > 10);
    assert!(ours.starts_with(&before) && after.starts_with(&ours));
    assert_eq!(shown(&cluster, &["dmesg", "--tail"]), "");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn files_are_listed_as_talosctl_does() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    for arguments in [
        &["/etc"][..],
        &["/"],
        &["-l", "/etc"],
        &["-l", "/dev"],
        &["-l", "-r", "/etc/kubernetes"],
        &["-l", "-d", "2", "/usr"],
        &["-r", "-t", "d,l", "/etc"],
        &["-tf", "/etc"],
        &["-l", "-H", "/usr/bin"],
        &["-l", "/etc/hosts"],
    ] {
        // Something may be written in between.
        let same = (0..3).any(|_| {
            let theirs = talosctl(&cluster, &[&["--nodes", &node, "ls"], arguments].concat());
            let ours = shown(&cluster, &[&["ls"], arguments].concat());
            let lines = |text: &str| -> Vec<String> {
                text.lines().map(|line| line.trim_end().to_owned()).collect()
            };
            assert!(ours.lines().count() > 1, "{arguments:?}");
            lines(&ours) == lines(&theirs)
        });
        assert!(same, "{arguments:?}");
    }
    let objects = json(&shown(&cluster, &["ls", "/etc/hosts", "-o", "json"]));
    assert_eq!(objects[0]["node"], node.as_str());
    assert_eq!((&objects[0]["name"], &objects[0]["uid"]), (&"hosts".into(), &0.into()));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn files_are_read_and_copied_as_talosctl_does() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    let directory = tempfile::tempdir().expect("a directory");
    for path in ["/etc/hosts", "/proc/version", "/usr/lib/cni/bridge", "/etc/extensions.yaml"] {
        let theirs = run(talosctl_command(&cluster).args(["--nodes", &node, "read", path]));
        let ours = ichor(&cluster, &["read", path]);
        assert_eq!(ours.status.code(), Some(0), "{}", text(&ours.stderr));
        assert!(ours.stdout == theirs.stdout, "{path} differs");
    }
    // What is packed without change gives the same archive.
    let theirs =
        run(talosctl_command(&cluster).args(["--nodes", &node, "cp", "/etc/kubernetes", "-"]));
    let ours = ichor(&cluster, &["cp", "/etc/kubernetes", "-"]);
    assert!(!ours.stdout.is_empty() && ours.stdout == theirs.stdout);

    let mut outside = 0;
    for (number, path) in ["/etc", "/usr/lib", "/etc/hosts", "/usr/share"].into_iter().enumerate() {
        let place = |side: &str| directory.path().join(format!("{side}-{number}"));
        let (theirs, ours) = (place("theirs"), place("ours"));
        let there = theirs.to_str().expect("text");
        talosctl(&cluster, &["--nodes", &node, "cp", path, there]);
        let output = ichor(&cluster, &["cp", path, ours.to_str().expect("text")]);
        let complained = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{complained}");
        let (theirs, ours) = (tree(&theirs), tree(&ours));
        assert!(!ours.is_empty(), "{path}");
        for (name, file) in &theirs {
            if ours.contains_key(name) {
                assert!(ours[name] == *file, "{path}: {} differs", name.display());
                continue;
            }
            let File::Link(to) = file else { panic!("{path}: {} is missing", name.display()) };
            assert!(leads_outside(name, to), "{path}: {} is missing", name.display());
            assert!(
                complained.contains(&format!("skipped: {} -> ", name.display())),
                "{complained}"
            );
            outside += 1;
        }
        assert!(ours.keys().all(|name| theirs.contains_key(name)), "{path}");
    }
    // /etc/ca-certificates is such a link.
    assert!(outside > 0);

    let again = ichor(
        &cluster,
        &["cp", "/etc/hosts", directory.path().join("ours-2").to_str().expect("text")],
    );
    assert_eq!(again.status.code(), Some(1), "nothing is overwritten: {}", text(&again.stderr));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn the_state_of_a_machine_is_shown_as_talosctl_shows_it() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    // Numbers change all the time: the heads, and what stands still, are the same.
    for (arguments, still) in [
        (&["memory"][..], &[0, 1][..]),
        (&["mounts"], &[0, 1, 6]),
        (&["netstat", "--listening"], &[0, 1, 4, 5]),
        (&["netstat", "--all", "--tcp", "--extend"], &[0, 1]),
    ] {
        let table = |text: &str| -> Vec<Vec<String>> {
            let row = |line: &str| -> Vec<String> {
                let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
                let cells: Vec<String> = cells.map(str::to_owned).collect();
                still.iter().filter_map(|at| cells.get(*at).cloned()).collect()
            };
            let mut rows: Vec<_> = text.lines().map(row).collect();
            rows[1..].sort();
            rows
        };
        let same = (0..5).any(|_| {
            let theirs = talosctl(&cluster, &[&["--nodes", &node], arguments].concat());
            table(&shown(&cluster, arguments)) == table(&theirs)
        });
        assert!(same, "{arguments:?}");
    }
    let head = |text: &str| {
        text.lines()
            .next()
            .expect("a head")
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    // `time` asks a time server, and no node of the harness reaches one.
    for arguments in [&["processes"][..], &["netstat", "-x", "-p"]] {
        let theirs = talosctl(&cluster, &[&["--nodes", &node], arguments].concat());
        assert_eq!(head(&shown(&cluster, arguments)), head(&theirs), "{arguments:?}");
    }
    let processes = json(&shown(&cluster, &["processes", "-o", "json"]));
    let commands = processes.as_array().expect("a list").iter().map(|one| one["command"].as_str());
    assert!(commands.flatten().any(|command| command.contains("etcd")));
    let usage = shown(&cluster, &["usage", "/etc/kubernetes", "-d", "1"]);
    let theirs = talosctl(&cluster, &["--nodes", &node, "usage", "/etc/kubernetes", "-d", "1"]);
    let sizes = |text: &str| {
        text.lines()
            .skip(1)
            .filter_map(|line| {
                let mut words = line.split_whitespace().rev();
                Some((words.next()?.to_owned(), words.next()?.to_owned()))
            })
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(sizes(&usage), sizes(&theirs));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn controllers_are_the_graph_of_talosctl() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    let theirs = talosctl(&cluster, &["--nodes", &node, "inspect", "dependencies"]);
    assert_eq!(shown(&cluster, &["inspect", "dependencies"]).trim_end(), theirs.trim_end());
    let resources = shown(&cluster, &["inspect", "dependencies", "--with-resources"]);
    assert!(resources.contains("subgraph cluster_s"), "{resources}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_support_bundle_of_a_real_node_has_no_secret() {
    let cluster = talos::cluster(Size::ONE);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("support.tar.gz");
    let output = ichor(&cluster, &["support", "-O", path.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs_err::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    let mut tar = Command::new("tar");
    let listed = text(&run(tar.args(["-tzf", path.to_str().expect("text")])).stdout);
    for part in ["dmesg.log", "services/etcd.log", "resources/members.cluster.talos.dev.yaml"] {
        assert!(listed.contains(part), "{part} is missing of {listed}");
    }
    let mut tar = Command::new("tar");
    let all = run(tar.args(["-xzOf", path.to_str().expect("text")])).stdout;
    let all = String::from_utf8_lossy(&all);
    assert!(all.contains("spec: \"******\"") && !all.contains("PRIVATE KEY-----"));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn etcd_is_shown_as_talosctl_shows_it() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    let theirs = talosctl(&cluster, &["--nodes", &node, "etcd", "members"]);
    assert_eq!(shown(&cluster, &["etcd", "members"]), theirs);
    // Indices move all the time; for once they stand still.
    let same = (0..20).any(|_| {
        let theirs = talosctl(&cluster, &["--nodes", &node, "etcd", "status"]);
        shown(&cluster, &["etcd", "status"]) == theirs
    });
    assert!(same, "{}", shown(&cluster, &["etcd", "status"]));
    let status = json(&shown(&cluster, &["etcd", "status", "-o", "json"]));
    assert_eq!(status[0]["member"], status[0]["leader"]);
    assert!(status[0]["dbSizeInUse"].as_i64().expect("a size") > 0);
    assert_eq!(talosctl(&cluster, &["--nodes", &node, "etcd", "alarm", "list"]), "");
    assert_eq!(shown(&cluster, &["etcd", "alarms"]), "NODE   MEMBER   ALARM\n");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn snapshots_can_be_restored() {
    let cluster = talos::cluster(Size::ONE);
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let (ours, theirs) = (path("ours.db"), path("theirs.db"));
    let output = ichor(&cluster, &["etcd", "snapshot", &ours]);
    let complained = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complained}");
    talosctl(&cluster, &["--nodes", &node(&cluster), "etcd", "snapshot", &theirs]);

    let etcdutl = |arguments: &[&str]| {
        let output = run(Command::new(peers::program("etcdutl")).args(arguments));
        String::from_utf8(output.stdout).expect("text")
    };
    let status = |file: &str| json(&etcdutl(&["snapshot", "status", file, "-w", "json"]));
    let (our_status, their_status) = (status(&ours), status(&theirs));
    let number = |status: &Value, key: &str| status[key].as_u64().expect("a number");
    // The cluster writes on between the two.
    assert!(number(&our_status, "totalKey") > 0);
    assert!(number(&our_status, "revision") <= number(&their_status, "revision"));
    assert_eq!(our_status["version"], their_status["version"]);
    etcdutl(&["snapshot", "restore", &ours, "--data-dir", &path("ours")]);
    etcdutl(&["snapshot", "restore", &theirs, "--data-dir", &path("theirs")]);

    let metadata = fs_err::metadata(&ours).expect("a file");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!((metadata.len() % 512, metadata.len() > 512), (32, true));
    let bytes = fs_err::read(&ours).expect("a file");
    let mut digest = String::new();
    for byte in &bytes[bytes.len() - 32..] {
        write!(digest, "{byte:02x}").expect("a string takes everything");
    }
    assert!(
        complained.contains(&format!("({} bytes, sha256 {digest})", metadata.len())),
        "{complained}"
    );

    let again = ichor(&cluster, &["etcd", "snapshot", &ours]);
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    assert!(fs_err::read(&ours).expect("a file") == bytes);
    assert_eq!(ichor(&cluster, &["etcd", "snapshot", &ours, "--force"]).status.code(), Some(0));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_snapshot_that_is_interrupted_leaves_nothing() {
    let cluster = talos::cluster(Size::ONE);
    let interrupted = (0..50).any(|_| {
        let directory = tempfile::tempdir().expect("a directory");
        let names = || -> Vec<_> {
            let entries = fs_err::read_dir(directory.path()).expect("a directory");
            entries.map(|entry| entry.expect("an entry").file_name()).collect()
        };
        let path = directory.path().join("etcd.db");
        let arguments = ["etcd", "snapshot", path.to_str().expect("text")];
        let mut child =
            ichor_command(&cluster, &arguments).stderr(Stdio::null()).spawn().expect("ichor");
        // It has begun when something is there.
        while names().is_empty() && child.try_wait().expect("a child").is_none() {
            thread::yield_now();
        }
        let pid = child.id().to_string();
        run(Command::new("kill").args(["-INT", &pid]));
        match child.wait().expect("a status").code() {
            Some(130) => {
                assert!(names().is_empty(), "{:?}", names());
                true
            }
            // It was faster.
            Some(0) => {
                assert_eq!(names(), ["etcd.db"]);
                false
            }
            other => panic!("{other:?}"),
        }
    });
    assert!(interrupted);
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn kubeconfigs_are_merged_as_talosctl_does() {
    let cluster = talos::cluster(Size::ONE);
    let node = node(&cluster);
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let (ours, theirs) = (path("ours"), path("theirs"));
    let both = |arguments: &[&str]| {
        let output = ichor(&cluster, &[&["kubeconfig", &ours], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said =
            talosctl(&cluster, &[&["--nodes", &node, "kubeconfig", &theirs], arguments].concat());
        assert_eq!(without_keys(&ours), without_keys(&theirs), "{arguments:?}");
        // talosctl calls a user "auth info".
        let renamed = said.replace("auth info", "user");
        assert!(text(&output.stderr).starts_with(&renamed), "{}", text(&output.stderr));
    };
    // New, the same again with other keys twice, with a name of its own, over all that is there.
    for arguments in [
        &[][..],
        &[],
        &[],
        &["--force-context-name", "mine"],
        &["--force"],
        &["--merge=false", "--force"],
    ] {
        both(arguments);
    }
    // Beside a cluster of the same name that is another one.
    let other = "apiVersion: v1\nclusters:\n- cluster:\n    server: https://127.0.0.9:6443\n  name: NAME\n\
                 contexts:\n- context:\n    cluster: NAME\n    user: admin@NAME\n  name: admin@NAME\n\
                 current-context: admin@NAME\nkind: Config\npreferences: {}\nusers:\n- name: admin@NAME\n  user:\n    token: a\n";
    for file in [&ours, &theirs] {
        let name = cluster_name(&without_keys(file));
        fs_err::write(file, other.replace("NAME", &name)).expect("a file");
    }
    let before = |file: &str| fs_err::read_to_string(file).expect("a file");
    let start = before(&ours);
    let output = ichor(&cluster, &["kubeconfig", &ours]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    talosctl(&cluster, &["--nodes", &node, "kubeconfig", &theirs]);
    // kubectl leaves out what is empty; it is the user's, so here it stays.
    let kept = without_keys(&ours).replace("preferences: {}\n", "");
    assert_eq!(kept, without_keys(&theirs).replace("preferences: {}\n", ""));
    assert!(before(&ours).contains("preferences:"), "{start}");

    // Whatever else is there stays, and kubectl reaches the cluster with what was added.
    fs_err::write(&ours, "future: {kept: yes}\nclusters: []\n").expect("a file");
    assert_eq!(ichor(&cluster, &["kubeconfig", &ours]).status.code(), Some(0));
    assert!(before(&ours).contains("future:\n  kept: yes\n"));
    assert_eq!(fs_err::metadata(&ours).expect("a file").mode() & 0o777, 0o600);
    let server = format!("https://{}:6443", cluster.nodes[0].endpoint);
    let reached = run(Command::new(peers::program("kubectl")).args([
        "--kubeconfig",
        &ours,
        "--server",
        &server,
        "get",
        "nodes",
        "--output",
        "name",
    ]));
    assert_eq!(text(&reached.stdout).trim(), format!("node/{}", cluster.nodes[0].name));

    let refused = ichor(&cluster, &["kubeconfig", &ours, "--merge=false"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    let printed = shown(&cluster, &["kubeconfig", "-"]);
    assert!(printed.starts_with("apiVersion: v1\n"));
    // Where kubectl would look.
    let usual = ichor_command(&cluster, &["kubeconfig"])
        .env("KUBECONFIG", path("usual"))
        .output()
        .expect("ichor");
    assert!(usual.status.success() && directory.path().join("usual").exists());
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn events_are_those_that_talosctl_shows() {
    let cluster = talos::cluster(Size::ONE);
    let theirs: Vec<Vec<String>> = {
        let mut command = talosctl_command(&cluster);
        command.args(["--nodes", &node(&cluster), "events", "--tail", "-1"]);
        let lines = Lines::of(&mut command).until_silence();
        // Two lines for each, and cells that are empty leave nothing but blanks.
        let cells = |line: &String| -> Vec<String> {
            line.split("   ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .map(str::to_owned)
                .collect()
        };
        lines[1..].chunks(2).map(|lines| lines.iter().flat_map(cells).collect()).collect()
    };
    let ours = events(&cluster, &["--tail", "-1"]);
    assert!(theirs.len() > 20);
    for (theirs, ours) in theirs.iter().zip(&ours) {
        let cells = ["node", "id", "event", "actor", "source", "message"]
            .map(|key| ours[key].as_str().expect("text").trim().to_owned());
        let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, *theirs);
    }
    let id = |event: &Value| event["id"].as_str().expect("an id").to_owned();
    // One with all that is older before it, and all that is younger behind it: the machine looks for it in order.
    let sorted = |at: &usize| {
        let (before, after) =
            (ours[..*at].iter().map(id).max(), ours[at + 1..].iter().map(id).min());
        before < Some(id(&ours[*at])) && Some(id(&ours[*at])) < after
    };
    let middle = (ours.len() / 2..ours.len() - 1).find(sorted).expect("such an event");
    let later = events(&cluster, &["--since", &id(&ours[middle])]);
    assert_eq!(id(&later[0]), id(&ours[middle + 1]));
    // The machine was not up for so long: all that it remembers.
    for arguments in [["--since", "500h"], ["--duration", "500h"]] {
        assert_eq!(id(&events(&cluster, &arguments)[0]), id(&ours[0]), "{arguments:?}");
    }
    let by_nobody = events(&cluster, &["--tail", "-1", "--actor-id", "nobody"]);
    assert!(by_nobody.is_empty(), "{by_nobody:?}");
    for arguments in [["--since", "tomorrow"], ["--duration", "0s"]] {
        let output = ichor(&cluster, &[&["events"][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn events_go_on_after_a_power_cut() {
    let cluster = talos::cluster_alone(Size::ONE);
    let mut command = ichor_command(&cluster, &["events", "--tail", "1", "-o", "json"]);
    let mut complaints = tempfile::tempfile().expect("a file");
    command.stderr(complaints.try_clone().expect("a file"));
    let mut lines = Lines::of(&mut command);
    lines.next().expect("an event");
    cluster.power_off(&cluster.nodes[0]);
    cluster.power_on(&cluster.nodes[0]);
    loop {
        let event = json(&lines.next().expect("an event"));
        if event["source"] == "boot" && event["message"] == "START" {
            break;
        }
    }
    drop(lines);
    let mut complained = String::new();
    std::io::Seek::rewind(&mut complaints).expect("a file");
    std::io::Read::read_to_string(&mut complaints, &mut complained).expect("text");
    let expected = format!("{}: ", node(&cluster));
    assert!(complained.starts_with(&expected), "{complained}");
    assert!(complained.contains("reconnecting"), "{complained}");
}

/// What ours tells of events until nothing more comes.
fn events(cluster: &Cluster, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["events", "-o", "json"], arguments].concat();
    Lines::of(&mut ichor_command(cluster, &arguments))
        .until_silence()
        .iter()
        .map(|line| json(line))
        .collect()
}

/// The lines of a program that does not end by itself.
struct Lines {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Lines {
    fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a program");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.expect("text")).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line, for which a machine may have to boot.
    fn next(&mut self) -> Option<String> {
        self.lines.recv_timeout(Duration::from_mins(2)).ok()
    }

    /// All lines, until none comes for a while.
    fn until_silence(self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(3)) {
            lines.push(line);
        }
        lines
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a status");
    }
}

/// What a directory holds.
#[derive(Eq, PartialEq)]
enum File {
    Directory(u32),
    Regular(u32, Vec<u8>),
    Link(PathBuf),
}

/// Permissions are compared as far as the umask lets them be: talosctl does not heed it.
fn tree(root: &Path) -> BTreeMap<PathBuf, File> {
    let around = tempfile::tempdir().expect("a directory");
    let plain = around.path().join("plain");
    fs_err::create_dir(&plain).expect("a directory");
    // What a new directory may have, and the bits of the kind.
    let allowed = fs_err::metadata(&plain).expect("a directory").permissions().mode() | !0o777;
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs_err::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = fs_err::symlink_metadata(&path).expect("a file");
            let mode = metadata.permissions().mode() & allowed;
            let name = path.strip_prefix(root).expect("below").to_owned();
            let file = if metadata.is_dir() {
                directories.push(path);
                File::Directory(mode)
            } else if metadata.is_symlink() {
                File::Link(fs_err::read_link(path).expect("a link"))
            } else {
                File::Regular(mode, fs_err::read(path).expect("a file"))
            };
            files.insert(name, file);
        }
    }
    files
}

/// Whether a link is absolute, or goes up further than the target.
fn leads_outside(path: &Path, to: &Path) -> bool {
    let up = to.components().filter(|component| *component == Component::ParentDir).count();
    to.is_absolute() || up >= path.components().count()
}

/// A kubeconfig without what is new in each.
fn without_keys(path: &str) -> String {
    let text = fs_err::read_to_string(path).expect("a file");
    let known = |line: &&str| {
        !line.contains("client-certificate-data:") && !line.contains("client-key-data:")
    };
    text.lines().filter(known).collect::<Vec<_>>().join("\n") + "\n"
}

/// The name of the only cluster.
fn cluster_name(kubeconfig: &str) -> String {
    let line = kubeconfig.lines().find_map(|line| line.strip_prefix("  name: "));
    line.expect("a name").to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What ours shows about the node of a cluster.
fn shown(cluster: &Cluster, arguments: &[&str]) -> String {
    let output = ichor(cluster, arguments);
    assert!(output.status.success(), "ichor {arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs ours, for the node of a cluster unless others are named.
fn ichor(cluster: &Cluster, arguments: &[&str]) -> Output {
    let mut command = ichor_command(cluster, arguments);
    let output = command.output().expect("ichor");
    let code = output.status.code().expect("no signal");
    crate::schemas::check(arguments, code, &String::from_utf8_lossy(&output.stdout));
    output
}

fn ichor_command(cluster: &Cluster, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ichor"));
    command.args(arguments).stdin(Stdio::null());
    command.env("TALOSCONFIG", cluster.talosconfig()).env_remove("KUBECONFIG");
    if !arguments.contains(&"--nodes") {
        command.args(["--nodes", &node(cluster)]);
    }
    command
}

fn talosctl(cluster: &Cluster, arguments: &[&str]) -> String {
    text(&run(talosctl_command(cluster).args(arguments)).stdout)
}

fn talosctl_command(cluster: &Cluster) -> Command {
    let mut command = Command::new(peers::program("talosctl-1.13.9"));
    // Ours tells times in UTC.
    command.env("TALOSCONFIG", cluster.talosconfig()).env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// Runs a program that has to succeed.
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    output
}

fn node(cluster: &Cluster) -> String {
    cluster.nodes[0].address.to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// An address in the network of the nodes that none of them has.
const NOBODY: &str = "10.77.0.99";
