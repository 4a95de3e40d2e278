//! No output about a talconfig's cluster contains a value from an encrypted file.

mod host;

use plan::{DigestKey, Live, Renderer};
use talconfig::{Cluster, Environment, Images, Secrets, Talconfig};
use talos_config::{Config, Mode, SourceId};

use host::Files;

#[test]
fn values_of_encrypted_files_are_hidden_in_plans_and_explanations() {
    let before = Seen::of(&directory("old", "1"), None);
    let now = Seen::of(&directory("new", "2"), Some(&before.config));
    for text in &now.shown {
        assert!(!text.contains("canary"), "{text}");
        // A template transforms a value; the result is as secret as the value.
        assert!(!text.contains("yranac") && !text.contains("CANARY"), "{text}");
    }
    // A change is shown as one all the same, with its field.
    for field in [
        "v1alpha1 machine.env.TOKEN: ****** → ******",
        "v1alpha1 machine.sysctls.of-variable: ****** → ******",
        "v1alpha1 machine.sysctls.of-template: ****** → ******",
        // It is short, but an encrypted file set it.
        "v1alpha1 machine.sysctls.of-file: ****** → ******",
        "v1alpha1 machine.nodeLabels.of-template: ****** → ******",
        "v1alpha1 cluster.apiServer.extraArgs.token: ****** → ******",
        "v1alpha1 cluster.inlineManifests[secret].contents: ****** → ******",
        "v1alpha1 machine.files[/var/a].content: ****** → ******",
        "ExtensionServiceConfig/vpn environment[]: ****** (gone)",
        "ExtensionServiceConfig/vpn environment[]: ****** (new)",
        "KernelModuleConfig/****** parameters[]: ****** (new)",
    ] {
        assert!(now.fields.iter().any(|shown| shown == field), "{field}\n{:#?}", now.fields);
    }
    // Values in clear are shown.
    let clear = "v1alpha1 machine.sysctls.clear: clear-1 → clear-2";
    assert!(now.fields.iter().any(|shown| shown == clear), "{:#?}", now.fields);
}

#[test]
fn values_that_an_encrypted_file_has_in_clear_are_shown() {
    let mut files = directory("old", "1");
    let env = "TOKEN: canary-only\nNAME: canary\nPIN: canary\nCLEAR_unencrypted: plain-text-here\n";
    files.retain(|(name, _)| name != "talenv.sops.yaml");
    files.push(("talenv.sops.yaml".to_owned(), sealed(env)));
    files.retain(|(name, _)| !name.ends_with("all.yaml"));
    let patch = "machine:\n  sysctls:\n    a: ${CLEAR_unencrypted}\n    b: ${TOKEN}\n";
    files.push(("all.yaml".to_owned(), patch.to_owned()));
    let seen = Seen::of(&files, None);
    let explained = seen.shown.iter().find(|text| text.starts_with("machine.sysctls "));
    let explained = explained.expect("an explanation");
    assert!(explained.contains("a: plain-text-here, b: ******"), "{explained}");
}

/// All that is shown of the cluster of a directory.
struct Seen {
    config: Config,
    shown: Vec<String>,
    fields: Vec<String>,
}

impl Seen {
    fn of(files: &[(String, String)], live: Option<&Config>) -> Self {
        let host = Files::new(&files.iter().cloned().collect());
        let key = fs_err::read_to_string(shared("age.key")).expect("a key");
        let key = key.lines().last().expect("a key").to_owned();
        let mut environment = Environment::from_iter([("SOPS_AGE_KEY".to_owned(), key)]);
        let env_files = ["talenv.yaml", "talenv.sops.yaml"].map(str::to_owned);
        let talconfig = Talconfig::open("talconfig.yaml", &env_files, &mut environment, &host);
        let talconfig = talconfig.map_err(|error| error.to_string()).expect("a talconfig");
        let secrets = Secrets::load(&shared("talsecret.yaml"), &environment, &host);
        let secrets = secrets.map_err(|error| error.to_string()).expect("secrets");
        let images = Images::for_talconfig(&talconfig, true, &host, &environment);
        let cluster = Cluster::new(&talconfig, &secrets, &images, "metal").expect("a cluster");
        let name = "cp-1".parse().expect("a name");
        let (spec, layers) = cluster
            .translate(SourceId(1), Some(&name))
            .map_err(|error| error.to_string())
            .expect("a translation");
        let key = DigestKey::new([7; 32]);
        let mut renderer = Renderer::new(&spec, &layers, &secrets.bundle, &key, Mode::Metal);
        let config = renderer.config(&name).expect("a configuration");
        let live = live.map(|config| Live { config, talos: None, staged: None });
        let rendering = renderer.render(&name, live).expect("a rendering");
        let mut shown = vec![format!("{rendering:?}")];
        for path in
            ["machine", "machine.sysctls", "cluster", "v1alpha1", "ExtensionServiceConfig/vpn"]
        {
            let explained = renderer.explain(&name, path).expect("an explanation");
            shown.push(format!("{path} {explained:?}"));
        }
        let fields = rendering.change.into_iter().flat_map(|change| change.fields);
        Self { config, shown, fields: fields.map(|field| field.to_string()).collect() }
    }
}

/// Returns a directory with a value of its own in every place that an encrypted file can set.
fn directory(which: &str, short: &str) -> Vec<(String, String)> {
    let files = [
        ("talconfig.yaml", TALCONFIG.to_owned()),
        ("talenv.yaml", format!("CLEAR: clear-{short}\n")),
        (
            "talenv.sops.yaml",
            sealed(&format!(
                "TOKEN: canary-token-{which}\nQUOTED: '\"canary quoted {which}\"'\nNAME: canary_{which}\n\
                 PIN: canary-pin-{which}\n"
            )),
        ),
        ("all.yaml", ALL.to_owned()),
        ("template.yaml", TEMPLATE.to_owned()),
        (
            "encrypted.yaml",
            sealed(&format!(
                "machine:\n  sysctls:\n    of-file: '{short}'\n  env:\n    FILE: canary-patch-{which}\n"
            )),
        ),
        ("file.yaml", sealed(&format!("a: canary-file-{which}\n"))),
        ("manifest.yaml", sealed(&format!("stringData:\n  a: canary-manifest-{which}\n"))),
        (
            "documents.yaml",
            sealed(&format!(
                "apiVersion: v1alpha1\nkind: KernelModuleConfig\nname: canary_module_{which}\n\
                 parameters: [canary=canary-parameter-{which}]\n"
            )),
        ),
    ];
    files.map(|(name, text)| (name.to_owned(), text)).to_vec()
}

fn shared(name: &str) -> String {
    let shared =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../ichor/tests/talhelper/throw-away-secrets");
    format!("{shared}/{name}")
}

/// Encrypts a text for the key above.
fn sealed(text: &str) -> String {
    let key = fs_err::read_to_string(shared("age.key")).expect("a key");
    let recipient = key.lines().find_map(|line| line.strip_prefix("# public key: "));
    let recipients = sops::Recipient::parse_list(recipient.expect("a recipient"));
    let rule = sops::Rule::for_recipients(recipients.expect("recipients")).expect("a rule");
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

const TALCONFIG: &str = "\
clusterName: home
endpoint: https://127.91.0.11:6443
talosVersion: v1.13.0
kubernetesVersion: v1.34.1
inlineManifests:
  - name: secret
    contents: '@manifest.yaml'
  - name: of-variable
    contents: 'a: ${TOKEN}'
nodes:
  - hostname: cp-1
    ipAddress: 127.91.0.11
    controlPlane: true
    installDisk: /dev/sda
    nodeLabels:
      of-variable: ${NAME}
      of-template: '{{ env \"NAME\" | upper }}'
    machineFiles:
      - {op: create, path: /var/a, permissions: 0o600, content: '@file.yaml'}
      - {op: create, path: /var/b, permissions: 0o600, content: 'a=${PIN}'}
    extensionServices:
      - name: vpn
        environment: ['KEY=${TOKEN}']
        configFiles:
          - {mountPath: /etc/vpn, content: 'key = ${PIN}'}
    extraManifests: [documents.yaml]
    patches:
      - '@encrypted.yaml'
      - '@template.yaml'
      - |-
        cluster:
          extraManifestHeaders:
            Authorization: Bearer ${TOKEN}
patches:
  - '@all.yaml'
";

const ALL: &str = "\
machine:
  env:
    TOKEN: ${TOKEN}
  sysctls:
    of-variable: prefix-${TOKEN}-suffix
    quoted: ${QUOTED}
    clear: ${CLEAR}
  registries:
    mirrors:
      ${NAME}.example:
        endpoints: ['https://${NAME}.example']
cluster:
  apiServer:
    extraArgs:
      token: ${TOKEN}
";

const TEMPLATE: &str = "\
machine:
  sysctls:
    of-template: '{{ env \"TOKEN\" | upper }}'
";
