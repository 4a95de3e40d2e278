//! The kubeconfig that a control plane makes for its administrator, out of the archive that it comes in.

use std::io::Read;
use std::time::Duration;

use flate2::read::GzDecoder;
use talos_config::Secret;

use crate::error::{CallError, NodeError};
use crate::limits::Limits;
use crate::node::Node;

impl Node {
    /// Fresh credentials for the Kubernetes API.
    pub async fn kubeconfig(&self) -> Result<Secret<String>, NodeError> {
        let open = |node: Self| async move { node.machine().kubeconfig(()).await };
        let packed = self.limited(ARCHIVE).open(open).await?.collect_bytes().await?;
        unpack(&packed).map_err(|problem| self.error(CallError::Unreadable(problem)))
    }
}

fn unpack(packed: &[u8]) -> Result<Secret<String>, String> {
    let unreadable = |error: std::io::Error| error.to_string();
    // However well it is packed, no more than this is read.
    let mut archive = tar::Archive::new(GzDecoder::new(packed).take(2 * LONGEST));
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if &*entry.path_bytes() != b"kubeconfig" {
            continue;
        }
        if entry.size() > LONGEST {
            return Err(format!("a kubeconfig of {} bytes", entry.size()));
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).map_err(unreadable)?;
        return Ok(Secret::new(text));
    }
    Err("there is no kubeconfig in the archive".to_owned())
}

/// A hundred times what it has.
const LONGEST: u64 = 1 << 20;
/// It comes in a few pieces, once the control plane has made a certificate.
const ARCHIVE: Limits =
    Limits { message: 1 << 20, messages: 4096, bytes: 1 << 20, total: Duration::from_mins(1) };

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_kubeconfig_is_found_and_bounded() {
        let packed = pack(&[("other", b"1"), ("kubeconfig", b"kind: Config")]);
        assert_eq!(unpack(&packed).map(Secret::into_exposed).as_deref(), Ok("kind: Config"));
        assert!(unpack(&packed[..30]).is_err());
        assert!(unpack(&pack(&[("other", b"1")])).is_err());
        assert!(unpack(&pack(&[("kubeconfig", &vec![0; 3 << 20])])).is_err());
    }

    fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, name, *content).unwrap();
        }
        let mut packed = builder.into_inner().unwrap();
        packed.flush().unwrap();
        packed.finish().unwrap()
    }
}
