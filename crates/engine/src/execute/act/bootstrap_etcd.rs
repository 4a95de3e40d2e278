//! Begins etcd, and so the cluster, on one control plane.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use domain::ErrorKind;

use super::{At, Look};
use crate::error::{Error, PortError};
use crate::execute::precondition;
use crate::journal::Entry;

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let (tried, may_have_begun) = (AtomicBool::new(false), AtomicBool::new(false));
    let machine = at.name.clone();
    at.execution.append(Entry::EtcdBootstrapping { machine }).await?;
    at.until(|| async {
        // A machine that is not ready for it refuses for minutes; meanwhile another etcd may have begun.
        if tried.swap(true, Relaxed) && !may_have_begun.load(Relaxed) {
            precondition::check(at).await?;
        }
        match at.ports.lifecycle.bootstrap(at.machine()?).await {
            Ok(true) => Ok(Look::Done(())),
            // Our own call whose answer was lost: there was no etcd before it.
            Ok(false) if may_have_begun.load(Relaxed) => Ok(Look::Done(())),
            Ok(false) => {
                let message = format!("{}: etcd has been bootstrapped before", at.name);
                Err(PortError::precondition(message).into())
            }
            Err(error) if error.kind == ErrorKind::Retryable => {
                may_have_begun.fetch_or(error.may_have_happened, Relaxed);
                Ok(Look::WaitFor(error.message))
            }
            Err(error) => Err(error.into()),
        }
    })
    .await
}
