//! The lease in the managed cluster that keeps a second engine out.
//!
//! Guarantees: of engines that reach the API at most one holds the lease; an engine that has lost it, also to one
//! that has released it since, or could not renew it lately, starts no disruptive step. Assumes: the API compares
//! versions when it writes. No engine's clock is compared with another's: a lease of another engine has run out when
//! *we* have seen it unchanged for as long as a lease lasts.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{Digest, ErrorKind};
use tracing::debug;

use crate::error::{self, PortError};
use crate::event::Event;
use crate::ports::{ApiError, LeaseRecord, Ports, Put};
use crate::stamp::Stamp;

/// A wish for the lease.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeaseClaim {
    /// The engine. No other engine that is alive says the same.
    pub holder: String,
    /// The plan that it is for.
    pub plan: Digest,
}

/// The result of a try to acquire or renew the lease.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LeaseOutcome {
    /// It is ours.
    Acquired {
        /// Grows with every change of the holder.
        fencing: u64,
    },
    /// Another engine has it.
    HeldBy {
        /// The engine.
        holder: String,
    },
    /// No API answers that could keep a lease.
    NoApi {
        /// The reason.
        why: String,
    },
}

/// The lease of one plan, from the first try to the release.
pub(crate) struct Lease<'a> {
    claim: LeaseClaim,
    ports: &'a Ports<'a>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last renewal, by both clocks: the one may be set, the other stands still while the computer sleeps.
    renewed: Option<Stamp>,
    fencing: Option<u64>,
    /// The version of another engine's lease, and when it was first seen.
    foreign: Option<(String, Duration)>,
    /// The engine that has taken it over.
    lost_to: Option<String>,
}

impl<'a> Lease<'a> {
    pub(crate) fn new(claim: LeaseClaim, ports: &'a Ports<'a>) -> Self {
        Self { claim, ports, state: Mutex::default() }
    }

    pub(crate) fn holder(&self) -> &str {
        &self.claim.holder
    }

    /// Acquires the lease before anything is started. A lease of another engine is watched until it is renewed, which
    /// proves that the engine is alive, or has run out.
    pub(crate) async fn acquire(&self) -> Result<LeaseOutcome, PortError> {
        // The engine that is waited for, and the version of its lease.
        let mut awaited: Option<(String, Option<(String, Duration)>)> = None;
        loop {
            let outcome = self.renew().await?;
            match (&outcome, &awaited) {
                (LeaseOutcome::Acquired { fencing }, _) => {
                    self.ports.emit(&Event::LeaseAcquired { fencing: *fencing });
                }
                // The API was there a moment ago, and so was the other engine.
                (LeaseOutcome::NoApi { .. }, Some((holder, _))) => {
                    return Ok(LeaseOutcome::HeldBy { holder: holder.clone() });
                }
                (LeaseOutcome::NoApi { why }, None) => {
                    self.ports.emit(&Event::LeaseUnavailable { why: why.clone() });
                }
                (LeaseOutcome::HeldBy { holder }, None) => {
                    self.ports.emit(&Event::LeaseAwaited { holder: holder.clone() });
                    awaited = Some((holder.clone(), self.with(|state| state.foreign.clone())));
                    self.ports.clock.sleep(LOOK).await;
                    continue;
                }
                (LeaseOutcome::HeldBy { .. }, Some((_, version))) => {
                    if self.with(|state| state.foreign == *version) {
                        self.ports.clock.sleep(LOOK).await;
                        continue;
                    }
                }
            }
            return Ok(outcome);
        }
    }

    /// Renews the lease, or takes it where it is free.
    pub(crate) async fn renew(&self) -> Result<LeaseOutcome, PortError> {
        for _ in 0..TRIES {
            let found = match self.ports.kubernetes.lease().await {
                Ok(found) => found,
                Err(ApiError::Unreachable(error)) => {
                    return Ok(LeaseOutcome::NoApi { why: error.message });
                }
                Err(ApiError::Refused(error)) => return Err(error),
            };
            let wanted = match self.judge(found) {
                Ok(wanted) => wanted,
                Err(holder) => return Ok(LeaseOutcome::HeldBy { holder }),
            };
            // Taken before the write: a lease is not fresher than the request for it.
            let asked = Stamp::now(self.ports.clock);
            match self.ports.kubernetes.put_lease(&wanted).await {
                Ok(Put::Written) => {
                    debug!(fencing = wanted.fencing, "lease renewed");
                    let fencing = wanted.fencing;
                    self.with(|state| {
                        state.renewed = Some(asked);
                        state.fencing = Some(fencing);
                        state.foreign = None;
                    });
                    return Ok(LeaseOutcome::Acquired { fencing });
                }
                // Another engine was faster, or our own write came through and its answer did not: look again.
                Ok(Put::Conflict) | Err(ApiError::Unreachable(_)) => {}
                Err(ApiError::Refused(error)) => return Err(error),
            }
        }
        Ok(LeaseOutcome::NoApi {
            why: "the lease changes faster than it can be written".to_owned(),
        })
    }

    /// Keeps the lease, also one that could not be had at first. Ends when another engine has it.
    pub(crate) async fn keep(&self) -> String {
        loop {
            self.ports.clock.sleep(LASTS / 3).await;
            // An API that is away or refuses is seen by the next disruptive step.
            if let Ok(LeaseOutcome::HeldBy { holder }) = self.renew().await
                && self.fencing().is_some()
            {
                self.with(|state| state.lost_to = Some(holder.clone()));
                return holder;
            }
        }
    }

    /// Makes sure that the lease is ours now, before a disruptive step.
    pub(crate) async fn ensure_fresh(&self) -> Result<(), PortError> {
        if let Some(holder) = self.with(|state| state.lost_to.clone()) {
            return Err(held(&holder));
        }
        if self.is_fresh() {
            return Ok(());
        }
        match self.renew().await? {
            LeaseOutcome::Acquired { .. } => Ok(()),
            LeaseOutcome::HeldBy { holder } => {
                self.with(|state| state.lost_to = Some(holder.clone()));
                Err(held(&holder))
            }
            LeaseOutcome::NoApi { why } => Err(PortError::new(
                error::LEASE_UNAVAILABLE,
                ErrorKind::Retryable,
                format!("no lease keeps other engines out: {why}"),
            )),
        }
    }

    /// Returns the number that tells this holder from all earlier ones; none before the lease was acquired.
    pub(crate) fn fencing(&self) -> Option<u64> {
        self.with(|state| state.fencing)
    }

    /// Gives the lease back, so that the next engine need not wait until it has run out.
    pub(crate) async fn release(&self) {
        if self.fencing().is_none() {
            return;
        }
        let Ok(Some(found)) = self.ports.kubernetes.lease().await else { return };
        if found.holder.as_deref() == Some(&self.claim.holder) {
            let released = LeaseRecord { holder: None, plan: None, ..found };
            // Otherwise it runs out.
            let _ = self.ports.kubernetes.put_lease(&released).await;
        }
    }

    /// Returns the record to write over the one that was found, or the engine that has the lease.
    fn judge(&self, found: Option<LeaseRecord>) -> Result<LeaseRecord, String> {
        let claim = &self.claim;
        let (holder, plan) = (Some(claim.holder.clone()), Some(claim.plan));
        let had = self.fencing();
        let Some(LeaseRecord { version, holder: current, fencing, .. }) = found else {
            return Ok(LeaseRecord { version: None, holder, fencing: had.unwrap_or(1), plan });
        };
        if current.as_deref() == Some(&claim.holder) {
            return Ok(LeaseRecord { version, holder, fencing, plan });
        }
        // Another engine had it in between: what the plan was checked against may not be there any more.
        if had.is_some() {
            return Err(current.unwrap_or_else(|| "another engine".to_owned()));
        }
        if let Some(current) = current {
            let now = self.ports.clock.monotonic();
            let seen = version.clone().unwrap_or_default();
            let since = self.with(|state| match &state.foreign {
                Some((known, since)) if *known == seen => *since,
                _ => {
                    state.foreign = Some((seen, now));
                    now
                }
            });
            if now.saturating_sub(since) < LASTS {
                return Err(current);
            }
        }
        Ok(LeaseRecord { version, holder, fencing: fencing + 1, plan })
    }

    fn is_fresh(&self) -> bool {
        let clock = self.ports.clock;
        self.with(|state| state.renewed.is_some_and(|renewed| renewed.is_within(FRESH, clock)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) fn held(holder: &str) -> PortError {
    let message = format!("{holder} is at work on this cluster");
    PortError::new(error::LEASE_HELD, ErrorKind::Retryable, message)
}

/// The time for which an engine may be silent: longer than an API server needs to come back behind another one.
pub(crate) const LASTS: Duration = Duration::from_mins(1);
/// Another engine takes over after [`LASTS`] of silence at the earliest; two thirds of it are left for the step to
/// reach its machine.
const FRESH: Duration = Duration::from_secs(20);
/// The interval at which a lease of another engine is looked at.
const LOOK: Duration = Duration::from_secs(2);
const TRIES: usize = 3;
