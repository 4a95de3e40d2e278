//! A directory that another person wrote: opening it runs nothing that its files name, one that was only found above the
//! working directory is not used, and none stands in for a home directory that is not known.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

#[test]
fn no_command_runs_what_an_env_file_names() {
    let home = Home::new();
    let made = "gen talosconfig home --with-secrets talsecret.yaml -o clusterconfig/talosconfig";
    assert!(home.ichor("talos", made, &[]).starts_with("exit: 0\n"));
    // All of them open the encrypted file, or the rest would prove nothing.
    for command in COMMANDS {
        let said = home.ichor("talos", command, &[("SOPS_AGE_KEY_CMD", &home.planted())]);
        assert!(home.canary().exists(), "`{command}` opens nothing\n{said}");
        fs_err::remove_file(home.canary()).expect("a file");
    }
    home.write("talos/talenv.yaml", &format!("SOPS_AGE_KEY_CMD: {}\n{RELEASES}", home.planted()));
    let upward = "talhelper genconfig --offline-mode -c ../../talconfig.yaml \
                  -e ../../talenv.yaml,../../talenv.sops.yaml";
    for command in COMMANDS.iter().chain([&upward]) {
        for folder in ["talos", "talos/apps/web"] {
            let said = home.ichor(folder, command, &[]);
            assert!(!home.canary().exists(), "`{command}` in {folder} ran it\n{said}");
            assert!(said.starts_with("exit: "), "{said}");
        }
    }
    // Without a key that opens the file it is refused, and the reason is told.
    let said = home.ichor("talos", "validate", &[]);
    assert!(
        said.starts_with("exit: 3\n") && said.contains("SOPS_AGE_KEY_CMD is ignored"),
        "{said}"
    );
}

#[test]
fn no_command_reads_a_key_file_that_an_env_file_names() {
    let home = Home::new();
    let key = format!("SOPS_AGE_KEY_FILE: {}\n{RELEASES}", shared("age.key"));
    home.write("talos/talenv.yaml", &key);
    let said = home.ichor("talos", "validate", &[]);
    assert!(said.starts_with("exit: 3\n") && said.contains("SOPS_AGE_KEY_FILE: not set"), "{said}");
    // Nor by a detour over the place of the default file.
    let key = fs_err::read_to_string(shared("age.key")).expect("a key");
    home.write("talos/keys/sops/age/keys.txt", &key);
    home.write("talos/keys/.config/sops/age/keys.txt", &key);
    for name in ["XDG_CONFIG_HOME", "HOME"] {
        let place = home.root.path().join("talos/keys").display().to_string();
        home.write("talos/talenv.yaml", &format!("{name}: {place}\n{RELEASES}"));
        let said = home.ichor("talos", "validate", &[]);
        assert!(said.starts_with("exit: 3\n"), "{name}\n{said}");
    }
}

#[test]
fn the_command_of_the_process_environment_is_run() {
    let home = Home::new();
    let command = format!("/bin/cat {}", shared("age.key"));
    let said = home.ichor("talos", "validate", &[("SOPS_AGE_KEY_CMD", &command)]);
    assert!(said.starts_with("exit: 0\n"), "{said}");
    // Also where a file names another one, which is not run.
    home.write("talos/talenv.yaml", &format!("SOPS_AGE_KEY_CMD: {}\n{RELEASES}", home.planted()));
    for command_line in ["validate", "talhelper genconfig --offline-mode"] {
        let said = home.ichor("talos", command_line, &[("SOPS_AGE_KEY_CMD", &command)]);
        assert!(said.starts_with("exit: 0\n"), "{command_line}\n{said}");
        assert!(!home.canary().exists(), "{said}");
    }
}

#[test]
fn a_key_in_an_env_file_opens_the_others() {
    let home = Home::new();
    let key = fs_err::read_to_string(shared("age.key")).expect("a key");
    let key = key.lines().last().expect("a key");
    home.write("talos/talenv.yaml", &format!("SOPS_AGE_KEY: {key}\n{RELEASES}"));
    let said = home.ichor("talos", "validate", &[]);
    assert!(said.starts_with("exit: 0\n"), "{said}");
}

#[test]
fn a_key_in_the_wrong_variable_is_not_told() {
    let home = Home::new();
    let key = fs_err::read_to_string(shared("age2.key")).expect("a key");
    let key = key.lines().last().expect("a key");
    let said = home.ichor("talos", "validate", &[("SOPS_AGE_KEY_FILE", key)]);
    assert!(said.starts_with("exit: 3\n") && !said.contains("AGE-SECRET-KEY"), "{said}");
}

#[test]
fn values_of_encrypted_files_are_in_no_explanation_warning_or_error() {
    let home = Home::new();
    let key = [("SOPS_AGE_KEY_FILE", shared("age.key"))];
    let key: Vec<(&str, &str)> = key.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for (from, to, command) in [
        ("installDisk: /dev/sda", "installDisk: /dev/${S}", "explain machine.install -n cp-1"),
        ("installDisk: /dev/sda", "installDisk: /dev/${S}", "explain machine -n cp-1 -o json"),
        ("talosVersion: v1.13.0", "talosVersion: ${S}", "validate"),
        ("talosVersion: v1.13.0", "talosVersion: ${S}", "plan"),
        ("installDisk:", "wipe: ${S}\n    installDisk:", "plan"),
        ("installDisk:", "${S}: 1\n    installDisk:", "validate"),
        ("installDisk:", "${S}: 1\n    installDisk:", "lint"),
        ("installDisk:", "patches: ['${S}']\n    installDisk:", "plan"),
        ("installDisk:", "nameservers: ['${S}']\n    installDisk:", "validate"),
        ("installDisk:", "patches: ['machine: {type: ${S}}']\n    installDisk:", "validate"),
    ] {
        home.write("talos/talconfig.yaml", &TALCONFIG.replacen(from, to, 1));
        let said = home.ichor("talos", command, &key);
        assert!(!said.contains("canary"), "{to}: {command}\n{said}");
        assert!(said.contains("******") || !command.starts_with("explain"), "{command}\n{said}");
    }
}

#[test]
fn values_of_an_encrypted_native_patch_are_explained_hidden() {
    let home = Home::new();
    home.write(
        "native/ichor.yaml",
        "ichor: v1\ncluster: home\ntalos: v1.13.0\nkubernetes: v1.34.1\nendpoint: https://127.91.0.11:6443\n\
         patches: [patches/s.sops.yaml]\ncontrolPlane:\n  machines:\n    - {name: cp-1, address: 127.91.0.11}\n",
    );
    let secrets = fs_err::read_to_string(shared("talsecret.yaml")).expect("secrets");
    home.write("native/secrets.yaml", &secrets);
    let patch = "machine:\n  sysctls:\n    a: canary-native\n    b: '1'\n";
    home.write("native/patches/s.sops.yaml", &sealed(patch));
    let key = shared("age.key");
    for output in ["", " -o json", " -o yaml"] {
        let explain = format!("explain machine.sysctls -n cp-1{output}");
        let said = home.ichor("native", &explain, &[("SOPS_AGE_KEY_FILE", &key)]);
        assert!(said.contains("{a: ******, b: ******}"), "{said}");
        assert!(said.contains("patches/s.sops.yaml:"), "{said}");
    }
}

#[test]
fn directories_of_others_are_refused_when_they_were_only_found_upward() {
    let home = Home::new();
    if home.root.path().metadata().expect("a directory").uid() != 0 {
        skip("only root can give files to another user");
        return;
    }
    let key = shared("age.key");
    let key = [("SOPS_AGE_KEY_FILE", key.as_str())];
    home.write(
        "talos/clusterconfig/talosconfig",
        "context: planted\ncontexts:\n  planted:\n    endpoints: [127.91.0.66]\n",
    );
    let refused = |said: &str| said.starts_with("exit: 3\n") && said.contains("directory.owner");
    let (folder, below) = ("talos", "talos/apps/web");
    let contexts =
        |home: &Home, folder: &str| home.ichor(folder, "config contexts", &key).contains("planted");
    assert!(home.ichor(below, "validate", &key).starts_with("exit: 0\n"));
    assert!(contexts(&home, below));

    // The file alone, in a directory in which everybody may write.
    fs_err::set_permissions(home.root.path().join(folder), PermissionsExt::from_mode(0o1777))
        .expect("a mode");
    home.give("talos/talconfig.yaml", NOBODY);
    for command in [
        "validate",
        "lint",
        "plan",
        "status",
        "explain machine.type -n cp-1",
        "disks --insecure -n cp-1",
    ] {
        let said = home.ichor(below, command, &key);
        assert!(refused(&said), "{command}\n{said}");
        assert!(said.contains("talos/talconfig.yaml belongs to user 65534"), "{said}");
    }
    assert!(!contexts(&home, below));
    // What does not need a cluster's directory goes on without it.
    assert!(home.ichor(below, "version --client", &key).starts_with("exit: 0\n"));

    // Naming it, or being in it, is saying that it is meant.
    let named = format!("validate -C {}", home.root.path().join(folder).display());
    assert!(home.ichor(below, &named, &key).starts_with("exit: 0\n"));
    assert!(home.ichor(folder, "validate", &key).starts_with("exit: 0\n"));
    assert!(contexts(&home, folder));

    // The directory, or a link that another user made to a file of root.
    home.give("talos/talconfig.yaml", 0);
    home.give("talos", NOBODY);
    assert!(refused(&home.ichor(below, "validate", &key)));
    home.give("talos", 0);
    let path = home.root.path().join("talos/talconfig.yaml");
    fs_err::rename(&path, home.root.path().join("talos/elsewhere.yaml")).expect("a file");
    fs_err::os::unix::fs::symlink("elsewhere.yaml", &path).expect("a link");
    assert!(home.ichor(below, "validate", &key).starts_with("exit: 0\n"));
    std::os::unix::fs::lchown(&path, Some(NOBODY), None).expect("an owner");
    assert!(refused(&home.ichor(below, "validate", &key)));

    // The credentials alone.
    std::os::unix::fs::lchown(&path, Some(0), None).expect("an owner");
    assert!(contexts(&home, below));
    home.give("talos/clusterconfig/talosconfig", NOBODY);
    assert!(!contexts(&home, below));
}

#[test]
fn audit_log_is_not_kept_in_the_working_directory_when_there_is_no_home() {
    let home = Home::new();
    let made = "gen talosconfig home --with-secrets talsecret.yaml -o clusterconfig/talosconfig";
    assert!(home.ichor("talos", made, &[]).starts_with("exit: 0\n"));
    let talosconfig = home.path("talos/clusterconfig/talosconfig");
    let named = ("TALOSCONFIG", talosconfig.as_str());
    let reset = "node reset -n 127.91.0.11 -e 127.91.0.11 --yes --wait=false --deadline 2s";
    for variables in [&[named][..], &[named, ("HOME", "")]] {
        let said = home.ichor_without_home("bare", reset, variables);
        let message = "error[home.unset]: HOME is not set, and the audit log is kept below it";
        assert!(said.starts_with("exit: 3\n") && said.contains(message), "{said}");
        assert!(said.contains("hint: set HOME, or XDG_STATE_HOME"), "{said}");
        assert_eq!(home.names_in("bare"), [""; 0]);
    }
    // With a place for the log it is begun, and the machine is not there.
    let state = home.path("state");
    let variables = [named, ("XDG_STATE_HOME", state.as_str())];
    let said = home.ichor_without_home("bare", reset, &variables);
    assert!(said.contains("error[machine.") && !said.contains("home.unset"), "{said}");
    assert_eq!(home.names_in("bare"), [""; 0]);
    let log = fs_err::read_to_string(home.path("state/ichor/audit.jsonl")).expect("a log");
    assert!(log.contains("\"action\":\"reset\""), "{log}");
}

#[test]
fn talosconfig_and_kubeconfig_are_not_taken_from_the_working_directory_when_there_is_no_home() {
    let home = Home::new();
    let planted = "context: planted\ncontexts:\n  planted:\n    endpoints: [127.91.0.66]\n";
    home.write("foreign/.talos/config", planted);
    let unset = |said: &str, what: &str| {
        let message =
            format!("error[home.unset]: HOME is not set, and the {what} is kept below it");
        said.starts_with("exit: 3\n")
            && said.contains(&message)
            && said.contains("\nhint: set HOME")
    };
    for command in ["config contexts", "config context planted", "services -n 127.91.0.66"] {
        let said = home.ichor_without_home("foreign", command, &[]);
        assert!(unset(&said, "talosconfig"), "{command}: {said}");
        assert!(said.contains("--talosconfig or TALOSCONFIG"), "{said}");
    }
    // Naming it is saying that it is meant.
    let flag = "config contexts --talosconfig .talos/config";
    let variable = [("TALOSCONFIG", ".talos/config")];
    for said in [
        home.ichor_without_home("foreign", flag, &[]),
        home.ichor_without_home("foreign", "config contexts", &variable),
    ] {
        assert!(said.starts_with("exit: 0\n") && said.contains("planted"), "{said}");
    }
    // Nor is one written there, or where a pod has its own.
    let said = home.ichor_without_home("bare", "config add mine", &[]);
    assert!(unset(&said, "talosconfig"), "{said}");
    let said = home.ichor_without_home("bare", "kubeconfig -n 127.91.0.66", &[]);
    assert!(unset(&said, "kubeconfig"), "{said}");
    assert_eq!(home.names_in("bare"), [""; 0]);
    let added = home.ichor_without_home("bare", "config add mine --talosconfig mine.yaml", &[]);
    assert!(added.starts_with("exit: 0\n"), "{added}");
    assert_eq!(home.names_in("bare"), ["mine.yaml"]);
}

#[test]
fn releases_are_not_learned_from_the_working_directory_when_there_is_no_home() {
    let home = Home::new();
    let planted = "{\"releases\": {\"v1.99.0\": {\"extensions\": [\"siderolabs/planted\"], \"overlays\": []}}}";
    home.write("foreign/.cache/ichor/talos-releases.json", planted);
    let said = home.ichor_without_home("foreign", "extensions v1.99.0", &[]);
    assert!(said.starts_with("exit: 3\n") && !said.contains("planted"), "{said}");
    let cache = home.path("foreign/.cache");
    let named = [("XDG_CACHE_HOME", cache.as_str())];
    let said = home.ichor_without_home("foreign", "extensions v1.99.0", &named);
    assert_eq!(said, "exit: 0\nsiderolabs/planted\n");
    // What cannot be kept is not asked for.
    let said = home.ichor_without_home("bare", "extensions v1.99.0 --refresh", &[]);
    assert!(said.starts_with("exit: 3\n") && said.contains("error[home.unset]"), "{said}");
    assert_eq!(home.names_in("bare"), [""; 0]);
}

#[test]
fn commands_that_need_nothing_of_a_home_run_without_one() {
    let home = Home::new();
    let key = shared("age.key");
    let key = [("SOPS_AGE_KEY_FILE", key.as_str())];
    for (command, status) in
        [("validate", 0), ("explain machine.type -n cp-1", 0), ("history", 0), ("plan", 5)]
    {
        let said = home.ichor_without_home("talos", command, &key);
        assert!(said.starts_with(&format!("exit: {status}\n")), "{command}: {said}");
        assert!(!said.contains("home.unset"), "{command}: {said}");
    }
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// A talconfig with an encrypted env file.
struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { root: tempfile::tempdir().expect("a directory") };
        home.write("talos/talconfig.yaml", TALCONFIG);
        home.write("talos/talenv.yaml", RELEASES);
        home.write("talos/talenv.sops.yaml", &sealed("S: canary-of-env-file\n"));
        let secrets = fs_err::read_to_string(shared("talsecret.yaml")).expect("secrets");
        home.write("talos/talsecret.yaml", &secrets);
        for folder in ["talos/apps/web", "bare"] {
            fs_err::create_dir_all(home.path(folder)).expect("a directory");
        }
        home
    }

    fn path(&self, path: &str) -> String {
        self.root.path().join(path).display().to_string()
    }

    /// The names of everything in a folder.
    fn names_in(&self, folder: &str) -> Vec<String> {
        fs_err::read_dir(self.path(folder))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs_err::write(path, text).expect("a file");
    }

    /// Gives a file to another user.
    fn give(&self, path: &str, user: u32) {
        let path = self.root.path().join(path);
        std::os::unix::fs::chown(path, Some(user), None).expect("an owner");
    }

    /// The file that is there when a planted command was run.
    fn canary(&self) -> PathBuf {
        self.root.path().join("canary")
    }

    /// A command that leaves a trace.
    fn planted(&self) -> String {
        format!("/bin/sh -c \"touch {}\"", self.canary().display())
    }

    /// What a command says in a folder, and how it ends.
    fn ichor(&self, folder: &str, command: &str, variables: &[(&str, &str)]) -> String {
        let nobody = self.path("nobody");
        let with_home = [&[("HOME", nobody.as_str())][..], variables].concat();
        self.ichor_without_home(folder, command, &with_home)
    }

    /// Runs a command with these variables and no other, also without `HOME`.
    fn ichor_without_home(
        &self,
        folder: &str,
        command: &str,
        variables: &[(&str, &str)],
    ) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_ichor"))
            .args(command.split(' '))
            .current_dir(self.root.path().join(folder))
            .env_clear()
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("ichor");
        let code = output.status.code().expect("no signal");
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        format!("exit: {code}\n{stdout}{stderr}")
    }
}

fn shared(name: &str) -> String {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/talhelper/throw-away-secrets");
    shared.join(name).display().to_string()
}

/// A text that was encrypted for the first of the keys.
fn sealed(text: &str) -> String {
    let key = fs_err::read_to_string(shared("age.key")).expect("a key");
    let recipient = key.lines().find_map(|line| line.strip_prefix("# public key: "));
    let recipients = sops::Recipient::parse_list(recipient.expect("a recipient"));
    let rule = sops::Rule::for_recipients(recipients.expect("recipients")).expect("a rule");
    let timestamp = sops::Timestamp::from_unix(1_760_000_000);
    let random = &mut |bytes: &mut [u8]| bytes.fill(7);
    sops::encrypt(text, sops::Format::Yaml, &rule, &timestamp, random).expect("encrypted")
}

/// Every command that opens a directory.
const COMMANDS: &[&str] = &[
    "lint",
    "validate",
    "plan",
    "status",
    "diff",
    "health",
    "history",
    "explain machine.type -n cp-1",
    "apply --yes",
    "resume --yes",
    "destroy --yes --reason over",
    "cancel",
    "import -o native",
    "talhelper genconfig --offline-mode",
    "talhelper gencommand apply",
    "talhelper validate talconfig",
    "talhelper genurl installer --offline-mode",
    "services -n cp-1 --deadline 2s",
    "version -n cp-1 --deadline 2s",
    "disks --insecure -n cp-1 --deadline 2s",
    "etcd members -n cp-1 --deadline 2s",
    "node upgrade --dry-run -n cp-1 --deadline 2s",
];

const TALCONFIG: &str = "\
clusterName: home
endpoint: https://127.91.0.11:6443
talosVersion: v1.13.0
kubernetesVersion: v1.34.1
nodes:
  - hostname: cp-1
    ipAddress: 127.91.0.11
    controlPlane: true
    installDisk: /dev/sda
    nodeAnnotations:
      a: ${S}
";

const RELEASES: &str = "OTHER: nothing\n";
/// The user whom files are given to.
const NOBODY: u32 = 65534;
