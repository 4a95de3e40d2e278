//! Every command that a text names can be typed: messages, hints, help and guides.

use std::path::{Path, PathBuf};

#[test]
fn commands_named_in_sources_and_guides_parse() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    collect(&root.join("docs/guides"), "md", &mut files);
    collect(&root.join("docs/concepts"), "md", &mut files);
    for entry in fs_err::read_dir(root.join("crates")).expect("crates") {
        collect(&entry.expect("a crate").path().join("src"), "rs", &mut files);
    }
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in files {
        // Its table names commands that do not exist.
        if file.ends_with("args/elsewhere.rs") {
            continue;
        }
        let text = fs_err::read_to_string(&file).expect("text");
        for (number, line) in text.lines().enumerate() {
            for command in commands(line) {
                seen += 1;
                let words = words(&command);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                if let Err(error) = ichor::args::check(&words) {
                    let error = error.lines().next().unwrap_or_default().to_owned();
                    wrong.push(format!("{}:{}: `{command}`: {error}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn collect(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs_err::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

/// Commands in backticks, and lines of examples.
fn commands(line: &str) -> Vec<String> {
    let text = line.trim_start_matches(['/', '!']);
    let shown = line.trim_start().trim_start_matches("///").starts_with("   ichor ")
        || line.starts_with("    ichor ");
    let found = if shown {
        vec![text.trim()]
    } else {
        // The last part has no end on this line.
        let parts: Vec<&str> = text.split('`').collect();
        (1..parts.len().saturating_sub(1)).step_by(2).map(|at| parts[at]).collect()
    };
    let lines = found.into_iter().flat_map(|text| text.split(" && "));
    let lines = lines.map(|text| {
        let end = [" | ", " > ", " # ", " …", " ..."].iter().filter_map(|end| text.find(end)).min();
        text[..end.unwrap_or(text.len())].trim().to_owned()
    });
    lines.filter(|text| text.starts_with("ichor ")).collect()
}

/// The words as a shell reads them. A value that is filled in later is a placeholder.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in command.chars().chain([' ']) {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(letter),
        }
    }
    let plain = |word: String| {
        let word = word.trim_start_matches('[').trim_end_matches(']');
        let word = word.split('|').next().unwrap_or_default();
        let filled = word.starts_with('{') && word.ends_with('}') && !word.contains(':');
        if filled { "NAME".to_owned() } else { word.to_owned() }
    };
    words.into_iter().map(plain).collect()
}
