//! Every document kind that Talos knows, one file for each.

mod choices;
mod shared;

mod bgp_instance;
mod blackhole_route;
mod bond;
mod bridge;
mod container;
mod cri_base_runtime_spec;
mod cri_customization;
mod dhcpv4;
mod dhcpv6;
mod discovery_identity;
mod discovery_service;
mod dummy_link;
mod environment;
mod etc_file;
mod ethernet;
mod event_sink;
mod existing_volume;
mod extension_service;
mod external_volume;
mod filesystem_scrub;
mod filesystem_trim;
mod hcloud_vip;
mod hostname;
mod http_probe;
mod image_cache;
mod image_verification;
mod kernel_module;
mod kmsg_log;
mod kube_admission_control;
mod kube_aggregator_ca;
mod kube_api_server;
mod kube_api_server_ca;
mod kube_audit_policy;
mod kube_authentication;
mod kube_authorizer;
mod kube_cluster;
mod kube_controller_manager;
mod kube_core_dns;
mod kube_credential_provider;
mod kube_etcd_encryption;
mod kube_external_manifest;
mod kube_flannel_cni;
mod kube_inline_manifest;
mod kube_network;
mod kube_node;
mod kube_prism;
mod kube_proxy;
mod kube_scheduler;
mod kube_service_account;
mod kube_span;
mod kube_span_endpoints;
mod kube_static_pod;
mod kube_talos_api_access;
mod kubelet;
mod layer2_vip;
mod link;
mod link_alias;
mod lvm_logical_volume;
mod lvm_volume_group;
mod network_default_action;
mod network_rule;
mod oom;
mod pci_driver_rebind;
mod raid_array;
mod raw_volume;
mod registry_auth;
mod registry_mirror;
mod registry_tls;
mod resolver;
mod routing_rule;
mod security_profile;
mod siderolink;
mod static_host;
mod swap_volume;
mod sysctl;
mod sysfs;
mod tcp_probe;
mod time_sync;
mod trusted_roots;
mod udev_rules;
mod unattended_install;
mod user_volume;
mod v1alpha1;
mod veth;
mod vlan;
mod volume;
mod vrf;
mod watchdog_timer;
mod wireguard;
mod zswap;

pub(crate) use shared::{KEY, KEY_PAIR};

use crate::schema::Kind;

/// Returns the kind of a name.
pub fn find(name: &str) -> Option<&'static Kind> {
    ALL.binary_search_by(|kind| kind.name.cmp(name)).ok().map(|index| ALL[index])
}

/// The document without a kind.
pub const V1ALPHA1: &Kind = &v1alpha1::KIND;

/// All kinds, sorted by name.
pub const ALL: &[&Kind] = &[
    &bgp_instance::KIND,
    &blackhole_route::KIND,
    &bond::KIND,
    &bridge::KIND,
    &cri_base_runtime_spec::KIND,
    &cri_customization::KIND,
    &container::KIND,
    &dhcpv4::KIND,
    &dhcpv6::KIND,
    &discovery_identity::KIND,
    &discovery_service::KIND,
    &dummy_link::KIND,
    &environment::KIND,
    &etc_file::KIND,
    &ethernet::KIND,
    &event_sink::KIND,
    &existing_volume::KIND,
    &extension_service::KIND,
    &external_volume::KIND,
    &filesystem_scrub::KIND,
    &filesystem_trim::KIND,
    &hcloud_vip::KIND,
    &http_probe::KIND,
    &hostname::KIND,
    &image_cache::KIND,
    &image_verification::KIND,
    &kernel_module::KIND,
    &kmsg_log::KIND,
    &kube_api_server_ca::KIND,
    &kube_api_server::KIND,
    &kube_admission_control::KIND,
    &kube_aggregator_ca::KIND,
    &kube_audit_policy::KIND,
    &kube_authentication::KIND,
    &kube_authorizer::KIND,
    &kube_cluster::KIND,
    &kube_controller_manager::KIND,
    &kube_core_dns::KIND,
    &kube_credential_provider::KIND,
    &kube_etcd_encryption::KIND,
    &kube_external_manifest::KIND,
    &kube_flannel_cni::KIND,
    &kube_inline_manifest::KIND,
    &kube_network::KIND,
    &kube_node::KIND,
    &kube_prism::KIND,
    &kube_proxy::KIND,
    &kube_scheduler::KIND,
    &kube_service_account::KIND,
    &kube_span::KIND,
    &kube_span_endpoints::KIND,
    &kube_static_pod::KIND,
    &kube_talos_api_access::KIND,
    &kubelet::KIND,
    &lvm_logical_volume::KIND,
    &lvm_volume_group::KIND,
    &layer2_vip::KIND,
    &link_alias::KIND,
    &link::KIND,
    &network_default_action::KIND,
    &network_rule::KIND,
    &oom::KIND,
    &pci_driver_rebind::KIND,
    &raid_array::KIND,
    &raw_volume::KIND,
    &registry_auth::KIND,
    &registry_mirror::KIND,
    &registry_tls::KIND,
    &resolver::KIND,
    &routing_rule::KIND,
    &security_profile::KIND,
    &siderolink::KIND,
    &static_host::KIND,
    &swap_volume::KIND,
    &sysctl::KIND,
    &sysfs::KIND,
    &tcp_probe::KIND,
    &time_sync::KIND,
    &trusted_roots::KIND,
    &udev_rules::KIND,
    &unattended_install::KIND,
    &user_volume::KIND,
    &vlan::KIND,
    &vrf::KIND,
    &veth::KIND,
    &volume::KIND,
    &watchdog_timer::KIND,
    &wireguard::KIND,
    &zswap::KIND,
    &v1alpha1::KIND,
];
