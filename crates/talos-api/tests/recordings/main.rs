//! What real nodes sent, read and written again.
//!
//! The files in `tests/throw-away-secrets` hold calls to nodes that existed for this purpose alone.

mod calls;
mod wire;

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use talos_api::proto::cosi;
use talos_api::resource::{self, Decoded};

use calls::{Same, call, compare, event};

#[test]
fn messages_are_written_as_they_were_read() {
    let mut checked = Checked::default();
    for recording in recordings() {
        let Some(call) = call(&recording.method) else {
            // Asked for several nodes, the answer is that each of them failed.
            let refused = recording.replies.is_empty() || recording.several_nodes;
            assert!(refused, "{} is not declared", recording.method);
            continue;
        };
        checked.message(
            &format!("request of {}", recording.method),
            (call.request)(&recording.request),
        );
        for reply in &recording.replies {
            let name = format!("reply of {}", recording.method);
            let same = (call.reply)(reply);
            // Replies of several nodes are put together by appending, so their order is free.
            let same = same.map(|same| if recording.several_nodes { Same::Bytes } else { same });
            checked.message(&name, same);
        }
    }
    checked.close(700);
    // The only messages with maps: labels and annotations.
    let free = |name: &String| {
        name.starts_with("reply of /cosi.resource.State/")
            || name == "reply of /machine.ImageService/List"
    };
    assert!(checked.reordered.iter().all(free), "{:?}", checked.reordered);
}

#[test]
fn events_are_written_as_they_were_read() {
    let mut checked = Checked::default();
    for reply in replies("/machine.MachineService/Events") {
        let message = talos_api::proto::machine::Event::decode(reply.as_slice()).unwrap();
        let data = message.data.unwrap_or_default();
        // The first event of a stream says only that the stream stands.
        if !data.type_url.is_empty() {
            checked.message(&data.type_url, event(&data.type_url, &data.value));
        }
    }
    checked.close(40);
    assert!(checked.reordered.is_empty());
}

#[test]
fn specs_are_written_as_they_were_read() {
    let mut checked = Checked::default();
    let mut generic = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for resource in resources() {
        let spec = resource.spec.clone().unwrap();
        match resource::decode(&resource).unwrap() {
            Decoded::Typed(typed) => {
                seen.insert(typed.kind());
                let written = typed.encode();
                let again = cosi::Spec { proto_spec: written.clone(), ..spec.clone() };
                let again = cosi::Resource { spec: Some(again), ..resource.clone() };
                let same =
                    matches!(resource::decode(&again), Ok(Decoded::Typed(other)) if other == typed);
                checked.message(typed.kind(), compare(&spec.proto_spec, &written, same));
            }
            Decoded::Generic(_) => {
                generic.insert(resource.metadata.clone().unwrap().r#type);
            }
            Decoded::Tombstone => {}
        }
        if !spec.yaml_spec.is_empty() {
            assert!(resource::decode_generic(&resource).unwrap().is_some());
        }
    }
    checked.close(130);
    assert!(seen.len() >= 40, "{seen:?}");
    assert!(generic.len() >= 40, "{generic:?}");
}

/// One call to a node.
struct Recording {
    method: String,
    several_nodes: bool,
    request: Vec<u8>,
    replies: Vec<Vec<u8>>,
}

fn recordings() -> Vec<Recording> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/throw-away-secrets");
    let mut recordings = Vec::new();
    for entry in fs_err::read_dir(directory).expect("the recordings") {
        let path = entry.expect("a recording").path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for line in fs_err::read_to_string(path).expect("a recording").lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let bytes = |value: &serde_json::Value| {
                STANDARD.decode(value.as_str().expect("text")).expect("base64")
            };
            recordings.push(Recording {
                method: line["method"].as_str().expect("a path").to_owned(),
                several_nodes: line["several_nodes"].as_bool().unwrap_or_default(),
                request: bytes(&line["request"]),
                replies: line["replies"].as_array().expect("a list").iter().map(bytes).collect(),
            });
        }
    }
    recordings
}

fn replies(method: &str) -> impl Iterator<Item = Vec<u8>> {
    let wanted = move |recording: &Recording| recording.method == method;
    recordings().into_iter().filter(wanted).flat_map(|recording| recording.replies)
}

/// Every resource that a node sent, by whichever call.
fn resources() -> Vec<cosi::Resource> {
    let listed = replies("/cosi.resource.State/List").filter_map(|reply| {
        cosi::ListResponse::decode(reply.as_slice()).expect("a reply").resource
    });
    let got = replies("/cosi.resource.State/Get")
        .filter_map(|reply| cosi::GetResponse::decode(reply.as_slice()).expect("a reply").resource);
    let watched = replies("/cosi.resource.State/Watch")
        .flat_map(|reply| cosi::WatchResponse::decode(reply.as_slice()).expect("a reply").event)
        // The end of the present contents is an event without a resource.
        .flat_map(|event| [event.resource, event.old])
        .flatten()
        .filter(|resource| resource.metadata.is_some());
    listed.chain(got).chain(watched).collect()
}

/// What became of the messages.
#[derive(Default)]
struct Checked {
    count: usize,
    wrong: Vec<String>,
    reordered: BTreeSet<String>,
}

impl Checked {
    fn message(&mut self, name: &str, same: Result<Same, String>) {
        self.count += 1;
        match same {
            Ok(Same::Bytes) => {}
            Ok(Same::Message) => {
                self.reordered.insert(name.to_owned());
            }
            Err(error) => self.wrong.push(format!("{name}: {error}")),
        }
    }

    fn close(&self, at_least: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(self.count >= at_least, "only {} messages", self.count);
    }
}
