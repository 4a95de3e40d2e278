//! The command as its users meet it: stdout, stderr and exit status, as snapshots.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use insta::assert_snapshot;

#[path = "command/files.rs"]
mod files;
#[path = "command/named.rs"]
mod named;

#[test]
fn version_as_table() {
    assert_snapshot!(ichor(&["version"]));
}

#[test]
fn version_as_json() {
    assert_snapshot!(ichor(&["version", "-o", "json"]));
}

#[test]
fn version_as_yaml() {
    assert_snapshot!(ichor(&["version", "--output", "yaml"]));
}

/// Neither a talosconfig nor a machine is looked for.
#[test]
fn version_in_one_line() {
    assert_snapshot!(ichor(&["version", "--short", "--talosconfig", "/nowhere"]));
}

#[test]
fn get_help() {
    assert_snapshot!(ichor(&["get", "--help"]));
}

#[test]
fn config_help() {
    assert_snapshot!(ichor(&["config", "--help"]));
}

#[test]
fn a_path_that_is_none_is_refused_before_anything_is_asked() {
    assert_snapshot!(ichor(&[
        "get",
        "members",
        "-o",
        "jsonpath={.spec",
        "--talosconfig",
        "/nowhere"
    ]));
}

#[test]
fn version_as_a_flag() {
    assert_snapshot!(ichor(&["--version"]));
}

#[test]
fn short_help() {
    assert_snapshot!(ichor(&["-h"]));
}

#[test]
fn long_help() {
    assert_snapshot!(ichor(&["--help"]));
}

#[test]
fn help_of_a_command() {
    assert_snapshot!(ichor(&["completions", "--help"]));
}

#[test]
fn help_of_a_personality() {
    assert_snapshot!(ichor(&["talhelper", "--help"]));
}

#[test]
fn a_personality_goes_by_the_name_of_the_program() {
    let directory = tempfile::tempdir().expect("a directory");
    let link = directory.path().join("talhelper");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ichor"), &link).expect("a link");
    let output = Command::new(link).arg("--version").output().expect("it runs");
    let version = concat!("talhelper version 3.1.15 (Ichor ", env!("CARGO_PKG_VERSION"), ")\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), version);
}

#[test]
fn nothing_typed() {
    assert_snapshot!(ichor(&[]));
}

/// As talosctl, kubectl and git take them.
#[test]
fn options_before_the_command_are_those_after_it() {
    let after = ichor(&["config", "info", "--talosconfig", "/nowhere", "-o", "json"]);
    for before in [
        &["--talosconfig", "/nowhere", "-o", "json", "config", "info"][..],
        &["--talosconfig=/nowhere", "config", "-ojson", "info"],
    ] {
        assert_eq!(ichor(before), after, "{before:?}");
    }
    let after = ichor(&["validate", "-C", "/nowhere"]);
    assert_eq!(ichor(&["-C", "/nowhere", "validate"]), after);
    assert!(after.contains("/nowhere"), "{after}");
    let machine = ["-n", "127.0.0.1", "-e", "127.0.0.1"];
    let config = ["--talosconfig", "/nowhere"];
    let after = ichor(&[&["services"], &machine[..], &config].concat());
    assert_eq!(ichor(&[&machine[..], &config, &["services"]].concat()), after);
}

/// `-n` is a dry run in `gen talconfig`, and `-o` a file in `gen secrets`: neither may be mistaken.
#[test]
fn an_option_before_a_command_that_lacks_it_is_refused() {
    for line in [
        &["-n", "cp-1", "gen", "talconfig"][..],
        &["-n", "cp-1", "plan"],
        &["-o", "json", "gen", "secrets"],
        &["-C", "x", "talhelper", "genconfig"],
    ] {
        let said = ichor(line);
        assert!(said.contains("does not take --"), "{said}");
        assert!(said.contains("hint: run `ichor "), "{said}");
    }
    assert!(ichor(&["-n"]).contains("--nodes needs a value"));
    assert!(ichor(&["-n", "cp-1"]).contains("no command after the options"));
}

#[test]
fn a_command_of_talosctl_is_named_where_it_is() {
    for (line, hint) in [
        (&["reboot", "-n", "cp-1"][..], "run `ichor node reboot`"),
        (&["-n", "cp-1", "reset"], "run `ichor node reset`"),
        (&["upgrade", "talos"], "run `ichor node upgrade`"),
        (&["etcd", "leave"], "run `ichor node etcd leave`"),
        (&["service", "kubelet", "restart"], "run `ichor node service kubelet restart`"),
        (&["patch", "mc", "-n", "cp-1", "-p", "x"], "run `ichor node patch`"),
        (&["dashboard"], "a dashboard is not supported yet"),
    ] {
        let said = ichor(line);
        assert!(said.contains(hint), "{said}");
        assert!(!said.contains("similar"), "{said}");
    }
}

#[test]
fn a_rule_to_override_is_checked_before_anything_is_asked() {
    let said = ichor(&["plan", "-C", "/nowhere", "--override", "foo", "--reason", "x"]);
    assert!(said.contains("quorum.tolerance"), "{said}");
    assert!(!said.contains("/nowhere"), "{said}");
}

#[test]
fn a_group_without_a_command_shows_its_help() {
    let output = program().arg("node").output().expect("ichor");
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("apply-config"), "{}", show(&output));
}

/// The list of commands is laid out by us: a line that is too long would not be wrapped.
#[test]
fn commands_in_the_help_have_one_line_each() {
    let output = program().arg("-h").output().expect("ichor");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    for command in ichor::args::command().get_subcommands() {
        let shown =
            text.lines().filter(|line| line.starts_with(&format!("  {} ", command.get_name())));
        assert_eq!(shown.count(), 1, "{}", command.get_name());
    }
}

#[test]
fn a_command_that_does_not_exist() {
    assert_snapshot!(ichor(&["verson"]));
}

#[test]
fn an_option_that_does_not_exist() {
    assert_snapshot!(ichor(&["version", "--outptu", "json"]));
}

#[test]
fn a_value_that_does_not_exist() {
    assert_snapshot!(ichor(&["version", "-o", "toml"]));
}

#[test]
fn a_value_left_out() {
    assert_snapshot!(ichor(&["completions"]));
}

#[test]
fn an_override_needs_a_reason() {
    let override_rule = ["--override", "quorum.tolerance"];
    assert_snapshot!(ichor(&[&["node", "etcd", "leave"], &override_rule[..]].concat()));
}

#[test]
fn nothing_is_done_to_a_machine_that_is_not_named() {
    assert_snapshot!(ichor(&["node", "reboot", "--insecure"]));
    assert_snapshot!(ichor(&["node", "wipe", "disk", "sda", "--insecure", "--yes"]));
}

#[test]
fn an_argument_that_is_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let output = program().arg(std::ffi::OsStr::from_bytes(b"\xff\xfe")).output().expect("ichor");
    assert_eq!(output.status.code(), Some(3), "{}", show(&output));
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let full = fs_err::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = program().arg("version").stdout(full.into_file()).output().expect("ichor");
    assert_snapshot!(show(&output));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = program()
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ichor");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ichor");
    assert_snapshot!(show(&output));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let error = |name: &str| program().arg("verson").env(name, "1").output().expect("ichor").stderr;
    assert!(error("CLICOLOR_FORCE").contains(&b'\x1b'));
    assert!(!error("NO_COLOR").contains(&b'\x1b'));
}

#[test]
fn patch_help() {
    assert_snapshot!(ichor(&["patch", "--help"]));
}

#[test]
fn patch_to_stdout() {
    let directory = Directory::new();
    let patch = r#"{"machine": {"network": {"hostname": "w-2"}}}"#;
    assert_snapshot!(directory.ichor(&["patch", "worker.yaml", "-p", "@all.yaml", "-p", patch]));
}

#[test]
fn patch_from_stdin_with_operations() {
    let directory = Directory::new();
    let operations = r#"[{"op": "add", "path": "/machine/certSANs", "value": ["a"]}]"#;
    let mut child = directory
        .program(&["patch", "-", "-p", operations])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ichor");
    child.stdin.take().expect("stdin").write_all(b"machine: {type: worker}\n").expect("stdin");
    assert_snapshot!(show(&child.wait_with_output().expect("ichor")));
}

#[test]
fn patched_files_are_written_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new();
    directory.ichor(&["patch", "worker.yaml", "-p", "@all.yaml", "-o", "one.yaml"]);
    let metadata = fs_err::metadata(directory.path("one.yaml")).expect("a file");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn several_files_go_to_a_directory() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&[
        "patch",
        "worker.yaml",
        "other.yaml",
        "-p",
        "@all.yaml",
        "-o",
        "out"
    ]));
    assert_eq!(directory.list("out"), ["other.yaml", "worker.yaml"]);
}

#[test]
fn all_files_are_written_or_none() {
    let directory = Directory::new();
    directory.write("out/other.yaml", "mine\n");
    assert_snapshot!(directory.ichor(&[
        "patch",
        "worker.yaml",
        "other.yaml",
        "-p",
        "@all.yaml",
        "-o",
        "out"
    ]));
    assert_eq!(directory.list("out"), ["other.yaml"]);
    assert_eq!(directory.read("out/other.yaml"), "mine\n");

    directory.write("broken.yaml", "machine: {typ: worker}\n");
    directory.ichor(&[
        "patch",
        "worker.yaml",
        "broken.yaml",
        "-p",
        "@all.yaml",
        "-o",
        "out",
        "--force",
    ]);
    assert_eq!(directory.list("out"), ["other.yaml"]);
}

#[test]
fn a_file_that_is_there_is_overwritten_only_when_told() {
    let directory = Directory::new();
    let before = directory.read("worker.yaml");
    assert_snapshot!(directory.ichor(&[
        "patch",
        "worker.yaml",
        "-p",
        "@all.yaml",
        "-o",
        "worker.yaml"
    ]));
    assert_eq!(directory.read("worker.yaml"), before);
    directory.ichor(&["patch", "worker.yaml", "-p", "@all.yaml", "-o", "worker.yaml", "--force"]);
    assert!(directory.read("worker.yaml").contains("hostname: w-1"));
}

#[test]
fn what_was_written_is_taken_back_when_the_rest_cannot_be() {
    let directory = Directory::new();
    directory.write("out/worker.yaml", "mine\n");
    fs_err::create_dir_all(directory.path("out/other.yaml")).expect("a directory");
    let shown = directory.ichor(&[
        "patch",
        "worker.yaml",
        "other.yaml",
        "-p",
        "@all.yaml",
        "-o",
        "out",
        "--force",
    ]);
    assert!(shown.starts_with("exit: 3") && shown.contains("output.not-a-file"), "{shown}");
    assert_eq!(directory.read("out/worker.yaml"), "mine\n");
    assert_eq!(directory.list("out"), ["other.yaml", "worker.yaml"]);
}

#[test]
fn a_link_that_leads_nowhere_is_there_all_the_same() {
    let directory = Directory::new();
    std::os::unix::fs::symlink("nowhere", directory.path("link.yaml")).expect("a link");
    let shown = directory.ichor(&["patch", "worker.yaml", "-p", "@all.yaml", "-o", "link.yaml"]);
    assert!(shown.contains("output.exists"), "{shown}");
    assert!(!directory.path("nowhere").exists());
}

#[test]
fn operations_may_begin_with_a_hyphen() {
    let directory = Directory::new();
    let operations = "- {op: replace, path: /machine/type, value: controlplane}";
    let shown = directory.ichor(&["patch", "worker.yaml", "-p", operations]);
    assert!(shown.starts_with("exit: 0") && shown.contains("type: controlplane"), "{shown}");
}

#[test]
fn a_patch_that_was_meant_as_text_is_not_repeated() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["patch", "worker.yaml", "-p", "machine:{token:hunter2}"]));
}

#[test]
fn an_error_of_a_patch_names_the_patch() {
    let directory = Directory::new();
    directory.write("gone.yaml", "machine: {sysctls: {gone: {$patch: delete}}}\n");
    for command in [
        &["patch", "worker.yaml", "-p", "all.yaml", "-p", "gone.yaml"][..],
        &["explain", "machine.type", "worker.yaml", "-p", "all.yaml", "-p", "gone.yaml"],
    ] {
        let shown = directory.ichor(command);
        assert!(shown.contains("error[patch.refused]: gone.yaml: "), "{shown}");
    }
}

#[test]
fn escape_sequences_reach_files_and_not_terminals() {
    let directory = Directory::new();
    directory.write("red.yaml", "machine:\n  type: worker\n  sysctls: {a: \"\\e[31mred\"}\n");
    let shown = directory.ichor(&["diff", "worker.yaml", "red.yaml"]);
    assert!(shown.contains("\\u{1b}[31mred") && !shown.contains('\u{1b}'), "{shown}");
    let raw = directory
        .program(&["patch", "-", "-p", "[]"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut raw = raw.expect("ichor");
    raw.stdin.take().expect("stdin").write_all("a: é\n".as_bytes()).expect("stdin");
    assert_eq!(raw.wait_with_output().expect("ichor").stdout, "a: é\n".as_bytes());
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let directory = Directory::new();
    directory.write("not-yaml.yaml", "machine: {type: [\n");
    directory.write("no-talos.yaml", "apiVersion: v1\nkind: ConfigMap\n");
    directory.write("misspelt.yaml", "machine:\n  netwrok:\n    hostname: a\n");
    directory.write("wrong-type.yaml", "machine:\n  certSANs: a\n  install:\n    wipe: perhaps\n");
    directory.write("deep.yaml", &"[".repeat(10_000));
    directory.write("empty.yaml", "# nothing\n");
    directory.write("list.yaml", "- a\n");
    directory.write("twice.yaml", "machine: {}\n---\nmachine: {}\n");
    directory.write("gone.yaml", "machine: {sysctls: {gone: {$patch: delete}}}\n");
    let doubled = |level: u32| format!("a{}: &a{} [*a{level}, *a{level}]\n", level + 1, level + 1);
    directory
        .write("bomb.yaml", &format!("a0: &a0 [x]\n{}", (0..40).map(doubled).collect::<String>()));
    fs_err::write(directory.path("latin.yaml"), b"machine:\n  token: caf\xe9\n").expect("a file");
    fs_err::write(directory.path("long.yaml"), vec![b'a'; 17 << 20]).expect("a file");
    let mut shown = String::new();
    for patch in [
        "not-yaml.yaml",
        "no-talos.yaml",
        "misspelt.yaml",
        "wrong-type.yaml",
        "deep.yaml",
        "empty.yaml",
        "list.yaml",
        "gone.yaml",
        "bomb.yaml",
        "latin.yaml",
        "long.yaml",
        "missing.yaml",
    ] {
        let _ = writeln!(
            shown,
            "{}",
            directory.ichor(&["patch", "multi.yaml", "-p", patch, "-o", "result.yaml"])
        );
    }
    for config in ["not-yaml.yaml", "twice.yaml", "empty.yaml", "."] {
        let _ = writeln!(shown, "{}", directory.ichor(&["diff", config, "worker.yaml"]));
    }
    assert_snapshot!(shown);
    assert!(!directory.path("result.yaml").exists());
}

#[test]
fn gen_config_help() {
    assert_snapshot!(ichor(&["gen", "config", "--help"]));
}

#[test]
fn gen_schematic_without_the_factory() {
    let directory = Directory::new();
    directory.write(
        "schematic.yaml",
        "customization: {systemExtensions: {officialExtensions: [siderolabs/drbd]}}\n",
    );
    assert_snapshot!(directory.ichor(&["gen", "schematic", "schematic.yaml", "-o", "json"]));
}

#[test]
fn gen_refuses_bad_input_and_writes_nothing() {
    let directory = Directory::new();
    directory.write("secrets.yaml", "cluster: {id: a}\ntrustdinfo: null\n");
    directory.write("misfit.yaml", "machine: {sysctls: {gone: {$patch: delete}}}\n");
    let mut shown = String::new();
    for arguments in [
        &["gen", "config", "c", "10.0.0.10"][..],
        &["gen", "config", "c", "https://"],
        &["gen", "config", "c", "https://h:0"],
        &["gen", "config", "c", "https://h", "--talos-version", "v1.14-alpha"],
        &["gen", "config", "c", "https://h", "--registry-mirror", "foo"],
        &["gen", "config", "c", "https://h", "--with-secrets", "secrets.yaml"],
        &["gen", "config", "c", "https://h", "--output", "-"],
        &["gen", "talosconfig", "c", "--roles", "os:foo"],
        &["gen", "secrets"],
    ] {
        let _ = writeln!(shown, "{}", directory.ichor(arguments));
    }
    let before = directory.list(".");
    let misfit = directory.ichor(&[
        "gen",
        "config",
        "c",
        "https://h",
        "--talos-version",
        "1.6",
        "--config-patch",
        "@misfit.yaml",
    ]);
    assert!(
        misfit.starts_with("exit: 3") && misfit.contains("misfit.yaml: patch delete"),
        "{misfit}"
    );
    assert_eq!(directory.list("."), before);
    assert_snapshot!(shown);
}

#[test]
fn secrets_are_not_taken_from_a_worker() {
    let directory = Directory::new();
    let shown = directory.ichor(&["gen", "secrets", "--from-controlplane-config", "worker.yaml"]);
    assert!(shown.starts_with("exit: 3") && shown.contains("configuration of a worker"), "{shown}");
    assert!(!directory.path("secrets.yaml").exists());
}

#[test]
fn an_authority_with_the_key_of_another_is_refused() {
    let directory = Directory::new();
    directory.ichor(&["gen", "secrets", "--talos-version", "v1.6"]);
    let secrets = directory.read("secrets.yaml");
    let keys: Vec<&str> =
        secrets.lines().filter(|line| line.starts_with("        key: ")).collect();
    directory.write("secrets.yaml", &secrets.replace(keys[0], keys[1]));
    let arguments =
        ["gen", "config", "c", "https://h", "--with-secrets", "secrets.yaml", "-o", "c"];
    assert_snapshot!(directory.ichor(&arguments));
    assert!(!directory.path("c").exists());
}

#[test]
fn a_file_may_have_a_colon_in_its_name() {
    let directory = Directory::new();
    let shown = directory.ichor(&["diff", "worker.yaml", "no:such.yaml"]);
    assert!(shown.contains("input.unreadable") && shown.contains("no:such.yaml"), "{shown}");
}

#[test]
fn diff_of_files() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["diff", "worker.yaml", "multi.yaml"]));
}

#[test]
fn diff_as_json() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["diff", "worker.yaml", "other.yaml", "-o", "json"]));
}

#[test]
fn diff_of_the_same() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["diff", "worker.yaml", "worker.yaml"]));
}

#[test]
fn explain_a_value() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&[
        "explain",
        "machine.network.hostname",
        "worker.yaml",
        "-p",
        "@all.yaml",
        "-p",
        r#"{"machine": {"network": {"hostname": "w-2"}}}"#,
    ]));
}

#[test]
fn explain_a_secret() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["explain", "machine.token", "worker.yaml", "-o", "json"]));
}

#[test]
fn explain_what_is_not_set() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["explain", "ResolverConfig.nameservers", "worker.yaml"]));
}

#[test]
fn explain_what_does_not_exist() {
    let directory = Directory::new();
    assert_snapshot!(directory.ichor(&["explain", "machine.netwrok.hostname", "worker.yaml"]));
}

#[test]
fn validate_help() {
    assert_snapshot!(ichor(&["validate", "--help"]));
}

/// One default in every command, and versions that go together where a release is named.
#[test]
fn releases_of_gen_config_and_init() {
    use talos_config::DEFAULT;
    let directory = Directory::new();
    let installer = |talos: &str| format!("image: ghcr.io/siderolabs/installer:{talos}\n");
    let kubelet = |version: &str| format!("image: ghcr.io/siderolabs/kubelet:{version}\n");
    let factory = "image: factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.14.1\n";
    for (named, image, kubernetes) in [
        (None, installer(DEFAULT.talos), DEFAULT.kubernetes),
        (Some("v1.14.1"), factory.to_owned(), "v1.37.0"),
        (Some("1.12"), installer("v1.12.10"), "v1.35.4"),
        (Some("v1.12.1"), installer("v1.12.1"), "v1.35.4"),
        (Some("v1.3"), installer("v1.5.6"), "v1.28.3"),
    ] {
        let generate = ["gen", "config", "c", "https://h:6443", "-t", "worker", "-o", "w", "-f"];
        let version = named.iter().flat_map(|named| ["--talos-version", named]);
        let said = directory.ichor(&generate.into_iter().chain(version).collect::<Vec<_>>());
        assert!(said.starts_with("exit: 0\n"), "{said}");
        let config = directory.read("w");
        assert!(config.contains(&image) && config.contains(&kubelet(kubernetes)), "{config}");
    }
    let init = ["init", "c", "--endpoint", "https://h:6443", "--control-plane", "a=10.0.0.1"];
    assert!(directory.ichor(&init).starts_with("exit: 0\n"));
    let talos = format!("talos: {}\nkubernetes: {}\n", DEFAULT.talos, DEFAULT.kubernetes);
    assert!(directory.read("ichor.yaml").contains(&talos));
}

#[test]
fn valid_configuration() {
    let directory = Directory::new();
    let generate = ["gen", "config", "c", "https://h:6443", "-o", "c", "--with-docs=false"];
    assert!(directory.ichor(&generate).starts_with("exit: 0\n"));
    assert_snapshot!(directory.ichor(&["validate", "c/controlplane.yaml", "-c", "c/worker.yaml"]));
}

#[test]
fn configuration_that_cannot_work() {
    let directory = Directory::new();
    directory.write(
        "several.yaml",
        "machine:\n  type: join\n  ca: {crt: aHVudGVyMg==, key: ''}\n  network:\n    nameservers: [a]\n\
         cluster: {}\n---\napiVersion: v1alpha1\nkind: DiscoveryIdentityConfig\nclusterID: a\n\
         clusterSecret: hunter2\n---\napiVersion: v1alpha1\nkind: BondConfig\nname: bond0\n",
    );
    directory.write("broken.yaml", "machine: {tpye: worker}\n");
    let mut shown = String::new();
    for arguments in [
        &["validate", "worker.yaml"][..],
        &["validate", "several.yaml", "--mode", "container", "--strict"],
        &["validate", "several.yaml", "-o", "json"],
        &["validate", "broken.yaml"],
        &["validate", "broken.yaml", "worker.yaml"],
        &["validate", "missing.yaml"],
        &["validate", "-", "-"],
        &["validate", "worker.yaml", "--mode", "moon"],
    ] {
        let _ = writeln!(shown, "{}", directory.ichor(arguments));
    }
    assert_snapshot!(shown);
}

/// A directory of its own with a few files, in which the program runs.
struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        let directory = Self(tempfile::tempdir().expect("a directory"));
        directory.write(
            "worker.yaml",
            "machine:\n  type: worker\n  token: hunter2\n  certSANs: [a, b]\n",
        );
        directory
            .write("other.yaml", "machine:\n  type: worker\n  token: other\n  certSANs: [b, c]\n");
        directory.write("all.yaml", "machine:\n  network:\n    hostname: w-1\n");
        directory.write(
            "multi.yaml",
            "machine:\n  type: worker\n  token: hunter2\n---\napiVersion: v1alpha1\nkind: LinkConfig\n\
             name: eth0\naddresses: [{address: 10.0.0.1/24}]\n---\napiVersion: v1alpha1\n\
             kind: RegistryAuthConfig\nname: docker.io\nusername: me\npassword: hunter3\n",
        );
        directory
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs_err::write(path, text).expect("a file");
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.path(path)).expect("a file")
    }

    fn list(&self, path: &str) -> Vec<String> {
        let entries = fs_err::read_dir(self.path(path)).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command.args(arguments).current_dir(self.0.path());
        command
    }

    /// Runs the program; nothing that it says may hold one of the secrets.
    fn ichor(&self, arguments: &[&str]) -> String {
        let output = self.program(arguments).output().expect("ichor");
        let text = show(&output);
        if arguments[0] != "patch" {
            assert!(!text.contains("hunter"), "{text}");
        }
        assert!(!String::from_utf8_lossy(&output.stderr).contains("hunter"), "{text}");
        text
    }
}

fn ichor(arguments: &[&str]) -> String {
    show(&program().args(arguments).output().expect("ichor"))
}

/// The program without what the tester's own environment might change.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ichor"));
    command.env_clear().stdin(Stdio::null());
    command
}

/// What was written and how it ended, with that replaced which changes from build to build.
fn show(output: &Output) -> String {
    let mut text = format!("exit: {}\n", output.status.code().expect("no signal"));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let _ = write!(text, "---- {name}\n{}", String::from_utf8_lossy(bytes));
    }
    let revision = env!("ICHOR_REVISION");
    text.replace(env!("CARGO_PKG_VERSION"), "[version]")
        // YAML quotes a revision only when it happens to look like a number.
        .replace(&format!("revision: \"{revision}\""), "revision: [revision]")
        .replace(revision, "[revision]")
}
