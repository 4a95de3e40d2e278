//! `ichor gen secrets`: the secrets of a new cluster.

use std::path::{Path, PathBuf};

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Config, KubernetesPki, Secret};

use super::{read_bundle, with_hint, write};
use crate::printer::Printer;
use crate::settings::{GenSecrets, SecretsOrigin, Target};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, entropy, sops_files};

pub(in crate::commands) fn run(
    settings: &GenSecrets,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let bundle = match &settings.origin {
        SecretsOrigin::New => {
            entropy::with_secret_source(|makers| Bundle::generate(settings.contract, makers))?
        }
        SecretsOrigin::File(input) => {
            read_bundle(input, &mut SourceMap::with_keys(&settings.keys))?
        }
        SecretsOrigin::ControlPlane(input) => {
            let mut sources = SourceMap::with_keys(&settings.keys);
            let (config, source) = sources.parse(input, Config::parse)?;
            if config.is_worker() {
                return Err(Error::Usage {
                    message: format!("{} is the configuration of a worker", sources.name(source)),
                    hint: "use that of a control plane, which holds all secrets".to_owned(),
                });
            }
            Bundle::from_config(&config)
        }
        SecretsOrigin::KubernetesPki { directory, bootstrap_token } => {
            let pki = read_kubernetes_pki(directory)?;
            let token = bootstrap_token.as_deref();
            entropy::with_secret_source(|makers| {
                Bundle::from_kubernetes_pki(&pki, token, settings.contract, makers)
            })??
        }
    };
    if matches!(settings.origin, SecretsOrigin::New)
        && let Target::Path { path, overwrite: false } = &settings.target
        && let Some(other) = other_secrets(path)
    {
        return Err(Error::Exists { path: other, hint: KEEP_SECRETS });
    }
    let mut text = bundle.encode(Dialect::default()).into_exposed();
    if let Target::Path { path, .. } = &settings.target
        && sops_files::has_sops_name(path)
    {
        text = sops_files::encrypt(&text, path, &settings.keys)?;
    }
    let outputs = vec![(PathBuf::new(), text)];
    write(outputs, &settings.target, printer).map_err(|error| with_hint(error, KEEP_SECRETS))
}

/// Reads the files that kubeadm keeps in `/etc/kubernetes/pki`.
fn read_kubernetes_pki(directory: &Path) -> Result<KubernetesPki, Error> {
    let read = |name: &str| {
        engine::bounded_file::read_to_string(&directory.join(name)).map_err(Error::Input)
    };
    let secret = |name: &str| read(name).map(Secret::new);
    Ok(KubernetesPki {
        kubernetes: (read("ca.crt")?, secret("ca.key")?),
        etcd: (read("etcd/ca.crt")?, secret("etcd/ca.key")?),
        aggregator: (read("front-proxy-ca.crt")?, secret("front-proxy-ca.key")?),
        service_account: secret("sa.key")?,
    })
}

/// Returns the secrets that a cluster's directory has beside a file that would be taken for its secrets.
fn other_secrets(path: &Path) -> Option<PathBuf> {
    let own = path.file_name()?.to_str()?;
    let mut others = NAMES.iter().map(|name| path.with_file_name(name));
    NAMES.contains(&own).then(|| others.find(|other| other != path && other.exists()))?
}

/// The names under which directories keep secrets.
const NAMES: [&str; 6] = [
    "secrets.yaml",
    "secrets.sops.yaml",
    "talsecret.yaml",
    "talsecret.yml",
    "talsecret.sops.yaml",
    "talsecret.sops.yml",
];

const KEEP_SECRETS: &str =
    "these may be the secrets of a running cluster: choose another name with -o, or pass --force";
