//! Level `talos`: commands on real nodes, beside what talosctl does on the same nodes.

mod node;
mod own;
