//! Nothing that is said along the guide holds a secret.

use crate::Directory;

#[test]
fn no_command_of_the_guide_tells_a_secret() {
    let directory = Directory::new(&[]);
    directory.done(
        "init home --talhelper --endpoint https://10.0.0.10:6443 --control-plane cp-1=10.0.0.11 --worker \
         w-1=10.0.0.21 --talos v1.12.0 --kubernetes v1.35.0",
    );
    // Certificates are public; everything else that is as long as a key is a secret.
    let canaries: Vec<String> = directory
        .read("talsecret.yaml")
        .lines()
        .filter_map(|line| line.trim().split_once(": "))
        .filter(|(key, value)| !["crt", "id"].contains(key) && value.len() >= 16)
        .map(|(_, value)| value.to_owned())
        .collect();
    assert!(canaries.len() >= 9, "{}", canaries.len());
    let lines = [
        "talhelper --debug validate talconfig",
        "talhelper --debug genconfig --offline-mode",
        "talhelper --debug genconfig --offline-mode",
        "talhelper validate nodeconfig clusterconfig/home-cp-1.yaml",
        "talhelper --debug gencommand apply",
        "talhelper gencommand bootstrap",
        "talhelper gencommand kubeconfig",
        "talhelper gencommand health",
        "talhelper gencommand reset",
        "talhelper gencommand upgrade --offline-mode",
        "talhelper gencommand upgrade-k8s",
        "talhelper --debug genurl installer --offline-mode",
        "talhelper --debug genurl image --offline-mode",
        "validate clusterconfig/home-cp-1.yaml",
        "explain cluster.secret clusterconfig/home-cp-1.yaml",
        "explain machine.ca clusterconfig/home-cp-1.yaml",
        "diff clusterconfig/home-cp-1.yaml clusterconfig/home-w-1.yaml",
        "node apply-config --insecure -n 127.0.0.1 --deadline 1s -f clusterconfig/home-cp-1.yaml",
        "health",
        "services --talosconfig clusterconfig/talosconfig -e 127.0.0.1 -n 127.0.0.1 --deadline 1s",
        "certs --client --talosconfig clusterconfig/talosconfig",
        "config info --talosconfig clusterconfig/talosconfig",
        "config contexts --talosconfig clusterconfig/talosconfig",
    ];
    for line in lines {
        let said = directory.run(line);
        for canary in &canaries {
            let told = said.stdout.contains(canary) || said.stderr.contains(canary);
            assert!(!told, "`ichor {line}` tells a secret");
        }
    }
    // A secrets file that is broken is not repeated either.
    let broken = directory.read("talsecret.yaml").replace("trustdinfo:", "trustdinf:");
    directory.write("talsecret.yaml", &broken);
    let said = directory.run("talhelper --debug genconfig --offline-mode");
    assert_eq!(said.code, 1, "{}", said.stdout);
    for canary in &canaries {
        assert!(!said.stdout.contains(canary) && !said.stderr.contains(canary));
    }
}
