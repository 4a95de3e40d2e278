//! Fetches credentials for the Kubernetes API, and keeps them in the vault.

use domain::ErrorKind;

use super::{At, Look};
use crate::error::Error;

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let kubeconfig = at
        .until(|| async {
            match at.ports.machines.kubeconfig(at.machine()?).await {
                Ok(kubeconfig) => Ok(Look::Done(kubeconfig)),
                Err(error) if error.kind == ErrorKind::Retryable => {
                    Ok(Look::WaitFor(error.message))
                }
                Err(error) => Err(error.into()),
            }
        })
        .await?;
    Ok(at.ports.vault.keep_kubeconfig(&kubeconfig).await?)
}
