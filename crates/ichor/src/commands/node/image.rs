//! `ichor node image pull`: images on machines before they are needed.

use std::collections::BTreeMap;
use std::time::Duration;

use talos_api::proto::common::{ContainerDriver, ContainerdInstance, ContainerdNamespace};
use talos_api::proto::machine::image_service_pull_layer_progress::Status;
use talos_api::proto::machine::image_service_pull_response::Response;
use talos_api::proto::machine::{
    ImagePullRequest, ImageServicePullLayerProgress, ImageServicePullRequest,
};
use talos_api::{Feature, Node};

use super::Deed;
use crate::args::{ImageNamespace, ImagePull};
use crate::machines::Machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ImagePull,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let machines = Machines::of_cluster(&args.reach, surroundings)?;
    let detail = args.reference.clone();
    let deed = Deed { verb: "image pull", detail, sure: None, surroundings };
    let act = async |node: &Node, printer: &mut Printer| {
        let name = pull(node, &args.reference, args.namespace, printer).await?;
        printer.note(&format!("{}: has {name}", node.name()));
        Ok(())
    };
    deed.to_each(machines.nodes(), printer, act).await
}

/// Pulls an image and gives its name, pinned where the machine tells it.
pub(super) async fn pull(
    node: &Node,
    reference: &str,
    namespace: ImageNamespace,
    printer: &mut Printer,
) -> Result<String, Error> {
    let node = node.within(node.deadline().max(SILENT_WITHIN));
    if !node.release().await?.has(Feature::ImageService) {
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
                    layers.0.insert(progress.layer_id, layer);
                    printer.progress(&format!("{}: {}", node.name(), layers.text()));
                }
            }
            Some(Response::Name(pinned)) => name = pinned,
            None => {}
        }
    }
    Ok(name)
}

/// Which containerd keeps the images of a namespace.
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
    fn text(&self) -> String {
        let done = |layer: &&ImageServicePullLayerProgress| {
            matches!(layer.status(), Status::ExtractComplete | Status::AlreadyExists)
        };
        let ready = self.0.values().filter(done).count();
        let megabytes = |count: fn(&ImageServicePullLayerProgress) -> i64| {
            self.0.values().map(count).sum::<i64>() / 1_000_000
        };
        let (have, all) = (megabytes(|layer| layer.offset), megabytes(|layer| layer.total));
        format!("{ready} of {} layers, {have} of {all} MB", self.0.len())
    }
}

/// A large layer is unpacked without a word.
const SILENT_WITHIN: Duration = Duration::from_mins(5);
