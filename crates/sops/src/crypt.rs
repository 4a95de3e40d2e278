//! A whole file, value by value: which are chosen, what becomes of each, and the MAC over all.

use sha2::{Digest, Sha256, Sha512};
use talos_config::Confidential;

use crate::cipher::DataKey;
use crate::error::{Error, Place};
use crate::metadata::{self, Metadata};
use crate::selection::Selection;
use crate::tree::{Comment, Element, Entry, Map, Node, Value};
use crate::{Moment, Random, Rule};

/// Decrypts all documents in place, and checks that they are what was encrypted together. Gives the values that were
/// encrypted.
pub(crate) fn decrypt(
    documents: &mut [Map],
    metadata: &Metadata,
    key: &DataKey,
) -> Result<Confidential, Error> {
    let mac = MacOfValues::new(metadata.mac_only_encrypted);
    let mut opener = Opener { key, mac, values: Confidential::default() };
    Walk::over(documents, &metadata.selection, &mut opener)?;
    let expected = match metadata.mac.as_str() {
        "" => return Err(Error::Mac("the file has no MAC")),
        sealed => key
            .open(sealed, &metadata.last_modified)
            .map_err(|_| Error::Mac("the MAC or the time in the metadata was changed"))?,
    };
    // The MAC came out of an authenticated cipher, so that there is nothing to learn from timing.
    if opener.mac.finish() == expected.plain {
        Ok(opener.values)
    } else {
        Err(Error::Mac("the values are not those that were encrypted together"))
    }
}

/// Encrypts all documents in place under a new data key; gives the metadata that belongs to them.
pub(crate) fn encrypt(
    documents: &mut [Map],
    rule: &Rule,
    moment: &Moment,
    random: Random<'_>,
) -> Result<Map, Error> {
    let mut bytes = [0; 32];
    random(&mut bytes);
    let groups = metadata::seal_data_key(&bytes, rule, random)?;
    let key = DataKey::new(&bytes).ok_or_else(|| Error::Metadata("the data key".to_owned()))?;
    let mac = MacOfValues::new(rule.mac_only_encrypted);
    let mut sealer = Sealer { key: &key, mac, selection: &rule.selection, random };
    Walk::over(documents, &rule.selection, &mut sealer)?;
    let Sealer { mac, random, .. } = sealer;
    let sealed = key
        .seal(&mac.finish(), "str", moment.as_str(), random)
        .map_err(|problem| Error::Value { place: Place::default(), problem })?;
    Ok(metadata::write(rule, groups, moment, sealed))
}

/// What is done with each value and comment.
trait Hand {
    fn value(&mut self, value: Value, spot: &Spot<'_>) -> Result<Leaf, &'static str>;
    fn comment(&mut self, comment: Comment, spot: &Spot<'_>) -> Result<Leaf, &'static str>;
}

/// A value may turn out to be a comment, and the other way round, since in lists an encrypted comment is
/// an element like the others.
enum Leaf {
    Value(Value),
    Comment(Comment),
}

/// Where a value or a comment stands.
struct Spot<'a> {
    /// What it is bound to when it is encrypted.
    bound_to: &'a str,
    selected: bool,
    in_list: bool,
}

struct Opener<'a> {
    key: &'a DataKey,
    mac: MacOfValues,
    values: Confidential,
}

impl Hand for Opener<'_> {
    fn value(&mut self, value: Value, spot: &Spot<'_>) -> Result<Leaf, &'static str> {
        let value = match value {
            value if !spot.selected => value,
            Value::Text(text) if text.is_empty() => Value::Text(text),
            Value::Text(text) => {
                let opened = self.key.open(&text, spot.bound_to)?;
                if opened.kind == "comment" && spot.in_list {
                    return Ok(Leaf::Comment(Comment::new(opened.plain)));
                }
                self.values.add_value(&opened.plain);
                Value::from_plain(opened.plain, opened.kind)
                    .ok_or("what is encrypted is not of the type that it says")?
            }
            _ => return Err("it is not encrypted as it should be"),
        };
        self.mac.add(&value, spot.selected);
        Ok(Leaf::Value(value))
    }

    fn comment(&mut self, comment: Comment, spot: &Spot<'_>) -> Result<Leaf, &'static str> {
        // A comment that cannot be opened was never encrypted: old releases of SOPS left them as they
        // were. No MAC covers comments.
        if !spot.selected {
            return Ok(Leaf::Comment(comment));
        }
        let opened = self.key.open(&comment.text, spot.bound_to).map(|opened| opened.plain);
        Ok(Leaf::Comment(opened.map_or(comment, Comment::new)))
    }
}

struct Sealer<'a> {
    key: &'a DataKey,
    mac: MacOfValues,
    selection: &'a Selection,
    random: Random<'a>,
}

impl Hand for Sealer<'_> {
    fn value(&mut self, value: Value, spot: &Spot<'_>) -> Result<Leaf, &'static str> {
        self.mac.add(&value, spot.selected);
        let plain = value.plain().filter(|(plain, _)| spot.selected && !plain.is_empty());
        let Some((plain, kind)) = plain else { return Ok(Leaf::Value(value)) };
        self.key
            .seal(&plain, kind, spot.bound_to, self.random)
            .map(|text| Leaf::Value(Value::Text(text)))
    }

    fn comment(&mut self, comment: Comment, spot: &Spot<'_>) -> Result<Leaf, &'static str> {
        if !spot.selected || comment.text.is_empty() {
            return Ok(Leaf::Comment(comment));
        }
        let text = self.key.seal(&comment.text, "comment", spot.bound_to, self.random)?;
        match self.selection {
            Selection::UnencryptedCommentRegex(pattern) if pattern.matches(&text) => {
                Err("the rule for comments speaks of an encrypted comment too")
            }
            // An element would end what a comment before it says of the value behind it.
            Selection::EncryptedCommentRegex(_) => Ok(Leaf::Comment(Comment { text, ..comment })),
            _ if spot.in_list => Ok(Leaf::Value(Value::Text(text))),
            _ => Ok(Leaf::Comment(Comment { text, ..comment })),
        }
    }
}

/// Goes over documents in order, and knows of each value where it stands and whether it is chosen.
struct Walk<'a> {
    selection: &'a Selection,
    hand: &'a mut dyn Hand,
    /// The keys down to here, each ended by a colon.
    bound_to: String,
    place: String,
}

impl Walk<'_> {
    fn over(
        documents: &mut [Map],
        selection: &Selection,
        hand: &mut dyn Hand,
    ) -> Result<(), Error> {
        let mut walk = Walk { selection, hand, bound_to: String::new(), place: String::new() };
        documents.iter_mut().try_for_each(|document| walk.map(document, false))
    }

    /// `spoken_of`: the rule speaks of something above.
    fn map(&mut self, entries: &mut Map, spoken_of: bool) -> Result<(), Error> {
        let mut by_comment = false;
        for entry in entries {
            match entry {
                Entry::Comment(comment) => {
                    let leaf = self.comment(comment, spoken_of, &mut by_comment, false)?;
                    if let Leaf::Comment(done) = leaf {
                        *comment = done;
                    }
                }
                Entry::Pair(key, node) => {
                    let (bound_length, place_length) = (self.bound_to.len(), self.place.len());
                    self.bound_to.push_str(key);
                    self.bound_to.push(':');
                    if place_length > 0 {
                        self.place.push('.');
                    }
                    self.place.push_str(key);
                    if self.bound_to.len() > LONGEST_PATH {
                        return Err(self.error(node.line, "its keys are too long"));
                    }
                    let spoken_of = spoken_of || by_comment || self.selection.speaks_of_key(key);
                    if let Leaf::Comment(_) = self.node(node, spoken_of, false)? {
                        return Err(self.error(node.line, "a comment stands where a value belongs"));
                    }
                    self.bound_to.truncate(bound_length);
                    self.place.truncate(place_length);
                    by_comment = false;
                }
            }
        }
        Ok(())
    }

    fn list(&mut self, elements: &mut [Element], spoken_of: bool) -> Result<(), Error> {
        let mut by_comment = false;
        let place_length = self.place.len();
        for (index, element) in elements.iter_mut().enumerate() {
            self.place.extend(["[", &index.to_string(), "]"]);
            let leaf = match element {
                Element::Comment(comment) => {
                    self.comment(comment, spoken_of, &mut by_comment, true)?
                }
                Element::Node(node) => {
                    let leaf = self.node(node, spoken_of || by_comment, true)?;
                    by_comment = false;
                    leaf
                }
            };
            match (leaf, &mut *element) {
                (Leaf::Comment(comment), element) => *element = Element::Comment(comment),
                (Leaf::Value(value), Element::Node(node)) => node.value = value,
                (Leaf::Value(value), element) => *element = Element::Node(Node::new(value)),
            }
            self.place.truncate(place_length);
        }
        Ok(())
    }

    /// Handles what a key or a place in a list holds. The value is taken out; in a map it is put back
    /// here, in a list by the caller, who may have to make a comment of it.
    fn node(&mut self, node: &mut Node, spoken_of: bool, in_list: bool) -> Result<Leaf, Error> {
        let leaf = match std::mem::replace(&mut node.value, Value::Null) {
            Value::Null => Leaf::Value(Value::Null),
            Value::List(mut elements) => {
                self.list(&mut elements, spoken_of)?;
                Leaf::Value(Value::List(elements))
            }
            Value::Map(mut entries) => {
                self.map(&mut entries, spoken_of)?;
                Leaf::Value(Value::Map(entries))
            }
            value => {
                let selected = spoken_of == self.selection.names_encrypted();
                let spot = Spot { bound_to: &self.bound_to, selected, in_list };
                let done = self.hand.value(value, &spot);
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
        spoken_of: bool,
        by_comment: &mut bool,
        in_list: bool,
    ) -> Result<Leaf, Error> {
        let before = *by_comment;
        *by_comment |= self.selection.speaks_of_comment(&comment.text);
        // The comment that makes others secret stays readable; the one that leaves others readable is
        // itself left.
        let by_comment = if self.selection.names_encrypted() { before } else { *by_comment };
        let selected = (spoken_of || by_comment) == self.selection.names_encrypted();
        let bound_to = if self.bound_to.is_empty() { ":" } else { &self.bound_to };
        let spot = Spot { bound_to, selected, in_list };
        let done = self.hand.comment(comment.clone(), &spot);
        done.map_err(|problem| self.error(0, problem))
    }

    fn error(&self, line: u32, problem: &'static str) -> Error {
        Error::Value { place: Place::new(&self.place, line), problem }
    }
}

/// The sum over the plain values, comments aside.
struct MacOfValues {
    hash: Sha512,
    only_encrypted: bool,
}

impl MacOfValues {
    fn new(only_encrypted: bool) -> Self {
        let mut hash = Sha512::new();
        if only_encrypted {
            // So that a MAC over a part never equals one over all.
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
