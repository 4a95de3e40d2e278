//! `Debug` for messages that carry secrets, or bytes of which nobody knows what they are: only the name.
//!
//! Which ones is said in `examples/generate.rs`: those are generated without a `Debug` of their own, and the
//! messages around them do not compile without one.

use std::fmt;

use crate::proto::definitions::{config, k8s, network, runtime, secrets};
use crate::proto::{common, cosi, machine};

macro_rules! redacted_debug {
    ($($message:path),* $(,)?) => {$(
        impl fmt::Debug for $message {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = stringify!($message);
                formatter.debug_struct(name).finish_non_exhaustive()
            }
        }
    )*};
}

redacted_debug!(
    common::Data,
    common::PemEncodedCertificateAndKey,
    common::PemEncodedKey,
    config::MachineConfigSpec,
    cosi::Spec,
    k8s::ApiServerConfigSpec,
    k8s::ControllerManagerConfigSpec,
    k8s::KubeletConfigSpec,
    k8s::KubeletSpecSpec,
    k8s::SchedulerConfigSpec,
    k8s::SingleManifest,
    k8s::StaticPodSpec,
    machine::ApplyConfiguration,
    machine::ApplyConfigurationRequest,
    machine::DebugContainerRunRequest,
    machine::DebugContainerRunRequestSpec,
    machine::DebugContainerRunResponse,
    machine::GenerateClientConfiguration,
    machine::ImageServiceCredentials,
    machine::MetaWriteRequest,
    machine::debug_container_run_request::Request,
    machine::debug_container_run_response::Resp,
    network::WireguardPeer,
    network::WireguardSpec,
    runtime::MetaKeySpec,
    runtime::UniqueMachineTokenSpec,
    secrets::KubernetesRootSpec,
    secrets::OsRootSpec,
);

// Enumerations inside of those messages lose theirs, too, but have nothing to hide.

impl fmt::Debug for machine::apply_configuration_request::Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str_name())
    }
}

impl fmt::Debug for machine::debug_container_run_request_spec::Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown_wherever_it_stands() {
        let issuing_ca =
            Some(common::PemEncodedCertificateAndKey { crt: vec![1], key: b"hidden".to_vec() });
        let root = secrets::OsRootSpec { issuing_ca, ..Default::default() };
        assert_eq!(format!("{root:?}"), "secrets::OsRootSpec { .. }");

        let spec = Some(cosi::Spec { proto_spec: vec![], yaml_spec: "token: hidden".to_owned() });
        let reply = cosi::GetResponse { resource: Some(cosi::Resource { metadata: None, spec }) };
        assert!(!format!("{reply:?}").contains("hidden"));

        let applied =
            machine::ApplyConfiguration { mode_details: "hidden".to_owned(), ..Default::default() };
        let reply = machine::ApplyConfigurationResponse { messages: vec![applied] };
        assert!(!format!("{reply:?}").contains("hidden"));
    }
}
