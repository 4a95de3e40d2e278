//! The runtime that commands run on, and how a signal ends them.

use std::future::Future;
use std::sync::LazyLock;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::{Error, ExitStatus};

/// The wish to stop: Ctrl-C, or the signal by which a system ends a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signals;

#[async_trait]
impl engine::Stop for Signals {
    async fn requested(&self) {
        // The sender lives as long as the program.
        let _ = STOP.subscribe().wait_for(|asked| *asked).await;
    }
}

/// Set by the first signal, and never reset: a signal that comes before the work listens is not lost.
static STOP: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Returns at the next Ctrl-C or SIGTERM.
pub(crate) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        return drop(tokio::signal::ctrl_c().await);
    };
    tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

/// Runs a future until it is done. The first Ctrl-C or SIGTERM asks it to stop, as [`Signals`]; the second drops it.
pub(crate) fn run_stoppable(
    work: impl Future<Output = Result<ExitStatus, Error>>,
) -> Result<ExitStatus, Error> {
    block_on(work, async {
        interrupted().await;
        STOP.send_replace(true);
        interrupted().await;
    })
}

/// Does something with machines until it is done, or Ctrl-C or SIGTERM drops it.
pub(crate) fn run(
    work: impl Future<Output = Result<ExitStatus, Error>>,
) -> Result<ExitStatus, Error> {
    block_on(work, interrupted())
}

fn block_on(
    work: impl Future<Output = Result<ExitStatus, Error>>,
    interrupted: impl Future<Output = ()>,
) -> Result<ExitStatus, Error> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            biased;
            // First: work that acts on machines has something to say about an interruption.
            outcome = work => outcome,
            () = interrupted => Ok(ExitStatus::Interrupted),
        }
    })
}

/// Raises the limit of open files as far as the system allows: every connection needs one, and the usual limit is
/// enough for a few hundred.
fn raise_open_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Where it is refused, fewer machines are called at the same time.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
