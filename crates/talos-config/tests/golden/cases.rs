//! Seeded patch cases: a configuration and patches for it, some of them broken.

use std::fmt::Write;

use talos_config::SourceId;
use talos_config::kinds;
use talos_config::schema::{Field, Format, Kind, Type};
use talos_config::yaml::{Content, Dialect, Limits, Node, parse};

/// One case; the same seed gives the same case.
pub(crate) struct Case {
    pub(crate) config: String,
    pub(crate) patches: Vec<String>,
}

impl Case {
    /// What the release knows, and nothing that came later.
    pub(crate) fn new(seed: u64, bases: &[String], dialect: Dialect) -> Self {
        let mut random = Random(seed);
        let config = if random.one_in(3) { rich(dialect) } else { random.pick(bases).clone() };
        let count = 1 + random.below(2);
        let patches = (0..count).map(|_| patch(&mut random, &config, dialect)).collect();
        Self { config, patches }
    }
}

fn patch(random: &mut Random, config: &str, dialect: Dialect) -> String {
    let mut text = match random.below(10) {
        0 | 1 if !config.contains("\n---\n") || random.one_in(8) => operations(random, config),
        2 => deletion_of_present(random, config),
        _ => strategic(random, dialect),
    };
    if random.one_in(12) {
        text = broken(random, &text);
    }
    text
}

/// Partial documents, mostly of kinds that the configuration has.
fn strategic(random: &mut Random, dialect: Dialect) -> String {
    let known: Vec<&Kind> =
        kinds::ALL.iter().filter(|kind| kind.since.is_known_to(dialect)).copied().collect();
    let count = 1 + random.below(2);
    let mut documents = Vec::new();
    for _ in 0..count {
        let kind = if random.one_in(2) { kinds::V1ALPHA1 } else { *random.pick(&known) };
        let mut entries = Vec::new();
        if kind.name == "v1alpha1" {
            if random.one_in(4) {
                entries.push(("version".to_owned(), Tree::scalar("v1alpha1")));
            }
            for field in kind.fields.iter().filter(|field| field.key != "version") {
                let section = ["machine", "cluster"].contains(&field.key);
                if if section { !random.one_in(6) } else { random.one_in(6) } {
                    entries.push((field.key.to_owned(), value(random, field, 0, dialect)));
                }
            }
        } else {
            entries.push(("apiVersion".to_owned(), Tree::scalar("v1alpha1")));
            entries.push(("kind".to_owned(), Tree::scalar(kind.name)));
            if kind.named && !random.one_in(15) {
                let name = *random.pick(&["eth0", "EPHEMERAL", "r", "docker.io", "a", "10.0.0.5"]);
                entries.push(("name".to_owned(), Tree::scalar(name)));
            }
            if random.one_in(12) {
                entries.push(("$patch".to_owned(), Tree::scalar("delete")));
            }
            let fields = flat(kind.fields, dialect);
            for field in fields.into_iter().filter(|field| field.key != "name") {
                if random.one_in(2) {
                    entries.push((field.key.to_owned(), value(random, &field, 0, dialect)));
                }
            }
        }
        if random.one_in(25) {
            entries.push(("hostnmae".to_owned(), Tree::scalar("x")));
        }
        documents.push(Tree::Map(entries).render(random));
    }
    documents.join("---\n")
}

/// The fields that a release knows, inlined ones in their place.
pub(crate) fn flat(fields: &'static [Field], dialect: Dialect) -> Vec<Field> {
    let expand = |field: &Field| match field.ty {
        Type::Object(inner) if field.key.is_empty() => flat(inner, dialect),
        _ if field.since.is_some_and(|since| !since.is_known_to(dialect)) => Vec::new(),
        Type::Choice(choice)
            if !choice.words.iter().any(|word| choice.is_known_to(word, dialect)) =>
        {
            Vec::new()
        }
        _ if dialect == Dialect::V1_12 && OF_LATER_PATCHES.contains(&field.key) => Vec::new(),
        _ => vec![*field],
    };
    fields.iter().flat_map(expand).collect()
}

fn value(random: &mut Random, field: &Field, depth: usize, dialect: Dialect) -> Tree {
    if random.one_in(60) {
        return Tree::Map(vec![("$patch".to_owned(), Tree::scalar("delete"))]);
    }
    if random.one_in(40) {
        return Tree::scalar("null");
    }
    if random.one_in(400) {
        return Tree::List(vec![Tree::scalar("wrong")]);
    }
    typed(random, field.ty, depth, dialect)
}

fn typed(random: &mut Random, ty: Type, depth: usize, dialect: Dialect) -> Tree {
    match ty {
        Type::Bool => Tree::scalar(random.pick(&["true", "false", "yes", "off", "True", "'on'"])),
        Type::Int { max, .. } => {
            let small: &[&str] = &["0", "1", "100", "0x10", "010", "0o17", "7.0", "1_0"];
            let large: &[&str] = &["1500", "65535", "443"];
            let numbers = match random.below(2) {
                _ if max < 1000 => &small[..3],
                0 => small,
                _ => large,
            };
            Tree::scalar(random.pick(numbers))
        }
        Type::Format(_) | Type::Text if random.one_in(150) => Tree::scalar(random.pick(BAD_TEXTS)),
        Type::Text => Tree::scalar(random.pick(TEXTS)),
        Type::Format(format) => Tree::scalar(random.pick(formatted(format))),
        Type::Choice(choice) => {
            let known = |word: &&&str| choice.is_known_to(word, dialect);
            let words: Vec<&str> = choice.words.iter().filter(known).copied().collect();
            let word = random.pick(&words);
            Tree::scalar(&if random.one_in(5) { word.to_uppercase() } else { (*word).to_owned() })
        }
        Type::Arguments => {
            let mut entries = Vec::new();
            for key in ["a", "feature-gates", "v"] {
                let value = match random.below(5) {
                    0 => Tree::List(vec![Tree::scalar("x"), Tree::scalar("off")]),
                    1 => Tree::scalar("\"\""),
                    2 => Tree::scalar("null"),
                    _ => Tree::scalar(random.pick(&["\"1\"", "yes", "abc", "12:30"])),
                };
                if random.one_in(2) {
                    entries.push((key.to_owned(), value));
                }
            }
            Tree::Map(entries)
        }
        Type::Any => any_object(random, depth),
        Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..) => {
            let count = random.below(3);
            let mut items: Vec<Tree> =
                (0..count).map(|_| typed(random, *element, depth + 1, dialect)).collect();
            if random.one_in(20)
                && let Some(Tree::Map(entries)) = items.first_mut()
            {
                entries.push(("$patch".to_owned(), Tree::scalar("delete")));
            }
            if random.one_in(80) {
                items.push(Tree::scalar("null"));
            }
            Tree::List(items)
        }
        Type::Map(element) => {
            let mut entries = Vec::new();
            for key in ["a", "net.core.somaxconn", "docker.io", "b10", "b9"] {
                if random.one_in(3) {
                    let value = typed(random, *element, depth + 1, dialect);
                    entries.push((key.to_owned(), value));
                }
            }
            Tree::Map(entries)
        }
        Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
            let mut entries = Vec::new();
            let fields = flat(fields, dialect);
            // A few fields of many, most fields of few, fewer the deeper.
            let rarity = (1 + fields.len() / 5 + depth / 2) as u64;
            for field in fields {
                if random.below(rarity) == 0 {
                    let value = value(random, &field, depth + 1, dialect);
                    entries.push((field.key.to_owned(), value));
                }
            }
            Tree::Map(entries)
        }
    }
}

fn any_object(random: &mut Random, depth: usize) -> Tree {
    let mut entries = Vec::new();
    for key in ["a", "m", "l", "s", "b", "kind", "namespaces"] {
        if !random.one_in(3) {
            continue;
        }
        let value = match (key, random.below(4)) {
            ("m", 1..) if depth < 4 => any_object(random, depth + 1),
            ("l" | "namespaces", 1..) => {
                Tree::List(vec![Tree::scalar("1"), Tree::scalar("kube-system")])
            }
            ("b", 1..) => Tree::scalar(random.pick(&["true", "false"])),
            ("a", 1..) => Tree::scalar(random.pick(&["0", "1", "0x1F", "12345678901"])),
            ("s" | "kind", 1..) => {
                Tree::scalar(random.pick(&["abc", "''", "x y", "PodSecurityConfiguration"]))
            }
            _ => Tree::scalar(
                random.pick(&["1.5", "null", "text", "1e3", "yes", "\"012\"", "08", "1.0"]),
            ),
        };
        entries.push((key.to_owned(), value));
    }
    Tree::Map(entries)
}

/// A statement that takes away something which is there.
fn deletion_of_present(random: &mut Random, config: &str) -> String {
    let documents = parse(config, SourceId(0), Limits::default()).expect("a configuration");
    let root = &random.pick(&documents).root;
    let mut path = Vec::new();
    let mut node = root;
    let mut selector = None;
    loop {
        match &node.content {
            Content::Mapping(entries) if !entries.is_empty() => {
                let (key, value) = random.pick(entries);
                path.push(key.scalar().expect("a key").0.to_owned());
                node = value;
            }
            Content::Sequence(items) if !items.is_empty() => {
                if let Content::Mapping(entries) = &random.pick(items).content {
                    let (key, value) = random.pick(entries);
                    let text = value.scalar().map_or("x", |(text, _)| text);
                    selector = Some((key.scalar().expect("a key").0.to_owned(), quoted(text)));
                }
                break;
            }
            _ => break,
        }
        if random.one_in(3) {
            break;
        }
    }
    let statement = ("$patch".to_owned(), Tree::scalar("delete"));
    let mut tree = match selector {
        Some((key, text)) => {
            Tree::List(vec![Tree::Map(vec![(key, Tree::Scalar(text)), statement])])
        }
        None => Tree::Map(vec![statement]),
    };
    for key in path.into_iter().rev() {
        tree = Tree::Map(vec![(key, tree)]);
    }
    let Tree::Map(mut entries) = tree else { return String::new() };
    for key in ["name", "kind", "apiVersion"] {
        if let Some((text, _)) = root.get(key).and_then(Node::scalar)
            && entries.iter().all(|(present, _)| present != key)
        {
            entries.insert(0, (key.to_owned(), Tree::Scalar(quoted(text))));
        }
    }
    Tree::Map(entries).render(random)
}

/// RFC 6902 operations on paths that are there, nearly there, or not there.
fn operations(random: &mut Random, config: &str) -> String {
    let documents = parse(config, SourceId(0), Limits::default()).expect("a configuration");
    let root = documents[0].root.clone();
    let count = 1 + random.below(3);
    let mut list = Vec::new();
    for _ in 0..count {
        let verb = *random
            .pick(&["add", "add", "remove", "replace", "replace", "copy", "move", "test", "foo"]);
        let mut entries = vec![
            ("op".to_owned(), Tree::scalar(verb)),
            ("path".to_owned(), Tree::Scalar(quoted(&pointer(random, &root)))),
        ];
        if ["copy", "move"].contains(&verb) {
            entries.push(("from".to_owned(), Tree::Scalar(quoted(&pointer(random, &root)))));
        }
        if ["add", "replace", "test"].contains(&verb) {
            let value = match random.below(4) {
                0 => any_object(random, 0),
                1 => Tree::List(vec![Tree::scalar("a"), Tree::scalar("2")]),
                _ => Tree::scalar(random.pick(OPERATION_VALUES)),
            };
            entries.push(("value".to_owned(), value));
        }
        list.push(Tree::Map(entries));
    }
    if random.one_in(2) {
        return Tree::List(list).json();
    }
    Tree::List(list).render(random)
}

fn pointer(random: &mut Random, root: &Node) -> String {
    let mut path = String::new();
    let mut node = root;
    loop {
        match &node.content {
            Content::Mapping(entries) if !entries.is_empty() => {
                let (key, value) = random.pick(entries);
                let key = key.scalar().expect("a key").0.replace('~', "~0").replace('/', "~1");
                let _ = write!(path, "/{key}");
                node = value;
            }
            Content::Sequence(items) if !items.is_empty() => {
                let index = usize::try_from(random.below(items.len() as u64)).expect("small");
                let _ = write!(path, "/{index}");
                node = &items[index];
            }
            _ => break,
        }
        if random.one_in(4) {
            break;
        }
    }
    match random.below(12) {
        0 => path + "/new",
        1 => path + "/-",
        2 => path.trim_start_matches('/').to_owned(),
        _ => path,
    }
}

/// The text with a piece lost, doubled or changed.
fn broken(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return text.to_owned();
    }
    let at = usize::try_from(random.below(characters.len() as u64)).expect("small");
    match random.below(4) {
        0 => {
            characters.remove(at);
        }
        1 => characters.insert(
            at,
            *random.pick(&['\t', ':', '-', '"', '{', ']', '#', '&', '*', ' ', '%', '@', '|']),
        ),
        2 => characters.truncate(at),
        _ => {
            let rest = characters.split_off(at);
            characters.extend(rest.iter().skip(3));
        }
    }
    characters.into_iter().collect()
}

/// Data to be written as YAML in one of many ways.
enum Tree {
    /// As it is to stand in the text.
    Scalar(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Tree {
    fn scalar(text: impl AsRef<str>) -> Self {
        Self::Scalar(text.as_ref().to_owned())
    }

    fn render(&self, random: &mut Random) -> String {
        let mut text = String::new();
        if random.one_in(10) {
            text.push_str("# a comment\n");
        }
        self.block(random, 0, &mut text);
        text
    }

    fn block(&self, random: &mut Random, column: usize, text: &mut String) {
        let pad = " ".repeat(column);
        match self {
            Self::Scalar(scalar) => {
                let _ = writeln!(text, "{pad}{scalar}");
            }
            Self::List(items) if items.is_empty() => {
                let _ = writeln!(text, "{pad}[]");
            }
            Self::Map(entries) if entries.is_empty() => {
                let _ = writeln!(text, "{pad}{{}}");
            }
            Self::List(items) => {
                for item in items {
                    match item {
                        Self::Scalar(scalar) => {
                            let _ = writeln!(text, "{pad}- {scalar}");
                        }
                        _ if random.one_in(4) => {
                            let _ = writeln!(text, "{pad}- {}", item.flow());
                        }
                        _ => {
                            let _ = writeln!(text, "{pad}-");
                            item.block(random, column + 2, text);
                        }
                    }
                }
            }
            Self::Map(entries) => {
                for (key, value) in entries {
                    match value {
                        Self::Scalar(scalar) => {
                            let comment = if random.one_in(15) { " # why" } else { "" };
                            let _ = writeln!(text, "{pad}{key}: {scalar}{comment}");
                        }
                        _ if random.one_in(5) => {
                            let _ = writeln!(text, "{pad}{key}: {}", value.flow());
                        }
                        _ => {
                            let _ = writeln!(text, "{pad}{key}:");
                            let deeper = if random.one_in(2) { 2 } else { 4 };
                            value.block(random, column + deeper, text);
                        }
                    }
                }
            }
        }
    }

    fn flow(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::flow).collect::<Vec<_>>().join(", "))
            }
            Self::Map(entries) => {
                let pairs: Vec<_> =
                    entries.iter().map(|(key, value)| format!("{key}: {}", value.flow())).collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Scalar(text) => {
                let is_json = text.starts_with('"')
                    || ["true", "false", "null"].contains(&text.as_str())
                    || text.parse::<i64>().is_ok_and(|number| number.to_string() == *text);
                if is_json { text.clone() } else { quoted(text.trim_matches('\'')) }
            }
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::json).collect::<Vec<_>>().join(","))
            }
            Self::Map(entries) => {
                let pairs: Vec<_> = entries
                    .iter()
                    .map(|(key, value)| format!("{}:{}", quoted(key), value.json()))
                    .collect();
                format!("{{{}}}", pairs.join(","))
            }
        }
    }
}

pub(crate) fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '\\' => "\\\\".to_owned(),
        '"' => "\\\"".to_owned(),
        '\n' => "\\n".to_owned(),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn formatted(format: Format) -> &'static [&'static str] {
    match format {
        Format::Duration => &["5s", "90s", "1h30m", "0s", "0", "300ms", "1.5h"],
        Format::Octal => &["0o644", "0644", "420", "0"],
        Format::Ip => &["10.0.0.1", "2001:DB8::1", "\"\"", "fe80::1%eth0"],
        Format::Cidr => &["10.0.0.0/8", "10.1.2.3/16", "2001:db8::/32", "\"\""],
        Format::IpPort => &["10.0.0.1:51820", "'[::1]:80'", "\"\""],
        Format::Mac => {
            &["00:11:22:33:44:55", "AA:BB:cc:dd:ee:ff", "\"001122334455\"", "11:22:33:44:55:66"]
        }
        Format::Url => &[
            "https://10.0.0.1:6443",
            "https://a.example/x?y=1#z",
            "tcp://a:1",
            "/x",
            "https://u:p@h:1",
            "\"\"",
            "udp://127.0.0.1:514/",
            "https://h/a%2Fb c",
            "https://siderolink.api/?jointoken=secret",
        ],
        Format::ByteSize => &["10GiB", "2GiB", "100MB", "10", "-5GiB", "\"\""],
        Format::Size => &["50GiB", "80%", "1TB", "-10%"],
        Format::DiskSize => &["10GB", "10GiB", "1.5GB", "1000", "100 MB"],
        Format::SizeMatch => &["'>= 4GB'", "<= 8GB", "== 1 TB"],
        Format::PortRange => &["80", "50000-51000", "443-443"],
        Format::RoutingTable => &["main", "\"100\"", "100", "unspec", "local"],
        Format::Base64 => &["aGVsbG8=", "\"\"", "d29ybGQ="],
        Format::Word => &["restricted", "host", "x"],
        Format::Manifest => {
            &["\"apiVersion: v1\\nkind: Namespace\\n\"", "\"\\n\\tx: y\\n\"", "abc"]
        }
        Format::Expression => &[
            "system_disk",
            "disk.size > 10u * GiB && !disk.rotational",
            "\"\"",
            "'link.driver == \"e1000\"'",
        ],
    }
}

const TEXTS: &[&str] = &[
    "abc",
    "eth0",
    "yes",
    "'off'",
    "12:30",
    "1.2.3.4",
    "0x10",
    "1e3",
    "true",
    "null",
    "\"\"",
    "'it''s'",
    "\"a\\nb\\n\"",
    "\"tab\\there\"",
    "foo: bar",
    "{a}",
    "\"# no comment\"",
    "ghcr.io/a/b:v1.2.3",
    "10.5.0.0/16",
    "\"2001-01-01\"",
    "é",
    "\"\\U0001F600\"",
    "a  b",
    "\"line one\\nline two\"",
    "-x",
    "'- x'",
    "\"trailing \"",
    "!foo bar",
    "100m",
    "\"null\"",
];

/// Texts that few fields take.
const BAD_TEXTS: &[&str] = &[
    "foo: bar",
    "2001-01-01",
    "1.2.3",
    "10.0.0.0",
    "5",
    "1e3",
    "110%",
    "\"80\"",
    "254",
    "{a: b}",
    "[a]",
    "-",
];

const OPERATION_VALUES: &[&str] = &[
    "abc",
    "\"yes\"",
    "true",
    "5",
    "\"5\"",
    "null",
    "\"12:30\"",
    "\"a\\nb\"",
    "\"\"",
    "\"a long text with many words that goes on and on until it is longer than eighty characters, so that it folds somewhere\"",
    "\"it's: a 'quoted' text that is long enough to be folded as well, since it has more than eighty characters in it\"",
    "\"tabs\\tand a long text with many words that goes on and on until it is longer than eighty characters in all\"",
];

/// Deterministic randomness (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub(crate) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    /// Where in a list of this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("small")
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = self.index(items.len());
        &items[index]
    }
}

/// Keys that came with a later patch release of 1.12 than the one that is the peer.
pub(crate) const OF_LATER_PATCHES: [&str; 2] =
    ["strictCgroupClassOrdering", "excludeAdvertisedNetworks"];

/// A configuration with something of everything that patches treat differently, as far as a release knows it.
pub(crate) fn rich(dialect: Dialect) -> String {
    let known = |document: &&str| {
        let kind = document.lines().find_map(|line| line.strip_prefix("kind: "));
        let kind = kind.map(|kind| kinds::find(kind).expect("a kind"));
        kind.is_none_or(|kind| kind.since.is_known_to(dialect))
    };
    RICH.split("---\n").filter(known).collect::<Vec<_>>().join("---\n")
}

const RICH: &str = r#"version: v1alpha1
machine:
    type: worker
    token: tok
    certSANs:
        - a
        - b
    kubelet:
        extraArgs:
            a: "1"
            v: "2"
        extraConfig:
            a: 1
            l:
                - 1
            m:
                k: v
            s: str
    network:
        hostname: h
        interfaces:
            - interface: eth0
              vlans:
                - routes: []
                  dhcp: true
                  vlanId: 100
              dhcp: true
            - interface: eth1
              mtu: 1500
            - deviceSelector:
                driver: e1000
              dhcp: true
    files:
        - content: c
          permissions: 0o644
          path: /p
          op: create
    sysctls:
        a: "1"
        b: "2"
    registries:
        mirrors:
            docker.io:
                endpoints:
                    - https://a.example
    logging:
        destinations:
            - endpoint: tcp://a:1
              format: json_lines
cluster:
    controlPlane:
        endpoint: https://h:6443/
    apiServer:
        admissionControl:
            - name: PodSecurity
              configuration:
                a: 1
        auditPolicy:
            kind: Policy
    inlineManifests:
        - name: m
          contents: x
    network:
        podSubnets:
            - 10.244.0.0/16
        serviceSubnets:
            - 10.96.0.0/12
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: stable
---
apiVersion: v1alpha1
kind: LinkConfig
name: eth0
up: true
mtu: 1400
addresses:
    - address: 10.0.0.1/24
    - address: 10.0.0.2/24
      routePriority: 5
routes:
    - destination: 10.0.0.0/8
      gateway: 10.0.0.254
      table: "100"
    - gateway: 10.0.0.253
      metric: 5
---
apiVersion: v1alpha1
kind: VolumeConfig
name: EPHEMERAL
provisioning:
    diskSelector:
        match: system_disk
    minSize: 2GiB
    maxSize: 50%
encryption:
    provider: luks2
    keys:
        - slot: 0
          static:
            passphrase: secret
---
apiVersion: v1alpha1
kind: NetworkRuleConfig
name: r
portSelector:
    ports:
        - 80
    protocol: tcp
ingress:
    - subnet: 10.0.0.0/8
      except: 10.1.0.0/16
---
apiVersion: v1alpha1
kind: RegistryMirrorConfig
name: docker.io
endpoints:
    - url: https://a.example
    - url: https://b.example/v2
---
apiVersion: v1alpha1
kind: ResolverConfig
nameservers:
    - address: 1.1.1.1
searchDomains:
    domains:
        - a.com
---
apiVersion: v1alpha1
kind: KubeAPIServerConfig
image: registry.k8s.io/kube-apiserver:v1.36.0
extraArgs:
    a: b
"#;
