//! Which call takes and gives which message, and which event is which.

use prost::Message;
use talos_api::proto::{cluster, common, cosi, inspect, machine, securityapi, storage, time};

use crate::wire::normal;

/// How far a message that was written again is what had been read.
pub(crate) enum Same {
    /// Byte for byte.
    Bytes,
    /// The same fields with the same meaning.
    Message,
}

/// Reads a message and writes it again.
pub(crate) type Rewrite = fn(&[u8]) -> Result<Same, String>;

/// The messages of a call.
pub(crate) struct Call {
    pub(crate) request: Rewrite,
    pub(crate) reply: Rewrite,
}

/// An event by its type URL.
pub(crate) fn event(type_url: &str, bytes: &[u8]) -> Result<Same, String> {
    let rewrite: Rewrite = match type_url.strip_prefix("talos/runtime/") {
        Some("machine.AddressEvent") => rewrite::<machine::AddressEvent>,
        Some("machine.ConfigLoadErrorEvent") => rewrite::<machine::ConfigLoadErrorEvent>,
        Some("machine.ConfigValidationErrorEvent") => {
            rewrite::<machine::ConfigValidationErrorEvent>
        }
        Some("machine.MachineStatusEvent") => rewrite::<machine::MachineStatusEvent>,
        Some("machine.PhaseEvent") => rewrite::<machine::PhaseEvent>,
        Some("machine.RestartEvent") => rewrite::<machine::RestartEvent>,
        Some("machine.SequenceEvent") => rewrite::<machine::SequenceEvent>,
        Some("machine.ServiceStateEvent") => rewrite::<machine::ServiceStateEvent>,
        Some("machine.TaskEvent") => rewrite::<machine::TaskEvent>,
        _ => return Err("unknown event".to_owned()),
    };
    rewrite(bytes)
}

fn rewrite<M: Default + Message + PartialEq>(bytes: &[u8]) -> Result<Same, String> {
    let message = M::decode(bytes).map_err(|error| error.to_string())?;
    let again = message.encode_to_vec();
    compare(bytes, &again, M::decode(again.as_slice()).is_ok_and(|decoded| decoded == message))
}

/// Compares what was read with what was written, given whether both mean the same to us.
pub(crate) fn compare(read: &[u8], written: &[u8], same: bool) -> Result<Same, String> {
    if read == written {
        return Ok(Same::Bytes);
    }
    // What we do not know is lost.
    if normal(read) != normal(written) {
        return Err(format!("of {} bytes {} come back", read.len(), written.len()));
    }
    if same { Ok(Same::Message) } else { Err("another message comes back".to_owned()) }
}

macro_rules! calls {
    ($($method:literal: $request:ty => $reply:ty;)*) => {
        /// A call by its path.
        pub(crate) fn call(method: &str) -> Option<Call> {
            Some(match method {
                $($method => Call { request: rewrite::<$request>, reply: rewrite::<$reply> },)*
                _ => return None,
            })
        }
    };
}

calls! {
    "/machine.MachineService/ApplyConfiguration": machine::ApplyConfigurationRequest => machine::ApplyConfigurationResponse;
    "/machine.MachineService/Bootstrap": machine::BootstrapRequest => machine::BootstrapResponse;
    "/machine.MachineService/Containers": machine::ContainersRequest => machine::ContainersResponse;
    "/machine.MachineService/Copy": machine::CopyRequest => common::Data;
    "/machine.MachineService/CPUFreqStats": () => machine::CpuFreqStatsResponse;
    "/machine.MachineService/CPUInfo": () => machine::CpuInfoResponse;
    "/machine.MachineService/DiskStats": () => machine::DiskStatsResponse;
    "/machine.MachineService/Dmesg": machine::DmesgRequest => common::Data;
    "/machine.MachineService/Events": machine::EventsRequest => machine::Event;
    "/machine.MachineService/EtcdMemberList": machine::EtcdMemberListRequest => machine::EtcdMemberListResponse;
    "/machine.MachineService/EtcdRemoveMemberByID": machine::EtcdRemoveMemberByIdRequest => machine::EtcdRemoveMemberByIdResponse;
    "/machine.MachineService/EtcdLeaveCluster": machine::EtcdLeaveClusterRequest => machine::EtcdLeaveClusterResponse;
    "/machine.MachineService/EtcdForfeitLeadership": machine::EtcdForfeitLeadershipRequest => machine::EtcdForfeitLeadershipResponse;
    "/machine.MachineService/EtcdRecover": common::Data => machine::EtcdRecoverResponse;
    "/machine.MachineService/EtcdSnapshot": machine::EtcdSnapshotRequest => common::Data;
    "/machine.MachineService/EtcdAlarmList": () => machine::EtcdAlarmListResponse;
    "/machine.MachineService/EtcdAlarmDisarm": () => machine::EtcdAlarmDisarmResponse;
    "/machine.MachineService/EtcdDefragment": () => machine::EtcdDefragmentResponse;
    "/machine.MachineService/EtcdStatus": () => machine::EtcdStatusResponse;
    "/machine.MachineService/EtcdDowngradeValidate": machine::EtcdDowngradeValidateRequest => machine::EtcdDowngradeValidateResponse;
    "/machine.MachineService/EtcdDowngradeEnable": machine::EtcdDowngradeEnableRequest => machine::EtcdDowngradeEnableResponse;
    "/machine.MachineService/EtcdDowngradeCancel": () => machine::EtcdDowngradeCancelResponse;
    "/machine.MachineService/Hostname": () => machine::HostnameResponse;
    "/machine.MachineService/Kubeconfig": () => common::Data;
    "/machine.MachineService/List": machine::ListRequest => machine::FileInfo;
    "/machine.MachineService/DiskUsage": machine::DiskUsageRequest => machine::DiskUsageInfo;
    "/machine.MachineService/LoadAvg": () => machine::LoadAvgResponse;
    "/machine.MachineService/Logs": machine::LogsRequest => common::Data;
    "/machine.MachineService/LogsContainers": () => machine::LogsContainersResponse;
    "/machine.MachineService/Memory": () => machine::MemoryResponse;
    "/machine.MachineService/Mounts": () => machine::MountsResponse;
    "/machine.MachineService/NetworkDeviceStats": () => machine::NetworkDeviceStatsResponse;
    "/machine.MachineService/Processes": () => machine::ProcessesResponse;
    "/machine.MachineService/Read": machine::ReadRequest => common::Data;
    "/machine.MachineService/Reboot": machine::RebootRequest => machine::RebootResponse;
    "/machine.MachineService/Restart": machine::RestartRequest => machine::RestartResponse;
    "/machine.MachineService/Rollback": machine::RollbackRequest => machine::RollbackResponse;
    "/machine.MachineService/Reset": machine::ResetRequest => machine::ResetResponse;
    "/machine.MachineService/ServiceList": () => machine::ServiceListResponse;
    "/machine.MachineService/ServiceRestart": machine::ServiceRestartRequest => machine::ServiceRestartResponse;
    "/machine.MachineService/ServiceStart": machine::ServiceStartRequest => machine::ServiceStartResponse;
    "/machine.MachineService/ServiceStop": machine::ServiceStopRequest => machine::ServiceStopResponse;
    "/machine.MachineService/Shutdown": machine::ShutdownRequest => machine::ShutdownResponse;
    "/machine.MachineService/Stats": machine::StatsRequest => machine::StatsResponse;
    "/machine.MachineService/SystemStat": () => machine::SystemStatResponse;
    "/machine.MachineService/Upgrade": machine::UpgradeRequest => machine::UpgradeResponse;
    "/machine.MachineService/Version": () => machine::VersionResponse;
    "/machine.MachineService/GenerateClientConfiguration": machine::GenerateClientConfigurationRequest => machine::GenerateClientConfigurationResponse;
    "/machine.MachineService/PacketCapture": machine::PacketCaptureRequest => common::Data;
    "/machine.MachineService/Netstat": machine::NetstatRequest => machine::NetstatResponse;
    "/machine.MachineService/MetaWrite": machine::MetaWriteRequest => machine::MetaWriteResponse;
    "/machine.MachineService/MetaDelete": machine::MetaDeleteRequest => machine::MetaDeleteResponse;
    "/machine.MachineService/ImageList": machine::ImageListRequest => machine::ImageListResponse;
    "/machine.MachineService/ImagePull": machine::ImagePullRequest => machine::ImagePullResponse;
    "/machine.LifecycleService/Install": machine::LifecycleServiceInstallRequest => machine::LifecycleServiceInstallResponse;
    "/machine.LifecycleService/Upgrade": machine::LifecycleServiceUpgradeRequest => machine::LifecycleServiceUpgradeResponse;
    "/machine.ImageService/List": machine::ImageServiceListRequest => machine::ImageServiceListResponse;
    "/machine.ImageService/Pull": machine::ImageServicePullRequest => machine::ImageServicePullResponse;
    "/machine.ImageService/Import": machine::ImageServiceImportRequest => machine::ImageServiceImportResponse;
    "/machine.ImageService/Remove": machine::ImageServiceRemoveRequest => ();
    "/machine.ImageService/Verify": machine::ImageServiceVerifyRequest => machine::ImageServiceVerifyResponse;
    "/machine.DebugService/ContainerRun": machine::DebugContainerRunRequest => machine::DebugContainerRunResponse;
    "/machine.LVMService/LogicalVolumeRemove": machine::LvmServiceLogicalVolumeRemoveRequest => ();
    "/machine.LVMService/VolumeGroupRemove": machine::LvmServiceVolumeGroupRemoveRequest => ();
    "/machine.LVMService/PhysicalVolumeRemove": machine::LvmServicePhysicalVolumeRemoveRequest => ();
    "/machine.MDService/Destroy": machine::MdDestroyRequest => ();
    "/storage.StorageService/Disks": () => storage::DisksResponse;
    "/storage.StorageService/BlockDeviceWipe": storage::BlockDeviceWipeRequest => storage::BlockDeviceWipeResponse;
    "/cluster.ClusterService/HealthCheck": cluster::HealthCheckRequest => cluster::HealthCheckProgress;
    "/inspect.InspectService/ControllerRuntimeDependencies": () => inspect::ControllerRuntimeDependenciesResponse;
    "/time.TimeService/Time": () => time::TimeResponse;
    "/time.TimeService/TimeCheck": time::TimeRequest => time::TimeResponse;
    "/securityapi.SecurityService/Certificate": securityapi::CertificateRequest => securityapi::CertificateResponse;
    "/cosi.resource.State/Get": cosi::GetRequest => cosi::GetResponse;
    "/cosi.resource.State/List": cosi::ListRequest => cosi::ListResponse;
    "/cosi.resource.State/Create": cosi::CreateRequest => cosi::CreateResponse;
    "/cosi.resource.State/Update": cosi::UpdateRequest => cosi::UpdateResponse;
    "/cosi.resource.State/Destroy": cosi::DestroyRequest => cosi::DestroyResponse;
    "/cosi.resource.State/Watch": cosi::WatchRequest => cosi::WatchResponse;
    "/cosi.resource.State/Teardown": cosi::TeardownRequest => cosi::TeardownResponse;
    "/cosi.resource.State/TeardownAndDestroy": cosi::TeardownAndDestroyRequest => cosi::TeardownAndDestroyResponse;
}
