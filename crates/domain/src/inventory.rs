//! The observed facts about machines, etcd and Kubernetes, each with its age and its source.
//!
//! Observers fill it, planner and checker read it. A fact that could not be learned is a value, not an
//! error; a fact that is too old counts as not known. It holds no secret and can be stored.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use talos_config::{Coded, TalosVersion, codes};

use crate::digest::Digest;
use crate::disk::Disk;
use crate::names::{InvalidText, MachineName, NodeName, TextFormat, serialize_as_text};
use crate::network::Address;
use crate::time::{Span, Timestamp};

/// The observed state of a cluster.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// The time of observation; ages are counted to it.
    pub taken: Timestamp,
    /// The machines, by their names in the spec.
    pub machines: BTreeMap<MachineName, MachineFacts>,
    /// The members of etcd.
    pub etcd: Fact<Etcd>,
    /// True if the Kubernetes API answered under the cluster's CA, which it cannot do without an etcd.
    pub api: Fact<bool>,
    /// Members of etcd that the journal recorded and no reset has ended, with the machines that they ran on. The spec
    /// may not name these machines any more.
    pub begun: BTreeMap<MemberId, MachineName>,
    /// The machine that etcd was begun on, as long as no member of it was recorded: it may still appear there.
    pub bootstrapping: Option<MachineName>,
    /// True if the cluster's directory has a kubeconfig.
    pub kubeconfig: Fact<bool>,
    /// Machines that the provider has for this cluster and that no machine of the spec is.
    pub orphans: Fact<Vec<Orphan>>,
}

/// One thing that was to be seen.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "fact", deny_unknown_fields)]
pub enum Fact<T> {
    /// It was seen.
    Known {
        /// The value.
        value: T,
        /// The time.
        seen: Timestamp,
        /// The source of the fact.
        source: Source,
    },
    /// It was not seen.
    NotKnown {
        /// The reason.
        why: String,
    },
}

/// The source of a fact.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The API of a machine, with our credentials.
    TalosApi,
    /// The API of a machine in maintenance, without credentials.
    Maintenance,
    /// The cluster's Kubernetes API.
    Kubernetes,
    /// The provider that makes machines.
    Provider,
    /// Our own journal or directory.
    Directory,
    /// It follows from other facts.
    Inference,
}

/// The observed state of a machine.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFacts {
    /// The address, from the spec or the provider.
    pub address: Fact<Address>,
    /// The provider's machine behind it; none where the provider has none. Not known for a machine that no provider
    /// makes.
    pub instance: Fact<Option<Instance>>,
    /// The last generation that its provider was asked for, 0 where it never was; what our journal says.
    pub generation: u32,
    /// The ownership: in maintenance, ours, foreign, or on its way.
    #[serde(rename = "standing")]
    pub ownership: Fact<Ownership>,
    /// The installation of Talos.
    pub node: Fact<NodeIdentity>,
    /// The installation when we last changed it, from our journal.
    pub recorded: Option<NodeIdentity>,
    /// The current boot.
    pub boot: Fact<BootId>,
    /// The release that runs.
    pub talos: Fact<TalosVersion>,
    /// The configuration that it has.
    pub config: Fact<Digest>,
    /// Another configuration, which waits for the next boot; none where it would boot with the one that it has.
    pub staged: Fact<Option<Digest>>,
    /// The disks that Talos could be installed to, where it is not installed yet.
    pub disks: Fact<Vec<Disk>>,
    /// A control plane's own member of etcd, by what the machine itself says; none where etcd never ran.
    pub member: Fact<Option<MemberId>>,
    /// The name of its node in Kubernetes.
    pub node_name: Fact<NodeName>,
    /// The state of its node in Kubernetes.
    pub kubernetes: Fact<NodeState>,
    /// Parts of Kubernetes that a control plane should run and that are not well, or run with an older configuration
    /// than the machine has; each with its reason.
    pub unwell: Fact<Vec<String>>,
    /// The time when we last disturbed it, until it has been seen in service again; from our journal.
    pub disturbed: Option<Timestamp>,
}

/// The ownership of a machine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ownership {
    /// Unconfigured: it waits for configuration.
    Maintenance,
    /// Ours: it knows our credentials.
    Ours,
    /// Another cluster's: it has configuration and does not know us.
    #[serde(rename = "another")]
    Foreign,
    /// Ours soon: it does not answer, and was configured by us since it was last in maintenance, so that it holds no
    /// etcd.
    #[serde(rename = "coming")]
    Booting,
    /// Ours, and it does not answer: we have disturbed it, and it still has time to come back.
    Away,
    /// Its provider does not have it.
    #[serde(rename = "absent")]
    NotProvided,
    /// Its provider has made it, and it has neither answered nor been configured since.
    #[serde(rename = "starting")]
    Provided,
}

/// The state of a machine's node in Kubernetes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It is not registered.
    Absent,
    /// It is registered, and not ready.
    NotReady,
    /// It is registered and ready.
    Ready,
}

/// A provider's own identity of a machine.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ProviderId(pub String);

/// A machine that a provider has.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The provider's identity of it.
    pub id: ProviderId,
    /// Counts the machines that were made for one name.
    pub generation: u32,
}

/// A machine that a provider has for a cluster and that no machine of the spec is: the spec does not name it any
/// more, or another one has taken its place.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Orphan {
    /// The name that it was made for.
    pub name: MachineName,
    /// The provider's machine.
    pub instance: Instance,
}

/// The identity that Talos gives an installation.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NodeIdentity(pub String);

/// The identity of one boot.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct BootId(pub String);

/// The members of etcd, as one of them told. None at all means that etcd has not been bootstrapped.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Etcd {
    /// The members.
    pub members: BTreeMap<MemberId, Member>,
    /// The one that leads.
    pub leader: Option<MemberId>,
    /// Machines of ours whose member is not among these: they are in another etcd.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<MachineName>,
}

/// etcd's own identity of a member. Host names are not identities: they are reused.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemberId(pub u64);

/// A member of etcd.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The machine that it runs on, if that is one we know.
    pub machine: Option<MachineName>,
    /// True if it votes, or still learns.
    pub voter: bool,
    /// True if it runs.
    pub started: bool,
    /// Entries behind the leader; none when it did not answer.
    pub lag: Option<u64>,
}

impl<T> Fact<T> {
    /// Returns the observed value, unless it is too old to act upon.
    pub fn current(&self, now: Timestamp) -> Option<&T> {
        match self {
            Self::Known { value, seen, .. } if now.since(*seen) <= MAX_AGE => Some(value),
            Self::Known { .. } | Self::NotKnown { .. } => None,
        }
    }

    /// Returns the reason why nothing is known now.
    pub fn why_not(&self, now: Timestamp) -> String {
        match self {
            Self::Known { seen, .. } => format!("last seen {} ago", now.since(*seen)),
            Self::NotKnown { why } => why.clone(),
        }
    }
}

impl Etcd {
    /// Returns the member that runs on a machine.
    pub fn on(&self, machine: &MachineName) -> Option<(MemberId, &Member)> {
        let mut members = self.members.iter();
        members
            .find(|(_, member)| member.machine.as_ref() == Some(machine))
            .map(|(id, member)| (*id, member))
    }
}

impl Inventory {
    /// Returns the text of an inventory file.
    pub fn encode(&self) -> String {
        let file = InventoryFile { format: FORMAT.to_owned(), inventory: self.clone() };
        // Maps have texts for keys, so writing cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Reads an inventory file.
    pub fn decode(text: &str) -> Result<Self, InventoryError> {
        let head: Head = serde_json::from_str(text).map_err(InventoryError::Syntax)?;
        if head.format != FORMAT {
            return Err(InventoryError::Format(head.format));
        }
        let file: InventoryFile = serde_json::from_str(text).map_err(InventoryError::Syntax)?;
        Ok(file.inventory)
    }
}

impl fmt::Display for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ours => "configured",
            Self::Maintenance => "in maintenance",
            Self::Foreign => "foreign",
            Self::Booting => "booting with its configuration",
            Self::Away => "not back yet",
            Self::NotProvided => "not provided",
            Self::Provided => "provided, and has not answered yet",
        })
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NodeIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TextFormat for MemberId {
    const WHAT: &'static str = "a member of etcd";
    const RULE: &'static str = "at most 16 hexadecimal digits";
    const PATTERN: &'static str = "^[0-9a-f]{1,16}$";
}

impl FromStr for MemberId {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = u64::from_str_radix(text, 16).ok().filter(|_| plain);
        id.map(Self).ok_or_else(|| InvalidText::new::<Self>(text))
    }
}

serialize_as_text!(MemberId);

/// As etcd's own tools write it.
impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// The error of reading an inventory file.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// It is not what it should be.
    #[error("cannot read the inventory")]
    Syntax(#[source] serde_json::Error),
    /// It is in a format that we do not know.
    #[error("the inventory has the format {0:?}, and this release reads {FORMAT:?}")]
    Format(String),
}

impl Coded for InventoryError {
    codes! {
        Self::Syntax(_) => "inventory.syntax", Permanent;
        Self::Format(_) => "inventory.format", Permanent;
    }
}

#[derive(Deserialize)]
struct Head {
    format: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct InventoryFile {
    format: String,
    inventory: Inventory,
}

const FORMAT: &str = "ichor-inventory/v2";

/// A voter that is further behind than this does not count: etcd itself takes no more writes when what it
/// has applied is so many entries behind what was agreed.
pub const MAX_LAG: u64 = 5_000;

/// Facts older than this are not acted upon: longer than a slow round of observing several hundred
/// machines, shorter than a person needs to replace one.
pub const MAX_AGE: Span = Span::minutes(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_grows_too_old_to_act_upon() {
        let fact = Fact::Known { value: 1, seen: Timestamp(1000), source: Source::TalosApi };
        assert_eq!(fact.current(Timestamp(1300)), Some(&1));
        assert_eq!(fact.current(Timestamp(1301)), None);
        assert_eq!(fact.why_not(Timestamp(1301)), "last seen 5m1s ago");
    }

    #[test]
    fn a_member_is_written_as_etcd_writes_it() {
        assert_eq!(MemberId(0x00ab_12ff).to_string(), "ab12ff");
        assert_eq!("8e9e05c52164694d".parse(), Ok(MemberId(0x8e9e_05c5_2164_694d)));
        for bad in ["", "+1", "-1", "0x1", "g", "18e9e05c52164694d"] {
            assert!(bad.parse::<MemberId>().is_err(), "{bad}");
        }
    }
}
