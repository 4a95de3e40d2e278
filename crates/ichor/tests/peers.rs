//! Level `peers`: what we make is accepted by the programs that it is made for.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use testkit::peers;

#[test]
#[ignore = "level peers: needs talosctl (cargo xtask test)"]
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
#[ignore = "level peers: needs kubectl (cargo xtask test)"]
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

/// Keys, requests and certificates of either program are taken by the other.
#[test]
#[ignore = "level peers: needs talosctl and openssl (cargo xtask test)"]
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
#[ignore = "level peers: needs talosctl (cargo xtask test)"]
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
#[ignore = "level peers: needs openssl (cargo xtask test)"]
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
#[ignore = "level peers: needs openssl (cargo xtask test)"]
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
#[ignore = "level peers: needs openssl (cargo xtask test)"]
fn openssl_takes_our_rsa_key() {
    let directory = generated(&["--talos-version", "v1.14"]);
    let secrets = fs_err::read_to_string(directory.path().join("secrets.yaml")).expect("secrets");
    decode(&directory, &secrets, "    k8sserviceaccount:\n        key: ", "account.pem");
    let key = fs_err::read_to_string(directory.path().join("account.pem")).expect("a key");
    assert!(key.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    assert!(openssl(&["rsa", "-in", "account.pem", "-noout", "-check"], &directory).contains("ok"));
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
    let output: Output = Command::new(program)
        .args(arguments)
        .current_dir(directory.path())
        .output()
        .expect("a program");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}\n{said}{complained}", program.display());
    if said.is_empty() { complained.into_owned() } else { said }
}

const ENDPOINT: &str = "https://10.0.0.10:6443";
