//! Texts that machines send bit by bit, shown line by line with the machine's name in front.

use std::future::Future;

use talos_api::proto::common::Data;
use talos_api::{Node, NodeError, Stream};

use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::{Error, ExitStatus};

/// Shows what all machines send, as it comes. Who follows waits for as long as nothing comes.
pub(super) async fn show<F>(
    nodes: &Nodes,
    follow: bool,
    open: impl Fn(Node) -> F + Clone + Send + 'static,
    printer: &mut Printer,
) -> Result<ExitStatus, Error>
where
    F: Future<Output = Result<Stream<Data>, NodeError>> + Send + 'static,
{
    let tell = move |node: Node, sender: tokio::sync::mpsc::Sender<(String, Vec<u8>)>| {
        let (name, opening) = (node.name().to_owned(), open(node));
        async move {
            let stream = opening.await?;
            let mut stream = if follow { stream.without_idle_timeout() } else { stream };
            let mut lines = Lines::default();
            while let Some(bytes) = stream.bytes().await? {
                for line in lines.take(&bytes) {
                    // Nobody is left to show it to: there is no more to do.
                    if sender.send((name.clone(), line)).await.is_err() {
                        return Ok(());
                    }
                }
            }
            if let Some(line) = lines.rest() {
                let _ = sender.send((name, line)).await;
            }
            Ok(())
        }
    };
    let show = |node: &str, line: Vec<u8>, printer: &mut Printer| {
        let mut text = format!("{node}: ").into_bytes();
        text.extend(line);
        text.push(b'\n');
        printer.bytes(&text).map(drop)
    };
    nodes.stream_each(tell, printer, show).await
}

/// Puts lines together from pieces.
#[derive(Debug, Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// The lines that are whole now, without their ends.
    fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(piece);
            if self.begun.last() == Some(&b'\n') {
                self.begun.pop();
                lines.push(std::mem::take(&mut self.begun));
            } else if self.begun.len() > LONGEST_LINE {
                lines.push(std::mem::take(&mut self.begun));
            }
        }
        lines
    }

    /// What came after the last end of a line.
    fn rest(self) -> Option<Vec<u8>> {
        Some(self.begun).filter(|rest| !rest.is_empty())
    }
}

/// A line that is longer is shown in pieces: it would fill the memory otherwise.
const LONGEST_LINE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_put_together_from_pieces() {
        let mut lines = Lines::default();
        assert!(lines.take(b"a").is_empty());
        assert_eq!(lines.take(b"b\n\nc"), [b"ab".to_vec(), Vec::new()]);
        assert_eq!(lines.rest(), Some(b"c".to_vec()));
    }
}
