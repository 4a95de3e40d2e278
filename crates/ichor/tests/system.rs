//! Level `system`: completions in the shells that they are for.

use std::process::Command;

#[test]
#[ignore = "level system: needs bash (cargo xtask test)"]
fn bash_completes() {
    let script = r#"
        source <(ichor completions bash)
        COMP_WORDS=(ichor ver) COMP_CWORD=1
        _ichor ichor ver ichor
        echo "${COMPREPLY[@]}"
    "#;
    assert_eq!(run("bash", &["--norc", "-c", script]), "version\n");
}

#[test]
#[ignore = "level system: needs fish (cargo xtask test)"]
fn fish_completes() {
    let script = "ichor completions fish | source; complete --do-complete 'ichor ver'";
    assert!(run("fish", &["--no-config", "-c", script]).starts_with("version\t"));
}

#[test]
#[ignore = "level system: needs zsh (cargo xtask test)"]
fn zsh_loads_the_script() {
    // Completing needs a terminal in zsh; loading it and having it registered does not.
    let script = "autoload -U compinit && compinit -D && source <(ichor completions zsh) \
                  && print ${_comps[ichor]}";
    assert_eq!(run("zsh", &["--no-rcs", "-c", script]), "_ichor\n");
}

fn run(shell: &str, arguments: &[&str]) -> String {
    let ichor = std::path::Path::new(env!("CARGO_BIN_EXE_ichor"));
    let path = format!("{}:/usr/bin:/bin", ichor.parent().expect("its directory").display());
    let home = tempfile::tempdir().expect("a directory");
    let output = Command::new(shell)
        .args(arguments)
        .env_clear()
        .env("PATH", path)
        .env("HOME", home.path())
        .output()
        .expect("the shell");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}
