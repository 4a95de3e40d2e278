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
    /// `scheme:///path` and `//path`: an authority that is there but empty.
    rooted: bool,
}

impl Url {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            |reason: &str| -> String { format!("{:?} is no URL: {reason}", without_user(text)) };
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(wrong("invalid control character"));
        }
        let mut url = Self::default();
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        url.fragment = escaped(fragment, Part::Fragment).ok_or("invalid escape in the fragment")?;
        if rest == "*" {
            url.path = "*".to_owned();
            return Ok(url);
        }
        let mut rest = rest;
        if rest.starts_with(':') {
            return Err(wrong("missing protocol scheme"));
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
                return Err(wrong("first path segment in URL cannot contain colon"));
            }
        }
        if let Some(after) = rest.strip_prefix("//")
            && (!url.scheme.is_empty() || !rest.starts_with("///"))
        {
            let end = after.find('/').unwrap_or(after.len());
            let (authority, path) = after.split_at(end);
            url.rooted = authority.is_empty();
            url.authority(authority).map_err(wrong)?;
            rest = path;
        }
        url.path = escaped(rest, Part::Path).ok_or("invalid URL escape")?;
        Ok(url)
    }

    /// The host without its port and without brackets.
    pub(crate) fn host_name(&self) -> &str {
        match self.host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((inner, _)) => inner,
            None => self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, _)| host),
        }
    }

    fn authority(&mut self, authority: &str) -> Result<(), &'static str> {
        let host = match authority.rsplit_once('@') {
            None => authority,
            Some((user, host)) => {
                let fine = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                if !user.chars().all(fine) {
                    return Err("invalid userinfo");
                }
                let parts = user.splitn(2, ':').map(|part| escaped(part, Part::User));
                let parts: Option<Vec<String>> = parts.collect();
                self.user = Some(parts.ok_or("invalid URL escape")?.join(":"));
                host
            }
        };
        if !host.starts_with('[') && host.matches(':').count() > 1 {
            return Err("too many colons in address");
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
            return Err("invalid port after host");
        }
        self.host = escaped(host, Part::Host).ok_or("invalid character in host name")?;
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
                let bare = self.rooted && self.host.is_empty() && self.user.is_none();
                if !self.host.is_empty() || !self.path.is_empty() || self.user.is_some() || bare {
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

/// A URL as it may be shown: user and password are nobody's business.
pub(crate) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        Some((_, host)) => format!("{scheme}//{REDACTED}@{host}{}", &rest[end..]),
        None => url.to_owned(),
    }
}

/// A URL as it may be shown: its join token, if it has one, is hidden.
pub(crate) fn without_token(url: &str) -> String {
    let Some((before, query)) = url.split_once('?') else { return url.to_owned() };
    let is_token = |key: &str| unescaped(key, Part::Fragment).as_deref() == Some(b"jointoken");
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

/// A part as it is written: as it was given if that is proper, else taken apart and escaped anew.
/// `None` when an escape is broken.
fn escaped(text: &str, part: Part) -> Option<String> {
    let bytes = unescaped(text, part)?;
    if part == Part::Host {
        let fine = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || *byte >= 0x80
                || b"-_.~!$&'()*+,;=:[]<>\"%".contains(byte)
        };
        if !bytes.iter().all(fine) {
            return None;
        }
    }
    let proper = text.bytes().all(|byte| byte == b'%' || part.leaves(byte) || part.tolerates(byte));
    if proper && matches!(part, Part::Path | Part::Fragment) {
        return Some(text.to_owned());
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
    Some(result)
}

fn unescaped(text: &str, part: Part) -> Option<Vec<u8>> {
    let mut result = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            result.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let number = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
        // A host may escape what is no ASCII, and the percent sign in front of a zone.
        if part == Part::Host && number < 0x80 && number != b'%' {
            return None;
        }
        result.push(number);
    }
    Some(result)
}

impl Part {
    /// Whether a byte is written without an escape.
    fn leaves(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Self::User => b"-_.~$&+,;=".contains(&byte),
                Self::Host => b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte),
                Self::Path => b"-_.~$&+,/:;=@".contains(&byte),
                Self::Fragment => b"-_.~$&+,/:;=?@!()*".contains(&byte),
            }
    }

    /// Whether a byte may stay without an escape where it was given so.
    fn tolerates(self, byte: u8) -> bool {
        matches!(self, Self::Path | Self::Fragment) && b"!$&'()*+,;=:@[]".contains(&byte)
    }
}
