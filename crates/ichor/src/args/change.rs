//! Commands about a whole cluster: what is planned, done and was done.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::connection::duration;
use super::{Shown, Sure};

/// One of them.
#[derive(Clone, Debug, Subcommand)]
pub enum Change {
    /// Show the steps that would make the cluster match its directory
    ///
    /// Looks at every machine and changes nothing. Ends with 2 when there is something to do, with 4 when a safety rule
    /// forbids it.
    ///
    ///   ichor plan
    ///   ichor plan --out change.plan && ichor show change.plan && ichor apply change.plan
    #[command(verbatim_doc_comment)]
    Plan(PlanArgs),

    /// Show a plan in full
    Show(ShowArgs),

    /// Approve a plan
    ///
    /// The approval is for exactly this plan, by its hash, and is written into the journal. `ichor apply PLAN` does not ask
    /// then.
    Approve(ApproveArgs),

    /// Make the cluster match its directory
    ///
    /// Shows the plan and asks first. It goes on from wherever the cluster is: what was interrupted is finished by applying
    /// again. With a plan's file exactly that plan is carried out, if it still keeps every rule.
    Apply(ApplyArgs),

    /// Continue an interrupted or failed plan
    Resume(ApplyArgs),

    /// End the cluster: reset its machines to maintenance
    ///
    /// Every machine that is the cluster's loses its configuration and its data, one control plane after the other; Talos stays
    /// installed, so that `ichor apply` makes the cluster anew. The directory keeps its files. Shows the plan and asks
    /// first; `ichor plan --destroy` only shows it.
    ///
    ///   ichor destroy --reason "the hall is given back"
    #[command(verbatim_doc_comment)]
    Destroy(DestroyArgs),

    /// Stop and abandon an unfinished plan
    Cancel(CancelArgs),

    /// Show the machines of the cluster and their state
    Status(StatusArgs),

    /// Check cluster health (exit status 1 if unhealthy)
    ///
    /// Shows the machines, and what runs on them: etcd, the kubelet, and on control planes the API server, the controller
    /// manager and the scheduler, each with its state and the reason when it is not well. --wait looks again until all is
    /// well, and ends with 6 when it is not by then.
    Health(HealthArgs),

    /// Show past plans and actions
    History(HistoryArgs),
}

impl Change {
    /// The directory that is named.
    pub(crate) fn directory(&self) -> Option<&PathBuf> {
        match self {
            Self::Plan(args) => args.place.directory.as_ref(),
            Self::Show(_) => None,
            Self::Approve(args) => args.place.directory.as_ref(),
            Self::Apply(args) | Self::Resume(args) => args.place.directory.as_ref(),
            Self::Destroy(args) => args.place.directory.as_ref(),
            Self::Cancel(args) => args.place.directory.as_ref(),
            Self::Status(args) => args.place.directory.as_ref(),
            Self::Health(args) => args.status.place.directory.as_ref(),
            Self::History(args) => args.place.directory.as_ref(),
        }
    }
}

/// Which cluster.
#[derive(Clone, Debug, Args)]
pub struct In {
    /// The directory of the cluster; else the nearest one upward with an ichor.yaml or a talconfig.yaml
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// Rules that shall not hold for a plan.
#[derive(Clone, Debug, Args)]
pub struct Overriding {
    /// Override a safety rule for this plan, or with =MACHINE for one machine, as in identity.node=w-1
    #[arg(long = "override", value_name = "RULE[=MACHINE]", requires = "reason", value_parser = override_rule)]
    pub rules: Vec<String>,

    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// A rule that can be overridden, or such a rule and a machine.
fn override_rule(text: &str) -> Result<String, String> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let known = ::plan::Rule::parse(name).filter(|rule| rule.can_be_overridden());
    known.map(|_| text.to_owned()).ok_or_else(|| {
        let rules = ::plan::Rule::ALL.into_iter().filter(|rule| rule.can_be_overridden());
        let names: Vec<&str> = rules.map(::plan::Rule::name).collect();
        format!("rules that can be overridden are {}", names.join(", "))
    })
}

/// Arguments of `ichor plan`.
#[derive(Clone, Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub place: In,

    /// Also write the plan to a file, to be shown, approved and applied later
    ///
    /// A plan that is in the file already, and would be made again, stays as it is, and so does its approval.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Plan the end of the cluster, as `ichor destroy` would carry it out
    #[arg(long, conflicts_with = "rules")]
    pub destroy: bool,

    #[command(flatten)]
    pub overriding: Overriding,

    #[command(flatten)]
    pub shown: Shown,
}

/// Arguments of `ichor show`.
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// The file that `ichor plan --out FILE` wrote
    pub plan: PathBuf,

    #[command(flatten)]
    pub shown: Shown,
}

/// Arguments of `ichor approve`.
#[derive(Clone, Debug, Args)]
pub struct ApproveArgs {
    /// The file that `ichor plan --out FILE` wrote
    pub plan: PathBuf,

    /// Who approves; you when left out
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    #[command(flatten)]
    pub place: In,
}

/// Arguments of `ichor apply` and `ichor resume`.
#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    /// The plan to carry out; a new one when left out
    pub plan: Option<PathBuf>,

    #[command(flatten)]
    pub place: In,

    #[command(flatten)]
    pub overriding: Overriding,

    #[command(flatten)]
    pub told: Told,

    #[command(flatten)]
    pub sure: Sure,
}

/// Who else is told what happens.
#[derive(Clone, Debug, Args)]
pub struct Told {
    /// Write counters of what was done to a file that Prometheus' node exporter reads
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    #[command(flatten)]
    pub shown: Shown,
}

/// Arguments of `ichor destroy`.
#[derive(Clone, Debug, Args)]
pub struct DestroyArgs {
    /// Why; it is part of the plan and of the audit log
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    #[command(flatten)]
    pub place: In,

    #[command(flatten)]
    pub told: Told,

    #[command(flatten)]
    pub sure: Sure,
}

/// Arguments of `ichor cancel`.
#[derive(Clone, Debug, Args)]
pub struct CancelArgs {
    #[command(flatten)]
    pub place: In,
}

/// Arguments of `ichor status`, which `ichor health` has too.
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub place: In,

    /// Look again and again, until Ctrl-C
    #[arg(short, long)]
    pub watch: bool,

    #[command(flatten)]
    pub shown: Shown,
}

/// Arguments of `ichor health`.
#[derive(Clone, Debug, Args)]
pub struct HealthArgs {
    #[command(flatten)]
    pub status: StatusArgs,

    /// How long to look again before it is not well
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "watch")]
    pub wait: Option<Duration>,
}

/// Arguments of `ichor history`.
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    pub place: In,

    /// Check that neither the journal nor the audit log was changed, instead of showing them
    #[arg(long)]
    pub verify: bool,

    #[command(flatten)]
    pub shown: Shown,
}
