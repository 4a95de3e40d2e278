//! Conversions of settings of the machine.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use talos_config::{Data, Value, rules};

use super::draft::{Draft, Rename, body, flag, has_only, is_true, list, picked};
use crate::door::documents::{document, object, text};
use crate::door::{layers, network};
use crate::value_ext::ValueExt;

/// Features that every machine has since, whatever is written.
pub(super) fn hidden_features(draft: &mut Draft) {
    for path in ["machine.features.rbac", "machine.features.apidCheckExtKeyUsage"] {
        if is_true(draft.get(path)) {
            draft.take(path);
            draft.moved(path, "what every machine does");
        }
    }
    // Pod security policies are gone from Kubernetes.
    let path = "cluster.apiServer.disablePodSecurityPolicy";
    if is_true(draft.get(path)) {
        draft.take(path);
        draft.moved(path, "what every machine does");
    }
}

pub(super) fn hostname(draft: &mut Draft) {
    let name = draft.take("machine.network.hostname");
    let stable = is_true(draft.get("machine.features.stableHostname"));
    if stable {
        draft.take("machine.features.stableHostname");
    }
    if let Some(name) = name {
        draft.set_field("HostnameConfig", "auto", text("off"));
        draft.set_field("HostnameConfig", "hostname", name);
        draft.moved("machine.network.hostname", "HostnameConfig.hostname");
    } else if stable {
        draft.set_field("HostnameConfig", "auto", text("stable"));
        draft.moved("machine.features.stableHostname", "HostnameConfig.auto");
    }
}

pub(super) fn hostname_back(draft: &mut Draft) {
    let auto = draft.field("HostnameConfig", "auto").and_then(Value::as_text).map(str::to_owned);
    match auto.as_deref() {
        Some("stable") => {
            draft.take_kind("HostnameConfig");
            draft.put("machine.features.stableHostname", flag(true));
            draft.moved("HostnameConfig.auto", "machine.features.stableHostname");
        }
        Some("off") => {
            let name = draft.take_field("HostnameConfig", "hostname");
            if let Some(name) = name {
                draft.take_kind("HostnameConfig");
                draft.put("machine.network.hostname", name);
                draft.moved("HostnameConfig.hostname", "machine.network.hostname");
            }
        }
        _ => {}
    }
}

const RESOLVER: &[Rename] = &[
    ("machine.network.searchDomains", "ResolverConfig", "searchDomains.domains"),
    ("machine.network.disableSearchDomain", "ResolverConfig", "searchDomains.disableDefault"),
];

pub(super) fn resolver(draft: &mut Draft) {
    if let Some(servers) = draft.take("machine.network.nameservers") {
        let servers = servers.as_list().unwrap_or_default().iter();
        let servers = list(servers.map(|server| object(vec![("address", server.clone())])));
        draft.set_field("ResolverConfig", "nameservers", servers);
        draft.moved("machine.network.nameservers", "ResolverConfig.nameservers");
    }
    draft.rename(RESOLVER);
}

pub(super) fn resolver_back(draft: &mut Draft) {
    let servers = draft.field("ResolverConfig", "nameservers").and_then(Value::as_list);
    let plain = servers.is_some_and(|servers| servers.iter().all(|it| has_only(it, &["address"])));
    if plain && let Some(servers) = draft.take_field("ResolverConfig", "nameservers") {
        let servers = servers.as_list().unwrap_or_default().iter();
        let servers = list(servers.filter_map(|server| server.get("address").cloned()));
        draft.put("machine.network.nameservers", servers);
        draft.moved("ResolverConfig.nameservers", "machine.network.nameservers");
    }
    draft.rename_back(RESOLVER);
}

pub(super) fn static_hosts(draft: &mut Draft) {
    let path = "machine.network.extraHostEntries";
    let mut hosts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for entry in draft.take(path).as_ref().and_then(Value::as_list).unwrap_or_default() {
        let names = entry.items_at("aliases").to_vec();
        hosts.entry(entry.text_at("ip").to_owned()).or_default().extend(names);
    }
    for (address, names) in hosts {
        let fields = vec![("name", text(&address)), ("hostnames", list(names))];
        draft.add(document("StaticHostConfig", fields));
        draft.moved(path, &format!("StaticHostConfig/{address}"));
    }
}

pub(super) fn static_hosts_back(draft: &mut Draft) {
    let path = "machine.network.extraHostEntries";
    let mut entries = Vec::new();
    for host in draft.take_kind("StaticHostConfig") {
        let host = body(&host);
        entries.push(object(picked(&host, &[("name", "ip"), ("hostnames", "aliases")])));
        draft.moved(&format!("StaticHostConfig/{}", host.text_at("name")), path);
    }
    if !entries.is_empty() {
        draft.put(path, list(entries));
    }
}

/// Interfaces move together or not at all: they refer to each other.
pub(super) fn interfaces(draft: &mut Draft) {
    let path = "machine.network.interfaces";
    let Some(devices) = draft.get(path).and_then(Value::as_list).map(<[Value]>::to_vec) else {
        return;
    };
    for device in &devices {
        if let Some(reason) = no_documents(device) {
            let name = device.text_at("interface");
            return draft.keep(path, format!("{name}: {reason}").trim_start_matches(": "));
        }
    }
    let mut documents = Vec::new();
    if network::documents(&devices, "", &|_| {}, &mut documents).is_err() {
        return draft.keep(path, "an address, a route or an expression cannot be read");
    }
    draft.take(path);
    for document in documents {
        draft.moved(path, &document.id());
        draft.add(document);
    }
}

/// Returns the reason why an interface cannot become documents.
fn no_documents(device: &Value) -> Option<&'static str> {
    let says = |path: &[&str]| {
        let value = path.iter().try_fold(device, |value, key| value.get(key));
        value.is_some_and(|value| value.data != Data::Bool(false))
    };
    let lost: [(&[&str], &'static str); 12] = [
        (&["ignore"], "no document says that a link is left alone"),
        (&["dummy"], "a dummy link needs a name of its own"),
        (&["bridgePort"], "the bridge says which links are its own"),
        (&["cidr"], "cidr has become addresses"),
        (&["bond", "primary"], "documents know no primary link of a bond"),
        (&["bond", "adActorSystem"], "documents know no adActorSystem"),
        (&["bond", "arpIPTarget"], "arpIPTarget is not supported"),
        (&["dhcpOptions", "duidv6"], "the DUID is written in another form"),
        (&["vip", "equinixMetal"], "no document is for an address of Equinix Metal"),
        (&["vip", "hcloud"], "write an HCloudVIPConfig"),
        (&["bond", "deviceSelectors"], "a selector may find several links, an alias exactly one"),
        (&["bridge", "deviceSelectors"], "a selector may find several links, an alias exactly one"),
    ];
    if let Some((_, reason)) = lost.into_iter().find(|(path, _)| says(path)) {
        return Some(reason);
    }
    let selector = device.get("deviceSelector").and_then(Value::as_map);
    let exact = |(key, value): (&String, &Value)| {
        let unique = ["hardwareAddr", "permanentAddr", "busPath"].contains(&key.as_str());
        unique && !value.as_text().unwrap_or_default().contains(['*', '?', '['])
    };
    if selector.is_some_and(|selector| !selector.iter().any(exact)) {
        return Some("a selector may find several links, an alias exactly one");
    }
    let tells =
        ["addresses", "routes", "mtu", "dhcp", "bond", "bridge", "vlans", "wireguard", "vip"];
    if !tells.iter().any(|key| device.has(key)) {
        return Some("no document says only that a link is there");
    }
    let vlan = |vlan: &Value| {
        vlan.number_at("vlanId") <= 0
            || vlan.has("cidr")
            || vlan.has("vip") && { vlan.get("vip").is_some_and(|vip| !has_only(vip, &["ip"])) }
    };
    if device.items_at("vlans").iter().any(vlan) {
        return Some("a VLAN has no number, or something that no document has");
    }
    let peers = device.get("wireguard").map(|it| it.items_at("peers")).unwrap_or_default();
    let named = |peer: &Value| {
        let endpoint = peer.text_at("endpoint");
        !endpoint.is_empty() && rules::address_and_port(endpoint).is_none()
    };
    peers.iter().any(named).then_some("an endpoint of WireGuard must be an address and a port")
}

const TIME: &[Rename] = &[
    ("machine.time.servers", "TimeSyncConfig", "ntp.servers"),
    ("machine.time.bootTimeout", "TimeSyncConfig", "bootTimeout"),
];

pub(super) fn time(draft: &mut Draft) {
    if let Some(disabled) = draft.take("machine.time.disabled") {
        draft.set_field("TimeSyncConfig", "enabled", flag(!is_true(Some(&disabled))));
        draft.moved("machine.time.disabled", "TimeSyncConfig.enabled");
    }
    draft.rename(TIME);
}

pub(super) fn time_back(draft: &mut Draft) {
    if draft.field("TimeSyncConfig", "ptp").is_some()
        || draft.field("TimeSyncConfig", "ntp.useNTS").is_some()
    {
        return;
    }
    if let Some(enabled) = draft.take_field("TimeSyncConfig", "enabled") {
        draft.put("machine.time.disabled", flag(!is_true(Some(&enabled))));
        draft.moved("TimeSyncConfig.enabled", "machine.time.disabled");
    }
    draft.rename_back(TIME);
}

pub(super) fn registries(draft: &mut Draft) {
    let path = "machine.registries.mirrors";
    let mirrors = draft.take(path);
    for (host, mirror) in mirrors.as_ref().and_then(Value::as_map).into_iter().flatten() {
        let endpoints = mirror.texts_at("endpoints");
        let endpoints = endpoints.iter().map(|url| {
            let mut fields = vec![("url", text(url))];
            fields.extend(picked(mirror, &[("overridePath", "overridePath")]));
            object(fields)
        });
        let mut fields = vec![("name", text(host)), ("endpoints", list(endpoints))];
        fields.extend(picked(mirror, &[("skipFallback", "skipFallback")]));
        draft.add(document("RegistryMirrorConfig", fields));
        draft.moved(path, &format!("RegistryMirrorConfig/{host}"));
    }
    let path = "machine.registries.config";
    let config = draft.take(path);
    for (host, config) in config.as_ref().and_then(Value::as_map).into_iter().flatten() {
        if let Some(auth) = config.get("auth") {
            let mut fields = vec![("name", text(host))];
            fields.extend(picked(auth, AUTH));
            draft.add(document("RegistryAuthConfig", fields));
            draft.moved(path, &format!("RegistryAuthConfig/{host}"));
        }
        if let Some(tls) = config.get("tls") {
            let mut fields = vec![("name", text(host))];
            if let Some(pair) = tls.get("clientIdentity") {
                fields.push(("clientIdentity", to_pem_pair(pair)));
            }
            if tls.has("ca") {
                fields.push(("ca", to_pem(tls.text_at("ca"))));
            }
            fields.extend(picked(tls, &[("insecureSkipVerify", "insecureSkipVerify")]));
            draft.add(document("RegistryTLSConfig", fields));
            draft.moved(path, &format!("RegistryTLSConfig/{host}"));
        }
    }
}

pub(super) fn registries_back(draft: &mut Draft) {
    for mirror in draft.take_kind("RegistryMirrorConfig") {
        let fields = body(&mirror);
        let host = fields.text_at("name");
        let endpoints = fields.items_at("endpoints");
        let overrides: Vec<bool> = endpoints.iter().map(|it| it.flag_at("overridePath")).collect();
        // One switch for all of them, and a host with a dot is one key of a map.
        if overrides.iter().any(|it| *it != overrides[0]) {
            draft.add(mirror);
            continue;
        }
        let urls = list(endpoints.iter().filter_map(|it| it.get("url").cloned()));
        let mut legacy = vec![("endpoints", urls)];
        if overrides.first() == Some(&true) {
            legacy.push(("overridePath", flag(true)));
        }
        legacy.extend(picked(&fields, &[("skipFallback", "skipFallback")]));
        put_host(draft, "mirrors", host, &object(legacy));
        draft.moved(&mirror.id(), "machine.registries.mirrors");
    }
    for auth in draft.take_kind("RegistryAuthConfig") {
        let fields = body(&auth);
        let legacy = object(vec![("auth", object(picked(&fields, AUTH)))]);
        put_host(draft, "config", fields.text_at("name"), &legacy);
        draft.moved(&auth.id(), "machine.registries.config");
    }
    for tls in draft.take_kind("RegistryTLSConfig") {
        let fields = body(&tls);
        let mut legacy = Vec::new();
        if let Some(pair) = fields.get("clientIdentity") {
            legacy.push(("clientIdentity", from_pem_pair(pair)));
        }
        if fields.has("ca") {
            legacy.push(("ca", from_pem(fields.text_at("ca"))));
        }
        legacy.extend(picked(&fields, &[("insecureSkipVerify", "insecureSkipVerify")]));
        let legacy = object(vec![("tls", object(legacy))]);
        put_host(draft, "config", fields.text_at("name"), &legacy);
        draft.moved(&tls.id(), "machine.registries.config");
    }
}

/// Adds to the registry settings of a host, whose name may have dots.
fn put_host(draft: &mut Draft, key: &str, host: &str, value: &Value) {
    let path = format!("machine.registries.{key}");
    let mut hosts = draft.get(&path).and_then(Value::as_map).cloned().unwrap_or_default();
    let mut whole = hosts.get(host).and_then(Value::as_map).cloned().unwrap_or_default();
    whole.extend(value.as_map().cloned().unwrap_or_default());
    hosts.insert(host.to_owned(), Value::new(Data::Map(whole)));
    draft.put(&path, Value::new(Data::Map(hosts)));
}

const AUTH: &[(&str, &str)] = &[
    ("username", "username"),
    ("password", "password"),
    ("auth", "auth"),
    ("identityToken", "identityToken"),
];

pub(super) fn disk_encryption(draft: &mut Draft) {
    for (key, name) in [("state", "STATE"), ("ephemeral", "EPHEMERAL")] {
        let path = format!("machine.systemDiskEncryption.{key}");
        let there = draft.of_kind("VolumeConfig").iter().any(|volume| volume.name() == name);
        if there && draft.get(&path).is_some() {
            draft.keep(&path, "the volume has a document already");
        } else if let Some(encryption) = draft.take(&path) {
            let fields = vec![("name", text(name)), ("encryption", encryption)];
            draft.add(document("VolumeConfig", fields));
            draft.moved(&path, &format!("VolumeConfig/{name}.encryption"));
        }
    }
}

const RENAMES_13: &[Rename] = &[
    ("machine.env", "EnvironmentConfig", "variables"),
    ("machine.network.kubespan.enabled", "KubeSpanConfig", "enabled"),
    (
        "machine.network.kubespan.advertiseKubernetesNetworks",
        "KubeSpanConfig",
        "advertiseKubernetesNetworks",
    ),
    ("machine.network.kubespan.allowDownPeerBypass", "KubeSpanConfig", "allowDownPeerBypass"),
    ("machine.network.kubespan.harvestExtraEndpoints", "KubeSpanConfig", "harvestExtraEndpoints"),
    ("machine.network.kubespan.mtu", "KubeSpanConfig", "mtu"),
    ("machine.network.kubespan.filters", "KubeSpanConfig", "filters"),
];

pub(super) fn renames_13(draft: &mut Draft) {
    draft.rename(RENAMES_13);
    // Nothing is left to say there.
    if draft.get("machine.network").and_then(Value::as_map).is_some_and(BTreeMap::is_empty) {
        draft.take("machine.network");
    }
}

pub(super) fn renames_13_back(draft: &mut Draft) {
    draft.rename_back(RENAMES_13);
}

const RENAMES_14: &[Rename] = &[
    ("machine.features.hostDNS", "ResolverConfig", "hostDNS"),
    ("machine.features.imageCache.localEnabled", "ImageCacheConfig", "local.enabled"),
    ("machine.sysctls", "SysctlConfig", "params"),
    ("machine.sysfs", "SysfsConfig", "params"),
    ("machine.udev.rules", "UdevRulesConfig", "rules"),
    ("machine.baseRuntimeSpecOverrides", "CRIBaseRuntimeSpecConfig", "overrides"),
];

pub(super) fn renames_14(draft: &mut Draft) {
    draft.rename(RENAMES_14);
    if draft.get("machine.files").is_some() {
        draft.keep("machine.files", "which document it is depends on what the file is for");
    }
    if draft.get("machine.disks").is_some() {
        draft.keep("machine.disks", "volumes are found in another way than partitions");
    }
}

pub(super) fn renames_14_back(draft: &mut Draft) {
    draft.rename_back(RENAMES_14);
}

pub(super) fn install(draft: &mut Draft) {
    let path = "machine.install";
    let Some(install) = draft.get(path).cloned() else { return };
    let known = ["disk", "diskSelector", "image", "wipe", "grubUseUKICmdline"];
    if draft.is_stuck(path, &known) {
        return;
    }
    if !install.has("disk") && !install.has("diskSelector") {
        return draft.keep(path, "it does not say where to install to");
    }
    if install.has("grubUseUKICmdline") && !install.flag_at("grubUseUKICmdline") {
        return draft.keep(path, "the kernel's command line comes from the image since");
    }
    let keys = [("disk", "installDisk"), ("diskSelector", "installDiskSelector")];
    let mut provisioning = layers::provisioning(&object(picked(&install, &keys)));
    if let Data::Map(map) = &mut provisioning.data {
        map.insert("wipe".to_owned(), flag(install.flag_at("wipe")));
    }
    draft.take(path);
    let installer = object(picked(&install, &[("image", "image")]));
    let fields = vec![("installer", installer), ("provisioning", provisioning)];
    draft.add(document("UnattendedInstallConfig", fields));
    draft.moved(path, "UnattendedInstallConfig");
}

pub(super) fn install_back(draft: &mut Draft) {
    let kind = "UnattendedInstallConfig";
    let expression = draft.field(kind, "provisioning.diskSelector.match").and_then(Value::as_text);
    let disk = expression
        .and_then(|it| it.strip_prefix("disk.dev_path == \"")?.strip_suffix('"'))
        .filter(|disk| !disk.contains(['"', '\\']))
        .map(text);
    // Another expression is not a selector of before.
    let Some(disk) = disk.filter(|_| draft.field(kind, "reboot").is_none()) else { return };
    let image = draft.field(kind, "installer.image").cloned();
    let wipe = flag(is_true(draft.field(kind, "provisioning.wipe")));
    let mut install = vec![("disk", disk), ("wipe", wipe), ("grubUseUKICmdline", flag(true))];
    install.extend(image.map(|image| ("image", image)));
    draft.take_kind(kind);
    draft.put("machine.install", object(install));
    draft.moved(kind, "machine.install");
}

pub(super) fn kernel_modules(draft: &mut Draft) {
    let path = "machine.kernel.modules";
    for module in draft.take(path).as_ref().and_then(Value::as_list).unwrap_or_default() {
        let fields = picked(module, &[("name", "name"), ("parameters", "parameters")]);
        draft.add(document("KernelModuleConfig", fields));
        draft.moved(path, &format!("KernelModuleConfig/{}", module.text_at("name")));
    }
}

pub(super) fn kernel_modules_back(draft: &mut Draft) {
    let modules = draft.take_kind("KernelModuleConfig");
    if modules.is_empty() {
        return;
    }
    for module in &modules {
        draft.moved(&module.id(), "machine.kernel.modules");
    }
    draft.put("machine.kernel.modules", list(modules.iter().map(body)));
}

pub(super) fn static_pods(draft: &mut Draft) {
    let path = "machine.pods";
    let Some(pods) = draft.get(path).and_then(Value::as_list).map(<[Value]>::to_vec) else {
        return;
    };
    let name = |pod: &Value| Some(pod.get("metadata")?.get("name")?.as_text()?.to_owned());
    let names: Option<std::collections::BTreeSet<String>> = pods.iter().map(name).collect();
    if names.is_none_or(|names| names.len() != pods.len()) {
        return draft.keep(path, "a document needs a name, and two pods have none or the same");
    }
    draft.take(path);
    for pod in pods {
        let name = name(&pod).unwrap_or_default();
        draft.moved(path, &format!("KubeStaticPodConfig/{name}"));
        draft.add(document("KubeStaticPodConfig", vec![("name", text(&name)), ("pod", pod)]));
    }
}

pub(super) fn static_pods_back(draft: &mut Draft) {
    let pods = draft.take_kind("KubeStaticPodConfig");
    if pods.is_empty() {
        return;
    }
    for pod in &pods {
        draft.moved(&pod.id(), "machine.pods");
    }
    draft.put("machine.pods", list(pods.iter().filter_map(|pod| pod.body.get("pod").cloned())));
}

/// Decodes base64 to the text that it holds.
pub(super) fn to_pem(encoded: &str) -> Value {
    let bytes = STANDARD.decode(encoded.trim()).unwrap_or_default();
    text(&String::from_utf8_lossy(&bytes))
}

pub(super) fn to_pem_pair(pair: &Value) -> Value {
    let mut fields = vec![("cert", to_pem(pair.text_at("crt")))];
    if pair.has("key") {
        fields.push(("key", to_pem(pair.text_at("key"))));
    }
    object(fields)
}

pub(super) fn from_pem(pem: &str) -> Value {
    text(&STANDARD.encode(pem))
}

pub(super) fn from_pem_pair(pair: &Value) -> Value {
    object(vec![("crt", from_pem(pair.text_at("cert"))), ("key", from_pem(pair.text_at("key")))])
}
