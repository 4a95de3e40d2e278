//! Files that may be encrypted with SOPS.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sops::Format;
use talos_config::yaml::{self, Content, Limits, Resolved};
use talos_config::{Coded, Confidential, SourceId};

use crate::door::environment::Environment;
use crate::door::text;
use crate::error::ErrorDetail;
use crate::host::Host;

/// The text of a file.
pub(crate) struct FileContent {
    pub(crate) text: String,
    /// The values that were encrypted, if the file was.
    pub(crate) encrypted: Option<Confidential>,
}

impl FileContent {
    /// Creates the content of a file in clear.
    fn clear(text: String) -> Self {
        Self { text, encrypted: None }
    }
}

/// Opens a file that is YAML, encrypted or not: env files, secrets, patches.
pub(crate) fn decrypt_yaml(
    text: String,
    file: &str,
    environment: &Environment,
    host: &dyn Host,
) -> Result<FileContent, Unopened> {
    if text.is_empty() {
        return Ok(FileContent::clear(text));
    }
    let documents =
        yaml::parse(&text, SourceId::default(), Limits::default()).map_err(|error| {
            let words = format!("error converting YAML to JSON: {}", text::syntax(&error));
            Unopened { detail: ErrorDetail::new(words), is_encrypted: false }
        })?;
    let wrong = |what: &str, into: &str| {
        let message = format!("json: cannot unmarshal {what} into Go {into}");
        let words = format!("error unmarshaling JSON: while decoding JSON: {message}");
        let hint = format!("{file} must be a mapping: lines of `key: value`");
        Unopened { detail: ErrorDetail::new(words).hint(hint), is_encrypted: false }
    };
    let root = documents.first().map(|document| &document.root);
    let encrypted = match root.map(|root| (&root.content, root)) {
        None => false,
        Some((Content::Mapping(entries), _)) => {
            let metadata = entries.iter().find(|(key, _)| {
                key.scalar().is_some_and(|(key, _)| key.eq_ignore_ascii_case("sops"))
            });
            match metadata.map(|(_, value)| (&value.content, value)) {
                None => false,
                Some((Content::Mapping(entries), _)) => !entries.is_empty(),
                Some((Content::Sequence(_), _)) => return Err(wrong("array", SOPS_FIELD)),
                Some((Content::Scalar { .. }, value)) => match json_type(value) {
                    None => false,
                    Some(what) => return Err(wrong(what, SOPS_FIELD)),
                },
            }
        }
        Some((Content::Sequence(_), _)) => return Err(wrong("array", SOPS_FILE)),
        Some((Content::Scalar { .. }, root)) => match json_type(root) {
            None => false,
            Some(what) => return Err(wrong(what, SOPS_FILE)),
        },
    };
    if !encrypted {
        return Ok(FileContent::clear(text));
    }
    host.debug(&|| format!("{file} is SOPS encrypted, decrypting"));
    decrypt(&text, Format::Yaml, file, environment, host).map_err(|detail| Unopened {
        detail: detail.within("SOPS decryption failed: "),
        is_encrypted: true,
    })
}

/// Why a file cannot be opened.
pub(crate) struct Unopened {
    pub(crate) detail: ErrorDetail,
    /// It is encrypted, and cannot be decrypted. Otherwise it is not what such a file should be.
    pub(crate) is_encrypted: bool,
}

impl From<Unopened> for ErrorDetail {
    fn from(unopened: Unopened) -> Self {
        unopened.detail
    }
}

/// Returns the keys of an encrypted mapping whose values are encrypted.
pub(crate) fn encrypted_keys(text: &str) -> BTreeSet<String> {
    let documents = yaml::parse(text, SourceId::default(), Limits::default()).unwrap_or_default();
    let mut keys = BTreeSet::new();
    for document in &documents {
        let Content::Mapping(entries) = &document.root.content else { continue };
        for (key, value) in entries {
            let is_encrypted = value.scalar().is_none_or(|(value, _)| value.starts_with("ENC["));
            keys.extend(key.scalar().filter(|_| is_encrypted).map(|(key, _)| key.to_owned()));
        }
    }
    keys
}

/// Reads a file, decrypted if need be. The format follows from its name.
pub fn read_decrypted(
    path: &str,
    environment: &Environment,
    host: &dyn Host,
) -> Result<String, ErrorDetail> {
    read_with_values(path, environment, host).map(|content| content.text)
}

/// Reads a file, decrypted if need be, with the values that were encrypted.
pub(crate) fn read_with_values(
    path: &str,
    environment: &Environment,
    host: &dyn Host,
) -> Result<FileContent, ErrorDetail> {
    host.debug(&|| format!("attempting SOPS decryption of {path}"));
    let format = Format::of_path(path);
    let bytes = host.read(path).map_err(|error| {
        let attempt = match format {
            Some(_) if error.is_missing() => {
                format!("SOPS decryption failed for {path}: Failed to read \"{path}\": ")
            }
            _ => String::new(),
        };
        ErrorDetail::from(error).within(&attempt)
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Some(format) = format else {
        if path.rsplit('.').next() == Some("ini")
            && text.lines().any(|line| line.trim() == "[sops]")
        {
            let content = host
                .decrypt_externally(&text, "ini", environment)
                .unwrap_or_else(|| Err("encrypted INI files need the `sops` program".to_owned()));
            return content.map(|text| from_external(text, path, host)).map_err(|reason| {
                ErrorDetail::new(format!("SOPS decryption failed for {path}: {reason}"))
                    .hint("keep it as .env, .json or .yaml")
            });
        }
        return if sops::is_encrypted(&text, Format::Json) {
            binary(&text, path, environment, host)
        } else {
            Ok(FileContent::clear(text))
        };
    };
    if text.is_empty() {
        return Ok(FileContent::clear(text));
    }
    let wrong =
        |detail: ErrorDetail| detail.within(&format!("SOPS decryption failed for {path}: "));
    check_form(&text, format).map_err(wrong)?;
    if !sops::is_encrypted(&text, format) {
        return Ok(FileContent::clear(text));
    }
    decrypt(&text, format, path, environment, host).map_err(wrong)
}

/// Decrypts a file of unknown format, which is encrypted as one value in JSON.
fn binary(
    text: &str,
    path: &str,
    environment: &Environment,
    host: &dyn Host,
) -> Result<FileContent, ErrorDetail> {
    let mut content = decrypt(text, Format::Json, path, environment, host)
        .map_err(|detail| detail.within(&format!("SOPS decryption failed for {path}: ")))?;
    let json: Option<serde_json::Value> = serde_json::from_str(&content.text).ok();
    let data = json.as_ref().and_then(|json| json.get("data")).and_then(|data| data.as_str());
    if let Some(data) = data {
        data.clone_into(&mut content.text);
    }
    Ok(content)
}

/// Refuses text that is not of its kind, as the `sops` library does even where nothing is encrypted.
fn check_form(text: &str, format: Format) -> Result<(), ErrorDetail> {
    match format {
        Format::Yaml => {
            let documents = yaml::parse(text, SourceId::default(), Limits::default())
                .map_err(|error| ErrorDetail::new(text::syntax(&error)))?;
            let root = documents.first().map(|document| &document.root);
            let Some(root) = root else { return Err("EOF".into()) };
            let shown = match (&root.content, root.scalar()) {
                (Content::Mapping(entries), _) => {
                    // A template reads as a mapping whose key is a mapping.
                    let complex = entries.iter().find(|(key, _)| key.scalar().is_none());
                    let Some((key, _)) = complex else { return Ok(()) };
                    let line = key.origin.line;
                    return Err(format!(
                        "yaml: unmarshal errors:\n  line {line}: cannot unmarshal !!map into string"
                    )
                    .into());
                }
                (_, Some((scalar, style))) if yaml::resolve(scalar, style) != Resolved::Null => {
                    text::shown(root, &Confidential::default())
                }
                (_, Some(_)) => return Ok(()),
                (_, None) => "!!seq".to_owned(),
            };
            let line = root.origin.line;
            Err(format!(
                "yaml: unmarshal errors:\n  line {line}: cannot unmarshal {shown} into map[string]interface {{}}"
            )
            .into())
        }
        Format::Dotenv => {
            let broken = text
                .lines()
                .find(|line| !line.is_empty() && !line.starts_with('#') && !line.contains('='));
            match broken {
                Some(line) => Err(format!("invalid dotenv input line: {line}").into()),
                None => Ok(()),
            }
        }
        Format::Json => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(serde_json::Value::Object(_)) => Ok(()),
            Ok(serde_json::Value::Array(_)) => Err("Could not unmarshal input data: SOPS only supports JSON files \
                                                    with a top-level object (starting with '{'), not array"
                .into()),
            Ok(_) => Err("Could not unmarshal input data: it is not a JSON object".into()),
            Err(error) => Err(format!("Could not unmarshal input data: {error}").into()),
        },
    }
}

fn decrypt(
    text: &str,
    format: Format,
    file: &str,
    environment: &Environment,
    host: &dyn Host,
) -> Result<FileContent, ErrorDetail> {
    let identities = host.identities(environment);
    let error = match sops::decrypt_with_values(text, format, &identities) {
        Ok(sops::Decrypted { text, values }) => {
            host.decrypted_file(file, &values);
            return Ok(FileContent { text: text.into_exposed(), encrypted: Some(values) });
        }
        Err(error) => error,
    };
    if let sops::Error::KeyKind(_) = &error
        && let Some(content) = host.decrypt_externally(text, kind(format), environment)
    {
        return content.map(|text| from_external(text, file, host)).map_err(ErrorDetail::new);
    }
    Err(match &error {
        sops::Error::NoKey { .. } | sops::Error::KeyKind(_) => {
            let hint = error.hint().map_or_else(String::new, |hint| format!("; {hint}"));
            ErrorDetail::new("Error getting data key: 0 successful groups required, got 0")
                .hint(format!("{file}: {error}{hint}"))
        }
        sops::Error::NotEncrypted => ErrorDetail::new("sops metadata not found"),
        other => {
            let message = match other.line() {
                Some(line) => format!("line {line}: {other}"),
                None => other.to_string(),
            };
            ErrorDetail { message, hint: other.hint().map(Cow::into_owned) }
        }
    })
}

/// Takes the output of another program. It does not say which values were encrypted, so all of them
/// count as such.
fn from_external(text: String, file: &str, host: &dyn Host) -> FileContent {
    let mut values = Confidential::default();
    values.add_text(&text);
    host.decrypted_file(file, &values);
    FileContent { text, encrypted: Some(values) }
}

fn kind(format: Format) -> &'static str {
    match format {
        Format::Yaml => "yaml",
        Format::Json => "json",
        Format::Dotenv => "dotenv",
    }
}

/// Returns the name of a scalar's type in JSON; `None` for null.
fn json_type(node: &yaml::Node) -> Option<&'static str> {
    match yaml::resolve_node(node) {
        Resolved::Null => None,
        Resolved::Bool(_) => Some("bool"),
        Resolved::Int(_) | Resolved::Float(_) => Some("number"),
        Resolved::Timestamp | Resolved::Merge | Resolved::Text => Some("string"),
    }
}

const SOPS_FILE: &str = "value of type decrypt.sopsFile";
const SOPS_FIELD: &str = "struct field sopsFile.Sops of type map[string]interface {}";
