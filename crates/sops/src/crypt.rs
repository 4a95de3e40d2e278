//! Decryption and encryption of whole files: selection of values, and the MAC over all.

use sha2::{Digest, Sha256, Sha512};
use talos_config::Confidential;

use crate::cipher::DataKey;
use crate::error::{Error, ValueLocation};
use crate::metadata::{self, Metadata};
use crate::selection::Selection;
use crate::tree::{Comment, Element, Entry, Map, Node, Value};
use crate::{Random, Rule, Timestamp};

/// Decrypts all documents in place, and checks that they are what was encrypted together. Gives the values that were
/// encrypted.
pub(crate) fn decrypt(
    documents: &mut [Map],
    metadata: &Metadata,
    key: &DataKey,
) -> Result<Confidential, Error> {
    let mac = ValueMac::new(metadata.mac_only_encrypted);
    let mut decryptor = Decryptor { key, mac, values: Confidential::default() };
    Walk::over(documents, &metadata.selection, &mut decryptor)?;
    let expected = match metadata.mac.as_str() {
        "" => return Err(Error::Mac("the file has no MAC")),
        encrypted => key
            .decrypt(encrypted, &metadata.last_modified)
            .map_err(|_| Error::Mac("the MAC or the time in the metadata was changed"))?,
    };
    // The MAC came out of an authenticated cipher, so that there is nothing to learn from timing.
    if decryptor.mac.finish() == expected.plain {
        Ok(decryptor.values)
    } else {
        Err(Error::Mac("the values are not those that were encrypted together"))
    }
}

/// Encrypts all documents in place under a new data key, and returns their metadata.
pub(crate) fn encrypt(
    documents: &mut [Map],
    rule: &Rule,
    timestamp: &Timestamp,
    random: Random<'_>,
) -> Result<Map, Error> {
    let mut bytes = [0; 32];
    random(&mut bytes);
    let groups = metadata::encrypt_data_key(&bytes, rule, random)?;
    let key = DataKey::new(&bytes).ok_or_else(|| Error::Metadata("the data key".to_owned()))?;
    let mac = ValueMac::new(rule.mac_only_encrypted);
    let mut encryptor = Encryptor { key: &key, mac, selection: &rule.selection, random };
    Walk::over(documents, &rule.selection, &mut encryptor)?;
    let Encryptor { mac, random, .. } = encryptor;
    let encrypted = key
        .encrypt(&mac.finish(), "str", timestamp.as_str(), random)
        .map_err(|problem| Error::Value { location: ValueLocation::default(), problem })?;
    Ok(metadata::write(rule, groups, timestamp, encrypted))
}

/// An operation on each value and comment of a tree.
trait Visitor {
    fn value(&mut self, value: Value, position: &Position<'_>) -> Result<Leaf, &'static str>;
    fn comment(&mut self, comment: Comment, position: &Position<'_>) -> Result<Leaf, &'static str>;
}

/// A value may turn out to be a comment, and the other way round, since in lists an encrypted comment is
/// an element like the others.
enum Leaf {
    Value(Value),
    Comment(Comment),
}

/// The position of a value or a comment in its document.
struct Position<'a> {
    /// The additional data of the cipher: the keys down to the value.
    additional_data: &'a str,
    selected: bool,
    in_list: bool,
}

struct Decryptor<'a> {
    key: &'a DataKey,
    mac: ValueMac,
    values: Confidential,
}

impl Visitor for Decryptor<'_> {
    fn value(&mut self, value: Value, position: &Position<'_>) -> Result<Leaf, &'static str> {
        let value = match value {
            value if !position.selected => value,
            Value::Text(text) if text.is_empty() => Value::Text(text),
            Value::Text(text) => {
                let decrypted = self.key.decrypt(&text, position.additional_data)?;
                if decrypted.kind == "comment" && position.in_list {
                    return Ok(Leaf::Comment(Comment::new(decrypted.plain)));
                }
                self.values.add_value(&decrypted.plain);
                Value::from_plain(decrypted.plain, decrypted.kind)
                    .ok_or("the encrypted value does not have its declared type")?
            }
            _ => return Err("it is not in the format of an encrypted value"),
        };
        self.mac.add(&value, position.selected);
        Ok(Leaf::Value(value))
    }

    fn comment(&mut self, comment: Comment, position: &Position<'_>) -> Result<Leaf, &'static str> {
        // A comment that cannot be decrypted was never encrypted: old releases of SOPS left them as they
        // were. No MAC covers comments.
        if !position.selected {
            return Ok(Leaf::Comment(comment));
        }
        let decrypted = self
            .key
            .decrypt(&comment.text, position.additional_data)
            .map(|decrypted| decrypted.plain);
        Ok(Leaf::Comment(decrypted.map_or(comment, Comment::new)))
    }
}

struct Encryptor<'a> {
    key: &'a DataKey,
    mac: ValueMac,
    selection: &'a Selection,
    random: Random<'a>,
}

impl Visitor for Encryptor<'_> {
    fn value(&mut self, value: Value, position: &Position<'_>) -> Result<Leaf, &'static str> {
        self.mac.add(&value, position.selected);
        let plain = value.plain().filter(|(plain, _)| position.selected && !plain.is_empty());
        let Some((plain, kind)) = plain else { return Ok(Leaf::Value(value)) };
        self.key
            .encrypt(&plain, kind, position.additional_data, self.random)
            .map(|text| Leaf::Value(Value::Text(text)))
    }

    fn comment(&mut self, comment: Comment, position: &Position<'_>) -> Result<Leaf, &'static str> {
        if !position.selected || comment.text.is_empty() {
            return Ok(Leaf::Comment(comment));
        }
        let text =
            self.key.encrypt(&comment.text, "comment", position.additional_data, self.random)?;
        match self.selection {
            Selection::UnencryptedCommentRegex(pattern) if pattern.matches(&text) => {
                Err("the selection by comments matches an encrypted comment too")
            }
            // An element would end the selection by a comment before it.
            Selection::EncryptedCommentRegex(_) => Ok(Leaf::Comment(Comment { text, ..comment })),
            _ if position.in_list => Ok(Leaf::Value(Value::Text(text))),
            _ => Ok(Leaf::Comment(Comment { text, ..comment })),
        }
    }
}

/// Visits all values in document order, with their position and whether they are selected.
struct Walk<'a> {
    selection: &'a Selection,
    visitor: &'a mut dyn Visitor,
    /// The keys down to here, each ended by a colon.
    additional_data: String,
    path: String,
}

impl Walk<'_> {
    fn over(
        documents: &mut [Map],
        selection: &Selection,
        visitor: &mut dyn Visitor,
    ) -> Result<(), Error> {
        let mut walk =
            Walk { selection, visitor, additional_data: String::new(), path: String::new() };
        documents.iter_mut().try_for_each(|document| walk.map(document, false))
    }

    /// `matched`: the selection matches a key or comment above.
    fn map(&mut self, entries: &mut Map, matched: bool) -> Result<(), Error> {
        let mut matched_by_comment = false;
        for entry in entries {
            match entry {
                Entry::Comment(comment) => {
                    let leaf = self.comment(comment, matched, &mut matched_by_comment, false)?;
                    if let Leaf::Comment(done) = leaf {
                        *comment = done;
                    }
                }
                Entry::Pair(key, node) => {
                    let (data_length, path_length) = (self.additional_data.len(), self.path.len());
                    self.additional_data.push_str(key);
                    self.additional_data.push(':');
                    if path_length > 0 {
                        self.path.push('.');
                    }
                    self.path.push_str(key);
                    if self.additional_data.len() > LONGEST_PATH {
                        return Err(self.error(node.line, "its keys are too long"));
                    }
                    let matched = matched || matched_by_comment || self.selection.matches_key(key);
                    if let Leaf::Comment(_) = self.node(node, matched, false)? {
                        return Err(
                            self.error(node.line, "there is a comment in the place of a value")
                        );
                    }
                    self.additional_data.truncate(data_length);
                    self.path.truncate(path_length);
                    matched_by_comment = false;
                }
            }
        }
        Ok(())
    }

    fn list(&mut self, elements: &mut [Element], matched: bool) -> Result<(), Error> {
        let mut matched_by_comment = false;
        let path_length = self.path.len();
        for (index, element) in elements.iter_mut().enumerate() {
            self.path.extend(["[", &index.to_string(), "]"]);
            let leaf = match element {
                Element::Comment(comment) => {
                    self.comment(comment, matched, &mut matched_by_comment, true)?
                }
                Element::Node(node) => {
                    let leaf = self.node(node, matched || matched_by_comment, true)?;
                    matched_by_comment = false;
                    leaf
                }
            };
            match (leaf, &mut *element) {
                (Leaf::Comment(comment), element) => *element = Element::Comment(comment),
                (Leaf::Value(value), Element::Node(node)) => node.value = value,
                (Leaf::Value(value), element) => *element = Element::Node(Node::new(value)),
            }
            self.path.truncate(path_length);
        }
        Ok(())
    }

    /// Visits the value of a key or of a list element. The value is taken out; in a map it is put
    /// back here, in a list by the caller, which may have to turn it into a comment.
    fn node(&mut self, node: &mut Node, matched: bool, in_list: bool) -> Result<Leaf, Error> {
        let leaf = match std::mem::replace(&mut node.value, Value::Null) {
            Value::Null => Leaf::Value(Value::Null),
            Value::List(mut elements) => {
                self.list(&mut elements, matched)?;
                Leaf::Value(Value::List(elements))
            }
            Value::Map(mut entries) => {
                self.map(&mut entries, matched)?;
                Leaf::Value(Value::Map(entries))
            }
            value => {
                let selected = matched == self.selection.encrypts_matches();
                let position =
                    Position { additional_data: &self.additional_data, selected, in_list };
                let done = self.visitor.value(value, &position);
                done.map_err(|problem| self.error(node.line, problem))?
            }
        };
        Ok(match leaf {
            Leaf::Value(value) if !in_list => {
                node.value = value;
                Leaf::Value(Value::Null)
            }
            leaf => leaf,
        })
    }

    fn comment(
        &mut self,
        comment: &mut Comment,
        matched: bool,
        matched_by_comment: &mut bool,
        in_list: bool,
    ) -> Result<Leaf, Error> {
        let before = *matched_by_comment;
        *matched_by_comment |= self.selection.matches_comment(&comment.text);
        // The comment that makes others secret stays readable; the one that leaves others readable is
        // itself left.
        let matched_by_comment =
            if self.selection.encrypts_matches() { before } else { *matched_by_comment };
        let selected = (matched || matched_by_comment) == self.selection.encrypts_matches();
        let additional_data =
            if self.additional_data.is_empty() { ":" } else { &self.additional_data };
        let position = Position { additional_data, selected, in_list };
        let done = self.visitor.comment(comment.clone(), &position);
        done.map_err(|problem| self.error(0, problem))
    }

    fn error(&self, line: u32, problem: &'static str) -> Error {
        Error::Value { location: ValueLocation::new(&self.path, line), problem }
    }
}

/// The sum over the plain values, comments aside.
struct ValueMac {
    hash: Sha512,
    only_encrypted: bool,
}

impl ValueMac {
    fn new(only_encrypted: bool) -> Self {
        let mut hash = Sha512::new();
        if only_encrypted {
            // This keeps a MAC over a part from ever equalling one over everything.
            hash.update(Sha256::digest(b"sops"));
        }
        Self { hash, only_encrypted }
    }

    fn add(&mut self, value: &Value, encrypted: bool) {
        if !self.only_encrypted || encrypted {
            self.hash.update(value.plain().unwrap_or_default().0);
        }
    }

    fn finish(self) -> String {
        let digit = |four: u8| char::from(b"0123456789ABCDEF"[usize::from(four & 15)]);
        self.hash.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
    }
}

/// In bytes, all keys down to a value: each value is authenticated together with them, so that a long key
/// over many values would cost time out of proportion.
const LONGEST_PATH: usize = 8 << 10;
