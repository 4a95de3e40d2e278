//! Every command that a text names can be typed: messages, hints, help, reference, guides and what CONTRIBUTING says.

use std::path::{Path, PathBuf};

#[test]
fn commands_named_in_sources_and_documents_parse() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/dev/STATE.md"]
        .map(|name| root.join(name))
        .to_vec();
    for folder in ["docs/guides", "docs/concepts", "docs/reference", "examples"] {
        collect(&root.join(folder), "md", &mut files);
    }
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
        for (number, command) in commands(&text) {
            seen += 1;
            let words = words(&command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let Err(error) = ichor::args::check(&words) {
                let error = error.lines().next().unwrap_or_default().to_owned();
                wrong.push(format!("{}:{number}: `{command}`: {error}", file.display()));
            }
        }
    }
    assert!(seen > 500, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_in_every_form() {
    let text = "\
Run `ichor plan`, then `ichor
apply` or
`FOO=1 ichor status`.

    ichor show FILE   # what it says

```console
$ cd home && ichor lint | head
$ ichor validate \\
    a.yaml
```
/// Runs `ichor
/// health` once.
    \"run `ichor get rd \\
     -n NODE`\"
";
    let found: Vec<String> = commands(text).into_iter().map(|(_, command)| command).collect();
    assert_eq!(
        found,
        [
            "ichor plan",
            "ichor apply",
            "ichor status",
            "ichor show FILE",
            "ichor lint",
            "ichor validate a.yaml",
            "ichor health",
            "ichor get rd -n NODE",
        ]
    );
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

/// Commands in backticks, lines of examples and of fenced blocks, each with the line at which it begins.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut prose: Vec<(usize, &str)> = Vec::new();
    let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    let mut is_fenced = false;
    while let Some((number, line)) = lines.next() {
        let bare = line.trim_start().trim_start_matches(['/', '!']);
        if bare.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            quoted(&std::mem::take(&mut prose), &mut found);
            continue;
        }
        let is_example = bare.starts_with("   ichor ") || line.starts_with("    ichor ");
        if is_fenced || is_example {
            let mut command = bare.trim().trim_start_matches("$ ").to_owned();
            while command.ends_with('\\') {
                command.pop();
                command.push_str(lines.next().map_or("", |(_, line)| line).trim());
            }
            found.push((number, command));
        } else {
            prose.push((number, bare));
        }
    }
    quoted(&prose, &mut found);
    found.sort_by_key(|(number, _)| *number);
    let parts = found.into_iter().flat_map(|(number, text)| {
        let parts: Vec<String> = text.split(" && ").filter_map(typed).collect();
        parts.into_iter().map(move |part| (number, part))
    });
    parts.collect()
}

/// What stands in backticks, which may go over the end of a line.
fn quoted(lines: &[(usize, &str)], found: &mut Vec<(usize, String)>) {
    let mut open: Option<(usize, String)> = None;
    for (number, line) in lines {
        let line = line.trim();
        if line.is_empty() {
            open = None;
        }
        for (index, part) in line.split('`').enumerate() {
            if index > 0 {
                open = match open.take() {
                    None => Some((*number, String::new())),
                    Some(done) => {
                        found.push(done);
                        None
                    }
                };
            }
            if let Some((_, text)) = &mut open {
                text.push_str(part.trim_end_matches('\\'));
            }
        }
        match &mut open {
            // A backtick that no other one closes is a letter like others.
            Some((_, text)) if !text.starts_with("ichor") && !text.contains(" ichor ") => {
                open = None;
            }
            Some((_, text)) if !text.ends_with(' ') => text.push(' '),
            _ => {}
        }
    }
}

/// The command of a line without variables before it, and without what a shell or a reader makes of the rest.
fn typed(text: &str) -> Option<String> {
    let ends = [" | ", " > ", " # ", "   #", " …", " ...", ")\""];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let text = text[..end.unwrap_or(text.len())].trim();
    let is_variable = |word: &&str| {
        word.contains('=') && word.starts_with(|letter: char| letter.is_ascii_uppercase())
    };
    let words: Vec<&str> = text.split(' ').skip_while(is_variable).collect();
    let text = words.join(" ").split("  ").map(str::trim).collect::<Vec<_>>().join(" ");
    text.starts_with("ichor ").then_some(text)
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
