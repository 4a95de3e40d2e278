//! Safety rules that a command on a machine overrides.

use clap::{Args, ValueEnum};

/// Safety rules that are not to be kept, and why.
#[derive(Args, Clone, Debug)]
pub struct NodeOverrideArgs {
    /// A safety rule that is not to be kept this time
    #[arg(
        long = "override",
        value_enum,
        value_delimiter = ',',
        value_name = "RULE",
        requires = "reason"
    )]
    pub rules: Vec<NodeRule>,

    /// Why; it is written into the audit log
    #[arg(long, value_name = "TEXT", requires = "rules")]
    pub reason: Option<String>,
}

/// Safety rules by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum NodeRule {
    /// Most of the voters of etcd answer afterwards
    #[value(name = "quorum.tolerance")]
    QuorumTolerance,
    /// Every control plane has been asked whether it has an etcd already
    #[value(name = "bootstrap.unseen")]
    BootstrapUnseen,
}

impl NodeRule {
    /// The name of the rule, as it is typed and written into the audit log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::QuorumTolerance => "quorum.tolerance",
            Self::BootstrapUnseen => "bootstrap.unseen",
        }
    }
}
