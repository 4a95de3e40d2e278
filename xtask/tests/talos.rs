//! Level `talos`: whatever ends the harness of Talos nodes, nothing of it is left on the machine.

#![expect(clippy::disallowed_methods, reason = "tests of processes: they wait for real ones")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fs_err::File;
use testkit::peers;
use testkit::talos::{Node, Request, Size, ask_at, homes};

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn nothing_is_left_when_whoever_started_it_is_gone() {
    let mut harness = Harness::start("gone");
    let traces = harness.run_a_machine();
    // What the end of the starting process does, however it ends.
    drop(harness.child.stdin.take());
    assert!(harness.child.wait().expect("a child").success());
    traces.assert_gone();
    assert!(traces.groups().is_empty(), "{:?}", traces.groups());
    assert!(!harness.directory.exists());
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn nothing_lives_on_when_it_is_killed_and_the_next_one_removes_the_rest() {
    let mut harness = Harness::start("killed");
    let traces = harness.run_a_machine();
    harness.child.kill().expect("a child to kill");
    harness.child.wait().expect("a child");
    traces.assert_gone();

    let mut next = Harness::start("next");
    drop(next.child.stdin.take());
    next.child.wait().expect("a child");
    assert!(traces.groups().is_empty(), "{:?}", traces.groups());
    assert!(!harness.directory.exists());
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn two_of_them_do_not_meet() {
    let (one, other) = (Harness::start("one"), Harness::start("other"));
    let machines = [one.machine(), other.machine()];
    // Inside they are alike.
    assert_eq!(machines[0].address, machines[1].address);
    let answers = machines.each_ref().map(|machine| {
        let address = machine.endpoint.to_string();
        move || {
            let talosctl = Command::new(peers::program("talosctl-1.13.9"))
                .args(["get", "machinestatus", "--insecure", "--nodes", &address])
                .output();
            talosctl.expect("a program that runs").status.success()
        }
    });
    assert!(answers.iter().all(|answers| answers()));
    drop(one);
    assert!(!answers[0]());
    assert!(answers[1]());
}

struct Harness {
    child: Child,
    directory: PathBuf,
}

impl Harness {
    fn start(name: &str) -> Self {
        let directory = homes().join(format!("{name}-{}", std::process::id()));
        let child = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["talos", "serve", "--tied"])
            .arg(&directory)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a harness that starts");
        let end = Instant::now() + Duration::from_mins(1);
        while ask_at(&directory, &Request::Status).is_err() {
            assert!(Instant::now() < end, "the harness does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { child, directory }
    }

    fn machine(&self) -> Node {
        let request = Request::Machine { size: Size::NONE, keep: true };
        let (mut sites, _) = ask_at(&self.directory, &request).expect("a machine");
        sites.remove(0).nodes.remove(0)
    }

    /// Starts a machine and takes down what it brought into the world.
    fn run_a_machine(&self) -> Traces {
        self.machine();
        let processes = below(self.child.id());
        assert!(processes.len() > 3, "a node has more processes: {processes:?}");
        let ours = namespaces(std::process::id());
        let namespaces: BTreeMap<PathBuf, File> = processes
            .iter()
            .flat_map(|pid| links(*pid))
            .filter(|(namespace, _)| !ours.contains(namespace))
            .filter_map(|(namespace, link)| Some((namespace, File::open(link).ok()?)))
            .collect();
        // Network, mounts, processes, host name, messages and control groups.
        assert!(namespaces.len() >= 6, "{namespaces:?}");
        let groups =
            fs_err::read_to_string(self.directory.join("cgroups")).expect("a record of groups");
        let groups: Vec<PathBuf> = groups.lines().map(PathBuf::from).collect();
        assert!(groups.iter().all(|group| group.is_dir()), "{groups:?}");
        Traces { directory: self.directory.clone(), processes, namespaces, groups }
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}

struct Traces {
    directory: PathBuf,
    processes: Vec<u32>,
    /// Open, so that the kernel does not give their numbers to those of another harness.
    namespaces: BTreeMap<PathBuf, File>,
    groups: Vec<PathBuf>,
}

impl Traces {
    fn assert_gone(&self) {
        let left = || -> Vec<String> {
            let mut left = Vec::new();
            for pid in pids() {
                let mut still = namespaces(pid);
                still.retain(|namespace| self.namespaces.contains_key(namespace));
                if !still.is_empty() || (self.processes.contains(&pid) && alive(pid)) {
                    left.push(format!("process {pid} {still:?}"));
                }
            }
            left
        };
        // The kernel ends processes one after the other.
        let end = Instant::now() + Duration::from_secs(10);
        while !left().is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(left().is_empty(), "{:?}", left());
        let mounts = fs_err::read_to_string("/proc/self/mountinfo").expect("mounts");
        assert!(!mounts.contains(&*self.directory.to_string_lossy()), "{mounts}");
    }

    fn groups(&self) -> Vec<&PathBuf> {
        self.groups.iter().filter(|group| group.exists()).collect()
    }
}

/// All processes under one, itself included.
fn below(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        let tasks = fs_err::read_dir(format!("/proc/{pid}/task")).expect("a process that lives");
        for task in tasks.flatten() {
            let children = fs_err::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        next += 1;
    }
    found
}

fn namespaces(pid: u32) -> BTreeSet<PathBuf> {
    links(pid).map(|(namespace, _)| namespace).collect()
}

/// The namespaces of a process, and where they can be opened.
fn links(pid: u32) -> impl Iterator<Item = (PathBuf, PathBuf)> {
    let links = fs_err::read_dir(format!("/proc/{pid}/ns")).into_iter().flatten().flatten();
    links.filter_map(|link| Some((fs_err::read_link(link.path()).ok()?, link.path())))
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs_err::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}
