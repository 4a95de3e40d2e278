//! Writes `docs/reference/schemas` (`cargo xtask gen`): a JSON Schema for each command that prints data.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let directory = std::env::args_os().nth(1).expect("a directory");
    for (name, schema) in ichor::schemas() {
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        fs_err::write(Path::new(&directory).join(format!("{name}.json")), text)?;
    }
    Ok(())
}
