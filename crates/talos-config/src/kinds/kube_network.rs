//! `KubeNetworkConfig`

use crate::schema::{CIDR, Contract, INT, Kind, Type, field};

pub(super) const KIND: Kind = Kind {
    name: "KubeNetworkConfig",
    named: false,
    since: Contract::new(1, 14),
    fields: &[
        field("dnsDomain", Type::Text).always(),
        field("podSubnets", Type::List(&CIDR)).always().replace(),
        field("serviceSubnets", Type::List(&CIDR)).always().replace(),
        field("nodeCIDRMaskSizeIPv4", INT).about("24 when unset"),
        field("nodeCIDRMaskSizeIPv6", INT).about("64 when unset"),
    ],
    about: "Address ranges and domain of the cluster",
};
