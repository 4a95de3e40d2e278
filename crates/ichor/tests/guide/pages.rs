//! The steps of README, guides and concepts as their reader takes them, in a directory of the page's own.
//!
//! A fenced block `console` is run: lines that begin with `$` are typed, and what stands below one is what it prints, with `…`
//! for lines that are left out. `# ends with N` is the exit status where it is not 0. A fenced block with a name behind its
//! language is the file of that name. What stands in other blocks is only parsed, by the test `command`.
//!
//! Machines of a page are called `10.0.0.11` and up. They are in maintenance, each on a loopback address of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Directory;
use crate::api::{Machine, loopback};
use crate::machine::with_disk;

#[test]
fn readme_works_as_printed() {
    let steps = run(&[root().join("README.md")]);
    assert!(steps >= 15, "{steps}");
}

#[test]
fn guides_work_as_printed() {
    let steps = run(&pages("docs/guides"));
    assert!(steps >= 40, "{steps}");
}

#[test]
fn concepts_work_as_printed() {
    let steps = run(&pages("docs/concepts"));
    assert!(steps >= 6, "{steps}");
}

#[test]
fn a_step_that_prints_something_else_is_found() {
    let page = "```console\n$ printf 'a   b\\nc\\n' # a comment\na b\n…\n$ false # ends with 1\n$ echo one\ntwo\n```\n";
    let wrong = Page::parse(page).check(&Directory::new(&[]));
    assert_eq!(wrong, ["6: `echo one` prints\none"]);
    let page = "```yaml a/b.yaml\nx: 1\n```\n\n```console\n$ cd a\n$ cat \\\n    b.yaml\n```\n";
    let wrong = Page::parse(page).check(&Directory::new(&[]));
    assert_eq!(wrong, [""; 0]);
    let wrong = Page::parse("```console\n$ false\n```\n").check(&Directory::new(&[]));
    assert_eq!(wrong, ["2: `false` ends with 1:\n"]);
}

fn pages(folder: &str) -> Vec<PathBuf> {
    let pages = fs_err::read_dir(root().join(folder)).expect("pages");
    pages.map(|page| page.expect("a page").path()).collect()
}

/// Takes the steps of pages, and returns how many there are.
fn run(pages: &[PathBuf]) -> usize {
    let (mut steps, mut wrong) = (0, Vec::new());
    for path in pages {
        let text = fs_err::read_to_string(path).expect("a page");
        let site = Site::of(&text);
        let page = Page::parse(&site.inside(&text));
        steps += page.steps().count();
        let found = page.check(&Directory::new(&[]));
        wrong.extend(found.iter().map(|text| format!("{}:{}", path.display(), site.outside(text))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    steps
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The machines of a page: addresses as they are printed, and as they are in the test.
struct Site {
    addresses: BTreeMap<String, String>,
    _machines: Vec<Machine>,
}

impl Site {
    fn of(page: &str) -> Self {
        let (mut addresses, mut machines) = (BTreeMap::new(), Vec::new());
        // The longest first: one address may begin with another.
        for number in (1..=254).rev() {
            let printed = format!("10.0.0.{number}");
            if !page.contains(&printed) {
                continue;
            }
            // Below are addresses that no machine has, such as that of the Kubernetes API.
            let address = if number < FIRST {
                format!("127.93.8.{number}")
            } else {
                machines.push(with_disk(loopback()));
                machines[machines.len() - 1].address.ip().to_string()
            };
            addresses.insert(printed, address);
        }
        Self { addresses, _machines: machines }
    }

    /// A text with the addresses of the test.
    fn inside(&self, text: &str) -> String {
        let longest_first = self.addresses.iter().rev();
        longest_first
            .fold(text.to_owned(), |text, (printed, address)| text.replace(printed, address))
    }

    /// A text with the addresses of the page.
    fn outside(&self, text: &str) -> String {
        let addresses = self.addresses.iter();
        addresses.fold(text.to_owned(), |text, (printed, address)| text.replace(address, printed))
    }
}

struct Page(Vec<Block>);

enum Block {
    File { path: String, text: String },
    Step(Step),
}

struct Step {
    line: usize,
    command: String,
    status: i32,
    shown: Vec<String>,
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut blocks = Vec::new();
        let mut lines = text.lines().enumerate();
        while let Some((_, line)) = lines.next() {
            let Some(info) = line.strip_prefix("```") else { continue };
            let inner: Vec<(usize, &str)> =
                lines.by_ref().take_while(|(_, line)| !line.starts_with("```")).collect();
            match info.split_once(' ') {
                Some((_, path)) => {
                    let text =
                        inner.iter().fold(String::new(), |text, (_, line)| text + line + "\n");
                    blocks.push(Block::File { path: path.to_owned(), text });
                }
                None if info == "console" => blocks.extend(steps(&inner).map(Block::Step)),
                None => {}
            }
        }
        Self(blocks)
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().filter_map(|block| match block {
            Block::Step(step) => Some(step),
            Block::File { .. } => None,
        })
    }

    /// Takes all steps in one shell, and returns those that do not do what is printed, each behind its line.
    fn check(&self, directory: &Directory) -> Vec<String> {
        let printed = self.run(directory);
        assert_eq!(printed.len(), self.steps().count(), "the shell stopped: {printed:?}");
        let wrong = self.steps().zip(&printed).filter_map(|(step, (text, status))| {
            let Step { line, command, .. } = step;
            if *status != step.status {
                Some(format!("{line}: `{command}` ends with {status}:\n{text}"))
            } else if !step.shown.is_empty() && !is_shown(text, &step.shown) {
                Some(format!("{line}: `{command}` prints\n{}", text.trim_end()))
            } else {
                None
            }
        });
        wrong.collect()
    }

    /// Returns what each step printed, and its exit status.
    fn run(&self, directory: &Directory) -> Vec<(String, i32)> {
        // Writing to a string cannot fail.
        let mut script = String::new();
        for block in &self.0 {
            let _ = match block {
                Block::File { path, text } => writeln!(
                    script,
                    "mkdir -p \"$(dirname {path})\" && cat > {path} <<'{MARK}'\n{text}{MARK}"
                ),
                Block::Step(Step { command, .. }) => {
                    writeln!(script, "{command}\nprintf '{MARK}%s\\n' \"$?\"")
                }
            };
        }
        // Both in one pipe: in the order in which they are printed.
        let (mut output, both) = std::io::pipe().expect("a pipe");
        let program = Path::new(env!("CARGO_BIN_EXE_ichor")).parent().expect("a directory");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script])
            .current_dir(directory.path(""))
            .env_clear()
            .env("HOME", directory.home())
            .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
            .stdin(Stdio::null())
            .stdout(both.try_clone().expect("a pipe"))
            .stderr(both);
        let mut child = shell.spawn().expect("a shell");
        // It has the other end of the pipe.
        drop(shell);
        let mut text = String::new();
        output.read_to_string(&mut text).expect("text");
        child.wait().expect("a shell");
        let mut printed = Vec::new();
        let mut parts = text.split(MARK);
        let mut before = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (status, rest) = part.split_once('\n').expect("a line");
            printed.push((before, status.parse().expect("a status")));
            before = rest.to_owned();
        }
        printed
    }
}

fn steps(lines: &[(usize, &str)]) -> impl Iterator<Item = Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_continued = false;
    for (number, line) in lines {
        if is_continued {
            let step = steps.last_mut().expect("a step");
            step.command.push('\n');
            step.command.push_str(line);
        } else if let Some(typed) = line.strip_prefix("$ ") {
            let (command, comment) = typed.split_once(" # ").unwrap_or((typed, ""));
            let status = comment.split_once("ends with ").map_or("0", |(_, status)| status);
            steps.push(Step {
                line: number + 1,
                command: command.trim_end().to_owned(),
                status: status
                    .split([' ', ',', ':'])
                    .next()
                    .unwrap_or_default()
                    .parse()
                    .expect("a status"),
                shown: Vec::new(),
            });
        } else {
            steps.last_mut().expect("a step").shown.push((*line).to_owned());
        }
        is_continued = line.ends_with('\\') && (is_continued || line.starts_with("$ "));
    }
    steps.into_iter()
}

/// Returns whether a text has these lines and no others. Columns may be of any width, and digests differ from run to run.
fn is_shown(text: &str, lines: &[String]) -> bool {
    let plain = |line: &str| {
        let words =
            line.split_whitespace().map(|word| if is_digest(word) { "DIGEST" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let text: Vec<String> = text.trim_end().lines().map(plain).collect();
    let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
    fits(&text, &lines)
}

fn fits(text: &[String], lines: &[String]) -> bool {
    match lines.split_first() {
        None => text.is_empty(),
        Some((line, lines)) if line == "…" => {
            (0..=text.len()).any(|skipped| fits(&text[skipped..], lines))
        }
        Some((line, lines)) => {
            text.split_first().is_some_and(|(first, text)| first == line && fits(text, lines))
        }
    }
}

fn is_digest(word: &str) -> bool {
    let word = word.trim_end_matches([':', ',', ';']);
    word.len() >= 8 && word.chars().all(|letter| letter.is_ascii_hexdigit())
}

/// The lowest last number of an address that is a machine's.
const FIRST: u32 = 11;
/// Begins the line with a step's exit status.
const MARK: &str = "@@step ends with ";
