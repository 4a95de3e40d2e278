//! Prints the JSON Schema of `ichor.yaml` (`cargo xtask gen`).

#![expect(clippy::print_stdout, reason = "printing is all it does")]

fn main() {
    print!("{}", plan::json_schema());
}
