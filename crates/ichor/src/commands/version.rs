//! `ichor version`: which program this is, what it is built for, and what machines run.

use std::fmt;

use serde::Serialize;
use talos_api::proto::machine;
use talos_api::{Node, NodeError};
use talos_config::{RELEASES, Release};

use crate::args::{self, OutputFormat};
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::NodeRow;
use crate::{Error, ExitStatus, nodes, runtime};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Version>::json_schema;

/// Without machines neither a talosconfig nor the network is looked at.
pub(super) fn run(
    args: &args::VersionArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let args::VersionArgs { client, short, output, maintenance, connection } = args;
    let mut version = Version::of_this_program(*short && output.format == OutputFormat::Table);
    let named =
        !connection.nodes.is_empty() || connection.context.is_some() || maintenance.insecure;
    if *client || !named {
        return printer.value(&version, output.format);
    }
    runtime::run(async {
        let nodes = Nodes::connect_or_maintenance(connection, maintenance, environment)?;
        let (answers, failures) = nodes.call_each(of_machine).await.split();
        let succeeded = answers.len();
        let answers = answers.into_iter().map(|(node, what)| NodeRow { node, what });
        version.machines = Some(answers.collect());
        printer.value(&version, output.format)?;
        Ok(nodes::report(failures, succeeded, printer))
    })
}

async fn of_machine(node: Node) -> Result<Machine, NodeError> {
    let reply = node.retrying(|node| async move { node.call(node.machine().version(())).await });
    let machine::Version { metadata: _, version, platform, features } =
        node.single_reply(reply.await?.messages)?;
    let machine::VersionInfo { tag, sha, built, go_version, os, arch } =
        version.unwrap_or_default();
    let machine::PlatformInfo { name: platform, mode } = platform.unwrap_or_default();
    let rbac = features.is_some_and(|features| features.rbac);
    Ok(Machine { tag, sha, built, go_version, os, arch, platform, mode, rbac })
}

#[derive(Serialize)]
struct Version {
    version: &'static str,
    revision: &'static str,
    talos: Supported,
    /// Only where machines were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Vec<NodeRow<Machine>>>,
    #[serde(skip)]
    short: bool,
}

schema!(Version, plain { version, revision, talos } optional { machines } skip { short });

/// Version of one machine.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Machine {
    tag: String,
    sha: String,
    built: String,
    go_version: String,
    os: String,
    arch: String,
    platform: String,
    mode: String,
    rbac: bool,
}

schema!(Machine, camel { tag, sha, built, go_version, os, arch, platform, mode, rbac });

/// The Talos releases that this program is built for.
#[derive(Serialize)]
struct Supported {
    /// Machines that it talks to.
    machines: Range,
    /// Version contracts that it writes configuration for.
    contracts: Range,
}

schema!(Supported, plain { machines, contracts });

#[derive(Serialize)]
struct Range {
    first: String,
    last: String,
}

impl Range {
    fn of((first, last): (&Release, &Release)) -> Self {
        Self { first: first.contract.bare(), last: last.contract.bare() }
    }
}

schema!(Range, plain { first, last });

impl Version {
    fn of_this_program(short: bool) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            revision: env!("ICHOR_REVISION"),
            talos: Supported {
                machines: Range::of(Release::managed()),
                contracts: Range::of((&RELEASES[0], &RELEASES[RELEASES.len() - 1])),
            },
            machines: None,
            short,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, revision, talos, machines, short } = self;
        write!(f, "ichor {version}")?;
        if !short {
            writeln!(f, " ({revision})")?;
            write!(f, "Talos {} (configuration for {})", talos.machines, talos.contracts)?;
        }
        for NodeRow { node, what: machine } in machines.iter().flatten() {
            let Machine { tag, sha, built, go_version, os, arch, .. } = machine;
            write!(f, "\n\tNODE:        {node}\n\tTag:         {tag}\n\tSHA:         {sha}")?;
            write!(f, "\n\tBuilt:       {built}\n\tGo version:  {go_version}")?;
            write!(f, "\n\tOS/Arch:     {os}/{arch}")?;
            write!(f, "\n\tEnabled:     {}", if machine.rbac { "RBAC" } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)
    }
}
