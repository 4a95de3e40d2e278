//! `ichor gen`: secrets, configuration and credentials of a new cluster.

pub(in crate::commands) mod certificates;
pub(in crate::commands) mod machine;
pub(in crate::commands) mod schematic;
pub(in crate::commands) mod talconfig;

use std::path::{Path, PathBuf};

use talos_config::yaml::Dialect;
use talos_config::{
    Bundle, Config, Generate, KubernetesPki, Patch, Patched, Role, Secret, SourceId,
};

use crate::args::files::generate::OutputType;
use crate::commands::files::patch::{apply_all, read_patches};
use crate::directory::{self, Identity};
use crate::printer::Printer;
use crate::settings::{
    GenConfig, GenKubeconfig, GenSecrets, GenTalosconfig, Input, SecretsOrigin, Target,
};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, clock, entropy, files, sops_files};

/// `ichor gen secrets`
pub(in crate::commands) fn secrets(
    settings: &GenSecrets,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let bundle = match &settings.origin {
        SecretsOrigin::New => entropy::with(|makers| Bundle::generate(settings.contract, makers))?,
        SecretsOrigin::File(input) => {
            read_bundle(input, &mut SourceMap::with_keys(&settings.keys))?
        }
        SecretsOrigin::ControlPlane(input) => {
            let mut sources = SourceMap::with_keys(&settings.keys);
            let (config, source) = sources.parse(input, Config::parse)?;
            if config.is_worker() {
                return Err(Error::Usage {
                    message: format!("{} is the configuration of a worker", sources.name(source)),
                    hint: "a control plane's has all secrets".to_owned(),
                });
            }
            Bundle::from_config(&config)
        }
        SecretsOrigin::KubernetesPki { directory, bootstrap_token } => {
            let pki = read_kubernetes_pki(directory)?;
            let token = bootstrap_token.as_deref();
            entropy::with(|makers| {
                Bundle::from_kubernetes_pki(&pki, token, settings.contract, makers)
            })??
        }
    };
    let mut text = bundle.encode(Dialect::default()).into_exposed();
    if let Target::Path { path, .. } = &settings.target
        && sops_files::is_sealed(path)
    {
        text = sops_files::seal(&text, path, &settings.keys)?;
    }
    let outputs = vec![(PathBuf::new(), text)];
    write(outputs, &settings.target, printer).map_err(|error| with_hint(error, KEEP_SECRETS))
}

/// `ichor gen config`
pub(in crate::commands) fn config(
    settings: &GenConfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    if settings.wants_comments {
        printer.note("there are no comments to write; `ichor explain` tells what a field means");
    }
    let mut sources = SourceMap::with_keys(&settings.keys);
    let common = read_patches(&settings.patches, &mut sources)?;
    let control_plane = read_patches(&settings.control_plane_patches, &mut sources)?;
    let worker = read_patches(&settings.worker_patches, &mut sources)?;
    let bundle = match &settings.secrets {
        Some(input) => read_bundle(input, &mut sources)?,
        None => entropy::with(|makers| Bundle::generate(settings.contract, makers))?,
    };
    let generate = Generate {
        cluster: &settings.cluster,
        endpoint: &settings.endpoint,
        kubernetes: &settings.kubernetes,
        contract: settings.contract,
        secrets: &bundle,
        options: settings.options.clone(),
    };
    let patched = |role: Role, own: &[(Patch, SourceId)]| -> Result<String, Error> {
        let config = generate.config(role).map_err(|error| sources.locate(&error, SourceId(0)))?;
        let dialect = Dialect::default();
        let state = apply_all(Patched::from(config), SourceId(0), &common, dialect, &sources)?;
        let state = apply_all(state, SourceId(0), own, dialect, &sources)?;
        let last = own.last().or(common.last()).map_or(SourceId(0), |(_, source)| *source);
        let config = state.into_config().map_err(|error| sources.locate(&error, last))?;
        Ok(config.encode(dialect).into_exposed())
    };
    // Both are made, so that a patch that does not fit is told whatever is written.
    let configs = (patched(Role::ControlPlane, &control_plane)?, patched(Role::Worker, &worker)?);
    let mut outputs = Vec::new();
    for kind in &settings.outputs {
        outputs.push(match kind {
            OutputType::Controlplane => (PathBuf::from("controlplane.yaml"), configs.0.clone()),
            OutputType::Worker => (PathBuf::from("worker.yaml"), configs.1.clone()),
            OutputType::Talosconfig => {
                let roles = ["os:admin".to_owned()];
                let talosconfig = entropy::with(|makers| {
                    bundle.talosconfig(&settings.cluster, &roles, CLIENT_LIFETIME, makers)
                })?;
                (PathBuf::from("talosconfig"), talosconfig?.encode().into_exposed())
            }
        });
    }
    let written = write(outputs, &settings.target, printer);
    if settings.secrets.is_some() {
        return written;
    }
    let written = written.map_err(|error| with_hint(error, NEW_SECRETS))?;
    printer.note(
        "with new secrets; `ichor gen secrets --from-controlplane-config FILE` takes them out again",
    );
    Ok(written)
}

/// `ichor gen talosconfig`
pub(in crate::commands) fn talosconfig(
    settings: &GenTalosconfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenTalosconfig { place, cluster, secrets, roles, lifetime, target } = settings;
    let identity = match secrets {
        Some(_) => None,
        None => directory::identity(place)?,
    };
    let (name, bundle, endpoints) = match (identity, secrets) {
        (Some(Identity { cluster, secrets, endpoints, .. }), _) => {
            (Some(cluster), secrets, endpoints)
        }
        (None, secrets) => {
            let usual = Input::File("secrets.yaml".into());
            let input = secrets.as_ref().unwrap_or(&usual);
            (None, read_bundle(input, &mut SourceMap::with_keys(&place.keys))?, Vec::new())
        }
    };
    let name = cluster.clone().or(name).ok_or_else(|| Error::Usage {
        message: "the cluster has no name: this is not the directory of a cluster".to_owned(),
        hint: "name it: `ichor gen talosconfig NAME`".to_owned(),
    })?;
    let made = entropy::with(|makers| bundle.talosconfig(&name, roles, *lifetime, makers))?;
    let mut made = made?;
    if !endpoints.is_empty() {
        made.set_endpoints(&name, &endpoints);
    }
    write(vec![(PathBuf::new(), made.encode().into_exposed())], target, printer)
}

/// `ichor gen kubeconfig`
pub(in crate::commands) fn kubeconfig(
    settings: &GenKubeconfig,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let bundle = read_bundle(&settings.secrets, &mut SourceMap::with_keys(&settings.keys))?;
    let made = entropy::with(|makers| {
        bundle.kubeconfig(&settings.cluster, &settings.endpoint, settings.lifetime, makers)
    })?;
    write(vec![(PathBuf::new(), made?.into_exposed())], &settings.target, printer)
}

/// Reads the files that kubeadm keeps in `/etc/kubernetes/pki`.
fn read_kubernetes_pki(directory: &Path) -> Result<KubernetesPki, Error> {
    let read = |name: &str| fs_err::read_to_string(directory.join(name)).map_err(Error::Input);
    let secret = |name: &str| read(name).map(Secret::new);
    Ok(KubernetesPki {
        kubernetes: (read("ca.crt")?, secret("ca.key")?),
        etcd: (read("etcd/ca.crt")?, secret("etcd/ca.key")?),
        aggregator: (read("front-proxy-ca.crt")?, secret("front-proxy-ca.key")?),
        service_account: secret("sa.key")?,
    })
}

/// Reads secrets and refuses those that a cluster cannot be made of.
pub(crate) fn read_bundle(input: &Input, sources: &mut SourceMap) -> Result<Bundle, Error> {
    let (text, source) = sources.read(input)?;
    let bundle = Bundle::parse(&text, source).map_err(|error| sources.locate(&error, source))?;
    let mut problems = bundle.problems();
    if problems.is_empty() {
        problems = bundle.unusable_authorities(clock::now());
    }
    match problems {
        problems if problems.is_empty() => Ok(bundle),
        problems => Err(Error::Secrets {
            file: sources.name(source).to_owned(),
            problems,
            is_config: Config::parse(&text, source).is_ok(),
        }),
    }
}

/// Writes the outputs: one to stdout or to the path, several into it.
fn write(
    outputs: Vec<(PathBuf, String)>,
    target: &Target,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let Target::Path { path, overwrite } = target else {
        return outputs.iter().try_fold(ExitStatus::Done, |_, (_, text)| printer.exactly(text));
    };
    let into = outputs.len() > 1 || path.is_dir();
    if into && path.exists() && !path.is_dir() {
        return Err(Error::NotAFile(path.clone()));
    }
    let place = |name: &Path| if into { path.join(name) } else { path.clone() };
    let files: Vec<(PathBuf, String)> =
        outputs.into_iter().map(|(name, text)| (place(&name), text)).collect();
    files::write_all(&files, *overwrite, printer)
}

/// Says what to do about a file that is there, where overwriting would lose more than a file.
fn with_hint(error: Error, hint: &'static str) -> Error {
    match error {
        Error::Exists { path, .. } => Error::Exists { path, hint },
        other => other,
    }
}

const KEEP_SECRETS: &str =
    "these may be the secrets of a running cluster: choose another name with -o, or --force";
const NEW_SECRETS: &str = "new secrets would be made, and machines with the old ones could not join: give the old \
                           ones with --with-secrets, or --force";

/// One year, in seconds.
const CLIENT_LIFETIME: i64 = 8_760 * 3_600;
