//! What runs on a machine, as the machine itself tells.

use prost_types::value::Kind;
use prost_types::{Struct, Value};
use talos_api::proto::definitions::k8s::{
    ApiServerConfigSpec, ControllerManagerConfigSpec, SchedulerConfigSpec, StaticPodStatusSpec,
};
use talos_api::proto::machine::ServiceInfo;
use talos_api::{Node, NodeError};

use crate::ports::Component;

/// Services that everybody wants to see, services that are not well, and the pods of the control plane.
pub(super) async fn components(node: &Node) -> Result<Vec<Component>, NodeError> {
    let reply = node.ask(|node| async move { node.call(node.machine().service_list(())).await });
    let services = node.only(reply.await?.messages)?.services;
    let mut components: Vec<Component> = services.into_iter().map(service).collect();
    components
        .retain(|component| SHOWN.contains(&component.name.as_str()) || !component.is_healthy);
    components.sort_by(|one, other| one.name.cmp(&other.name));
    let pods = node.list::<StaticPodStatusSpec>().await?;
    // A component that the configuration leaves out has nothing to run with.
    let expected = [
        ("kube-apiserver", !node.list::<ApiServerConfigSpec>().await?.is_empty()),
        ("kube-controller-manager", !node.list::<ControllerManagerConfigSpec>().await?.is_empty()),
        ("kube-scheduler", !node.list::<SchedulerConfigSpec>().await?.is_empty()),
    ];
    for (name, _) in expected.into_iter().filter(|(_, is_expected)| *is_expected) {
        let prefix = format!("kube-system/{name}-");
        let status = pods.iter().find(|(id, _)| id.starts_with(&prefix));
        let status = status.and_then(|(_, spec)| spec.pod_status.as_ref());
        components.push(match status {
            Some(status) => pod(name, status),
            None => Component {
                name: name.to_owned(),
                state: "Missing".to_owned(),
                is_healthy: false,
                reason: "the kubelet does not run it".to_owned(),
            },
        });
    }
    Ok(components)
}

/// What is shown of a machine that is well, too.
const SHOWN: [&str; 2] = ["etcd", "kubelet"];

fn service(info: ServiceInfo) -> Component {
    let health = info.health.unwrap_or_default();
    let is_over = matches!(info.state.as_str(), "Finished" | "Skipped");
    let runs = info.state == "Running" && (health.unknown || health.healthy);
    let is_healthy = is_over || runs;
    let mut reason = String::new();
    if !is_healthy {
        let events = info.events.unwrap_or_default().events;
        let said = [health.last_message, events.into_iter().next_back().unwrap_or_default().msg];
        reason = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
    }
    Component { name: info.id, state: info.state, is_healthy, reason }
}

/// A static pod by its status.
fn pod(name: &str, status: &Struct) -> Component {
    let ready = objects(status, "conditions").find(|condition| text(condition, "type") == "Ready");
    let is_healthy = ready.is_some_and(|ready| text(ready, "status") == "True");
    let state = text(status, "phase").to_owned();
    let reason = if is_healthy {
        String::new()
    } else {
        // Why a container does not run says more than that the pod is not ready.
        let stopped = objects(status, "containerStatuses").find_map(|container| {
            let state = object(container, "state")?;
            object(state, "waiting").or_else(|| object(state, "terminated"))
        });
        stopped.or(ready).map_or_else(|| "it is not ready".to_owned(), said)
    };
    Component { name: name.to_owned(), state, is_healthy, reason }
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
        assert!(pod("kube-scheduler", &status("True", runs())).is_healthy);
        let unready = pod("kube-scheduler", &status("False", runs()));
        assert!(!unready.is_healthy);
        assert_eq!(unready.reason, "ContainersNotReady");
        let waiting = of(vec![(
            "waiting",
            of(vec![("reason", words("CrashLoopBackOff")), ("message", words("back-off 10s"))]),
        )]);
        assert_eq!(
            pod("kube-scheduler", &status("False", waiting)).reason,
            "CrashLoopBackOff: back-off 10s"
        );
        assert!(!pod("kube-scheduler", &Struct::default()).is_healthy);
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
