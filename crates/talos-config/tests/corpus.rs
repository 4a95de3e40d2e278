//! Every text that fuzzing has ever found, and some to begin with, run again.

use talos_config::fuzzing;
use testkit::replay;

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
