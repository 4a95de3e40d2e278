//! A plan for people: one line a step, and one step in full.

use std::fmt::{self, Write};

use crate::plan::{Body, Plan};
use crate::rule::{Finding, Refusal};
use crate::step::{Action, Step, StepNumber};

impl<State> Plan<State> {
    /// The steps as a table, with what is left out and what is overridden.
    pub fn table(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_table(self.body(), &mut text);
        text
    }
}

impl Step {
    /// Everything about one step.
    pub fn detail(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_detail(self, &mut text);
        text
    }
}

fn write_table(body: &Body, text: &mut String) -> fmt::Result {
    let Body { cluster: _, identity: _, goal: _, made: _, parent: _, overrides, steps, left_out } =
        body;
    let names = steps.iter().map(|step| step.machine.as_str().len());
    let width = names.max().unwrap_or_default();
    for step in steps {
        let verb = step.action.verb();
        let line = format!("{:>3}  {verb:<16}  {:<width$}", step.number.0, step.machine);
        let mut notes = Vec::new();
        notes.extend(step.proof.map(|proof| proof.to_string()));
        notes.extend(step.gates.iter().map(|gate| format!("within {gate}")));
        if !step.after.is_empty() {
            notes.push(format!("after {}", numbers(&step.after)));
        }
        writeln!(text, "{}", format!("{line}  {}", notes.join("; ")).trim_end())?;
        if let Action::ApplyConfig { changes, .. } = &step.action {
            for change in changes {
                writeln!(text, "       {change}")?;
            }
        }
    }
    for left_out in left_out {
        writeln!(text, "left out  {}: {}", left_out.machine, left_out.why)?;
    }
    for given in overrides {
        writeln!(text, "override  {}: {}", given.rule, given.reason)?;
    }
    Ok(())
}

fn write_detail(step: &Step, text: &mut String) -> fmt::Result {
    let Step {
        number,
        action,
        machine,
        after,
        preconditions,
        proof,
        gates,
        time_out,
        leaves,
        recovery,
    } = step;
    writeln!(text, "{number}  {} {machine}", action.verb())?;
    if let Action::ApplyConfig { config, changes, .. } = action {
        writeln!(text, "   config     {}", config.short())?;
        for change in changes {
            writeln!(text, "   change     {change}")?;
        }
    }
    if !after.is_empty() {
        writeln!(text, "   after      {}", numbers(after))?;
    }
    for precondition in preconditions {
        writeln!(text, "   only if    {precondition}")?;
    }
    if let Some(proof) = proof {
        writeln!(text, "   etcd       {proof}")?;
    }
    for gate in gates {
        writeln!(text, "   within     {gate}")?;
    }
    writeln!(text, "   time-out   {time_out}")?;
    writeln!(text, "   leaves     {leaves}")?;
    writeln!(text, "   recovery   {recovery}")
}

/// `1, 2, 5`; longer lists are cut, since the file has all of them.
fn numbers(steps: &[StepNumber]) -> String {
    let shown: Vec<String> = steps.iter().take(SHOWN).map(ToString::to_string).collect();
    match steps.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// As many numbers as fit behind a step on a line.
const SHOWN: usize = 5;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.rule)?;
        if let Some(step) = self.step {
            write!(f, "step {step}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Refusal {
    /// Every rule that is broken, with what to do about it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{finding}\nhint: {}", finding.hint);
        }
        text
    }
}
