//! Files that the program reads and writes, and what it shows on a terminal.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Directory;

#[test]
fn output_files_with_secrets_are_private_and_others_follow_the_umask() {
    let directory = Directory::new();
    run(&directory, INIT);
    run(&directory, "gen ca --organization a");
    run(&directory, "gen key --name machine");
    run(&directory, "gen csr --key machine.key --ip 10.0.0.1");
    run(&directory, "gen crt --ca a --csr machine.csr --name machine");
    directory.write("plain", "");
    let shared = mode(&directory.path("plain")) & 0o644;
    for name in ["ichor.yaml", ".gitignore", "a.crt", "a.sha256", "machine.csr", "machine.crt"] {
        assert_eq!(mode(&directory.path(name)), shared, "{name}");
    }
    for name in ["secrets.yaml", "a.key", "machine.key"] {
        assert_eq!(mode(&directory.path(name)), 0o600, "{name}");
    }
}

#[test]
fn output_file_in_a_directory_that_is_not_there_is_refused() {
    let directory = Directory::new();
    for line in ["gen secrets -o a/b/c.yaml", "patch worker.yaml -p @all.yaml -o a/b/c.yaml"] {
        let (code, _, stderr) = run(&directory, line);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("a/b/c.yaml: a/b is not a directory"), "{stderr}");
        assert!(stderr.contains("mkdir -p a/b"), "{stderr}");
        assert!(!directory.path("a").exists());
    }
    // A name that ends with a slash is a directory's.
    run(&directory, "patch worker.yaml -p @all.yaml -o made/");
    assert_eq!(directory.list("made"), ["worker.yaml"]);
}

#[test]
fn creation_rules_that_cannot_be_read_stop_what_would_be_written_in_clear() {
    let directory = Directory::new();
    // One byte that is no UTF-8, in a comment.
    fs_err::write(directory.path(".sops.yaml"), b"# \xfc\ncreation_rules: []\n").expect("a file");
    let (code, _, stderr) = run(&directory, INIT);
    assert_eq!(code, 3, "{stderr}");
    assert!(!directory.path("secrets.yaml").exists() && !directory.path("ichor.yaml").exists());
}

#[test]
fn second_set_of_secrets_beside_the_first_is_refused() {
    let directory = Directory::new();
    directory.write("secrets.sops.yaml", "");
    let (code, _, stderr) = run(&directory, "gen secrets");
    assert!(code == 3 && stderr.contains("secrets.sops.yaml exists"), "{stderr}");
    assert!(!directory.path("secrets.yaml").exists());
    assert_eq!(run(&directory, "gen secrets -o third.yaml").0, 0);
}

#[test]
fn name_of_a_key_with_pattern_characters_is_ignored_by_git() {
    let directory = Directory::new();
    assert_eq!(run(&directory, "gen age-key -o key[1].age").0, 0);
    assert_eq!(directory.read(".gitignore"), "/key\\[1].age\n");
    let (code, _, stderr) = run(&directory, "gen age-key -o .sops.yaml");
    assert_eq!(code, 3, "{stderr}");
}

#[test]
fn fifo_in_place_of_a_file_is_refused_and_not_waited_for() {
    let directory = Directory::new();
    run(&directory, INIT);
    let spec = directory.read("ichor.yaml");
    directory.write("ichor.yaml", &format!("{spec}patches: [all.yaml]\n"));
    for (file, line) in [
        ("ichor.yaml", "validate"),
        ("ichor.yaml", "config contexts"),
        ("talconfig.yaml", "lint"),
        ("secrets.yaml", "validate"),
        ("all.yaml", "validate"),
        (".sops.yaml", "gen secrets -o secrets.sops.yaml"),
        (".gitignore", "init other --endpoint https://10.0.0.1:6443 --control-plane a=10.0.0.1"),
        (".ichor/journal", "history"),
        (".ichor/audit.jsonl", "history --verify"),
        ("metrics.prom", "apply --yes --metrics metrics.prom"),
        ("out.json", "plan --out out.json"),
    ] {
        let kept = replace_by_fifo(&directory, file);
        if file == "talconfig.yaml" || file == ".gitignore" {
            fs_err::rename(directory.path("ichor.yaml"), directory.path("away")).unwrap();
        }
        let (code, _, stderr) = run(&directory, line);
        assert_ne!(code, 0, "{file}: {stderr}");
        fs_err::remove_file(directory.path(file)).unwrap();
        if let Some(kept) = kept {
            directory.write(file, &kept);
        }
        if directory.path("away").exists() {
            fs_err::rename(directory.path("away"), directory.path("ichor.yaml")).unwrap();
        }
    }
}

#[test]
fn file_without_end_is_refused_before_it_is_read() {
    let directory = Directory::new();
    run(&directory, INIT);
    let spec = directory.read("ichor.yaml");
    directory.write("ichor.yaml", &format!("{spec}patches: [all.yaml]\n"));
    for (file, line) in [
        ("ichor.yaml", "validate"),
        ("secrets.yaml", "validate"),
        ("all.yaml", "validate"),
        (".ichor/journal", "history"),
        (".ichor/audit.jsonl", "history --verify"),
    ] {
        let kept = directory.path(file).exists().then(|| directory.read(file));
        fs_err::create_dir_all(directory.path(file).parent().unwrap()).unwrap();
        // Sparse: it takes no room.
        fs_err::File::create(directory.path(file)).unwrap().set_len(5 << 30).unwrap();
        let (code, _, stderr) = run(&directory, line);
        assert_ne!(code, 0, "{file}: {stderr}");
        fs_err::remove_file(directory.path(file)).unwrap();
        if let Some(kept) = kept {
            directory.write(file, &kept);
        }
    }
}

#[test]
fn explain_without_a_file_and_a_cluster_documents_the_field() {
    let directory = Directory::new();
    let (code, stdout, stderr) = run(&directory, "explain machine.network.interfaces[eth0].mtu");
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.starts_with("v1alpha1 machine.network.interfaces[eth0].mtu: number\n"),
        "{stdout}"
    );
    assert!(stdout.contains("since Talos "), "{stdout}");
    assert!(stderr.contains("no cluster directory here"), "{stderr}");
    let (_, stdout, _) = run(&directory, "explain LinkConfig");
    assert!(stdout.contains("\nfields\n  name\n") || stdout.contains("  addresses"), "{stdout}");
    let (code, _, stderr) = run(&directory, "explain machine.netwrok");
    assert_eq!(code, 3);
    assert!(stderr.contains("did you mean \"network\"?"), "{stderr}");
    // A machine was meant.
    let (code, _, stderr) = run(&directory, "explain machine.network -n cp-1");
    assert!(code == 3 && stderr.contains("error[directory.missing]"), "{stderr}");
}

#[test]
fn explain_shows_an_object_once_and_in_lines() {
    let directory = Directory::new();
    let sans: Vec<String> = (0..20).map(|number| format!("name-{number}.example")).collect();
    directory.write(
        "long.yaml",
        &format!("machine:\n  type: worker\n  certSANs: [{}]\n", sans.join(", ")),
    );
    let (_, stdout, _) = run(&directory, "explain machine.certSANs long.yaml");
    assert_eq!(stdout.matches("name-7.example").count(), 1, "{stdout}");
    assert!(stdout.lines().all(|line| line.len() < 80), "{stdout}");
    assert!(stdout.contains("set by\n  long.yaml:3:"), "{stdout}");
}

#[test]
fn patch_of_several_files_to_stdout_shows_where_each_begins() {
    let directory = Directory::new();
    let (_, stdout, _) = run(&directory, "patch worker.yaml other.yaml -p @all.yaml");
    assert!(stdout.starts_with("# worker.yaml\n"), "{stdout}");
    assert!(stdout.contains("\n---\n# other.yaml\n"), "{stdout}");
    let (_, stdout, _) = run(&directory, "patch worker.yaml -p @all.yaml");
    assert!(!stdout.contains('#'), "{stdout}");
}

#[test]
fn table_fits_the_terminal_and_is_whole_in_a_pipe() {
    let directory = Directory::new();
    let endpoint = "x".repeat(120);
    let text = format!("context: home\ncontexts:\n  home:\n    endpoints: [{endpoint}]\n");
    directory.write("talosconfig", &text);
    let line = ["config", "contexts", "--talosconfig", "talosconfig"];
    let piped = directory.program(&line).output().expect("ichor");
    let piped = String::from_utf8(piped.stdout).expect("text");
    assert!(piped.contains(&endpoint) && !piped.contains('…'), "{piped}");
    for (width, columns, expected) in [(60, None, 60), (60, Some("40"), 40), (200, None, 200)] {
        let shown = on_terminal(directory.program(&line), width, columns);
        let longest = shown.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(longest <= Some(expected), "{expected}: {shown}");
        assert_eq!(shown.contains('…'), expected < 150, "{shown}");
    }
}

#[test]
fn findings_and_differences_are_coloured_where_colours_are_wanted() {
    let directory = Directory::new();
    directory.write("bad.yaml", "machine: {type: worker}\n");
    for line in ["diff worker.yaml other.yaml", "validate bad.yaml"] {
        let shown = |name: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let output = directory.program(&words).env(name, "1").output().expect("ichor");
            [output.stdout, output.stderr].concat()
        };
        let coloured = String::from_utf8(shown("CLICOLOR_FORCE")).expect("text");
        let plain = String::from_utf8(shown("NO_COLOR")).expect("text");
        assert!(coloured.contains("\x1b[3"), "{line}: {coloured}");
        assert!(!plain.contains('\x1b') && !plain.contains("\\x1b"), "{line}: {plain}");
    }
}

/// Runs a command line, which has to end within seconds. Returns status, stdout and stderr.
fn run(directory: &Directory, line: &str) -> (i32, String, String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let child = directory
        .program(&words)
        .env("HOME", "/nonexistent")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ichor");
    let pid = Pid::from_raw(child.id().try_into().expect("a process"));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(LONGEST) else {
        let _ = kill(pid, Signal::SIGKILL);
        panic!("{line}: still running");
    };
    let output = output.expect("ichor");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

/// Runs a command with a terminal as stdout.
fn on_terminal(mut command: Command, width: u16, columns: Option<&str>) -> String {
    let size = Winsize { ws_row: 24, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(Some(&size), None).expect("a terminal");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    let mut child = command.stdout(Stdio::from(terminal.slave)).spawn().expect("ichor");
    // Its end of the terminal is open in the command, too.
    drop(command);
    let mut shown = Vec::new();
    // A terminal that nothing writes to any more is an error.
    let _ = fs_err::File::from_parts(terminal.master.into(), "terminal").read_to_end(&mut shown);
    child.wait().expect("a status");
    String::from_utf8(shown).expect("text")
}

/// Puts a FIFO in the place of a file, and returns its text.
fn replace_by_fifo(directory: &Directory, file: &str) -> Option<String> {
    let path = directory.path(file);
    let kept = path.exists().then(|| directory.read(file));
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("the folder");
    let _ = fs_err::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    kept
}

fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).expect("a file").permissions().mode() & 0o777
}

const INIT: &str = "init home --endpoint https://127.93.0.1:6443 --control-plane cp-1=127.93.0.1";
/// Much longer than any of these commands takes.
const LONGEST: Duration = Duration::from_secs(30);
