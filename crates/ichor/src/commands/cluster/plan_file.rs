//! Plans as files, and as they are shown.

use std::path::Path;

use plan::{Draft, Plan};

use crate::args::OutputFormat;
use crate::diagnostics;
use crate::error::with_causes;
use crate::printer::Printer;
use crate::settings::Input;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus};

/// A plan from a file. Nothing in it is trusted yet.
pub(super) fn load(path: &Path) -> Result<Plan<Draft>, Error> {
    let (text, _) = SourceMap::default().read(&Input::File(path.to_owned()))?;
    Plan::decode(&text).map_err(|error| {
        diagnostics::coded(&error, with_causes(&error)).at(diagnostics::file(path)).into()
    })
}

/// Shows what a plan does, as a table or as the file that it is.
pub(super) fn show_plan<State>(
    plan: &Plan<State>,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match output {
        OutputFormat::Table => {
            printer.display(&format_args!("{}\n{}", head(plan), plan.table().trim_end()))
        }
        OutputFormat::Json => printer.verbatim(&plan.encode()),
        OutputFormat::Yaml => {
            let value: serde_json::Value =
                serde_json::from_str(&plan.encode()).map_err(std::io::Error::from)?;
            let text = serde_saphyr::to_string(&value).map_err(std::io::Error::other)?;
            printer.text(&text.trim_end())
        }
    }
}

pub(super) fn head<State>(plan: &Plan<State>) -> String {
    format!("plan {} for cluster {}", plan.hash().short(), plan.body().cluster)
}
