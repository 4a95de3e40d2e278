//! What may be typed. Types and help texts only; no decisions.

#![expect(missing_docs, reason = "clap would show comments on flattened arguments as help")]

mod change;
mod config;
mod connection;
mod elsewhere;
mod groups;
mod guide;
mod leading;
mod lint;
mod look;
mod look_data;
mod node;
mod start;

pub use change::{
    ApplyArgs, ApproveArgs, CancelArgs, Change, DestroyArgs, HealthArgs, HistoryArgs, In,
    Overriding, PlanArgs, ShowArgs, StatusArgs, Told,
};
pub use config::{Config, ConfigCommand};
pub(crate) use connection::span;
pub use connection::{Maintenance, Reach, Sure};
pub(crate) use guide::DEFAULT_FACTORY;
pub use guide::{EntryForm, Extensions, GenMachine, GenSchematic, GenTalconfig};
pub use lint::Lint;
pub use look::{
    Certs, Containers, Get, Hardware, ImageCommand, ImageList, ImageNamespace, Look, ResourceForm,
    Services, Version,
};
pub use look_data::{
    Cp, Dmesg, Etcd, EtcdLook, EtcdShow, EtcdSnapshot, Events, Kubeconfig, Logs, Ls, Read,
};
pub use node::{
    Alarms, ApplyConfig, ApplyHow, ApplyMode, Bootstrap, Defragment, ForfeitLeadership, Image,
    ImagePull, LeaveEtcd, Meta, NodeCommand, NodeEtcd, Overrides, PatchConfig, Reboot, RebootMode,
    RecoverEtcd, RemoveMember, Reset, Rollback, Rule, ServiceAction, ServiceControl, Shutdown,
    Upgrade, Wait, Wipe, WipeDisk, WipeMethod, WipeMode,
};
pub use start::{Import, Init};

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::Error;

/// Create and operate Kubernetes clusters on Talos Linux
#[derive(Parser)]
#[command(
    name = "ichor",
    version,
    max_term_width = 100,
    subcommand_required = true,
    after_long_help = EXIT_STATUS
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

/// One verb of `ichor`.
#[derive(Subcommand)]
pub enum Command {
    /// Generate secrets, machine configuration and credentials
    Gen {
        #[command(subcommand)]
        what: Gen,
    },

    /// Apply patches to machine configuration
    ///
    /// Takes what talosctl takes: strategic merge patches, with `$patch: delete`, and RFC 6902
    /// operations as JSON or YAML. The result is what talosctl 1.14 writes, byte for byte. It is not
    /// validated yet: a machine may still refuse it.
    ///
    ///   ichor patch controlplane.yaml -p @patches/all.yaml
    ///   ichor patch worker.yaml -p '{"machine": {"sysctls": {"a": "1"}}}' -o w-1.yaml
    ///   ichor patch cp-1.yaml cp-2.yaml -p @new.yaml -o patched/
    ///
    /// With --layout the result is laid out as another release of Talos does it: keys become
    /// documents, or documents become keys. What has moved and what stays is told. What it means is
    /// not changed, so new defaults of that release are not among it.
    ///
    ///   ichor patch clusterconfig/*.yaml --layout v1.14 -o newer/
    #[command(verbatim_doc_comment)]
    Patch {
        /// Machine configuration to patch; `-` is stdin
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,

        /// A patch: @FILE, FILE, or its text; repeat it for several
        #[arg(
            short,
            long = "patch",
            value_name = "PATCH",
            allow_hyphen_values = true,
            required_unless_present = "layout"
        )]
        patches: Vec<String>,

        /// Lay the result out as this release of Talos does
        #[arg(long, value_name = "VERSION")]
        layout: Option<String>,

        /// The file to write to, or the directory: one that exists, or for several files; stdout when
        /// left out
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,

        /// Overwrite files that exist
        #[arg(short, long)]
        force: bool,

        /// Quote texts as the talosctl of this release does
        #[arg(long, value_enum, default_value_t, value_name = "RELEASE")]
        dialect: Release,
    },

    /// Show how machines differ from their files, or two files
    ///
    /// Documents are compared by kind and name, and fields by what they mean: the order of keys, quotes and
    /// comments make no difference. Secrets are compared but never shown. Ends with 2 when there are
    /// differences.
    ///
    /// Without files every machine of the cluster is compared with what its directory says.
    ///
    ///   ichor diff old.yaml new.yaml
    ///   ichor diff -n cp-1
    #[command(verbatim_doc_comment)]
    Diff {
        /// The one that was; `-` is stdin
        #[arg(requires = "after")]
        before: Option<PathBuf>,

        /// The one that is to be
        after: Option<PathBuf>,

        #[command(flatten)]
        place: In,

        /// A machine of the cluster, by its name or address; all of them when left out
        #[arg(
            short = 'n',
            long = "nodes",
            value_name = "NAME",
            value_delimiter = ',',
            conflicts_with = "before"
        )]
        names: Vec<String>,

        #[command(flatten)]
        shown: Shown,
    },

    /// Show where a value of machine configuration comes from
    ///
    /// Follows a field through the configuration and the patches, and names the file and the line that set
    /// it. Elements of a list are written [NAME] or [NUMBER]. Without a file it is the configuration of a
    /// machine of the cluster's directory that is explained.
    ///
    ///   ichor explain machine.install.disk -n cp-1
    ///   ichor explain HostnameConfig.hostname controlplane.yaml -p @patches/all.yaml
    ///   ichor explain 'machine.network.interfaces[eth0].mtu' worker.yaml
    ///   ichor explain LinkConfig/eth0.addresses worker.yaml
    ///   ichor explain machine.sysctls.net.core.somaxconn worker.yaml
    #[command(verbatim_doc_comment)]
    Explain {
        /// The field; of the document without a kind, or behind `KIND/NAME.`
        path: String,

        /// The machine configuration; `-` is stdin
        file: Option<PathBuf>,

        #[command(flatten)]
        patches: Patches,

        /// Without a file: the machine, by name or address; may be left out when there is only one
        #[arg(short, long = "nodes", value_name = "NODE", conflicts_with = "file")]
        node: Option<String>,

        #[command(flatten)]
        place: In,

        #[command(flatten)]
        shown: Shown,
    },

    /// Check machine configuration, or a cluster directory
    ///
    /// Applies the rules that Talos applies, and some of our own: those are warnings with a code in
    /// brackets. Every problem is told with its place. Ends with 3 when a configuration is not valid.
    /// Without a file everything in the cluster's directory is checked.
    ///
    ///   ichor validate
    ///   ichor validate controlplane.yaml worker.yaml
    ///   ichor validate --config worker.yaml --mode cloud --strict
    #[command(verbatim_doc_comment)]
    Validate {
        /// The machine configurations; `-` is stdin
        files: Vec<PathBuf>,

        /// Another one, given as talosctl takes it
        #[arg(short, long, value_name = "FILE")]
        config: Option<PathBuf>,

        /// Where the machine runs
        #[arg(short, long, value_enum, default_value_t)]
        mode: MachineMode,

        /// Take warnings about the document without a kind as errors
        #[arg(long)]
        strict: bool,

        #[command(flatten)]
        place: In,

        #[command(flatten)]
        shown: Shown,
    },

    /// Find mistakes in the files of a cluster directory
    ///
    /// Reads a directory with a talconfig.yaml or an ichor.yaml and what belongs to it, and changes
    /// nothing. An error is something that has no effect, or that nothing can be made of: a misspelt
    /// key, an env file that loads nothing, RFC 6902 operations where there are several documents. A
    /// warning works and is probably not what was meant. Ends with 1 when there is an error; with
    /// --strict when there is anything.
    ///
    ///   ichor lint
    ///   ichor lint -C talos --strict -o json
    #[command(verbatim_doc_comment)]
    Lint(Lint),

    /// Start a directory for a new cluster
    ///
    /// Writes ichor.yaml, new secrets and a .gitignore. Nothing is done to machines. With --talhelper it is a talconfig.yaml
    /// with talenv.yaml; the secrets are encrypted where a .sops.yaml or `SOPS_AGE_RECIPIENTS` says for whom.
    ///
    ///   ichor init home --endpoint $ENDPOINT --control-plane cp-1=10.0.0.11 --worker w-1=10.0.0.21
    ///   ichor init home --talhelper --endpoint $ENDPOINT --control-plane cp-1=10.0.0.11
    #[command(verbatim_doc_comment)]
    Init(Init),

    /// Convert a talconfig directory to ichor.yaml
    ///
    /// Writes ichor.yaml, patches and the secrets, encrypted where they were. Every machine gets exactly the
    /// configuration that it had; where that cannot be, nothing is written. The talconfig stays as it is.
    ///
    ///   ichor import -C talos -o home && ichor diff -C home
    #[command(verbatim_doc_comment)]
    Import(Import),

    #[command(flatten)]
    Change(Change),

    #[command(flatten)]
    Look(Look),

    /// Manage the contexts of the talosconfig
    ///
    ///   ichor config contexts
    ///   ichor config merge ./talosconfig
    ///   ichor config new reader.yaml --roles os:reader -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Config(Config),

    /// Reboot, reset, upgrade and configure machines directly
    ///
    /// No plan is made and nothing is checked but what Talos checks itself: `ichor node` is a person's own hand. It asks
    /// before it does anything disruptive, and writes down what was done in an audit log.
    Node {
        #[command(subcommand)]
        what: NodeCommand,
    },

    /// Show the version of this program and of machines
    ///
    /// Machines are supported over their API, and configuration is written for every version contract
    /// in the range. The range is what this program is built for, whatever is installed elsewhere.
    /// Machines are asked only when some are named.
    ///
    ///   ichor version
    ///   ichor version -n 10.0.0.11,10.0.0.12
    #[command(verbatim_doc_comment)]
    Version(Version),

    /// Show the system extensions of a Talos release
    ///
    /// Names in a talconfig are checked against them. The list that is built in ends with the releases of its day: with
    /// --refresh the image factory is asked for a release, and what it says is kept for the next time.
    ///
    ///   ichor extensions v1.12.0
    ///   ichor extensions v1.13.9 --refresh
    #[command(verbatim_doc_comment)]
    Extensions(Extensions),

    /// Print a completion script for your shell
    ///
    /// Load it once per session, or let your shell find it at start:
    ///
    ///   bash   source <(ichor completions bash)
    ///   zsh    ichor completions zsh > "${fpath[1]}/_ichor"
    ///   fish   ichor completions fish > ~/.config/fish/completions/ichor.fish
    #[command(verbatim_doc_comment)]
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },

    /// Run the commands of talhelper
    ///
    /// Takes the commands and flags of talhelper 3.1.15: `ichor talhelper --help` shows them. The program does
    /// the same when it is called under the name talhelper.
    #[command(disable_help_flag = true)]
    Talhelper {
        /// What talhelper would be given
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
}

/// What `ichor gen` makes.
#[derive(Subcommand)]
pub enum Gen {
    /// Make the secrets of a new cluster
    ///
    /// Keep the file safe: whoever has it, has the cluster. A file called NAME.sops.yaml is written
    /// encrypted, as the sops program would: by the rules of the nearest .sops.yaml above it, for the age
    /// recipients named there or in `SOPS_AGE_RECIPIENTS`. Every command that reads secrets opens it with the
    /// keys in `SOPS_AGE_KEY`, `SOPS_AGE_KEY_FILE` or ~/.config/sops/age/keys.txt.
    Secrets {
        /// The file to write; `-` is stdout
        #[arg(short, long, alias = "output", default_value = "secrets.yaml", value_name = "FILE")]
        output_file: PathBuf,

        /// The Talos release that the secrets are for
        #[arg(long, value_name = "VERSION")]
        talos_version: Option<String>,

        /// Take the secrets out of a control plane's configuration instead
        #[arg(long, value_name = "FILE", conflicts_with = "from_kubernetes_pki")]
        from_controlplane_config: Option<PathBuf>,

        /// Write the secrets of this file instead, as to encrypt them:
        /// `--from secrets.yaml -o secrets.sops.yaml`
        #[arg(long, value_name = "FILE", conflicts_with_all = ["from_kubernetes_pki", "from_controlplane_config"])]
        from: Option<PathBuf>,

        /// Take over the authorities of a Kubernetes cluster: its pki directory
        #[arg(short = 'p', long, value_name = "DIR")]
        from_kubernetes_pki: Option<PathBuf>,

        /// With a pki directory: the bootstrap token to keep
        #[arg(short = 't', long, value_name = "TOKEN", requires = "from_kubernetes_pki")]
        kubernetes_bootstrap_token: Option<String>,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },

    /// Make the machine configuration of a cluster
    ///
    /// Writes controlplane.yaml, worker.yaml and talosconfig, laid out as the Talos release wants it and
    /// without comments: what talosctl writes with --with-docs=false --with-examples=false.
    ///
    ///   ichor gen secrets
    ///   ichor gen config home $ENDPOINT --with-secrets secrets.yaml
    #[command(verbatim_doc_comment)]
    Config(Box<GenConfigArgs>),

    /// Make a certificate authority: ORGANIZATION.crt, .key and .sha256
    Ca {
        /// The name of the authority, and of its files
        #[arg(long)]
        organization: String,

        /// How long it is valid
        #[arg(long, default_value_t = 87600, value_parser = clap::value_parser!(u32).range(1..))]
        hours: u32,

        /// Make an RSA key instead of an Ed25519 one
        #[arg(long)]
        rsa: bool,

        /// Overwrite files that exist
        #[arg(short, long)]
        force: bool,
    },

    /// Make a private key: NAME.key
    Key {
        /// The name of the file, without .key
        #[arg(long)]
        name: String,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },

    /// Ask for a certificate: a file beside the key, ending in .csr
    Csr {
        /// The key that the certificate is for
        #[arg(long, value_name = "FILE")]
        key: PathBuf,

        /// The address that it speaks for
        #[arg(long)]
        ip: IpAddr,

        /// What its owner may do
        #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
        roles: Vec<String>,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },

    /// Sign what a request asks for: NAME.crt
    Crt {
        /// The name of the file, without .crt
        #[arg(long)]
        name: String,

        /// The authority: its files, without .crt and .key
        #[arg(long, value_name = "BASE")]
        ca: PathBuf,

        /// The request
        #[arg(long, value_name = "FILE")]
        csr: PathBuf,

        /// How long the certificate is valid
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
        hours: u32,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },

    /// Make a certificate that signs itself, for a day: ORGANIZATION.crt and .key
    Keypair {
        /// The name of the authority, and of its files
        #[arg(long)]
        organization: String,

        /// The address that it speaks for
        #[arg(long)]
        ip: Option<IpAddr>,

        /// Overwrite files that exist
        #[arg(short, long)]
        force: bool,
    },

    /// Find the id of a schematic without asking the factory, and name its images
    ///
    /// The factory serves images of an id only once it has seen the schematic itself: --register shows it.
    ///
    ///   ichor gen schematic schematic.yaml
    ///   ichor gen schematic schematic.yaml --talos v1.12.0 --secureboot --register
    #[command(verbatim_doc_comment)]
    Schematic(GenSchematic),

    /// Make a talconfig of cluster.yaml and nodes.yaml
    ///
    /// Both files are checked first. Patches are the templates below templates/config/talos/patches: in `global`,
    /// `controller`, `worker`, and in directories with the names of nodes. Templates in templates/config/talos are filled in
    /// as well; without a talconfig.yaml.j2 among them the talconfig is the one of the operations guide.
    /// What is called NAME.sops.yaml.j2 is written encrypted, by the rules of the nearest .sops.yaml.
    ///
    ///   ichor gen talconfig --dry-run
    ///   ichor gen talconfig && ichor talhelper validate talconfig talos/talconfig.yaml
    #[command(verbatim_doc_comment)]
    Talconfig(GenTalconfig),

    /// Look at a machine and print the entry that describes it
    ///
    /// The disk is the one to install to: none that is read-only, a CD, or attached by USB; fast before slow, then
    /// small before large. The MAC address is that of the link that has the machine's address. What was chosen, and
    /// why, is told on stderr.
    ///
    ///   ichor gen machine -n 10.0.0.13 --insecure
    ///   ichor gen machine -n 10.0.0.13 --insecure --for nodes --name cp-3 --control-plane
    #[command(verbatim_doc_comment)]
    Machine(Box<GenMachine>),

    /// Make a talosconfig from the secrets of a cluster
    ///
    /// In the directory of a cluster its secrets, its name and its endpoints are used.
    Talosconfig {
        /// The name of the cluster; that of the directory when left out
        cluster: Option<String>,

        /// The secrets of the cluster; those of the directory, or secrets.yaml, when left out
        #[arg(long, value_name = "FILE")]
        with_secrets: Option<PathBuf>,

        /// What the client may do
        #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
        roles: Vec<String>,

        /// How long the client's certificate is valid
        #[arg(long, default_value_t = 8760, value_parser = clap::value_parser!(u32).range(1..))]
        hours: u32,

        /// The file to write; stdout when left out
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },

    /// Print the JSON Schema of ichor.yaml, for editors
    ///
    ///   ichor gen schema > ichor.schema.json
    #[command(verbatim_doc_comment)]
    Schema,

    /// Make the administrator's kubeconfig from the secrets of a cluster
    Kubeconfig {
        /// The name of the cluster
        cluster: String,

        /// Where the Kubernetes API is reached: https://host:port
        endpoint: String,

        /// The secrets of the cluster
        #[arg(long, default_value = "secrets.yaml", value_name = "FILE")]
        with_secrets: PathBuf,

        /// How long the certificate is valid
        #[arg(long, default_value_t = 8760, value_parser = clap::value_parser!(u32).range(1..))]
        hours: u32,

        /// The file to write; stdout when left out
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },
}

/// Arguments of `ichor gen config`.
#[derive(clap::Args)]
pub struct GenConfigArgs {
    /// The name of the cluster
    pub cluster: String,

    /// Where the Kubernetes API will be reached: https://host:port
    pub endpoint: String,

    /// The secrets of the cluster; new ones when left out
    #[arg(long, value_name = "FILE")]
    pub with_secrets: Option<PathBuf>,

    /// The Talos release whose layout the configuration has; the newest when left out. It does not change
    /// the versions of Kubernetes and of the installer
    #[arg(long, value_name = "VERSION")]
    pub talos_version: Option<String>,

    /// The version of Kubernetes
    #[arg(long, default_value = DEFAULT_KUBERNETES, value_name = "VERSION")]
    pub kubernetes_version: String,

    /// The disk to install to; empty for none
    #[arg(long, default_value = "/dev/sda", value_name = "DEVICE")]
    pub install_disk: String,

    /// The image to install
    #[arg(long, default_value = DEFAULT_INSTALLER, value_name = "IMAGE")]
    pub install_image: String,

    /// Comments that document fields; there are none, so only `false` is of any use
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub with_docs: Option<bool>,

    /// Comments with examples; there are none, so only `false` is of any use
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub with_examples: Option<bool>,

    /// Further names and addresses of the machines and the API
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub additional_sans: Vec<String>,

    /// The domain of the cluster
    #[arg(long, default_value = "cluster.local", value_name = "DOMAIN")]
    pub dns_domain: String,

    /// A mirror of a registry: HOST=URL
    #[arg(long, value_delimiter = ',', value_name = "HOST=URL")]
    pub registry_mirror: Vec<String>,

    /// Whether machines find each other through the discovery service
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub with_cluster_discovery: bool,

    /// Build an encrypted network between the machines
    #[arg(long)]
    pub with_kubespan: bool,

    /// A patch for every machine: @FILE, FILE, or its text; repeat it for several
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch: Vec<String>,

    /// A patch for control planes: @FILE, FILE, or its text; repeat it for several
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch_control_plane: Vec<String>,

    /// A patch for workers: @FILE, FILE, or its text; repeat it for several
    #[arg(long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch_worker: Vec<String>,

    /// What to write
    #[arg(
        short = 't',
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "controlplane,worker,talosconfig",
        value_name = "TYPE"
    )]
    pub output_types: Vec<OutputType>,

    /// The directory to write to, or the file when there is one type; `-` is stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite files that exist
    #[arg(short, long)]
    pub force: bool,
}

/// What `ichor gen config` writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum OutputType {
    /// The configuration of control planes
    Controlplane,
    /// The configuration of workers
    Worker,
    /// The client's side
    Talosconfig,
}

/// Patches, in the order in which they are applied.
#[derive(clap::Args)]
pub struct Patches {
    /// A patch: @FILE, FILE, or its text; repeat it for several
    #[arg(
        short,
        long = "patch",
        value_name = "PATCH",
        allow_hyphen_values = true,
        requires = "file"
    )]
    pub patches: Vec<String>,
}

/// How data is shown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Shown {
    /// The output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// What kind of machine a configuration is for.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum MachineMode {
    /// A machine that Talos is installed to
    #[default]
    Metal,
    /// A machine of a cloud, which boots an image that has Talos already
    Cloud,
    /// A container
    Container,
    /// A machine that only shows what it has
    MetalAgent,
}

impl From<MachineMode> for talos_config::Mode {
    fn from(mode: MachineMode) -> Self {
        match mode {
            MachineMode::Metal => Self::Metal,
            MachineMode::Cloud => Self::Cloud,
            MachineMode::Container => Self::Container,
            MachineMode::MetalAgent => Self::MetalAgent,
        }
    }
}

/// Release lines of talosctl whose output differs.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Release {
    /// talosctl 1.14 and later
    #[default]
    #[value(name = "1.14")]
    V1_14,
    /// talosctl 1.13
    #[value(name = "1.13")]
    V1_13,
    /// talosctl 1.12 and earlier
    #[value(name = "1.12")]
    V1_12,
}

/// The forms in which data is shown.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Output {
    /// For people
    #[default]
    #[value(alias = "text")]
    Table,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
}

/// The whole command line as clap knows it: for parsing, completions and the reference.
pub fn command() -> clap::Command {
    groups::grouped(Args::command())
}

/// Checks that the words of a command line can be typed. For texts that name commands: a word in capitals stands for any
/// value, and what is required may be left out.
pub fn check(words: &[&str]) -> Result<(), String> {
    let mut arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    if let Some(own) = of_talhelper(&mut arguments) {
        return crate::talhelper::check(&own);
    }
    let root = command();
    let arguments = leading::moved_behind(arguments, &root).map_err(|error| error.to_string())?;
    let Err(error) = root.try_get_matches_from(arguments) else { return Ok(()) };
    let is_placeholder = || match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => {
            !value.is_empty() && !value.contains(|letter: char| letter.is_ascii_lowercase())
        }
        _ => false,
    };
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingRequiredArgument => Ok(()),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if is_placeholder() => Ok(()),
        // Clap's own `ichor help COMMAND`.
        ErrorKind::InvalidSubcommand if words == ["ichor", "help", "COMMAND"] => Ok(()),
        _ => Err(error.render().to_string()),
    }
}

/// What a command line turned out to be.
pub(crate) enum Typed {
    /// Something to do.
    Command(Box<Args>),
    /// A question about the program itself, answered already: help, version.
    Question(String),
}

/// Reads a command line, the program's name included.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Typed, Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(own) = of_talhelper(&mut arguments) {
        return Ok(Typed::Command(Box::new(Args {
            command: Command::Talhelper { arguments: own },
        })));
    }
    let mut root = command();
    if arguments.len() <= 1 {
        return Ok(Typed::Question(root.render_help().ansi().to_string()));
    }
    let arguments = leading::moved_behind(arguments, &root)?;
    let matches = root.try_get_matches_from_mut(&arguments);
    let parsed = matches.and_then(|matches| {
        Args::from_arg_matches(&matches).map_err(|error| error.format(&mut root))
    });
    let error = match parsed {
        Ok(args) => return Ok(Typed::Command(Box::new(args))),
        Err(error) => error,
    };
    // A group without a command, such as `ichor node`, is a question too.
    let asks = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if asks || !error.use_stderr() {
        return Ok(Typed::Question(error.render().ansi().to_string()));
    }
    let words: Vec<&str> = arguments.iter().skip(1).map_while(|word| word.to_str()).collect();
    Err(elsewhere::named(&words).unwrap_or_else(|| usage(&error.render().to_string(), &words)))
}

/// What a personality is given, by the program's name or by the first word. It reads that by itself; laying out all that
/// could be typed otherwise would take a fifth of its memory.
fn of_talhelper(arguments: &mut Vec<OsString>) -> Option<Vec<OsString>> {
    let is_talhelper = |word: &OsString| Path::new(word).file_name() == Some("talhelper".as_ref());
    if arguments.first().is_some_and(is_talhelper) {
        Some(arguments.split_off(1))
    } else if arguments.get(1).is_some_and(|word| word == "talhelper") {
        Some(arguments.split_off(2))
    } else {
        None
    }
}

/// Says in our form what clap says in paragraphs: the error, perhaps a tip, the usage, where to look.
fn usage(rendered: &str, words: &[&str]) -> Error {
    let mut message = "the command line is not complete".to_owned();
    let mut hint = format!("run `{} --help`", name_of(words));
    for paragraph in rendered.trim_end().split("\n\n") {
        if let Some(error) = paragraph.strip_prefix("error: ") {
            message = error.to_owned();
        } else if let Some(tip) = paragraph.trim_start().strip_prefix("tip: ") {
            let similar = tip.split_once(": ").filter(|_| tip.contains(" similar "));
            hint = similar.map_or_else(|| tip.to_owned(), |(_, names)| format!("try {names}"));
        } else if paragraph.starts_with("Usage: ") {
            message = format!("{message}\n\n{paragraph}");
        }
    }
    Error::Usage { message, hint }
}

/// The command that a command line begins with, as it is typed.
fn name_of(words: &[&str]) -> String {
    let root = command();
    let (mut last, mut name) = (&root, "ichor".to_owned());
    for word in words {
        let Some(below) = last.find_subcommand(word) else { break };
        name = format!("{name} {}", below.get_name());
        last = below;
    }
    name
}

/// What talosctl 1.14.1 writes when it is not told otherwise.
const DEFAULT_KUBERNETES: &str = "1.37.0";
const DEFAULT_INSTALLER: &str = "factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.14.1";

const EXIT_STATUS: &str = "\
Exit status:
  0    done
  1    failed, also when only some machines failed
  2    changes are pending, or there are differences
  3    bad input or usage; nothing was changed
  4    refused by a safety rule; nothing was changed
  5    nothing could be reached
  6    timed out
  130  interrupted";
