//! A talconfig directory as a cluster directory: what commands say about it, and that they leave it as it is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use tempfile::TempDir;

#[test]
fn values_are_explained_by_files_lines_and_keys() {
    let home = Home::new();
    let mut said = String::new();
    for path in [
        // A patch for all machines counts more than one of a machine.
        "machine.sysctls.a",
        "machine.install.disk",
        "HostnameConfig.hostname",
        "ResolverConfig.nameservers",
        "cluster.network.podSubnets",
        "cluster.network.cni.name",
        "machine.kubelet.image",
        "cluster.secret",
        "machine.netwrok",
    ] {
        said.push_str(&home.ichor(&["explain", path, "-n", "cp-1"]));
    }
    said.push_str(&home.ichor(&[
        "explain",
        "machine.sysctls.a",
        "-n",
        "127.91.0.21",
        "-o",
        "json",
    ]));
    said.push_str(&home.ichor(&["explain", "machine.type"]));
    said.push_str(&home.ichor(&["explain", "machine.type", "-n", "cp-9"]));
    assert_snapshot!(said);
    assert_eq!(home.files(), home.before);
}

#[test]
fn the_whole_directory_is_validated() {
    let home = Home::new();
    let mut said = home.ichor(&["validate"]);
    said.push_str(&home.ichor(&["validate", "-o", "json", "-C", "talos"]));
    home.write("talos/patches/all.yaml", "machine:\n  network:\n    nameservers: [nowhere]\n");
    said.push_str(&home.ichor(&["validate"]));
    assert_snapshot!(said);
}

#[test]
fn nobody_can_be_reached() {
    let home = Home::new();
    let mut said = home.ichor(&["plan"]);
    said.push_str(&home.ichor(&["status", "-C", "talos"]));
    said.push_str(&home.ichor(&["history"]));
    assert_snapshot!(said);
    assert_eq!(home.files(), home.before);
}

#[test]
fn what_is_imported_gives_the_same_configuration() {
    let home = Home::new();
    let said = home.ichor(&["import", "-o", "native"]);
    assert!(said.contains("exit: 0"), "{said}");
    for machine in ["cp-1", "w-1"] {
        for path in ["machine.sysctls.a", "machine.install.disk", "HostnameConfig.hostname"] {
            let value = |place: &[&str]| {
                let arguments = [&["explain", path, "-n", machine, "-o", "json"], place].concat();
                let said = home.ichor(&arguments);
                said.lines().find(|line| line.contains("\"value\"")).expect("a value").to_owned()
            };
            assert_eq!(value(&[]), value(&["-C", "native"]), "{path}");
        }
    }
    let valid = home.ichor(&["validate", "-C", "native"]);
    assert!(valid.contains("exit: 0"), "{valid}");
    // What is there is not overwritten.
    let again = home.ichor(&["import", "-o", "native"]);
    assert!(again.contains("output.exists"), "{again}");
}

#[test]
fn releases_are_those_of_the_env_file_where_the_talconfig_names_none() {
    let home = Home::new();
    let image = |home: &Home| home.ichor(&["explain", "machine.kubelet.image", "-n", "cp-1"]);
    assert!(image(&home).contains("kubelet:v1.34.1\n"));
    // talhelper itself does not look there.
    let theirs = home.ichor(&["talhelper", "validate", "talconfig", "talos/talconfig.yaml"]);
    assert!(theirs.contains("kubernetesVersion"), "{theirs}");
    home.write("talos/talconfig.yaml", &format!("{TALCONFIG}kubernetesVersion: v1.35.2\n"));
    assert!(image(&home).contains("kubelet:v1.35.2\n"));
}

#[test]
fn bad_input_is_told_with_file_line_and_key_and_nothing_is_written() {
    let mut said = String::new();
    let change = |from: &str, to: &str| {
        assert!(TALCONFIG.contains(from), "{from}");
        ("talos/talconfig.yaml", TALCONFIG.replacen(from, to, 1))
    };
    let wrong = [
        ("no YAML", change("nodes:", "nodes: ]")),
        ("a variable that is not set", change("hostname: cp-1", "hostname: ${NOBODY}")),
        ("a value of another type", change("controlPlane: true", "controlPlane: perhaps")),
        ("a key twice", change("controlPlane: true", "controlPlane: true\n    hostname: b")),
        ("what cannot be meant", change("installDisk: /dev/sda", "installDisk: ''")),
        ("no control plane", change("controlPlane: true", "controlPlane: false")),
        ("an address twice", change("127.91.0.21", "127.91.0.11")),
        ("networks that overlap", change("10.42.0.0/16", "10.96.0.0/16")),
        (
            "a release that is not managed",
            change("clusterName", "talosVersion: v1.4.8\nclusterName"),
        ),
        ("no patch", change("@./patches/all.yaml", "@./patches/none.yaml")),
        ("a template", change("- |-\n", "- |-\n        # why\n        {{ .Nothing }}\n")),
        (
            "a template of a patch",
            ("talos/patches/all.yaml", "machine:\n  type: {{ nothing }}\n".to_owned()),
        ),
        (
            "a template of a label",
            change("installDisk:", "nodeLabels:\n      a: '{{ .Nothing }}'\n    installDisk:"),
        ),
        (
            "a template of an image",
            change("nodes:", "imageFactory:\n  installerURLTmpl: '{{ .Nothing }}'\nnodes:"),
        ),
        ("no manifest", change("installDisk:", "extraManifests: [none.yaml]\n    installDisk:")),
        (
            "no file",
            change(
                "installDisk:",
                "machineFiles:\n      - {op: create, path: /a, permissions: 0o644, content: '@none'}\n    \
                 installDisk:",
            ),
        ),
        (
            "a variable of a file",
            change(
                "installDisk:",
                "machineFiles:\n      - {op: create, path: /a, permissions: 0o644, content: \
                 '@../.sops.yaml'}\n    installDisk:",
            ),
        ),
        (
            "a patch that is none",
            ("talos/patches/all.yaml", "# all\nmachine:\n\n  # b\n  sysctl: {}\n".to_owned()),
        ),
        (
            "a variable of a patch",
            ("talos/patches/all.yaml", "machine:\n  type: ${NOBODY}\n".to_owned()),
        ),
        (
            "what Talos would refuse",
            (
                "talos/patches/all.yaml",
                "cluster:\n  controlPlane:\n    $$patch: delete\n".to_owned(),
            ),
        ),
        ("no env file", ("talos/talenv.yaml", "- a\n- b\n".to_owned())),
        (
            "an env file that sets nothing",
            ("talos/talenv.yaml", "kubernetesVersion v1.34.1: 'x'\n\"N\": 1\n".to_owned()),
        ),
        ("two descriptions", ("talos/ichor.yaml", "ichor: v1\n".to_owned())),
        ("secrets that are none", ("talos/talsecret.yaml", "cluster: {id: hunter2}\n".to_owned())),
    ];
    for (what, (path, text)) in wrong {
        let home = Home::new();
        home.write(".sops.yaml", "# nothing\na: ${NOBODY}\n");
        home.write(path, &text);
        let before = home.files();
        let output = home.ichor(&["plan", "-C", "talos"]);
        let _ = writeln!(said, "# {what}\n{output}");
        assert!(output.starts_with("exit: 3\n"), "{what}: {output}");
        assert!(!output.contains("hunter2"), "{output}");
        assert_eq!(home.files(), before, "{what}");
    }
    let home = Home::new();
    fs_err::remove_file(home.root.path().join("talos/talsecret.yaml")).expect("a file");
    let _ = writeln!(said, "# no secrets\n{}", home.ichor(&["plan"]));
    fs_err::remove_file(home.root.path().join("talos/talconfig.yaml")).expect("a file");
    let _ = writeln!(said, "# no talconfig\n{}", home.ichor(&["plan", "-C", "."]));
    assert_snapshot!(said);
}

#[test]
fn an_encrypted_file_is_opened_with_the_right_key_only() {
    let (patch, variables) =
        ("machine:\n  sysctls:\n    a: hunter2\n", "WHO: hunter2\nkubernetesVersion: v1.34.1\n");
    let file = "machineFiles:\n      - {op: create, path: /a, permissions: 0o644, content: '@file.yaml'}\n    \
                installDisk:";
    let mut said = String::new();
    for (path, text) in
        [("patches/all.yaml", patch), ("talenv.sops.yaml", variables), ("file.yaml", patch)]
    {
        let mut home = Home::new();
        if path == "file.yaml" {
            home.write("talos/talconfig.yaml", &TALCONFIG.replacen("installDisk:", file, 1));
        }
        let sealed = sealed(text);
        home.write(&format!("talos/{path}"), &sealed);
        let (before, mac) = sealed.split_once("mac: ENC[AES256_GCM,data:").expect("a MAC");
        let broken = format!("{before}mac: ENC[AES256_GCM,data:AAAA{}", &mac[4..]);
        let look = |home: &Home, said: &mut String, what: &str| {
            let before = home.files();
            let output = home.ichor(&["validate"]);
            let is_right = what == "the right key";
            assert_eq!(output.starts_with("exit: 0\n"), is_right, "{path}: {what}: {output}");
            assert!(!output.contains("hunter2"), "{output}");
            assert_eq!(home.files(), before, "{path}: {what}");
            let _ = write!(said, "# {path}: {what}\n{output}");
        };
        look(&home, &mut said, "no key");
        home.variables.insert("SOPS_AGE_KEY_FILE", shared("age2.key"));
        look(&home, &mut said, "another key");
        home.variables.insert("SOPS_AGE_KEY_FILE", shared("age.key"));
        look(&home, &mut said, "the right key");
        home.write(&format!("talos/{path}"), &broken);
        look(&home, &mut said, "a broken MAC");
    }
    assert_snapshot!(said);
}

#[test]
fn what_was_encrypted_is_imported_encrypted() {
    let mut home = Home::new();
    home.variables.insert("SOPS_AGE_KEY_FILE", shared("age.key"));
    home.write("talos/patches/all.yaml", &sealed("machine:\n  sysctls:\n    a: hunter2\n"));
    // Nobody says for whom: nothing is written in clear instead.
    let refused = home.ichor(&["import", "-o", "native"]);
    assert!(refused.starts_with("exit: 3\n") && refused.contains("sops."), "{refused}");
    assert!(!home.root.path().join("native").exists());
    home.write(".sops.yaml", &format!("creation_rules:\n  - age: {}\n", recipient()));
    let imported = home.ichor(&["import", "-o", "native"]);
    assert!(imported.starts_with("exit: 0\n"), "{imported}");
    for (path, bytes) in home.files() {
        // Machine configuration is not secret as a whole; what came from an encrypted file is.
        let is_ours = path.contains("/native/");
        assert!(!is_ours || !String::from_utf8_lossy(&bytes).contains("hunter2"), "{path}");
    }
    let value = |place: &[&str]| {
        let explain = ["explain", "machine.sysctls.a", "-n", "w-1", "-o", "json"];
        let said = home.ichor(&[&explain[..], place].concat());
        said.lines().find(|line| line.contains("\"value\"")).expect("a value").to_owned()
    };
    // It is there, and hidden on both sides.
    assert_eq!(value(&[]), "  \"value\": \"******\",");
    assert_eq!(value(&["-C", "native"]), value(&[]));
}

#[test]
fn import_encrypts_secrets_that_were_encrypted_whatever_their_name() {
    let mut home = Home::new();
    home.variables.insert("SOPS_AGE_KEY_FILE", shared("age.key"));
    home.write(".sops.yaml", &format!("creation_rules:\n  - age: {}\n", recipient()));
    let secrets = fs_err::read_to_string(shared("talsecret.yaml")).expect("secrets");
    home.write("talos/talsecret.yaml", &sealed(&secrets));
    let imported = home.ichor(&["import", "-o", "native"]);
    assert!(imported.starts_with("exit: 0\n"), "{imported}");
    assert!(home.root.path().join("native/secrets.sops.yaml").exists());
    assert!(!home.root.path().join("native/secrets.yaml").exists());
}

#[test]
fn import_names_no_disk_where_a_selector_chooses_it() {
    let home = Home::new();
    let imported = home.ichor(&["import", "-o", "native"]);
    assert!(imported.starts_with("exit: 0\n"), "{imported}");
    let spec = fs_err::read_to_string(home.root.path().join("native/ichor.yaml")).expect("a spec");
    let (control_plane, worker) = spec.split_once("w-1").expect("both machines");
    assert!(control_plane.contains("disk: /dev/sda"), "{spec}");
    assert!(!worker.contains("disk:"), "{spec}");
    let validated = home.ichor(&["validate", "-C", "native"]);
    assert!(validated.starts_with("exit: 0\n"), "{validated}");
}

#[test]
fn key_at_the_root_of_the_repository_opens_files() {
    let home = Home::new();
    home.write("talos/patches/all.yaml", &sealed("machine:\n  sysctls:\n    a: hunter2\n"));
    let explain = ["explain", "machine.sysctls.a", "-n", "cp-1"];
    assert!(home.ichor(&explain).starts_with("exit: 3\n"));
    home.write("age.key", &fs_err::read_to_string(shared("age.key")).expect("a key"));
    for arguments in [&explain[..], &[&explain[..], &["-C", "talos"]].concat()] {
        let said = home.ichor(arguments);
        assert!(said.starts_with("exit: 0\n"), "{said}");
    }
    let linted = home.ichor(&["lint"]);
    assert!(linted.starts_with("exit: 0\n"), "{linted}");
}

#[test]
fn machine_is_known_by_each_of_its_addresses() {
    let home = Home::new();
    let explain = |machine: &str| home.ichor(&["explain", "machine.type", "-n", machine]);
    let by_name = explain("cp-1");
    assert!(by_name.starts_with("exit: 0\n"), "{by_name}");
    for machine in ["10.0.0.11", "127.91.0.11", "CP-1.example.org"] {
        assert_eq!(explain(machine), by_name, "{machine}");
    }
    let differs = home.ichor(&["diff", "-n", "10.0.0.11"]);
    assert!(differs.starts_with("exit: 5\n"), "{differs}");
    let unknown = home.ichor(&["diff", "-n", "10.0.0.12"]);
    assert!(unknown.starts_with("exit: 3\n"), "{unknown}");
}

#[test]
fn warnings_are_printed_by_every_command() {
    let home = Home::new();
    let misspelt = TALCONFIG.replacen("installDisk:", "instalDisk: /dev/sdb\n    installDisk:", 1);
    home.write("talos/talconfig.yaml", &misspelt);
    for command in [
        &["validate"][..],
        &["plan"],
        &["status"],
        &["history"],
        &["diff"],
        &["explain", "machine.type", "-n", "cp-1"],
        &["import", "-o", "native"],
    ] {
        let said = home.ichor(command);
        assert!(
            said.contains("warning[lint.unknown-key]: unknown key \"instalDisk\""),
            "{command:?}: {said}"
        );
    }
}

#[test]
fn text_that_a_variable_breaks_has_the_line_of_its_key() {
    let mut home = Home::new();
    home.variables.insert("BROKEN", "a: b\n   ]".to_owned());
    home.variables.insert("SEVERAL", "x\n\n\n".to_owned());
    let broken = TALCONFIG.replacen("Home_Lab", "Home_Lab # of ${SEVERAL}", 1).replacen(
        "127.91.0.21",
        "${BROKEN}",
        1,
    );
    home.write("talos/talconfig.yaml", &broken);
    let said = home.ichor(&["validate"]);
    assert!(
        said.contains("ROOT/talos/talconfig.yaml:17:16: error[talconfig.structure]: "),
        "{said}"
    );
    // Only what a variable gives has no line of its own.
    home.variables.insert("BROKEN", "127.91.0.21\n    controlPlane: maybe".to_owned());
    let said = home.ichor(&["validate"]);
    assert!(said.contains("nodes[1].controlPlane: \"maybe\" is not true or false"), "{said}");
}

/// talhelper warns of it, for its own sake.
#[test]
fn unreleased_version_that_plans_can_manage_is_no_warning() {
    let home = Home::new();
    home.write(
        "talos/talenv.yaml",
        "talosVersion: v1.13.99\nkubernetesVersion: v1.34.1\nWHO: all\n",
    );
    let said = home.ichor(&["validate", "--strict"]);
    assert!(said.starts_with("exit: 0\n"), "{said}");
}

#[test]
fn lint_refuses_what_validate_refuses() {
    for (from, to, code) in [
        ("controlPlane: true", "controlPlane: false", "spec.no-control-plane"),
        ("https://127.91.0.11:6443", "https://<cluster_api_addr>:6443", "spec."),
        ("controlPlane: true", "controlPlane: perhaps", "talconfig.shape"),
    ] {
        let home = Home::new();
        home.write("talos/talconfig.yaml", &TALCONFIG.replacen(from, to, 1));
        let validated = home.ichor(&["validate"]);
        assert!(validated.starts_with("exit: 3\n"), "{to}: {validated}");
        let linted = home.ichor(&["lint"]);
        assert!(linted.starts_with("exit: 1\n") && linted.contains(code), "{to}: {linted}");
    }
}

#[test]
fn lint_looks_after_files_with_secrets() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let mode = |mode: u32| {
        let path = home.root.path().join("talos/talsecret.yaml");
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    mode(0o644);
    assert!(home.ichor(&["lint"]).contains("warning[lint.open-secrets]"));
    mode(0o600);
    assert!(!home.ichor(&["lint"]).contains("lint.open-secrets"));
    home.write("talos/patches/all.sops.yaml", "machine: {}\n");
    let said = home.ichor(&["lint"]);
    assert!(said.contains("talos/patches/all.sops.yaml: error[lint.not-encrypted]"), "{said}");
}

#[test]
fn lint_counts_control_planes() {
    let home = Home::new();
    let two =
        TALCONFIG.replacen("  - hostname: w-1\n", "  - hostname: w-1\n    controlPlane: true\n", 1);
    home.write("talos/talconfig.yaml", &two);
    let said = home.ichor(&["lint"]);
    assert!(said.contains("warning[lint.even-control-planes]: 2 control planes"), "{said}");
}

#[test]
fn lint_tells_every_problem_of_a_line() {
    let home = Home::new();
    let line =
        "  - {hostname: w_1, ipAddress: 127.91.0, installDisk: /dev/sda, nameservers: [a]}\n";
    let (before, after) = TALCONFIG.split_once("controlPlane:\n  nameservers").expect("groups");
    home.write(
        "talos/talconfig.yaml",
        &format!("{before}{line}controlPlane:\n  nameservers{after}"),
    );
    let said = home.ichor(&["lint"]);
    for problem in ["is not a valid hostname", "is not a valid list of IP addresses"] {
        assert!(said.contains(problem), "{said}");
    }
}

#[test]
fn unknown_extension_names_the_one_that_is_meant() {
    let home = Home::new();
    let schematic = "schematic: {customization: {systemExtensions: {officialExtensions: \
                     [qemu-guest-agent]}}}\n    installDisk:";
    home.write("talos/talconfig.yaml", &TALCONFIG.replacen("installDisk:", schematic, 1));
    for command in ["validate", "lint"] {
        let said = home.ichor(&[command]);
        assert!(said.contains("did you mean \"siderolabs/qemu-guest-agent\"?"), "{said}");
    }
}

/// The file need not be one in clear for a value of it to be hidden.
#[test]
fn encrypted_variables_are_hidden_in_errors() {
    let mut home = Home::new();
    home.variables.insert("SOPS_AGE_KEY_FILE", shared("age.key"));
    home.write("talos/talenv.sops.yaml", &sealed("S: hunter2-canary\n"));
    for (from, to) in [
        ("clusterName", "talosVersion: ${S}\nclusterName"),
        ("controlPlane: true", "controlPlane: ${S}"),
        ("nodes:", "${S}: 1\nnodes:"),
        ("\"@./patches/all.yaml\"", "\"${S}\""),
        ("nameservers: [127.0.0.53]", "nameservers: [\"${S}\"]"),
        ("hostname: cp-1", "hostname: ${S}_"),
        ("{size: '> 100GB'}", "{type: \"${S}\"}"),
    ] {
        home.write("talos/talconfig.yaml", &TALCONFIG.replacen(from, to, 1));
        for command in [
            &["validate"][..],
            &["lint"],
            &["plan"],
            &[
                "talhelper",
                "validate",
                "talconfig",
                "talos/talconfig.yaml",
                "-e",
                "talos/talenv.sops.yaml",
            ],
        ] {
            let said = home.ichor(command);
            assert!(!said.contains("hunter2"), "{to}: {command:?}: {said}");
        }
    }
}

#[test]
fn what_has_no_effect_is_told_and_wrong_where_that_matters() {
    let home = Home::new();
    let misspelt = TALCONFIG.replacen("installDisk:", "instalDisk: /dev/sdb\n    installDisk:", 1);
    home.write("talos/talconfig.yaml", &misspelt);
    home.write(
        "talos/talsecret.yml",
        &fs_err::read_to_string(shared("talsecret.yaml")).expect("secrets"),
    );
    let mut said = home.ichor(&["validate"]);
    said.push_str(&home.ichor(&["validate", "--strict"]));
    said.push_str(&home.ichor(&["validate", "--strict", "-o", "json"]));
    let wrong = TALCONFIG.replacen("installDisk: /dev/sda", "installDisk: ''", 1);
    home.write("talos/talconfig.yaml", &wrong);
    said.push_str(&home.ichor(&["validate", "-o", "json"]));
    said.push_str(&home.ichor(&["lint", "-o", "json"]));
    assert_snapshot!(said);
}

#[test]
fn lint_knows_releases_that_stand_in_the_env_file_only() {
    let home = Home::new();
    let said = home.ichor(&["lint"]);
    assert!(!said.contains("talosVersion") && !said.contains("kubernetesVersion"), "{said}");
    assert!(said.starts_with("exit: 0\n"), "{said}");
}

#[test]
fn values_are_explained_through_templates_and_encrypted_patches() {
    let mut home = Home::new();
    home.variables.insert("SOPS_AGE_KEY_FILE", shared("age.key"));
    home.write(
        "talos/patches/all.yaml",
        "# an image\nmachine:\n  sysctls:\n    a: '{{ .MachineConfig.MachineInstall.InstallImage }}'\n",
    );
    home.write(
        "talos/patches/cni.yaml",
        &sealed("cluster:\n  network:\n    cni:\n      name: none\n"),
    );
    let mut said = home.ichor(&["explain", "machine.sysctls.a", "-n", "cp-1"]);
    said.push_str(&home.ichor(&["explain", "cluster.network.cni.name", "-n", "cp-1"]));
    assert_snapshot!(said);
}

#[test]
fn encrypted_secrets_are_opened_with_the_right_key_only() {
    let mut home = Home::new();
    let talosconfig = ["explain", "cluster.id", "-n", "cp-1"];
    let plain = home.ichor(&talosconfig);
    home.write(".sops.yaml", &format!("creation_rules:\n  - age: {}\n", recipient()));
    let sealed = home.ichor(&["gen", "secrets", "-f", "-o", "talos/talsecret.sops.yaml"]);
    assert!(sealed.starts_with("exit: 0\n"), "{sealed}");

    let mut said = format!("# no key\n{}", home.ichor(&["validate"]));
    home.variables.insert("SOPS_AGE_KEY_FILE", shared("age2.key"));
    let _ = write!(said, "# another key\n{}", home.ichor(&["validate"]));
    home.variables.insert("SOPS_AGE_KEY_FILE", shared("age.key"));
    let _ = write!(said, "# the right key\n{}", home.ichor(&["validate"]));
    // The encrypted file is the last of those that there may be, so it counts.
    assert_ne!(home.ichor(&talosconfig), plain);
    let path = home.root.path().join("talos/talsecret.sops.yaml");
    let text = fs_err::read_to_string(&path).expect("secrets");
    let (before, mac) = text.split_once("mac: ENC[AES256_GCM,data:").expect("a MAC");
    let (_, after) = mac.split_at(4);
    fs_err::write(&path, format!("{before}mac: ENC[AES256_GCM,data:AAAA{after}")).expect("a file");
    let _ = write!(said, "# a broken MAC\n{}", home.ichor(&["validate"]));
    assert_snapshot!(said);
}

#[test]
fn names_and_credentials_are_those_of_the_directory() {
    let mut home = Home::new();
    let generate = "talhelper genconfig -c talos/talconfig.yaml -e talos/talenv.yaml -s \
                    talos/talsecret.yaml -o talos/clusterconfig --offline-mode";
    home.write(
        "talos/talconfig.yaml",
        &format!("{TALCONFIG}kubernetesVersion: v1.34.1\ntalosVersion: v1.13.0\n"),
    );
    let words: Vec<&str> = generate.split_whitespace().collect();
    let generated = home.ichor(&words);
    assert!(generated.starts_with("exit: 0\n"), "{generated}");

    // A name is the machine's address, in maintenance too; a name that nobody knows is left to the cluster.
    let asked = home.ichor(&["services", "-n", "cp-1", "--deadline", "5s"]);
    assert!(asked.starts_with("exit: 5\n") && asked.contains("127.91.0.11"), "{asked}");
    let asked = home.ichor(&["disks", "--insecure", "-n", "w-1", "--deadline", "5s"]);
    assert!(asked.starts_with("exit: 5\n") && asked.contains("127.91.0.21"), "{asked}");

    // The flag counts more than the variable, and that more than the directory, and that more than the home.
    let context = |home: &Home, more: &[&str]| {
        let shown = home.ichor(&[&["config", "contexts"][..], more].concat());
        ["Home_Lab", "of-home", "of-variable", "of-flag"]
            .into_iter()
            .find(|name| shown.contains(name))
    };
    for name in ["home", "variable", "flag"] {
        let secrets = ["--with-secrets", "talos/talsecret.yaml"];
        let path = format!("{name}/.talos/config");
        let context = format!("of-{name}");
        home.write(&format!("{name}/.talos/keep"), "");
        let made = [&["gen", "talosconfig", &context, "-o", &path][..], &secrets].concat();
        assert!(home.ichor(&made).starts_with("exit: 0\n"));
    }
    home.variables.insert("HOME", home.path("home"));
    assert_eq!(context(&home, &[]), Some("Home_Lab"));
    home.variables.insert("TALOSCONFIG", home.path("variable/.talos/config"));
    assert_eq!(context(&home, &[]), Some("of-variable"));
    assert_eq!(context(&home, &["--talosconfig", "flag/.talos/config"]), Some("of-flag"));
    home.variables.remove("TALOSCONFIG");
    fs_err::remove_dir_all(home.root.path().join("talos/clusterconfig")).expect("a directory");
    assert_eq!(context(&home, &[]), Some("of-home"));
}

#[test]
fn a_machine_is_upgraded_to_the_image_of_the_talconfig() {
    let home = Home::new();
    let node = |name: &str, at: u8, more: &str| {
        format!(
            "  - hostname: {name}\n    ipAddress: 127.91.0.{at}, 10.0.0.{at}\n    controlPlane: {}\n    installDisk: \
             /dev/sda\n{more}",
            at == 11
        )
    };
    let extensions = "    schematic:\n      customization:\n        systemExtensions:\n          \
                      officialExtensions: [siderolabs/iscsi-tools]\n";
    let secure = "    machineSpec:\n      secureboot: true\n";
    let talconfig = format!(
        "clusterName: home\nendpoint: https://127.91.0.11:6443\nnodes:\n{}{}{}{}",
        node("plain", 11, ""),
        node("own", 12, "    talosImageURL: registry.example/installer/abc\n"),
        node("extended", 13, extensions),
        node("secure", 14, &format!("{extensions}{secure}")),
    );
    home.write("talos/talconfig.yaml", &talconfig);
    let made = "gen talosconfig home --with-secrets talos/talsecret.yaml -o talos/clusterconfig/talosconfig";
    assert!(home.ichor(&made.split(' ').collect::<Vec<_>>()).starts_with("exit: 0\n"));
    let upgrade = "node upgrade --dry-run -e 127.91.0.11 -n";
    let upgrade = |names: &str| {
        let words = upgrade.split(' ').chain([names]);
        home.ichor(&words.collect::<Vec<_>>())
    };
    let all = upgrade("plain,10.0.0.12,extended,127.91.0.14");
    assert_snapshot!(all);
    // The same names as those that scripts are given.
    for line in home
        .ichor(&[
            "talhelper",
            "gencommand",
            "upgrade",
            "--offline-mode",
            "-c",
            "talos/talconfig.yaml",
            "-e",
            "talos/talenv.yaml",
        ])
        .lines()
    {
        let image = line.split_whitespace().find_map(|word| word.strip_prefix("--image="));
        let image = image.map(|image| image.trim_end_matches(';'));
        assert!(image.is_none_or(|image| all.contains(&format!("would get {image}\n"))), "{line}");
    }
    let stranger = upgrade("127.91.0.99");
    assert!(stranger.starts_with("exit: 3\n") && stranger.contains("127.91.0.99"), "{stranger}");
}

#[test]
fn workers_are_refused_where_a_control_plane_is_needed() {
    let home = Home::new();
    let made = "gen talosconfig home --with-secrets talos/talsecret.yaml -o talos/clusterconfig/talosconfig";
    assert!(home.ichor(&made.split(' ').collect::<Vec<_>>()).starts_with("exit: 0\n"));
    for command in [
        "node bootstrap --wait=false",
        "kubeconfig -",
        "etcd status",
        "etcd members",
        "etcd alarms",
        "etcd snapshot db.snapshot",
        "node etcd leave",
        "node etcd remove-member 1",
        "node etcd forfeit-leadership",
        "node etcd defrag",
        "node etcd alarms disarm",
    ] {
        for name in ["w-1", "127.91.0.21"] {
            let line = format!("{command} -n {name} -e 127.91.0.11 --deadline 5s");
            let said = home.ichor(&line.split(' ').collect::<Vec<_>>());
            let message = format!("{name} is a worker, but a control plane is needed");
            assert!(said.starts_with("exit: 3\n") && said.contains(&message), "{line}: {said}");
            assert!(said.contains("hint: pass one of cp-1"), "{line}: {said}");
        }
        // A control plane is asked: nobody is there.
        let line = format!("{command} -n cp-1 -e 127.91.0.11 --deadline 5s");
        let said = home.ichor(&line.split(' ').collect::<Vec<_>>());
        assert!(!said.contains("is a worker"), "{line}: {said}");
    }
}

/// Commands without files work on a native directory as well.
#[test]
fn a_native_directory_is_explained_and_validated_too() {
    let home = Home::new();
    let init =
        "init home --endpoint https://127.91.0.11:6443 --control-plane cp-1=127.91.0.11 -C native";
    assert!(home.ichor(&init.split(' ').collect::<Vec<_>>()).starts_with("exit: 0\n"));
    let path = home.root.path().join("native/ichor.yaml");
    let spec = fs_err::read_to_string(&path).expect("a spec");
    fs_err::write(&path, format!("{spec}patches: [all.yaml]\n")).expect("a file");
    home.write("native/all.yaml", "machine:\n  sysctls:\n    a: b\n");
    let mut said = home.ichor(&["explain", "machine.sysctls.a", "-C", "native"]);
    said.push_str(&home.ichor(&["validate", "-C", "native"]));
    assert_snapshot!(said);
    let made = "gen talosconfig home --with-secrets native/secrets.yaml -o native/talosconfig";
    assert!(home.ichor(&made.split(' ').collect::<Vec<_>>()).starts_with("exit: 0\n"));
    fs_err::remove_dir_all(home.root.path().join("talos")).expect("a directory");
    fs_err::rename(&path, home.root.path().join("ichor.yaml")).expect("a file");
    let asked = "services -n cp-1 -e 127.91.0.11 --talosconfig native/talosconfig --deadline 5s";
    let asked = home.ichor(&asked.split(' ').collect::<Vec<_>>());
    assert!(asked.starts_with("exit: 5\n") && asked.contains(": 127.91.0.11"), "{asked}");
}

/// A repository with a talconfig, and a program that runs in it.
struct Home {
    root: TempDir,
    before: BTreeMap<String, Vec<u8>>,
    variables: BTreeMap<&'static str, String>,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let mut home = Self { root, before: BTreeMap::new(), variables: BTreeMap::new() };
        home.write(".sops.yaml", "");
        home.write("talos/talconfig.yaml", TALCONFIG);
        home.write(
            "talos/talenv.yaml",
            "# releases\ntalosVersion: v1.13.0\nkubernetesVersion: v1.34.1\nWHO: all\n",
        );
        home.write(
            "talos/talsecret.yaml",
            &fs_err::read_to_string(shared("talsecret.yaml")).expect("secrets"),
        );
        home.write("talos/patches/all.yaml", ALL);
        home.write("talos/patches/cni.yaml", "cluster:\n  network:\n    cni: {name: none}\n");
        home.before = home.files();
        home
    }

    fn path(&self, path: &str) -> String {
        self.root.path().join(path).display().to_string()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs_err::write(path, text).expect("a file");
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs_err::read(&path).expect("a file");
                    files.insert(path.display().to_string(), bytes);
                }
            }
        }
        files
    }

    /// What a command says and how it ends, with the directory called ROOT.
    fn ichor(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_ichor"))
            .args(arguments)
            .current_dir(self.root.path())
            .env_clear()
            .env("HOME", self.root.path().join("nobody"))
            .envs(&self.variables)
            .stdin(Stdio::null())
            .output()
            .expect("ichor");
        let mut text = format!("exit: {}\n", output.status.code().expect("no signal"));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                let _ =
                    writeln!(text, "---- {name}\n{}", String::from_utf8_lossy(bytes).trim_end());
            }
        }
        let root = fs_err::canonicalize(self.root.path()).expect("a path");
        text.replace(&root.display().to_string(), "ROOT").replace(&shared(""), "SHARED/")
    }
}

fn shared(name: &str) -> String {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/talhelper/throw-away-secrets");
    shared.join(name).display().to_string()
}

/// A text that was encrypted for the first of the keys.
fn sealed(text: &str) -> String {
    let recipients = sops::Recipient::parse_list(&recipient()).expect("a recipient");
    let rule = sops::Rule::for_recipients(recipients).expect("a rule");
    let mut counter = 0u8;
    let mut random = |bytes: &mut [u8]| {
        for byte in bytes {
            counter = counter.wrapping_add(1);
            *byte = counter;
        }
    };
    let timestamp = sops::Timestamp::from_unix(1_760_000_000);
    sops::encrypt(text, sops::Format::Yaml, &rule, &timestamp, &mut random).expect("encrypted")
}

fn recipient() -> String {
    let key = fs_err::read_to_string(shared("age.key")).expect("a key");
    let line = key.lines().find_map(|line| line.strip_prefix("# public key: "));
    line.expect("a recipient").to_owned()
}

const TALCONFIG: &str = "\
# A cluster of two
clusterName: Home_Lab
endpoint: https://127.91.0.11:6443
clusterPodNets: [\"10.42.0.0/16\"]
nodes:
  - hostname: cp-1
    ipAddress: 127.91.0.11, 10.0.0.11
    controlPlane: true
    installDisk: /dev/sda
    patches:
      - |-
        machine:
          # why
          sysctls:
            a: of-node
  - hostname: w-1
    ipAddress: 127.91.0.21
    installDiskSelector: {size: '> 100GB'}
controlPlane:
  nameservers: [127.0.0.53]
  patches:
    - \"@./patches/cni.yaml\"
patches:
  - \"@./patches/all.yaml\"
";

const ALL: &str = "\
# For all machines

machine:

  # numbers
  sysctls:
    a: of-${WHO}
";
