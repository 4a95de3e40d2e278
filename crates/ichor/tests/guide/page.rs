//! Every command that the page of the guide shows can be typed.

use crate::Directory;

#[test]
fn every_command_on_the_page_is_one() {
    let page = include_str!("../../../../docs/guides/from-talhelper.md");
    let mut seen = 0;
    for line in commands(page) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(ichor::args::check(&words), Ok(()), "{line}");
        if words.get(1) == Some(&"talhelper") {
            // The personality reads its words itself.
            let said = Directory::new(&[]).run(&words[1..].join(" "));
            let unknown = ["unknown command", "unknown flag", "unknown shorthand", "flag needs"];
            assert!(
                !unknown.iter().any(|words| said.stderr.contains(words)),
                "{line}: {}",
                said.stderr
            );
        }
        seen += 1;
    }
    assert!(seen >= 30, "{seen}");
}

/// Command lines: indented ones, and those in backticks. What is behind a `#`, a pipe or `&&` is another matter.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in page.lines() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let shown = if line.starts_with("    ") { vec![line.trim()] } else { quoted };
        for text in shown {
            let text = text.split(" # ").next().unwrap_or_default();
            for part in text.split(" && ").flat_map(|part| part.split(" | ")) {
                let part = part.trim();
                // A verb alone is a name and not a line to type.
                if part.starts_with("ichor ") {
                    found.push(part.to_owned());
                }
            }
        }
    }
    found
}
