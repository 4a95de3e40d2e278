//! What may be typed behind `talhelper`, and what was meant.
//!
//! Flags follow the rules of talhelper's library: a list is given by repeating a flag or with commas, and the
//! first one that is given replaces the defaults; of other flags the last one counts; `--flag=false` is no flag;
//! whatever stands behind a flag that takes a value is its value; flags of a group may stand before its verb.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use talos_config::rules;

/// What was typed.
pub(super) enum Parsed {
    Command {
        command: Command,
        debug: bool,
    },
    /// Something to read: help, the version, a completion script.
    Text(String),
    /// Why it cannot be meant.
    Wrong(String),
}

/// One command.
pub(super) enum Command {
    Genconfig(Box<Genconfig>),
    Gensecret { from: Option<String> },
    Gencommand { verb: Verb, common: Common, offline: bool },
    GenurlInstaller(Box<Genurl>),
    GenurlImage(Box<GenurlImage>),
    ValidateTalconfig { file: String, env_files: Vec<String>, no_substitute: bool },
    ValidateNodeconfig { files: Vec<String>, mode: String },
    Genschema { file: String },
}

#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
pub(super) struct Genconfig {
    pub(super) config_file: String,
    pub(super) env_files: Vec<String>,
    pub(super) secret_files: Vec<String>,
    pub(super) out_dir: String,
    pub(super) mode: String,
    pub(super) no_gitignore: bool,
    pub(super) dry_run: bool,
    pub(super) offline: bool,
    pub(super) disable_nodes_section: bool,
    /// In seconds.
    pub(super) lifetime: i64,
    pub(super) lifetime_text: String,
}

/// What all of `gencommand` have.
pub(super) struct Common {
    pub(super) config_file: String,
    pub(super) env_files: Vec<String>,
    pub(super) out_dir: String,
    pub(super) node: String,
    pub(super) extra_flags: Vec<String>,
}

pub(super) struct Genurl {
    pub(super) config_file: String,
    pub(super) env_files: Vec<String>,
    pub(super) node: String,
    pub(super) registry: String,
    pub(super) version: String,
    pub(super) extensions: Vec<String>,
    pub(super) kernel_args: Vec<String>,
    pub(super) offline: bool,
    pub(super) secure_boot: bool,
    pub(super) mode: String,
    pub(super) customization_file: Option<String>,
}

pub(super) struct GenurlImage {
    pub(super) common: Genurl,
    pub(super) arch: String,
    pub(super) use_uki: bool,
    pub(super) boot_method: String,
    pub(super) suffix: String,
}

/// What talosctl is to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verb {
    Apply,
    Bootstrap,
    Health,
    Kubeconfig,
    Reset,
    Upgrade,
    UpgradeK8s,
}

impl Verb {
    /// What errors call it.
    pub(super) fn attempt(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            other => other.command(),
        }
    }

    /// What talosctl calls it.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Apply => "apply-config",
            Self::Bootstrap => "bootstrap",
            Self::Health => "health",
            Self::Kubeconfig => "kubeconfig",
            Self::Reset => "reset",
            Self::Upgrade => "upgrade",
            Self::UpgradeK8s => "upgrade-k8s",
        }
    }
}

/// Returns the command line as clap knows it, for completions.
pub(crate) fn command() -> clap::Command {
    Typed::command()
}

/// Reads a command line, the program's name left out.
pub(super) fn parse(arguments: &[OsString]) -> Parsed {
    let words = std::iter::once(OsString::from("talhelper")).chain(arguments.iter().cloned());
    let matches = as_the_library(Typed::command()).try_get_matches_from(words);
    match matches.and_then(|matches| Typed::from_arg_matches(&matches)) {
        Ok(typed) => {
            let debug = typed.debug;
            match resolve(typed) {
                Ok(Meant::Command(command)) => Parsed::Command { command, debug },
                Ok(Meant::Help(path)) => Parsed::Text(help(&path)),
                Ok(Meant::Text(text)) => Parsed::Text(text),
                Err(message) => Parsed::Wrong(message),
            }
        }
        Err(error) => explain(arguments, &error),
    }
}

/// A command with flags that are read as talhelper's library reads them.
fn as_the_library(command: clap::Command) -> clap::Command {
    let command = command.args_override_self(true).mut_args(|flag| match flag.get_action() {
        ArgAction::SetTrue => flag
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_value("false")
            .default_missing_value("true")
            .hide_default_value(true)
            .hide_possible_values(true)
            .value_name("BOOL")
            .value_parser(switch),
        ArgAction::Set | ArgAction::Append if !flag.is_positional() => {
            flag.allow_hyphen_values(true)
        }
        _ => flag,
    });
    command.mut_subcommands(as_the_library)
}

/// What Go takes for true and for false.
fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", rules::quoted(text))),
    }
}

enum Meant {
    Command(Command),
    Help(Vec<&'static str>),
    Text(String),
}

/// Makes machine configuration of a talconfig, as talhelper does
///
/// Reads talconfig.yaml, talenv.yaml and talsecret.yaml of a directory as they are. Files encrypted with SOPS
/// are opened with age keys.
#[derive(Parser)]
#[command(name = "talhelper", disable_version_flag = true, max_term_width = 100)]
struct Typed {
    /// Tell every step on stderr
    #[arg(short, long, global = true)]
    debug: bool,

    /// Tell the release that this stands in for
    #[arg(short, long)]
    version: bool,

    #[command(subcommand)]
    command: Option<Verbs>,
}

#[derive(Subcommand)]
enum Verbs {
    /// Write the configuration of every machine, and the client's
    Genconfig(GenconfigArgs),

    /// Make the secrets of a new cluster, or take those of an old one
    Gensecret {
        /// Take them out of a control plane's configuration
        #[arg(short, long, value_name = "FILE")]
        from_configfile: Option<String>,

        #[arg(hide = true)]
        rest: Vec<String>,
    },

    /// Write calls of talosctl for a shell
    #[command(subcommand_required = false)]
    Gencommand {
        #[command(flatten)]
        args: GencommandArgs,

        #[command(subcommand)]
        verb: Option<GencommandVerb>,
    },

    /// Tell the name of an installer or the URL of a boot image
    #[command(subcommand_required = false)]
    Genurl {
        #[command(flatten)]
        args: GenurlArgs,

        #[command(subcommand)]
        what: Option<GenurlWhat>,
    },

    /// Check a talconfig, or the configuration of a machine
    #[command(subcommand_required = false)]
    Validate {
        #[command(subcommand)]
        what: Option<ValidateWhat>,
    },

    /// Write the JSON schema of a talconfig
    Genschema {
        /// The file to write
        #[arg(short, long, default_value = "talconfig.json")]
        file: String,

        #[arg(hide = true)]
        rest: Vec<String>,
    },

    /// Write a script that completes commands in a shell
    Completion {
        /// The shell
        shell: Option<String>,

        /// Accepted for old scripts
        #[arg(long)]
        no_descriptions: bool,
    },
}

#[expect(clippy::struct_excessive_bools, reason = "flags that have nothing to do with each other")]
#[derive(clap::Args)]
struct GenconfigArgs {
    /// The talconfig
    #[arg(short, long, default_value = "talconfig.yaml", value_name = "FILE")]
    config_file: String,

    /// Files that set variables; those that are not there are passed over
    #[arg(short, long, value_name = "FILE")]
    env_file: Vec<String>,

    /// Files with secrets; the last one that is there counts
    #[arg(short, long, value_name = "FILE")]
    secret_file: Vec<String>,

    /// The directory to write to
    #[arg(short, long, default_value = "./clusterconfig", value_name = "DIRECTORY")]
    out_dir: String,

    /// Where machines run: metal, cloud or container
    #[arg(short = 'm', long, default_value = "metal", value_name = "MODE")]
    talos_mode: String,

    /// Leave .gitignore alone
    #[arg(long)]
    no_gitignore: bool,

    /// Write nothing, and show what would change
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Compute ids of schematics instead of asking the image factory
    #[arg(long)]
    offline_mode: bool,

    /// Leave the machines out of talosconfig
    #[arg(long)]
    disable_nodes_section: bool,

    /// How long the client's certificate is valid
    #[arg(long, default_value = "8760h0m0s", value_name = "DURATION")]
    crt_ttl: String,

    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(clap::Args)]
struct GencommandArgs {
    /// The talconfig
    #[arg(global = true, short, long, default_value = "talconfig.yaml", value_name = "FILE")]
    config_file: String,

    /// Files that set variables
    #[arg(global = true, short, long, value_name = "FILE")]
    env_file: Vec<String>,

    /// The directory with machine configuration
    #[arg(global = true, short, long, default_value = "./clusterconfig", value_name = "DIRECTORY")]
    out_dir: String,

    /// One machine, by address or name
    #[arg(global = true, short, long, default_value = "")]
    node: String,

    /// Further flags of talosctl
    #[arg(global = true, long, allow_hyphen_values = true, value_name = "FLAGS")]
    extra_flags: Vec<String>,
}

#[derive(Subcommand)]
enum GencommandVerb {
    /// Apply configuration
    Apply(Rest),
    /// Bootstrap etcd
    Bootstrap(Rest),
    /// Look whether the cluster is healthy
    Health(Rest),
    /// Get a kubeconfig
    Kubeconfig(Rest),
    /// Wipe machines
    Reset(Rest),
    /// Install another release of Talos
    Upgrade {
        /// Compute ids of schematics instead of asking the image factory
        #[arg(long)]
        offline_mode: bool,

        #[command(flatten)]
        rest: Rest,
    },
    /// Install another release of Kubernetes
    #[command(name = "upgrade-k8s")]
    UpgradeK8s(Rest),
}

#[derive(clap::Args)]
struct GenurlArgs {
    /// The talconfig; without one the flags count
    #[arg(global = true, short, long, default_value = "talconfig.yaml", value_name = "FILE")]
    config_file: String,

    /// Files that set variables
    #[arg(global = true, long, value_name = "FILE")]
    env_file: Vec<String>,

    /// One machine, by address or name
    #[arg(global = true, short, long, default_value = "")]
    node: String,

    /// The host of the image factory
    #[arg(global = true, short, long, default_value = "factory.talos.dev", value_name = "HOST")]
    registry_url: String,

    /// The release of Talos
    #[arg(global = true, short = 'v', long = "version", value_name = "VERSION", default_value = talconfig::LATEST)]
    talos_version: String,

    /// A system extension
    #[arg(global = true, short, long, value_name = "NAME")]
    extension: Vec<String>,

    /// A kernel argument
    #[arg(global = true, short, long, allow_hyphen_values = true, value_name = "ARGUMENT")]
    kernel_arg: Vec<String>,

    /// Compute ids of schematics instead of asking the image factory
    #[arg(global = true, long)]
    offline_mode: bool,

    /// Ask for images that boot securely
    #[arg(global = true, long)]
    secure_boot: bool,

    /// The platform
    #[arg(global = true, short = 'm', long, default_value = "metal", value_name = "PLATFORM")]
    talos_mode: String,

    /// A schematic, instead of a talconfig
    #[arg(global = true, long, value_name = "FILE")]
    customization_file: Option<String>,
}

#[derive(Subcommand)]
enum GenurlWhat {
    /// The image of the installer
    Installer(Rest),
    /// The image to boot from
    Image {
        /// The processor
        #[arg(short, long, default_value = "amd64")]
        arch: String,

        /// Ask for a unified kernel image, with --secure-boot
        #[arg(long)]
        use_uki: bool,

        /// iso, disk-image or pxe
        #[arg(long, default_value = "iso", value_name = "METHOD")]
        boot_method: String,

        /// The suffix of the image
        #[arg(long, default_value = "")]
        suffix: String,

        #[command(flatten)]
        rest: Rest,
    },
}

/// Words that no flag takes.
#[derive(clap::Args)]
struct Rest {
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Subcommand)]
enum ValidateWhat {
    /// Check a talconfig
    Talconfig {
        /// The talconfig
        file: Vec<String>,

        /// Files that set variables
        #[arg(short, long, value_name = "FILE")]
        env_file: Vec<String>,

        /// Leave variables as they are
        #[arg(long)]
        no_substitute: bool,
    },
    /// Check the configuration of machines
    Nodeconfig {
        /// The files
        files: Vec<String>,

        /// Where machines run: metal, cloud or container
        #[arg(short, long, default_value = "metal")]
        mode: String,
    },
}

fn resolve(typed: Typed) -> Result<Meant, String> {
    if typed.version {
        return Ok(Meant::Text(format!(
            "talhelper version {STANDS_IN_FOR} (Ichor {})\n",
            env!("CARGO_PKG_VERSION")
        )));
    }
    let Some(command) = typed.command else { return Ok(Meant::Help(Vec::new())) };
    Ok(Meant::Command(match command {
        Verbs::Genconfig(args) => {
            none("talhelper genconfig", &args.rest)?;
            Command::Genconfig(Box::new(genconfig(args)?))
        }
        Verbs::Gensecret { from_configfile, rest } => {
            none("talhelper gensecret", &rest)?;
            Command::Gensecret { from: from_configfile }
        }
        Verbs::Gencommand { verb: None, .. } => return Ok(Meant::Help(vec!["gencommand"])),
        Verbs::Gencommand { args, verb: Some(verb) } => gencommand(args, verb)?,
        Verbs::Genurl { what: None, .. } => return Ok(Meant::Help(vec!["genurl"])),
        // Words that no flag takes are passed over here, as in talhelper.
        Verbs::Genurl { args, what: Some(GenurlWhat::Installer(_)) } => {
            Command::GenurlInstaller(Box::new(genurl(args)?))
        }
        Verbs::Genurl {
            args,
            what: Some(GenurlWhat::Image { arch, use_uki, boot_method, suffix, rest: _ }),
        } => {
            let common = genurl(args)?;
            Command::GenurlImage(Box::new(GenurlImage {
                common,
                arch,
                use_uki,
                boot_method,
                suffix,
            }))
        }
        Verbs::Validate { what: None } => return Ok(Meant::Help(vec!["validate"])),
        Verbs::Validate {
            what: Some(ValidateWhat::Talconfig { file, env_file, no_substitute }),
        } => {
            if file.len() > 1 {
                return Err(format!("accepts at most 1 arg(s), received {}", file.len()));
            }
            let file = file.into_iter().next().unwrap_or_else(|| "talconfig.yaml".to_owned());
            let env_files = list("-e, --env-file", &env_file, &ENV_FILES)?;
            Command::ValidateTalconfig { file, env_files, no_substitute }
        }
        Verbs::Validate { what: Some(ValidateWhat::Nodeconfig { files, mode }) } => {
            Command::ValidateNodeconfig { files, mode }
        }
        Verbs::Genschema { file, rest } => {
            none("talhelper genschema", &rest)?;
            Command::Genschema { file }
        }
        Verbs::Completion { shell, .. } => {
            let shell = shell.and_then(|shell| Shell::from_str(&shell, false).ok());
            let Some(shell) = shell else { return Ok(Meant::Help(vec!["completion"])) };
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Typed::command(), "talhelper", &mut script);
            return Ok(Meant::Text(String::from_utf8_lossy(&script).into_owned()));
        }
    }))
}

fn genconfig(args: GenconfigArgs) -> Result<Genconfig, String> {
    let nanoseconds = rules::duration(&args.crt_ttl).ok_or_else(|| {
        let quoted = rules::quoted(&args.crt_ttl);
        format!("invalid argument {quoted} for \"--crt-ttl\" flag: time: invalid duration {quoted}")
    })?;
    Ok(Genconfig {
        config_file: args.config_file,
        env_files: list("-e, --env-file", &args.env_file, &ENV_FILES)?,
        secret_files: list("-s, --secret-file", &args.secret_file, &SECRET_FILES)?,
        out_dir: args.out_dir,
        mode: args.talos_mode,
        no_gitignore: args.no_gitignore,
        dry_run: args.dry_run,
        offline: args.offline_mode,
        disable_nodes_section: args.disable_nodes_section,
        lifetime: nanoseconds / 1_000_000_000,
        lifetime_text: rules::spelled_duration(&args.crt_ttl).unwrap_or_default(),
    })
}

fn gencommand(args: GencommandArgs, verb: GencommandVerb) -> Result<Command, String> {
    let (verb, Rest { rest }, offline) = match verb {
        GencommandVerb::Apply(rest) => (Verb::Apply, rest, false),
        GencommandVerb::Bootstrap(rest) => (Verb::Bootstrap, rest, false),
        GencommandVerb::Health(rest) => (Verb::Health, rest, false),
        GencommandVerb::Kubeconfig(rest) => (Verb::Kubeconfig, rest, false),
        GencommandVerb::Reset(rest) => (Verb::Reset, rest, false),
        GencommandVerb::Upgrade { offline_mode, rest } => (Verb::Upgrade, rest, offline_mode),
        GencommandVerb::UpgradeK8s(rest) => (Verb::UpgradeK8s, rest, false),
    };
    none(&format!("talhelper gencommand {}", verb.attempt()), &rest)?;
    let common = Common {
        config_file: args.config_file,
        env_files: list("-e, --env-file", &args.env_file, &ENV_FILES)?,
        out_dir: args.out_dir,
        node: args.node,
        extra_flags: list("--extra-flags", &args.extra_flags, &[])?,
    };
    Ok(Command::Gencommand { verb, common, offline })
}

fn genurl(args: GenurlArgs) -> Result<Genurl, String> {
    Ok(Genurl {
        config_file: args.config_file,
        env_files: list("--env-file", &args.env_file, &ENV_FILES)?,
        node: args.node,
        registry: args.registry_url,
        version: args.talos_version,
        extensions: list("-e, --extension", &args.extension, &[])?,
        kernel_args: list("-k, --kernel-arg", &args.kernel_arg, &[])?,
        offline: args.offline_mode,
        secure_boot: args.secure_boot,
        mode: args.talos_mode,
        customization_file: args.customization_file.filter(|file| !file.is_empty()),
    })
}

/// Refuses words that no flag takes.
fn none(command: &str, rest: &[String]) -> Result<(), String> {
    match rest.first() {
        None => Ok(()),
        Some(word) => Err(format!("unknown command {word:?} for {command:?}")),
    }
}

/// The items of a list that was given once or several times, each with commas in it.
fn list(flag: &str, given: &[String], defaults: &[&str]) -> Result<Vec<String>, String> {
    if given.is_empty() {
        return Ok(defaults.iter().map(|item| (*item).to_owned()).collect());
    }
    let mut items = Vec::new();
    for text in given {
        let row = separated(text).map_err(|problem| {
            format!("invalid argument {} for {flag:?} flag: {problem}", rules::quoted(text))
        })?;
        items.extend(row);
    }
    Ok(items)
}

/// One row of comma-separated values.
fn separated(text: &str) -> Result<Vec<String>, String> {
    let mut items = Vec::new();
    let mut rest = text;
    if rest.is_empty() {
        return Ok(items);
    }
    loop {
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(',').unwrap_or(rest.len());
            if let Some(at) = rest[..end].find('"') {
                let column = text.len() - rest.len() + at + 1;
                return Err(format!(
                    "parse error on line 1, column {column}: bare \" in non-quoted-field"
                ));
            }
            items.push(rest[..end].to_owned());
            match rest[end..].strip_prefix(',') {
                Some(after) => rest = after,
                None => return Ok(items),
            }
            continue;
        };
        let mut item = String::new();
        let mut inner = quoted;
        loop {
            let Some(end) = inner.find('"') else {
                return Err(format!(
                    "parse error on line 1, column {}: extraneous or missing \" in quoted-field",
                    text.len() + 1
                ));
            };
            item.push_str(&inner[..end]);
            inner = &inner[end + 1..];
            match inner.strip_prefix('"') {
                Some(after) => {
                    item.push('"');
                    inner = after;
                }
                None => break,
            }
        }
        items.push(item);
        match inner.strip_prefix(',') {
            Some(after) => rest = after,
            None => return Ok(items),
        }
    }
}

/// What a command line that cannot be read is answered with.
fn explain(arguments: &[OsString], error: &clap::Error) -> Parsed {
    let context = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let groups: Vec<&'static str> = ["gencommand", "genurl", "validate", "completion"]
        .into_iter()
        .filter(|group| arguments.iter().any(|word| word == group))
        .collect();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Parsed::Text(error.render().to_string())
        }
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand);
            let is_topic = arguments.iter().any(|word| word == "help");
            match groups.first() {
                // A group that does not know the word tells what it knows.
                Some(group) if !is_topic => Parsed::Text(help(&[*group])),
                _ if is_topic => Parsed::Text(help(&[])),
                _ => Parsed::Wrong(format!("unknown command {word:?} for \"talhelper\"")),
            }
        }
        ErrorKind::UnknownArgument => {
            let word = context(ContextKind::InvalidArg);
            let letter = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            match letter.and_then(|rest| rest.chars().next()) {
                Some(letter) => {
                    Parsed::Wrong(format!("unknown shorthand flag: '{letter}' in {word}"))
                }
                None => {
                    let flag = word.split('=').next().unwrap_or_default();
                    Parsed::Wrong(format!("unknown flag: {flag}"))
                }
            }
        }
        ErrorKind::ValueValidation => {
            let (value, flag) = (context(ContextKind::InvalidValue), flag_name(error));
            let reason = std::error::Error::source(error).map(ToString::to_string);
            Parsed::Wrong(format!(
                "invalid argument {} for \"{flag}\" flag: {}",
                rules::quoted(&value),
                reason.unwrap_or_default()
            ))
        }
        ErrorKind::InvalidValue if context(ContextKind::InvalidValue).is_empty() => {
            let word = arguments.last().map(|word| word.to_string_lossy()).unwrap_or_default();
            Parsed::Wrong(match word.strip_prefix("--") {
                Some(flag) => format!("flag needs an argument: --{flag}"),
                None => {
                    let letter = word.chars().next_back().unwrap_or_default();
                    format!("flag needs an argument: '{letter}' in {word}")
                }
            })
        }
        _ => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            Parsed::Wrong(line.strip_prefix("error: ").unwrap_or(line).to_owned())
        }
    }
}

/// What the library calls the flag that an error is about: `-n, --dry-run`.
fn flag_name(error: &clap::Error) -> String {
    fn letter(command: &clap::Command, long: &str) -> Option<char> {
        let own = command.get_arguments().find(|flag| flag.get_long() == Some(long));
        own.and_then(clap::Arg::get_short)
            .or_else(|| command.get_subcommands().find_map(|command| letter(command, long)))
    }
    let Some(ContextValue::String(named)) = error.get(ContextKind::InvalidArg) else {
        return String::new();
    };
    let long = named.split(['[', '=', ' ']).next().unwrap_or_default();
    match letter(&Typed::command(), long.trim_start_matches('-')) {
        Some(letter) => format!("-{letter}, {long}"),
        None => long.to_owned(),
    }
}

/// The help of the program, or of a group of its commands.
fn help(path: &[&str]) -> String {
    let mut command = Typed::command();
    command.build();
    let group = path.first().and_then(|word| command.find_subcommand(word)).cloned();
    group.unwrap_or(command).render_help().to_string()
}

/// The release whose words and files these are.
const STANDS_IN_FOR: &str = "3.1.15";

/// Where variables are looked for; all that are there are read, and a later one counts more.
pub(crate) const ENV_FILES: [&str; 4] =
    ["talenv.yaml", "talenv.sops.yaml", "talenv.yml", "talenv.sops.yml"];
/// Where secrets are looked for; the last one that is there counts.
pub(crate) const SECRET_FILES: [&str; 4] =
    ["talsecret.yaml", "talsecret.sops.yaml", "talsecret.yml", "talsecret.sops.yml"];
