//! What runs on a machine, as the machine itself tells, and whether it runs with the configuration that the machine has.
//!
//! Talos hands a configuration on from controller to controller: to the settings of each component, to the manifest of its
//! pod, and through the kubelet to a container; to the settings of the kubelet, and to its service. Each step is a resource
//! with the time of its last change, and the end of the chain has a start time. All of them are by the machine's own clock,
//! so that they can be compared, and nothing has to be remembered from before a change. A pod whose container is older than
//! its manifest, or a manifest that is older than its settings, is still the one from before.
//!
//! Considered: the annotation `talos.dev/config-version` of the pods in Kubernetes, as `talosctl upgrade-k8s` reads it. It
//! needs the API server, which may be what the change has broken. `startTime` of a pod: the kubelet keeps it over changes of
//! the manifest. Not covered: a machine whose clock is set back between two steps of the chain looks as if it ran what is old.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use talos_api::proto::cosi::Metadata;
use talos_api::proto::definitions::k8s::{
    ApiServerConfigSpec, ControllerManagerConfigSpec, KubeletSpecSpec, SchedulerConfigSpec,
    StaticPodSpec, StaticPodStatusSpec,
};
use talos_api::proto::definitions::v1alpha1::ServiceSpec;
use talos_api::proto::machine::ServiceInfo;
use talos_api::resource::Spec;
use talos_api::{Node, NodeError};

use crate::ports::Component;

/// Services that everybody wants to see, services that are not well, and the pods of the control plane.
pub(super) async fn components(node: &Node) -> Result<Vec<Component>, NodeError> {
    let reply =
        node.retrying(|node| async move { node.call(node.machine().service_list(())).await });
    let services = node.single_reply(reply.await?.messages)?.services;
    let mut components: Vec<Component> = services.into_iter().map(service).collect();
    components
        .retain(|component| SHOWN.contains(&component.name.as_str()) || !component.is_healthy);
    components.sort_by(|one, other| one.name.cmp(&other.name));
    let started = metadata::<ServiceSpec>(node).await?;
    let wanted = metadata::<KubeletSpecSpec>(node).await?;
    let started = started.get(KUBELET).and_then(|service| seconds(service.created.as_ref()));
    let wanted = wanted.get(KUBELET).and_then(|spec| seconds(spec.updated.as_ref()));
    if let Some(kubelet) = components.iter_mut().find(|component| component.name == KUBELET)
        && kubelet.is_healthy
        && is_older(started, wanted)
    {
        kubelet.is_healthy = false;
        OLD.clone_into(&mut kubelet.reason);
    }
    components.extend(pods(node).await?);
    Ok(components)
}

/// The pods of the control plane that the configuration asks for.
async fn pods(node: &Node) -> Result<Vec<Component>, NodeError> {
    let statuses = node.list::<StaticPodStatusSpec>().await?;
    let manifests = metadata::<StaticPodSpec>(node).await?;
    // A component that the configuration leaves out has nothing to run with.
    let settings = [
        ("kube-apiserver", metadata::<ApiServerConfigSpec>(node).await?),
        ("kube-controller-manager", metadata::<ControllerManagerConfigSpec>(node).await?),
        ("kube-scheduler", metadata::<SchedulerConfigSpec>(node).await?),
    ];
    let mut pods = Vec::new();
    for (name, settings) in settings.into_iter().filter(|(_, settings)| !settings.is_empty()) {
        let prefix = format!("kube-system/{name}-");
        let status = statuses.iter().find(|(id, _)| id.starts_with(&prefix));
        let status = status.and_then(|(_, spec)| spec.pod_status.as_ref());
        let Some(status) = status else {
            pods.push(Component {
                name: name.to_owned(),
                state: "Missing".to_owned(),
                is_healthy: false,
                reason: "the kubelet does not run it".to_owned(),
            });
            continue;
        };
        let manifest = manifests.get(name).and_then(|pod| seconds(pod.updated.as_ref()));
        pods.push(pod(name, status, manifest, last_change(&settings)));
    }
    Ok(pods)
}

/// When the settings of a component last changed. From 1.14 on manifests are made from the final ones.
fn last_change(settings: &BTreeMap<String, Metadata>) -> Option<i64> {
    let is_final = |id: &&String| id.starts_with("final-");
    let ids: Vec<&String> = match settings.keys().find(is_final) {
        Some(last) => vec![last],
        None => settings.keys().collect(),
    };
    ids.into_iter().filter_map(|id| seconds(settings[id].updated.as_ref())).max()
}

/// Since when the oldest container of a pod runs.
fn runs_since(status: &Struct) -> Option<i64> {
    let started = objects(status, "containerStatuses").filter_map(|container| {
        let running = object(object(container, "state")?, "running")?;
        text(running, "startedAt").parse::<Timestamp>().ok()
    });
    started.map(Timestamp::as_second).min()
}

/// Whether something is known to be from before something else that it is made from.
fn is_older(made: Option<i64>, from: Option<i64>) -> bool {
    made.zip(from).is_some_and(|(made, from)| made < from)
}

fn seconds(time: Option<&prost_types::Timestamp>) -> Option<i64> {
    time.map(|time| time.seconds)
}

/// The metadata of all resources of a type, by their ids.
async fn metadata<S: Spec>(node: &Node) -> Result<BTreeMap<String, Metadata>, NodeError> {
    let resources = node.list_resources(S::NAMESPACE, S::TYPE).await?.into_iter();
    Ok(resources
        .filter_map(|resource| resource.metadata)
        .map(|metadata| (metadata.id.clone(), metadata))
        .collect())
}

const KUBELET: &str = "kubelet";
const OLD: &str = "it still runs with an older configuration";

/// What is shown of a machine that is well, too.
const SHOWN: [&str; 2] = ["etcd", KUBELET];

fn service(info: ServiceInfo) -> Component {
    let health = info.health.unwrap_or_default();
    let is_over = matches!(info.state.as_str(), "Finished" | "Skipped");
    // The kubelet has a check of its health: until that has passed once, nothing is known.
    let unknown = health.unknown && info.id != KUBELET;
    let runs = info.state == "Running" && (unknown || health.healthy);
    let is_healthy = is_over || runs;
    let mut reason = String::new();
    if !is_healthy {
        let events = info.events.unwrap_or_default().events;
        let said = [health.last_message, events.into_iter().next_back().unwrap_or_default().msg];
        reason = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
    }
    Component { name: info.id, state: info.state, is_healthy, reason }
}

/// A static pod by its status, and by when its manifest and its settings last changed.
fn pod(name: &str, status: &Struct, manifest: Option<i64>, settings: Option<i64>) -> Component {
    let ready = objects(status, "conditions").find(|condition| text(condition, "type") == "Ready");
    let is_ready = ready.is_some_and(|ready| text(ready, "status") == "True");
    let is_old = is_older(manifest, settings) || is_older(runs_since(status), manifest);
    let state = text(status, "phase").to_owned();
    let reason = if is_ready && is_old {
        OLD.to_owned()
    } else if is_ready {
        String::new()
    } else {
        // Why a container does not run says more than that the pod is not ready.
        let stopped = objects(status, "containerStatuses").find_map(|container| {
            let state = object(container, "state")?;
            object(state, "waiting").or_else(|| object(state, "terminated"))
        });
        stopped.or(ready).map_or_else(|| "it is not ready".to_owned(), said)
    };
    Component { name: name.to_owned(), state, is_healthy: is_ready && !is_old, reason }
}

/// A reason with its message.
fn said(object: &Struct) -> String {
    let parts = [text(object, "reason"), text(object, "message")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

fn text<'a>(object: &'a Struct, key: &str) -> &'a str {
    match object.fields.get(key).and_then(|value| value.kind.as_ref()) {
        Some(Kind::StringValue(text)) => text,
        _ => "",
    }
}

fn object<'a>(object: &'a Struct, key: &str) -> Option<&'a Struct> {
    as_object(object.fields.get(key)?)
}

fn objects<'a>(object: &'a Struct, key: &str) -> impl Iterator<Item = &'a Struct> {
    let list = match object.fields.get(key).and_then(|value| value.kind.as_ref()) {
        Some(Kind::ListValue(list)) => list.values.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(as_object)
}

fn as_object(value: &Value) -> Option<&Struct> {
    match value.kind.as_ref()? {
        Kind::StructValue(object) => Some(object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use talos_api::proto::machine::{ServiceEvent, ServiceEvents, ServiceHealth};

    use super::*;

    fn of(fields: Vec<(&str, Kind)>) -> Kind {
        let value = |kind| Value { kind: Some(kind) };
        let fields = fields.into_iter().map(|(key, kind)| (key.to_owned(), value(kind)));
        Kind::StructValue(Struct { fields: fields.collect() })
    }

    fn list(kind: Kind) -> Kind {
        Kind::ListValue(prost_types::ListValue { values: vec![Value { kind: Some(kind) }] })
    }

    fn words(text: &str) -> Kind {
        Kind::StringValue(text.to_owned())
    }

    fn status(ready: &str, state: Kind) -> Struct {
        let condition = of(vec![
            ("type", words("Ready")),
            ("status", words(ready)),
            ("reason", words("ContainersNotReady")),
        ]);
        let container = of(vec![("state", state)]);
        let Kind::StructValue(status) = of(vec![
            ("phase", words("Running")),
            ("conditions", list(condition)),
            ("containerStatuses", list(container)),
        ]) else {
            unreachable!("an object")
        };
        status
    }

    #[test]
    fn a_pod_is_well_while_it_is_ready() {
        let runs = || of(vec![("running", of(Vec::new()))]);
        let pod = |status: &Struct| pod("kube-scheduler", status, None, None);
        assert!(pod(&status("True", runs())).is_healthy);
        let unready = pod(&status("False", runs()));
        assert!(!unready.is_healthy);
        assert_eq!(unready.reason, "ContainersNotReady");
        let waiting = of(vec![(
            "waiting",
            of(vec![("reason", words("CrashLoopBackOff")), ("message", words("back-off 10s"))]),
        )]);
        assert_eq!(pod(&status("False", waiting)).reason, "CrashLoopBackOff: back-off 10s");
        assert!(!pod(&Struct::default()).is_healthy);
    }

    #[test]
    fn a_pod_from_before_a_change_is_not_well() {
        // 20:08:07 is 1794773287.
        let running = of(vec![("startedAt", words("2026-11-15T20:08:07Z"))]);
        let status = status("True", of(vec![("running", running)]));
        for (manifest, settings, is_healthy) in [
            (Some(1_794_773_287), Some(1_794_773_287), true),
            (Some(1_794_773_280), Some(1_794_773_279), true),
            // The manifest is newer than the container.
            (Some(1_794_773_288), Some(1_794_773_280), false),
            // The settings have not reached the manifest.
            (Some(1_794_773_280), Some(1_794_773_281), false),
            // What is not told says nothing.
            (None, None, true),
        ] {
            let pod = pod("kube-scheduler", &status, manifest, settings);
            assert_eq!(pod.is_healthy, is_healthy, "{manifest:?} {settings:?}");
            assert_eq!(pod.reason, if is_healthy { "" } else { OLD });
        }
    }

    #[test]
    fn manifests_are_made_from_the_final_settings() {
        let at = |seconds| Metadata {
            updated: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            ..Metadata::default()
        };
        let settings = |ids: &[(&str, i64)]| -> BTreeMap<String, Metadata> {
            ids.iter().map(|(id, seconds)| ((*id).to_owned(), at(*seconds))).collect()
        };
        assert_eq!(last_change(&settings(&[("kube-scheduler", 7)])), Some(7));
        let both = settings(&[("kube-scheduler", 7), ("final-kube-scheduler", 5)]);
        assert_eq!(last_change(&both), Some(5));
        assert_eq!(last_change(&BTreeMap::new()), None);
    }

    #[test]
    fn a_service_is_well_while_it_runs_and_nobody_says_otherwise() {
        let info = |state: &str, health: Option<(bool, bool)>| ServiceInfo {
            id: "etcd".to_owned(),
            state: state.to_owned(),
            events: Some(ServiceEvents {
                events: vec![ServiceEvent { msg: "waits".to_owned(), ..ServiceEvent::default() }],
            }),
            health: health.map(|(unknown, healthy)| ServiceHealth {
                unknown,
                healthy,
                ..ServiceHealth::default()
            }),
        };
        for (state, health, is_healthy) in [
            ("Running", Some((false, true)), true),
            ("Running", Some((true, false)), true),
            ("Running", Some((false, false)), false),
            ("Preparing", Some((true, false)), false),
            ("Finished", None, true),
        ] {
            let component = service(info(state, health));
            assert_eq!(component.is_healthy, is_healthy, "{state} {health:?}");
            assert_eq!(component.reason, if is_healthy { "" } else { "waits" });
        }
    }
}
