//! Machines in maintenance whose keys are pinned in `ichor.yaml`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use sha2::{Digest as _, Sha256};
use talos_config::pki::{self, Key, Request, Subject};

use crate::Home;
use crate::api::{MACHINE_KEY, VALIDITY, stranger};
use crate::talos::{APPLY_CONFIGURATION, Script, Talos, loopback};

#[test]
fn machine_with_another_key_than_the_pinned_one_gets_no_configuration() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    let secrets = home.read("secrets.yaml");
    let control_plane = Talos::start(first, &secrets, Script::Refuses);
    let worker = Talos::start(second, &secrets, Script::Refuses);
    let sent = |machine: &Talos| machine.count(APPLY_CONFIGURATION);
    let spec = home.read("ichor.yaml");
    let pinned = pin(&spec, "cp-1", &fingerprint());

    home.write("ichor.yaml", &pin(&pinned, "w-1", &STANDARD.encode([0_u8; 32])));
    let planned = home.run("plan").ends_with(2);
    assert!(planned.stdout.contains("apply config"), "{planned:?}");
    let skipped = planned.stdout.lines().find(|line| line.contains(REASON)).expect("a reason");
    assert!(skipped.contains("skipped") && skipped.contains("w-1"), "{planned:?}");
    assert!(!skipped.contains("cp-1"), "{planned:?}");
    assert_eq!((sent(&control_plane), sent(&worker)), (0, 0), "a plan sends nothing");

    // The machine with the right key is asked to take its configuration, and says no.
    let applied = home.run("apply --yes").ends_with(1);
    assert_eq!((sent(&control_plane), sent(&worker)), (1, 0), "{applied:?}");
    assert!(applied.stderr.contains(&format!("): {REASON}")), "{applied:?}");

    home.write("ichor.yaml", &pin(&pinned, "w-1", &fingerprint()));
    let applied = home.run("apply --yes").ends_with(1);
    assert_eq!((sent(&control_plane), sent(&worker)), (2, 1), "{applied:?}");
    assert!(!applied.stderr.contains(REASON), "{applied:?}");
}

#[test]
fn cluster_whose_only_machine_has_another_key_is_unreachable() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Refuses);
    let spec = home.read("ichor.yaml");
    home.write("ichor.yaml", &pin(&spec, "cp-1", &STANDARD.encode([0_u8; 32])));
    for line in ["plan", "apply --yes"] {
        let said = home.run(line).ends_with(5);
        assert!(said.stderr.contains(&format!("): {REASON}")), "{said:?}");
    }
    assert_eq!(machine.count(APPLY_CONFIGURATION), 0);
}

/// A spec in which a machine has a fingerprint.
pub(crate) fn pin(spec: &str, machine: &str, fingerprint: &str) -> String {
    let head = format!("{{name: {machine}, ");
    assert!(spec.contains(&head), "{spec}");
    spec.replace(&head, &format!("{head}fingerprints: [\"{fingerprint}\"], "))
}

/// The fingerprint of the machines' key, as the console of a machine shows it.
pub(crate) fn fingerprint() -> String {
    let key = Key::ed25519(MACHINE_KEY);
    let request = Request::new(&key, &Subject::default(), &[]);
    let certificate = stranger().sign_machine(&request, VALIDITY).expect("a certificate").encode();
    let der = CertificateDer::from(pki::blocks(&certificate).next().expect("a block").bytes);
    let parsed = ParsedCertificate::try_from(&der).expect("a certificate");
    let digest: [u8; 32] = Sha256::digest(parsed.subject_public_key_info()).into();
    STANDARD.encode(digest)
}

const REASON: &str = "its certificate has none of the fingerprints of the spec";
