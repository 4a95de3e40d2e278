//! Kubernetes' side of a client's configuration: kubeconfigs, merged as talosctl merges them.
//!
//! Always holds: what a merge does not replace stays, whether it is known here or not; comments do not. Entries are
//! compared by what they say, not by how it is written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::error::Error;
use crate::yaml::{self, CORE_TAG, Content, Limits, Node, Style, Tree, emit_folded};
use crate::{Secret, SourceId};

/// Clusters, users and contexts. It holds keys, so it has no `Debug`.
#[derive(Clone)]
pub struct Kubeconfig(Fields);

type Fields = Vec<(Cow<'static, str>, Tree<'static>)>;

/// The lists of a kubeconfig.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// The address of an API server.
    Cluster,
    /// The credentials of a user.
    User,
    /// A user at a cluster.
    Context,
}

/// The decision about a new entry whose name is taken by one that says something else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// It takes the place of the old one.
    Overwrite,
    /// It gets a number behind its name.
    Rename,
}

/// An entry that has another name after a merge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Renamed {
    /// The list that it is in.
    pub part: Part,
    /// Its name before.
    pub from: String,
    /// Its name now.
    pub to: String,
}

impl Kubeconfig {
    /// Reads a kubeconfig. An empty text is one without entries.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Error> {
        let documents = yaml::parse(text, source, Limits::default())?;
        if let Some(second) = documents.get(1) {
            return Err(Error::document(second.origin, "a kubeconfig is one document"));
        }
        let Some(document) = documents.first() else { return Ok(Self(Vec::new())) };
        for part in [Part::Cluster, Part::User, Part::Context] {
            check(&document.root, part)?;
        }
        match tree(&document.root)? {
            Tree::Map(fields) => Ok(Self(fields)),
            Tree::Verbatim(null) if null == "null" => Ok(Self(Vec::new())),
            _ => Err(Error::document(document.root.origin, "a kubeconfig is a mapping")),
        }
    }

    /// Returns a user whose credentials a program on this computer would make.
    pub fn user_with_program(&self) -> Option<&str> {
        let runs = |user: &Tree<'_>| match user {
            Tree::Map(fields) => {
                fields.iter().any(|(key, _)| matches!(key.as_ref(), "exec" | "auth-provider"))
            }
            _ => false,
        };
        self.entries(Part::User).find(|(_, user)| user.is_some_and(runs)).map(|(name, _)| name)
    }

    /// Adds the entries of another kubeconfig and makes its context the current one, under the name `context` if one
    /// is given. `decide` is asked about names that are taken. Names that hold a renamed one are changed with it.
    pub fn merge<E>(
        &mut self,
        added: &Self,
        context: Option<&str>,
        mut decide: impl FnMut(Part, &str) -> Result<Decision, E>,
    ) -> Result<Vec<Renamed>, E> {
        let mut place = |part, name: &str, wanted: String, value: Option<&Tree<'_>>| {
            let taken = self
                .entry(part, &wanted)
                .is_some_and(|entry| !same(get(entry, part.inner()), value));
            if taken && decide(part, name)? == Decision::Rename {
                return Ok(self.free(part, &wanted));
            }
            Ok(wanted)
        };
        let mut clusters = BTreeMap::new();
        for (name, value) in added.entries(Part::Cluster) {
            clusters.insert(name, place(Part::Cluster, name, name.to_owned(), value)?);
        }
        let mut users = BTreeMap::new();
        for (name, value) in added.entries(Part::User) {
            users.insert(name, place(Part::User, name, rename(name, &clusters), value)?);
        }
        let mut contexts = BTreeMap::new();
        for (name, value) in added.entries(Part::Context) {
            let wanted = context.map_or_else(|| rename(name, &users), str::to_owned);
            contexts.insert(name, place(Part::Context, name, wanted, value)?);
        }

        let mut renamed = Vec::new();
        let names = [(Part::Cluster, &clusters), (Part::User, &users), (Part::Context, &contexts)];
        for (part, names) in names {
            for (name, value) in added.entries(part) {
                let Some(to) = names.get(name) else { continue };
                let mut value = value.cloned();
                if let (Part::Context, Some(Tree::Map(fields))) = (part, &mut value) {
                    for (key, value) in fields {
                        let names = match key.as_ref() {
                            "cluster" => &clusters,
                            "user" => &users,
                            _ => continue,
                        };
                        if let Some(to) = scalar(value).and_then(|from| names.get(from)) {
                            *value = Tree::Text(to.clone().into());
                        }
                    }
                }
                self.put(part, to, value);
                if to != name {
                    renamed.push(Renamed { part, from: name.to_owned(), to: to.clone() });
                }
            }
        }
        if let Some(current) = contexts.into_values().next_back() {
            set(&mut self.0, "current-context", Tree::Text(current.into()));
        }
        for (key, value) in [("apiVersion", "v1"), ("kind", "Config")] {
            if find(&self.0, key).is_none() {
                set(&mut self.0, key, Tree::Text(value.into()));
            }
        }
        Ok(renamed)
    }

    /// Returns the text, in the style of kubectl.
    pub fn encode(&self) -> Secret<String> {
        let mut text = String::new();
        emit_folded(&Tree::Map(self.0.clone()), &mut text);
        Secret::new(text)
    }

    fn entry(&self, part: Part, name: &str) -> Option<&Tree<'static>> {
        self.list(part).iter().find(|entry| get(entry, "name").and_then(scalar) == Some(name))
    }

    /// Names, and what stands under them.
    fn entries(&self, part: Part) -> impl Iterator<Item = (&str, Option<&Tree<'static>>)> {
        let named = move |entry| Some((scalar(get(entry, "name")?)?, get(entry, part.inner())));
        self.list(part).iter().filter_map(named)
    }

    fn list(&self, part: Part) -> &[Tree<'static>] {
        match find(&self.0, part.list()) {
            Some(Tree::List(entries)) => entries,
            _ => &[],
        }
    }

    /// Returns the name, with the first number behind it that makes it free.
    fn free(&self, part: Part, name: &str) -> String {
        let numbered = (1_u32..).map(|number| format!("{name}-{number}"));
        let mut free = numbered.filter(|numbered| self.entry(part, numbered).is_none());
        free.next().unwrap_or_else(|| name.to_owned())
    }

    fn put(&mut self, part: Part, name: &str, value: Option<Tree<'static>>) {
        if !matches!(find(&self.0, part.list()), Some(Tree::List(_))) {
            set(&mut self.0, part.list(), Tree::List(Vec::new()));
        }
        let list = self.0.iter_mut().find(|(key, _)| key == part.list());
        let Some((_, Tree::List(entries))) = list else { return };
        let named = |entry: &&mut Tree<'static>| get(entry, "name").and_then(scalar) == Some(name);
        let value = value.unwrap_or(Tree::Map(Vec::new()));
        if let Some(Tree::Map(fields)) = entries.iter_mut().find(named) {
            if !same(find(fields, part.inner()), Some(&value)) {
                set(fields, part.inner(), value);
            }
            return;
        }
        let mut fields = vec![("name".into(), Tree::Text(name.to_owned().into()))];
        set(&mut fields, part.inner(), value);
        entries.push(Tree::Map(fields));
    }
}

impl Part {
    fn list(self) -> &'static str {
        match self {
            Self::Cluster => "clusters",
            Self::User => "users",
            Self::Context => "contexts",
        }
    }

    fn inner(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::User => "user",
            Self::Context => "context",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.inner())
    }
}

/// Checks that a list that is there has named entries.
fn check(root: &Node, part: Part) -> Result<(), Error> {
    let Some(list) = root.get(part.list()) else { return Ok(()) };
    let entries = match &list.content {
        Content::Sequence(entries) => entries,
        Content::Scalar { text, style: Style::Plain } if matches!(&**text, "" | "~" | "null") => {
            return Ok(());
        }
        _ => return Err(Error::document(list.origin, format!("{} is a list", part.list()))),
    };
    for entry in entries {
        if entry.get("name").and_then(Node::scalar).is_none() {
            let message = format!("a {part} has a name");
            return Err(Error::document(entry.origin, message));
        }
    }
    Ok(())
}

/// Returns the node as it is written again. What stands there without quotes stays so: kubectl decides what it means.
fn tree(node: &Node) -> Result<Tree<'static>, Error> {
    let tag = node.tag().unwrap_or_default();
    let is_understood = match node.content {
        Content::Scalar { .. } => ["", "!", TEXT_TAG].contains(&tag),
        Content::Sequence(_) | Content::Mapping(_) => tag.is_empty() || tag.starts_with(CORE_TAG),
    };
    if !is_understood {
        return Err(Error::document(node.origin, format!("the tag {tag} is not understood")));
    }
    Ok(match &node.content {
        Content::Scalar { text, style: Style::Plain } if tag.is_empty() && text.is_empty() => {
            Tree::Verbatim("null".into())
        }
        Content::Scalar { text, style: Style::Plain } if tag.is_empty() && !text.contains('\n') => {
            Tree::Verbatim(text.to_string().into())
        }
        Content::Scalar { text, .. } => Tree::Text(text.to_string().into()),
        Content::Sequence(items) => Tree::List(items.iter().map(tree).collect::<Result<_, _>>()?),
        Content::Mapping(entries) => {
            let mut fields = Vec::new();
            for (key, value) in entries {
                let no_text = || Error::document(key.origin, "a key is not text");
                let (text, _) = key.scalar().ok_or_else(no_text)?;
                fields.push((text.to_owned().into(), tree(value)?));
            }
            Tree::Map(fields)
        }
    })
}

/// Returns a name after others that it may hold were renamed.
fn rename(name: &str, renamed: &BTreeMap<&str, String>) -> String {
    renamed.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to))
}

fn get<'a>(tree: &'a Tree<'static>, key: &str) -> Option<&'a Tree<'static>> {
    match tree {
        Tree::Map(fields) => find(fields, key),
        _ => None,
    }
}

fn find<'a>(fields: &'a Fields, key: &str) -> Option<&'a Tree<'static>> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Sets a key; a new one is put where it belongs in a sorted list, which is what kubectl writes.
fn set(fields: &mut Fields, key: &'static str, value: Tree<'static>) {
    if let Some((_, before)) = fields.iter_mut().find(|(name, _)| name == key) {
        *before = value;
        return;
    }
    let place = fields.iter().position(|(name, _)| name.as_ref() > key).unwrap_or(fields.len());
    fields.insert(place, (key.into(), value));
}

fn scalar<'a>(tree: &'a Tree<'_>) -> Option<&'a str> {
    match tree {
        Tree::Text(text) | Tree::Argument(text) | Tree::Verbatim(text) => Some(text),
        Tree::List(_) | Tree::Map(_) => None,
    }
}

/// Returns whether two values say the same. The order of keys says nothing.
fn same(one: Option<&Tree<'_>>, other: Option<&Tree<'_>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(Tree::Map(one)), Some(Tree::Map(other))) => {
            let value =
                |key: &str| other.iter().find(|(name, _)| name == key).map(|(_, value)| value);
            one.len() == other.len() && one.iter().all(|(key, one)| same(Some(one), value(key)))
        }
        (Some(Tree::List(one)), Some(Tree::List(other))) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| same(Some(one), Some(other)))
        }
        (Some(one), Some(other)) => scalar(one).is_some() && scalar(one) == scalar(other),
        _ => false,
    }
}

const TEXT_TAG: &str = "tag:yaml.org,2002:str";

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn kubeconfig_whose_user_runs_a_program_is_recognised() {
        assert_eq!(
            parse(&kubeconfig("home", "https://127.0.0.1:6443", "a")).user_with_program(),
            None
        );
        for user in ["{exec: {command: /bin/sh}}", "{auth-provider: {name: x}}"] {
            let text = format!(
                "users:\n  - {{name: other, user: {{}}}}\n  - {{name: bad, user: {user}}}\n"
            );
            assert_eq!(parse(&text).user_with_program(), Some("bad"));
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_so_does_what_holds_it() {
        let mut config = parse(&kubeconfig("home", "https://127.0.0.1:6443", "a"));
        let renamed = merge(&mut config, &kubeconfig("home", "https://127.0.0.2:6443", "b"));
        assert_eq!(
            renamed,
            [
                "cluster home home-1",
                "user admin@home admin@home-1",
                "context admin@home admin@home-1"
            ]
        );
        let text = config.encode().into_exposed();
        for expected in [
            "    cluster: home-1\n    user: admin@home-1\n  name: admin@home-1\n",
            "current-context: admin@home-1\n",
            "    server: https://127.0.0.1:6443\n",
            "    server: https://127.0.0.2:6443\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn new_credentials_of_the_same_cluster_are_another_user() {
        let mut config = parse(&kubeconfig("home", "https://127.0.0.1:6443", "a"));
        let again = kubeconfig("home", "https://127.0.0.1:6443", "b");
        assert_eq!(
            merge(&mut config, &again),
            ["user admin@home admin@home-1", "context admin@home admin@home-1"]
        );
        let before = config.encode().into_exposed();
        let unchanged =
            config.merge(&parse(&before), None, |_, _| Ok::<_, Infallible>(Decision::Rename));
        assert_eq!(unchanged.unwrap(), []);
        assert_eq!(config.encode().into_exposed(), before);
    }

    #[test]
    fn what_is_not_known_stays() {
        let mine = "# mine\nclusters:\n- name: other\n  cluster: {server: 'https://127.0.0.9', insecure-skip-tls-verify: yes}\n  \
                    extra: 012\nusers: null\npreferences:\n  colors: true\n";
        let mut config = parse(mine);
        assert!(merge(&mut config, &kubeconfig("home", "https://127.0.0.1:6443", "a")).is_empty());
        let text = config.encode().into_exposed();
        for expected in
            ["insecure-skip-tls-verify: yes\n", "extra: 012\n", "preferences:\n  colors: true\n"]
        {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(text.contains("apiVersion: v1\n") && text.contains("kind: Config\n"), "{text}");
    }

    #[test]
    fn overwriting_replaces_what_stands_under_the_name() {
        let mut config = parse(&kubeconfig("home", "https://127.0.0.1:6443", "a"));
        let other = parse(&kubeconfig("home", "https://127.0.0.2:6443", "b"));
        let overwrite = |_, _: &str| Ok::<_, Infallible>(Decision::Overwrite);
        assert!(config.merge(&other, Some("mine"), overwrite).unwrap().len() == 1);
        let text = config.encode().into_exposed();
        assert!(!text.contains("127.0.0.1") && text.contains("current-context: mine"), "{text}");
        assert!(text.contains("name: admin@home\n"), "{text}");
    }

    #[test]
    fn what_is_no_kubeconfig_is_refused() {
        for text in
            ["[]", "a", "clusters: 1", "users: [1]", "contexts: [{}]", "a: 1\n---\nb: 1", "a: !b c"]
        {
            assert!(Kubeconfig::parse(text, SourceId(1)).is_err(), "{text}");
        }
        assert!(Kubeconfig::parse("# nothing", SourceId(1)).is_ok());
    }

    fn merge(config: &mut Kubeconfig, added: &str) -> Vec<String> {
        let rename = |_, _: &str| Ok::<_, Infallible>(Decision::Rename);
        let renamed = config.merge(&parse(added), None, rename).unwrap();
        let told = |Renamed { part, from, to }: &Renamed| format!("{part} {from} {to}");
        renamed.iter().map(told).collect()
    }

    fn parse(text: &str) -> Kubeconfig {
        Kubeconfig::parse(text, SourceId(1)).ok().unwrap()
    }

    fn kubeconfig(cluster: &str, server: &str, key: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: {cluster}\n  cluster:\n    server: {server}\nusers:\n\
             - name: admin@{cluster}\n  user:\n    client-key-data: {key}\ncontexts:\n- context:\n    cluster: {cluster}\n    \
             user: admin@{cluster}\n  name: admin@{cluster}\ncurrent-context: admin@{cluster}\n"
        )
    }
}
