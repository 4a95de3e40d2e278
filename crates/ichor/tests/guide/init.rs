//! `ichor init --talhelper` starts a directory that `ichor talhelper` works on at once.

use crate::Directory;

const INIT: &str = "init home --talhelper --endpoint https://10.0.0.10:6443 --control-plane cp-1=10.0.0.11 --worker \
                    w-1=10.0.0.21 --talos v1.12.0 --kubernetes v1.35.0";

#[test]
fn a_new_directory_gives_machines_at_once() {
    let directory = Directory::new(&[(".gitignore", "target/\n")]);
    directory.done(INIT);
    assert_eq!(
        directory.files(""),
        [".gitignore", "talconfig.yaml", "talenv.yaml", "talsecret.yaml"]
    );
    assert_eq!(directory.mode("talsecret.yaml"), 0o600);
    let ignored = directory.read(".gitignore");
    assert_eq!(
        ignored,
        "target/\nclusterconfig/\n.ichor/\n.ichor-*\nkubeconfig\ntalosconfig\ntalsecret.yaml\n"
    );
    directory.done("talhelper validate talconfig");
    directory.done("talhelper genconfig --offline-mode");
    for name in ["home-cp-1.yaml", "home-w-1.yaml", "talosconfig"] {
        assert_eq!(directory.mode(&format!("clusterconfig/{name}")), 0o600, "{name}");
    }
    let machine = directory.read("clusterconfig/home-cp-1.yaml");
    directory.done("talhelper genconfig --offline-mode");
    assert_eq!(directory.read("clusterconfig/home-cp-1.yaml"), machine);
    assert!(machine.contains(":v1.12.0\n") && machine.contains("kubelet:v1.35.0\n"), "{machine}");
}

#[test]
fn secrets_are_encrypted_where_somebody_says_for_whom() {
    let (recipient, private) = crate::age_key();
    let rules =
        format!("creation_rules:\n  - path_regex: .*\\.sops\\.yaml\n    age: {recipient}\n");
    for by_rule in [true, false] {
        let directory = Directory::new(&[]);
        if by_rule {
            directory.write(".sops.yaml", &rules);
            directory.done(INIT);
        } else {
            let said = directory.run_with(INIT, &[("SOPS_AGE_RECIPIENTS", &recipient)]);
            assert_eq!(said.code, 0, "{}", said.stderr);
        }
        assert!(!directory.path("talsecret.yaml").exists());
        let sealed = directory.read("talsecret.sops.yaml");
        assert!(sealed.contains("ENC[AES256_GCM,") && !sealed.contains(BEGIN), "{sealed}");
        assert!(!directory.read(".gitignore").contains("talsecret"));
        let line = "talhelper genconfig --offline-mode";
        let opened = directory.run_with(line, &[("SOPS_AGE_KEY", &private)]);
        assert_eq!(opened.code, 0, "{}", opened.stderr);
        assert!(!opened.stdout.contains("secrets file is not found"), "{}", opened.stdout);
        let closed = directory.run(line);
        assert_eq!(closed.code, 1, "{}", closed.stdout);
    }
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    for there in ["talconfig.yaml", "talsecret.sops.yaml", "talsecret.yaml"] {
        let directory = Directory::new(&[(there, "mine\n")]);
        let said = directory.run(INIT);
        assert_eq!(said.code, 3, "{}", said.stderr);
        assert_eq!(directory.files(""), [there]);
        assert_eq!(directory.read(there), "mine\n");
    }
    let directory = Directory::new(&[]);
    let said = directory.run(&INIT.replace("cp-1=10.0.0.11", "cp-1=nowhere"));
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert_eq!(directory.files(""), [""; 0]);
}

/// `-----BEGIN` as it stands in secrets.
const BEGIN: &str = "LS0tLS1CRUdJTi";
