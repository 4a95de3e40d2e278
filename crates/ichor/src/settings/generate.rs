//! Settings of `ichor gen`.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use talos_config::{
    Contract, DEFAULT, InvalidText, Options, Release, TalosVersion, plain_installer,
};

use super::{
    ClusterLocation, Input, Settings, Target, UserEnvironment, cache, keys, trusted, variable,
};
use crate::Error;
use crate::args::OutputFormat;
use crate::args::files::generate::{
    GenAgeKeyArgs, GenCaArgs, GenCommand, GenConfigArgs, GenCrtArgs, GenCsrArgs, GenKeyArgs,
    GenKeypairArgs, GenKubeconfigArgs, GenMachinesArgs, GenSchematicArgs, GenSecretsArgs,
    GenTalconfigArgs, GenTalosconfigArgs, OutputType,
};
use crate::factory::ImageFactoryClient;
use crate::sops_files::SopsKeys;

impl Settings {
    pub(super) fn resolve_gen(command: GenCommand) -> Result<Self, Error> {
        Ok(match command {
            GenCommand::Secrets(GenSecretsArgs {
                output_file,
                talos_version,
                from,
                from_controlplane_config,
                from_kubernetes_pki,
                kubernetes_bootstrap_token: bootstrap_token,
                force,
            }) => Self::GenSecrets(GenSecrets {
                keys: keys(),
                contract: talos_version.map_or(Ok(Contract::CURRENT), |text| contract(&text))?,
                origin: match (from_controlplane_config, from_kubernetes_pki) {
                    (None, None) if from.is_some() => {
                        SecretsOrigin::File(Input::file(&from.unwrap_or_default()))
                    }
                    (Some(file), _) => SecretsOrigin::ControlPlane(Input::file(&file)),
                    (None, Some(directory)) => {
                        SecretsOrigin::KubernetesPki { directory, bootstrap_token }
                    }
                    (None, None) => SecretsOrigin::New,
                },
                target: Target::new(Some(output_file), force),
            }),
            GenCommand::AgeKey(GenAgeKeyArgs { output }) => Self::GenAgeKey { output },
            GenCommand::Config(args) => Self::GenConfig(Box::new(GenConfig::resolve(*args)?)),
            GenCommand::Ca(GenCaArgs { organization, hours, rsa, force }) => {
                Self::GenCa(GenCa { organization, lifetime: seconds(hours), rsa, overwrite: force })
            }
            GenCommand::Key(GenKeyArgs { name, force }) => {
                Self::GenKey(GenKey { name, overwrite: force })
            }
            GenCommand::Csr(GenCsrArgs { key, ip: address, roles, force }) => {
                Self::GenCsr(GenCsr { key, address, roles: known_roles(roles)?, overwrite: force })
            }
            GenCommand::Crt(GenCrtArgs { name, ca: authority, csr: request, hours, force }) => {
                let lifetime = seconds(hours);
                Self::GenCrt(GenCrt { name, authority, request, lifetime, overwrite: force })
            }
            GenCommand::Keypair(GenKeypairArgs { organization, ip: address, force }) => {
                let lifetime = seconds(24);
                Self::GenKeypair(GenKeypair { organization, address, lifetime, overwrite: force })
            }
            GenCommand::Schematic(args) => Self::GenSchematic(GenSchematic::resolve(args)),
            GenCommand::Talconfig(args) => Self::GenTalconfig(GenTalconfig::resolve(args)),
            GenCommand::Machine(args) => {
                Self::GenMachine { args, environment: UserEnvironment::resolve() }
            }
            GenCommand::Machines(GenMachinesArgs { cluster_dir, output, force }) => {
                Self::GenMachines {
                    location: ClusterLocation::resolve(cluster_dir.directory),
                    output,
                    overwrite: force,
                }
            }
            GenCommand::Talosconfig(GenTalosconfigArgs {
                cluster,
                with_secrets,
                roles,
                hours,
                output,
                force,
            }) => Self::GenTalosconfig(GenTalosconfig {
                location: ClusterLocation::resolve(None),
                cluster,
                secrets: with_secrets.map(|file| Input::file(&file)),
                roles: known_roles(roles)?,
                lifetime: seconds(hours),
                target: Target::new(output, force),
            }),
            GenCommand::Schema => Self::GenSchema,
            GenCommand::Kubeconfig(GenKubeconfigArgs {
                cluster,
                endpoint,
                with_secrets,
                hours,
                output,
                force,
            }) => Self::GenKubeconfig(GenKubeconfig {
                keys: keys(),
                cluster,
                endpoint: checked_endpoint(endpoint)?,
                secrets: Input::file(&with_secrets),
                lifetime: seconds(hours),
                target: Target::new(output, force),
            }),
        })
    }
}

pub(crate) struct GenSecrets {
    pub(crate) keys: SopsKeys,
    pub(crate) contract: Contract,
    pub(crate) origin: SecretsOrigin,
    pub(crate) target: Target,
}

/// Source of secrets.
pub(crate) enum SecretsOrigin {
    New,
    File(Input),
    ControlPlane(Input),
    KubernetesPki { directory: PathBuf, bootstrap_token: Option<String> },
}

pub(crate) struct GenConfig {
    pub(crate) keys: SopsKeys,
    /// Whether documentation comments were requested, which are never written.
    pub(crate) wants_comments: bool,
    pub(crate) cluster: String,
    pub(crate) endpoint: String,
    pub(crate) kubernetes: String,
    pub(crate) contract: Contract,
    pub(crate) secrets: Option<Input>,
    pub(crate) options: Options,
    pub(crate) patches: Vec<Input>,
    pub(crate) control_plane_patches: Vec<Input>,
    pub(crate) worker_patches: Vec<Input>,
    pub(crate) outputs: Vec<OutputType>,
    pub(crate) target: Target,
}

impl GenConfig {
    pub(super) fn resolve(args: GenConfigArgs) -> Result<Self, Error> {
        if args.cluster.is_empty() {
            return Err(Error::Usage {
                message: "the name of the cluster is empty".to_owned(),
                hint: "is a variable empty?".to_owned(),
            });
        }
        let mut registry_mirrors = Vec::new();
        for mirror in &args.registry_mirror {
            let (host, url) = mirror.split_once('=').ok_or_else(|| Error::Usage {
                message: format!("invalid registry mirror spec: {mirror:?}"),
                hint: "write it as HOST=URL".to_owned(),
            })?;
            registry_mirrors.push((host.to_owned(), url.to_owned()));
        }
        let stdout = args.output.as_deref() == Some(Path::new("-"));
        if stdout && args.output_types.len() > 1 {
            return Err(Error::Usage {
                message: "can't use multiple output types with stdout".to_owned(),
                hint: "choose one with --output-types".to_owned(),
            });
        }
        let contract = contract(&args.talos_version)?;
        let (talos, default_kubernetes) = patch_release(&args.talos_version, contract)?;
        let kubernetes = args.kubernetes_version.as_deref().unwrap_or(default_kubernetes);
        let patches = |texts: Vec<String>| texts.into_iter().map(Input::patch).collect();
        let asked = |flag: Option<bool>| flag == Some(true);
        Ok(Self {
            keys: keys(),
            wants_comments: asked(args.with_docs) || asked(args.with_examples),
            cluster: args.cluster,
            endpoint: checked_endpoint(args.endpoint)?,
            kubernetes: kubernetes.strip_prefix('v').unwrap_or(kubernetes).to_owned(),
            contract,
            secrets: args.with_secrets.map(|file| Input::file(&file)),
            options: Options {
                additional_sans: args.additional_sans,
                dns_domain: args.dns_domain,
                install_disk: args.install_disk,
                install_image: args.install_image.unwrap_or_else(|| plain_installer(&talos)),
                registry_mirrors,
                discovery: args.with_cluster_discovery,
                kubespan: args.with_kubespan,
                ..Options::default()
            },
            patches: patches(args.config_patch),
            control_plane_patches: patches(args.config_patch_control_plane),
            worker_patches: patches(args.config_patch_worker),
            outputs: args.output_types,
            target: Target::new(Some(args.output.unwrap_or_else(|| ".".into())), args.force),
        })
    }
}

/// A certificate authority to make. Life times are in seconds, here and below.
pub(crate) struct GenCa {
    pub(crate) organization: String,
    pub(crate) lifetime: i64,
    pub(crate) rsa: bool,
    pub(crate) overwrite: bool,
}

pub(crate) struct GenKey {
    pub(crate) name: String,
    pub(crate) overwrite: bool,
}

pub(crate) struct GenCsr {
    pub(crate) key: PathBuf,
    pub(crate) address: IpAddr,
    pub(crate) roles: Vec<String>,
    pub(crate) overwrite: bool,
}

pub(crate) struct GenCrt {
    pub(crate) name: String,
    /// The files of the authority, without `.crt` and `.key`.
    pub(crate) authority: PathBuf,
    pub(crate) request: PathBuf,
    pub(crate) lifetime: i64,
    pub(crate) overwrite: bool,
}

pub(crate) struct GenKeypair {
    pub(crate) organization: String,
    pub(crate) address: Option<IpAddr>,
    pub(crate) lifetime: i64,
    pub(crate) overwrite: bool,
}

/// Settings of `ichor gen schematic`.
pub(crate) struct GenSchematic {
    pub(crate) file: Input,
    pub(crate) talos: Option<String>,
    pub(crate) register: bool,
    pub(crate) factory: String,
    pub(crate) platform: String,
    pub(crate) arch: String,
    pub(crate) secureboot: bool,
    pub(crate) output: OutputFormat,
    pub(crate) client: ImageFactoryClient,
    pub(crate) cache: Option<PathBuf>,
}

impl GenSchematic {
    pub(super) fn resolve(args: GenSchematicArgs) -> Self {
        Self {
            file: Input::file(&args.file),
            talos: args.talos,
            register: args.register,
            factory: args.factory,
            platform: args.platform,
            arch: args.arch,
            secureboot: args.secureboot,
            output: args.output.format,
            client: ImageFactoryClient { trusted: trusted(variable) },
            cache: cache(variable),
        }
    }
}

/// Settings of `ichor gen talconfig`.
pub(crate) struct GenTalconfig {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) dry_run: bool,
    pub(crate) overwrite: bool,
    pub(crate) keys: SopsKeys,
}

impl GenTalconfig {
    pub(super) fn resolve(args: GenTalconfigArgs) -> Self {
        let root = args.directory.unwrap_or_else(|| ".".into());
        Self {
            target: args.output.unwrap_or_else(|| root.join("talos")),
            keys: keys().in_repository_of(Some(&root)),
            root,
            dry_run: args.dry_run,
            overwrite: args.force,
        }
    }
}

pub(crate) struct GenTalosconfig {
    /// The cluster's directory that gives what is not named.
    pub(crate) location: ClusterLocation,
    pub(crate) cluster: Option<String>,
    pub(crate) secrets: Option<Input>,
    pub(crate) roles: Vec<String>,
    pub(crate) lifetime: i64,
    pub(crate) target: Target,
}

pub(crate) struct GenKubeconfig {
    pub(crate) keys: SopsKeys,
    pub(crate) cluster: String,
    pub(crate) endpoint: String,
    pub(crate) secrets: Input,
    pub(crate) lifetime: i64,
    pub(crate) target: Target,
}

fn seconds(hours: u32) -> i64 {
    i64::from(hours) * 3600
}

pub(crate) fn known_roles(roles: Vec<String>) -> Result<Vec<String>, Error> {
    let unknown: Vec<_> =
        roles.iter().filter(|role| !ROLES.contains(&role.as_str())).cloned().collect();
    if unknown.is_empty() {
        return Ok(roles);
    }
    Err(Error::Usage {
        message: format!("unknown roles: {}", unknown.join(", ")),
        hint: format!("known are: {}", ROLES.join(", ")),
    })
}

pub(super) fn contract(text: &str) -> Result<Contract, Error> {
    text.parse().map_err(|error| invalid_talos_version(&error))
}

/// Returns the patch release that configuration is generated for, and the Kubernetes that comes with it. A minor stands
/// for its newest patch, a release that cannot be managed for the nearest one that can.
fn patch_release(text: &str, contract: Contract) -> Result<(TalosVersion, &'static str), Error> {
    let newest = Release::patch_for(contract);
    let wrong = |error: InvalidText| invalid_talos_version(&error);
    let talos: TalosVersion = newest.talos.parse().map_err(wrong)?;
    let own = text.parse().ok().filter(|own: &TalosVersion| own.contract() == talos.contract());
    Ok((own.unwrap_or(talos), newest.kubernetes))
}

fn invalid_talos_version(error: &dyn std::error::Error) -> Error {
    Error::Usage {
        message: format!("invalid talos-version: {error}"),
        hint: format!("write it as {}, or only its first two numbers", DEFAULT.talos),
    }
}

/// The address of the Kubernetes API must be a secure URL with a host.
fn checked_endpoint(endpoint: String) -> Result<String, Error> {
    let wrong = |message: &str| Error::Usage {
        message: format!("{message}: {endpoint:?}"),
        hint: "write it as https://10.0.0.10:6443".to_owned(),
    };
    let rest = endpoint
        .get(..8)
        .filter(|scheme| scheme.eq_ignore_ascii_case("https://"))
        .map(|_| &endpoint[8..])
        .ok_or_else(|| wrong("the control plane endpoint URL should have scheme https://"))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = match host.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((name, after)) => (name, after.strip_prefix(':')),
        None => host.rsplit_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    if name.is_empty() {
        return Err(wrong("hostname must not be blank"));
    }
    match port {
        None | Some("") => Ok(endpoint),
        Some(port) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(endpoint),
        Some(_) => Err(wrong("port number must be between 1 and 65535")),
    }
}

/// The roles that Talos knows.
const ROLES: &[&str] = &[
    "os:admin",
    "os:operator",
    "os:reader",
    "os:etcd:backup",
    "os:image:verifier",
    "os:impersonator",
    "os:meta:writer",
];
