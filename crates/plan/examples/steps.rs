//! Prints the reference of steps, `docs/reference/steps.md` (`cargo xtask gen`).

#![expect(clippy::print_stdout, reason = "printing is all it does")]

fn main() {
    print!("{}", plan::steps_reference());
}
