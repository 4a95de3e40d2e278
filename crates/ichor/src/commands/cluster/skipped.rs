//! Machines that a plan leaves out.

use engine::Cluster;
use plan::{ClusterSpec, Skipped, Target};

use super::refusal::{address, with_address};
use crate::ExitStatus;
use crate::printer::Printer;

/// Reports that every step is blocked for now, and returns the exit status.
pub(super) fn tell_skipped(
    cluster: &Cluster,
    skipped: &[Skipped],
    printer: &mut Printer,
) -> ExitStatus {
    for one in skipped {
        tell_one_skipped(one, &cluster.spec, printer);
    }
    // What a rule keeps out was reached.
    let is_skipped = |target: &Target| {
        skipped.iter().any(|skipped| skipped.on == *target && skipped.rule.is_none())
    };
    if cluster.spec.machines().all(|(machine, _)| is_skipped(&(&machine.name).into())) {
        ExitStatus::Unreachable
    } else {
        ExitStatus::Failed
    }
}

/// Reports a skipped target and the reason.
pub(super) fn tell_one_skipped(skipped: &Skipped, spec: &ClusterSpec, printer: &mut Printer) {
    let Skipped { on, rule, why } = skipped;
    let on = match on.machine() {
        Some(name) => with_address(name.as_str(), address(spec, name).as_deref()),
        None => on.to_string(),
    };
    let rule = rule.as_ref().map_or_else(String::new, |rule| format!("{rule}: "));
    printer.reason(&format!("skipped: {on}: {rule}{why}"));
}
