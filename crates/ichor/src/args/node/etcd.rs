//! What is done to members of etcd.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{Reach, Sure};

/// What `ichor node etcd` does.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeEtcd {
    /// Let machines leave etcd, one after the other
    ///
    /// What a machine has of etcd is deleted. Refused where too few members would be left that answer.
    Leave(LeaveEtcd),

    /// Remove a member whose machine cannot leave by itself any more
    ///
    /// Refused where too few members would be left that answer. `ichor etcd members` shows the
    /// members.
    ///
    ///   ichor node etcd remove-member 8e9e05c52164694d -n 10.0.0.11
    ///   ichor node etcd remove-member cp-3 -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    RemoveMember(RemoveMember),

    /// Let another member lead
    ForfeitLeadership(ForfeitLeadership),

    /// Give back the space that databases no longer use
    ///
    /// One member after the other, the leader last: a member answers nobody meanwhile.
    #[command(visible_alias = "defragment")]
    Defrag(Defragment),

    /// Act on alarms
    #[command(visible_alias = "alarm")]
    Alarms {
        #[command(subcommand)]
        what: Alarms,
    },

    /// Give a machine a snapshot, for a bootstrap to begin with
    ///
    /// `ichor node bootstrap --recover-from FILE` does this and the bootstrap.
    Recover(RecoverEtcd),
}

/// Arguments of `ichor node etcd leave`.
#[derive(Args, Clone, Debug)]
pub struct LeaveEtcd {
    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor node etcd remove-member`.
#[derive(Args, Clone, Debug)]
pub struct RemoveMember {
    /// The member, by its id or its host name
    pub member: String,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// Safety rules that are not to be kept, and why.
#[derive(Args, Clone, Debug)]
pub struct Overrides {
    /// A safety rule that is not to be kept this time
    #[arg(
        long = "override",
        value_enum,
        value_delimiter = ',',
        value_name = "RULE",
        requires = "reason"
    )]
    pub rules: Vec<Rule>,

    /// Why; it is written into the audit log
    #[arg(long, value_name = "TEXT", requires = "rules")]
    pub reason: Option<String>,
}

/// Safety rules by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Rule {
    /// Most of the voters of etcd answer afterwards
    #[value(name = "quorum.tolerance")]
    QuorumTolerance,
    /// Every control plane has been asked whether it has an etcd already
    #[value(name = "bootstrap.unseen")]
    BootstrapUnseen,
}

impl Rule {
    /// The name of the rule, as it is typed and written into the audit log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::QuorumTolerance => "quorum.tolerance",
            Self::BootstrapUnseen => "bootstrap.unseen",
        }
    }
}

/// Arguments of `ichor node etcd forfeit-leadership`.
#[derive(Args, Clone, Debug)]
pub struct ForfeitLeadership {
    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor node etcd defrag`.
#[derive(Args, Clone, Debug)]
pub struct Defragment {
    #[command(flatten)]
    pub reach: Reach,
}

/// What `ichor node etcd alarms` does.
#[derive(Clone, Debug, Subcommand)]
pub enum Alarms {
    /// Take back the alarms, once their cause is gone
    Disarm {
        #[command(flatten)]
        reach: Reach,
    },
}

/// Arguments of `ichor node etcd recover`.
#[derive(Args, Clone, Debug)]
pub struct RecoverEtcd {
    /// The snapshot
    pub file: PathBuf,

    /// The snapshot is a copy of a member's database file, which has no digest in it
    #[arg(long)]
    pub skip_hash_check: bool,

    #[command(flatten)]
    pub reach: Reach,
}
