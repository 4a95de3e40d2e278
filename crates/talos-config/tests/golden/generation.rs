//! Generated configurations, beside the files that Talos keeps to show that they never change.

use std::collections::BTreeMap;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract, Error, Generate, Options, Patch, Patched, Role, SourceId};

use crate::cases::Random;
use crate::{first_difference, machinery, talosctl};

#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn every_contract_is_laid_out_as_talos_does() {
    let folder = machinery().join("config/types/v1alpha1/testdata/stability");
    let read =
        |file: &str| fs_err::read_to_string(folder.join(file)).expect("a file of the module");
    let secrets = Bundle::parse(&read("secrets.yaml"), SourceId(1)).expect("a bundle");
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
                    let patch = Patch::parse(&patch, SourceId(2)).expect("a patch");
                    let patched = Patched::from(config).apply(&patch, Dialect::V1_14);
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

/// Seeded combinations of contract, options and patches, beside what `talosctl gen config` writes for them.
#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn combinations_end_as_with_talosctl() {
    let bundle = machinery().join("config/types/v1alpha1/testdata/stability/secrets.yaml");
    let secrets = fs_err::read_to_string(&bundle).expect("a file of the module");
    let secrets = Bundle::parse(&secrets, SourceId(1)).expect("a bundle");
    let mut wrong = Vec::new();
    let mut refused = 0;
    let seeds = testkit::seeds(COMBINATIONS);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let combination = Combination::new(seed);
        let theirs = talosctl::generate(combination.release, &bundle, &combination.arguments());
        let ours = combination.generate(&secrets);
        let problem = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                let pairs = ours.iter().zip(&theirs);
                let different = pairs.filter(|(ours, theirs)| ours != theirs);
                different.map(|(ours, theirs)| first_difference(ours, theirs)).next()
            }
            (Err(_), Err(_)) => {
                refused += 1;
                None
            }
            (ours, theirs) => {
                Some(format!("  ours    {:?}\n  theirs  {:?}", ours.err(), theirs.err()))
            }
        };
        let arguments = combination.arguments();
        wrong.extend(problem.map(|problem| format!("seed {seed} {arguments:?}\n{problem}")));
    }
    let shown = wrong.iter().take(8).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {count} differ\n{shown}", wrong.len());
    assert!(refused * 4 < count, "{refused} of {count} refused: the combinations show too little");
}

/// Bundles that talosctl makes are read and written back as they were.
#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn secrets_of_talosctl_are_written_back() {
    for (release, contract) in
        [("1.14.1", "v1.14"), ("1.14.1", "v1.2"), ("1.13.9", "v1.13"), ("1.12.0", "v1.6")]
    {
        let text = talosctl::secrets(release, contract);
        let bundle = Bundle::parse(&text, SourceId(1)).expect("a bundle");
        let ours = bundle.encode(Dialect::V1_14).into_exposed();
        assert!(ours == text, "{release} {contract}\n{}", first_difference(&ours, &text));
        assert_eq!(bundle.problems(), Vec::<String>::new(), "{release} {contract}");
    }
}

/// What is missing from a bundle is told in the words of talosctl.
#[test]
#[ignore = "level golden: needs the module of Talos (cargo xtask test)"]
fn incomplete_secrets_are_told_as_talosctl_does() {
    let file = machinery().join("config/generate/secrets/testdata/invalid-secrets.yaml");
    let text = fs_err::read_to_string(&file).expect("a file of the module");
    let problems = Bundle::parse(&text, SourceId(1)).expect("a bundle").problems();
    let theirs = talosctl::generate("1.14.1", &file, &["c".to_owned(), "https://h".to_owned()]);
    let theirs = theirs.expect_err("a refusal");
    assert!(problems.len() >= 5, "{problems:?}");
    for problem in &problems {
        assert!(theirs.contains(problem), "{problem}\n{theirs}");
    }
    assert!(theirs.contains(&format!("{} errors occurred", problems.len())), "{theirs}");
}

/// Each gives two files.
const COMBINATIONS: u64 = 520;

/// One way to call `gen config`; the same seed gives the same.
struct Combination {
    release: &'static str,
    dialect: Dialect,
    contract: u32,
    endpoint: &'static str,
    kubernetes: &'static str,
    options: Options,
    patches: Vec<&'static str>,
}

impl Combination {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let (release, dialect, newest) = *random.pick(&[
            ("1.14.1", Dialect::V1_14, 14),
            ("1.14.1", Dialect::V1_14, 14),
            ("1.14.1", Dialect::V1_14, 14),
            ("1.13.9", Dialect::V1_13, 13),
            ("1.12.0", Dialect::V1_12, 12),
        ]);
        let contract = if release == "1.14.1" {
            3 + u32::try_from(random.below(12)).expect("small")
        } else {
            newest
        };
        let mirrors: &[(&str, &str)] = &[
            ("docker.io", "https://mirror.example"),
            ("ghcr.io", "https://other.example/v2"),
            ("docker.io", "http://10.0.0.5:5000"),
            ("k8s.gcr.io", "https://x"),
            ("a", "://broken"),
        ];
        // The oldest writes several mirrors in the order of a dice.
        let most = if release == "1.12.0" { 1 } else { 3 };
        let mirror_count = random.below(most + 1);
        let mut registry_mirrors = Vec::new();
        for _ in 0..mirror_count {
            let last = if random.one_in(12) { mirrors.len() } else { mirrors.len() - 1 };
            let (host, url) = *random.pick(&mirrors[..last]);
            registry_mirrors.push((host.to_owned(), url.to_owned()));
        }
        let texts = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        let sans =
            *random.pick(&[&[][..], &["10.0.0.11"], &["api.example", "2001:db8::1"], &["a", "a"]]);
        let patches: &[&str] = &[
            "machine: {network: {hostname: yes}}\n",
            "cluster: {allowSchedulingOnControlPlanes: true}\n",
            "machine: {certSANs: [x]}\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: h\n",
            "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nmtu: 9000\n",
            "[{\"op\": \"add\", \"path\": \"/machine/sysctls\", \"value\": {\"a\": \"1\"}}]",
            "machine: {foo: bar}\n",
        ];
        let mut chosen = Vec::new();
        for _ in 0..random.below(3) {
            let last = if random.one_in(6) { patches.len() } else { patches.len() - 2 };
            chosen.push(*random.pick(&patches[..last]));
        }
        Self {
            release,
            dialect,
            contract,
            endpoint: *random.pick(&[
                "https://10.0.0.10:6443",
                "https://api.example",
                "https://[2001:db8::1]:6443/",
                "HTTPS://H:1/a b",
            ]),
            kubernetes: *random.pick(&["1.28.0", "1.36.3", "v1.30.1"]),
            options: Options {
                additional_sans: texts(sans),
                dns_domain: (*random.pick(&["cluster.local", "example.com"])).to_owned(),
                install_disk: (*random.pick(&[
                    "/dev/sda",
                    "",
                    "/dev/nvme0n1",
                    "/dev/disk/by-id/a b",
                ]))
                .to_owned(),
                install_image: (*random.pick(&["ghcr.io/siderolabs/installer:v1.9.0", ""]))
                    .to_owned(),
                registry_mirrors,
                discovery: !random.one_in(4),
                kubespan: random.one_in(3),
                ..Options::default()
            },
            patches: chosen,
        }
    }

    fn arguments(&self) -> Vec<String> {
        let options = &self.options;
        let mut arguments = vec![
            "c".to_owned(),
            self.endpoint.to_owned(),
            format!("--talos-version=v1.{}", self.contract),
            format!("--kubernetes-version={}", self.kubernetes),
            format!("--dns-domain={}", options.dns_domain),
            format!("--install-disk={}", options.install_disk),
            format!("--install-image={}", options.install_image),
            format!("--additional-sans={}", options.additional_sans.join(",")),
            format!("--with-cluster-discovery={}", options.discovery),
            format!("--with-kubespan={}", options.kubespan),
        ];
        for (host, url) in &options.registry_mirrors {
            arguments.push(format!("--registry-mirror={host}={url}"));
        }
        arguments.extend(self.patches.iter().map(|patch| format!("--config-patch={patch}")));
        arguments
    }

    /// Control plane and worker.
    fn generate(&self, secrets: &Bundle) -> Result<[String; 2], Error> {
        let generate = Generate {
            cluster: "c",
            endpoint: self.endpoint,
            kubernetes: self.kubernetes.trim_start_matches('v'),
            contract: Contract::new(1, self.contract),
            secrets,
            options: self.options.clone(),
        };
        let role = |role| -> Result<String, Error> {
            let mut state = Patched::from(generate.config(role)?);
            for patch in &self.patches {
                state = state.apply(&Patch::parse(patch, SourceId(2))?, self.dialect)?;
            }
            Ok(state.into_config()?.encode(self.dialect).into_exposed())
        };
        Ok([role(Role::ControlPlane)?, role(Role::Worker)?])
    }
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
