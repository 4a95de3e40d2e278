//! A cluster from a directory with a talconfig, as it is, on a real machine.

use testkit::talos::{self, Role, Size};

use crate::cluster::Home;

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_talconfig_directory_is_a_cluster_directory() {
    let machine = talos::machine(Size::NONE);
    let home = Home::empty("door", &machine);
    let (name, address) = (&machine.name, machine.address);
    let write = |path: &str, text: &str| {
        let path = home.directory.path().join(path);
        fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs_err::write(path, text).expect("a file");
    };
    // The layout of a repository, with releases that the talconfig does not name.
    write(".sops.yaml", "creation_rules: []\n");
    write("talos/talenv.yaml", "talosVersion: v1.13.9\nkubernetesVersion: v1.36.3\n");
    let mut patches = Vec::new();
    for role in [Role::Worker, Role::ControlPlane] {
        let patch = machine.site().patch_without_name(role);
        patches.push(format!("  - \"@./patches/{role:?}.yaml\"\n"));
        write(&format!("talos/patches/{role:?}.yaml"), &patch.replace('$', "$$"));
    }
    let talconfig = |more: &str| {
        let head = format!("clusterName: door\nendpoint: https://{address}:6443\n");
        let node =
            format!("  - hostname: {name}\n    ipAddress: {address}\n    controlPlane: true\n");
        let patches = patches.concat();
        let image = "imageFactory: {registryURL: \"127.0.0.1:1\", protocol: http}\n";
        let schematic = "    schematic: {customization: {extraKernelArgs: [quiet]}}\n";
        let text = format!(
            "{head}{image}nodes:\n{node}    installDisk: /dev/sda\n{schematic}patches:\n{patches}{more}"
        );
        write("talos/talconfig.yaml", &text);
    };
    talconfig("");
    let secrets = home.ichor(&["talhelper", "gensecret"]).expect(0).stdout;
    write("talos/talsecret.yaml", &secrets);

    let planned = home.ichor(&["plan"]).expect(2);
    assert!(planned.stdout.contains("bootstrap etcd"), "{planned:?}");
    // A factory that cannot be reached is told, and stops nobody: machines may have the image from elsewhere.
    let applied = home.ichor(&["apply", "--yes"]).expect(0);
    assert!(applied.stderr.contains("warning[schematic.unregistered]"), "{applied:?}");
    home.ichor(&["plan"]).expect(0);
    // A patch of the harness takes the network plug-in away, so nobody has waited for the node.
    home.kubectl(&["wait", "--for=condition=Ready", &format!("node/{name}"), "--timeout=120s"]);
    let well = home.ichor(&["health", "--wait", "2m"]).expect(0).stdout;
    for component in
        ["etcd", "kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
    {
        assert!(well.contains(&format!("{name}   {component} ")), "{component}: {well}");
    }
    // Credentials and state belong to the whole repository, and the latter is nothing for Git.
    let nodes = home.kubectl(&["get", "nodes", "--no-headers"]);
    assert_eq!(nodes.split_whitespace().take(2).collect::<Vec<_>>(), [&**name, "Ready"]);
    assert!(home.directory.path().join(".ichor/.gitignore").is_file());

    // What talhelper writes is what the machine has; its talosconfig and the names of the talconfig are known.
    let generated = ["talhelper", "genconfig", "--offline-mode", "-c", "talos/talconfig.yaml"];
    let files =
        ["-e", "talos/talenv.yaml", "-s", "talos/talsecret.yaml", "-o", "talos/clusterconfig"];
    let versions = "talosVersion: v1.13.9\nkubernetesVersion: v1.36.3\n";
    talconfig(versions);
    home.ichor(&[&generated[..], &files].concat()).expect(0);
    let members = home.ichor(&["etcd", "members", "-n", name, "-o", "json"]).expect(0);
    assert!(members.stdout.contains(&**name), "{members:?}");
    let file = format!("talos/clusterconfig/door-{name}.yaml");
    let dry_run = ["node", "apply-config", "-n", name, "-f", &file, "--dry-run"];
    home.ichor(&dry_run).expect(0);

    // A change by a patch, told with its file and line.
    write(
        "talos/patches/sysctl.yaml",
        "# why\nmachine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n",
    );
    let text = fs_err::read_to_string(home.directory.path().join("talos/talconfig.yaml"));
    let text = text
        .expect("a talconfig")
        .replace("patches:\n", "patches:\n  - \"@./patches/sysctl.yaml\"\n");
    write("talos/talconfig.yaml", &text);
    let planned = home.ichor(&["plan"]).expect(2);
    assert!(planned.stdout.contains("change config"), "{planned:?}");
    let explained = home.ichor(&["explain", "machine.sysctls.net.core.somaxconn"]).expect(0);
    assert!(explained.stdout.contains("/talos/patches/sysctl.yaml:4  65535"), "{explained:?}");
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    home.ichor(&["diff"]).expect(0);
    home.ichor(&["history"]).expect(0);

    // What does not run is told, with the reason.
    let broken = "cluster:\n  scheduler:\n    extraArgs:\n      no-such-flag: \"1\"\n";
    write("broken.yaml", broken);
    home.ichor(&["node", "patch", "-n", name, "-p", "@broken.yaml", "--yes"]).expect(0);
    home.wait_until("the scheduler does not run", |home| {
        let said = home.ichor(&["health"]);
        let problem = format!("{name} (");
        let is_named =
            said.stderr.contains(&problem) && said.stderr.contains("): kube-scheduler: ");
        said.code == 1 && is_named && said.stdout.contains("Fail")
    });
    let unwell = home.ichor(&["health", "--wait", "1s"]).expect(6);
    assert!(unwell.stderr.contains("kube-scheduler"), "{unwell:?}");
    write("talos/patches/sysctl.yaml", "machine: {}\n");
    home.ichor(&["apply", "--yes"]).expect(0);
    // Containers that failed on a busy machine wait up to 80 s each in the back-off of the kubelet.
    home.ichor(&["health", "--wait", "5m"]).expect(0);
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn two_files_and_templates_are_enough() {
    let machine = talos::machine(Size::NONE);
    let home = Home::empty("kubernetes", &machine);
    let (name, address) = (&machine.name, machine.address);
    let write = |path: &str, text: &str| {
        let path = home.directory.path().join(path);
        fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs_err::write(path, text).expect("a file");
    };
    let servers = "node_dns_servers: [127.0.0.53]\nnode_ntp_servers: [127.0.0.54]\n";
    let cluster = format!("node_cidr: {address}/24\ncluster_api_addr: {address}\n{servers}");
    write("cluster.yaml", &cluster);
    let image = "ab".repeat(32);
    write(
        "nodes.yaml",
        &format!(
            "nodes:\n  - name: {name}\n    address: {address}\n    controller: true\n    disk: /dev/sda\n    \
             mac_addr: \"02:00:00:00:00:01\"\n    schematic_id: {image}\n"
        ),
    );
    let templates = "templates/config/talos";
    write(
        &format!("{templates}/talenv.yaml.j2"),
        "#| releases #|\ntalosVersion: v1.13.9\nkubernetesVersion: v1.36.3\n",
    );
    for (scope, role) in [("global", Role::Worker), ("controller", Role::ControlPlane)] {
        let patch = machine.site().patch_without_name(role).replace('$', "$$");
        write(&format!("{templates}/patches/{scope}/site.yaml.j2"), &patch);
    }
    // There is one address and nobody to share it with, so a patch takes it out of the hands of control planes.
    let own = "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: #{ cluster_api_addr }#\n$$patch: delete\n";
    write(&format!("{templates}/patches/{name}/address.yaml.j2"), own);
    let made = home.ichor(&["gen", "talconfig"]).expect(0);
    assert!(made.stderr.contains("is cluster_api_addr too"), "{made:?}");
    let secrets = home.ichor(&["talhelper", "gensecret"]).expect(0).stdout;
    write("talos/talsecret.yaml", &secrets);
    home.ichor(&["apply", "--yes"]).expect(0);
    home.kubectl(&["wait", "--for=condition=Ready", &format!("node/{name}"), "--timeout=120s"]);
    home.ichor(&["plan"]).expect(0);
}
