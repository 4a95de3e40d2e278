//! Settings of the commands about a whole cluster.

use std::path::PathBuf;
use std::time::Duration;

use ::plan::{Goal, Override, Rule};

use super::{ClusterLocation, UserEnvironment};
use crate::Error;
use crate::args::OutputFormat;
use crate::args::cluster::{
    ApplyArgs, ApproveArgs, ClusterCommand, DestroyArgs, HealthArgs, HistoryArgs, OverrideArgs,
    PlanArgs, ReportArgs, ShowArgs, StatusArgs,
};
use crate::args::files::DiffArgs;
use crate::args::{ClusterDirArgs, ConfirmArgs};

/// A command about a cluster, and the environment of its user.
pub(crate) struct Cluster {
    pub(crate) verb: ClusterVerb,
    pub(crate) environment: UserEnvironment,
}

pub(crate) enum ClusterVerb {
    Plan(Plan),
    Show(Show),
    Approve(Approve),
    Apply(Apply),
    Resume(Apply),
    Destroy(Destroy),
    Cancel,
    Status(Status),
    Health(Health),
    Diff(Diff),
    History(History),
}

/// Settings of `ichor plan`.
pub(crate) struct Plan {
    pub(crate) goal: Goal,
    pub(crate) overrides: Vec<Override>,
    pub(crate) out: Option<PathBuf>,
    /// Replace also a file that is not a plan.
    pub(crate) overwrite: bool,
    pub(crate) output: OutputFormat,
}

/// Settings of `ichor show`.
pub(crate) struct Show {
    pub(crate) plan: PathBuf,
    pub(crate) output: OutputFormat,
}

/// Settings of `ichor approve`.
pub(crate) struct Approve {
    pub(crate) plan: PathBuf,
    pub(crate) by: String,
}

/// Settings of `ichor apply` and `ichor resume`.
pub(crate) struct Apply {
    pub(crate) request: ApplyRequest,
    pub(crate) execution: Execution,
}

/// What to carry out.
pub(crate) enum ApplyRequest {
    PlanFile(PathBuf),
    /// A plan made now, with these overrides.
    Spec(Vec<Override>),
}

/// Settings of `ichor destroy`.
pub(crate) struct Destroy {
    /// The override of `quorum.destroy`, with its reason.
    pub(crate) overrides: Vec<Override>,
    pub(crate) execution: Execution,
}

/// How a command that carries out plans asks and reports.
pub(crate) struct Execution {
    pub(crate) skip_confirmation: bool,
    pub(crate) metrics: Option<PathBuf>,
    pub(crate) output: OutputFormat,
}

/// Settings of `ichor status`.
pub(crate) struct Status {
    /// Names or addresses; none for all machines.
    pub(crate) machines: Vec<String>,
    pub(crate) watch: bool,
    pub(crate) output: OutputFormat,
}

/// Settings of `ichor health`.
pub(crate) struct Health {
    pub(crate) status: Status,
    pub(crate) wait: Option<Duration>,
}

/// Settings of `ichor diff` without files.
pub(crate) struct Diff {
    /// Names or addresses; none for all machines.
    pub(crate) machines: Vec<String>,
    pub(crate) output: OutputFormat,
}

/// Settings of `ichor history`.
pub(crate) struct History {
    pub(crate) verify: bool,
    pub(crate) output: OutputFormat,
}

impl Cluster {
    pub(super) fn resolve(command: ClusterCommand) -> Result<Self, Error> {
        Ok(match command {
            ClusterCommand::Plan(args) => Self::plan(args)?,
            ClusterCommand::Show(ShowArgs { plan, output }) => {
                let show = Show { plan, output: output.format };
                Self::new(ClusterVerb::Show(show), ClusterDirArgs { directory: None })
            }
            ClusterCommand::Approve(ApproveArgs { plan, by, cluster_dir }) => {
                let environment = environment(cluster_dir);
                let by = by.unwrap_or_else(|| environment.user.clone());
                Self { verb: ClusterVerb::Approve(Approve { plan, by }), environment }
            }
            ClusterCommand::Apply(args) => {
                let (apply, cluster_dir) = Apply::resolve(args)?;
                Self::new(ClusterVerb::Apply(apply), cluster_dir)
            }
            ClusterCommand::Resume(args) => {
                let (apply, cluster_dir) = Apply::resolve(args.apply)?;
                Self::new(ClusterVerb::Resume(apply), cluster_dir)
            }
            ClusterCommand::Destroy(DestroyArgs { reason, cluster_dir, report, confirm }) => {
                let overrides = vec![ending(reason)?];
                let execution = Execution::resolve(report, confirm);
                let destroy = Destroy { overrides, execution };
                Self::new(ClusterVerb::Destroy(destroy), cluster_dir)
            }
            ClusterCommand::Cancel(args) => Self::new(ClusterVerb::Cancel, args.cluster_dir),
            ClusterCommand::Status(args) => {
                let (status, cluster_dir) = Status::resolve(args);
                Self::new(ClusterVerb::Status(status), cluster_dir)
            }
            ClusterCommand::Health(HealthArgs { status, wait }) => {
                let (status, cluster_dir) = Status::resolve(status);
                Self::new(ClusterVerb::Health(Health { status, wait }), cluster_dir)
            }
            ClusterCommand::History(HistoryArgs { cluster_dir, verify, output }) => {
                let history = History { verify, output: output.format };
                Self::new(ClusterVerb::History(history), cluster_dir)
            }
        })
    }

    pub(super) fn resolve_diff(args: DiffArgs) -> Self {
        let DiffArgs { cluster_dir, names, output, .. } = args;
        let diff = Diff { machines: names, output: output.format };
        Self::new(ClusterVerb::Diff(diff), cluster_dir)
    }

    fn new(verb: ClusterVerb, cluster_dir: ClusterDirArgs) -> Self {
        Self { verb, environment: environment(cluster_dir) }
    }

    fn plan(args: PlanArgs) -> Result<Self, Error> {
        let PlanArgs { cluster_dir, out, force, destroy, overrides, output } = args;
        let (goal, overrides) = if destroy {
            (Goal::Destroyed, vec![ending(overrides.reason)?])
        } else {
            (Goal::Spec, resolve_overrides(overrides)?)
        };
        let plan = Plan { goal, overrides, out, overwrite: force, output: output.format };
        Ok(Self::new(ClusterVerb::Plan(plan), cluster_dir))
    }
}

impl Apply {
    fn resolve(args: ApplyArgs) -> Result<(Self, ClusterDirArgs), Error> {
        let ApplyArgs { plan, cluster_dir, overrides, report, confirm } = args;
        let overrides = resolve_overrides(overrides)?;
        let request = match plan {
            Some(_) if !overrides.is_empty() => {
                return Err(Error::Usage {
                    message: "a plan file has its own overrides".to_owned(),
                    hint: "pass --override to `ichor plan --out FILE`".to_owned(),
                });
            }
            Some(path) => ApplyRequest::PlanFile(path),
            None => ApplyRequest::Spec(overrides),
        };
        Ok((Self { request, execution: Execution::resolve(report, confirm) }, cluster_dir))
    }
}

impl Execution {
    fn resolve(report: ReportArgs, confirm: ConfirmArgs) -> Self {
        let ReportArgs { metrics, output } = report;
        Self { skip_confirmation: confirm.yes, metrics, output: output.format }
    }
}

impl Status {
    fn resolve(args: StatusArgs) -> (Self, ClusterDirArgs) {
        let StatusArgs { cluster_dir, names, watch, output } = args;
        (Self { machines: names, watch, output: output.format }, cluster_dir)
    }
}

fn environment(cluster_dir: ClusterDirArgs) -> UserEnvironment {
    UserEnvironment::of(ClusterLocation::resolve(cluster_dir.directory))
}

/// Returns the override of `quorum.destroy`.
fn ending(reason: Option<String>) -> Result<Override, Error> {
    let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
        return Err(Error::Usage {
            message: "destroying a cluster needs a reason".to_owned(),
            hint: "pass --reason TEXT; it is part of the plan and of the audit log".to_owned(),
        });
    };
    Ok(Override { rule: Rule::QuorumDestroy.name().to_owned(), machine: None, reason })
}

/// `identity.node=w-1` is for one machine, `quorum.tolerance` for the plan.
fn resolve_overrides(args: OverrideArgs) -> Result<Vec<Override>, Error> {
    let OverrideArgs { rules, reason } = args;
    let reason = reason.unwrap_or_default();
    let given = rules.into_iter().map(|given| {
        let (rule, machine) = match given.split_once('=') {
            Some((rule, machine)) => (rule, Some(machine)),
            None => (given.as_str(), None),
        };
        let machine = machine.map(str::parse).transpose().map_err(|error| Error::Usage {
            message: format!("--override {given}: {error}"),
            hint: "pass a rule, or a rule and a machine, as in identity.node=w-1".to_owned(),
        })?;
        Ok(Override { rule: rule.to_owned(), machine, reason: reason.clone() })
    });
    given.collect()
}
