//! Safety rules that a command on a machine overrides.

use std::ffi::OsStr;
use std::fmt;

use clap::builder::{EnumValueParser, NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use plan::MachineName;

/// Safety rules to override, and the reason.
#[derive(Args, Clone, Debug)]
pub struct NodeOverrideArgs {
    /// Override a safety rule this time
    #[arg(
        long = "override",
        value_parser = NodeOverrideParser,
        value_delimiter = ',',
        value_name = "RULE",
        requires = "reason"
    )]
    pub rules: Vec<NodeOverride>,

    /// Record this reason in the audit log
    #[arg(
        long,
        value_name = "TEXT",
        requires = "rules",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub reason: Option<String>,
}

impl NodeOverrideArgs {
    /// Returns whether a rule is overridden that is for no single machine.
    pub(crate) fn has(&self, rule: NodeRule) -> bool {
        self.rules.contains(&NodeOverride { rule, machine: None })
    }

    /// Returns whether a rule is overridden for a machine.
    pub(crate) fn has_for(&self, rule: NodeRule, machine: &MachineName) -> bool {
        self.rules.contains(&NodeOverride { rule, machine: Some(machine.clone()) })
    }
}

/// A safety rule to override, and the machine for the rules that need one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeOverride {
    rule: NodeRule,
    machine: Option<MachineName>,
}

impl fmt::Display for NodeOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.name())?;
        self.machine.as_ref().map_or(Ok(()), |machine| write!(f, "={machine}"))
    }
}

/// Reads `RULE` and, for the rules that need a machine, `RULE=NAME`.
#[derive(Clone)]
struct NodeOverrideParser;

impl TypedValueParser for NodeOverrideParser {
    type Value = NodeOverride;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<NodeOverride, clap::Error> {
        let text = value.to_string_lossy();
        let (name, machine) = match text.split_once('=') {
            Some((name, machine)) => (name, Some(machine)),
            None => (&*text, None),
        };
        let rules = EnumValueParser::<NodeRule>::new();
        let rule = rules.parse_ref(command, arg, OsStr::new(name))?;
        let wrong = |why: String| {
            command.clone().error(ErrorKind::ValueValidation, format!("override of {name}: {why}"))
        };
        let machine = match machine {
            Some(_) if !rule.needs_machine() => {
                return Err(wrong("it takes no machine".to_owned()));
            }
            None if rule.needs_machine() => {
                return Err(wrong(format!(
                    "it needs the machine that it is for, as in {name}=NAME"
                )));
            }
            machine => machine.map(str::parse).transpose(),
        };
        Ok(NodeOverride { rule, machine: machine.map_err(|error| wrong(format!("{error}")))? })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let rules = NodeRule::value_variants().iter();
        Some(Box::new(rules.filter_map(ValueEnum::to_possible_value)))
    }
}

/// Safety rules of direct actions.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum NodeRule {
    /// etcd keeps its quorum
    #[value(name = "quorum.tolerance")]
    QuorumTolerance,
    /// Every other control plane was checked for a running etcd
    #[value(name = "bootstrap.unseen")]
    BootstrapUnseen,
    /// A configuration goes to the machine that it is for
    #[value(name = "config.machine")]
    ConfigMachine,
    /// A machine of the cluster that says it is in maintenance gets no configuration (with =NAME)
    #[value(name = "identity.maintenance")]
    IdentityMaintenance,
}

impl NodeRule {
    /// Returns the name of the rule, as it is typed and recorded in the audit log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::QuorumTolerance => "quorum.tolerance",
            Self::BootstrapUnseen => "bootstrap.unseen",
            Self::ConfigMachine => "config.machine",
            Self::IdentityMaintenance => "identity.maintenance",
        }
    }

    /// Returns whether it is overridden for one machine only.
    const fn needs_machine(self) -> bool {
        matches!(self, Self::IdentityMaintenance)
    }
}
