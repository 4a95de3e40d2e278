//! Addresses of the network.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::value::Data;

pub(crate) fn ip(text: &str) -> Result<String, String> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok(address.to_string());
    }
    let (address, zone) = match text.split_once('%') {
        Some((_, "")) => return Err(no_address(text)),
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let address: Ipv6Addr = address.parse().map_err(|_| no_address(text))?;
    Ok(zone.map_or_else(|| address.to_string(), |zone| format!("{address}%{zone}")))
}

pub(crate) fn cidr(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is not an address with a prefix length, such as 10.0.0.0/8");
    let (address, bits) = text.rsplit_once('/').ok_or_else(wrong)?;
    let address = ip(address).ok().filter(|address| !address.contains('%')).ok_or_else(wrong)?;
    let most = if address.contains(':') { 128 } else { 32 };
    let plain =
        bits.bytes().all(|byte| byte.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    match bits.parse::<u8>() {
        Ok(length) if plain && length <= most => Ok(format!("{address}/{length}")),
        _ => Err(wrong()),
    }
}

pub(crate) fn ip_port(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is not an address with a port, such as 10.0.0.1:50000");
    let (address, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let plain = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port: u16 = port.parse().ok().filter(|_| plain).ok_or_else(wrong)?;
    match address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => {
            let address =
                ip(inner).ok().filter(|address| address.contains(':')).ok_or_else(wrong)?;
            Ok(format!("[{address}]:{port}"))
        }
        None => {
            let address =
                ip(address).ok().filter(|address| !address.contains(':')).ok_or_else(wrong)?;
            Ok(format!("{address}:{port}"))
        }
    }
}

pub(super) fn mac(text: &str) -> Result<String, String> {
    let digits: String = text.chars().filter(|&character| character != ':').collect();
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("{text:?} is not a hardware address, such as 00:11:22:33:44:55"));
    }
    let mut canonical = String::new();
    for (index, digit) in digits.to_ascii_lowercase().chars().enumerate() {
        if index > 0 && index % 2 == 0 {
            canonical.push(':');
        }
        // Writing to a string cannot fail.
        let _ = canonical.write_char(digit);
    }
    Ok(canonical)
}

pub(super) fn port_range(text: &str) -> Result<Data, String> {
    let wrong = || format!("invalid port range: {text:?}");
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let port = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| digits)
    };
    match (port(first), port(last)) {
        (Some(first), Some(last)) if first == last => Ok(Data::Int(first.into())),
        (Some(first), Some(last)) => Ok(Data::Text(format!("{first}-{last}"))),
        _ => Err(wrong()),
    }
}

fn no_address(text: &str) -> String {
    format!("{text:?} is not an IP address")
}
