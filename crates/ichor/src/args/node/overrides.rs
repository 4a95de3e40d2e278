//! Safety rules that a command on a machine overrides.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

/// Safety rules to override, and the reason.
#[derive(Args, Clone, Debug)]
pub struct NodeOverrideArgs {
    /// Override a safety rule this time
    #[arg(
        long = "override",
        value_enum,
        value_delimiter = ',',
        value_name = "RULE",
        requires = "reason"
    )]
    pub rules: Vec<NodeRule>,

    /// Record this reason in the audit log
    #[arg(
        long,
        value_name = "TEXT",
        requires = "rules",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub reason: Option<String>,
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
}

impl NodeRule {
    /// Returns the name of the rule, as it is typed and recorded in the audit log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::QuorumTolerance => "quorum.tolerance",
            Self::BootstrapUnseen => "bootstrap.unseen",
            Self::ConfigMachine => "config.machine",
        }
    }
}
