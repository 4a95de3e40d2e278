//! Scripts: text in, text out. A folder of them is read as documentation and run as a test.
//!
//! A line at the margin is a command, lines that begin with `|` are its text, and indented lines are what it says.
//! `ICHOR_RECORD=1` writes what commands say now; read the difference before you commit it.

use std::fmt::Write;
use std::path::Path;

/// Runs every script of a folder, and compares what its commands say with what they said.
///
/// # Panics
/// When a script says something else, or there are fewer than `least`.
pub fn compare(folder: &Path, least: usize, run: impl Fn(&str) -> String) {
    let entries = fs_err::read_dir(folder).expect("scripts");
    let mut scripts: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    scripts.sort();
    assert!(scripts.len() >= least, "{} scripts", scripts.len());
    let mut wrong = Vec::new();
    for path in scripts {
        let script = fs_err::read_to_string(&path).expect("a script");
        let now = run(&script);
        if now == script {
            continue;
        }
        if crate::recording() {
            fs_err::write(&path, now).expect("a script that can be written");
        } else {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            wrong.push(format!("── {name}\n{}", difference(&script, &now)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Gives each command of a script with its text, and returns the script with what the commands say.
pub fn answer(script: &str, mut command: impl FnMut(&str, &str) -> String) -> String {
    let mut output = String::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with(' ') {
            continue;
        }
        let _ = writeln!(output, "{line}");
        let mut text = String::new();
        while let Some(more) = lines.peek().and_then(|line| line.strip_prefix('|')) {
            let _ = writeln!(text, "{}", more.strip_prefix(' ').unwrap_or(more));
            let _ = writeln!(output, "{}", lines.next().unwrap_or_default());
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for said in command(line, &text).lines() {
            let _ = writeln!(output, "{}", format!("  {}", masked(said)).trim_end());
        }
    }
    output
}

/// The lines that differ.
fn difference(old: &str, new: &str) -> String {
    let mut text = String::new();
    let (mut olds, mut news) = (old.lines(), new.lines());
    loop {
        match (olds.next(), news.next()) {
            (None, None) => return text,
            (old, new) if old == new => {}
            (old, new) => {
                let _ =
                    writeln!(text, "-{}\n+{}", old.unwrap_or_default(), new.unwrap_or_default());
            }
        }
    }
}

/// Digests follow every change of generated configuration; a script is about something else.
fn masked(line: &str) -> String {
    let digest = |word: &str| word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = line.split_inclusive([' ', ':', ',']).map(|word| {
        let bare = word.trim_end_matches([' ', ':', ',']);
        if digest(bare) { word.replace(bare, "<digest>") } else { word.to_owned() }
    });
    words.collect()
}
