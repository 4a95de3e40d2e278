//! `ichor get`: the same bytes as talosctl, for every type that a node has.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use testkit::talos::{self, Request, Size};

use crate::programs::{Running, errors, first, ichor, said, talosctl, text};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn every_type_is_shown_as_talosctl_shows_it() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    let types = said(talosctl(&config).args(["get", "rd", "-o", "jsonpath={.spec.type}"]));
    let mut left: Vec<&str> = types.lines().collect();
    assert!(left.len() > 100, "{types}");
    // One of the types that every release has, by its aliases.
    left.extend(["hostname", "HostnameStatuses", "hostnamestatus.net.talos"]);
    let left = Mutex::new(left);
    let next = || left.lock().expect("the list").pop();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(kind) = next() {
                    let table = same(&config, &["get", kind]);
                    let any = table.lines().count() > 1;
                    for form in ["yaml", "json"].into_iter().filter(|_| any) {
                        same(&config, &["get", kind, "-o", form]);
                    }
                }
            });
        }
    });
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn single_ones_namespaces_and_paths_are_shown_as_talosctl_shows_them() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    same(&config, &["get", "svc", "kubelet", "-o", "yaml"]);
    same(&config, &["get", "--namespace", "network-config", "addressspecs"]);
    for template in [
        "{.metadata.id}",
        "{.metadata.created}",
        "{.metadata.owner}",
        "{.spec}",
        "{.spec.printColumns[*].name}",
        "{.spec.printColumns[0]}",
        "{.spec.aliases[-1]}",
        "{.spec.aliases[0:1]}",
        "{.spec.printColumns[?(@.name==\"Hostname\")].jsonPath}",
        "{range .spec.aliases[*]}{@}{\" \"}{end}",
        "{.node}: {.metadata['id','version']}",
    ] {
        let form = format!("jsonpath={template}");
        same(&config, &["get", "rd", "hostnamestatuses.net.talos.dev", "-o", &form]);
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_machine_in_maintenance_shows_what_it_has() {
    let machine = talos::machine(Size::NONE);
    let nowhere = tempfile::tempdir().expect("a directory");
    let config = nowhere.path().join("talosconfig");
    let endpoint = machine.endpoint.to_string();
    // In maintenance talosctl leaves out which machine it is.
    let node = format!("node: {endpoint}\n");
    for kind in ["disks", "links", "addresses", "hostname", "rd"] {
        let get = ["get", kind, "--insecure", "--nodes", &endpoint];
        same_but(&config, &[&get[..], &["-o", "yaml"]].concat(), |ours| {
            ours.replace(&node, "node: \n")
        });
        let form = "jsonpath={.metadata} {.spec}";
        same_but(&config, &[&get[..], &["-o", form]].concat(), str::to_owned);
    }
    let secret = ["get", "osrootsecret", "--insecure", "--nodes", &endpoint];
    let output = ichor(&config).args(secret).output().expect("ichor");
    assert!(errors(&output).contains("error[machine.denied]"), "{}", errors(&output));
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn what_is_not_there_keeps_nothing_back() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    let address = first(&cluster);
    let nodes = format!("{address},127.99.99.99");
    let ours = |arguments: &[&str]| ichor(&config).args(arguments).output().expect("ichor");

    let output = ours(&["get", "hostname", "--nodes", &nodes, "--deadline", "5s"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains(&address), "{}", text(&output));
    assert!(errors(&output).contains("error[machine."), "{}", errors(&output));
    assert!(errors(&output).contains("127.99.99.99"), "{}", errors(&output));

    let output = ours(&["get", "svc", "nothing", "kubelet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("kubelet"), "{}", text(&output));
    assert!(errors(&output).contains("error[machine.not-found]"), "{}", errors(&output));

    for (arguments, status, code) in [
        (&["get", "nothing"][..], 1, "machine.not-found"),
        (&["get", "as"], 3, "machine.invalid"),
        (&["get", "svc", "--namespace", "nowhere"], 1, "machine.unsupported"),
        (&["get", "svc", "-o", "jsonpath={.spec.nothing}"], 1, "machine.not-found"),
        (&["get", "svc", "-o", "jsonpath={nothing}"], 3, "usage"),
    ] {
        let output = ours(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", errors(&output));
        let code = format!("error[{code}]");
        assert!(errors(&output).contains(&code), "{arguments:?}: {}", errors(&output));
    }
}

/// Both programs watch the same service restart. They are told of different moments in between, but begin and end with
/// the same line, and see it go.
#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_watch_tells_what_talosctl_tells() {
    let cluster = talos::cluster_alone(Size::ONE);
    let config = cluster.talosconfig();
    let watch = ["get", "services", "--watch"];
    let mut ours = Running::new(ichor(&config).args(watch));
    let mut theirs = Running::new(talosctl(&config).args(watch));
    let (our_lines, their_lines) = (lines(ours.0.stdout.take()), lines(theirs.0.stdout.take()));
    let is_last = |line: &String| line.contains(" trustd ");
    let begun = [&our_lines, &their_lines].map(|lines| until(lines, is_last));
    assert_eq!(begun[0], begun[1]);
    assert!(begun[0][0].starts_with("NODE") && begun[0][0].contains(" *   NAMESPACE"), "{begun:?}");

    said(talosctl(&config).args(["service", "kubelet", "restart"]));
    let words = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is_gone = |line: &String| words(line).get(1).is_some_and(|sign| sign == "-");
    let gone = [&our_lines, &their_lines].map(|lines| until(lines, is_gone).pop());
    assert_eq!(gone[0].as_ref().map(words), gone[1].as_ref().map(words));
    let is_well = |line: &String| line.contains(" kubelet ") && line.contains(" true      true ");
    let well = until(&our_lines, is_well).pop().expect("a line");
    // Later lines stand below the first ones.
    let column = |line: &str| line.find("runtime");
    assert_eq!(column(&well), column(&begun[0][1]));
}

/// The watch is told what is different after the power was cut, and nothing twice.
#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_watch_outlives_the_machine() {
    let machine = talos::machine(Size::NONE);
    let nowhere = tempfile::tempdir().expect("a directory");
    let config = nowhere.path().join("talosconfig");
    let endpoint = machine.endpoint.to_string();
    let mut command = ichor(&config);
    command.args(["get", "links", "lo", "eth0", "--watch", "--insecure", "--nodes", &endpoint]);
    let mut running = Running::new(&mut command);
    let (told, notes) = (lines(running.0.stdout.take()), lines(running.0.stderr.take()));
    let mut first = until(&told, |line| line.contains(" lo "));
    assert_eq!(first.len(), 3, "{first:?}");

    let power = |on| {
        let request = Request::Power { size: Size::NONE, node: machine.name.clone(), on };
        talos::ask(&request).expect("power");
    };
    power(false);
    until(&notes, |note| note.starts_with(&endpoint) && note.ends_with("reconnecting"));
    power(true);
    let after = until(&told, |line| line.contains(" lo "));
    let known: Vec<String> = first.drain(1..).collect();
    assert!(!after.iter().any(|line| known.contains(line)), "{known:?} {after:?}");
}

/// Both programs say the same, at some moment: what moves is compared again.
fn same(config: &Path, arguments: &[&str]) -> String {
    same_but(config, arguments, str::to_owned)
}

/// Both say the same, but for a difference that is meant.
fn same_but(config: &Path, arguments: &[&str], adjust: impl Fn(&str) -> String) -> String {
    let mut shown = Vec::new();
    for _ in 0..6 {
        let theirs = talosctl(config).args(arguments).output().expect("talosctl");
        let ours = ichor(config).args(arguments).output().expect("ichor");
        if adjust(&text(&ours)) == text(&theirs) && ours.status.success() == theirs.status.success()
        {
            return text(&ours);
        }
        shown = vec![text(&theirs), errors(&theirs), text(&ours), errors(&ours)];
    }
    panic!(
        "{arguments:?}: talosctl said\n{}\n{}\nwe said\n{}\n{}",
        shown[0], shown[1], shown[2], shown[3]
    );
}

/// The lines of something, as they come.
fn lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    let reader = BufReader::new(stream.expect("a stream"));
    std::thread::spawn(move || {
        for line in reader.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// The lines up to the one that is waited for.
fn until(lines: &Receiver<String>, is_last: impl Fn(&String) -> bool) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let Ok(line) = lines.recv_timeout(PATIENCE) else { panic!("only {seen:#?}") };
        let done = is_last(&line);
        seen.push(line);
        if done {
            return seen;
        }
    }
}

/// Longer than a machine takes to boot.
const PATIENCE: Duration = Duration::from_mins(1);
