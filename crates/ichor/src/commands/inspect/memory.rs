//! `ichor memory`: what the kernels of machines count about their memory.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use talos_api::proto::machine::MemInfo;
use talos_api::{Node, NodeError};

use crate::args::OutputFormat;
use crate::args::inspect::MemoryArgs;
use crate::json_schema::{JsonSchema, SchemaOf};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows};
use crate::{Error, ExitStatus, nodes};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Memory>>::json_schema;

pub(super) async fn run(
    args: &MemoryArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let output = args.output.format;
    let replies = Nodes::from_context(&args.connection, environment)?.call_each(memory).await;
    if !args.all {
        return replies.show(|memory| vec![memory], output, printer);
    }
    let (answers, failures) = replies.split();
    let succeeded = answers.len();
    let answers = answers.into_iter().map(|(node, what)| NodeRow { node, what });
    if succeeded > 0 || output != OutputFormat::Table {
        printer.value(&Counters(answers.collect()), output)?;
    }
    Ok(nodes::report(failures, succeeded, printer))
}

async fn memory(node: Node) -> Result<Memory, NodeError> {
    let reply = node.retrying(|node| async move { node.call(node.machine().memory(())).await });
    let memory = node.single_reply(reply.await?.messages)?;
    Ok(Memory(memory.meminfo.unwrap_or_default()))
}

struct Memory(MemInfo);

impl Row for Memory {
    const COLUMNS: &'static [&'static str] =
        &["TOTAL", "USED", "FREE", "SHARED", "BUFFERS", "CACHE", "AVAILABLE"];

    fn cells(&self) -> Vec<String> {
        let MemInfo { memtotal, memfree, cached, buffers, shmem, memavailable, .. } = self.0;
        // What a machine counts may not add up.
        let used = memtotal.wrapping_sub(memfree).wrapping_sub(cached).wrapping_sub(buffers);
        let kibibytes = [memtotal, used, memfree, shmem, buffers, cached, memavailable];
        kibibytes.map(|kibibytes| (kibibytes / 1024).to_string()).to_vec()
    }
}

/// All counters, in kB or as plain numbers, by the names that Talos gives them.
impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counter = |(name, read, _): &Counter| (name.to_lowercase(), read(&self.0));
        serializer.collect_map(COUNTERS.iter().map(counter))
    }
}

impl JsonSchema for Memory {
    fn json_schema() -> serde_json::Value {
        let names = COUNTERS.iter().map(|(name, ..)| name.to_lowercase());
        let properties: BTreeMap<String, serde_json::Value> =
            names.map(|name| (name, u64::json_schema())).collect();
        serde_json::json!({
            "type": "object",
            "required": properties.keys().collect::<Vec<_>>(),
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Counters(Vec<NodeRow<Memory>>);

/// As `/proc/meminfo` has it.
impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, NodeRow { node, what: Memory(memory) }) in self.0.iter().enumerate() {
            let gap = if number > 0 { "\n" } else { "" };
            write!(f, "{gap}NODE: {node}")?;
            for (name, read, unit) in COUNTERS {
                write!(f, "\n{name}: {}{unit}", read(memory))?;
            }
        }
        Ok(())
    }
}

type Counter = (&'static str, fn(&MemInfo) -> u64, &'static str);

/// Names, values and units, in the kernel's order.
const COUNTERS: &[Counter] = &[
    ("MemTotal", |memory| memory.memtotal, " kB"),
    ("MemFree", |memory| memory.memfree, " kB"),
    ("MemAvailable", |memory| memory.memavailable, " kB"),
    ("Buffers", |memory| memory.buffers, " kB"),
    ("Cached", |memory| memory.cached, " kB"),
    ("SwapCached", |memory| memory.swapcached, " kB"),
    ("Active", |memory| memory.active, " kB"),
    ("Inactive", |memory| memory.inactive, " kB"),
    ("ActiveAnon", |memory| memory.activeanon, " kB"),
    ("InactiveAnon", |memory| memory.inactiveanon, " kB"),
    ("ActiveFile", |memory| memory.activefile, " kB"),
    ("InactiveFile", |memory| memory.inactivefile, " kB"),
    ("Unevictable", |memory| memory.unevictable, " kB"),
    ("Mlocked", |memory| memory.mlocked, " kB"),
    ("SwapTotal", |memory| memory.swaptotal, " kB"),
    ("SwapFree", |memory| memory.swapfree, " kB"),
    ("Dirty", |memory| memory.dirty, " kB"),
    ("Writeback", |memory| memory.writeback, " kB"),
    ("AnonPages", |memory| memory.anonpages, " kB"),
    ("Mapped", |memory| memory.mapped, " kB"),
    ("Shmem", |memory| memory.shmem, " kB"),
    ("Slab", |memory| memory.slab, " kB"),
    ("SReclaimable", |memory| memory.sreclaimable, " kB"),
    ("SUnreclaim", |memory| memory.sunreclaim, " kB"),
    ("KernelStack", |memory| memory.kernelstack, " kB"),
    ("PageTables", |memory| memory.pagetables, " kB"),
    ("NFSUnstable", |memory| memory.nfsunstable, " kB"),
    ("Bounce", |memory| memory.bounce, " kB"),
    ("WritebackTmp", |memory| memory.writebacktmp, " kB"),
    ("CommitLimit", |memory| memory.commitlimit, " kB"),
    ("CommittedAS", |memory| memory.committedas, " kB"),
    ("VmallocTotal", |memory| memory.vmalloctotal, " kB"),
    ("VmallocUsed", |memory| memory.vmallocused, " kB"),
    ("VmallocChunk", |memory| memory.vmallocchunk, " kB"),
    ("HardwareCorrupted", |memory| memory.hardwarecorrupted, " kB"),
    ("AnonHugePages", |memory| memory.anonhugepages, " kB"),
    ("ShmemHugePages", |memory| memory.shmemhugepages, " kB"),
    ("ShmemPmdMapped", |memory| memory.shmempmdmapped, " kB"),
    ("CmaTotal", |memory| memory.cmatotal, " kB"),
    ("CmaFree", |memory| memory.cmafree, " kB"),
    ("HugePagesTotal", |memory| memory.hugepagestotal, ""),
    ("HugePagesFree", |memory| memory.hugepagesfree, ""),
    ("HugePagesRsvd", |memory| memory.hugepagesrsvd, ""),
    ("HugePagesSurp", |memory| memory.hugepagessurp, ""),
    ("Hugepagesize", |memory| memory.hugepagesize, " kB"),
    ("DirectMap4k", |memory| memory.directmap4k, " kB"),
    ("DirectMap2M", |memory| memory.directmap2m, " kB"),
    ("DirectMap1G", |memory| memory.directmap1g, " kB"),
];
