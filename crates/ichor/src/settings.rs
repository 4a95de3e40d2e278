//! Settings: the command line together with the environment, resolved once.
//!
//! Commands take settings and never look at arguments or environment themselves.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use talconfig::Environment;
use talos_config::yaml::Dialect;
use talos_config::{Contract, Mode, Options};

use crate::Error;
use crate::args::cluster::ClusterCommand;
use crate::args::files::generate::{
    GenCaArgs, GenCommand, GenConfigArgs, GenCrtArgs, GenCsrArgs, GenKeyArgs, GenKeypairArgs,
    GenKubeconfigArgs, GenMachineArgs, GenSchematicArgs, GenSecretsArgs, GenTalconfigArgs,
    GenTalosconfigArgs, OutputType,
};
use crate::args::files::{DiffArgs, ExplainArgs, LintArgs, PatchArgs, ValidateArgs};
use crate::args::inspect::InspectCommand;
use crate::args::node::NodeCommand;
use crate::args::start::{ImportArgs, InitArgs};
use crate::args::{
    Args, Command, CompletionsArgs, ConfigArgs, ExtensionsArgs, OutputFormat, TalhelperArgs,
    VersionArgs,
};
use crate::directory;
use crate::factory::ImageFactoryClient;
use crate::sops_files::SopsKeys;

/// One command with everything that it needs to know. Patches may hold secrets, so it has no `Debug`.
pub(crate) enum Settings {
    GenSecrets(GenSecrets),
    GenConfig(Box<GenConfig>),
    GenCa(GenCa),
    GenKey(GenKey),
    GenCsr(GenCsr),
    GenCrt(GenCrt),
    GenKeypair(GenKeypair),
    GenSchematic(GenSchematic),
    GenTalosconfig(GenTalosconfig),
    GenKubeconfig(GenKubeconfig),
    GenSchema,
    GenTalconfig(GenTalconfig),
    GenMachine {
        args: Box<GenMachineArgs>,
        environment: UserEnvironment,
    },
    Extensions(Extensions),
    Patch(Patch),
    Diff {
        before: Input,
        after: Input,
        output: OutputFormat,
    },
    DiffLive {
        names: Vec<String>,
        output: OutputFormat,
        environment: UserEnvironment,
    },
    Explain {
        path: String,
        file: Input,
        patches: Vec<Input>,
        output: OutputFormat,
    },
    ExplainMachine {
        path: String,
        machine: Option<String>,
        location: ClusterLocation,
        output: OutputFormat,
    },
    Validate {
        files: Vec<Input>,
        mode: Mode,
        strict: bool,
        output: OutputFormat,
    },
    ValidateDirectory {
        location: ClusterLocation,
        mode: Mode,
        strict: bool,
        output: OutputFormat,
    },
    Lint(Lint),
    Init(Init),
    Import(Import),
    Cluster {
        command: Box<ClusterCommand>,
        environment: UserEnvironment,
    },
    Inspect {
        command: InspectCommand,
        environment: UserEnvironment,
    },
    Config {
        args: ConfigArgs,
        environment: UserEnvironment,
    },
    Node {
        command: Box<NodeCommand>,
        environment: UserEnvironment,
        keys: SopsKeys,
    },
    Version {
        args: Box<VersionArgs>,
        environment: UserEnvironment,
    },
    Completions {
        shell: clap_complete::Shell,
    },
    Talhelper {
        arguments: Vec<OsString>,
        variables: Vec<(String, String)>,
    },
}

/// Settings of `ichor init`.
pub(crate) struct Init {
    pub(crate) cluster: String,
    pub(crate) endpoint: String,
    /// `NAME=ADDRESS` each, as in the workers.
    pub(crate) control_plane: Vec<String>,
    pub(crate) worker: Vec<String>,
    pub(crate) talos: String,
    pub(crate) kubernetes: String,
    /// Create a directory for talhelper.
    pub(crate) talhelper: bool,
    pub(crate) root: PathBuf,
    pub(crate) keys: SopsKeys,
}

/// Settings of `ichor import`.
pub(crate) struct Import {
    pub(crate) location: ClusterLocation,
    pub(crate) target: PathBuf,
}

/// Settings of `ichor lint`.
pub(crate) struct Lint {
    pub(crate) location: ClusterLocation,
    pub(crate) env_files: Vec<String>,
    pub(crate) secret_files: Vec<String>,
    pub(crate) strict: bool,
    pub(crate) output: OutputFormat,
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

/// Settings of `ichor gen talconfig`.
pub(crate) struct GenTalconfig {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) dry_run: bool,
    pub(crate) overwrite: bool,
    pub(crate) keys: SopsKeys,
}

/// Settings of `ichor extensions`.
pub(crate) struct Extensions {
    pub(crate) version: String,
    pub(crate) refresh: bool,
    pub(crate) factory: String,
    pub(crate) output: OutputFormat,
    pub(crate) client: ImageFactoryClient,
    pub(crate) cache: Option<PathBuf>,
}

/// Settings of `ichor patch`.
pub(crate) struct Patch {
    pub(crate) files: Vec<Input>,
    pub(crate) patches: Vec<Input>,
    /// Contract to convert to, if any.
    pub(crate) layout: Option<Contract>,
    pub(crate) target: Target,
    pub(crate) dialect: Dialect,
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

/// A certificate authority to make. Life times are in seconds, here and below.
pub(crate) struct GenCa {
    pub(crate) organization: String,
    pub(crate) lifetime: i64,
    pub(crate) rsa: bool,
    pub(crate) overwrite: bool,
}

pub(crate) struct GenKeypair {
    pub(crate) organization: String,
    pub(crate) address: Option<IpAddr>,
    pub(crate) lifetime: i64,
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

/// The environment of the user. Variables may hold keys, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct UserEnvironment {
    /// The named cluster directory, or the one around the working directory.
    pub(crate) location: ClusterLocation,
    /// Candidates for the talosconfig.
    pub(crate) talosconfigs: CandidatePaths,
    /// A command without -n is for all machines of the cluster's directory. Never so for one that acts on machines.
    pub(crate) takes_all: bool,
    /// The kubeconfigs that kubectl would use.
    pub(crate) kubeconfigs: CandidatePaths,
    /// Folder of the audit log outside of cluster directories; `None` if the environment does not define it.
    pub(crate) state: Option<PathBuf>,
    /// User name for the audit log.
    pub(crate) user: String,
}

/// Places of a file, in the order in which they are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidatePaths {
    pub(crate) paths: Vec<PathBuf>,
    /// A variable of the environment names them, so that no other place is meant.
    pub(crate) are_named: bool,
    /// The usual place is not among them: it is below the home directory, and HOME is not set.
    pub(crate) lacks_home: bool,
}

impl CandidatePaths {
    fn named(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { paths: paths.into_iter().collect(), are_named: true, lacks_home: false }
    }
}

/// Where a cluster is described.
#[derive(Clone, Default)]
pub(crate) struct ClusterLocation {
    /// The directory; the nearest one upward when it is not named.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) keys: SopsKeys,
    /// All variables: a talconfig may refer to any of them.
    pub(crate) variables: Vec<(String, String)>,
}

impl ClusterLocation {
    fn resolve(directory: Option<PathBuf>) -> Self {
        Self { directory, keys: keys(), variables: variables() }
    }

    /// The value of a variable.
    pub(crate) fn variable(&self) -> impl Fn(&str) -> Option<OsString> {
        |name| {
            let found = self.variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| OsString::from(value))
        }
    }

    /// The variables, for a talconfig.
    pub(crate) fn environment(&self) -> Environment {
        self.variables.iter().cloned().collect()
    }
}

/// Text that a command reads.
pub(crate) enum Input {
    File(PathBuf),
    /// A patch that has the form of a file's name.
    FileOrText(PathBuf),
    Stdin,
    /// Given on the command line itself.
    Inline(String),
}

/// Destination of files that a command writes.
#[derive(Debug)]
pub(crate) enum Target {
    Stdout,
    Path { path: PathBuf, overwrite: bool },
}

impl Settings {
    pub(crate) fn resolve(args: Args) -> Result<Self, Error> {
        Ok(match args.command {
            Command::Gen { command } => Self::resolve_gen(command)?,
            Command::Patch(PatchArgs { files, patches, layout, output, force, dialect }) => {
                Self::Patch(Patch {
                    files: Input::files(&files)?,
                    patches: patches.into_iter().map(Input::patch).collect(),
                    layout: layout.map(|version| contract(Some(version))).transpose()?,
                    target: Target::new(output, force),
                    dialect: dialect.into(),
                })
            }
            Command::Diff(DiffArgs {
                before: Some(before), after: Some(after), output, ..
            }) => Self::Diff {
                before: Input::file(&before),
                after: Input::file(&after),
                output: output.format,
            },
            Command::Diff(DiffArgs { cluster_dir, names, output, .. }) => Self::DiffLive {
                names,
                output: output.format,
                environment: UserEnvironment::of(ClusterLocation::resolve(cluster_dir.directory)),
            },
            Command::Explain(ExplainArgs { path, file: Some(file), patches, output, .. }) => {
                Self::Explain {
                    path,
                    file: Input::file(&file),
                    patches: patches.into_iter().map(Input::patch).collect(),
                    output: output.format,
                }
            }
            Command::Explain(ExplainArgs {
                path, file: None, node, cluster_dir, output, ..
            }) => Self::ExplainMachine {
                path,
                machine: node,
                location: ClusterLocation::resolve(cluster_dir.directory),
                output: output.format,
            },
            Command::Validate(args) => {
                let ValidateArgs { mut files, config, mode, strict, cluster_dir, output } = args;
                files.extend(config);
                let (mode, output) = (mode.into(), output.format);
                if files.is_empty() {
                    let location = ClusterLocation::resolve(cluster_dir.directory);
                    return Ok(Self::ValidateDirectory { location, mode, strict, output });
                }
                Self::Validate { files: Input::files(&files)?, mode, strict, output }
            }
            Command::Lint(args) => Self::Lint(Lint::resolve(args)),
            Command::Init(args) => Self::Init(Init::resolve(args)),
            Command::Import(args) => Self::Import(Import::resolve(args)),
            Command::Cluster(command) => Self::Cluster {
                environment: UserEnvironment::of(ClusterLocation::resolve(
                    command.directory().cloned(),
                )),
                command: Box::new(command),
            },
            Command::Inspect(command) => {
                Self::Inspect { command, environment: UserEnvironment::resolve() }
            }
            Command::Config(args) => Self::Config { args, environment: UserEnvironment::resolve() },
            Command::Node { command } => Self::Node {
                command: Box::new(command),
                environment: UserEnvironment::resolve(),
                keys: keys(),
            },
            Command::Version(args) => {
                Self::Version { args: Box::new(args), environment: UserEnvironment::resolve() }
            }
            Command::Extensions(args) => Self::Extensions(Extensions::resolve(args)),
            Command::Completions(CompletionsArgs { shell }) => Self::Completions { shell },
            Command::Talhelper(TalhelperArgs { arguments }) => {
                Self::Talhelper { arguments, variables: variables() }
            }
        })
    }

    fn resolve_gen(command: GenCommand) -> Result<Self, Error> {
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
                contract: contract(talos_version)?,
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

/// All variables that are text: a talconfig may refer to any of them.
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// The place of what can be asked for again; none where the environment names no place. The working directory is not
/// one: its author would choose what is known.
pub(crate) fn cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || path("HOME").map(|home| home.join(".cache"));
    path("XDG_CACHE_HOME").or_else(home).map(|folder| folder.join("ichor"))
}

/// The certificates that are trusted instead of those of the operating system.
pub(crate) fn trusted(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    variable("SSL_CERT_FILE").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Reads the keys of encrypted files from the environment.
fn keys() -> SopsKeys {
    SopsKeys::resolve(variable)
}

#[expect(clippy::disallowed_methods, reason = "here is where the environment is read")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl UserEnvironment {
    fn resolve() -> Self {
        Self::of(ClusterLocation::resolve(None))
    }

    /// For a command that acts on machines: without a name it is for none of the directory's.
    pub(crate) fn for_actions(&self) -> Self {
        Self { takes_all: false, ..self.clone() }
    }

    fn of(location: ClusterLocation) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        // What is below a home that is not set would be below the working directory.
        let home = variable("HOME").map(PathBuf::from);
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let lacks_home = home.is_none();
        let talosconfigs = match variable("TALOSCONFIG") {
            Some(path) => CandidatePaths::named([path.into()]),
            None => {
                let found = directory::talosconfig().into_iter();
                let usual = found.chain(below_home(".talos/config"));
                CandidatePaths {
                    paths: usual.chain([PathBuf::from(SERVICE_ACCOUNT)]).collect(),
                    are_named: false,
                    lacks_home,
                }
            }
        };
        let kubeconfigs = match variable("KUBECONFIG") {
            Some(paths) => CandidatePaths::named(std::env::split_paths(&paths)),
            None => CandidatePaths {
                paths: below_home(".kube/config").into_iter().collect(),
                are_named: false,
                lacks_home,
            },
        };
        let state = variable("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.or_else(|| below_home(".local/state"));
        let named = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(variable);
        let user = named.map_or_else(number_of_user, |name| name.to_string_lossy().into_owned());
        let state = state.map(|folder| folder.join("ichor"));
        Self { location, talosconfigs, takes_all: true, kubeconfigs, state, user }
    }
}

impl Lint {
    fn resolve(args: LintArgs) -> Self {
        Self {
            location: ClusterLocation::resolve(args.directory),
            env_files: args.env_files,
            secret_files: args.secret_files,
            strict: args.strict,
            output: args.output.format,
        }
    }
}

impl Init {
    fn resolve(args: InitArgs) -> Self {
        Self {
            cluster: args.cluster,
            endpoint: args.endpoint,
            control_plane: args.control_plane,
            worker: args.worker,
            talos: args.talos,
            kubernetes: args.kubernetes,
            talhelper: args.talhelper,
            root: args.directory.unwrap_or_else(|| ".".into()),
            keys: keys(),
        }
    }
}

impl Import {
    fn resolve(args: ImportArgs) -> Self {
        Self { location: ClusterLocation::resolve(args.cluster_dir.directory), target: args.output }
    }
}

impl Extensions {
    fn resolve(args: ExtensionsArgs) -> Self {
        Self {
            version: args.version,
            refresh: args.refresh,
            factory: args.factory,
            output: args.output.format,
            client: ImageFactoryClient { trusted: trusted(variable) },
            cache: cache(variable),
        }
    }
}

impl GenSchematic {
    fn resolve(args: GenSchematicArgs) -> Self {
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

impl GenTalconfig {
    fn resolve(args: GenTalconfigArgs) -> Self {
        let root = args.directory.unwrap_or_else(|| ".".into());
        Self {
            target: args.output.unwrap_or_else(|| root.join("talos")),
            root,
            dry_run: args.dry_run,
            overwrite: args.force,
            keys: keys(),
        }
    }
}

impl GenConfig {
    fn resolve(args: GenConfigArgs) -> Result<Self, Error> {
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
        let patches = |texts: Vec<String>| texts.into_iter().map(Input::patch).collect();
        let asked = |flag: Option<bool>| flag == Some(true);
        Ok(Self {
            keys: keys(),
            wants_comments: asked(args.with_docs) || asked(args.with_examples),
            cluster: args.cluster,
            endpoint: checked_endpoint(args.endpoint)?,
            kubernetes: args
                .kubernetes_version
                .strip_prefix('v')
                .unwrap_or(&args.kubernetes_version)
                .to_owned(),
            contract: contract(args.talos_version)?,
            secrets: args.with_secrets.map(|file| Input::file(&file)),
            options: Options {
                additional_sans: args.additional_sans,
                dns_domain: args.dns_domain,
                install_disk: args.install_disk,
                install_image: args.install_image,
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

impl Target {
    fn new(path: Option<PathBuf>, overwrite: bool) -> Self {
        match path {
            Some(path) if path.as_os_str() != "-" => Self::Path { path, overwrite },
            _ => Self::Stdout,
        }
    }
}

/// Returns a name for the current user id.
fn number_of_user() -> String {
    use std::os::unix::fs::MetadataExt;
    let number = fs_err::metadata("/proc/self").map(|metadata| metadata.uid());
    number.map_or_else(|_| "somebody".to_owned(), |number| format!("user {number}"))
}

/// Talosconfig that Talos mounts into pods.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/talos.dev/config";

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

fn contract(text: Option<String>) -> Result<Contract, Error> {
    let Some(text) = text else { return Ok(Contract::CURRENT) };
    text.parse().map_err(|error| Error::Usage {
        message: format!("invalid talos-version: {error}"),
        hint: "write it as 1.14 or v1.14.1".to_owned(),
    })
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

impl Input {
    pub(crate) fn file(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// Several files, among them stdin at most once.
    fn files(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Error::Usage {
                message: "stdin can be read only once".to_owned(),
                hint: "give `-` once".to_owned(),
            });
        }
        Ok(paths.iter().map(|path| Self::file(path)).collect())
    }

    /// Distinguishes patches from file names as talosctl does: a file name has no space and no bracket.
    pub(crate) fn patch(argument: String) -> Self {
        if let Some(path) = argument.strip_prefix('@') {
            return Self::File(path.into());
        }
        if argument.contains([' ', '\n']) || argument.starts_with(['[', '{']) {
            return Self::Inline(argument);
        }
        Self::FileOrText(argument.into())
    }
}
