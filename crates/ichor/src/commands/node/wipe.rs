//! `ichor node wipe disk`: disks and partitions that nothing uses.

use talos_api::proto::storage::block_device_wipe_descriptor::Method;
use talos_api::proto::storage::{BlockDeviceWipeDescriptor, BlockDeviceWipeRequest};
use talos_api::{Feature, Node};

use super::action::NodeAction;
use crate::args::node::{WipeDiskArgs, WipeMethod};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &WipeDiskArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::connect_or_maintenance(&args.connection, &args.maintenance, environment)?;
    let method = match args.method {
        WipeMethod::Fast => Method::Fast,
        WipeMethod::Zeroes => Method::Zeroes,
    };
    // People write them as programs show them.
    let names = args.devices.iter().map(|device| device.trim_start_matches("/dev/").to_owned());
    let devices = names.map(|device| BlockDeviceWipeDescriptor {
        device,
        method: method.into(),
        drop_partition: args.drop_partition,
        ..BlockDeviceWipeDescriptor::default()
    });
    let request = BlockDeviceWipeRequest { devices: devices.collect() };
    let detail = args.devices.join(", ");
    let node_action =
        NodeAction { verb: "wipe disk", detail, sure: Some(args.confirm), environment };
    let act = async |node: &Node, printer: &mut Printer| {
        // In maintenance an older machine does not tell its release, and says itself what it does not know.
        if !args.maintenance.insecure {
            node.require(Feature::BlockDeviceWipe).await?;
            if args.drop_partition {
                node.require(Feature::DropPartition).await?;
            }
        }
        let node = node.with_deadline(args.timeout);
        node.call(node.storage().block_device_wipe(request.clone())).await?;
        printer.note(&format!("{}: wiped", node.name()));
        Ok(())
    };
    node_action.run_on_each(nodes.as_slice(), printer, act).await
}
