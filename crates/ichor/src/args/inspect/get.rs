//! Arguments of `ichor get`.

use clap::Args;

use crate::args::{ConnectionArgs, MaintenanceArgs};

/// Show resources of machines
///
/// What Talos knows and does is in resources: `ichor get rd` shows which types there are. A type
/// goes by its name or by any of its aliases. JSON and YAML are laid out as talosctl does it,
/// one object for each resource.
///
///   ichor get members
///   ichor get addresses -n 10.0.0.11 --watch
///   ichor get hostname -o jsonpath='{.spec.hostname}'
///   ichor get disks -n 10.0.0.13 --insecure
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GetArgs {
    /// The type
    #[arg(value_name = "TYPE")]
    pub kind: String,

    /// Some of them; all when left out
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// The namespace, instead of the type's own
    #[arg(long)]
    pub namespace: Option<String>,

    /// The output format: table, json, yaml or jsonpath=TEMPLATE
    #[arg(short, long, default_value = "table", value_name = "FORMAT", value_parser = ResourceForm::parse)]
    pub output: ResourceForm,

    /// Watch for changes, across restarts of the machine
    #[arg(short, long)]
    pub watch: bool,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// The forms in which resources are shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ResourceForm {
    Table,
    Json,
    Yaml,
    /// What a template finds in each.
    Path(String),
}

impl ResourceForm {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "table" => Ok(Self::Table),
            "json" => Ok(Self::Json),
            "yaml" => Ok(Self::Yaml),
            _ => match text.strip_prefix("jsonpath=") {
                Some(template) => Ok(Self::Path(template.to_owned())),
                None => Err("possible values: table, json, yaml, jsonpath=TEMPLATE".to_owned()),
            },
        }
    }
}
