//! The lease in the managed cluster that keeps a second engine out.

use std::time::Duration;

use plan::Digest;

use crate::cluster::Cluster;
use crate::error::{Error, Trouble};
use crate::event::Event;
use crate::observe;
use crate::ports::Ports;

/// Who wants the lease, for what and for how long.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// Who.
    pub holder: String,
    /// For which plan.
    pub plan: Digest,
    /// After which silence it is somebody else's.
    pub lasts: Duration,
}

/// Takes the lease. A cluster whose API does not answer has none to give: then the journal alone keeps others out,
/// and of machines only those in maintenance are taken over.
pub(crate) async fn take(
    claim: &Claim,
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<bool, Error> {
    match ports.kubernetes.take_lease(claim).await {
        Ok(fencing) => {
            ports.events.tell(&Event::LeaseTaken { fencing });
            Ok(true)
        }
        Err(trouble) if trouble.code == HELD => Err(trouble.into()),
        Err(trouble) => {
            let etcd = observe::etcd_now(cluster, ports).await;
            let begun = etcd.current(ports.clock.now()).is_none_or(|etcd| !etcd.members.is_empty());
            if begun {
                ports.events.tell(&Event::LeaseUnavailable { why: trouble.message });
            }
            Ok(false)
        }
    }
}

/// Keeps the lease for as long as this is polled. Ends when somebody else has it.
pub(crate) async fn keep(claim: &Claim, ports: &Ports<'_>) -> Trouble {
    loop {
        ports.clock.sleep(claim.lasts / 3).await;
        match ports.kubernetes.take_lease(claim).await {
            Err(trouble) if trouble.code == HELD => return trouble,
            // The API may be away while a control plane reboots; whoever wants the lease cannot get it then either.
            Ok(_) | Err(_) => {}
        }
    }
}

/// The code of a lease that somebody else has.
pub(crate) const HELD: &str = "lease.held";
/// How long an engine may be silent: longer than an API server needs to come back behind another one.
pub(crate) const LASTS: Duration = Duration::from_mins(1);
