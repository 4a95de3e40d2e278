//! Breaking a rule makes `cargo xtask test` fail with a message that says what to do.
//!
//! Each test makes a small workspace that obeys every rule, with this project's own configuration of
//! formatter and lints, and breaks one of them.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

#[test]
fn a_workspace_that_obeys_passes() {
    let workspace = Workspace::new();
    let output = workspace.test(&["fmt", "clippy", "deps", "generated"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn an_unformatted_file() {
    let workspace = Workspace::new();
    workspace.write("crates/plan/src/lib.rs", "//! Plans.\npub fn   plan( ) {}\n");
    workspace.fails("fmt", "run `cargo fmt --all`");
}

#[test]
fn output_outside_the_printer() {
    for line in ["println!(\"done\")", "eprintln!(\"done\")", "drop(std::io::stdout())"] {
        let workspace = Workspace::new();
        let source = format!("//! Plans.\n\n/// Plans.\npub fn plan() {{\n    {line};\n}}\n");
        workspace.write("crates/plan/src/lib.rs", &source);
        workspace.fails("clippy", "goes through the printer");
    }
}

#[test]
fn a_wrong_arrow() {
    let workspace = Workspace::new();
    workspace.write("crates/plan/Cargo.toml", &manifest("plan", "ichor = { path = \"../ichor\" }"));
    workspace.fails("deps", "plan → ichor: not allowed");
    workspace.fails("deps", "xtask/src/dependency_rules.rs");
}

#[test]
fn a_crate_that_the_architecture_does_not_know() {
    let workspace = Workspace::new();
    workspace.write("crates/helpers/Cargo.toml", &manifest("helpers", ""));
    workspace.write("crates/helpers/src/lib.rs", "//! Anything.\n");
    workspace.fails("deps", "helpers: unknown to xtask/src/dependency_rules.rs");
}

#[test]
fn a_stale_generated_file() {
    let workspace = Workspace::new();
    workspace.write("docs/reference/commands.md", "# Commands of last year\n");
    workspace.fails("generated", "run `cargo xtask gen`");
    assert!(workspace.xtask(&["gen"]).status.success());
    assert!(workspace.test(&["generated"]).status.success());
    workspace.write("crates/talos-api/src/generated/gone.rs", "//! Of last year.\n");
    workspace.fails("generated", "crates/talos-api/src/generated/gone.rs");
}

#[test]
fn a_run_that_fails_ends_with_the_table_of_what_ran_and_the_error() {
    let workspace = Workspace::new();
    workspace.write("docs/reference/commands.md", "# Commands of last year\n");
    let output = workspace.test(&["deps", "generated", "fmt"]);
    let said = stderr(&output);
    let end: Vec<Vec<&str>> =
        said.lines().rev().take(6).map(|line| line.split_whitespace().collect()).collect();
    let [error, total, generated, deps, fmt, head] = end.as_slice() else { panic!("{said}") };
    assert_eq!(head, &["part", "seconds", "result"]);
    for (row, name, result) in
        [(fmt, "fmt", "ran"), (deps, "deps", "ran"), (generated, "generated", "failed")]
    {
        assert_eq!((row[0], row[2]), (name, result), "{said}");
        assert!(row[1].parse::<u32>().is_ok(), "{said}");
    }
    assert_eq!(total[2..].join(" "), "2 ran, 0 skipped, 1 failed");
    assert_eq!(error[..2].join(" "), "error: generated");
}

#[test]
fn a_name_that_is_neither_check_nor_level() {
    Workspace::new().fails("everything", "`cargo xtask test --list`");
}

struct Workspace(TempDir);

impl Workspace {
    fn new() -> Self {
        let workspace = Self(tempfile::tempdir().expect("a directory"));
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for file in ["clippy.toml", "rustfmt.toml"] {
            let text = fs_err::read_to_string(project.join(file)).expect("a file of the project");
            workspace.write(file, &text);
        }
        let text = fs_err::read_to_string(project.join("Cargo.toml")).expect("the manifest");
        let mut manifest: toml::Table = text.parse().expect("a manifest");
        let table = manifest["workspace"].as_table_mut().expect("a workspace");
        table.retain(|key, _| ["resolver", "lints"].contains(&key));
        table.insert("members".to_owned(), toml::Value::Array(vec!["crates/*".into()]));
        workspace.write("Cargo.toml", &manifest.to_string());
        workspace.write("crates/plan/Cargo.toml", &self::manifest("plan", ""));
        workspace.write("crates/plan/src/lib.rs", "//! Plans.\n");
        workspace.write("crates/plan/examples/schema.rs", &printing("{}"));
        workspace.write("docs/reference/ichor.schema.json", "{}\n");
        workspace.write("crates/plan/examples/steps.rs", &printing("# Steps"));
        workspace.write("docs/reference/steps.md", "# Steps\n");
        workspace.write("crates/ichor/Cargo.toml", &self::manifest("ichor", ""));
        workspace.write("crates/ichor/src/lib.rs", "//! The command.\n");
        workspace.write("crates/ichor/examples/reference.rs", &printing("# Commands"));
        workspace.write("docs/reference/commands.md", "# Commands\n");
        workspace.write("crates/ichor/examples/schemas.rs", &writing("version.json", "{}\n"));
        workspace.write("docs/reference/schemas/version.json", "{}\n");
        workspace.write("crates/talos-api/Cargo.toml", &self::manifest("talos-api", ""));
        workspace.write("crates/talos-api/src/lib.rs", "//! The API.\n");
        let generate = writing("mod.rs", "//! Made.\n");
        workspace.write("crates/talos-api/examples/generate.rs", &generate);
        workspace.write("crates/talos-api/src/generated/mod.rs", "//! Made.\n");
        workspace
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs_err::write(path, text).expect("the file");
    }

    fn test(&self, only: &[&str]) -> Output {
        self.xtask(&[&["test", "--only"], only].concat())
    }

    fn xtask(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("--root")
            .arg(self.0.path())
            .args(arguments)
            .env("CARGO_TARGET_DIR", self.0.path().join("target"))
            .output()
            .expect("xtask")
    }

    fn fails(&self, name: &str, message: &str) {
        let output = self.test(&[name]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

/// A program that prints a line.
fn printing(line: &str) -> String {
    format!(
        "//! Prints.\n\n#![expect(clippy::print_stdout, reason = \"printing\")]\n\n\
         fn main() {{\n    let line = {line:?};\n    println!(\"{{line}}\");\n}}\n"
    )
}

/// An example that writes a text to a file of the directory that it is given.
fn writing(file: &str, text: &str) -> String {
    format!(
        "//! Writes.\n\n#![expect(clippy::disallowed_methods, reason = \"without dependencies\")]\n\n\
         fn main() {{\n    let directory = std::env::args().nth(1).unwrap_or_default();\n    \
         drop(std::fs::write(format!(\"{{directory}}/{file}\"), {text:?}));\n}}\n"
    )
}

fn manifest(name: &str, dependency: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependency}\n\n[lints]\nworkspace = true\n"
    )
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
