//! Every text that fuzzing has ever found, and some to begin with, run again.

#[test]
fn sops() {
    testkit::replay("sops", sops::fuzzing::decode);
}
