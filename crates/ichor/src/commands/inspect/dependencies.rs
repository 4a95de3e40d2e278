//! `ichor inspect dependencies`: controllers of a machine and their resources, as a graph in DOT, laid out as talosctl
//! does it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use talos_api::proto::cosi::Resource;
use talos_api::proto::inspect::{ControllerDependencyEdge, DependencyEdgeType};
use talos_api::{Node, NodeError};

use crate::args::inspect::DependenciesArgs;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &DependenciesArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let node = nodes.single("inspect dependencies")?;
    printer.text(&graph(node, args.with_resources).await?)
}

/// Asks a machine for its controllers, and with `with_resources` for all resources that it shows.
pub(super) async fn graph(node: &Node, with_resources: bool) -> Result<Graph, NodeError> {
    let reply = node.retrying(|node| async move {
        node.call(node.inspect().controller_runtime_dependencies(())).await
    });
    let edges: Vec<ControllerDependencyEdge> =
        reply.await?.messages.into_iter().flat_map(|message| message.edges).collect();
    if !with_resources {
        return Ok(Graph::of_types(&edges));
    }
    let types = edges.iter().map(|edge| (&edge.resource_type, &edge.resource_namespace));
    // A type is listed once, in the first namespace that is named.
    let mut resources: BTreeMap<&str, Vec<Resource>> = BTreeMap::new();
    for (kind, namespace) in types {
        if !resources.contains_key(kind.as_str()) {
            // Types that a role may not read are shown without resources.
            let listed = node.list_resources(namespace, kind).await.unwrap_or_default();
            resources.insert(kind, listed);
        }
    }
    Ok(Graph::of_resources(&edges, &resources))
}

/// A directed graph. Nodes are numbered in the order in which they are added, and written in that of their names.
#[derive(Debug, Default)]
pub(super) struct Graph {
    added: usize,
    nodes: BTreeMap<String, GraphNode>,
    clusters: BTreeMap<String, Cluster>,
    /// By the name of the node that they begin at.
    edges: BTreeMap<String, Vec<Edge>>,
}

/// Nodes that are drawn together.
#[derive(Debug)]
struct Cluster {
    number: usize,
    nodes: BTreeMap<String, GraphNode>,
}

#[derive(Clone, Copy, Debug)]
struct GraphNode {
    number: usize,
    is_resource: bool,
}

#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
    style: &'static str,
    label: String,
}

impl Graph {
    fn of_types(edges: &[ControllerDependencyEdge]) -> Self {
        let mut graph = Self::default();
        for edge in edges {
            graph.add(&edge.controller_name, false);
            graph.add(&edge.resource_type, true);
        }
        for edge in edges {
            graph.connect(edge, &edge.resource_type, "bold", &edge.resource_id);
        }
        graph
    }

    fn of_resources(
        edges: &[ControllerDependencyEdge],
        resources: &BTreeMap<&str, Vec<Resource>>,
    ) -> Self {
        let mut graph = Self::default();
        for edge in edges {
            graph.add(&edge.controller_name, false);
        }
        for (kind, resources) in resources {
            graph.added += 1;
            let number = graph.added;
            let mut nodes = BTreeMap::new();
            let names: BTreeSet<String> = resources.iter().map(name).collect();
            for name in names {
                graph.added += 1;
                nodes.insert(name, GraphNode { number: graph.added, is_resource: true });
            }
            graph.clusters.insert((*kind).to_owned(), Cluster { number, nodes });
        }
        for edge in edges {
            for resource in resources.get(edge.resource_type.as_str()).into_iter().flatten() {
                let metadata = resource.metadata.as_ref();
                let (id, owner) = metadata
                    .map_or(("", ""), |metadata| (metadata.id.as_str(), metadata.owner.as_str()));
                let is_meant = edge.resource_id.is_empty() || edge.resource_id == id;
                if is_meant && (!is_output(edge) || edge.controller_name == owner) {
                    graph.connect(edge, &name(resource), "solid", "");
                }
            }
        }
        graph
    }

    fn add(&mut self, name: &str, is_resource: bool) {
        if !self.nodes.contains_key(name) {
            self.added += 1;
            let node = GraphNode { number: self.added, is_resource };
            self.nodes.insert(name.to_owned(), node);
        }
    }

    /// Adds an edge between a controller and a resource, in the direction in which data flow. A resource that a controller only
    /// helps to destroy has none: there are too many of those.
    fn connect(
        &mut self,
        edge: &ControllerDependencyEdge,
        resource: &str,
        exclusive: &'static str,
        label: &str,
    ) {
        let style = match edge.edge_type() {
            DependencyEdgeType::OutputExclusive => exclusive,
            DependencyEdgeType::OutputShared | DependencyEdgeType::InputStrong => "solid",
            DependencyEdgeType::InputWeak => "dotted",
            DependencyEdgeType::InputDestroyReady => return,
        };
        let in_cluster = self.clusters.get(&edge.resource_type);
        let found = in_cluster.and_then(|cluster| cluster.nodes.get(resource));
        let (Some(controller), Some(resource_node)) =
            (self.nodes.get(&edge.controller_name), found.or_else(|| self.nodes.get(resource)))
        else {
            return;
        };
        let (controller, number) = (controller.number, resource_node.number);
        let (begins_at, edge) = if is_output(edge) {
            let label = String::new();
            (edge.controller_name.as_str(), Edge { from: controller, to: number, style, label })
        } else {
            let label = label.to_owned();
            (resource, Edge { from: number, to: controller, style, label })
        };
        self.edges.entry(begins_at.to_owned()).or_default().push(edge);
    }
}

/// In the form of the library that talosctl uses, blanks included.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("digraph  {\n\t")?;
        for (name, Cluster { number, nodes }) in &self.clusters {
            write!(f, "subgraph cluster_s{number} {{\n\t\tlabel={};\n\t\t", quoted(name))?;
            for (name, node) in nodes {
                write!(f, "{}\n\t\t", node.line(name))?;
            }
            f.write_str("\n\t}\n\t")?;
        }
        f.write_str("\n\t")?;
        for (name, node) in &self.nodes {
            write!(f, "{}\n\t", node.line(name))?;
        }
        for Edge { from, to, style, label } in self.edges.values().flatten() {
            let mut attributes = String::new();
            if !label.is_empty() {
                write!(attributes, "label={},", quoted(label))?;
            }
            write!(f, "n{from}->n{to}[{attributes}style=\"{style}\"];\n\t")?;
        }
        f.write_str("\n}")
    }
}

impl GraphNode {
    fn line(self, name: &str) -> String {
        let (number, label) = (self.number, quoted(name));
        if self.is_resource {
            format!(
                "n{number}[fillcolor=\"azure2\",label={label},shape=\"note\",style=\"filled\"];"
            )
        } else {
            format!("n{number}[label={label},shape=\"box\"];")
        }
    }
}

fn is_output(edge: &ControllerDependencyEdge) -> bool {
    use DependencyEdgeType::{OutputExclusive, OutputShared};
    matches!(edge.edge_type(), OutputExclusive | OutputShared)
}

fn name(resource: &Resource) -> String {
    let metadata = resource.metadata.clone().unwrap_or_default();
    format!("{}/{}/{}", metadata.namespace, metadata.r#type, metadata.id)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use talos_api::proto::cosi::Metadata;

    use super::*;

    fn edge(
        controller: &str,
        kind: DependencyEdgeType,
        resource: &str,
    ) -> ControllerDependencyEdge {
        ControllerDependencyEdge {
            controller_name: controller.to_owned(),
            edge_type: kind.into(),
            resource_namespace: "ns".to_owned(),
            resource_type: resource.to_owned(),
            resource_id: String::new(),
        }
    }

    #[test]
    fn data_flow_from_inputs_through_controllers_to_outputs() {
        let mut edges = vec![
            edge("b.Controller", DependencyEdgeType::OutputExclusive, "Outs"),
            edge("b.Controller", DependencyEdgeType::InputWeak, "Ins"),
            edge("a.Controller", DependencyEdgeType::OutputShared, "Ins"),
            edge("a.Controller", DependencyEdgeType::InputDestroyReady, "Outs"),
        ];
        edges[1].resource_id = "the \"one\"".to_owned();
        let expected = [
            "digraph  {",
            "\t",
            "\tn3[fillcolor=\"azure2\",label=\"Ins\",shape=\"note\",style=\"filled\"];",
            "\tn2[fillcolor=\"azure2\",label=\"Outs\",shape=\"note\",style=\"filled\"];",
            "\tn4[label=\"a.Controller\",shape=\"box\"];",
            "\tn1[label=\"b.Controller\",shape=\"box\"];",
            "\tn3->n1[label=\"the \\\"one\\\"\",style=\"dotted\"];",
            "\tn4->n3[style=\"solid\"];",
            "\tn1->n2[style=\"bold\"];",
            "\t",
            "}",
        ];
        assert_eq!(Graph::of_types(&edges).to_string(), expected.join("\n"));
    }

    #[test]
    fn a_resource_is_an_output_of_its_owner_alone() {
        let resource = |id: &str, owner: &str| {
            let text = |text: &str| text.to_owned();
            let metadata = Metadata {
                namespace: text("ns"),
                r#type: text("Outs"),
                id: text(id),
                owner: text(owner),
                ..Metadata::default()
            };
            Resource { metadata: Some(metadata), spec: None }
        };
        let edges = [
            edge("a", DependencyEdgeType::OutputShared, "Outs"),
            edge("b", DependencyEdgeType::OutputShared, "Outs"),
            edge("b", DependencyEdgeType::InputStrong, "Outs"),
        ];
        let resources = BTreeMap::from([("Outs", vec![resource("one", "a")])]);
        let text = Graph::of_resources(&edges, &resources).to_string();
        assert!(text.contains("\tsubgraph cluster_s3 {\n\t\tlabel=\"Outs\";\n\t\tn4["), "{text}");
        assert!(text.contains("label=\"ns/Outs/one\""), "{text}");
        let arrows: Vec<&str> = text.lines().filter(|line| line.contains("->")).collect();
        assert_eq!(arrows, ["\tn1->n4[style=\"solid\"];", "\tn4->n2[style=\"solid\"];"]);
    }
}
