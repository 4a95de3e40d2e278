//! Every text that fuzzing has ever found, and some to begin with, run again.

use std::path::Path;

#[test]
fn sops() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/sops");
    let mut count = 0;
    for entry in fs_err::read_dir(folder).expect("the corpus") {
        let bytes = fs_err::read(entry.expect("an entry").path()).expect("a text");
        sops::fuzzing::decode(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count > 0, "an empty corpus shows nothing");
}
