//! PEM: base64 in lines of 64 between two labels.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::PkiError;

/// One block.
#[derive(Clone, Eq, PartialEq)]
pub struct Pem {
    /// The label in its first line.
    pub label: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Pem {
    /// Returns the first block of a text.
    pub fn parse(text: &str) -> Result<Self, PkiError> {
        blocks(text).next().ok_or(PkiError::NoPem)
    }

    /// Returns the block that a text begins with, and what is behind it.
    fn split(text: &str) -> Option<(Self, &str)> {
        let (label, rest) = text.strip_prefix(BEGIN)?.split_once("-----")?;
        let (body, rest) = rest.split_once(&format!("-----END {label}-----"))?;
        let body: String = body.chars().filter(|character| !character.is_whitespace()).collect();
        let bytes = STANDARD.decode(body).ok()?;
        Some((Self { label: label.to_owned(), bytes }, rest))
    }

    /// Returns the text of a block.
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

/// Returns all blocks of a text; what is none is passed over.
pub fn blocks(mut text: &str) -> impl Iterator<Item = Pem> {
    std::iter::from_fn(move || {
        loop {
            text = &text[text.find(BEGIN)?..];
            match Pem::split(text) {
                Some((block, rest)) => {
                    text = rest;
                    return Some(block);
                }
                None => text = &text[BEGIN.len()..],
            }
        }
    })
}

const BEGIN: &str = "-----BEGIN ";
