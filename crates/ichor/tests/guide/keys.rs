//! `ichor gen age-key` and `ichor gen machines`: secrets from nothing, and configuration as files.

use crate::Directory;

#[test]
fn a_key_and_its_rule_encrypt_the_secrets_of_a_new_cluster() {
    let directory = Directory::new(&[(".gitignore", "target/\n")]);
    let said = directory.run("gen age-key");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let recipient = said.stdout.trim_end();
    assert!(recipient.starts_with("age1") && recipient.len() == 62, "{recipient}");
    let key = directory.read("age.key");
    assert_eq!(directory.mode("age.key"), 0o600);
    assert!(
        key.starts_with(&format!("# public key: {recipient}\nAGE-SECRET-KEY-1")),
        "{}",
        key.len()
    );
    // The key is shown nowhere.
    assert!(
        !format!("{}{}", said.stdout, said.stderr).contains("AGE-SECRET-KEY"),
        "{}",
        said.stderr
    );
    assert_eq!(directory.read(".gitignore"), "target/\n/age.key\n");
    let rules =
        format!("creation_rules:\n  - path_regex: \\.sops\\.ya?ml$\n    age: {recipient}\n");
    assert_eq!(directory.read(".sops.yaml"), rules);

    let init = "init home --endpoint https://127.93.8.11:6443 --control-plane cp-1=127.93.8.11";
    for (folder, kind, secrets) in
        [("native", "", "secrets.sops.yaml"), ("talos", " --talhelper", "talsecret.sops.yaml")]
    {
        directory.done(&format!("{init}{kind} -C {folder}"));
        assert!(directory.read(&format!("{folder}/{secrets}")).contains("ENC["), "{folder}");
        // The key beside the rule is found, and one that is elsewhere has to be named.
        let line = format!("validate -C {folder}");
        directory.done(&line);
        fs_err::rename(directory.path("age.key"), directory.path("../my.key")).expect("a key");
        assert_eq!(directory.run(&line).code, 3, "it opens without the key");
        let path = directory.path("../my.key").display().to_string();
        let opened = directory.run_with(&line, &[("SOPS_AGE_KEY_FILE", &path)]);
        assert_eq!(opened.code, 0, "{}", opened.stderr);
        fs_err::rename(directory.path("../my.key"), directory.path("age.key")).expect("a key");
    }
}

#[test]
fn a_key_is_never_replaced_and_a_rule_stays_as_it_is() {
    let directory =
        Directory::new(&[("sub/age.key", "mine\n"), (".sops.yaml", "creation_rules: []\n")]);
    let said = directory.run("gen age-key -o sub/age.key");
    assert_eq!((said.code, said.stdout.as_str()), (3, ""));
    assert!(said.stderr.contains("error[output.exists]"), "{}", said.stderr);
    assert_eq!(directory.files(""), [".sops.yaml", "sub/age.key"]);
    let said = directory.run("gen age-key -o sub/other.key");
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("add the recipient to its creation rules"), "{}", said.stderr);
    assert_eq!(directory.read(".sops.yaml"), "creation_rules: []\n");
    assert_eq!(directory.read("sub/.gitignore"), "/other.key\n");
}

#[test]
fn encryption_without_rules_says_how_to_get_them() {
    let directory = Directory::new(&[]);
    let said = directory.run("gen secrets -o secrets.sops.yaml");
    assert_eq!(said.code, 3);
    for part in [
        "error[sops.no-rule]",
        "no .sops.yaml above it",
        "`ichor gen age-key`",
        "SOPS_AGE_RECIPIENTS",
    ] {
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
    let said = directory
        .run("init home --endpoint https://127.93.8.11:6443 --control-plane cp-1=127.93.8.11");
    assert!(said.stderr.contains("`ichor gen age-key`"), "{}", said.stderr);
}

#[test]
fn configuration_is_written_from_anywhere_below_the_directory() {
    let directory = Directory::new(&[]);
    let machines =
        "--endpoint https://10.0.0.11:6443 --control-plane cp-1=10.0.0.11 --worker w-1=10.0.0.21";
    directory.done(&format!("init home {machines} -C native"));
    directory.done("gen machines -C native -o native/out");
    assert_eq!(
        directory.files("native/out"),
        ["native/out/.gitignore", "native/out/home-cp-1.yaml", "native/out/home-w-1.yaml"]
    );
    assert_eq!(directory.read("native/out/.gitignore"), "home-cp-1.yaml\nhome-w-1.yaml\n");
    assert_eq!(directory.mode("native/out/home-cp-1.yaml"), 0o600);
    directory.done("validate native/out/home-cp-1.yaml native/out/home-w-1.yaml");
    let again = directory.run("gen machines -C native -o native/out");
    assert_eq!(again.code, 3, "{}", again.stderr);
    directory.done("gen machines -C native -o native/out --force");

    // A talconfig directory: versions from its env file, and the bytes of `talhelper genconfig`.
    directory.write(".git/HEAD", "");
    directory.done(&format!(
        "init home --talhelper {machines} -C talos --talos v1.12.0 --kubernetes v1.35.0"
    ));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ichor"))
        .args(["talhelper", "genconfig", "--offline-mode"])
        .current_dir(directory.path("talos"))
        .env_clear()
        .output()
        .expect("ichor");
    assert!(output.status.success(), "{output:?}");
    directory.write("talos/below/file", "");
    let below = directory.path("talos/below");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ichor"))
        .args(["gen", "machines", "-o", "made"])
        .current_dir(&below)
        .env_clear()
        .output()
        .expect("ichor");
    assert!(output.status.success(), "{output:?}");
    for name in ["home-cp-1.yaml", "home-w-1.yaml"] {
        let made = directory.read(&format!("talos/below/made/{name}"));
        assert_eq!(made, directory.read(&format!("talos/clusterconfig/{name}")), "{name}");
        assert!(made.contains("kubelet:v1.35.0\n"), "{name}");
    }
}
