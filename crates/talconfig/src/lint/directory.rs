//! The input of rules: the tree of a talconfig with variables substituted, its machines, and their
//! patches.

use std::borrow::Cow;

use plan::{ClusterSpec, PatchEntry, PatchSource, SpecError};
use talos_config::yaml::{self, Content, Node, Resolved, Style};
use talos_config::{Coded, Contract, Diagnostic, FileLocation, Location, Patch, SourceId};

use super::Files;
use crate::door::environment::Environment;
use crate::door::release_catalog::LATEST;
use crate::door::{sops_files, substitute, text};
use crate::error::{Error, ErrorDetail};
use crate::host::Host;

/// A cluster's directory.
pub(super) struct Directory<'a> {
    pub(super) files: &'a Files,
    pub(super) host: &'a dyn Host,
    pub(super) environment: Environment,
    /// The text of the file that describes the cluster.
    pub(super) text: String,
    /// The talconfig: anchors and merges resolved, known variables substituted. Empty for a native
    /// file.
    pub(super) root: Node,
    /// The cluster is described by a native file.
    pub(super) is_native: bool,
    /// The start of the second document, if there is one.
    pub(super) second: Option<Location>,
    /// The Talos contract of the configuration, if it is known.
    pub(super) contract: Option<Contract>,
    /// Files that the talconfig names.
    pub(super) references: Vec<Reference>,
    /// Every patch that is named anywhere, once for each time.
    pub(super) patches: Vec<NamedPatch>,
    pub(super) machines: Vec<Machine>,
    /// The number of control planes, and where they are listed.
    pub(super) control_planes: Option<(usize, FileLocation)>,
}

/// A file that is named.
pub(super) struct Reference {
    pub(super) location: FileLocation,
    /// From the root.
    pub(super) path: String,
    /// The path as the file spells it.
    pub(super) name: String,
}

/// A machine with its patches.
pub(super) struct Machine {
    /// Indices of its patches, in the order in which they are applied.
    pub(super) patches: Vec<usize>,
    /// The number of leading patches that are not for all machines.
    pub(super) own: usize,
    /// It has documents beside the `v1alpha1` one.
    pub(super) documents: bool,
}

/// A reference to a patch.
pub(super) struct NamedPatch {
    pub(super) location: FileLocation,
    /// The file that it is in, from the root.
    pub(super) path: Option<String>,
    /// Named without `@`.
    pub(super) bare: bool,
    pub(super) content: PatchText,
    lines: LineMap,
}

/// The text of a patch.
pub(super) enum PatchText {
    /// Text, with the line breaks of the file.
    Text(String),
    /// A template, whose text is known only once it is rendered.
    Template,
    /// There is nothing in it.
    Empty,
    /// There is no such file; another rule reports that.
    Missing,
    /// The patch cannot be used.
    Unusable(ErrorDetail),
}

/// A map from lines of a patch to lines of files.
enum LineMap {
    /// In a file of its own.
    File(String),
    /// Within another file, below a line and indented.
    Below { line: u32, indent: u32 },
    /// All in one place.
    Here,
}

/// The preparation of a file before it is a patch.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Preparation {
    /// Decrypted, with templates and variables rendered.
    Rendered,
    /// Decrypted.
    Decrypted,
    /// Unchanged.
    Raw,
}

impl<'a> Directory<'a> {
    /// Reads a talconfig for rules: whatever can be read of it.
    pub(super) fn from_talconfig(
        files: &'a Files,
        environment: &Environment,
        host: &'a dyn Host,
    ) -> Result<Self, Error> {
        let mut directory = Self::empty(files, environment, host);
        let bytes = host.read(&files.cluster);
        let bytes = bytes.map_err(|error| Error::Unreadable(error.to_string().into()))?;
        directory.text = String::from_utf8_lossy(&bytes).into_owned();
        // Text that is not YAML is refused when it is loaded; no rule has more to say about it.
        let documents = text::parse(&directory.text).unwrap_or_default();
        directory.second = documents.get(1).map(|document| document.origin);
        let Some(document) = documents.into_iter().next() else { return Ok(directory) };
        directory.root = substituted(&document.root, environment);
        let version = word(directory.root.get("talosVersion"));
        // A variable of the same name says it where the talconfig does not.
        let version = Some(version).filter(|version| !version.is_empty());
        let version = version.or_else(|| environment.get("talosVersion").map(str::trim));
        directory.contract = version.unwrap_or(LATEST).parse().ok();
        directory.find_references();
        directory.find_patches();
        let nodes = directory.nodes();
        let count = nodes.iter().filter(|node| is_true(node.get("controlPlane"))).count();
        let origin = directory.root.get("nodes").map(|nodes| directory.location(nodes.origin));
        directory.control_planes = origin.map(|origin| (count, origin));
        Ok(directory)
    }

    /// Takes what a native file says about patches.
    pub(super) fn from_spec(
        files: &'a Files,
        spec: &ClusterSpec,
        environment: &Environment,
        host: &'a dyn Host,
    ) -> Self {
        let mut directory = Self::empty(files, environment, host);
        directory.is_native = true;
        directory.contract = Some(spec.contract);
        let machines = &spec.control_plane.machines;
        let first = machines.first().map(|machine| directory.location(machine.origin));
        directory.control_planes = first.map(|first| (machines.len(), first));
        for (machine, location) in spec.machines() {
            let group: &[PatchSource] = match location {
                plan::Membership::ControlPlane => &spec.control_plane.patches,
                plan::Membership::Pool(pool) => &pool.patches,
            };
            let all = spec.patches.iter().chain(group).chain(&machine.patches);
            let patches: Vec<usize> = all.map(|source| directory.native_patch(source)).collect();
            directory.machines.push(Machine { own: 0, patches, documents: false });
        }
        directory
    }

    fn empty(files: &'a Files, environment: &Environment, host: &'a dyn Host) -> Self {
        Self {
            files,
            host,
            environment: environment.clone(),
            text: String::new(),
            root: Node::new(Content::Mapping(Vec::new()), Location::default()),
            is_native: false,
            second: None,
            contract: None,
            references: Vec::new(),
            patches: Vec::new(),
            machines: Vec::new(),
            control_planes: None,
        }
    }

    /// Returns a location in the file that describes the cluster.
    pub(super) fn location(&self, origin: Location) -> FileLocation {
        FileLocation { file: self.files.cluster.clone(), line: origin.line, column: origin.column }
    }

    /// Returns true if the configuration has the layout of `1.minor` or later.
    pub(super) fn since(&self, minor: u32) -> bool {
        self.contract.is_some_and(|contract| contract >= Contract::new(1, minor))
    }

    /// Returns the machines of a talconfig.
    pub(super) fn nodes(&self) -> &[Node] {
        items(self.root.get("nodes"))
    }

    /// Returns the settings of a machine's group.
    pub(super) fn group(&self, node: &Node) -> Option<&Node> {
        let key = if is_true(node.get("controlPlane")) { "controlPlane" } else { "worker" };
        self.root.get(key)
    }

    /// Converts the problems of a cluster that plans cannot be made for.
    pub(super) fn spec_problems(&self, error: &SpecError) -> Vec<Diagnostic> {
        let problems = error.diagnostics().into_iter();
        problems.map(|problem| problem.in_file(|origin| Some(self.location(origin)))).collect()
    }

    /// Converts the error of a refused talconfig to diagnostics.
    pub(super) fn refusal(&self, error: &Error) -> Vec<Diagnostic> {
        let findings = match error {
            Error::Located(error) => return error.problems.clone(),
            Error::Invalid(findings) => findings,
            _ => {
                let hint = error.hint().map(Cow::into_owned);
                let refused = Diagnostic::error(error.code(), error.to_string());
                let refused = refused.at(FileLocation::file(self.files.cluster.as_str()));
                return vec![Diagnostic { hint, ..refused }];
            }
        };
        let wrong = findings.iter().filter(|finding| !finding.is_warning);
        let diagnostics = wrong.flat_map(|finding| {
            let location = self.location(self.origin(&finding.field));
            finding.problems().map(move |problem| {
                let message = format!("{}: {problem}", finding.field);
                let found = Diagnostic::error(error.code(), message).at(location.clone());
                Diagnostic { hint: finding.hint().map(str::to_owned), ..found }
            })
        });
        diagnostics.collect()
    }

    /// Returns the location of a field such as `nodes[0].patches`, or of the nearest key above it.
    fn origin(&self, field: &str) -> Location {
        let mut node = &self.root;
        let mut origin = node.origin;
        for part in field.split(['.', '[', ']']).filter(|part| !part.is_empty()) {
            let next = match part.parse::<usize>() {
                Ok(index) => items(Some(node)).get(index).map(|item| (item.origin, item)),
                Err(_) => entry(node, part).map(|(key, value)| (key.origin, value)),
            };
            let Some((location, value)) = next else { break };
            origin = location;
            node = value;
        }
        origin
    }

    fn find_references(&mut self) {
        let mut found = Vec::new();
        references(&self.root, None, &mut found);
        for (origin, name) in found {
            let path = self.path(&name);
            self.references.push(Reference { location: self.location(origin), path, name });
        }
    }

    fn find_patches(&mut self) {
        let root = self.root.clone();
        let take = |directory: &mut Self, holder: Option<&Node>| -> Vec<usize> {
            let entries = items(holder.and_then(|holder| holder.get("patches")));
            entries.iter().filter_map(|entry| directory.talconfig_patch(entry)).collect()
        };
        let all = take(self, Some(&root));
        let groups = ["controlPlane", "worker"].map(|key| take(self, root.get(key)));
        for node in items(root.get("nodes")) {
            let group = &groups[usize::from(!is_true(node.get("controlPlane")))];
            let own = take(self, Some(node));
            let replaces = is_true(node.get("overridePatches")) && !is_null(node.get("patches"));
            let mut patches = if replaces { Vec::new() } else { group.clone() };
            patches.extend(own);
            let own = patches.len();
            patches.extend(&all);
            let group = self.group(node);
            let documents = DOCUMENTS.iter().any(|key| {
                node.get(key).or_else(|| group.and_then(|group| group.get(key))).is_some()
            });
            self.machines.push(Machine { patches, own, documents });
        }
    }

    /// Adds an entry of a list of patches; `None` if it is not text.
    fn talconfig_patch(&mut self, entry: &Node) -> Option<usize> {
        let (text, style) = entry.scalar()?;
        let location = self.location(entry.origin);
        let patch = if let Some(name) = text.strip_prefix('@') {
            let path = self.path(name.trim());
            let content = self.file(&path, Preparation::Rendered);
            let lines = LineMap::File(self.shown(name.trim()));
            NamedPatch { location, path: Some(path), bare: false, content, lines }
        } else if !text.contains([' ', '\n']) && !text.starts_with(['[', '{']) {
            let path = self.path(text);
            let content = self.file(&path, Preparation::Raw);
            let lines = LineMap::File(self.shown(text));
            NamedPatch { location, path: Some(path), bare: true, content, lines }
        } else {
            let lines = self.lines(entry.origin, text, style);
            NamedPatch { location, path: None, bare: false, content: inline(text), lines }
        };
        self.patches.push(patch);
        Some(self.patches.len() - 1)
    }

    /// Takes a patch of a native file, which is there once for all machines that it is for.
    fn native_patch(&mut self, source: &PatchSource) -> usize {
        let location = self.location(source.origin);
        let patch = match &source.patch {
            PatchEntry::File(name) => {
                let path = self.path(name);
                let content = self.file(&path, Preparation::Decrypted);
                let reference = Reference {
                    location: location.clone(),
                    path: path.clone(),
                    name: name.clone(),
                };
                self.references.push(reference);
                let lines = LineMap::File(self.shown(name));
                NamedPatch { location, path: Some(path), bare: false, content, lines }
            }
            PatchEntry::Inline(text) => {
                let content = PatchText::Text(text.expose().clone());
                NamedPatch { location, path: None, bare: false, content, lines: LineMap::Here }
            }
        };
        self.patches.push(patch);
        self.patches.len() - 1
    }

    /// Reads a patch file in the given preparation.
    fn file(&self, path: &str, preparation: Preparation) -> PatchText {
        let Ok(bytes) = self.host.read(path) else { return PatchText::Missing };
        let raw = String::from_utf8_lossy(&bytes).into_owned();
        if raw.trim().is_empty() {
            return PatchText::Empty;
        }
        if preparation == Preparation::Raw {
            return PatchText::Text(raw);
        }
        let opened = match sops_files::decrypt_yaml(raw.clone(), path, &self.environment, self.host)
        {
            Ok(opened) => opened.text,
            Err(unopened) if unopened.is_encrypted => {
                return PatchText::Unusable(unopened.detail);
            }
            Err(_) => raw,
        };
        if preparation == Preparation::Decrypted {
            return PatchText::Text(opened);
        }
        if opened.contains("{{") {
            return PatchText::Template;
        }
        match text::substitute(&opened, &self.environment) {
            // Text that is not YAML is reported with its location by the parser of patches.
            Err(refusal) if text::parse(&opened).is_ok() => PatchText::Unusable(refusal.said),
            _ => PatchText::Text(substitute::substitute_known(&opened, &self.environment)),
        }
    }

    /// Returns the absolute path of a name, relative to the cluster's file.
    fn path(&self, name: &str) -> String {
        if name.starts_with('/') {
            return name.to_owned();
        }
        match self.files.cluster.rsplit_once('/') {
            Some((folder, _)) => self.host.absolute(&format!("{folder}/{name}")),
            None => self.host.absolute(&format!("./{name}")),
        }
    }

    /// Returns a path for people.
    fn shown(&self, name: &str) -> String {
        let name = name.trim_start_matches("./");
        match self.files.cluster.rsplit_once('/') {
            Some((folder, _)) if !name.starts_with('/') => format!("{folder}/{name}"),
            _ => name.to_owned(),
        }
    }

    /// Returns the line map of a text inside the talconfig.
    fn lines(&self, origin: Location, text: &str, style: Style) -> LineMap {
        let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let first = |text: &str, skip: usize| {
            let mut lines = text.lines().skip(skip);
            lines.find(|line| !line.trim().is_empty()).map_or(0, depth)
        };
        if style != Style::Literal {
            return LineMap::Here;
        }
        let line = usize::try_from(origin.line).unwrap_or_default();
        let indent = first(&self.text, line).saturating_sub(first(text, 0));
        LineMap::Below { line: origin.line, indent: u32::try_from(indent).unwrap_or_default() }
    }
}

impl NamedPatch {
    /// Parses the patch.
    pub(super) fn parsed(&self) -> Option<Result<Patch, talos_config::Error>> {
        match &self.content {
            PatchText::Text(text) => Some(Patch::parse(text, SourceId(1))),
            _ => None,
        }
    }

    /// Returns the location in a file of a location in the patch.
    pub(super) fn at(&self, origin: Location) -> FileLocation {
        match &self.lines {
            LineMap::File(file) => {
                FileLocation { file: file.clone(), line: origin.line, column: origin.column }
            }
            LineMap::Below { line, indent } if origin.line > 0 => FileLocation {
                file: self.location.file.clone(),
                line: line + origin.line,
                column: indent + origin.column,
            },
            LineMap::Below { .. } | LineMap::Here => self.location.clone(),
        }
    }

    /// Returns a name for messages.
    pub(super) fn name(&self) -> String {
        match &self.lines {
            LineMap::File(file) => file.clone(),
            LineMap::Below { .. } | LineMap::Here => {
                format!("the patch in line {}", self.location.line)
            }
        }
    }
}

/// Returns the entry of a key, with the key itself.
pub(super) fn entry<'n>(node: &'n Node, key: &str) -> Option<(&'n Node, &'n Node)> {
    let found = entries(node).iter().find(|(name, _)| key_text(name) == key)?;
    Some((&found.0, &found.1))
}

pub(super) fn entries(node: &Node) -> &[(Node, Node)] {
    match &node.content {
        Content::Mapping(entries) => entries,
        _ => &[],
    }
}

pub(super) fn items(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.content) {
        Some(Content::Sequence(items)) => items,
        _ => &[],
    }
}

pub(super) fn key_text(key: &Node) -> &str {
    key.scalar().map_or("", |(text, _)| text)
}

/// Returns the text of a scalar; empty if there is none.
pub(super) fn word(node: Option<&Node>) -> &str {
    node.filter(|node| !is_null(Some(node))).map_or("", key_text)
}

pub(super) fn is_true(node: Option<&Node>) -> bool {
    node.is_some_and(|node| match yaml::resolve_node(node) {
        Resolved::Bool(value) => value,
        _ => matches!(key_text(node), "y" | "Y" | "yes" | "on"),
    })
}

/// Returns true if there is no value, or a null.
pub(super) fn is_null(node: Option<&Node>) -> bool {
    node.is_none_or(|node| node.scalar().is_some() && yaml::resolve_node(node) == Resolved::Null)
}

fn inline(text: &str) -> PatchText {
    if text.trim().is_empty() {
        PatchText::Empty
    } else if text.contains("{{") {
        PatchText::Template
    } else {
        PatchText::Text(text.to_owned())
    }
}

/// Resolves merges, and substitutes the variables that are set.
fn substituted(node: &Node, environment: &Environment) -> Node {
    let content = match &node.content {
        Content::Scalar { text, style } => Content::Scalar {
            text: substitute::substitute_known(text, environment).into(),
            style: *style,
        },
        Content::Sequence(items) => {
            Content::Sequence(items.iter().map(|item| substituted(item, environment)).collect())
        }
        Content::Mapping(entries) => {
            let entries = text::merged(entries).into_iter();
            let entries = entries.map(|(key, value)| {
                (substituted(key, environment), substituted(value, environment))
            });
            Content::Mapping(entries.collect())
        }
    };
    Node { content, ..node.clone() }
}

/// Collects every reference to a file with its location. `always` follows from the key above.
fn references(node: &Node, always: Option<bool>, found: &mut Vec<(Location, String)>) {
    match &node.content {
        Content::Scalar { text, .. } => {
            let name = match (always, text.strip_prefix('@')) {
                (Some(_), Some(name)) => name.trim(),
                (Some(true), None) => text.trim(),
                _ => return,
            };
            if !name.is_empty() {
                found.push((node.origin, name.to_owned()));
            }
        }
        Content::Sequence(items) => {
            for item in items {
                references(item, always, found);
            }
        }
        Content::Mapping(entries) => {
            for (key, value) in entries {
                let inner = match (always, key_text(key)) {
                    (None, "extraManifests") => Some(true),
                    (None, "machineFiles" | "patches" | "inlineManifests") => Some(false),
                    _ => always,
                };
                references(value, inner, found);
            }
        }
    }
}

/// Keys that become documents of their own in every release.
const DOCUMENTS: [&str; 4] = ["ingressFirewall", "extensionServices", "volumes", "userVolumes"];
