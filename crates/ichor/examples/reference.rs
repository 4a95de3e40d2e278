//! Prints `docs/reference/commands.md` (`cargo xtask gen`).

#![expect(clippy::print_stdout, reason = "printing is all it does")]

fn main() {
    let mut root = ichor::args::command().term_width(WIDTH).disable_help_subcommand(true);
    root.build();
    println!("# Commands\n\nMade from the program itself by `cargo xtask gen`.");
    section(&mut root, "ichor");
}

/// Writes one command as its `--help` shows it, then those below it.
fn section(command: &mut clap::Command, name: &str) {
    println!("\n## {name}\n\n```text\n{}\n```", command.render_long_help().to_string().trim_end());
    for below in command.get_subcommands_mut() {
        let name = format!("{name} {}", below.get_name());
        section(below, &name);
    }
}

/// A page of plain text, whatever terminal it is made on.
const WIDTH: usize = 100;
