//! Names of container images.

/// Checks that a text is an image with its registry and without a version.
pub(super) fn check(image: &str) -> Result<(), String> {
    let invalid = || Err("invalid reference format".to_owned());
    let (rest, digest) =
        image.split_once('@').map_or((image, None), |(rest, digest)| (rest, Some(digest)));
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (rest, None),
    };
    let is_tag = |tag: &str| {
        (1..=128).contains(&tag.len())
            && !tag.starts_with(['.', '-'])
            && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    if !tag.is_none_or(is_tag) || !digest.is_none_or(is_digest) {
        return invalid();
    }
    let (domain, path) = match name.split_once('/') {
        Some((domain, path)) if is_domain(domain) => (domain, path),
        _ => ("", name),
    };
    let lower = path.to_lowercase();
    if lower != path && is_path(&lower) {
        return Err(format!(
            "invalid reference format: repository name ({path}) must be lowercase"
        ));
    }
    if !is_path(path) {
        return invalid();
    }
    if domain.is_empty() || !is_registry(domain) {
        return Err("repository name must be canonical".to_owned());
    }
    if tag.is_some() || digest.is_some() {
        return Err("should not contains version or digest".to_owned());
    }
    Ok(())
}

/// Returns true for letters, digits and dashes with dots between them, and perhaps a port.
fn is_domain(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.split('.').all(label)
        && port
            .is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns true if the first part is a registry and not the beginning of a path.
fn is_registry(domain: &str) -> bool {
    domain.contains(['.', ':']) || domain == "localhost" || domain.to_lowercase() != domain
}

fn is_path(text: &str) -> bool {
    text.split('/').all(|part| {
        let edge = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        edge(part.as_bytes().first())
            && edge(part.as_bytes().last())
            && part.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte)
            })
    })
}

fn is_digest(text: &str) -> bool {
    text.split_once(':').is_some_and(|(kind, hash)| {
        !kind.is_empty() && hash.len() >= 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
