//! Messages and services, by the package that Talos has them in.
//!
//! The protos are in `proto/` and hold what releases up to 1.14 have. Older machines leave newer
//! fields out. A field of an enumeration is a number, because newer machines may send values that are not
//! known here.

pub use crate::generated::{cluster, common, inspect, machine, securityapi, storage, time};

/// The store of resources that every machine has.
pub mod cosi {
    pub use crate::generated::cosi::resource::*;
}

/// An error as gRPC tells it.
pub mod rpc {
    pub use crate::generated::google::rpc::*;
}

/// Specs of resources, by the package that Talos has them in.
pub mod definitions {
    pub use crate::generated::resource::config;
    pub use crate::generated::talos::resource::definitions::*;
}
