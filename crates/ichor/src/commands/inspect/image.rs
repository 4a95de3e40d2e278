//! `ichor image list`: images that machines have, so that nothing has to be fetched for them.

use std::collections::BTreeMap;

use serde::Serialize;
use talos_api::proto::machine::{
    ImageListRequest, ImageListResponse, ImageServiceListRequest, ImageServiceListResponse,
};
use talos_api::{CallError, Node, NodeError};
use talos_config::spell_bytes;

use crate::args::inspect::{ImageListArgs, ImageNamespace};
use crate::commands::node::containerd;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{Row, Rows};
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Image>>::json_schema;

pub(super) async fn run(
    args: &ImageListArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let namespace = args.namespace;
    let ask = move |node: Node| async move {
        match of_service(&node, namespace).await {
            // Machines before 1.13 have an older call, which knows of two namespaces.
            Err(NodeError { reason: CallError::Unsupported(_), .. })
                if namespace != ImageNamespace::Inmem =>
            {
                older(&node, namespace).await
            }
            answer => answer,
        }
    };
    nodes.call_each(ask).await.show(|images: Vec<Image>| images, args.output.format, printer)
}

async fn of_service(node: &Node, namespace: ImageNamespace) -> Result<Vec<Image>, NodeError> {
    let request = ImageServiceListRequest { containerd: Some(containerd(namespace)) };
    let images = node.retrying(|node| async move {
        let list = |node: Node| async move { node.images().list(request).await };
        node.open(list).await?.collect().await
    });
    let image = |image: ImageServiceListResponse| {
        let ImageServiceListResponse { name, digest, size, created_at, labels } = image;
        Image { image: name, digest, size, labels, created: created_at.into() }
    };
    Ok(images.await?.into_iter().map(image).collect())
}

async fn older(node: &Node, namespace: ImageNamespace) -> Result<Vec<Image>, NodeError> {
    let request = ImageListRequest { namespace: containerd(namespace).namespace };
    let images = node.retrying(|node| async move {
        let list = |node: Node| async move { node.machine().image_list(request).await };
        node.open(list).await?.collect().await
    });
    let image = |image: ImageListResponse| {
        let ImageListResponse { metadata: _, name, digest, size, created_at } = image;
        Image { image: name, digest, size, labels: BTreeMap::new(), created: created_at.into() }
    };
    Ok(images.await?.into_iter().map(image).collect())
}

#[derive(Debug, Serialize)]
struct Image {
    image: String,
    digest: String,
    /// In bytes.
    size: i64,
    labels: BTreeMap<String, String>,
    created: Timestamp,
}

schema!(Image, plain { image, digest, size, labels, created });

impl Row for Image {
    const COLUMNS: &'static [&'static str] = &["IMAGE", "DIGEST", "SIZE", "LABELS", "CREATED"];

    fn cells(&self) -> Vec<String> {
        let Self { image, digest, size, labels, created } = self;
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        vec![
            image.clone(),
            digest.clone(),
            spell_bytes(u64::try_from(*size).unwrap_or(0)),
            labels.join(","),
            created.to_rfc3339_seconds(),
        ]
    }
}
