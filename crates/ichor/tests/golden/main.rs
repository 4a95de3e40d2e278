//! Level `golden`: talconfig directories that nobody wrote, given to the real talhelper and to us.

mod directories;
mod flags;
mod layout;
#[path = "../talhelper/recorded.rs"]
mod recorded;
#[path = "../talhelper/sandbox.rs"]
mod sandbox;
mod schema;
mod talos_1_14;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use directories::Directory;
use sandbox::{Said, Sandbox};
use testkit::peers;

#[test]
#[ignore = "level golden: needs talhelper (cargo xtask test)"]
fn seeded_directories_come_out_as_talhelper_writes_them() {
    let theirs = peers::program("talhelper");
    let seeds = Mutex::new(testkit::seeds(500));
    let complaints = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(seed) = seeds.lock().expect("the seeds").next() else { break };
                    let found = compare(&Directory::new(seed), &theirs);
                    complaints.lock().expect("the complaints").insert(seed, found);
                }
            });
        }
    });
    let complaints: Vec<String> = complaints
        .into_inner()
        .expect("the complaints")
        .into_iter()
        .flat_map(|(seed, found)| found.into_iter().map(move |what| (seed, what)))
        .map(|(seed, what)| format!("seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1): {what}"))
        .collect();
    assert!(complaints.is_empty(), "{} differences\n{}", complaints.len(), complaints.join("\n"));
}

/// What is different between talhelper and us in a directory, and whether it is taken or refused as it is meant to be.
fn compare(directory: &Directory, theirs: &Path) -> Vec<String> {
    let mut complaints = Vec::new();
    let (mut said, mut left) = run(directory, theirs, &[]);
    let is_refused = said.codes[0] != 0;
    match directory.fault {
        Some(fault) if !is_refused => {
            complaints.push(format!("talhelper takes it, with this in it: {fault}"));
        }
        None if is_refused => complaints.push(format!("talhelper refuses it\n{}", said.stderr)),
        _ => {}
    }
    if is_refused {
        // It writes machines until one fails; we write all or none.
        left.retain(|name, _| is_given(directory, name));
        let is_written = |line: &&str| line.starts_with("generated config for ");
        said.stdout = said.stdout.split_inclusive('\n').filter(|line| !is_written(line)).collect();
    }
    let (ours, made) = run(directory, Path::new(env!("CARGO_BIN_EXE_ichor")), &["talhelper"]);
    // What makes it panic makes us complain.
    let codes: Vec<i32> = said.codes.iter().map(|code| (*code).min(1)).collect();
    let stdout = (sorted_fields(&ours.stdout), sorted_fields(&said.stdout));
    if ours.codes != codes {
        let (ours, theirs) = (&ours.stderr, &said.stderr);
        complaints.push(format!("exit codes differ\nours:\n{ours}\ntheirs:\n{theirs}"));
    } else if stdout.0 != stdout.1 {
        complaints.push(format!("stdout\n{}", parting(&stdout.0, &stdout.1)));
    }
    for (name, (text, mode)) in &left {
        match made.get(name) {
            None => complaints.push(format!("{name} is missing")),
            Some((_, made)) if made != mode => {
                complaints.push(format!("{name} has mode {made} instead of {mode}"));
            }
            Some((made, _)) if made != text => {
                complaints.push(format!("{name}\n{}", parting(made, text)));
            }
            Some(_) => {}
        }
    }
    let surplus = made.keys().filter(|name| !left.contains_key(*name));
    complaints.extend(surplus.map(|name| format!("{name} is there, and should not be")));
    complaints
}

/// Whether a directory was there before anything was run.
fn is_given(directory: &Directory, name: &str) -> bool {
    name.ends_with('/') && directory.files.keys().any(|file| file.starts_with(name))
}

/// The recorded cases with keys and files that we leave to the `sops` program.
#[test]
#[ignore = "level golden: needs sops (cargo xtask test)"]
fn what_sops_opens_for_us_comes_out_the_same() {
    let sops = peers::program("sops");
    let folder = sops.parent().expect("a folder").display().to_string();
    for case in recorded::cases().filter(|case| recorded::NEED_SOPS.contains(&case.name.as_str())) {
        let wrong = case.replay(&format!("{folder}:{}", recorded::PATH));
        assert!(wrong.is_empty(), "{}: {wrong:?}", case.name);
    }
}

/// Texts and modes by name; a directory has a slash at its end and no text.
type Files = BTreeMap<String, (String, String)>;

/// Runs the commands of a directory; gives what was said, and the files and directories with their modes.
fn run(directory: &Directory, program: &Path, before: &[&str]) -> (Said, Files) {
    let sandbox = Sandbox::new(&directory.files);
    let mut said = Said::default();
    for (place, arguments) in directory.commands.iter().enumerate() {
        if let Some((name, text)) = directory.changes.get(&place) {
            fs_err::write(sandbox.work().join(name), text).expect("a file");
        }
        let mut words: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
        words.extend(arguments.iter().cloned());
        sandbox.run(program, &words, &directory.variables, "", &mut said);
    }
    let mut files = sandbox.files();
    if directory.is_random {
        // Secrets that are new every time make texts that are.
        files.values_mut().for_each(String::clear);
    }
    folders(&sandbox.work(), &sandbox.work(), &mut files);
    let files = files.into_iter().map(|(name, text)| {
        let mode = sandbox.mode(&name);
        (name, (text, mode))
    });
    (said, files.collect())
}

/// Adds the directories below a directory.
fn folders(work: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs_err::read_dir(folder).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            let name = path.strip_prefix(work).expect("a directory below");
            files.insert(format!("{}/", name.display()), String::new());
            folders(work, &path, files);
        }
    }
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
