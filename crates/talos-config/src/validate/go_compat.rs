//! What Go's library accepts and says, where talosctl hands its words through.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A text in quotes, as `%q` writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            _ if is_print(character) => quoted.push(character),
            _ => {
                // Writing to a string cannot fail.
                let _ = match u32::from(character) {
                    code @ 0..0x80 => write!(quoted, "\\x{code:02x}"),
                    code @ 0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                    code => write!(quoted, "\\U{code:08x}"),
                };
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character is one that is seen: letters, marks, numbers, signs, and the plain blank.
pub(super) fn is_print(character: char) -> bool {
    let invisible = matches!(
        character,
        '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..
    );
    character == ' ' || !(character.is_control() || character.is_whitespace() || invisible)
}

/// An IP address of `net/netip`, which may have a zone.
pub(super) fn parse_addr(text: &str) -> Result<(), String> {
    let wrong = |problem: Wrong<'_>| {
        let cursor = if problem.at.is_empty() {
            String::new()
        } else {
            format!(" (at {})", quoted(problem.at))
        };
        format!("ParseAddr({}): {}{cursor}", quoted(text), problem.reason)
    };
    match text.bytes().find(|byte| b".:%".contains(byte)) {
        Some(b'.') => ipv4(text).map_err(wrong),
        Some(b':') => ipv6(text).map_err(wrong),
        Some(_) => Err(wrong(Wrong { reason: "missing IPv6 address", at: "" })),
        None => Err(wrong(Wrong { reason: "unable to parse IP", at: "" })),
    }
}

struct Wrong<'a> {
    reason: &'static str,
    at: &'a str,
}

fn ipv4(text: &str) -> Result<(), Wrong<'_>> {
    let wrong = |reason, at| Err(Wrong { reason, at });
    let bytes = text.as_bytes();
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return wrong("IPv4 field has octet with leading zero", "");
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return wrong("IPv4 field has value >255", "");
                }
            }
            b'.' => {
                if index == 0 || index == bytes.len() - 1 || bytes[index - 1] == b'.' {
                    return wrong("IPv4 field must have at least one digit", &text[index..]);
                }
                if fields == 3 {
                    return wrong("IPv4 address too long", "");
                }
                (value, digits, fields) = (0, 0, fields + 1);
            }
            _ => return wrong("unexpected character", text.get(index..).unwrap_or_default()),
        }
    }
    if fields < 3 { wrong("IPv4 address too short", "") } else { Ok(()) }
}

fn ipv6(text: &str) -> Result<(), Wrong<'_>> {
    let wrong = |reason, at| Err(Wrong { reason, at });
    let mut rest = match text.split_once('%') {
        Some((_, "")) => return wrong("zone must be a non-empty string", ""),
        Some((address, _)) => address,
        None => text,
    };
    let mut gap = false;
    if let Some(after) = rest.strip_prefix("::") {
        gap = true;
        rest = after;
        if rest.is_empty() {
            return Ok(());
        }
    }
    let mut bytes = 0;
    while bytes < 16 {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        if end > 4 {
            return wrong("each group must have 4 or less digits", rest);
        }
        if end == 0 {
            return wrong("each colon-separated field must have at least one digit", rest);
        }
        if rest[end..].starts_with('.') {
            if !gap && bytes != 12 {
                return wrong(
                    "embedded IPv4 address must replace the final 2 fields of the address",
                    rest,
                );
            }
            if bytes + 4 > 16 {
                return wrong(
                    "too many hex fields to fit an embedded IPv4 at the end of the address",
                    rest,
                );
            }
            ipv4(rest)?;
            rest = "";
            bytes += 4;
            break;
        }
        bytes += 2;
        rest = &rest[end..];
        if rest.is_empty() {
            break;
        }
        match rest.strip_prefix(':') {
            None => return wrong("unexpected character, want colon", rest),
            Some("") => return wrong("colon must be followed by more characters", rest),
            Some(after) => rest = after,
        }
        if let Some(after) = rest.strip_prefix(':') {
            if gap {
                return wrong("multiple :: in address", rest);
            }
            gap = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return wrong("trailing garbage after address", rest);
    }
    match (bytes < 16, gap) {
        (true, false) => wrong("address string too short", ""),
        (false, true) => wrong("the :: must expand to at least one field of zeros", ""),
        _ => Ok(()),
    }
}

/// An IP address of `net/netip` and a prefix length.
pub(super) fn parse_prefix(text: &str) -> Result<(), String> {
    let wrong = |reason: &str| Err(format!("netip.ParsePrefix({}): {reason}", quoted(text)));
    let Some((address, bits)) = text.rsplit_once('/') else { return wrong("no '/'") };
    if let Err(reason) = parse_addr(address) {
        return wrong(&reason);
    }
    if address.contains('%') {
        return wrong("IPv6 zones cannot be present in a prefix");
    }
    let plain = bits.bytes().all(|byte| byte.is_ascii_digit())
        && (bits.len() == 1 || !bits.starts_with('0'));
    match bits.parse::<u32>() {
        Ok(length) if plain => {
            if length > if address.contains(':') { 128 } else { 32 } {
                return wrong("prefix length out of range");
            }
            Ok(())
        }
        _ => wrong(&format!("bad bits after slash: {}", quoted(bits))),
    }
}

/// An address or a prefix.
pub(super) fn is_subnet_or_address(text: &str) -> bool {
    parse_prefix(text).is_ok() || parse_addr(text).is_ok()
}

/// An IP address of the older package `net`: without a zone.
pub(super) fn is_ip(text: &str) -> bool {
    !text.contains('%') && parse_addr(text).is_ok()
}

/// A prefix of the older package `net`, whose length may have zeros in front.
pub(super) fn parse_cidr(text: &str) -> Result<(), String> {
    let fine = text.split_once('/').is_some_and(|(address, bits)| {
        let most = if address.contains(':') { 128 } else { 32 };
        let digits = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        is_ip(address) && digits && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
    });
    if fine { Ok(()) } else { Err(format!("invalid CIDR address: {text}")) }
}

/// The host and the port of an address.
pub(super) fn split_host_port(text: &str) -> Result<(&str, &str), String> {
    let wrong = |reason: &str| {
        Err(if text.is_empty() { reason.to_owned() } else { format!("address {text}: {reason}") })
    };
    let Some(colon) = text.rfind(':') else { return wrong("missing port in address") };
    let (host, from) = if text.starts_with('[') {
        let Some(end) = text.find(']') else { return wrong("missing ']' in address") };
        if end + 1 == text.len() {
            return wrong("missing port in address");
        }
        if end + 1 != colon {
            let several = text[end + 1..].starts_with(':');
            return wrong(if several {
                "too many colons in address"
            } else {
                "missing port in address"
            });
        }
        (&text[1..end], end + 1)
    } else {
        if text[..colon].contains(':') {
            return wrong("too many colons in address");
        }
        (&text[..colon], 0)
    };
    let inner = text.strip_prefix('[').unwrap_or(text);
    if inner.contains('[') {
        return wrong("unexpected '[' in address");
    }
    if text[from..].contains(']') {
        return wrong("unexpected ']' in address");
    }
    Ok((host, &text[colon + 1..]))
}

/// An unsigned number in decimals.
pub(super) fn parse_uint(text: &str, bits: u32) -> Result<u64, String> {
    let wrong =
        |reason: &str| Err(format!("strconv.ParseUint: parsing {}: {reason}", quoted(text)));
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return wrong("invalid syntax");
    }
    match text.parse::<u64>() {
        Ok(number) if bits == 64 || number < 1 << bits => Ok(number),
        _ => wrong("value out of range"),
    }
}

/// How many bytes a base64 text stands for.
pub(super) fn base64_length(text: &str) -> Result<usize, String> {
    let corrupt = |at: usize| Err(format!("illegal base64 data at input byte {at}"));
    let bytes = text.as_bytes();
    let line_break = |byte: u8| byte == b'\r' || byte == b'\n';
    let skip = |mut at: usize| {
        while at < bytes.len() && line_break(bytes[at]) {
            at += 1;
        }
        at
    };
    let (mut at, mut digits, mut length) = (0, 0, 0);
    loop {
        at = skip(at);
        let Some(byte) = bytes.get(at) else { break };
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {
                at += 1;
                digits += 1;
                if digits == 4 {
                    digits = 0;
                    length += 3;
                }
            }
            b'=' if digits >= 2 => {
                if digits == 2 {
                    let second = skip(at + 1);
                    match bytes.get(second) {
                        None => return corrupt(bytes.len()),
                        Some(b'=') => at = second,
                        Some(_) => return corrupt(at),
                    }
                }
                let end = skip(at + 1);
                if end < bytes.len() {
                    return corrupt(end);
                }
                return Ok(length + digits - 1);
            }
            _ => return corrupt(at),
        }
    }
    if digits == 0 { Ok(length) } else { corrupt(at - digits) }
}

/// Whether a text is a path below the directory that it is relative to.
pub(super) fn is_local_path(path: &str) -> bool {
    if path.is_empty() || path.starts_with('/') {
        return false;
    }
    let mut depth = 0_i32;
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

/// The bits of a prefix that has been read already: its address, as wide as it is, and its length.
pub(super) struct Prefix {
    pub(super) address: u128,
    pub(super) width: u32,
    pub(super) bits: u32,
}

impl Prefix {
    /// Takes apart what reading has found to be a prefix.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let bits = bits.parse().ok()?;
        if let Ok(address) = address.parse::<Ipv4Addr>() {
            return Some(Self { address: u128::from(address.to_bits()), width: 32, bits });
        }
        let address = address.parse::<Ipv6Addr>().ok()?.to_bits();
        Some(Self { address, width: 128, bits })
    }

    /// Whether no bit behind the prefix is set.
    pub(super) fn is_masked(&self) -> bool {
        self.network(self.bits) == self.address
    }

    /// Whether they have an address in common.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let bits = self.bits.min(other.bits);
        self.width == other.width && self.network(bits) == other.network(bits)
    }

    fn network(&self, bits: u32) -> u128 {
        let host = self.width - bits;
        if host >= 128 { 0 } else { self.address >> host << host }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_go() {
        assert_eq!(quoted("a\"\n\u{1}é\u{200b}"), "\"a\\\"\\n\\x01é\\u200b\"");
        assert_eq!(base64_length("eHh4"), Ok(3));
        assert_eq!(base64_length("YQ=="), Ok(1));
        for (text, at) in [("x", 0), ("foo", 0), ("***", 0), ("YQ=", 3), ("YQ==x", 4), ("YQ=x", 2)]
        {
            let expected = format!("illegal base64 data at input byte {at}");
            assert_eq!(base64_length(text), Err(expected), "{text}");
        }
        for (text, ok) in
            [("::1", true), ("1::2::3", false), ("::ffff:1.2.3.4", true), ("1.2.3", false)]
        {
            assert_eq!(parse_addr(text).is_ok(), ok, "{text}");
        }
        assert_eq!(split_host_port("[::1]:80"), Ok(("::1", "80")));
        assert!(split_host_port("::1:80").is_err());
    }
}
