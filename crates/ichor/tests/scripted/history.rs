//! `ichor history --verify` after a log was edited that the program wrote.

use crate::Home;
use crate::talos::{APPLY_CONFIGURATION, Script, Talos, loopback};

#[test]
fn history_verify_names_the_log_that_was_changed() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Refuses);
    home.run("apply --yes").ends_with(1);
    assert_eq!(machine.count(APPLY_CONFIGURATION), 1);
    assert_eq!(home.outcomes(), ["begun", "failed: machine.not-found"]);
    let whole = home.run("history --verify").ends_with(0);
    assert!(whole.stderr.contains("audit log: 2 lines, unmodified"), "{whole:?}");

    let audit = home.read(AUDIT);
    for (changed, line) in [
        // The hash of the first line is in the second.
        (audit.replacen("tester", "nobody", 1), 2),
        (audit.split_once('\n').expect("two lines").1.to_owned(), 1),
    ] {
        home.write(AUDIT, &changed);
        let said = home.run("history --verify").ends_with(1);
        let message = format!(
            "error[audit.changed]: the audit log was changed: its chain is broken at line {line}"
        );
        assert!(said.stderr.contains(&message), "{said:?}");
        assert!(said.stderr.contains("hint: "), "{said:?}");
    }
    home.write(AUDIT, &audit);

    let journal = home.read(JOURNAL);
    let changed = journal.replacen("tester", "nobody", 1);
    assert_ne!(journal, changed);
    home.write(JOURNAL, &changed);
    let at = 1 + changed.lines().position(|line| line.contains("nobody")).expect("a line");
    let said = home.run("history --verify").ends_with(1);
    assert!(said.stderr.contains("error[journal.damaged]"), "{said:?}");
    assert!(said.stderr.contains(&format!("line {at} of ")), "{said:?}");
    assert!(said.stderr.contains("/.ichor/journal"), "{said:?}");
    assert!(said.stderr.contains("bootstrap.again"), "the hint says what is lost: {said:?}");
    // The journal is not shown either, and nothing was repaired.
    home.run("history").ends_with(1);
    assert_eq!(home.read(JOURNAL), changed);

    home.write(JOURNAL, &journal);
    home.run("history --verify").ends_with(0);
}

const AUDIT: &str = ".ichor/audit.jsonl";
const JOURNAL: &str = ".ichor/journal";
