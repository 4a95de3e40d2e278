//! References of container images.

/// Returns whether a reference names an image by its digest; `None` when it is not a reference.
pub(super) fn is_pinned(reference: &str) -> Option<bool> {
    if is_tagged(reference) {
        return Some(false);
    }
    let (base, digest) = reference.split_once('@')?;
    let hash = digest.strip_prefix("sha256:")?;
    let fine = hash.len() == 64
        && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (fine && (is_tagged(base) || is_repository(base))).then_some(true)
}

/// Returns whether this is a repository that may have a tag behind it.
fn is_tagged(reference: &str) -> bool {
    match reference.rsplit_once(':') {
        Some((base, tag)) if !tag.contains('/') => is_tag(tag) && is_repository(base),
        _ => is_repository(reference),
    }
}

fn is_tag(tag: &str) -> bool {
    (1..=128).contains(&tag.len())
        && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Returns whether this is a repository that may have a registry in front of it.
fn is_repository(text: &str) -> bool {
    let (registry, name) = match text.split_once('/') {
        Some((registry, name)) if registry.contains(['.', ':']) => (registry, name),
        _ => ("", text),
    };
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-./".contains(&byte);
    (2..=255).contains(&name.len()) && name.bytes().all(plain) && is_registry(registry)
}

/// Returns the host of a URL.
fn is_registry(text: &str) -> bool {
    let url = crate::format::url::Url::parse(&format!("//{text}"));
    text.is_empty() || url.is_ok_and(|url| url.host == text)
}

/// Returns whether a pattern can match no image, since images are looked at with their registry in front.
pub(super) fn matches_nothing(pattern: &str) -> bool {
    let literal = pattern.split('*').next().unwrap_or_default();
    match literal.split_once('/') {
        None => !pattern.contains('*'),
        Some((domain, _)) => {
            !domain.contains(['.', ':']) && !domain.eq_ignore_ascii_case("localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_pinned;

    #[test]
    fn references() {
        let digest = format!("@sha256:{}", "a".repeat(64));
        for (reference, pinned) in [
            ("nginx:1".to_owned(), Some(false)),
            ("nginx".to_owned(), Some(false)),
            ("h:5000/x/y".to_owned(), Some(false)),
            (format!("ghcr.io/a/b{digest}"), Some(true)),
            (format!("ghcr.io/a/b:v1{digest}"), Some(true)),
            (format!("nginx{digest}0"), None),
            ("A B".to_owned(), None),
            ("a:".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(is_pinned(&reference), pinned, "{reference}");
        }
    }
}
