//! `ichor apply` generates secrets only for a cluster that does not exist yet, and never in clear.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::pty::openpty;

use crate::Home;
use crate::api::{Machine, loopback, stranger};
use crate::talos::{APPLY_CONFIGURATION, Script, Talos};

const RULES: &str =
    "creation_rules:\n  - age: age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj\n";
/// The key of the recipient: thirty-two times the same byte, as in many tests of age.
const KEY: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

#[test]
fn secrets_are_generated_encrypted_when_every_machine_is_in_maintenance() {
    let (first, second) = (loopback(), loopback());
    let home = without_secrets(&[&first, &second]);
    let machines = [first, second].map(|listener| Talos::start(listener, "", Script::Refuses));
    // Nothing is written in clear, and nothing that was refused.
    let said = at_terminal(&home, "apply", "y");
    assert!(said.contains("error[sops.no-rule]"), "{said}");
    assert!(said.contains("`ichor gen age-key`"), "{said}");
    home.write(".sops.yaml", RULES);
    let said = at_terminal(&home, "apply", "n");
    assert!(said.contains("generate secrets for a new cluster in "), "{said}");
    assert!(!has_secrets(&home));

    // That the steps may be taken says nothing about the secrets.
    let said = at_terminal(&home, "apply --yes", "y");
    assert!(said.contains("secrets.sops.yaml\n"), "{said}");
    assert!(home.read("secrets.sops.yaml").contains("ENC["));
    assert!(!home.0.path().join("secrets.yaml").exists());
    // It goes on with them.
    assert!(machines[0].count(APPLY_CONFIGURATION) > 0, "{said}");
    // They are those of the cluster from now on.
    let secrets = home.read("secrets.sops.yaml");
    home.command("apply --yes").env("SOPS_AGE_KEY", KEY).output().expect("ichor");
    assert_eq!(home.read("secrets.sops.yaml"), secrets);
}

#[test]
fn secrets_are_not_generated_where_nobody_is_asked() {
    let listener = loopback();
    let home = without_secrets(&[&listener]);
    home.write(".sops.yaml", RULES);
    let machine = Talos::start(listener, "", Script::Refuses);
    for line in ["apply", "apply --yes"] {
        let said = home.run(line).ends_with(3);
        assert!(said.stderr.contains("error[secrets.missing]"), "{line}: {said:?}");
        assert!(said.stderr.contains("`ichor gen secrets -o secrets.yaml`"), "{line}: {said:?}");
        assert!(!has_secrets(&home), "{line}");
    }
    assert_eq!(machine.count(APPLY_CONFIGURATION), 0);
}

#[test]
fn secrets_are_of_the_kinds_that_the_contract_of_the_directory_wants() {
    let listener = loopback();
    let home = without_secrets(&[&listener]);
    home.write(".sops.yaml", RULES);
    let spec = home.read("ichor.yaml");
    home.write("ichor.yaml", &spec.replace("\ncontrolPlane:", "\ncontract: v1.6\ncontrolPlane:"));
    let _machine = Talos::start(listener, "", Script::Refuses);
    let said = at_terminal(&home, "apply --yes", "y");
    assert!(has_secrets(&home), "{said}");
    let line = "gen config home https://10.0.0.10:6443 --with-secrets secrets.sops.yaml -o made";
    let output = home.command(line).env("SOPS_AGE_KEY", KEY).output().expect("ichor");
    assert!(output.status.success(), "{output:?}");
    let config = home.read("made/controlplane.yaml");
    let (_, account) = config.split_once("serviceAccount:").expect("an account");
    let (_, key) = account.split_once("key: ").expect("a key");
    let key = STANDARD.decode(key.lines().next().expect("a value")).expect("base64");
    // Releases before 1.7 know no RSA key there.
    assert!(key.starts_with(b"-----BEGIN EC PRIVATE KEY-----"));
}

#[test]
fn a_machine_that_is_configured_or_unreachable_keeps_new_secrets_away() {
    let (first, second) = (loopback(), loopback());
    let home = without_secrets(&[&first, &second]);
    home.write(".sops.yaml", RULES);
    let _first = Talos::start(first, "", Script::Refuses);
    // It has a configuration, and answers no stranger.
    let machine = Machine::start(second, stranger, |_| None);
    let refused = || {
        let said = at_terminal(&home, "apply --yes", "y");
        assert!(said.contains("error[secrets.missing]"), "{said}");
        assert!(said.contains("restore it from your backup"), "{said}");
        assert!(!has_secrets(&home));
    };
    refused();
    let spec = home.read("ichor.yaml");
    home.write("ichor.yaml", &spec.replace(&machine.address.ip().to_string(), "127.93.7.9"));
    refused();
}

fn without_secrets(listeners: &[&std::net::TcpListener]) -> Home {
    let home = Home::new(listeners);
    fs_err::remove_file(home.0.path().join("secrets.yaml")).expect("secrets");
    home
}

/// Runs a command whose input is a terminal at which this is typed, and returns what it says on stderr.
fn at_terminal(home: &Home, line: &str, typed: &str) -> String {
    let terminal = openpty(None, None).expect("a terminal");
    let mut keyboard = fs_err::File::from_parts(terminal.master.into(), "terminal");
    writeln!(keyboard, "{typed}").expect("a line");
    let mut command = home.command(line);
    let output = command.env("SOPS_AGE_KEY", KEY).stdin(terminal.slave).output().expect("ichor");
    String::from_utf8(output.stderr).expect("text")
}

fn has_secrets(home: &Home) -> bool {
    ["secrets.yaml", "secrets.sops.yaml"].iter().any(|name| home.0.path().join(name).exists())
}
