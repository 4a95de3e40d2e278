//! Safety rules that a plan overrides.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Safety rules that a plan overrides.
#[derive(Clone, Debug, Args)]
pub struct OverrideArgs {
    /// Override a safety rule for this plan; with =MACHINE for one machine, as in identity.node=w-1
    #[arg(long = "override", value_name = "RULE[=MACHINE]", requires = "reason", value_parser = override_rule)]
    pub rules: Vec<String>,

    /// Record this reason with the override
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub reason: Option<String>,
}

/// Parses `RULE` or `RULE=MACHINE`; the rule must be one that can be overridden.
fn override_rule(text: &str) -> Result<String, String> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let known = ::plan::Rule::parse(name).filter(|rule| rule.can_be_overridden());
    known.map(|_| text.to_owned()).ok_or_else(|| {
        let rules = ::plan::Rule::ALL.iter().copied().filter(|rule| rule.can_be_overridden());
        let names: Vec<&str> = rules.map(::plan::Rule::name).collect();
        format!("rules that can be overridden are {}", names.join(", "))
    })
}
