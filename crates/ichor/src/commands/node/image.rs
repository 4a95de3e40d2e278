//! `ichor node image pull`: images on machines before they are needed.
//!
//! Always holds: a pull ends at its timeout whatever progress a machine reports, and its progress takes a bounded
//! amount of memory.

use std::collections::BTreeMap;
use std::time::Duration;

use talos_api::proto::common::{ContainerDriver, ContainerdInstance, ContainerdNamespace};
use talos_api::proto::machine::image_service_pull_layer_progress::Status;
use talos_api::proto::machine::image_service_pull_response::Response;
use talos_api::proto::machine::{
    ImagePullRequest, ImageServicePullLayerProgress, ImageServicePullRequest,
};
use talos_api::{Feature, Limits, Node};
use tokio::time::timeout;

use super::action::NodeAction;
use super::error::NodeActionError;
use crate::args::inspect::ImageNamespace;
use crate::args::node::ImagePullArgs;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ImagePullArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let detail = args.reference.clone();
    let node_action = NodeAction { verb: "image pull", detail, sure: None, environment };
    let act = async |node: &Node, printer: &mut Printer| {
        let pulling = pull(node, &args.reference, args.namespace, printer);
        let Ok(pulled) = timeout(args.timeout, pulling).await else {
            let (node, action) = (node.name().to_owned(), "image pull");
            return Err(Error::from(NodeActionError::NotDone {
                node,
                action,
                timeout: args.timeout,
            }));
        };
        let name = pulled?;
        printer.note(&format!("{}: has {name}", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}

/// Pulls an image, and returns its name, with a digest if the machine reports it.
pub(super) async fn pull(
    node: &Node,
    reference: &str,
    namespace: ImageNamespace,
    printer: &mut Printer,
) -> Result<String, Error> {
    let node = node.with_deadline(node.deadline().max(SILENT_WITHIN)).limited(PROGRESS);
    if !Feature::ImageService.is_in(&node.release().await?) {
        let request = ImagePullRequest {
            namespace: containerd(namespace).namespace,
            reference: reference.to_owned(),
        };
        node.call(node.machine().image_pull(request)).await?;
        return Ok(reference.to_owned());
    }
    let request = ImageServicePullRequest {
        containerd: Some(containerd(namespace)),
        image_ref: reference.to_owned(),
    };
    let open = |node: Node| async move { node.images().pull(request).await };
    let mut stream = node.open(open).await?;
    let mut layers = Layers::default();
    let mut name = reference.to_owned();
    while let Some(message) = stream.next().await? {
        match message.response {
            Some(Response::PullProgress(progress)) => {
                if let Some(layer) = progress.progress {
                    layers.insert(progress.layer_id, layer);
                    printer.progress(&format!("{}: {}", node.name(), layers.text()));
                }
            }
            Some(Response::Name(pinned)) => name = pinned,
            None => {}
        }
    }
    Ok(name)
}

/// Returns the containerd instance and namespace of images.
pub(in crate::commands) fn containerd(namespace: ImageNamespace) -> ContainerdInstance {
    let (driver, namespace) = match namespace {
        ImageNamespace::System => (ContainerDriver::Cri, ContainerdNamespace::NsSystem),
        ImageNamespace::Cri => (ContainerDriver::Cri, ContainerdNamespace::NsCri),
        ImageNamespace::Inmem => (ContainerDriver::Containerd, ContainerdNamespace::NsSystem),
    };
    ContainerdInstance { driver: driver.into(), namespace: namespace.into() }
}

/// The parts of an image, and how far each is.
#[derive(Default)]
struct Layers(BTreeMap<String, ImageServicePullLayerProgress>);

impl Layers {
    /// Records the progress of a layer; layers beyond what an image can have are ignored.
    fn insert(&mut self, id: String, layer: ImageServicePullLayerProgress) {
        if self.0.len() < MOST_LAYERS || self.0.contains_key(&id) {
            self.0.insert(id, layer);
        }
    }

    fn text(&self) -> String {
        let done = |layer: &&ImageServicePullLayerProgress| {
            matches!(layer.status(), Status::ExtractComplete | Status::AlreadyExists)
        };
        let ready = self.0.values().filter(done).count();
        let megabytes = |count: fn(&ImageServicePullLayerProgress) -> i64| {
            self.0.values().map(count).fold(0, i64::saturating_add) / 1_000_000
        };
        let (have, all) = (megabytes(|layer| layer.offset), megabytes(|layer| layer.total));
        format!("{ready} of {} layers, {have} of {all} MB", self.0.len())
    }
}

/// A large layer is unpacked without a word.
const SILENT_WITHIN: Duration = Duration::from_mins(5);
/// A message names a layer by its digest, of 71 bytes, and has some numbers.
const PROGRESS: Limits = Limits { message: 64 << 10, ..Limits::MEMBER };
/// Ten times as many as Docker makes.
const MOST_LAYERS: usize = 1270;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_more_layers_than_an_image_has_is_not_kept() {
        let mut layers = Layers::default();
        let layer = ImageServicePullLayerProgress {
            status: Status::ExtractComplete.into(),
            offset: i64::MAX,
            total: i64::MAX,
            ..ImageServicePullLayerProgress::default()
        };
        for number in 0..2 * MOST_LAYERS {
            layers.insert(number.to_string(), layer);
        }
        layers.insert("0".to_owned(), ImageServicePullLayerProgress::default());
        assert_eq!(layers.0.len(), MOST_LAYERS);
        let megabytes = i64::MAX / 1_000_000;
        let text = format!("1269 of 1270 layers, {megabytes} of {megabytes} MB");
        assert_eq!(layers.text(), text);
    }
}
