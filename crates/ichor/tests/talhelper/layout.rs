//! What talhelper wrote in the recorded cases, laid out for another release.

use std::collections::BTreeMap;
use std::path::Path;

use insta::assert_snapshot;
use talconfig::migrate::convert;
use talos_config::yaml::Dialect;
use talos_config::{Config, Contract, SourceId};

use crate::recorded::{self, PATH};
use crate::sandbox::{Said, Sandbox};

/// Done twice it is done once, and whatever has moved can be read again.
#[test]
fn recorded_machines_settle_in_every_layout() {
    let mut count = 0;
    for case in recorded::cases() {
        for (name, text) in &case.output {
            let Ok(config) = Config::parse(text, SourceId(1)) else { continue };
            for minor in [11, 12, 13, 14] {
                let place = format!("{}: {name} as 1.{minor}", case.name);
                let contract = Contract::new(1, minor);
                let once =
                    convert(&config, contract).unwrap_or_else(|error| panic!("{place}: {error}"));
                let text = once.config.encode(Dialect::default()).into_exposed();
                let read = Config::parse(&text, SourceId(1));
                let read = read.unwrap_or_else(|error| panic!("{place}: {error}"));
                let twice =
                    convert(&read, contract).unwrap_or_else(|error| panic!("{place}: {error}"));
                assert!(twice.config == read, "{place}: something moves on");
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count} machines are too few to show anything");
}

#[test]
fn what_moves_and_what_stays_is_told() {
    let config = "\
version: v1alpha1
machine:
  type: worker
  token: hunter2
  network:
    interfaces:
      - {interface: eth0, ignore: true}
    nameservers: [10.0.0.53]
  kubelet:
    extraMounts: [{destination: /a, source: /b}]
  sysctls: {a: hunter3}
  files: [{path: /var/a, content: hunter4, op: create, permissions: 0o644}]
cluster:
  controlPlane: {endpoint: https://10.0.0.1:6443}
";
    let sandbox = Sandbox::new(&BTreeMap::from([("w.yaml".to_owned(), config.to_owned())]));
    let mut said = Said::default();
    let words = ["patch", "w.yaml", "--layout", "v1.14.1"].map(str::to_owned);
    let program = Path::new(env!("CARGO_BIN_EXE_ichor"));
    sandbox.run(program, &words, &BTreeMap::new(), PATH, &mut said);
    assert!(!said.stderr.contains("hunter"), "a secret is shown");
    let Said { stdout, stderr, codes } = said;
    assert_snapshot!(format!("exit: {}\n---- stdout\n{stdout}---- stderr\n{stderr}", codes[0]));
}
