//! Resources of a machine: which type has which spec.
//!
//! In goes a resource as a machine sent it, out comes its spec: as a message where the type is known here
//! ([`Typed`]), as a YAML tree for every other type, or nothing for a tombstone ([`decode`]). Who knows
//! the type beforehand asks for it by [`Spec::decode_from`].
//!
//! Always holds: an unknown type, an unknown field and an unknown value of an enumeration are no errors.
//! Newer machines have them.

use prost::Message;
use talos_config::SourceId;
use talos_config::yaml::{self, Limits, Node, SyntaxError};

use crate::proto::cosi;
use crate::proto::definitions::{
    block, cluster, config, etcd, extensions, hardware, k8s, network, runtime, secrets, time,
    v1alpha1,
};

/// The message that is the spec of one resource type.
pub trait Spec: Message + Default + Sized {
    /// The resource type, as requests name it.
    const TYPE: &'static str;
    /// The namespace to look in: the server has no default.
    const NAMESPACE: &'static str;

    /// Reads the spec; nothing for a tombstone.
    fn decode_from(resource: &cosi::Resource) -> Result<Option<Self>, Error> {
        let (found, spec) = parts(resource)?;
        if found != Self::TYPE {
            return Err(Error::OtherType { expected: Self::TYPE, found: found.to_owned() });
        }
        if is_tombstone(spec) { Ok(None) } else { message(spec, Self::TYPE).map(Some) }
    }
}

/// What a resource holds.
#[derive(Clone)]
pub enum Decoded {
    /// The spec of a type that is known here.
    Typed(Box<Typed>),
    /// The spec of any other type, as YAML. Enumerations and addresses are text in it.
    Generic(Node),
    /// The resource is gone.
    Tombstone,
}

/// Why a resource could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The reply has a hole.
    #[error("the resource has no {0}")]
    Missing(&'static str),
    /// Asked for one type, got another.
    #[error("expected a resource of type {expected}, got {found}")]
    OtherType {
        /// What was asked for.
        expected: &'static str,
        /// What came.
        found: String,
    },
    /// The spec is not the message that its type has.
    #[error("cannot read the spec of a resource of type {kind}")]
    Message {
        /// The resource type.
        kind: &'static str,
        /// What is wrong with the bytes.
        #[source]
        source: prost::DecodeError,
    },
    /// The spec is no YAML.
    #[error("cannot read the YAML of a resource of type {kind}")]
    Yaml {
        /// The resource type.
        kind: String,
        /// What is wrong with the text.
        #[source]
        source: SyntaxError,
    },
}

/// Reads the spec of a resource by the resource's type.
pub fn decode(resource: &cosi::Resource) -> Result<Decoded, Error> {
    let (kind, spec) = parts(resource)?;
    if is_tombstone(spec) {
        return Ok(Decoded::Tombstone);
    }
    match typed(kind, spec) {
        Some(known) => known.map(|known| Decoded::Typed(Box::new(known))),
        None => generic(kind, spec).map(Decoded::Generic),
    }
}

/// The spec as YAML, whether the type is known here or not: what people are shown.
pub fn decode_generic(resource: &cosi::Resource) -> Result<Option<Node>, Error> {
    let (kind, spec) = parts(resource)?;
    if is_tombstone(spec) { Ok(None) } else { generic(kind, spec).map(Some) }
}

macro_rules! resources {
    ($($name:ident: $spec:path = $kind:literal in $namespace:literal;)*) => {
        /// The spec of a resource whose type is known here.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "the protos say what each one is")]
        #[non_exhaustive]
        pub enum Typed {
            $($name($spec),)*
        }

        /// The types that are known here.
        pub const TYPES: &[&str] = &[$($kind),*];

        $(impl Spec for $spec {
            const TYPE: &'static str = $kind;
            const NAMESPACE: &'static str = $namespace;
        })*

        impl Typed {
            /// The resource type.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $kind,)*
                }
            }

            /// The message as a machine sends it.
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(spec) => spec.encode_to_vec(),)*
                }
            }
        }

        fn typed(kind: &str, spec: &cosi::Spec) -> Option<Result<Typed, Error>> {
            match kind {
                $($kind => Some(message(spec, $kind).map(Typed::$name)),)*
                _ => None,
            }
        }
    };
}

resources! {
    ApiServerConfig: k8s::ApiServerConfigSpec =
        "APIServerConfigs.kubernetes.talos.dev" in "controlplane";
    ApiServiceConfig: runtime::ApiServiceConfigSpec =
        "APIServiceConfigs.runtime.talos.dev" in "runtime";
    AddressStatus: network::AddressStatusSpec = "AddressStatuses.net.talos.dev" in "network";
    Affiliate: cluster::AffiliateSpec = "Affiliates.cluster.talos.dev" in "cluster";
    BlockDevice: block::DeviceSpec = "BlockDevices.block.talos.dev" in "runtime";
    BootId: runtime::BootIdSpec = "BootIDs.runtime.talos.dev" in "runtime";
    BootedEntry: runtime::BootedEntrySpec = "BootedEntries.talos.dev" in "runtime";
    BootstrapManifestsConfig: k8s::BootstrapManifestsConfigSpec =
        "BootstrapManifestsConfigs.kubernetes.talos.dev" in "controlplane";
    ControllerManagerConfig: k8s::ControllerManagerConfigSpec =
        "ControllerManagerConfigs.kubernetes.talos.dev" in "controlplane";
    DevicesStatus: runtime::DevicesStatusSpec = "DevicesStatuses.runtime.talos.dev" in "runtime";
    Diagnostic: runtime::DiagnosticSpec = "Diagnostics.runtime.talos.dev" in "runtime";
    DiscoveredVolume: block::DiscoveredVolumeSpec =
        "DiscoveredVolumes.block.talos.dev" in "runtime";
    Disk: block::DiskSpec = "Disks.block.talos.dev" in "runtime";
    Endpoint: k8s::EndpointSpec = "Endpoints.kubernetes.talos.dev" in "controlplane";
    EtcdMember: etcd::MemberSpec = "EtcdMembers.etcd.talos.dev" in "etcd";
    EtcdSpec: etcd::SpecSpec = "EtcdSpecs.etcd.talos.dev" in "etcd";
    ExtensionStatus: extensions::Layer = "ExtensionStatuses.runtime.talos.dev" in "runtime";
    HostnameStatus: network::HostnameStatusSpec = "HostnameStatuses.net.talos.dev" in "network";
    Identity: cluster::IdentitySpec = "Identities.cluster.talos.dev" in "cluster";
    ImageFactorySchematic: runtime::ImageFactorySchematicSpec =
        "ImageFactorySchematics.runtime.talos.dev" in "runtime";
    Info: cluster::InfoSpec = "Infos.cluster.talos.dev" in "cluster";
    KernelCmdline: runtime::KernelCmdlineSpec = "KernelCmdlines.runtime.talos.dev" in "runtime";
    KubePrismConfig: k8s::KubePrismConfigSpec = "KubePrismConfigs.kubernetes.talos.dev" in "k8s";
    KubePrismEndpoints: k8s::KubePrismEndpointsSpec =
        "KubePrismEndpoints.kubernetes.talos.dev" in "k8s";
    KubePrismStatus: k8s::KubePrismStatusesSpec = "KubePrismStatuses.kubernetes.talos.dev" in "k8s";
    KubeletConfig: k8s::KubeletConfigSpec = "KubeletConfigs.kubernetes.talos.dev" in "k8s";
    KubeletSpec: k8s::KubeletSpecSpec = "KubeletSpecs.kubernetes.talos.dev" in "k8s";
    KubeletStatus: k8s::KubeletStatusSpec = "KubeletStatuses.kubernetes.talos.dev" in "k8s";
    KubernetesRoot: secrets::KubernetesRootSpec =
        "KubernetesRootSecrets.secrets.talos.dev" in "secrets";
    LinkStatus: network::LinkStatusSpec = "LinkStatuses.net.talos.dev" in "network";
    MachineConfig: config::MachineConfigSpec = "MachineConfigs.config.talos.dev" in "config";
    MachineStatus: runtime::MachineStatusSpec = "MachineStatuses.runtime.talos.dev" in "runtime";
    MachineType: config::MachineTypeSpec = "MachineTypes.config.talos.dev" in "config";
    MaintenanceServiceConfig: runtime::MaintenanceServiceConfigSpec =
        "MaintenanceServiceConfigs.runtime.talos.dev" in "runtime";
    Manifest: k8s::ManifestSpec = "Manifests.kubernetes.talos.dev" in "controlplane";
    ManifestStatus: k8s::ManifestStatusSpec =
        "ManifestStatuses.kubernetes.talos.dev" in "controlplane";
    Member: cluster::MemberSpec = "Members.cluster.talos.dev" in "cluster";
    MemoryModule: hardware::MemoryModuleSpec = "MemoryModules.hardware.talos.dev" in "hardware";
    MetaKey: runtime::MetaKeySpec = "MetaKeys.runtime.talos.dev" in "runtime";
    MountStatus: runtime::MountStatusSpec = "MountStatuses.runtime.talos.dev" in "runtime";
    Namespace: cosi::meta::NamespaceSpec = "Namespaces.meta.cosi.dev" in "meta";
    NetworkStatus: network::StatusSpec = "NetworkStatuses.net.talos.dev" in "network";
    NodeAddress: network::NodeAddressSpec = "NodeAddresses.net.talos.dev" in "network";
    NodeIp: k8s::NodeIpSpec = "NodeIPs.kubernetes.talos.dev" in "k8s";
    NodeStatus: k8s::NodeStatusSpec = "NodeStatuses.kubernetes.talos.dev" in "k8s";
    Nodename: k8s::NodenameSpec = "Nodenames.kubernetes.talos.dev" in "k8s";
    OsRoot: secrets::OsRootSpec = "OSRootSecrets.secrets.talos.dev" in "secrets";
    PlatformMetadata: runtime::PlatformMetadataSpec = "PlatformMetadatas.talos.dev" in "runtime";
    Processor: hardware::ProcessorSpec = "Processors.hardware.talos.dev" in "hardware";
    ResourceDefinition: cosi::meta::ResourceDefinitionSpec =
        "ResourceDefinitions.meta.cosi.dev" in "meta";
    RouteStatus: network::RouteStatusSpec = "RouteStatuses.net.talos.dev" in "network";
    SchedulerConfig: k8s::SchedulerConfigSpec =
        "SchedulerConfigs.kubernetes.talos.dev" in "controlplane";
    SecurityState: runtime::SecurityStateSpec = "SecurityStates.talos.dev" in "runtime";
    Service: v1alpha1::ServiceSpec = "Services.v1alpha1.talos.dev" in "runtime";
    StaticPod: k8s::StaticPodSpec = "StaticPods.kubernetes.talos.dev" in "k8s";
    StaticPodStatus: k8s::StaticPodStatusSpec = "StaticPodStatuses.kubernetes.talos.dev" in "k8s";
    SystemDisk: block::SystemDiskSpec = "SystemDisks.block.talos.dev" in "runtime";
    SystemInformation: hardware::SystemInformationSpec =
        "SystemInformations.hardware.talos.dev" in "hardware";
    TimeStatus: time::StatusSpec = "TimeStatuses.v1alpha1.talos.dev" in "runtime";
    UnattendedInstallStatus: runtime::UnattendedInstallStatusSpec =
        "UnattendedInstallStatuses.runtime.talos.dev" in "runtime";
    UniqueMachineToken: runtime::UniqueMachineTokenSpec =
        "UniqueMachineTokens.runtime.talos.dev" in "runtime";
    Version: runtime::VersionSpec = "Versions.runtime.talos.dev" in "runtime";
    VolumeStatus: block::VolumeStatusSpec = "VolumeStatuses.block.talos.dev" in "runtime";
}

/// The parts that every resource of a reply has.
fn parts(resource: &cosi::Resource) -> Result<(&str, &cosi::Spec), Error> {
    let metadata = resource.metadata.as_ref().ok_or(Error::Missing("metadata"))?;
    let spec = resource.spec.as_ref().ok_or(Error::Missing("spec"))?;
    Ok((&metadata.r#type, spec))
}

/// A live resource always has its YAML, even if all of its message is defaults.
fn is_tombstone(spec: &cosi::Spec) -> bool {
    spec.proto_spec.is_empty() && spec.yaml_spec.is_empty()
}

fn message<M: Message + Default>(spec: &cosi::Spec, kind: &'static str) -> Result<M, Error> {
    M::decode(spec.proto_spec.as_slice()).map_err(|source| Error::Message { kind, source })
}

fn generic(kind: &str, spec: &cosi::Spec) -> Result<Node, Error> {
    // The text is no file of the user, so its places are told without one.
    yaml::parse(&spec.yaml_spec, SourceId::default(), Limits::default())
        .map_err(|source| Error::Yaml { kind: kind.to_owned(), source })?
        .into_iter()
        .next()
        .map(|document| document.root)
        .ok_or(Error::Missing("spec"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_decides_about_the_message() {
        let spec = runtime::VersionSpec { version: "v1.13.0".to_owned(), ..Default::default() };
        let resource =
            resource(runtime::VersionSpec::TYPE, &spec.encode_to_vec(), "version: v1.13.0");
        let Ok(Decoded::Typed(typed)) = decode(&resource) else { panic!("a known type") };
        assert_eq!(*typed, Typed::Version(spec.clone()));
        assert_eq!(runtime::VersionSpec::decode_from(&resource).unwrap(), Some(spec));
        assert!(matches!(
            runtime::BootIdSpec::decode_from(&resource),
            Err(Error::OtherType { found, .. }) if found == "Versions.runtime.talos.dev"
        ));
    }

    #[test]
    fn a_message_of_defaults_is_no_tombstone() {
        let kind = runtime::SecurityStateSpec::TYPE;
        let live = resource(kind, &[], "secureBoot: false");
        let found = runtime::SecurityStateSpec::decode_from(&live).unwrap();
        assert_eq!(found, Some(runtime::SecurityStateSpec::default()));
        let gone = resource(kind, &[], "");
        assert_eq!(runtime::SecurityStateSpec::decode_from(&gone).unwrap(), None);
        assert!(matches!(decode(&gone), Ok(Decoded::Tombstone)));
    }

    #[test]
    fn an_unknown_type_is_read_as_yaml() {
        let resource = resource("Inventions.future.talos.dev", &[8, 1], "ready: true");
        let Ok(Decoded::Generic(node)) = decode(&resource) else { panic!("an unknown type") };
        assert_eq!(node.get("ready").and_then(|ready| ready.scalar()).unwrap().0, "true");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let kind = runtime::VersionSpec::TYPE;
        let error = |resource| decode(&resource).err().unwrap().to_string();
        assert_eq!(error(cosi::Resource::default()), "the resource has no metadata");
        assert_eq!(
            error(resource(kind, &[0xff], "")),
            "cannot read the spec of a resource of type Versions.runtime.talos.dev"
        );
        assert_eq!(
            error(resource("New.talos.dev", &[], "a: [")),
            "cannot read the YAML of a resource of type New.talos.dev"
        );
    }

    fn resource(kind: &str, proto: &[u8], yaml: &str) -> cosi::Resource {
        let metadata = cosi::Metadata { r#type: kind.to_owned(), ..Default::default() };
        let spec = cosi::Spec { proto_spec: proto.to_vec(), yaml_spec: yaml.to_owned() };
        cosi::Resource { metadata: Some(metadata), spec: Some(spec) }
    }
}
