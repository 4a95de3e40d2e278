//! `ichor processes`: what runs on machines.

use std::time::Duration;

use serde::Serialize;
use talos_api::proto::machine::ProcessInfo;
use talos_api::{Node, NodeError};
use talos_config::spell_bytes;

use crate::args::OutputFormat;
use crate::args::inspect::{ProcessOrder, ProcessesArgs};
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::{Nodes, Replies};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Process>>::json_schema;

pub(super) async fn run(
    args: &ProcessesArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let (order, output) = (args.sort, args.output.format);
    let limit = args.limit.unwrap_or(if args.watch { WATCHED } else { usize::MAX });
    let ask = move |node: Node| async move {
        let mut processes = processes(node, order).await?;
        processes.truncate(limit);
        Ok::<_, NodeError>(processes)
    };
    if !args.watch {
        return nodes.call_each(ask).await.show(|processes| processes, output, printer);
    }
    loop {
        refresh(nodes.call_each(ask).await, output, printer)?;
        tokio::time::sleep(REFRESH).await;
    }
}

/// Shows the present state. A machine that does not answer may do so the next time.
fn refresh(
    replies: Replies<Vec<Process>>,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<(), Error> {
    let (answers, failures) = replies.split();
    let rows = answers.into_iter().flat_map(|(node, processes)| {
        processes.into_iter().map(move |what| NodeRow { node: node.clone(), what })
    });
    let rows = Rows(rows.collect());
    let failures: Vec<String> = failures.iter().map(NodeError::to_string).collect();
    match output {
        OutputFormat::Table => {
            let lines: Vec<String> = std::iter::once(rows.to_string()).chain(failures).collect();
            printer.screen(&lines.join("\n"))
        }
        output => {
            printer.item(&rows, output)?;
            for failure in &failures {
                printer.note(failure);
            }
            Ok(())
        }
    }
}

/// Asks a machine for its processes, the largest first.
pub(super) async fn processes(node: Node, order: ProcessOrder) -> Result<Vec<Process>, NodeError> {
    let reply = node.retrying(|node| async move { node.call(node.machine().processes(())).await });
    let mut processes = node.single_reply(reply.await?.messages)?.processes;
    processes.sort_by(|one, other| match order {
        ProcessOrder::Rss => other.resident_memory.cmp(&one.resident_memory),
        ProcessOrder::Cpu => other.cpu_time.total_cmp(&one.cpu_time),
    });
    Ok(processes.into_iter().map(Process::from).collect())
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
    pid: i32,
    ppid: i32,
    state: String,
    threads: i32,
    /// In seconds.
    cpu_time: f64,
    /// In bytes, as the next.
    virtual_memory: u64,
    resident_memory: u64,
    label: String,
    executable: String,
    command: String,
}

schema!(
    Process,
    camel {
        pid,
        ppid,
        state,
        threads,
        cpu_time,
        virtual_memory,
        resident_memory,
        label,
        executable,
        command
    }
);

impl From<ProcessInfo> for Process {
    fn from(info: ProcessInfo) -> Self {
        let command = command_line(&info);
        Self {
            pid: info.pid,
            ppid: info.ppid,
            state: info.state,
            threads: info.threads,
            cpu_time: info.cpu_time,
            virtual_memory: info.virtual_memory,
            resident_memory: info.resident_memory,
            label: info.label,
            executable: info.executable,
            command,
        }
    }
}

impl Row for Process {
    const COLUMNS: &'static [&'static str] =
        &["PID", "STATE", "THREADS", "CPU-TIME", "VIRTMEM", "RESMEM", "LABEL", "COMMAND"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.pid.to_string(),
            self.state.clone(),
            self.threads.to_string(),
            format!("{:.2}", self.cpu_time),
            spell_bytes(self.virtual_memory),
            spell_bytes(self.resident_memory),
            self.label.clone(),
            self.command.clone(),
        ]
    }
}

/// The arguments, with the executable in full where they begin with its name alone. A thread of the kernel has neither.
fn command_line(info: &ProcessInfo) -> String {
    let ProcessInfo { command, executable, args, .. } = info;
    let first = args.split_whitespace().next().unwrap_or_default();
    let path = executable.split_whitespace().next().unwrap_or_default();
    let text = if executable.is_empty() {
        command.clone()
    } else if !first.is_empty() && Some(first) == path.rsplit('/').next() {
        args.replacen(first, executable, 1)
    } else {
        args.clone()
    };
    let visible = |letter: char| if matches!(letter, ' '..='~') { letter } else { ' ' };
    text.chars().map(visible).collect()
}

/// As many as a terminal has lines for.
const WATCHED: usize = 20;
/// Often enough to watch; a machine reads all of `/proc` for it.
const REFRESH: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_name_the_executable_in_full() {
        for (command, executable, args, expected) in [
            ("kthreadd", "", "", "kthreadd"),
            ("etcd", "/usr/local/bin/etcd", "etcd --name=cp-1", "/usr/local/bin/etcd --name=cp-1"),
            ("init", "/sbin/init", "/sbin/init --x", "/sbin/init --x"),
            ("sh", "/bin/sh", "", ""),
            ("sh", "/bin/sh", "sh\0-c\u{1b}[2J ü", "sh -c [2J  "),
        ] {
            let text = |text: &str| text.to_owned();
            let info = ProcessInfo {
                command: text(command),
                executable: text(executable),
                args: text(args),
                ..ProcessInfo::default()
            };
            assert_eq!(command_line(&info), expected);
        }
    }
}
