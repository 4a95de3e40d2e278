//! `cluster.yaml` and `nodes.yaml` become a talconfig, and that machine configuration.

use insta::assert_snapshot;

use crate::Directory;

const CLUSTER: &str = "\
node_cidr: 10.0.0.0/24
cluster_api_addr: 10.0.0.10
cluster_api_tls_sans: [k8s.example.com]
node_dns_servers: [9.9.9.9]
cloudflare_domain: example.com
";

fn nodes() -> String {
    let (first, second) = ("a1".repeat(32), "b2".repeat(32));
    format!(
        "nodes:\n  - name: cp-1\n    address: 10.0.0.11\n    controller: true\n    disk: /dev/nvme0n1\n    \
         mac_addr: \"00:11:22:33:44:01\"\n    schematic_id: {first}\n    secureboot: true\n    encrypt_disk: \
         true\n    kernel_modules: [nbd]\n  - name: w-1\n    address: 10.0.0.21\n    controller: false\n    disk: \
         S4EVNX0T\n    mac_addr: \"00:11:22:33:44:02\"\n    schematic_id: {second}\n    mtu: 9000\n"
    )
}

fn directory() -> Directory {
    let patches = "templates/config/talos/patches";
    let mark =
        |scope: &str| format!("machine:\n  sysctls:\n    {scope}: \"1\"\n    last: {scope}\n");
    let directory = Directory::new(&[
        ("cluster.yaml", CLUSTER),
        ("nodes.yaml", &nodes()),
        (
            "templates/config/talos/talenv.yaml.j2",
            "#| pins #|\ntalosVersion: v1.12.0\nkubernetesVersion: v1.35.0\n",
        ),
        (
            &format!("{patches}/global/network.yaml.j2"),
            "machine:\n  time:\n    servers:\n      #% for item in node_ntp_servers %#\n      - #{ item }#\n      \
             #% endfor %#\n",
        ),
        (
            &format!("{patches}/controller/admission.yaml.j2"),
            "cluster:\n  apiServer:\n    admissionControl:\n      $$patch: delete\n",
        ),
    ]);
    for scope in ["global", "controller", "worker", "cp-1"] {
        directory.write(&format!("{patches}/{scope}/mark.yaml.j2"), &mark(scope));
    }
    directory
}

#[test]
fn the_talconfig_is_the_one_of_the_guide() {
    let directory = directory();
    directory.done("gen talconfig");
    assert_snapshot!(directory.read("talos/talconfig.yaml"));
    assert_eq!(
        directory.files("talos"),
        [
            "talos/patches/controller/admission.yaml",
            "talos/patches/controller/mark.yaml",
            "talos/patches/cp-1/mark.yaml",
            "talos/patches/global/mark.yaml",
            "talos/patches/global/network.yaml",
            "talos/patches/worker/mark.yaml",
            "talos/talconfig.yaml",
            "talos/talenv.yaml",
        ]
    );
    directory.write("cluster.yaml", &format!("{CLUSTER}node_vlan_tag: \"100\"\n"));
    directory.done("gen talconfig -o vlan");
    assert_snapshot!(directory.read("vlan/talconfig.yaml"));
}

#[test]
fn machines_are_made_of_it() {
    let directory = directory();
    directory.done("gen talconfig -o .");
    directory.done("talhelper validate talconfig");
    let secrets = directory.done("talhelper gensecret");
    directory.write("talsecret.yaml", &secrets);
    directory.done("talhelper genconfig --offline-mode");
    let control_plane = directory.read("clusterconfig/kubernetes-cp-1.yaml");
    let worker = directory.read("clusterconfig/kubernetes-w-1.yaml");
    for (config, texts) in [
        (
            &control_plane,
            &[
                // Secure boot chooses the installer.
                "    image: factory.talos.dev/installer-secureboot/a1a1a1",
                "    disk: /dev/nvme0n1\n",
                // Keys of the disk are in the TPM.
                "  systemDiskEncryption:\n    state:\n      provider: luks2\n      keys:\n        - slot: 0\n          tpm: \
                 {}\n    ephemeral:\n      provider: luks2\n      keys:\n        - slot: 0\n          tpm: {}\n",
                "  kernel:\n    modules:\n      - name: nbd\n",
                "    controller: \"1\"\n    cp-1: \"1\"\n    global: \"1\"\n    last: global\n",
                "kind: Layer2VIPConfig\nname: 10.0.0.10\n",
            ][..],
        ),
        (
            &worker,
            &[
                "    image: factory.talos.dev/installer/b2b2b2",
                "    diskSelector:\n      serial: S4EVNX0T\n",
                "    global: \"1\"\n    last: global\n    worker: \"1\"\n",
                "mtu: 9000\n",
            ],
        ),
    ] {
        for text in texts {
            assert!(config.contains(text), "{text}\n{config}");
        }
        assert!(config.contains("      - 162.159.200.1\n      - 162.159.200.123\n"), "{config}");
    }
    assert!(!control_plane.contains("admissionControl"), "{control_plane}");
    assert!(!worker.contains("systemDiskEncryption"), "{worker}");
    // The same files give the same machines.
    directory.done("talhelper genconfig --offline-mode");
    assert_eq!(directory.read("clusterconfig/kubernetes-cp-1.yaml"), control_plane);
}

#[test]
fn only_what_differs_is_written_and_never_unasked() {
    let directory = directory();
    let first = directory.run("gen talconfig --dry-run");
    assert_eq!(first.code, 2, "{}", first.stderr);
    assert!(first.stdout.contains("+clusterName: kubernetes\n"), "{}", first.stdout);
    assert_eq!(directory.files("talos"), [""; 0]);
    directory.done("gen talconfig");
    let again = directory.run("gen talconfig");
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (0, "nothing to do: all files are up to date\n")
    );
    let made = directory.read("talos/talconfig.yaml");

    directory.write("nodes.yaml", &nodes().replace("mtu: 9000", "mtu: 1450"));
    let dry = directory.run("gen talconfig --dry-run");
    assert_eq!(dry.code, 2);
    let changes: Vec<&str> =
        dry.stdout.lines().filter(|line| line.starts_with(['+', '-'])).skip(2).collect();
    assert_eq!(changes, ["-        mtu: 9000", "+        mtu: 1450"]);
    let refused = directory.run("gen talconfig");
    assert_eq!(refused.code, 3);
    assert!(
        refused.stderr.contains("error[output.exists]: ./talos/talconfig.yaml exists"),
        "{}",
        refused.stderr
    );
    assert_eq!(directory.read("talos/talconfig.yaml"), made);
    directory.done("gen talconfig --force");
    assert!(directory.read("talos/talconfig.yaml").contains("mtu: 1450\n"));
}

#[test]
fn bad_files_are_told_with_their_places_and_nothing_is_written() {
    let directory = directory();
    directory.write("cluster.yaml", "node_cidr: 10.0.0.0/24\nnode_dns_servers: [dns]\n");
    directory.write("nodes.yaml", &nodes().replace("\"00:11:22:33:44:02\"", "00-11"));
    let said = directory.run("gen talconfig");
    assert_eq!(said.code, 3);
    assert_snapshot!(said.stderr);
    assert_eq!(directory.files("talos"), [""; 0]);

    let directory = self::directory();
    directory.write("templates/config/talos/patches/global/bad.yaml.j2", "machine:\n  #% if %#\n");
    let said = directory.run("gen talconfig");
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("error[guide.template]"), "{}", said.stderr);
    assert!(said.stderr.contains("patches/global/bad.yaml.j2:2: syntax error"), "{}", said.stderr);
    assert_eq!(directory.files("talos"), [""; 0]);
}

#[test]
fn what_is_for_nobody_is_told() {
    let directory = directory();
    directory.write("templates/config/talos/patches/cp-9/mark.yaml.j2", "");
    directory.write("templates/config/talos/patches/global/notes.txt", "");
    let said = directory.run("gen talconfig");
    assert_eq!(said.code, 0);
    assert!(said.stderr.contains("patches/cp-9: no node has this name"), "{}", said.stderr);
    assert!(said.stderr.contains("global/notes.txt: skipped"), "{}", said.stderr);
    // A file beside the directories is no patch of anybody.
    directory.write("templates/config/talos/patches/README.md.j2", "");
    let said = directory.run("gen talconfig");
    assert!(!said.stderr.contains("README"), "{}", said.stderr);
}

/// A talconfig.yaml.j2 of one's own is what counts.
#[test]
fn a_talconfig_can_be_a_template_too() {
    let directory = directory();
    directory.write(
        "templates/config/talos/talconfig.yaml.j2",
        "clusterName: #{ cloudflare_domain.split('.')[0] }#\nnodes:\n#% for item in nodes %#\n  - hostname: #{ \
         item.name }#\n    patches: #{ talos_patches('%s' % (item.name)) | map('basename') | list | length }#\n\
         #% endfor %#\n",
    );
    directory.done("gen talconfig");
    assert_eq!(
        directory.read("talos/talconfig.yaml"),
        "clusterName: example\nnodes:\n  - hostname: cp-1\n    patches: 1\n  - hostname: w-1\n    patches: 0\n"
    );
}

#[test]
fn an_env_file_that_is_none_stops_everything() {
    let directory = directory();
    directory.done("gen talconfig -o .");
    directory.write(
        "talenv.yaml",
        "talosVersion: v1.12.0\nkubernetesVersion: v1.35.0\nothers:\n  - a\n",
    );
    for line in [
        "talhelper genconfig --offline-mode",
        "talhelper validate talconfig",
        "talhelper gencommand apply",
    ] {
        let said = directory.run(line);
        assert_eq!(said.code, 1, "{line}");
        assert!(
            said.stderr
                .contains("failed to load env file: talenv.yaml: line 4: this is not NAME: value"),
            "{}",
            said.stderr
        );
        assert!(
            said.stderr.contains("hint: env files are lines of `NAME: value`"),
            "{}",
            said.stderr
        );
    }
    assert_eq!(directory.files("clusterconfig"), [""; 0]);
}

#[test]
fn what_is_called_encrypted_is() {
    let directory = directory();
    let template = "templates/config/talos/patches/global/join.sops.yaml.j2";
    let patch = |token: &str| {
        format!("machine:\n  env:\n    TOKEN: {token} # of #{{ cloudflare_domain }}#\n")
    };
    directory.write(template, &patch("canary-one"));
    let refused = directory.run("gen talconfig");
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("error[sops.no-rule]"), "{}", refused.stderr);
    assert_eq!(directory.files("talos"), [""; 0]);

    let (recipient, private) = crate::age_key();
    directory.write(".sops.yaml", &format!("creation_rules:\n  - age: {recipient}\n"));
    let keys = [("SOPS_AGE_KEY", private.as_str())];
    let run = |line: &str| {
        let said = directory.run_with(line, &keys);
        assert!(!said.stdout.contains("canary") && !said.stderr.contains("canary"), "{line}");
        said
    };
    assert_eq!(run("gen talconfig").code, 0);
    let file = "talos/patches/global/join.sops.yaml";
    let first = directory.read(file);
    assert!(first.contains("ENC[") && !first.contains("canary"), "{first}");
    let again = run("gen talconfig");
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (0, "nothing to do: all files are up to date\n")
    );

    directory.write(template, &patch("canary-two"));
    let dry = run("gen talconfig --dry-run");
    assert_eq!(dry.code, 2);
    assert_eq!(dry.stdout, format!("Encrypted files a/./{file} and b/./{file} differ\n"));
    assert_eq!(run("gen talconfig --force").code, 0);
    directory.write("talos/talsecret.yaml", &directory.done("talhelper gensecret"));
    let made = run(
        "talhelper genconfig --offline-mode -c talos/talconfig.yaml -e talos/talenv.yaml -s talos/talsecret.yaml",
    );
    assert_eq!(made.code, 0, "{}", made.stderr);
    let machine = directory.read("clusterconfig/kubernetes-cp-1.yaml");
    assert!(machine.contains("    TOKEN: canary-two\n"), "{machine}");
    // What somebody left in clear is encrypted again.
    directory.write(file, &patch("canary-two"));
    assert_eq!(run("gen talconfig --force").code, 0);
    assert!(!directory.read(file).contains("canary"));
    // Without the key nothing can be compared, and nothing is overwritten.
    let before = directory.read(file);
    assert_eq!(directory.run("gen talconfig --force").code, 3);
    assert_eq!(directory.read(file), before);
}
