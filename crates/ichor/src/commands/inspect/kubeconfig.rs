//! `ichor kubeconfig`: the administrator's credentials for Kubernetes, added to those that are there.

use std::io::Write;
use std::path::PathBuf;

use talos_api::{CallError, Node, NodeError};
use talos_config::{Decision, Kubeconfig, Part, Secret, SourceId};

use crate::args::inspect::KubeconfigArgs;
use crate::files::PendingFile;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::{Input, UserEnvironment};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &KubeconfigArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    // What cannot be written is not fetched.
    let target = Target::find(args, environment)?;
    let nodes = Nodes::control_planes(&args.connection, environment)?;
    let node = nodes.single("kubeconfig")?;
    let fetched = node.kubeconfig().await?;
    let added = checked(&fetched, node)?;
    let before = match &target {
        Target::Merged(path) => Some(Input::File(path.clone())),
        // A name of its own is given by merging with nothing.
        Target::Stdout | Target::Written(_) => {
            args.force_context_name.as_ref().map(|_| Input::Inline(String::new()))
        }
    };
    let text = match before {
        Some(before) => merge(&before, &added, args, printer)?,
        None => fetched,
    };
    match target {
        Target::Stdout => printer.verbatim(text.expose()),
        Target::Written(path) | Target::Merged(path) => {
            let mut file = PendingFile::create(&path, true)?;
            file.write_all(text.expose().as_bytes())?;
            file.commit()?;
            printer.note(&format!("wrote {}", path.display()));
            Ok(ExitStatus::Done)
        }
    }
}

/// Destination of the kubeconfig.
enum Target {
    Stdout,
    Written(PathBuf),
    /// To the kubeconfig that is there.
    Merged(PathBuf),
}

impl Target {
    fn find(args: &KubeconfigArgs, environment: &UserEnvironment) -> Result<Self, Error> {
        let path = match (&args.path, environment.kubeconfigs.paths.as_slice()) {
            (Some(path), _) if path.as_os_str() == "-" => return Ok(Self::Stdout),
            (Some(path), _) => path.clone(),
            (None, _) if !args.merge => ".".into(),
            (None, [path]) => path.clone(),
            (None, []) if environment.kubeconfigs.lacks_home => {
                return Err(Error::NoHome {
                    what: "the kubeconfig",
                    hint: "set HOME or KUBECONFIG, or pass the file: `ichor kubeconfig FILE`",
                });
            }
            (None, paths) => {
                let names: Vec<String> =
                    paths.iter().map(|path| path.display().to_string()).collect();
                return Err(Error::Usage {
                    message: format!("KUBECONFIG names several files: {}", names.join(", ")),
                    hint: "pass one of them: `ichor kubeconfig FILE`".to_owned(),
                });
            }
        };
        let path = if path.is_dir() { path.join("kubeconfig") } else { path };
        match fs_err::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::Written(path)),
            Err(error) => Err(Error::Input(error)),
            Ok(_) if args.merge => Ok(Self::Merged(path)),
            Ok(_) if args.force => Ok(Self::Written(path)),
            Ok(_) => {
                Err(Error::Exists { path, hint: "--force overwrites it, --merge merges into it" })
            }
        }
    }
}

/// Reads what a machine sent. One that names a program for kubectl to run is refused: Talos never does.
fn checked(fetched: &Secret<String>, node: &Node) -> Result<Kubeconfig, Error> {
    let refused = |reason: String| {
        let reason = CallError::Unreadable(reason);
        Error::Machine(NodeError { node: node.name().to_owned(), reason })
    };
    // The parse error could quote a part of the key.
    let config = Kubeconfig::parse(fetched.expose(), SourceId::default())
        .map_err(|_| refused("the machine returned an invalid kubeconfig".to_owned()))?;
    match config.user_with_program() {
        Some(user) => Err(refused(format!(
            "the machine returned a kubeconfig whose user {user:?} runs a program on this computer"
        ))),
        None => Ok(config),
    }
}

fn merge(
    before: &Input,
    added: &Kubeconfig,
    args: &KubeconfigArgs,
    printer: &mut Printer,
) -> Result<Secret<String>, Error> {
    let (mut config, _) = SourceMap::default().parse(before, Kubeconfig::parse)?;
    let decide = |part: Part, name: &str| {
        if args.force {
            return Ok(Decision::Overwrite);
        }
        let question = format!("{part} {name:?} exists with other content: overwrite it");
        let overwrite = printer.ask(&question)?.unwrap_or(false);
        Ok::<_, Error>(if overwrite { Decision::Overwrite } else { Decision::Rename })
    };
    let renamed = config.merge(added, args.force_context_name.as_deref(), decide)?;
    for talos_config::Renamed { part, from, to } in renamed {
        printer.note(&format!("renamed {part} {from:?} -> {to:?}"));
    }
    Ok(config.encode())
}
