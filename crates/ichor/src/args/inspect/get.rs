//! Arguments of `ichor get`.

use clap::Args;

use crate::args::{ConnectionArgs, MaintenanceArgs};

/// Show resources of machines
///
/// `ichor get rd` lists the types of resources. A type can be given by its name or any of its
/// aliases. JSON and YAML have the layout of talosctl, one object for each resource.
///
///   ichor get members
///   ichor get addresses -n 10.0.0.11 --watch
///   ichor get hostname -o jsonpath='{.spec.hostname}'
///   ichor get disks -n 10.0.0.13 --insecure
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GetArgs {
    /// Type of the resources
    #[arg(value_name = "TYPE")]
    pub kind: String,

    /// Ids of the resources; by default all
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// Use this namespace instead of the default one of the type
    #[arg(long)]
    pub namespace: Option<String>,

    /// Set the output format: table, json, yaml or jsonpath=TEMPLATE
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

/// Output formats of resources.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ResourceForm {
    Table,
    Json,
    Yaml,
    /// The matches of a `JSONPath` template in each resource.
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
