//! A plan for people: one line a step, and one step in full.

use std::fmt::{self, Write};

use crate::finding::{Finding, Refusal};
use crate::plan::{Body, Override, Plan};
use crate::step::{Step, StepNumber};

impl<State> Plan<State> {
    /// Returns the steps as a table, with what is left out and what is overridden.
    pub fn table(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_table(self.body(), &mut text);
        text
    }
}

impl Step {
    /// Returns everything about one step.
    pub fn detail(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_detail(self, &mut text);
        text
    }
}

fn write_table(body: &Body, text: &mut String) -> fmt::Result {
    let Body { cluster: _, identity: _, goal: _, made: _, parent: _, overrides, steps, skipped } =
        body;
    let names = steps.iter().map(|step| step.on.to_string().len());
    let width = names.max().unwrap_or_default().min(MAX_WIDTH);
    for step in steps {
        let verb = step.action.verb();
        let line = format!("{:>3}  {verb:<16}  {:<width$}", step.number.0, step.on);
        let mut notes = Vec::new();
        notes.extend(step.proof.map(|proof| proof.to_string()));
        notes.extend(step.gates.iter().map(|gate| format!("within {gate}")));
        if !step.after.is_empty() {
            notes.push(format!("after {}", numbers(&step.after)));
        }
        writeln!(text, "{}", format!("{line}  {}", notes.join("; ")).trim_end())?;
        for change in step.action.config().iter().flat_map(|given| &given.changes) {
            writeln!(text, "       {change}")?;
        }
    }
    for skipped in skipped {
        writeln!(text, "skipped   {skipped}")?;
    }
    for Override { rule, machine, reason } in overrides {
        let scope = machine.as_ref().map_or_else(String::new, |machine| format!("={machine}"));
        writeln!(text, "override  {rule}{scope}: {reason}")?;
    }
    Ok(())
}

fn write_detail(step: &Step, text: &mut String) -> fmt::Result {
    let Step { number, action, on, after, preconditions, proof, gates, time_out, leaves, recovery } =
        step;
    writeln!(text, "{number}  {} {on}", action.verb())?;
    for (name, value) in action.detail() {
        writeln!(text, "   {name:<10} {value}")?;
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

/// Wider than any name of a machine; Rust formats no wider than 65,535.
const MAX_WIDTH: usize = 80;

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
    /// Returns every rule that is broken, with what to do about it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{finding}\nhint: {}", finding.hint);
        }
        text
    }
}
