//! `ichor cp`: files of a machine, copied here.

use std::path::Path;

use talos_api::proto::machine::CopyRequest;
use talos_api::{Node, NodeError, Reason};
use talos_config::spell_bytes;

use super::Receiving;
use super::archive::{self, Pieces, Trouble};
use crate::args::Cp;
use crate::machines::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &Cp,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.reach, surroundings)?;
    let node = machines.only("cp")?;
    let to_stdout = args.target.as_os_str() == "-";
    if !to_stdout && args.target.exists() && !args.target.is_dir() {
        return Err(Error::Usage {
            message: format!("{} is not a directory", args.target.display()),
            hint: "also a single file is copied into a directory".to_owned(),
        });
    }
    let request = CopyRequest { root_path: args.source.clone() };
    let copy = |node: Node| async move { node.machine().copy(request).await };
    let mut stream = node.open(copy).await?;
    if to_stdout {
        while let Some(bytes) = stream.bytes().await? {
            printer.bytes(&bytes)?;
        }
        return Ok(ExitStatus::Done);
    }
    unpack(Receiving { stream, printer, received: 0 }, node, &args.target).await
}

/// Unpacks beside, on a thread that may wait for the disk.
async fn unpack(
    mut receiving: Receiving<'_>,
    node: &Node,
    target: &Path,
) -> Result<ExitStatus, Error> {
    // Before anything is made here: what there is not cannot be copied.
    let mut next = receiving.next().await?;
    fs_err::create_dir_all(target)?;
    let (sender, pieces) = Pieces::new(QUEUED);
    let directory = target.to_owned();
    let unpacking = tokio::task::spawn_blocking(move || archive::unpack(pieces, &directory));
    while let Some(bytes) = next {
        // Who unpacks has ended: with an error, or because nothing more is part of the archive.
        if sender.send(bytes).await.is_err() {
            break;
        }
        next = receiving.next().await?;
    }
    drop(sender);
    let outcome = unpacking.await.map_err(|error| Error::Output(std::io::Error::other(error)))?;
    let unpacked = outcome.map_err(|trouble| match trouble {
        Trouble::Local(error) => Error::Output(error),
        Trouble::Archive(problem) => Error::Machine(NodeError {
            node: node.name().to_owned(),
            reason: Reason::Unreadable(problem),
        }),
    })?;
    for what in &unpacked.left_out {
        receiving.printer.note(&format!("left out: {what}"));
    }
    let files = match unpacked.files {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let bytes = spell_bytes(unpacked.bytes);
    receiving.printer.note(&format!("wrote {files} ({bytes}) to {}", target.display()));
    Ok(ExitStatus::Done)
}

/// How many pieces wait for the disk.
const QUEUED: usize = 16;
