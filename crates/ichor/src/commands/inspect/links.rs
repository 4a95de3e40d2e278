//! `ichor links`: the network links of machines, with their addresses.

use std::collections::BTreeMap;

use serde::Serialize;
use talos_api::proto::cosi::Resource;
use talos_api::proto::definitions::network::{AddressStatusSpec, LinkStatusSpec};
use talos_api::resource::{self, Spec};
use talos_api::{CallError, Node, NodeError};
use talos_config::yaml;

use crate::args::inspect::LinksArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Link>>::json_schema;

pub(super) async fn run(
    args: &LinksArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
    let rows = |links: Vec<Link>| links;
    nodes.call_each(|node| async move { links(&node).await }).await.show(
        rows,
        args.output.format,
        printer,
    )
}

/// Returns the links of a machine, from the YAML of resources, where addresses and enumerations are strings already.
pub(in crate::commands) async fn links(node: &Node) -> Result<Vec<Link>, NodeError> {
    let mut addresses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, spec) in specs::<AddressStatusSpec>(node).await? {
        addresses.entry(text(&spec, "linkName")).or_default().push(text(&spec, "address"));
    }
    let link = |(name, spec): (String, yaml::Node)| Link {
        addresses: addresses.remove(&name).unwrap_or_default(),
        alias: text(&spec, "alias"),
        r#type: text(&spec, "type"),
        kind: text(&spec, "kind"),
        hardware_address: text(&spec, "hardwareAddr"),
        mtu: text(&spec, "mtu").parse().unwrap_or(0),
        operational_state: text(&spec, "operationalState"),
        link_state: text(&spec, "linkState") == "true",
        driver: text(&spec, "driver"),
        bus_path: text(&spec, "busPath"),
        link: name,
    };
    Ok(specs::<LinkStatusSpec>(node).await?.into_iter().map(link).collect())
}

async fn specs<S: Spec>(node: &Node) -> Result<Vec<(String, yaml::Node)>, NodeError> {
    let read = |resource: Resource| match resource::decode_generic(&resource) {
        Ok(Some(spec)) => Some(Ok((resource.metadata?.id, spec))),
        Ok(None) => None,
        Err(error) => {
            let reason = CallError::Unreadable(error.to_string());
            Some(Err(NodeError { node: node.name().to_owned(), reason }))
        }
    };
    let resources = node.list_resources(S::NAMESPACE, S::TYPE).await?;
    resources.into_iter().filter_map(read).collect()
}

fn text(spec: &yaml::Node, key: &str) -> String {
    let scalar = spec.get(key).and_then(yaml::Node::scalar);
    scalar.map(|(text, _)| text.to_owned()).unwrap_or_default()
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Link {
    pub(in crate::commands) link: String,
    pub(in crate::commands) alias: String,
    pub(in crate::commands) r#type: String,
    pub(in crate::commands) kind: String,
    pub(in crate::commands) hardware_address: String,
    pub(in crate::commands) mtu: u32,
    pub(in crate::commands) operational_state: String,
    pub(in crate::commands) link_state: bool,
    pub(in crate::commands) driver: String,
    pub(in crate::commands) bus_path: String,
    pub(in crate::commands) addresses: Vec<String>,
}

schema!(
    Link,
    camel {
        link,
        alias,
        r#type,
        kind,
        hardware_address,
        mtu,
        operational_state,
        link_state,
        driver,
        bus_path,
        addresses,
    }
);

impl Row for Link {
    const COLUMNS: &'static [&'static str] = &[
        "LINK",
        "ALIAS",
        "TYPE",
        "KIND",
        "HW ADDR",
        "MTU",
        "OPER STATE",
        "LINK STATE",
        "ADDRESSES",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.link.clone(),
            self.alias.clone(),
            self.r#type.clone(),
            self.kind.clone(),
            self.hardware_address.clone(),
            self.mtu.to_string(),
            self.operational_state.clone(),
            self.link_state.to_string(),
            self.addresses.join(","),
        ]
    }
}
