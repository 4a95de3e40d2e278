//! One resource of one machine, in each of the forms in which talosctl shows it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use talos_api::proto::cosi::meta::ResourceDefinitionSpec;
use talos_api::proto::cosi::{Metadata, Resource};
use talos_api::proto::definitions::config::MachineConfigSpec as MachineConfig;
use talos_api::resource::{self, Spec as _};
use talos_config::yaml::{self, Content, Dialect, Resolved, Style, Tree};

use super::path::Template;
use super::value::Value;
use crate::timestamp::Timestamp;

/// What became of a resource that is watched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Created,
    Updated,
    Destroyed,
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Destroyed => "destroyed",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Created => "+",
            Self::Updated => " ",
            Self::Destroyed => "-",
        }
    }
}

/// A resource that was read.
pub(super) struct ResourceView<'a> {
    node: &'a str,
    event: Option<Event>,
    metadata: &'a Metadata,
    spec: Spec<'a>,
}

enum Spec<'a> {
    /// The machine's own text, and what it says.
    Yaml {
        text: &'a str,
        root: yaml::Node,
    },
    /// The text itself is what the resource holds: configuration, by machines before 1.12.
    Text(&'a str),
    Gone,
}

impl<'a> ResourceView<'a> {
    pub(super) fn new(
        node: &'a str,
        event: Option<Event>,
        resource: &'a Resource,
    ) -> Result<Self, resource::Error> {
        let metadata = resource.metadata.as_ref().ok_or(resource::Error::Missing("metadata"))?;
        let text = resource.spec.as_ref().map_or("", |spec| &spec.yaml_spec);
        let is_text = metadata.r#type == MachineConfig::TYPE && metadata.annotations.is_empty();
        let spec = match resource::decode_generic(resource) {
            _ if is_text && !text.is_empty() => Spec::Text(text),
            Ok(Some(root)) => Spec::Yaml { text, root },
            Ok(None) => Spec::Gone,
            Err(error) => return Err(error),
        };
        Ok(Self { node, event, metadata, spec })
    }

    pub(super) fn id(&self) -> &str {
        &self.metadata.id
    }

    /// The cells of its line.
    pub(super) fn cells(&self, columns: &Columns) -> Vec<String> {
        let Metadata { namespace, id, version, .. } = self.metadata;
        let mut cells = vec![self.node.to_owned()];
        cells.extend(self.event.map(|event| event.sign().to_owned()));
        cells.extend([namespace, &columns.kind, id, version].map(Clone::clone));
        let spec = self.spec_value();
        cells.extend(columns.paths.iter().map(|path| match self.spec {
            Spec::Gone => String::new(),
            _ => path.line(&spec),
        }));
        cells
    }

    /// One object, with everything that is known about it.
    pub(super) fn value(&self) -> Value {
        let map = |entries: &BTreeMap<String, String>| {
            let entries = entries.iter().map(|(key, text)| (key.clone(), Value::plain(text)));
            Value::Map(entries.collect())
        };
        let Metadata { labels, annotations, finalizers, .. } = self.metadata;
        let lines = self.lines().into_iter();
        let mut metadata: BTreeMap<String, Value> =
            lines.map(|(key, text)| (key.to_owned(), Value::plain(&text))).collect();
        if !labels.is_empty() {
            metadata.insert("labels".to_owned(), map(labels));
        }
        if !annotations.is_empty() {
            metadata.insert("annotations".to_owned(), map(annotations));
        }
        if !finalizers.is_empty() {
            let finalizers = finalizers.iter().map(|text| Value::plain(text)).collect();
            metadata.insert("finalizers".to_owned(), Value::List(finalizers));
        }
        let mut object = BTreeMap::from([
            ("node".to_owned(), Value::text(self.node)),
            ("metadata".to_owned(), Value::Map(metadata)),
            ("spec".to_owned(), self.spec_value()),
        ]);
        if let Some(event) = self.event {
            object.insert("event".to_owned(), Value::text(event.name()));
        }
        Value::Map(object)
    }

    /// One document. The spec is the machine's own text, moved to where it belongs.
    pub(super) fn yaml(&self) -> String {
        let mut output = format!("node: {}\n", self.node);
        // Writing to a string cannot fail.
        if let Some(event) = self.event {
            let _ = writeln!(output, "event: {}", event.name());
        }
        let metadata = vec![(Cow::Borrowed("metadata"), self.metadata_tree())];
        yaml::emit(&Tree::Map(metadata), Dialect::default(), &mut output);
        match &self.spec {
            Spec::Gone => output.push_str("spec: {}\n"),
            Spec::Text(text) => {
                let spec = vec![(Cow::Borrowed("spec"), Tree::Text(Cow::Borrowed(text)))];
                yaml::emit(&Tree::Map(spec), Dialect::default(), &mut output);
            }
            Spec::Yaml { text, root } => {
                let text = text.trim_end_matches('\n');
                if root.flow || matches!(root.content, Content::Scalar { .. }) {
                    let _ = writeln!(output, "spec: {text}");
                } else {
                    output.push_str("spec:\n");
                    for line in text.lines() {
                        let indent = if line.is_empty() { "" } else { "    " };
                        let _ = writeln!(output, "{indent}{line}");
                    }
                }
            }
        }
        output
    }

    fn spec_value(&self) -> Value {
        match &self.spec {
            Spec::Yaml { root, .. } => Value::from(root),
            Spec::Text(text) => Value::text(*text),
            Spec::Gone => Value::Null,
        }
    }

    /// What every resource has, in the order in which it is shown.
    fn lines(&self) -> [(&'static str, String); 8] {
        let Metadata { namespace, r#type, id, version, owner, phase, created, updated, .. } =
            self.metadata;
        [
            ("namespace", namespace.clone()),
            ("type", r#type.clone()),
            ("id", id.clone()),
            ("version", version.clone()),
            ("owner", owner.clone()),
            ("phase", phase.clone()),
            ("created", Timestamp::from(*created).to_rfc3339_seconds()),
            ("updated", Timestamp::from(*updated).to_rfc3339_seconds()),
        ]
    }

    fn metadata_tree(&self) -> Tree<'_> {
        let lines = self.lines().into_iter();
        let mut entries: Vec<(Cow<'_, str>, Tree<'_>)> =
            lines.map(|(key, text)| (Cow::Borrowed(key), plain(Cow::Owned(text)))).collect();
        let Metadata { labels, annotations, finalizers, .. } = self.metadata;
        for (name, texts) in [("labels", labels), ("annotations", annotations)] {
            let texts = texts.iter().map(|(key, text)| {
                (Cow::Borrowed(key.as_str()), plain(Cow::Borrowed(text.as_str())))
            });
            let texts: Vec<_> = texts.collect();
            if !texts.is_empty() {
                entries.push((Cow::Borrowed(name), Tree::Map(texts)));
            }
        }
        if !finalizers.is_empty() {
            let finalizers = finalizers.iter().map(|text| plain(Cow::Borrowed(text.as_str())));
            entries.push((Cow::Borrowed("finalizers"), Tree::List(finalizers.collect())));
        }
        Tree::Map(entries)
    }
}

/// Metadata stands without quotes even where it reads as something else than text.
fn plain(text: Cow<'_, str>) -> Tree<'_> {
    match yaml::resolve(&text, Style::Plain) {
        Resolved::Text => Tree::Text(text),
        _ => Tree::Verbatim(text),
    }
}

/// What the lines of a type show.
pub(super) struct Columns {
    /// The type, as people call it.
    kind: String,
    names: Vec<String>,
    paths: Vec<Template>,
}

impl Columns {
    /// Fails where the definition has a path that is none.
    pub(super) fn new(definition: &ResourceDefinitionSpec) -> Result<Self, String> {
        let columns = &definition.print_columns;
        let paths = columns.iter().map(|column| {
            let path = &column.json_path;
            Template::parse(path).map_err(|error| format!("the column {}: {error}", column.name))
        });
        Ok(Self {
            kind: definition.display_type.clone(),
            names: columns.iter().map(|column| column.name.to_uppercase()).collect(),
            paths: paths.collect::<Result<_, _>>()?,
        })
    }

    /// The heads of all columns.
    pub(super) fn head(&self, with_events: bool) -> Vec<String> {
        let events = with_events.then_some("*");
        let fixed = ["NAMESPACE", "TYPE", "ID", "VERSION"];
        let before = std::iter::once("NODE").chain(events).chain(fixed).map(str::to_owned);
        before.chain(self.names.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use talos_api::proto::cosi::Spec as ResourceSpec;

    use super::*;

    #[test]
    fn the_spec_stands_where_it_belongs() {
        for (spec, expected) in [
            (
                "a: 1\nb:\n    - |\n        x\n\n        y\n",
                "spec:\n    a: 1\n    b:\n        - |\n            x\n\n            y\n",
            ),
            ("- a\n", "spec:\n    - a\n"),
            ("{}\n", "spec: {}\n"),
            ("|\n    a\n    b\n", "spec: |\n    a\n    b\n"),
            ("", "spec: {}\n"),
        ] {
            assert_eq!(
                shown("Inventions.talos.dev", spec).0,
                head("Inventions.talos.dev") + expected
            );
        }
    }

    #[test]
    fn metadata_stands_without_quotes() {
        let kind = "Inventions.talos.dev";
        let (_, value) = shown(kind, "a: \"1\"\n");
        let expected = r#"{"event":"destroyed","metadata":{"annotations":{"note":1},"created":"1970-01-01T00:00:00Z","finalizers":["f"],"id":"one","labels":{"l":null},"namespace":"ns","owner":null,"phase":"running","type":"Inventions.talos.dev","updated":"1970-01-01T00:00:00Z","version":7},"node":"127.0.0.1","spec":{"a":"1"}}"#;
        assert_eq!(value, expected);
    }

    /// Machines before 1.12 send configuration as the text itself, of which only the first document could be read.
    #[test]
    fn configuration_of_older_machines_is_one_text() {
        let metadata = Metadata { r#type: MachineConfig::TYPE.to_owned(), ..Default::default() };
        let spec = ResourceSpec { yaml_spec: "a: 1\n---\nb: 2\n".to_owned(), ..Default::default() };
        let resource = Resource { metadata: Some(metadata), spec: Some(spec) };
        let resource = ResourceView::new("127.0.0.1", None, &resource).unwrap();
        assert!(resource.yaml().ends_with("\nspec: |\n    a: 1\n    ---\n    b: 2\n"));
        assert!(resource.value().compact().ends_with(r#""spec":"a: 1\n---\nb: 2\n"}"#));
    }

    /// As YAML and as JSON.
    fn shown(kind: &str, spec: &str) -> (String, String) {
        let texts = |key: &str, text: &str| [(key.to_owned(), text.to_owned())].into();
        let metadata = Metadata {
            namespace: "ns".to_owned(),
            r#type: kind.to_owned(),
            id: "one".to_owned(),
            version: "7".to_owned(),
            phase: "running".to_owned(),
            finalizers: vec!["f".to_owned()],
            labels: texts("l", ""),
            annotations: texts("note", "1"),
            ..Default::default()
        };
        let spec = ResourceSpec { yaml_spec: spec.to_owned(), ..Default::default() };
        let resource = Resource { metadata: Some(metadata), spec: Some(spec) };
        let shown = ResourceView::new("127.0.0.1", Some(Event::Destroyed), &resource).unwrap();
        (shown.yaml(), shown.value().compact())
    }

    fn head(kind: &str) -> String {
        format!(
            "node: 127.0.0.1\nevent: destroyed\nmetadata:\n    namespace: ns\n    type: {kind}\n    id: one\n    \
             version: 7\n    owner:\n    phase: running\n    created: 1970-01-01T00:00:00Z\n    \
             updated: 1970-01-01T00:00:00Z\n    labels:\n        l:\n    annotations:\n        note: 1\n    \
             finalizers:\n        - f\n"
        )
    }
}
