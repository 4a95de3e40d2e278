//! Texts with a form: what is accepted, and the one spelling in which it is kept.

pub(crate) mod address;
pub(crate) mod duration;
pub(crate) mod size;
pub(crate) mod url;

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

use crate::schema::Format;
use crate::value::Data;
use crate::yaml::Resolved;

/// Reads a scalar of a form. `Ok(None)` is an empty one, which is the same as none at all.
pub(crate) fn read(
    format: Format,
    text: &str,
    resolved: &Resolved,
) -> Result<Option<Data>, String> {
    let is_text = matches!(resolved, Resolved::Text | Resolved::Merge);
    let number = match resolved {
        Resolved::Int(number) => Some(*number),
        _ => None,
    };
    let kept = |text: &str| Ok((!text.is_empty()).then(|| Data::Text(text.to_owned())));
    let canonical = |text: Result<String, String>| text.map(|text| Some(Data::Text(text)));
    if *resolved == Resolved::Null {
        return Ok(None);
    }
    match format {
        Format::Duration => {
            let canonical = match resolved {
                Resolved::Int(0) => return Ok(None),
                Resolved::Int(_) => return Err("a number without a unit".to_owned()),
                // So Go has it: a number with a point or an exponent counts nanoseconds.
                Resolved::Float(number) => duration::from_number(*number),
                _ => duration::canonical(text),
            };
            canonical.map(|text| (text != "0s").then_some(Data::Text(text)))
        }
        Format::Octal => match number {
            Some(number) if (0..=i128::from(u32::MAX)).contains(&number) => {
                Ok(Some(Data::Int(number)))
            }
            _ => Err("no file permissions, such as 0o644".to_owned()),
        },
        Format::PortRange => match number {
            Some(port) if (0..=65535).contains(&port) => Ok(Some(Data::Int(port))),
            None if is_text => address::port_range(text).map(Some),
            _ => Err(format!("invalid port range: {text:?}")),
        },
        _ if *resolved == Resolved::Timestamp => Err(A_DATE.to_owned()),
        Format::Ip if text.is_empty() => Ok(None),
        Format::Ip => canonical(address::ip(text)),
        Format::Cidr if text.is_empty() => Ok(None),
        Format::Cidr => canonical(address::cidr(text)),
        Format::IpPort if text.is_empty() => Ok(None),
        Format::IpPort => canonical(address::ip_port(text)),
        Format::Mac => canonical(address::mac(text)),
        Format::Url => canonical(match url::Url::parse(text) {
            Ok(url) => Ok(url.to_string()),
            Err(reason) => Err(url::no_url(text, &reason)),
        }),
        Format::ByteSize if text.is_empty() => Ok(None),
        Format::ByteSize => {
            size::check(text.strip_prefix('-').unwrap_or(text)).and_then(|()| kept(text))
        }
        Format::Size if text.is_empty() => Ok(None),
        Format::Size => size::check_size(text).and_then(|()| kept(text)),
        Format::DiskSize => size::disk(text).map(|data| (data != Data::Int(0)).then_some(data)),
        Format::SizeMatch => {
            size::check_match(text).map(|()| Some(Data::Text(text.trim().to_owned())))
        }
        Format::RoutingTable => routing_table(text),
        Format::Base64 => {
            let bare: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            let bytes = LENIENT.decode(bare).map_err(|_| "no base64".to_owned())?;
            Ok(Some(Data::Text(STANDARD.encode(bytes))))
        }
        Format::Manifest => kept(text.trim_start_matches(['\t', '\n', '\x0b', '\x0c', '\r'])),
        Format::Expression | Format::Word => kept(text),
    }
}

fn routing_table(text: &str) -> Result<Option<Data>, String> {
    let lower = text.to_ascii_lowercase();
    let known = match lower.as_str() {
        "unspec" => return Ok(None),
        "default" | "main" | "local" => true,
        number => {
            let canonical = !number.starts_with(['0', '+']);
            canonical && number.parse::<u8>().is_ok_and(|number| (1..=252).contains(&number))
        }
    };
    if known {
        Ok(Some(Data::Text(lower)))
    } else {
        Err(format!("{text} does not belong to RoutingTable values"))
    }
}

/// As Go reads it: bits left over at the end do not matter.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// What is wrong with a date that is not quoted.
pub(crate) const A_DATE: &str = "a date where text is wanted; quote it";
