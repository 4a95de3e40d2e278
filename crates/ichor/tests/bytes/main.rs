//! Level `bytes`: talconfig directories that nobody wrote, given to the real talhelper and to us.

mod directories;
mod fourteen;
mod layout;
#[path = "../talhelper/recorded.rs"]
mod recorded;
#[path = "../talhelper/sandbox.rs"]
mod sandbox;

use std::path::Path;

use directories::Directory;
use sandbox::{Said, Sandbox};
use testkit::peers;

#[test]
#[ignore = "level bytes: needs talhelper (cargo xtask test)"]
fn seeded_directories_come_out_as_talhelper_writes_them() {
    let theirs = peers::program("talhelper");
    let mut complaints = Vec::new();
    let (mut accepted, mut count) = (0, 0);
    for seed in testkit::seeds(500) {
        let directory = Directory::new(seed);
        let (mut said, mut left) = run(&directory, &theirs, &[]);
        if said.codes[0] != 0 {
            // It writes machines until one fails; we write all or none.
            left.clear();
            let is_written = |line: &&str| line.starts_with("generated config for ");
            said.stdout =
                said.stdout.split_inclusive('\n').filter(|line| !is_written(line)).collect();
        }
        let (ours, made) = run(&directory, Path::new(env!("CARGO_BIN_EXE_ichor")), &["talhelper"]);
        accepted += usize::from(said.codes[0] == 0);
        count += 1;
        let again = format!("seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1)");
        // What makes it panic makes us complain.
        let codes: Vec<i32> = said.codes.iter().map(|code| (*code).min(1)).collect();
        let stdout = sorted_fields(&said.stdout);
        if ours.codes != codes {
            let (ours, theirs) = (&ours.stderr, &said.stderr);
            complaints
                .push(format!("{again}: exit codes differ\nours:\n{ours}\ntheirs:\n{theirs}"));
        } else if sorted_fields(&ours.stdout) != stdout {
            complaints.push(format!(
                "{again}: stdout\n{}",
                parting(&sorted_fields(&ours.stdout), &stdout)
            ));
        }
        for (name, text) in &left {
            match made.get(name) {
                None => complaints.push(format!("{again}: {name} is missing")),
                Some(made) if made != text => {
                    complaints.push(format!("{again}: {name}\n{}", parting(&made.0, &text.0)));
                }
                Some(_) => {}
            }
        }
        complaints.extend(
            made.keys()
                .filter(|name| !left.contains_key(*name))
                .map(|name| format!("{again}: {name} is there, and should not be")),
        );
    }
    assert!(complaints.is_empty(), "{} differences\n{}", complaints.len(), complaints.join("\n"));
    // Cases that are all refused would show little.
    assert!(count < 20 || accepted * 3 > count, "{accepted} of {count} were accepted");
}

/// The recorded cases with keys and files that we leave to the `sops` program.
#[test]
#[ignore = "level bytes: needs sops (cargo xtask test)"]
fn what_sops_opens_for_us_comes_out_the_same() {
    let sops = peers::program("sops");
    let folder = sops.parent().expect("a folder").display().to_string();
    for case in recorded::cases().filter(|case| recorded::NEED_SOPS.contains(&case.name.as_str())) {
        let wrong = case.replay(&format!("{folder}:{}", recorded::PATH));
        assert!(wrong.is_empty(), "{}: {wrong:?}", case.name);
    }
}

type Files = std::collections::BTreeMap<String, (String, String)>;

/// Runs the commands of a directory; gives what was said, and the files with their modes.
fn run(directory: &Directory, program: &Path, before: &[&str]) -> (Said, Files) {
    let sandbox = Sandbox::new(&directory.files);
    let mut said = Said::default();
    for arguments in &directory.commands {
        let mut words: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
        words.extend(arguments.iter().cloned());
        sandbox.run(program, &words, &directory.variables, "", &mut said);
    }
    let files = sandbox.files().into_iter().map(|(name, text)| {
        let mode = sandbox.mode(&name);
        (name, (text, mode))
    });
    (said, files.collect())
}

/// Puts the fields that are complained about in order; talhelper has none.
fn sorted_fields(text: &str) -> String {
    let mut output = Vec::new();
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        match groups.last_mut() {
            _ if line.starts_with("field: ") => groups.push(vec![line]),
            Some(group) if line.starts_with("  * ") => group.push(line),
            _ => {
                groups.sort();
                output.extend(groups.drain(..).flatten());
                output.push(line);
            }
        }
    }
    groups.sort();
    output.extend(groups.into_iter().flatten());
    output.join("\n")
}

/// The lines at which two texts part.
fn parting(ours: &str, theirs: &str) -> String {
    let (ours, theirs): (Vec<_>, Vec<_>) = (ours.lines().collect(), theirs.lines().collect());
    let same = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let part = |lines: &[&str]| {
        lines.iter().skip(same).take(4).copied().collect::<Vec<_>>().join("\n    ")
    };
    format!("  line {}\n  ours\n    {}\n  theirs\n    {}", same + 1, part(&ours), part(&theirs))
}
