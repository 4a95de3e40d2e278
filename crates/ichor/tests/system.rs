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
#[ignore = "level system: needs bash (cargo xtask test)"]
fn bash_completes_names_values_and_files() {
    let script = r#"
        source <(ichor completions bash)
        complete_line() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _ichor
            echo "${COMPREPLY[@]}"
        }
        complete_line ichor services -n c
        complete_line ichor apply --override identity.node = w
        complete_line ichor get mem
        complete_line ichor talhelper gens
        complete_line ichor validate ich
    "#;
    let expected = "cp-1\nw-1\nmembers memorymodules\ngensecret genschema\nichor.yaml\n";
    assert_eq!(run("bash", &["--norc", "-c", script]), expected);
}

#[test]
#[ignore = "level system: needs fish (cargo xtask test)"]
fn fish_completes_names_of_machines() {
    let script = "ichor completions fish | source; complete --do-complete 'ichor services -n c'";
    assert!(run("fish", &["--no-config", "-c", script]).starts_with("cp-1\t"));
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
    fs_err::write(home.path().join("ichor.yaml"), CLUSTER).expect("a file");
    let output = Command::new(shell)
        .args(arguments)
        .env_clear()
        .env("PATH", path)
        .env("HOME", home.path())
        .current_dir(home.path())
        .output()
        .expect("the shell");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}

const CLUSTER: &str = "\
ichor: v1
cluster: home
endpoint: https://10.0.0.10:6443
talos: v1.13.9
controlPlane:
  machines:
    - {name: cp-1, address: 10.0.0.11}
pools:
  - name: general
    machines:
      - {name: w-1, address: 10.0.0.21}
";
