//! PEM: base64 in lines of 64 between two labels.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::PkiError;

/// One block.
#[derive(Clone, Eq, PartialEq)]
pub struct Pem {
    /// What its first line names.
    pub label: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Pem {
    /// The first block of a text.
    pub fn parse(text: &str) -> Result<Self, PkiError> {
        let (_, rest) = text.split_once("-----BEGIN ").ok_or(PkiError::NoPem)?;
        let (label, rest) = rest.split_once("-----").ok_or(PkiError::NoPem)?;
        let (body, _) =
            rest.split_once(&format!("-----END {label}-----")).ok_or(PkiError::NoPem)?;
        let body: String = body.chars().filter(|character| !character.is_whitespace()).collect();
        let bytes = STANDARD.decode(body).map_err(|_| PkiError::NoPem)?;
        Ok(Self { label: label.to_owned(), bytes })
    }

    /// The text of a block.
    pub fn encode(&self) -> String {
        let body = STANDARD.encode(&self.bytes);
        let mut text = format!("-----BEGIN {}-----\n", self.label);
        let mut rest = body.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(64));
            text.push_str(line);
            text.push('\n');
            rest = after;
        }
        text + &format!("-----END {}-----\n", self.label)
    }
}
