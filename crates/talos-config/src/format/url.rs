//! URLs as Go's `net/url` takes them apart and writes them again.

use std::fmt::{self, Write};

use crate::secret::REDACTED;

/// The parts of a URL. Empty parts are parts that are not there.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    pub(crate) opaque: String,
    /// As written, with its escapes.
    pub(crate) user: Option<String>,
    pub(crate) host: String,
    /// As it is written out again.
    pub(crate) path: String,
    pub(crate) force_query: bool,
    pub(crate) query: String,
    pub(crate) fragment: String,
    /// `scheme:/path`: no authority, not even an empty one.
    pub(crate) omit_host: bool,
}

impl Url {
    /// Takes a text apart, or says in Go's words why that cannot be.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |reason: &str| Err(reason.to_owned());
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return wrong("net/url: invalid control character in URL");
        }
        let mut url = Self::default();
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        url.fragment = escaped(fragment, Part::Fragment)?;
        if rest == "*" {
            url.path = "*".to_owned();
            return Ok(url);
        }
        let mut rest = rest;
        if rest.starts_with(':') {
            return wrong("missing protocol scheme");
        }
        let scheme_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        if let Some(end) = scheme_end
            && rest[end..].starts_with(':')
            && rest.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            url.scheme = rest[..end].to_ascii_lowercase();
            rest = &rest[end + 1..];
        }
        if let Some((before, query)) = rest.split_once('?') {
            url.force_query = query.is_empty();
            url.query = query.to_owned();
            rest = before;
        }
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_owned();
                return Ok(url);
            }
            let first = rest.split('/').next().unwrap_or_default();
            if first.contains(':') {
                return wrong("first path segment in URL cannot contain colon");
            }
        }
        if let Some(after) = rest.strip_prefix("//")
            && (!url.scheme.is_empty() || !rest.starts_with("///"))
        {
            let end = after.find('/').unwrap_or(after.len());
            let (authority, path) = after.split_at(end);
            url.authority(authority)?;
            rest = path;
        } else {
            url.omit_host = !url.scheme.is_empty();
        }
        url.path = escaped(rest, Part::Path)?;
        Ok(url)
    }

    /// Returns the port, if there is one.
    pub(crate) fn port(&self) -> &str {
        let behind = self.host.rsplit_once(']').map_or(self.host.as_str(), |(_, behind)| behind);
        behind.rsplit_once(':').map_or("", |(_, port)| port)
    }

    /// Returns the host without its port and without brackets.
    pub(crate) fn host_name(&self) -> &str {
        match self.host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((inner, _)) => inner,
            None => self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, _)| host),
        }
    }

    fn authority(&mut self, authority: &str) -> Result<(), String> {
        let host = match authority.rsplit_once('@') {
            None => authority,
            Some((user, host)) => {
                let fine = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                if !user.chars().all(fine) {
                    return Err("net/url: invalid userinfo".to_owned());
                }
                let parts = user.splitn(2, ':').map(|part| escaped(part, Part::User));
                self.user = Some(parts.collect::<Result<Vec<String>, String>>()?.join(":"));
                host
            }
        };
        if !host.starts_with('[') && host.matches(':').count() > 1 {
            return Err("too many colons in address".to_owned());
        }
        let port = if host.starts_with('[') {
            let end = host.rfind(']').ok_or("missing ']' in host")?;
            &host[end + 1..]
        } else {
            host.rfind(':').map_or("", |at| &host[at..])
        };
        let port_fine = port.is_empty()
            || port
                .strip_prefix(':')
                .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        if !port_fine {
            return Err(format!("invalid port {port:?} after host"));
        }
        self.host = escaped(host, Part::Host)?;
        Ok(())
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            if !self.scheme.is_empty() || !self.host.is_empty() || self.user.is_some() {
                let has_authority = !self.host.is_empty() || self.user.is_some();
                if has_authority || !self.path.is_empty() && !self.omit_host {
                    f.write_str("//")?;
                }
                if let Some(user) = &self.user {
                    write!(f, "{user}@")?;
                }
                f.write_str(&self.host)?;
            }
            if !self.path.is_empty() && !self.path.starts_with('/') && !self.host.is_empty() {
                f.write_str("/")?;
            }
            let first = self.path.split('/').next().unwrap_or_default();
            if self.scheme.is_empty() && self.host.is_empty() && first.contains(':') {
                f.write_str("./")?;
            }
            f.write_str(&self.path)?;
        } else {
            f.write_str(&self.opaque)?;
        }
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.fragment)?;
        }
        Ok(())
    }
}

/// Returns the message about a text that is not a URL, in our words.
pub(crate) fn no_url(text: &str, reason: &str) -> String {
    format!("{:?} is not a URL: {reason}", without_user(text))
}

/// Returns a URL as it may be shown: without user and password.
pub(crate) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        Some((_, host)) => format!("{scheme}//{REDACTED}@{host}{}", &rest[end..]),
        None => url.to_owned(),
    }
}

/// Returns a URL as it may be shown: its join token, if it has one, is hidden.
pub(crate) fn without_token(url: &str) -> String {
    let Some((before, query)) = url.split_once('?') else { return url.to_owned() };
    let is_token = |key: &str| unescaped(key, Part::Fragment).is_ok_and(|key| key == b"jointoken");
    let hidden = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, token)) if !token.is_empty() && is_token(key) => "jointoken=%2A%2A%2A%2A%2A%2A",
        _ => pair,
    });
    format!("{before}?{}", hidden.collect::<Vec<_>>().join("&"))
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    User,
    Host,
    Path,
    Fragment,
}

/// Returns a part as it is written: as it was given if that is proper, else taken apart and escaped anew.
fn escaped(text: &str, part: Part) -> Result<String, String> {
    let bytes = unescaped(text, part)?;
    if part == Part::Host {
        let fine = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || *byte >= 0x80
                || b"-_.~!$&'()*+,;=:[]<>\"%".contains(byte)
        };
        if let Some(byte) = bytes.iter().find(|byte| !fine(byte)) {
            return Err(format!(
                "invalid character {:?} in host name",
                char::from(*byte).to_string()
            ));
        }
    }
    let proper = text.bytes().all(|byte| byte == b'%' || part.leaves(byte) || part.tolerates(byte));
    if proper && matches!(part, Part::Path | Part::Fragment) {
        return Ok(text.to_owned());
    }
    let mut result = String::with_capacity(text.len());
    for byte in bytes {
        if part.leaves(byte) {
            result.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(result, "%{byte:02X}");
        }
    }
    Ok(result)
}

fn unescaped(text: &str, part: Part) -> Result<Vec<u8>, String> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte != b'%' {
            result.push(*byte);
            rest = after;
            continue;
        }
        let escape = &rest[..rest.len().min(3)];
        let broken = || format!("invalid URL escape {:?}", String::from_utf8_lossy(escape));
        let digits = std::str::from_utf8(&escape[1..]).ok().filter(|digits| {
            digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        let number = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let number = number.ok_or_else(broken)?;
        // A host may escape what is no ASCII, and the percent sign in front of a zone.
        if part == Part::Host && number < 0x80 && number != b'%' {
            return Err(broken());
        }
        result.push(number);
        rest = &rest[3..];
    }
    Ok(result)
}

impl Part {
    /// Returns whether a byte is written without an escape.
    fn leaves(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Self::User => b"-_.~$&+,;=".contains(&byte),
                Self::Host => b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte),
                Self::Path => b"-_.~$&+,/:;=@".contains(&byte),
                Self::Fragment => b"-_.~$&+,/:;=?@!()*".contains(&byte),
            }
    }

    /// Returns whether a byte may stay without an escape where it was given so.
    fn tolerates(self, byte: u8) -> bool {
        matches!(self, Self::Path | Self::Fragment) && b"!$&'()*+,;=:@[]".contains(&byte)
    }
}
