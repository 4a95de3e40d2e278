//! What machines have and run, and until when its certificates are valid: beside what talosctl says.

use std::path::Path;

use serde_json::Value;
use testkit::talos::{self, Size};

use crate::programs::{errors, first, ichor, said, talosctl, text};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn containers_and_images_are_those_that_talosctl_shows() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    for arguments in [
        &["containers"][..],
        &["containers", "-k"],
        &["image", "list"],
        &["image", "list", "--namespace", "system"],
    ] {
        let same = (0..3).any(|_| {
            said(ichor(&config).args(arguments)) == said(talosctl(&config).args(arguments))
        });
        assert!(same, "{arguments:?}:\n{}", said(ichor(&config).args(arguments)));
    }
    // In memory there is none on a node that is a container; talosctl leaves out the head then.
    let shown = said(ichor(&config).args(["image", "list", "--namespace", "inmem"]));
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

/// Memory and processor time move, so only the lines and the form of the numbers are compared.
#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn stats_have_the_lines_that_talosctl_shows() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    for arguments in [&["stats"][..], &["stats", "-k"]] {
        let lines = |shown: String| -> Vec<Vec<String>> {
            let words = |line: &str| {
                let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
                for number in words.iter_mut().rev().take(2) {
                    number.retain(|c| !c.is_ascii_digit());
                }
                words
            };
            shown.lines().map(words).collect()
        };
        let ours = lines(said(ichor(&config).args(arguments)));
        assert_eq!(ours, lines(said(talosctl(&config).args(arguments))));
        assert!(ours.len() > 2, "{ours:?}");
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn versions_are_those_that_talosctl_shows() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    let address = first(&cluster);
    let theirs = said(talosctl(&config).args(["version"]));
    let (_, theirs) = theirs.split_once("Server:\n").expect("the server's part");
    let ours = said(ichor(&config).args(["version", "--nodes", &address]));
    assert!(ours.ends_with(theirs), "{ours}");
    // Nobody is named, so nobody is asked.
    let alone = said(ichor(Path::new("/nowhere/talosconfig")).arg("version"));
    assert!(ours.starts_with(alone.trim_end()), "{alone}");
    assert_eq!(said(ichor(&config).args(["version", "--client", "--nodes", &address])), alone);

    let machine = talos::machine(Size::NONE);
    let insecure = ["version", "--insecure", "--nodes", &machine.endpoint.to_string()];
    let theirs = said(talosctl(&config).args(insecure));
    let tag = |shown: &str| shown.lines().rfind(|line| line.contains("Tag:")).map(str::to_owned);
    let ours = said(ichor(&config).args(insecure));
    assert_eq!(tag(&ours), tag(&theirs));
    assert!(tag(&ours).is_some(), "{ours}");

    let nodes = format!("{address},127.99.99.99");
    let partly = ["version", "--nodes", &nodes, "--deadline", "5s", "-o", "json"];
    let output = ichor(&config).args(partly).output().expect("ichor");
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let shown: Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(shown["machines"].as_array().map(Vec::len), Some(1), "{shown}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn links_and_disks_are_what_their_resources_say() {
    let cluster = talos::cluster(Size::ONE);
    let machine = talos::machine(Size::NONE);
    let config = cluster.talosconfig();
    let endpoint = machine.endpoint.to_string();
    let address = first(&cluster);
    // In maintenance talosctl leaves out which machine it is.
    for (node, reach) in [(&address, &[][..]), (&endpoint, &["--insecure", "--nodes", &endpoint])] {
        let resources = |kind: &str| -> Vec<Value> {
            let shown = said(talosctl(&config).args(["get", kind, "-o", "json"]).args(reach));
            let stream = serde_json::Deserializer::from_str(&shown).into_iter();
            stream.collect::<Result<_, _>>().expect("JSON")
        };
        let addresses = resources("addresses");
        let theirs: Vec<Value> = resources("links")
            .iter()
            .map(|link| {
                let name = &link["metadata"]["id"];
                let of_link =
                    addresses.iter().filter(|address| address["spec"]["linkName"] == *name);
                let spec = &link["spec"];
                let or_empty = |key: &str| spec.get(key).cloned().unwrap_or("".into());
                serde_json::json!({
                    "node": node,
                    "link": name,
                    "alias": or_empty("alias"),
                    "type": spec["type"],
                    "kind": spec["kind"],
                    "hardwareAddress": spec["hardwareAddr"],
                    "mtu": spec["mtu"],
                    "operationalState": spec["operationalState"],
                    "linkState": spec["linkState"],
                    "driver": or_empty("driver"),
                    "busPath": or_empty("busPath"),
                    "addresses": of_link.map(|one| &one["spec"]["address"]).collect::<Vec<_>>(),
                })
            })
            .collect();
        let ours = said(ichor(&config).args(["links", "-o", "json"]).args(reach));
        let ours: Vec<Value> = serde_json::from_str(&ours).expect("JSON");
        assert_eq!(ours, theirs);
        assert!(ours.len() > 1);
        let disks = said(ichor(&config).args(["disks", "-o", "json"]).args(reach));
        let disks: Vec<Value> = serde_json::from_str(&disks).expect("JSON");
        // A node that is a container has none.
        assert_eq!(disks.len(), resources("disks").len());
    }
}

/// A reader's talosconfig, made by the machine: talosctl takes it, and it shows no secrets.
/// A node that is a container has no disk, so what a machine with one gives is tried without it.
#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_machine_without_a_disk_gets_no_entry() {
    let machine = talos::machine(Size::NONE);
    let nodes = ["--insecure", "--nodes", &machine.endpoint.to_string()];
    let output = ichor(Path::new("/nowhere/talosconfig"))
        .args(["gen", "machine"])
        .args(nodes)
        .output()
        .expect("ichor");
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert_eq!(text(&output), "");
    let said = errors(&output);
    assert!(said.contains("error[machine.no-entry]"), "{said}");
    assert!(said.contains("no disk to install to: it has none"), "{said}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn new_talosconfigs_do_what_their_roles_say() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    let address = first(&cluster);
    let directory = tempfile::tempdir().expect("a directory");
    let reader = directory.path().join("reader");
    let path = reader.to_str().expect("a path");
    let new = ["config", "new", path, "--roles", "os:reader", "--crt-ttl", "90m"];
    said(ichor(&config).args(new).args(["--nodes", &address]));
    let info = said(talosctl(&reader).args(["config", "info"]));
    assert_eq!(info, said(ichor(&reader).args(["config", "info"])));
    assert!(info.contains("os:reader\n"), "{info}");
    assert!(said(talosctl(&reader).args(["version", "--nodes", &address])).contains("Tag:"));
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs_err::metadata(&reader).expect("a file").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let again = ichor(&config).args(new).output().expect("ichor");
    assert!(errors(&again).contains("error[output.exists]"), "{}", errors(&again));

    let certs = ichor(&reader).args(["certs", "--nodes", &address]).output().expect("ichor");
    assert!(certs.status.success(), "{}", errors(&certs));
    assert!(errors(&certs).contains("its secrets need the role os:admin"), "{}", errors(&certs));
    let lines = text(&certs);
    assert_eq!(lines.lines().count(), 4, "{lines}");
    let ours = lines.lines().find(|line| line.contains("talosconfig crt")).expect("ours");
    assert!(ours.ends_with("expires soon") && ours.contains("O=os:reader"), "{ours}");
    let secret = ["get", "osrootsecret", "--nodes", &address];
    let denied = ichor(&reader).args(secret).output().expect("ichor");
    assert!(errors(&denied).contains("error[machine.denied]"), "{}", errors(&denied));
}

/// Each certificate in the secrets, as openssl reads it, and nothing else of them.
#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn certificates_end_when_they_end() {
    let cluster = talos::cluster(Size::ONE);
    let config = cluster.talosconfig();
    let shown = said(ichor(&config).args(["certs", "--nodes", &first(&cluster), "-o", "json"]));
    let rows: Vec<Value> = serde_json::from_str(&shown).expect("JSON");
    let row = |place: &str| {
        let found = rows.iter().find(|row| row["certificate"] == place);
        found.unwrap_or_else(|| panic!("no {place} in {shown}"))
    };
    for (place, kind, path) in [
        ("OSRootSecret/os issuingCA.crt", "osrootsecret", "{.spec.issuingCA.crt}"),
        ("EtcdSecret/etcd etcdPeer.crt", "etcdsecret", "{.spec.etcdPeer.crt}"),
        ("ApiCertificate/api server.crt", "apicertificate", "{.spec.server.crt}"),
    ] {
        let form = format!("jsonpath={path}");
        let encoded = said(talosctl(&config).args(["get", kind, "-o", &form]));
        assert_eq!(row(place)["expires"], end_of(encoded.trim()), "{place}");
        assert_eq!(row(place)["status"], "OK", "{place}");
    }
    let admin = row("KubernetesSecret/k8s-certs adminKubeconfig");
    assert_eq!(admin["subject"], "O=system:masters,CN=talos:admin");
    assert!(!shown.contains("PRIVATE") && !shown.contains("BEGIN"), "{shown}");
    assert_eq!(row("API")["subject"], row("ApiCertificate/api server.crt")["subject"]);

    let client = said(ichor(&config).args(["certs", "--client", "-o", "json"]));
    let client: Vec<Value> = serde_json::from_str(&client).expect("JSON");
    assert_eq!(client, rows[..2]);
    let date = client[0]["expires"].as_str().expect("a time")[..10].to_owned();
    let info = said(talosctl(&config).args(["config", "info", "-o", "json"]));
    let info: Value = serde_json::from_str(&info).expect("JSON");
    assert_eq!(info["certNotAfter"], date.as_str());
}

/// When a certificate in base64 ends, as openssl says it.
fn end_of(encoded: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(program);
        said(command.args(arguments).current_dir(directory.path()))
    };
    let write = |name: &str, text: &str| {
        fs_err::write(directory.path().join(name), text).expect("a file");
    };
    write("encoded", encoded);
    write("certificate", &run("base64", &["--decode", "encoded"]));
    let options = ["-noout", "-enddate", "-dateopt", "iso_8601"];
    let said = run("openssl", &[&["x509", "-in", "certificate"][..], &options].concat());
    said.trim().trim_start_matches("notAfter=").replace(' ', "T")
}
