//! Level `interop`: what we make is accepted by the programs that it is made for.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use testkit::peers;

#[test]
#[ignore = "level interop: needs talosctl (cargo xtask test)"]
fn talosctl_takes_our_secrets_and_our_configuration() {
    let directory = generated(&[]);
    let talosctl =
        |arguments: &[&str]| run(&peers::program("talosctl-1.14.1"), arguments, &directory);
    let theirs =
        ["gen", "config", "home", ENDPOINT, "--with-secrets", "secrets.yaml", "--output", "theirs"];
    talosctl(&[&theirs[..], &["--with-docs=false", "--with-examples=false"]].concat());
    for file in ["controlplane.yaml", "worker.yaml"] {
        let read = |folder: &str| {
            fs_err::read_to_string(directory.path().join(folder).join(file)).expect("a file")
        };
        assert!(
            read("ours") == read("theirs"),
            "{file} differs from what talosctl makes of our secrets"
        );
        for mode in ["metal", "cloud", "container"] {
            talosctl(&["validate", "--mode", mode, "--config", &format!("ours/{file}")]);
        }
    }
    let info = talosctl(&["--talosconfig", "ours/talosconfig", "config", "info"]);
    assert!(info.contains("os:admin") && info.contains("1 year from now"), "{info}");
}

#[test]
#[ignore = "level interop: needs kubectl (cargo xtask test)"]
fn kubectl_takes_our_kubeconfig() {
    let directory = generated(&[]);
    let shown = run(
        &peers::program("kubectl"),
        &[
            "--kubeconfig",
            "kubeconfig",
            "config",
            "view",
            "--minify",
            "-o",
            "jsonpath={.users[0].name} {.clusters[0].cluster.server}",
        ],
        &directory,
    );
    assert_eq!(shown, format!("admin@home {ENDPOINT}"));
}

/// The same commands on the same file leave the same bytes.
#[test]
#[ignore = "level interop: needs talosctl (cargo xtask test)"]
fn a_talosconfig_is_changed_as_talosctl_changes_it() {
    let directory = generated(&[]);
    let path = |name: &str| directory.path().join(name);
    let copy = |from: &str, to: &str| fs_err::copy(path(from), path(to)).expect("a file");
    copy("ours/talosconfig", "a");
    copy("ours/talosconfig", "b");
    run(Path::new(env!("CARGO_BIN_EXE_ichor")), &["gen", "ca", "--organization", "o"], &directory);
    let talosctl = peers::program("talosctl-1.14.1");
    let ichor = Path::new(env!("CARGO_BIN_EXE_ichor"));
    for arguments in [
        &["config", "endpoint", "127.0.0.1", " 127.0.0.2"][..],
        &["config", "node", "127.0.0.3", "127.0.0.4"],
        &["config", "merge", "ours/talosconfig"],
        &["config", "merge", "ours/talosconfig"],
        &["config", "add", "bare"],
        &["config", "add", "full", "--ca", "o.crt", "--crt", "o.crt", "--key", "o.key"],
        &["config", "context", "bare"],
        &["--context", "full", "config", "endpoints", "::1"],
        &["config", "nodes"],
        &["config", "remove", "home-*", "--noconfirm"],
        &["config", "remove", "bare", "-y"],
        &["config", "contexts"],
        &["config", "info"],
        &["config", "context", "home"],
        &["config", "info"],
        &["config", "contexts"],
    ] {
        let said = |program: &Path, file: &str| {
            // Where talosctl takes a flag before the verb we take it anywhere behind.
            let output = match arguments {
                ["--context", name, rest @ ..] if program == ichor => {
                    let rest = [rest, &["--context", name, "--talosconfig", file]].concat();
                    command(program, &rest, &[], &directory)
                }
                _ => {
                    let all = [arguments, &["--talosconfig", file]].concat();
                    command(program, &all, &[], &directory)
                }
            };
            assert!(output.status.success(), "{arguments:?}: {output:?}");
            String::from_utf8(output.stdout).expect("text")
        };
        assert_eq!(said(ichor, "a"), said(&talosctl, "b"), "{arguments:?}");
        let read = |name: &str| fs_err::read_to_string(path(name)).expect("a file");
        assert!(read("a") == read("b"), "{arguments:?}");
    }
    // A file that is not there is made.
    run(ichor, &["config", "merge", "a", "--talosconfig", "new/c"], &directory);
    run(&talosctl, &["config", "merge", "b", "--talosconfig", "new/d"], &directory);
    let read = |name: &str| fs_err::read_to_string(path(name)).expect("a file");
    assert!(read("new/c") == read("new/d"));
    let mode = fs_err::metadata(path("new/c")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Keys, requests and certificates of either program are taken by the other.
#[test]
#[ignore = "level interop: needs talosctl and openssl (cargo xtask test)"]
fn single_certificates_are_those_of_talosctl() {
    let directory = tempfile::tempdir().expect("a directory");
    let talosctl = peers::program("talosctl-1.14.1");
    let ichor = Path::new(env!("CARGO_BIN_EXE_ichor"));
    let read = |file: &str| fs_err::read_to_string(directory.path().join(file)).expect("a file");
    let csr = ["gen", "csr", "--key", "k.key", "--ip", "10.0.0.1", "--roles", "os:reader,os:admin"];
    run(ichor, &["gen", "key", "--name", "k"], &directory);
    run(ichor, &csr, &directory);
    let ours = read("k.csr");
    run(&talosctl, &[&csr[..], &["--force"]].concat(), &directory);
    // The same key asks for the same with the same signature.
    assert!(ours == read("k.csr"), "the requests differ");

    for (maker, signer, name) in
        [(ichor, talosctl.as_path(), "one"), (talosctl.as_path(), ichor, "two")]
    {
        run(maker, &["gen", "ca", "--organization", name], &directory);
        run(
            signer,
            &["gen", "crt", "--name", "c", "--ca", name, "--csr", "k.csr", "--force"],
            &directory,
        );
        let ca = format!("{name}.crt");
        openssl(&["verify", "-CAfile", &ca, "-purpose", "sslclient", "c.crt"], &directory);
        let text = openssl(&["x509", "-in", "c.crt", "-noout", "-text"], &directory);
        assert!(
            text.contains("IP Address:10.0.0.1") && text.contains("O = os:admin + O = os:reader"),
            "{text}"
        );
        let public_key = openssl(&["x509", "-in", &ca, "-noout", "-pubkey"], &directory);
        fs_err::write(directory.path().join("public.pem"), public_key).expect("a file");
        openssl(
            &["pkey", "-pubin", "-in", "public.pem", "-outform", "DER", "-out", "public.der"],
            &directory,
        );
        let hash = openssl(&["dgst", "-sha256", "-r", "public.der"], &directory);
        let hash = format!("sha256:{}", hash.split(' ').next().expect("a hash"));
        assert_eq!(read(&format!("{name}.sha256")), hash);
    }
    run(ichor, &["gen", "keypair", "--organization", "kp", "--ip", "10.0.0.2"], &directory);
    let text = openssl(&["x509", "-in", "kp.crt", "-noout", "-text"], &directory);
    assert!(text.contains("CA:TRUE") && text.contains("IP Address:10.0.0.2"), "{text}");
}

/// A bundle survives the way through a configuration, with us as with talosctl.
#[test]
#[ignore = "level interop: needs talosctl (cargo xtask test)"]
fn secrets_come_back_out_of_a_configuration() {
    for contract in ["v1.2", "v1.6", "v1.11", "v1.13", "v1.14"] {
        let directory = generated(&["--talos-version", contract]);
        let ichor = Path::new(env!("CARGO_BIN_EXE_ichor"));
        let config = [
            "gen",
            "config",
            "home",
            ENDPOINT,
            "--with-secrets",
            "secrets.yaml",
            "--talos-version",
            contract,
        ];
        run(ichor, &[&config[..], &["--output", "of-contract"]].concat(), &directory);
        let from = "--from-controlplane-config=of-contract/controlplane.yaml";
        run(ichor, &["gen", "secrets", from, "--output-file", "ours.yaml"], &directory);
        let talosctl = peers::program("talosctl-1.14.1");
        run(&talosctl, &["gen", "secrets", from, "--output-file", "theirs.yaml"], &directory);
        let read =
            |file: &str| fs_err::read_to_string(directory.path().join(file)).expect("a file");
        assert!(read("ours.yaml") == read("secrets.yaml"), "{contract}: ours");
        assert!(read("theirs.yaml") == read("secrets.yaml"), "{contract}: theirs");
    }
}

#[test]
#[ignore = "level interop: needs openssl (cargo xtask test)"]
fn a_kubernetes_cluster_is_taken_over_with_its_authorities() {
    let directory = tempfile::tempdir().expect("a directory");
    fs_err::create_dir_all(directory.path().join("pki/etcd")).expect("a directory");
    for name in ["ca", "etcd/ca", "front-proxy-ca"] {
        let (key, crt) = (format!("pki/{name}.key"), format!("pki/{name}.crt"));
        openssl(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", &key], &directory);
        openssl(
            &["req", "-x509", "-new", "-key", &key, "-subj", "/CN=old", "-days", "9", "-out", &crt],
            &directory,
        );
    }
    openssl(&["genrsa", "-traditional", "-out", "pki/sa.key", "2048"], &directory);
    let token = "abcdef.0123456789abcdef";
    let ichor = Path::new(env!("CARGO_BIN_EXE_ichor"));
    run(
        ichor,
        &["gen", "secrets", "--from-kubernetes-pki", "pki", "--kubernetes-bootstrap-token", token],
        &directory,
    );
    let secrets = fs_err::read_to_string(directory.path().join("secrets.yaml")).expect("secrets");
    assert!(secrets.contains(&format!("bootstraptoken: {token}\n")));
    for (before, file) in [
        ("    k8s:\n        crt: ", "pki/ca.crt"),
        ("    etcd:\n        crt: ", "pki/etcd/ca.crt"),
        ("    k8saggregator:\n        crt: ", "pki/front-proxy-ca.crt"),
        ("    k8sserviceaccount:\n        key: ", "pki/sa.key"),
    ] {
        decode(&directory, &secrets, before, "decoded");
        let read =
            |file: &str| fs_err::read_to_string(directory.path().join(file)).expect("a file");
        assert!(read("decoded") == read(file), "{file}");
    }
    let config =
        ["gen", "config", "c", ENDPOINT, "--with-secrets", "secrets.yaml", "--output", "theirs"];
    run(&peers::program("talosctl-1.14.1"), &config, &directory);
}

/// Authorities and clients as an independent program reads them, field by field.
#[test]
#[ignore = "level interop: needs openssl (cargo xtask test)"]
fn openssl_takes_our_certificates() {
    let directory = generated(&["--talos-version", "v1.6"]);
    let secrets = fs_err::read_to_string(directory.path().join("secrets.yaml")).expect("secrets");
    for (name, organization, algorithm) in [
        ("etcd", "O = etcd", "ecdsa-with-SHA256"),
        ("k8s", "O = kubernetes", "ecdsa-with-SHA256"),
        ("k8saggregator", "", "ecdsa-with-SHA256"),
        ("os", "O = talos", "ED25519"),
    ] {
        decode(&directory, &secrets, &format!("    {name}:\n        crt: "), "ca.pem");
        let text = openssl(&["x509", "-in", "ca.pem", "-noout", "-text"], &directory);
        let subject = format!("Subject: {organization}");
        for wanted in [
            subject.trim_end(),
            algorithm,
            "Digital Signature, Certificate Sign",
            "TLS Web Server Authentication, TLS Web Client Authentication",
            "CA:TRUE",
        ] {
            assert!(text.contains(wanted), "{name}: no {wanted:?} in\n{text}");
        }
        openssl(&["verify", "-CAfile", "ca.pem", "ca.pem"], &directory);
    }
    // The last one is the authority of the Talos API, which signed the client of the talosconfig.
    let talosconfig =
        fs_err::read_to_string(directory.path().join("ours/talosconfig")).expect("a file");
    decode(&directory, &talosconfig, "        crt: ", "client.pem");
    openssl(&["verify", "-CAfile", "ca.pem", "-purpose", "sslclient", "client.pem"], &directory);
    let text = openssl(&["x509", "-in", "client.pem", "-noout", "-text"], &directory);
    assert!(text.contains("Subject: O = os:admin") && !text.contains("CA:TRUE"), "{text}");
    decode(&directory, &secrets, "    k8sserviceaccount:\n        key: ", "account.pem");
    openssl(&["ec", "-in", "account.pem", "-noout", "-check"], &directory);
}

#[test]
#[ignore = "level interop: needs openssl (cargo xtask test)"]
fn openssl_takes_our_rsa_key() {
    let directory = generated(&["--talos-version", "v1.14"]);
    let secrets = fs_err::read_to_string(directory.path().join("secrets.yaml")).expect("secrets");
    decode(&directory, &secrets, "    k8sserviceaccount:\n        key: ", "account.pem");
    let key = fs_err::read_to_string(directory.path().join("account.pem")).expect("a key");
    assert!(key.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    assert!(openssl(&["rsa", "-in", "account.pem", "-noout", "-check"], &directory).contains("ok"));
}

#[test]
#[ignore = "level interop: needs talosctl and openssl (cargo xtask test)"]
fn rsa_authorities_are_those_of_talosctl() {
    let directory = tempfile::tempdir().expect("a directory");
    let ichor = PathBuf::from(env!("CARGO_BIN_EXE_ichor"));
    let shapes =
        [(ichor, "ours"), (peers::program("talosctl-1.14.1"), "theirs")].map(|(maker, name)| {
            run(&maker, &["gen", "ca", "--rsa", "--organization", name], &directory);
            let (certificate, key) = (format!("{name}.crt"), format!("{name}.key"));
            openssl(&["verify", "-CAfile", &certificate, &certificate], &directory);
            assert!(openssl(&["rsa", "-in", &key, "-noout", "-check"], &directory).contains("ok"));
            let text = openssl(&["x509", "-in", &certificate, "-noout", "-text"], &directory);
            // What changes from key to key is hexadecimal or a date.
            let fixed =
                text.lines().filter(|line| !line.contains([':']) || line.contains("X509v3"));
            fixed.map(str::to_owned).collect::<Vec<_>>()
        });
    assert_eq!(shapes[0], shapes[1]);
    assert!(shapes[0].iter().any(|line| line.contains("Digital Signature")), "{:?}", shapes[0]);
}

#[test]
#[ignore = "level interop: needs sops (cargo xtask test)"]
fn secrets_kept_by_sops() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs_err::write(path("keys.txt"), KEY_FILE).expect("a file");
    fs_err::create_dir(path("talos")).expect("a folder");
    let rules = format!(
        "creation_rules:\n- path_regex: talos/.*\\.sops\\.ya?ml\n  mac_only_encrypted: true\n  \
         encrypted_regex: ^(secret|bootstraptoken|.*encryptionsecret|token|key)$\n  \
         age: {}\nstores: {{yaml: {{indent: 2}}}}\n",
        recipient(KEY_FILE)
    );
    fs_err::write(path(".sops.yaml"), rules).expect("a file");
    let with_key = |program: &Path, arguments: &[&str]| {
        let key = [("SOPS_AGE_KEY_FILE", "keys.txt")];
        run_with(program, arguments, &key, &directory)
    };
    let (ichor, sops) = (Path::new(env!("CARGO_BIN_EXE_ichor")), peers::program("sops"));
    with_key(ichor, &["gen", "secrets", "-o", "talos/secrets.sops.yaml"]);
    let sealed = fs_err::read_to_string(path("talos/secrets.sops.yaml")).expect("a file");
    assert!(sealed.contains("\n  id: ") && !sealed.contains("bootstraptoken: \""), "{sealed}");
    assert_eq!(sealed.matches("ENC[AES256_GCM").count(), 10, "{sealed}");
    // The program reads ours, and we read what it makes of it.
    let plain = with_key(&sops, &["decrypt", "talos/secrets.sops.yaml"]);
    fs_err::write(path("talos/plain.yaml"), &plain).expect("a file");
    let theirs = with_key(
        &sops,
        &["encrypt", "--filename-override", "talos/theirs.sops.yaml", "talos/plain.yaml"],
    );
    fs_err::write(path("talos/theirs.sops.yaml"), theirs).expect("a file");
    let config = |secrets: &str| {
        with_key(
            ichor,
            &[
                "gen",
                "config",
                "home",
                ENDPOINT,
                "--with-secrets",
                secrets,
                "--output-types",
                "controlplane",
                "--output",
                "-",
            ],
        )
    };
    let from_plain = config("talos/plain.yaml");
    assert_eq!(config("talos/secrets.sops.yaml"), from_plain);
    assert_eq!(config("talos/theirs.sops.yaml"), from_plain);
    // Without the key, with a broken value, with a value that changed its place: nothing is written.
    let refuse = |variables: &[(&str, &str)], code: &str| {
        let output = command(
            ichor,
            &["gen", "talosconfig", "home", "--with-secrets", "talos/secrets.sops.yaml"],
            variables,
            &directory,
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(&format!("error[{code}]")), "{code}: {said}");
        assert!(output.stdout.is_empty() && !said.contains("AGE-SECRET-KEY"), "{said}");
    };
    refuse(&[], "sops.no-key");
    refuse(&[("SOPS_AGE_KEY", key(OTHER_KEY_FILE))], "sops.no-key");
    let right = [("SOPS_AGE_KEY", key(KEY_FILE))];
    let mut lines: Vec<&str> = sealed.lines().collect();
    let places: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at].contains("key: ENC")).collect();
    lines.swap(places[0], places[1]);
    fs_err::write(path("talos/secrets.sops.yaml"), lines.join("\n")).expect("a file");
    refuse(&right, "sops.value");
    let mac = sealed.find("mac: ENC").expect("a MAC");
    let broken = format!("{}{}", &sealed[..mac], sealed[mac..].replacen("data:", "data:AAAA", 1));
    fs_err::write(path("talos/secrets.sops.yaml"), broken).expect("a file");
    refuse(&right, "sops.mac");
}

/// Keys that are none of ours are left to the program.
#[test]
#[ignore = "level interop: needs sops and ssh-keygen (cargo xtask test)"]
fn what_only_the_sops_program_can_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let sops = peers::program("sops");
    let ichor = Path::new(env!("CARGO_BIN_EXE_ichor"));
    run(Path::new("ssh-keygen"), &["-q", "-t", "ed25519", "-N", "", "-f", "id"], &directory);
    let recipient = fs_err::read_to_string(directory.path().join("id.pub")).expect("a key");
    run(ichor, &["gen", "secrets"], &directory);
    let sealed = run(&sops, &["encrypt", "--age", recipient.trim(), "secrets.yaml"], &directory);
    fs_err::write(directory.path().join("secrets.sops.yaml"), sealed).expect("a file");
    let search = format!("{}:/usr/bin", sops.parent().expect("a folder").display());
    let arguments =
        ["gen", "talosconfig", "home", "--with-secrets", "secrets.sops.yaml", "-o", "t"];
    let key = ("SOPS_AGE_SSH_PRIVATE_KEY_FILE", "id");
    run_with(ichor, &arguments, &[("PATH", &search), key], &directory);
    let alone = command(ichor, &arguments, &[("PATH", "/nowhere"), key], &directory);
    let said = String::from_utf8_lossy(&alone.stderr);
    assert!(said.contains("error[sops.key-kind]") && said.contains("`sops` program"), "{said}");
}

/// Secrets, configuration, talosconfig and kubeconfig of a new cluster.
fn generated(arguments: &[&str]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let ichor =
        |arguments: &[&str]| run(Path::new(env!("CARGO_BIN_EXE_ichor")), arguments, &directory);
    ichor(&[&["gen", "secrets"], arguments].concat());
    ichor(&[
        "gen",
        "config",
        "home",
        ENDPOINT,
        "--with-secrets",
        "secrets.yaml",
        "--talos-version",
        "v1.14.1",
        "--output",
        "ours",
    ]);
    ichor(&["gen", "kubeconfig", "home", ENDPOINT, "--output", "kubeconfig"]);
    directory
}

/// Writes what stands behind `before`, in base64, to a file.
fn decode(directory: &TempDir, text: &str, before: &str, file: &str) {
    let (_, rest) = text.split_once(before).expect("the key");
    let encoded = rest.lines().next().expect("a value");
    fs_err::write(directory.path().join("encoded"), encoded).expect("a file");
    let decoded = run(Path::new("base64"), &["--decode", "encoded"], directory);
    fs_err::write(directory.path().join(file), decoded).expect("a file");
}

fn openssl(arguments: &[&str], directory: &TempDir) -> String {
    run(Path::new("openssl"), arguments, directory)
}

/// Runs a program that must succeed, and gives what it said.
fn run(program: &Path, arguments: &[&str], directory: &TempDir) -> String {
    run_with(program, arguments, &[], directory)
}

fn run_with(
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    directory: &TempDir,
) -> String {
    let output = command(program, arguments, variables, directory);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}\n{said}{complained}", program.display());
    if said.is_empty() { complained.into_owned() } else { said }
}

fn command(
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    directory: &TempDir,
) -> Output {
    Command::new(program)
        .args(arguments)
        // Nobody's own keys.
        .env("HOME", directory.path())
        .env_remove("XDG_CONFIG_HOME")
        .envs(variables.iter().copied())
        .current_dir(directory.path())
        .output()
        .expect("a program")
}

/// The recipient that the first line of a key file names.
fn recipient(key_file: &str) -> &str {
    let first = key_file.lines().next().expect("a line");
    first.strip_prefix("# public key: ").expect("a recipient")
}

/// The key behind it.
fn key(key_file: &str) -> &str {
    key_file.lines().nth(1).expect("a key")
}

const KEY_FILE: &str = include_str!("../../sops/tests/throw-away-keys/first.txt");
const OTHER_KEY_FILE: &str = include_str!("../../sops/tests/throw-away-keys/second.txt");
const ENDPOINT: &str = "https://10.0.0.10:6443";
