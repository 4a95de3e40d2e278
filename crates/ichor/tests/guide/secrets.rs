//! Nothing that is said along the guide holds a secret, and whatever holds one is for its owner only.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Directory, Said};

#[test]
fn no_command_of_the_guide_tells_a_secret() {
    let directory = directory();
    assert!(canaries(&directory).len() >= 30, "{}", canaries(&directory).len());
    for line in LINES {
        quietly(&directory, line);
    }
    // Values that are secret are found, and their place is taken by stars.
    for path in [
        "machine",
        "machine.token",
        "machine.ca",
        "machine.systemDiskEncryption",
        "cluster",
        "cluster.secret",
        "cluster.token",
        "cluster.secretboxEncryptionSecret",
        "cluster.ca.key",
        "cluster.aggregatorCA",
        "cluster.serviceAccount.key",
        "cluster.etcd.ca",
    ] {
        for form in ["table", "json"] {
            let said = quietly(&directory, &format!("explain {path} -n cp-1 -o {form}"));
            assert_eq!(said.code, 0, "{path}: {}", said.stderr);
            assert!(said.stdout.contains("******"), "{path}: {}", said.stdout);
        }
    }
    let (open, kept) = kept(&directory);
    assert!(open.is_empty(), "others may read {open:?}");
    for file in ["clusterconfig/talosconfig", "clusterconfig/home-cp-1.yaml", "native/secrets.yaml"]
    {
        assert!(kept.contains(&format!("work/{file}")), "{file} is not among {kept:?}");
    }
}

#[test]
fn what_is_broken_is_told_without_its_secrets() {
    let directory = directory();
    let secrets = directory.read("talsecret.yaml");
    let kinds = [
        // A key that nobody knows, with a secret below it.
        ("patches/disk.yaml", DISK.replace("static:", "statik:")),
        // A list where a text is expected, with a secret in it.
        ("patches/disk.yaml", DISK.replace(PASSPHRASE, &format!("[{PASSPHRASE}]"))),
        // No YAML from the secret on.
        ("patches/disk.yaml", DISK.replace("passphrase: ", "passphrase: [")),
        ("talsecret.yaml", secrets.replace("trustdinfo:", "trustdinf:")),
        ("talsecret.yaml", secrets.replace("  token: ", "  token: [")),
        ("talsecret.yaml", secrets.replace("    key: LS0t", "    key: =LS0t")),
    ];
    // They are known from the files before these are broken.
    let canaries = canaries(&directory);
    for (file, broken) in kinds {
        let before = directory.read(file);
        assert_ne!(broken, before, "{file}");
        directory.write(file, &broken);
        for line in [
            "talhelper --debug genconfig --offline-mode",
            "validate",
            "validate -o json",
            "plan",
            "explain machine -n cp-1",
            "import -o other",
        ] {
            let said = directory.run(line);
            assert!([1, 3].contains(&said.code), "{line}: {}\n{}", said.code, said.stdout);
            silent(&said, line, &canaries);
        }
        silent(&directory.run("lint"), "lint", &canaries);
        directory.write(file, &before);
    }
    assert!(!directory.path("other").exists());

    let cluster = directory.read("cluster.yaml");
    for broken in [cluster.replace(TOKEN, &format!("[{TOKEN}")), cluster.replace("/24", "")] {
        directory.write("cluster.yaml", &broken);
        let said = directory.run("gen talconfig -o made");
        assert_eq!(said.code, 3, "{}", said.stdout);
        silent(&said, "gen talconfig", &canaries);
    }
    assert!(!directory.path("made").exists());
}

/// A talconfig with secrets in a patch as well, and the files of a template beside it.
fn directory() -> Directory {
    let directory = Directory::new(&[
        (
            "cluster.yaml",
            &format!(
                "node_cidr: 10.0.0.0/24\ncluster_api_addr: 10.0.0.10\ncloudflare_token: {TOKEN}\n"
            ),
        ),
        ("nodes.yaml", &format!("{NODE}{}\n", "a1".repeat(32))),
        ("patches/disk.yaml", DISK),
    ]);
    let made = quietly(
        &directory,
        "init home --talhelper --endpoint https://127.91.3.10:6443 --control-plane cp-1=127.91.3.11 --worker \
         w-1=127.91.3.21 --talos v1.12.0 --kubernetes v1.35.0",
    );
    assert_eq!(made.code, 0, "{}", made.stderr);
    let talconfig = directory.read("talconfig.yaml");
    let patches = "patches: [\"@./patches/disk.yaml\"]\n";
    directory.write("talconfig.yaml", &format!("{talconfig}{patches}"));
    directory
}

/// Runs a command, which tells no secret.
fn quietly(directory: &Directory, line: &str) -> Said {
    let said = directory.run(line);
    // Some commands make new credentials.
    silent(&said, line, &canaries(directory));
    said
}

fn silent(said: &Said, line: &str, canaries: &BTreeSet<String>) {
    for canary in canaries {
        let told = said.stdout.contains(canary) || said.stderr.contains(canary);
        assert!(!told, "`ichor {line}` tells a secret");
    }
}

/// Everything that nobody is to be told.
fn canaries(directory: &Directory) -> BTreeSet<String> {
    let mut canaries = BTreeSet::from([PASSPHRASE.to_owned(), TOKEN.to_owned()]);
    for file in ["talsecret.yaml", "clusterconfig/talosconfig"] {
        let text = fs_err::read_to_string(directory.path(file)).unwrap_or_default();
        // Certificates are public; everything else that is as long as a key is a secret.
        let secrets = text
            .lines()
            .filter_map(|line| line.trim().split_once(": "))
            .filter(|(key, value)| !["ca", "crt", "id"].contains(key) && value.len() >= 16);
        for (_, value) in secrets {
            canaries.insert(value.to_owned());
            let plain = STANDARD.decode(value).unwrap_or_default();
            // A key may be told as a file of its own, too, or a line of it.
            let plain = String::from_utf8(plain).unwrap_or_default();
            let lines = plain.lines().filter(|line| line.len() >= 16 && !line.starts_with('-'));
            canaries.extend(lines.map(str::to_owned));
        }
    }
    canaries
}

/// The files with secrets that commands have made: those that others may read too, and the rest.
fn kept(directory: &Directory) -> (Vec<String>, Vec<String>) {
    let canaries = canaries(directory);
    let root = directory.home();
    let root = root.parent().expect("the directory of the test");
    let mut files = Vec::new();
    crate::collect(root, root, &mut files);
    // These are the test's own.
    files.retain(|file| !["work/cluster.yaml", "work/patches/disk.yaml"].contains(&file.as_str()));
    files.retain(|file| {
        let bytes = fs_err::read(root.join(file)).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        canaries.iter().any(|canary| text.contains(canary))
    });
    let mode =
        |file: &String| fs_err::metadata(root.join(file)).expect("a file").permissions().mode();
    files.into_iter().partition(|file| mode(file) & 0o077 != 0)
}

const LINES: [&str; 45] = [
    "talhelper --debug validate talconfig",
    "talhelper --debug genconfig --offline-mode",
    "talhelper --debug genconfig --offline-mode",
    "talhelper validate nodeconfig clusterconfig/home-cp-1.yaml",
    "talhelper --debug gencommand apply",
    "talhelper gencommand bootstrap",
    "talhelper gencommand kubeconfig",
    "talhelper gencommand health",
    "talhelper gencommand reset",
    "talhelper gencommand upgrade --offline-mode",
    "talhelper gencommand upgrade-k8s",
    "talhelper --debug genurl installer --offline-mode",
    "talhelper --debug genurl image --offline-mode",
    "validate clusterconfig/home-cp-1.yaml",
    "explain cluster.secret clusterconfig/home-cp-1.yaml",
    "explain machine.ca clusterconfig/home-cp-1.yaml",
    "diff clusterconfig/home-cp-1.yaml clusterconfig/home-w-1.yaml",
    "diff clusterconfig/home-cp-1.yaml clusterconfig/home-w-1.yaml -o json",
    "node apply-config --insecure -n 127.0.0.1 --deadline 1s -f clusterconfig/home-cp-1.yaml",
    "node apply-config -n cp-1 --deadline 1s -f clusterconfig/home-cp-1.yaml --dry-run",
    "services --talosconfig clusterconfig/talosconfig -e 127.0.0.1 -n 127.0.0.1 --deadline 1s",
    "certs --client --talosconfig clusterconfig/talosconfig",
    "config info --talosconfig clusterconfig/talosconfig",
    "config contexts --talosconfig clusterconfig/talosconfig",
    "validate",
    "validate --strict -o json",
    "lint",
    "lint --strict -o json",
    "plan",
    "plan -o json",
    "plan --destroy",
    "status",
    "status -o json",
    "health",
    "history",
    "diff",
    "diff -n cp-1 -o json",
    "node upgrade -n cp-1,w-1 --dry-run",
    "import -o native",
    "lint -C native",
    "validate -C native",
    "plan -C native",
    "explain cluster -n cp-1 -C native",
    "gen talconfig -o made --dry-run",
    "gen talconfig -o made",
];

const PASSPHRASE: &str = "canary-of-a-disk-0123456789";
const TOKEN: &str = "canary-of-a-domain-0123456789";

const DISK: &str = "\
machine:
  systemDiskEncryption:
    ephemeral:
      provider: luks2
      keys:
        - slot: 0
          static:
            passphrase: canary-of-a-disk-0123456789
";

const NODE: &str = "\
nodes:
  - name: cp-1
    address: 10.0.0.11
    controller: true
    disk: /dev/sda
    mac_addr: \"00:11:22:33:44:01\"
    schematic_id: ";
