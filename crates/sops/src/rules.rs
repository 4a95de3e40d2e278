//! `.sops.yaml`: the recipients of a new file, and its encrypted values.

use talos_config::SourceId;
use talos_config::yaml::{self, Content, Limits, Node, Resolved, Style};

use crate::age::Recipient;
use crate::error::Error;
use crate::selection::{Pattern, Selection};

/// The settings under which a new file is encrypted.
#[derive(Clone, Debug)]
pub struct Rule {
    groups: Vec<Vec<Recipient>>,
    threshold: u8,
    /// The selection of encrypted values.
    pub selection: Selection,
    /// Leaves values that stay readable out of the MAC, so that a change of them is not detected.
    pub mac_only_encrypted: bool,
    /// The layout of the text.
    pub layout: Layout,
}

/// The indentation of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Layout {
    /// Spaces for each level of YAML; the writer knows two to nine.
    pub yaml_indent: usize,
    /// Spaces for each level of JSON; `None` is a tab.
    pub json_indent: Option<usize>,
}

/// The rules of one `.sops.yaml`.
pub struct CreationRules {
    root: Node,
    layout: Layout,
}

impl Rule {
    /// Creates a rule with the default selection; each recipient alone can read the file.
    pub fn for_recipients(recipients: Vec<Recipient>) -> Result<Self, Error> {
        Self::for_groups(vec![recipients], 0)
    }

    /// Splits the data key among groups, of which `threshold` are needed; zero means all of them.
    pub fn for_groups(groups: Vec<Vec<Recipient>>, threshold: u8) -> Result<Self, Error> {
        let mut rule = Self {
            groups,
            threshold,
            selection: Selection::default(),
            mac_only_encrypted: false,
            layout: Layout::default(),
        };
        for group in &mut rule.groups {
            let mut seen = std::collections::BTreeSet::new();
            group.retain(|recipient| seen.insert(recipient.clone()));
        }
        rule.split().map(|_| rule)
    }

    pub(crate) fn groups(&self) -> &[Vec<Recipient>] {
        &self.groups
    }

    /// Returns the number of groups, and how many of them are needed.
    pub(crate) fn split(&self) -> Result<(u8, u8), Error> {
        let wrong = |problem: &str| Error::Rules { problem: problem.to_owned(), line: None };
        if self.groups.is_empty() || self.groups.iter().any(Vec::is_empty) {
            return Err(wrong("there is no recipient to encrypt for"));
        }
        let count = u8::try_from(self.groups.len())
            .map_err(|_| wrong("a key cannot be split for more than 255 groups"))?;
        let threshold = if self.threshold == 0 { count } else { self.threshold };
        if count > 1 && !(2..=count).contains(&threshold) {
            return Err(wrong("shamir_threshold must be between 2 and the number of groups"));
        }
        Ok((count, threshold))
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self { yaml_indent: 4, json_indent: None }
    }
}

impl CreationRules {
    /// Reads the text of a `.sops.yaml`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let documents =
            yaml::parse(text, SourceId::default(), Limits::default()).map_err(|error| {
                Error::Rules { problem: error.problem, line: Some(error.origin.line) }
            })?;
        let root = documents.into_iter().next().map(|document| document.root);
        let root =
            root.ok_or_else(|| Error::Rules { problem: "it is empty".into(), line: None })?;
        let store = |name: &str| -> Result<Option<i128>, Error> {
            let indent = get(&root, "stores").and_then(|stores| get(stores, name));
            let Some(indent) = indent.and_then(|store| get(store, "indent")) else {
                return Ok(None);
            };
            match indent.scalar().map(|(text, style)| yaml::resolve(text, style)) {
                Some(Resolved::Int(number)) => Ok(Some(number)),
                Some(Resolved::Null) => Ok(None),
                _ => Err(at(indent, "indent is not a number")),
            }
        };
        let mut layout = Layout::default();
        match store("yaml")? {
            None | Some(0) => {}
            Some(number) => {
                let negative = || Error::Rules { problem: "indent is negative".into(), line: None };
                layout.yaml_indent = usize::try_from(number).map_err(|_| negative())?;
            }
        }
        layout.json_indent = store("json")?.and_then(|number| usize::try_from(number).ok());
        Ok(Self { root, layout })
    }

    /// Returns the first rule for a path, which is relative to the directory of the `.sops.yaml`
    /// and has `/` between its parts.
    pub fn rule_for(&self, path: &str) -> Result<Rule, Error> {
        for rule in list(&self.root, "creation_rules")? {
            let pattern = text(rule, "path_regex")?.filter(|text| !text.is_empty());
            let matches = match pattern {
                None => true,
                Some(text) => Pattern::new(text)
                    .ok_or_else(|| at(rule, "path_regex is not a supported regular expression"))?
                    .matches(path),
            };
            if matches {
                return self.rule(rule);
            }
        }
        Err(Error::NoRule(path.to_owned()))
    }

    fn rule(&self, node: &Node) -> Result<Rule, Error> {
        let mut settings = Vec::new();
        for name in Selection::SETTINGS {
            settings.extend(text(node, name)?.map(|text| (*name, text)));
        }
        let selection = Selection::read(|wanted| {
            settings.iter().find(|(name, _)| *name == wanted).map(|(_, text)| *text)
        })
        .map_err(|problem| at(node, &problem))?;
        let mac_only_encrypted = match scalar(node, "mac_only_encrypted") {
            None | Some(Resolved::Null) => false,
            Some(Resolved::Bool(flag)) => flag,
            Some(_) => return Err(at(node, "mac_only_encrypted is neither true nor false")),
        };
        let threshold = match scalar(node, "shamir_threshold") {
            None | Some(Resolved::Null) => 0,
            Some(Resolved::Int(number)) => u8::try_from(number)
                .map_err(|_| at(node, "shamir_threshold is not a number of groups"))?,
            Some(_) => return Err(at(node, "shamir_threshold is not a number of groups")),
        };
        let groups = list(node, "key_groups")?;
        let groups = if groups.is_empty() {
            refuse_other_kinds(node)?;
            vec![recipients(node)?]
        } else {
            groups.iter().map(key_group).collect::<Result<_, _>>()?
        };
        let rule = Rule::for_groups(groups, threshold).map_err(|error| match error {
            Error::Rules { problem, .. } => at(node, &problem),
            error => error,
        })?;
        Ok(Rule { selection, mac_only_encrypted, layout: self.layout, ..rule })
    }
}

/// Returns the recipients of a group, those of the groups merged into it first.
fn key_group(node: &Node) -> Result<Vec<Recipient>, Error> {
    refuse_other_kinds(node)?;
    let mut found = Vec::new();
    for merged in list(node, "merge")? {
        // Text cannot nest deeper than the parser allows; an alias cannot contain itself.
        found.extend(key_group(merged)?);
    }
    found.extend(recipients(node)?);
    Ok(found)
}

/// `age` as one text with commas, or as a list of such.
fn recipients(node: &Node) -> Result<Vec<Recipient>, Error> {
    let Some(age) = get(node, "age") else { return Ok(Vec::new()) };
    let texts: Vec<&str> = match &age.content {
        Content::Scalar { text, style } if yaml::resolve(text, *style) == Resolved::Null => vec![],
        Content::Scalar { text, .. } => vec![text],
        Content::Sequence(items) => items
            .iter()
            .map(|item| item.scalar().map(|(text, _)| text))
            .collect::<Option<_>>()
            .ok_or_else(|| at(age, "age is not a list of recipients"))?,
        Content::Mapping(_) => return Err(at(age, "age is not a list of recipients")),
    };
    Recipient::parse_list(&texts.join(","))
}

/// Refuses unsupported kinds: to leave a key out would lock its owner out of the file.
fn refuse_other_kinds(node: &Node) -> Result<(), Error> {
    let given = OTHER_KINDS.iter().filter(|name| match get(node, name).map(|node| &node.content) {
        None => false,
        Some(Content::Scalar { text, .. }) => !text.is_empty(),
        Some(Content::Sequence(items)) => !items.is_empty(),
        Some(Content::Mapping(_)) => true,
    });
    let kinds: Vec<String> = given.map(|name| (*name).to_owned()).collect();
    if kinds.is_empty() { Ok(()) } else { Err(Error::KeyKind(kinds)) }
}

/// Returns the value of a key, also of one that `<<` merges in.
fn get<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    node.get(key).or_else(|| {
        let merged = node.get("<<")?;
        match &merged.content {
            Content::Sequence(nodes) => nodes.iter().find_map(|node| node.get(key)),
            _ => merged.get(key),
        }
    })
}

fn text<'a>(node: &'a Node, key: &str) -> Result<Option<&'a str>, Error> {
    let Some(value) = get(node, key) else { return Ok(None) };
    match value.scalar() {
        Some((text, Style::Plain)) if yaml::resolve(text, Style::Plain) == Resolved::Null => {
            Ok(None)
        }
        Some((text, _)) => Ok(Some(text)),
        None => Err(at(value, &format!("{key} is not text"))),
    }
}

fn scalar(node: &Node, key: &str) -> Option<Resolved> {
    get(node, key).map(|value| {
        value.scalar().map_or(Resolved::Text, |(text, style)| yaml::resolve(text, style))
    })
}

fn list<'a>(node: &'a Node, key: &str) -> Result<&'a [Node], Error> {
    let Some(value) = get(node, key) else { return Ok(&[]) };
    match &value.content {
        Content::Sequence(items) => Ok(items),
        Content::Scalar { text, .. } if text.is_empty() => Ok(&[]),
        _ => Err(at(value, &format!("{key} is not a list"))),
    }
}

fn at(node: &Node, problem: &str) -> Error {
    Error::Rules { problem: problem.to_owned(), line: Some(node.origin.line) }
}

/// Keys that the `sops` program has and we have not, as they are called in rules and in their groups.
const OTHER_KINDS: &[&str] =
    &["pgp", "kms", "gcp_kms", "hckms", "azure_keyvault", "hc_vault", "hc_vault_transit_uri"];
