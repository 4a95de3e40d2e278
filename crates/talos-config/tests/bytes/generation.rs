//! Generated configurations, beside the files that Talos keeps to show that they never change.

use std::collections::BTreeMap;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract, Generate, Options, Patch, Patched, Role, Source};

use crate::{first_difference, machinery};

#[test]
#[ignore = "level bytes: needs the module of Talos (cargo xtask test)"]
fn every_contract_is_laid_out_as_talos_does() {
    let folder = machinery().join("config/types/v1alpha1/testdata/stability");
    let read =
        |file: &str| fs_err::read_to_string(folder.join(file)).expect("a file of the module");
    let secrets = Bundle::parse(&read("secrets.yaml"), Source(1)).expect("a bundle");
    let mut count = 0;
    for minor in 3..=14 {
        let contract = Contract::new(1, minor);
        for (variant, options) in [("base", Options::default()), ("overrides", overrides())] {
            for (role, name) in [(Role::ControlPlane, "controlplane"), (Role::Worker, "worker")] {
                let generate = Generate {
                    cluster: "base",
                    endpoint: "https://base:6443",
                    kubernetes: "1.28.0",
                    contract,
                    secrets: &secrets,
                    options: options.clone(),
                };
                let mut config = generate.config(role).expect("a configuration");
                if variant == "overrides" {
                    let patch = read(if minor < 14 { "patch-pre14.yaml" } else { "patch.yaml" });
                    let patch = Patch::parse(&patch, Source(2)).expect("a patch");
                    let patched = Patched::Documents(config).apply(&patch, Dialect::V1_14);
                    config = patched.and_then(Patched::into_config).expect("a configuration");
                }
                let ours = config.encode(Dialect::V1_14).into_exposed();
                let file = format!("v1.{minor}/{variant}-{name}.yaml");
                let expected = read(&file);
                assert!(ours == expected, "{file}\n{}", first_difference(&ours, &expected));
                count += 1;
            }
        }
    }
    assert_eq!(count, 48);
    let bundle = secrets.encode(Dialect::V1_14).into_exposed();
    let commented = read("secrets.yaml");
    let (_, expected) = commented.split_once('\n').expect("a comment in the first line");
    assert!(bundle == expected, "{}", first_difference(&bundle, expected));
}

fn overrides() -> Options {
    Options {
        additional_sans: vec!["foo".to_owned(), "bar".to_owned()],
        schedule_on_control_planes: true,
        dns_domain: "example.com".to_owned(),
        install_disk: "/dev/vda".to_owned(),
        extra_kernel_args: vec!["foo=bar".to_owned(), "bar=baz".to_owned()],
        local_api_server_port: Some(5443),
        sysctls: BTreeMap::from([("foo".to_owned(), "bar".to_owned())]),
        custom_cni: Some("https://example.com/cni.yaml".to_owned()),
        registry_mirrors: vec![("ghcr.io".to_owned(), "https://ghcr.io.my-mirror.com".to_owned())],
        ..Options::default()
    }
}
