//! Addresses of services, taken apart.

use super::GoValue;

/// Returns a part of a URL, by the name of a field or method in Go.
pub(super) fn field<'a>(url: &str, name: &str) -> Result<GoValue<'a>, String> {
    if name == "String" {
        return Ok(GoValue::text(url));
    }
    let part = match name {
        "Scheme" | "Host" | "Hostname" | "Port" | "Path" => parts(url, name)?,
        _ if OTHERS.split_whitespace().any(|other| other == name) => {
            return Err(format!("{name} of a URL is one of Go's that Ichor does not have"));
        }
        _ => return Err(format!("can't evaluate field {name} in type *v1alpha1.Endpoint")),
    };
    Ok(GoValue::Text(part))
}

fn parts(url: &str, name: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").ok_or(STRANGE)?;
    // Go decodes percent signs, by different rules for each part.
    if rest.contains('%') {
        return Err(STRANGE.to_owned());
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    let path = &rest[authority.len()..];
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (hostname, port) = split_port(host);
    Ok(match name {
        "Scheme" => scheme.to_ascii_lowercase(),
        "Host" => host.to_owned(),
        "Hostname" => hostname.to_owned(),
        "Port" => port.to_owned(),
        _ => path.to_owned(),
    })
}

/// Returns the name or address, without the brackets of an IPv6 address, and the port.
fn split_port(host: &str) -> (&str, &str) {
    let split = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let (name, port) = split.unwrap_or((host, ""));
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    (bare.unwrap_or(name), port)
}

/// The other fields and methods of Go's URLs.
const OTHERS: &str = "EscapedFragment EscapedPath ForceQuery Fragment IsAbs JoinPath MarshalBinary OmitHost Opaque \
                      Parse Query RawFragment RawPath RawQuery Redacted RequestURI ResolveReference URL \
                      UnmarshalBinary User";

const STRANGE: &str = "Ichor takes apart only URLs such as https://host:6443/path";

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the fields and methods of Go 1.26's `net/url`.
    #[test]
    fn a_url_has_the_parts_that_go_finds() {
        let cases = [
            ("https://10.0.0.1:6443", ["https", "10.0.0.1:6443", "10.0.0.1", "6443", ""]),
            ("https://[fd00::1]:6443", ["https", "[fd00::1]:6443", "fd00::1", "6443", ""]),
            ("https://[fd00::1]", ["https", "[fd00::1]", "fd00::1", "", ""]),
            ("https://host", ["https", "host", "host", "", ""]),
            ("https://host:", ["https", "host:", "host", "", ""]),
            ("https://host:6443/a/b?x=1#f", ["https", "host:6443", "host", "6443", "/a/b"]),
            ("https://host?x", ["https", "host", "host", "", ""]),
            ("https://host#f", ["https", "host", "host", "", ""]),
            ("HTTPS://Host:1/", ["https", "Host:1", "Host", "1", "/"]),
            ("https://user:pw@host:1/p", ["https", "host:1", "host", "1", "/p"]),
        ];
        for (url, expected) in cases {
            let names = ["Scheme", "Host", "Hostname", "Port", "Path"];
            let found = names.map(|name| field(url, name).and_then(|part| part.print()));
            assert_eq!(found, expected.map(|part| Ok::<_, String>(part.to_owned())), "{url}");
        }
    }

    #[test]
    fn what_cannot_be_taken_apart_is_refused() {
        for url in ["host:6443", "https://h/a%20b", "tcp://[fe80::1%25eth0]:1"] {
            assert_eq!(field(url, "Host").err().as_deref(), Some(STRANGE), "{url}");
        }
        assert_eq!(
            field("https://h", "RawQuery").err().as_deref(),
            Some("RawQuery of a URL is one of Go's that Ichor does not have")
        );
        assert_eq!(
            field("https://h", "Foo").err().as_deref(),
            Some("can't evaluate field Foo in type *v1alpha1.Endpoint")
        );
    }
}
