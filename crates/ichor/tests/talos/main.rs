//! Level `talos`: commands before real nodes, beside what talosctl says about the same nodes at the same time.

mod cluster;
mod data;
mod get;
mod guide;
mod inventory;
mod native;
mod node;
mod programs;
mod roles;
#[path = "../guide/schemas.rs"]
mod schemas;
mod script;
mod talconfig;
