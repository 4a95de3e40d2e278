//! `ichor ls`: files of machines.

use serde::Serialize;
use talos_api::proto::machine::list_request::Type;
use talos_api::proto::machine::{FileInfo, ListRequest};
use talos_api::{CallError, Limits, Node, NodeError};
use talos_config::spell_bytes;

use crate::args::OutputFormat;
use crate::args::inspect::LsArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows};
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus, nodes};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Entry>>::json_schema;

pub(super) async fn run(
    args: &LsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let output = args.output.format;
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let request = ListRequest {
        root: args.path.clone(),
        recurse: args.recurse || args.depth > 1,
        recursion_depth: if args.recurse { -1 } else { args.depth },
        types: types(&args.types)?,
        report_xattrs: args.long || output != OutputFormat::Table,
    };
    let answers = nodes
        .call_each(move |node| {
            let request = request.clone();
            async move { list(&node, request).await }
        })
        .await;

    let (answers, mut failures) = answers.split();
    let mut entries = Vec::new();
    let mut succeeded = 0;
    for (node, files) in answers {
        // Of a path that does not exist the machine says only that.
        succeeded += usize::from(files.is_empty() || files.iter().any(Result::is_ok));
        for file in files {
            match file {
                Ok(what) => entries.push(NodeRow { node: node.clone(), what }),
                Err(reason) => failures.push(NodeError { node: node.clone(), reason }),
            }
        }
    }
    if succeeded > 0 || output != OutputFormat::Table {
        if args.long {
            let long = |NodeRow { node, what }| NodeRow {
                node,
                what: Long { what, humanize: args.humanize },
            };
            printer.value(&Rows(entries.into_iter().map(long).collect()), output)?;
        } else {
            printer.value(&Rows(entries), output)?;
        }
    }
    Ok(nodes::report(failures, succeeded, printer))
}

/// The files, and why some of them could not be looked at.
async fn list(
    node: &Node,
    request: ListRequest,
) -> Result<Vec<Result<Entry, CallError>>, NodeError> {
    let replies = node.retrying(|node| {
        let request = request.clone();
        async move {
            let list = |node: Node| async move { node.machine().list(request).await };
            node.limited(Limits::FILES).open(list).await?.collect().await
        }
    });
    Ok(replies.await?.into_iter().map(Entry::new).collect())
}

fn types(letters: &[String]) -> Result<Vec<i32>, Error> {
    let one = |letter: char| match letter {
        'f' => Ok(Type::Regular.into()),
        'd' => Ok(Type::Directory.into()),
        'l' | 'L' => Ok(Type::Symlink.into()),
        _ => Err(Error::Usage {
            message: format!("unknown file type {letter:?}"),
            hint: "f is for files, d for directories, l for links".to_owned(),
        }),
    };
    letters.iter().flat_map(|letters| letters.chars()).map(one).collect()
}

#[derive(Serialize)]
struct Entry {
    name: String,
    mode: String,
    uid: u32,
    gid: u32,
    size: i64,
    modified: Timestamp,
    label: String,
    link: String,
}

schema!(Entry, plain { name, mode, uid, gid, size, modified, label, link });

impl Entry {
    fn new(info: FileInfo) -> Result<Self, CallError> {
        let error = info.metadata.map(|metadata| metadata.error).filter(|error| !error.is_empty());
        if let Some(error) = error {
            return Err(CallError::told(error));
        }
        if !info.error.is_empty() {
            return Err(CallError::told(format!("{}: {}", info.name, info.error)));
        }
        let label = info.xattrs.into_iter().find(|attribute| attribute.name == "security.selinux");
        let label = String::from_utf8_lossy(&label.unwrap_or_default().data).into_owned();
        Ok(Self {
            name: info.relative_name,
            mode: mode(info.mode),
            uid: info.uid,
            gid: info.gid,
            size: info.size,
            modified: Timestamp::from_seconds(info.modified),
            label: label.trim_matches(['\0', '\n']).to_owned(),
            link: info.link,
        })
    }
}

impl Row for Entry {
    const COLUMNS: &'static [&'static str] = &["NAME"];

    fn cells(&self) -> Vec<String> {
        vec![self.name.clone()]
    }
}

/// An entry with all that is known of it.
#[derive(Serialize)]
struct Long {
    #[serde(flatten)]
    what: Entry,
    #[serde(skip)]
    humanize: bool,
}

impl Row for Long {
    const COLUMNS: &'static [&'static str] =
        &["MODE", "UID", "GID", "SIZE(B)", "LASTMOD", "LABEL", "NAME"];

    fn cells(&self) -> Vec<String> {
        let Entry { name, mode, uid, gid, size, modified, label, link } = &self.what;
        let (size, modified) = if self.humanize {
            (spell_bytes(u64::try_from(*size).unwrap_or_default()), modified.relative())
        } else {
            (size.to_string(), modified.ls_format())
        };
        let name = if link.is_empty() { name.clone() } else { format!("{name} -> {link}") };
        vec![mode.clone(), uid.to_string(), gid.to_string(), size, modified, label.clone(), name]
    }
}

/// Formats a mode like Go: letters for the highest bits, a dash if none is set, then the permissions.
fn mode(bits: u32) -> String {
    let letters = |letters: &'static str, highest: u32| {
        let bit = move |place| bits >> (highest - place) & 1 == 1;
        letters.chars().zip(0..).map(move |(letter, place)| (letter, bit(place)))
    };
    let mut mode: String =
        letters("dalTLDpSugct?", 31).filter(|(_, set)| *set).map(|(letter, _)| letter).collect();
    if mode.is_empty() {
        mode.push('-');
    }
    mode.extend(letters("rwxrwxrwx", 8).map(|(letter, set)| if set { letter } else { '-' }));
    mode
}

#[cfg(test)]
mod tests {
    use super::mode;

    #[test]
    fn modes_are_written_as_go_does() {
        for (bits, expected) in [
            (0o644, "-rw-r--r--"),
            (1 << 31 | 0o755, "drwxr-xr-x"),
            (1 << 31 | 1 << 20 | 0o777, "dtrwxrwxrwx"),
            (1 << 27 | 0o777, "Lrwxrwxrwx"),
            (1 << 26 | 1 << 21 | 0o600, "Dcrw-------"),
            (1 << 23 | 0o755, "urwxr-xr-x"),
            (1 << 19, "?---------"),
        ] {
            assert_eq!(mode(bits), expected);
        }
    }
}
