//! Every text that fuzzing has ever found, and some to begin with, run again.

use talos_config::fuzzing;

#[test]
fn parse() {
    replay("parse", fuzzing::parse);
}

#[test]
fn merge() {
    replay("merge", fuzzing::merge);
}

#[test]
fn patch() {
    replay("patch", fuzzing::patch);
}

#[test]
fn validate() {
    replay("validate", fuzzing::validate);
}

#[test]
fn bundle() {
    replay("bundle", fuzzing::bundle);
}

#[test]
fn expression() {
    replay("expression", fuzzing::expression);
}

fn replay(target: &str, run: impl Fn(&str)) {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in fs_err::read_dir(folder).expect("the corpus") {
        let bytes = fs_err::read(entry.expect("an entry").path()).expect("a text");
        run(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count > 0, "an empty corpus shows nothing");
}
