//! `ichor cp`: files of a machine, copied here.
//!
//! Always holds: of an archive that does not come to its end, or goes on beyond what is asked for, no half file is left.

use talos_api::proto::machine::CopyRequest;
use talos_api::{Bound, Bounds, CallError, Node, NodeError};
use talos_config::spell_bytes;
use tokio::sync::mpsc;

use super::Download;
use super::archive::{self, EntryError, Pieces};
use crate::args::inspect::CpArgs;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &CpArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let node = nodes.single("cp")?;
    let to_stdout = args.target.as_os_str() == "-";
    if !to_stdout && args.target.exists() && !args.target.is_dir() {
        return Err(Error::Usage {
            message: format!("{} is not a directory", args.target.display()),
            hint: "also a single file is copied into a directory".to_owned(),
        });
    }
    let request = CopyRequest { root_path: args.source.clone() };
    let copy = |node: Node| async move { node.machine().copy(request).await };
    let bounds = Bounds { bytes: args.max_size, total: args.timeout };
    let mut stream = node.open(copy).await?.bounded(bounds);
    if to_stdout {
        while let Some(bytes) = stream.bytes().await? {
            printer.bytes(&bytes)?;
        }
        return Ok(ExitStatus::Done);
    }
    unpack(Download { stream, printer, received: 0 }, node, args).await
}

/// Unpacks beside, on a thread that may wait for the disk.
async fn unpack(
    mut download: Download<'_>,
    node: &Node,
    args: &CpArgs,
) -> Result<ExitStatus, Error> {
    // Before anything is made here: what there is not cannot be copied.
    let first = download.next().await?;
    let target = &args.target;
    fs_err::create_dir_all(target)?;
    let (sender, pieces) = Pieces::new(QUEUED);
    let (directory, most) = (target.clone(), args.max_size);
    let unpacking = tokio::task::spawn_blocking(move || archive::unpack(pieces, &directory, most));
    let received = pass_on(&mut download, first, sender).await;
    // Waited for in any case: it removes the file that it was at.
    let outcome = unpacking.await.map_err(|error| Error::Output(std::io::Error::other(error)))?;
    // An archive that did not all come cannot be read to its end either; the reason is the former.
    received?;
    let machine_error = |reason| Error::Machine(NodeError { node: node.name().to_owned(), reason });
    let unpacked = outcome.map_err(|error| match error {
        EntryError::Local(error) => Error::Output(error),
        EntryError::Archive(problem) => machine_error(CallError::Unreadable(problem)),
        EntryError::TooLarge => machine_error(CallError::OverLimit(Bound::Bytes(most))),
    })?;
    for what in &unpacked.left_out {
        download.printer.note(&format!("left out: {what}"));
    }
    let files = match unpacked.files {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let bytes = spell_bytes(unpacked.bytes);
    download.printer.note(&format!("wrote {files} ({bytes}) to {}", target.display()));
    Ok(ExitStatus::Done)
}

/// Passes pieces on to the thread that unpacks, until the last one has come or the thread needs no more.
async fn pass_on(
    download: &mut Download<'_>,
    first: Option<Vec<u8>>,
    sender: mpsc::Sender<Vec<u8>>,
) -> Result<(), NodeError> {
    let mut next = first;
    while let Some(bytes) = next {
        // The thread has ended: with an error, or because nothing more is part of the archive.
        if sender.send(bytes).await.is_err() {
            break;
        }
        next = download.next().await?;
    }
    Ok(())
}

/// How many pieces wait for the disk.
const QUEUED: usize = 16;
