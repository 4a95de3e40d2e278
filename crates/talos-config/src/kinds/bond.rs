//! `BondConfig`

use super::choices::{
    AD_SELECT, ADLACP_ACTIVE, ARP_ALL_TARGETS, ARP_VALIDATE, BOND_MODE, BOND_XMIT_HASH_POLICY,
    FAIL_OVER_MAC, LACP_RATE, PRIMARY_RESELECT,
};
use super::shared::COMMON_LINK;
use crate::schema::{Contract, IP, Kind, MAC, TEXTS, Type, U8, U16, U32, field, inline};

pub(super) const KIND: Kind = Kind {
    name: "BondConfig",
    named: true,
    since: Contract::new(1, 12),
    fields: &[
        field("name", Type::Text).always(),
        field("hardwareAddr", MAC),
        field("links", TEXTS),
        field("bondMode", Type::Choice(&BOND_MODE)).optional(),
        field("miimon", U32).optional(),
        field("updelay", U32).optional(),
        field("downdelay", U32).optional(),
        field("useCarrier", Type::Bool).optional(),
        field("xmitHashPolicy", Type::Choice(&BOND_XMIT_HASH_POLICY)).optional(),
        field("arpInterval", U32).optional(),
        field("arpIpTargets", Type::List(&IP)),
        field("nsIp6Targets", Type::List(&IP)),
        field("arpValidate", Type::Choice(&ARP_VALIDATE)).optional(),
        field("arpAllTargets", Type::Choice(&ARP_ALL_TARGETS)).optional(),
        field("lacpRate", Type::Choice(&LACP_RATE)).optional(),
        field("failOverMac", Type::Choice(&FAIL_OVER_MAC)).optional(),
        field("adSelect", Type::Choice(&AD_SELECT)).optional(),
        field("adActorSysPrio", U16).optional(),
        field("adUserPortKey", U16).optional(),
        field("adLACPActive", Type::Choice(&ADLACP_ACTIVE)).optional(),
        field("primaryReselect", Type::Choice(&PRIMARY_RESELECT)).optional(),
        field("resendIGMP", U32).optional(),
        field("minLinks", U32).optional(),
        field("lpInterval", U32).optional(),
        field("packetsPerSlave", U32).optional(),
        field("numPeerNotif", U8).optional(),
        field("tlbLogicalLb", U8).optional(),
        field("allSlavesActive", U8).optional(),
        field("peerNotifDelay", U32).optional(),
        field("missedMax", U8).optional(),
        inline(COMMON_LINK),
    ],
    about: "Several links used as one",
};
