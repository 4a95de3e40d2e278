//! The `sops` entry of a file: recipients, time, selection and the MAC.

use crate::age::{self, other_kind};
use crate::cipher::DataKey;
use crate::error::Error;
use crate::selection::Selection;
use crate::tree::{Element, Entry, Map, Node, Value};
use crate::{Identities, Random, Rule, Timestamp, shamir, time};

/// The metadata of an encrypted file.
pub(crate) struct Metadata {
    groups: Vec<Group>,
    /// The number of groups that are needed; zero means all of them.
    threshold: usize,
    /// RFC 3339; the additional data of the MAC.
    pub(crate) last_modified: String,
    pub(crate) mac: String,
    pub(crate) mac_only_encrypted: bool,
    pub(crate) selection: Selection,
}

/// Keys each of which opens the data key, or this group's part of it.
#[derive(Default)]
struct Group {
    /// Recipients, with an age file for each.
    age: Vec<(String, String)>,
    /// The names of other kinds of key.
    others: Vec<String>,
}

impl Metadata {
    pub(crate) fn read(map: &Map) -> Result<Self, Error> {
        let wrong = |problem: &str| Error::Metadata(problem.to_owned());
        let last_modified = text(map, "lastmodified")
            .and_then(|text| time::canonical(text, false))
            .ok_or_else(|| wrong("lastmodified is not a time"))?;
        let mac_only_encrypted = match get(map, "mac_only_encrypted") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Text(text)) if text.is_empty() => false,
            Some(Value::Text(text)) => match Value::from_plain(text.clone(), "bool") {
                Some(Value::Bool(flag)) => flag,
                _ => return Err(wrong("mac_only_encrypted is neither true nor false")),
            },
            Some(_) => return Err(wrong("mac_only_encrypted is neither true nor false")),
        };
        let threshold = match get(map, "shamir_threshold") {
            None | Some(Value::Null) => Some(0),
            Some(Value::Int(number)) => usize::try_from(*number).ok(),
            Some(Value::Text(text)) => text.parse().ok(),
            Some(_) => None,
        };
        let threshold = threshold.ok_or_else(|| wrong("shamir_threshold is not a number"))?;
        let selection = Selection::read(|name| text(map, name)).map_err(Error::Metadata)?;

        let mut groups = vec![Group::read(map)?];
        if groups[0].is_empty() {
            groups = match get(map, "key_groups") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::List(elements)) => elements
                    .iter()
                    .filter_map(Element::node)
                    .map(|node| match &node.value {
                        Value::Map(entries) => Group::read(entries),
                        _ => Err(wrong("a group in key_groups is not a mapping")),
                    })
                    .collect::<Result<_, _>>()?,
                Some(_) => return Err(wrong("key_groups is not a list")),
            };
        }
        if groups.is_empty() {
            return Err(wrong("it names no key"));
        }
        if groups.len() > MOST_GROUPS {
            return Err(wrong("it has more groups of keys than a key can be split for"));
        }
        let mac = text(map, "mac").unwrap_or_default().to_owned();
        Ok(Self { groups, threshold, last_modified, mac, mac_only_encrypted, selection })
    }

    /// Finds the data key with the identities there are.
    pub(crate) fn data_key(&self, identities: &Identities) -> Result<DataKey, Error> {
        let needed = match self.threshold {
            0 => self.groups.len(),
            threshold => threshold.min(self.groups.len()),
        };
        let ours = self.groups.iter().filter(|group| group.has_ours()).count();
        if ours < needed {
            let kinds = self.groups.iter().flat_map(Group::other_kinds);
            let mut kinds: Vec<String> = kinds.collect();
            kinds.sort();
            kinds.dedup();
            return Err(Error::KeyKind(kinds));
        }
        let mut parts = Vec::new();
        let mut broken = None;
        for group in &self.groups {
            match group.decrypt(identities) {
                Ok(part) => parts.extend(part),
                Err(problem) => broken = Some(problem),
            }
        }
        if parts.len() < needed {
            return Err(match broken {
                Some(problem) if !identities.is_empty() => Error::Metadata(problem.to_owned()),
                _ => self.no_key(identities),
            });
        }
        let key = if self.groups.len() == 1 { parts.pop() } else { shamir::combine(&parts) };
        key.and_then(|bytes| DataKey::new(&bytes))
            .ok_or_else(|| Error::Metadata("the age files do not hold a data key".to_owned()))
    }

    fn no_key(&self, identities: &Identities) -> Error {
        let recipients = self.groups.iter().flat_map(|group| &group.age);
        let sources_tried = identities.sources_tried().to_vec();
        Error::NoKey {
            recipients: recipients.map(|(name, _)| shown(name)).collect(),
            sources_tried,
        }
    }
}

impl Group {
    fn read(map: &Map) -> Result<Self, Error> {
        let mut group = Self::default();
        let wrong = || Error::Metadata("age is not a list of recipients".to_owned());
        match get(map, "age") {
            None | Some(Value::Null) => {}
            Some(Value::List(elements)) => {
                for node in elements.iter().filter_map(Element::node) {
                    let Value::Map(entries) = &node.value else { return Err(wrong()) };
                    let recipient = text(entries, "recipient").ok_or_else(wrong)?;
                    let file = text(entries, "enc").ok_or_else(wrong)?;
                    group.age.push((recipient.to_owned(), file.to_owned()));
                }
            }
            Some(_) => return Err(wrong()),
        }
        for name in OTHER_KINDS {
            if let Some(Value::List(keys)) = get(map, name)
                && !keys.is_empty()
            {
                group.others.push((*name).to_owned());
            }
        }
        Ok(group)
    }

    fn is_empty(&self) -> bool {
        self.age.is_empty() && self.others.is_empty()
    }

    /// Returns true if it has a recipient of a supported kind.
    fn has_ours(&self) -> bool {
        self.age.iter().any(|(recipient, _)| other_kind(recipient).is_none())
    }

    fn other_kinds(&self) -> impl Iterator<Item = String> {
        let age = self.age.iter().filter_map(|(recipient, _)| other_kind(recipient));
        self.others.iter().cloned().chain(age.map(str::to_owned))
    }

    /// Tries all age files. A broken one is an error only if no other can be decrypted.
    fn decrypt(&self, identities: &Identities) -> Result<Option<Vec<u8>>, &'static str> {
        let mut broken = None;
        for (_, file) in &self.age {
            match identities.decrypt(file) {
                Ok(Some(part)) => return Ok(Some(part)),
                Ok(None) => {}
                Err(problem) => broken = Some(problem),
            }
        }
        broken.map_or(Ok(None), Err)
    }
}

/// The data key for each group of a rule: pairs of recipient and age file.
pub(crate) type EncryptedGroups = Vec<Vec<(String, String)>>;

/// Encrypts a data key for every recipient, split when there are several groups.
pub(crate) fn encrypt_data_key(
    key: &[u8],
    rule: &Rule,
    random: Random<'_>,
) -> Result<EncryptedGroups, Error> {
    let (count, threshold) = rule.split()?;
    let parts = match count {
        1 => vec![key.to_vec()],
        _ => shamir::split(key, count, threshold, random),
    };
    let mut encrypted = EncryptedGroups::new();
    for (group, part) in rule.groups().iter().zip(parts) {
        let mut files = Vec::new();
        for (index, recipient) in group.iter().enumerate() {
            let problem = "nothing can be kept secret with it";
            let file = age::encrypt(&part, recipient, random)
                .ok_or(Error::Recipient { number: index + 1, problem })?;
            files.push((recipient.to_string(), file));
        }
        encrypted.push(files);
    }
    Ok(encrypted)
}

/// Returns the metadata of a new file, keys sorted.
pub(crate) fn write(
    rule: &Rule,
    mut groups: EncryptedGroups,
    timestamp: &Timestamp,
    mac: String,
) -> Map {
    let mut map: Vec<(&str, Value)> = vec![
        ("lastmodified", Value::Text(timestamp.as_str().to_owned())),
        ("mac", Value::Text(mac)),
        ("version", Value::Text(VERSION.to_owned())),
    ];
    let (name, text) = rule.selection.setting();
    map.push((name, Value::Text(text.to_owned())));
    if rule.mac_only_encrypted {
        map.push(("mac_only_encrypted", Value::Bool(true)));
    }
    if groups.len() == 1 {
        map.push(("age", age_list(groups.remove(0))));
    } else {
        let groups = groups.into_iter().map(|group| {
            // The list of the other kind is always there, as the `sops` program has it.
            let entries = vec![("age", age_list(group)), ("hc_vault", Value::List(Vec::new()))];
            Element::Node(Node::new(Value::Map(pairs(entries))))
        });
        map.push(("key_groups", Value::List(groups.collect())));
        let threshold = rule.split().map_or(0, |(_, threshold)| threshold);
        map.push(("shamir_threshold", Value::Int(threshold.into())));
    }
    map.sort_by_key(|(name, _)| *name);
    pairs(map)
}

fn age_list(files: Vec<(String, String)>) -> Value {
    let entries = files.into_iter().map(|(recipient, file)| {
        let entries = vec![("enc", Value::Text(file)), ("recipient", Value::Text(recipient))];
        Element::Node(Node::new(Value::Map(pairs(entries))))
    });
    Value::List(entries.collect())
}

fn pairs(entries: Vec<(&str, Value)>) -> Map {
    entries.into_iter().map(|(key, value)| Entry::Pair(key.to_owned(), Node::new(value))).collect()
}

fn get<'a>(map: &'a Map, key: &str) -> Option<&'a Value> {
    map.iter().filter_map(Entry::pair).find(|(name, _)| *name == key).map(|(_, node)| &node.value)
}

fn text<'a>(map: &'a Map, key: &str) -> Option<&'a str> {
    match get(map, key)? {
        Value::Text(text) | Value::Time(text) => Some(text),
        _ => None,
    }
}

/// Returns a recipient for messages; a hostile one is shortened.
fn shown(recipient: &str) -> String {
    recipient.chars().take(80).collect()
}

/// The release whose files these are.
const VERSION: &str = "3.13.3";

/// Keys that the `sops` program has and we have not, as they are called in metadata.
const OTHER_KINDS: &[&str] = &["pgp", "kms", "gcp_kms", "hckms", "azure_kv", "hc_vault"];

/// A part of a split key is numbered by one byte, and zero is the key itself.
const MOST_GROUPS: usize = 255;
