//! The only place in these commands that writes: data to stdout, everything else to stderr.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is the printer")]

pub(crate) fn data(text: &str) {
    println!("{text}");
}

pub(crate) fn progress(text: &str) {
    eprintln!("{text}");
}
