//! `ichor support`: logs and the state of machines in one archive.
//!
//! Always holds: the spec of a sensitive resource is dropped before anything of it is written; a part that is missing
//! keeps nothing else back; what a machine names stays within the machine's folder; every part has an end.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;
use talos_api::proto::common::{ContainerDriver, Data};
use talos_api::proto::cosi::meta::ResourceDefinitionSpec;
use talos_api::proto::cosi::meta::resource_definition_spec::Sensitivity;
use talos_api::proto::cosi::{Resource, Spec as ResourceSpec};
use talos_api::proto::definitions::config::MachineConfigSpec;
use talos_api::proto::machine::{
    ContainersRequest, DiskStat, DmesgRequest, LogsRequest, ReadRequest,
};
use talos_api::resource::Spec as _;
use talos_api::{Bound, Bounds, CallError, Node, NodeError, Stream};
use talos_config::{REDACTED, spell_bytes};

use super::containers::namespace_and_driver;
use super::{dependencies, get, mounts, processes, services};
use crate::args::inspect::{ProcessOrder, SupportArgs};
use crate::files::PendingFile;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows, Table};
use crate::{Error, ExitStatus, clock, nodes};

pub(super) async fn run(
    args: &SupportArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let mut archive = Archive::create(args)?;
    let mut failures = Vec::new();
    // One after the other: of each part no more than one is in memory.
    for node in nodes.as_slice() {
        let mut machine = MachineParts { node, args, archive: &mut archive, printer };
        let Ok(collected) = tokio::time::timeout(args.timeout, machine.collect()).await else {
            let reason = CallError::OverLimit(Bound::Time(args.timeout));
            failures.push(NodeError { node: node.name().to_owned(), reason });
            continue;
        };
        match collected {
            Err(Error::Machine(error)) => failures.push(error),
            collected => collected?,
        }
    }
    let succeeded = nodes.as_slice().len() - failures.len();
    for failure in &failures {
        archive.missing.push(failure.to_string());
    }
    if archive.parts > 0 {
        let missing = archive.missing.len();
        let size = spell_bytes(archive.finish()?);
        printer.note(&format!("wrote {} ({size})", args.output.display()));
        if missing > failures.len() {
            let parts = missing - failures.len();
            printer.note(&format!("missing parts: {parts}, see errors.txt in it"));
        }
        printer.note("read it before you pass it on: logs may hold what programs write of secrets");
    }
    Ok(nodes::report(failures, succeeded, printer))
}

/// The parts of one machine.
struct MachineParts<'a> {
    node: &'a Node,
    args: &'a SupportArgs,
    archive: &'a mut Archive,
    printer: &'a mut Printer,
}

impl MachineParts<'_> {
    /// Collects everything. Fails where the machine does not answer at all, or the archive cannot be written.
    async fn collect(&mut self) -> Result<(), Error> {
        let node = self.node;
        let version =
            node.retrying(|node| async move { node.call(node.machine().version(())).await });
        let version = node.single_reply(version.await?.messages)?.version.unwrap_or_default();
        let own = env!("CARGO_PKG_VERSION");
        let summary = format!(
            "ichor {own}\nTalos {} ({}, built {}, {} {})\n",
            version.tag, version.sha, version.built, version.os, version.arch
        );
        self.add("summary.txt", Ok(summary))?;
        let dmesg = DmesgRequest { follow: false, tail: false };
        let dmesg = node.open(|node| async move { node.machine().dmesg(dmesg).await }).await;
        self.add_stream("dmesg.log", dmesg).await?;
        for log in ["controller-runtime", "dns-resolve-cache"] {
            let stream = self.logs(log, false).await;
            self.add_stream(&format!("{log}.log"), stream).await?;
        }
        let graph = dependencies::graph(node, true).await;
        self.add("dependencies.dot", graph.map(|graph| format!("{graph}\n")))?;
        let mounts = mounts::mounts(node.clone()).await;
        self.add("mounts.txt", mounts.map(|mounts| self.table(mounts)))?;
        let processes = processes::processes(node.clone(), ProcessOrder::Rss).await;
        self.add("processes.txt", processes.map(|processes| self.table(processes)))?;
        self.add("io.txt", disk_statistics(node).await)?;
        let devices = ReadRequest { path: "/proc/bus/pci/devices".to_owned() };
        let devices = node.open(|node| async move { node.machine().read(devices).await }).await;
        self.add_stream("pci-devices.txt", devices).await?;
        self.collect_services().await?;
        self.collect_pods().await?;
        self.collect_resources().await
    }

    async fn collect_services(&mut self) -> Result<(), Error> {
        let services = match services::list(self.node.clone()).await {
            Ok(services) => services,
            Err(error) => return self.add("services", Err(error)),
        };
        for service in services {
            let id = service.id.clone();
            let stream = self.logs(&id, false).await;
            self.add_stream(&format!("services/{}.log", file_name(&id)), stream).await?;
            let details = services::details(self.node.name(), service);
            self.add(&format!("services/{}.txt", file_name(&id)), Ok(format!("{details}\n")))?;
        }
        Ok(())
    }

    async fn collect_pods(&mut self) -> Result<(), Error> {
        let node = self.node;
        let (namespace, driver) = namespace_and_driver(true);
        let reply = node.retrying(|node| {
            let request =
                ContainersRequest { namespace: namespace.to_owned(), driver: driver.into() };
            async move { node.call(node.machine().containers(request)).await }
        });
        let containers = match reply.await.and_then(|reply| node.single_reply(reply.messages)) {
            Ok(reply) => reply.containers,
            Err(error) => return self.add("pods", Err(error)),
        };
        let mut taken = BTreeSet::new();
        for container in containers {
            let is_sandbox = container.status == "SANDBOX_READY";
            if is_sandbox || !container.pod_id.starts_with("kube-system/") {
                continue;
            }
            let state = if container.pid == 0 { "-exited" } else { "" };
            let path = format!("pods/{}{state}.log", file_name(&container.id));
            if taken.insert(path.clone()) {
                let stream = self.logs(&container.id, true).await;
                self.add_stream(&path, stream).await?;
            }
        }
        Ok(())
    }

    async fn collect_resources(&mut self) -> Result<(), Error> {
        let definitions = match self.node.list::<ResourceDefinitionSpec>().await {
            Ok(definitions) => definitions,
            Err(error) => return self.add("resources", Err(error)),
        };
        for (id, definition) in definitions {
            let (namespace, kind) = (&definition.default_namespace, &definition.resource_type);
            let resources = self.node.list_resources(namespace, kind).await;
            let text = resources.and_then(|resources| {
                let mut text = String::new();
                for mut resource in resources {
                    if is_sensitive(&definition) {
                        redact(&mut resource);
                    }
                    let yaml = get::yaml(self.node.name(), &resource).map_err(|error| {
                        let reason = CallError::Unreadable(error.to_string());
                        NodeError { node: self.node.name().to_owned(), reason }
                    })?;
                    let _ = write!(text, "---\n{yaml}");
                }
                Ok(text)
            });
            if text.as_ref().is_ok_and(String::is_empty) {
                continue;
            }
            self.add(&format!("resources/{}.yaml", file_name(&id)), text)?;
        }
        Ok(())
    }

    async fn logs(&self, id: &str, kubernetes: bool) -> Result<Stream<Data>, NodeError> {
        let (namespace, driver) =
            if kubernetes { ("k8s.io", ContainerDriver::Cri) } else { namespace_and_driver(false) };
        let request = LogsRequest {
            namespace: namespace.to_owned(),
            id: id.to_owned(),
            driver: driver.into(),
            follow: false,
            tail_lines: -1,
        };
        self.node.open(|node| async move { node.machine().logs(request).await }).await
    }

    /// Adds a text; why it is missing where it is.
    fn add(&mut self, path: &str, text: Result<String, NodeError>) -> Result<(), Error> {
        let name = self.node.name();
        self.printer.progress(&format!("{name}: {path}"));
        match text {
            Ok(text) => {
                self.archive.add(&format!("{}/{path}", file_name(name)), text.as_bytes())?;
            }
            Err(error) => self.archive.missing.push(format!("{name}: {path}: {}", error.reason)),
        }
        Ok(())
    }

    /// Adds bytes as they come, cut where they are too long.
    async fn add_stream(
        &mut self,
        path: &str,
        stream: Result<Stream<Data>, NodeError>,
    ) -> Result<(), Error> {
        let bounds = Bounds { bytes: self.args.max_log_size, total: self.args.timeout };
        let mut content = Vec::new();
        let collected = match stream {
            Ok(stream) => read(stream.bounded(bounds), &mut content).await,
            Err(error) => Err(error),
        };
        let name = self.node.name();
        self.printer.progress(&format!("{name}: {path}"));
        // What came before a failure is kept.
        if !content.is_empty() || collected.is_ok() {
            self.archive.add(&format!("{}/{path}", file_name(name)), &content)?;
        }
        if let Err(NodeError { reason, .. }) = collected {
            self.archive.missing.push(format!("{name}: {path}: {reason}"));
        }
        Ok(())
    }

    fn table<R: Row>(&self, rows: Vec<R>) -> String {
        let node = self.node.name();
        let rows = rows.into_iter().map(|what| NodeRow { node: node.to_owned(), what });
        format!("{}\n", Rows(rows.collect()))
    }
}

async fn read(mut stream: Stream<Data>, content: &mut Vec<u8>) -> Result<(), NodeError> {
    while let Some(bytes) = stream.bytes().await? {
        content.extend(bytes);
    }
    Ok(())
}

async fn disk_statistics(node: &Node) -> Result<String, NodeError> {
    let reply = node.retrying(|node| async move { node.call(node.machine().disk_stats(())).await });
    let head = ["NAME", "IO_TIME", "IO_TIME_WEIGHTED", "DISK_WRITE_SECTORS", "DISK_READ_SECTORS"];
    let mut table = Table::new(head.map(str::to_owned).to_vec());
    for device in node.single_reply(reply.await?.messages)?.devices {
        let DiskStat { name, io_time_ms, io_time_weighted_ms, .. } = device;
        let numbers = [io_time_ms, io_time_weighted_ms, device.write_sectors, device.read_sectors];
        table.push(std::iter::once(name).chain(numbers.map(|number| number.to_string())).collect());
    }
    Ok(format!("{table}\n"))
}

/// Returns whether the specs of a type may hold secrets: by what the machine says, and whatever it says for those that do.
fn is_sensitive(definition: &ResourceDefinitionSpec) -> bool {
    definition.sensitivity() == Sensitivity::Sensitive
        || definition.default_namespace == "secrets"
        || definition.resource_type == MachineConfigSpec::TYPE
}

fn redact(resource: &mut Resource) {
    let yaml_spec = format!("{REDACTED:?}\n");
    resource.spec = Some(ResourceSpec { yaml_spec, ..ResourceSpec::default() });
    // The last configuration that was applied is an annotation elsewhere.
    if let Some(metadata) = &mut resource.metadata {
        metadata.annotations.values_mut().for_each(|value| REDACTED.clone_into(value));
    }
}

/// Makes one component of a path of a name that a machine chose.
fn file_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' }
    };
    let name: String = name.chars().map(plain).collect();
    if name.trim_matches('.').is_empty() { "_".repeat(name.len().max(1)) } else { name }
}

/// An archive that is in place once it is complete. Only its owner may read it.
struct Archive {
    tar: tar::Builder<GzEncoder<PendingFile>>,
    parts: usize,
    /// The parts that are missing, and why.
    missing: Vec<String>,
}

impl Archive {
    fn create(args: &SupportArgs) -> Result<Self, Error> {
        let file = PendingFile::create(&args.output, args.force)?;
        let tar = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        Ok(Self { tar, parts: 0, missing: Vec::new() })
    }

    fn add(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(clock::now()).unwrap_or_default());
        self.parts += 1;
        self.tar.append_data(&mut header, format!("support/{path}"), content)
    }

    /// Completes the file, and returns its size.
    fn finish(mut self) -> Result<u64, Error> {
        if !self.missing.is_empty() {
            let text = format!("{}\n", self.missing.join("\n"));
            self.add("errors.txt", text.as_bytes())?;
        }
        let file = self.tar.into_inner()?.finish()?;
        let size = file.size()?;
        file.commit()?;
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_machines_stay_in_their_folder() {
        for (name, expected) in [
            ("etcd", "etcd"),
            ("kube-system/pod:container", "kube-system_pod_container"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", "__"),
            ("", "_"),
            ("a\nb", "a_b"),
        ] {
            assert_eq!(file_name(name), expected);
        }
    }
}
