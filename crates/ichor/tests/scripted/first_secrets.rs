//! `ichor apply` generates secrets only for a cluster that does not exist yet, and never in clear.

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
    // Nobody is asked without a terminal, and nothing is written in clear.
    let said = home.run("apply").ends_with(3);
    assert!(said.stderr.contains("error[sops.no-rule]"), "{said:?}");
    assert!(said.stderr.contains("`ichor gen age-key`"), "{said:?}");
    home.write(".sops.yaml", RULES);
    let said = home.run("apply");
    assert!(said.stderr.contains("error[confirm.unasked]"), "{said:?}");
    assert!(!has_secrets(&home));

    let output = home.command("apply --yes").env("SOPS_AGE_KEY", KEY).output().expect("ichor");
    let said = String::from_utf8_lossy(&output.stderr);
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
fn a_machine_that_is_configured_or_unreachable_keeps_new_secrets_away() {
    let (first, second) = (loopback(), loopback());
    let home = without_secrets(&[&first, &second]);
    home.write(".sops.yaml", RULES);
    let _first = Talos::start(first, "", Script::Refuses);
    // It has a configuration, and answers no stranger.
    let machine = Machine::start(second, stranger, |_| None);
    let refused = || {
        let said = home.run("apply --yes").ends_with(3);
        assert!(said.stderr.contains("error[secrets.missing]"), "{said:?}");
        assert!(said.stderr.contains("restore it from your backup"), "{said:?}");
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

fn has_secrets(home: &Home) -> bool {
    ["secrets.yaml", "secrets.sops.yaml"].iter().any(|name| home.0.path().join(name).exists())
}
