//! A spec as the text of `ichor.yaml`.
//!
//! In: a spec, from whichever door. Out: text that reads as the same spec. What follows from other keys or is
//! the default is left out, so that a person gets the file that they would have written.
//!
//! Patches may hold secrets, and stand in the text.

use domain::Window;
use talos_config::yaml::{self, Content, Document, Node, Style, Tree};
use talos_config::{Location, Secret};

use super::{
    Backup, ClusterNetwork, ClusterSpec, Cni, ControlPlane, Machine, MachineSource, PatchEntry,
    PatchSource, Policy, Pool,
};

impl ClusterSpec {
    /// Returns the text of a native file that says the same.
    pub fn write(&self) -> Secret<String> {
        let Self {
            cluster,
            endpoint,
            talos,
            kubernetes,
            contract,
            image,
            extensions,
            network,
            provider,
            control_plane,
            pools,
            patches,
            policy,
            backup,
            releases: _,
        } = self;
        let mut keys = Keys::default();
        keys.text("ichor", "v1");
        keys.text("cluster", cluster.as_str());
        keys.text("endpoint", endpoint.to_string());
        keys.text("talos", talos.to_string());
        keys.text("kubernetes", kubernetes.to_string());
        if *contract != talos.contract() {
            keys.text("contract", contract.to_string());
        }
        if let Some(image) = image {
            keys.text("image", image.as_str());
        }
        keys.list("extensions", extensions.iter().map(|name| text(name)));
        keys.object("network", self::network(network));
        if let Some(provider) = provider {
            keys.text("provider", provider.as_str());
        }
        keys.object("controlPlane", self::control_plane(control_plane));
        keys.list("pools", pools.iter().map(pool));
        keys.list("patches", patches.iter().map(patch));
        keys.object("policy", self::policy(policy));
        if let Some(backup) = backup {
            keys.object("backup", self::backup(backup));
        }
        let mut root = Node::from(&Tree::Map(keys.0));
        quote_blanks(&mut root);
        let document = Document { origin: Location::default(), root, comments: Vec::new() };
        Secret::new(yaml::rewrite(&[document], 2, false))
    }
}

/// Puts texts in quotes that begin with a blank: the encoder would lose it, as the one of Talos does.
fn quote_blanks(node: &mut Node) {
    match &mut node.content {
        Content::Scalar { text, style } if text.starts_with(char::is_whitespace) => {
            *style = Style::Double;
        }
        Content::Scalar { .. } => {}
        Content::Sequence(items) => items.iter_mut().for_each(quote_blanks),
        Content::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| quote_blanks(value)),
    }
}

/// Keys with their values, in the order of the file. What is empty is not among them.
#[derive(Default)]
struct Keys(Vec<(std::borrow::Cow<'static, str>, Tree<'static>)>);

impl Keys {
    fn text(&mut self, key: &'static str, value: impl Into<String>) {
        self.put(key, Tree::Text(value.into().into()));
    }

    fn list(&mut self, key: &'static str, items: impl IntoIterator<Item = Tree<'static>>) {
        let items: Vec<_> = items.into_iter().collect();
        if !items.is_empty() {
            self.put(key, Tree::List(items));
        }
    }

    fn object(&mut self, key: &'static str, keys: Self) {
        if !keys.0.is_empty() {
            self.put(key, Tree::Map(keys.0));
        }
    }

    fn put(&mut self, key: &'static str, value: Tree<'static>) {
        self.0.push((key.into(), value));
    }
}

fn network(network: &ClusterNetwork) -> Keys {
    let ClusterNetwork { pods, services, domain, cni, origin: _ } = network;
    let mut keys = Keys::default();
    for (key, networks, default) in
        [("pods", pods, "10.244.0.0/16"), ("services", services, "10.96.0.0/12")]
    {
        let written: Vec<String> = networks.iter().map(ToString::to_string).collect();
        if written != [default] {
            // No network at all is another thing than the default.
            keys.put(key, Tree::List(written.iter().map(|network| text(network)).collect()));
        }
    }
    if domain != "cluster.local" {
        keys.text("domain", domain.as_str());
    }
    match cni {
        Cni::Flannel => {}
        Cni::None => keys.text("cni", "none"),
        Cni::Manifest(url) => keys.text("cni", url.as_str()),
    }
    keys
}

fn control_plane(control_plane: &ControlPlane) -> Keys {
    let ControlPlane { machines, patches, schedulable } = control_plane;
    let mut keys = Keys::default();
    keys.list("machines", machines.iter().map(machine));
    keys.list("patches", patches.iter().map(patch));
    if *schedulable {
        keys.put("schedulable", Tree::Verbatim("true".into()));
    }
    keys
}

fn pool(pool: &Pool) -> Tree<'static> {
    let Pool { name, machines, patches, origin: _ } = pool;
    let mut keys = Keys::default();
    keys.text("name", name.as_str());
    keys.list("machines", machines.iter().map(machine));
    keys.list("patches", patches.iter().map(patch));
    Tree::Map(keys.0)
}

fn machine(machine: &Machine) -> Tree<'static> {
    let Machine { name, source, fingerprints, disk, domain, patches, origin: _ } = machine;
    let mut keys = Keys::default();
    keys.text("name", name.as_str());
    match source {
        MachineSource::Address(address) => keys.text("address", address.to_string()),
        MachineSource::Class(class) => keys.text("class", class.as_str()),
    }
    keys.list("fingerprints", fingerprints.iter().map(|one| Tree::Text(one.to_string().into())));
    if !disk.is_empty() {
        keys.text("disk", disk.as_str());
    }
    if let Some(domain) = domain {
        keys.text("domain", domain.as_str());
    }
    keys.list("patches", patches.iter().map(patch));
    Tree::Map(keys.0)
}

fn patch(source: &PatchSource) -> Tree<'static> {
    let PatchSource { patch, origin: _ } = source;
    match patch {
        PatchEntry::File(path) => text(path),
        PatchEntry::Inline(inline) => {
            let inline = inline.expose();
            // A text of one line that is in no brackets would be the name of a file.
            if inline.contains('\n') || inline.starts_with(['{', '[']) {
                text(inline)
            } else {
                Tree::Text(format!("{inline}\n").into())
            }
        }
    }
}

fn policy(policy: &Policy) -> Keys {
    let Policy { workers_at_once, windows, install_within, heals_within, origins: _ } = policy;
    let default = Policy::default();
    let mut keys = Keys::default();
    if *workers_at_once != 1 {
        keys.put("workersAtOnce", Tree::Verbatim(workers_at_once.to_string().into()));
    }
    keys.list("windows", windows.iter().map(window));
    if *install_within != default.install_within {
        keys.text("installWithin", install_within.to_string());
    }
    if *heals_within != default.heals_within {
        keys.text("healsWithin", heals_within.to_string());
    }
    keys
}

fn window(window: &Window) -> Tree<'static> {
    let Window { days, from, to } = window;
    let mut keys = Keys::default();
    keys.list("days", days.iter().map(|day| Tree::Text(day.name().into())));
    keys.text("from", from.to_string());
    keys.text("to", to.to_string());
    Tree::Map(keys.0)
}

fn backup(backup: &Backup) -> Keys {
    let Backup { every, keep, to, origin: _ } = backup;
    let mut keys = Keys::default();
    keys.text("every", every.to_string());
    keys.put("keep", Tree::Verbatim(keep.to_string().into()));
    keys.text("to", to.as_str());
    keys
}

fn text(text: &str) -> Tree<'static> {
    Tree::Text(text.to_owned().into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::RngSeed;
    use talos_config::SourceId;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: testkit::cases(300),
            rng_seed: RngSeed::Fixed(testkit::seeds(1).start),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Checks a round trip, also for texts that another writer would quote in another way.
        #[test]
        fn what_is_written_reads_as_the_same(
            plain in any::<bool>(),
            talos in select(vec!["v1.12.0", "v1.13.9", "v1.14.1"]),
            contract in select(vec!["", "contract: v1.11\n", "contract: v1.12\n"]),
            network in select(vec![
                "",
                "network: {pods: [10.42.0.0/16, 'fd00:1::/56'], cni: none}\n",
                "network: {services: [10.43.0.0/16], domain: a.lan, cni: 'https://x.lan/y.yaml'}\n",
            ]),
            more in select(vec![
                "",
                "extensions: [siderolabs/zfs]\nimage: x/y:v1\n",
                "policy: {workersAtOnce: 3, healsWithin: 10m, windows: [{days: [fri], from: '22:00', to: '04:00'}]}\n",
                "backup: {every: 90m, keep: 3, to: 's3://a/b'}\n",
            ]),
            disk in "(/dev/[a-z]{1,4}|0x10|yes|1:30|null)",
            patches in prop::collection::vec(patch_text(), 0..4),
        ) {
            let patches: Vec<String> =
                patches.iter().map(|patch| serde_json::to_string(patch).expect("JSON")).collect();
            let patches = patches.join(", ");
            let schedulable = if plain { "" } else { ", schedulable: true" };
            let file = format!(
                "ichor: v1\ncluster: c\ntalos: {talos}\n{contract}{network}{more}\
                 patches: [{patches}]\n\
                 controlPlane: {{machines: [{{name: a, address: 10.0.0.1, disk: '{disk}'}}], \
                 patches: [{patches}]{schedulable}}}\n\
                 pools: [{{name: p, patches: [{patches}], machines: [{{name: b, address: 'fd00::2', \
                 domain: room-1, patches: [{patches}]}}]}}, {{name: q}}]\n"
            );
            let before = ClusterSpec::parse(&file, SourceId(1))
                .map_err(|error| TestCaseError::fail(format!("{error}\n{file}")))?;
            let written = before.write().into_exposed();
            let after = ClusterSpec::parse(&written, SourceId(1))
                .map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
            prop_assert_eq!(said(&after), said(&before), "{}", written);
        }
    }

    /// Texts of patches: files, and lines of which some look odd in YAML.
    fn patch_text() -> impl Strategy<Value = String> {
        let line = select(vec![
            "machine:",
            "  a: b",
            "",
            "   ",
            "# c",
            "- d",
            "\te",
            "é",
            "'f'",
            "\"g\": h ",
            "---",
            "x: |",
            "%",
        ]);
        let inline = prop::collection::vec(line, 2..6).prop_map(|lines| lines.join("\n"));
        prop_oneof![
            "(patches/[a-z]{1,8}\\.yaml|yes|[0-9]{1,3})",
            inline,
            "[{\\[][a-z: #'\"{}]{0,12}",
        ]
    }

    /// Returns all that a spec says, without the places where it says it.
    fn said(spec: &ClusterSpec) -> String {
        let mut text = format!("{spec:?}");
        while let Some(at) = text.find("Location {") {
            let end = text[at..].find('}').expect("the end of a place") + at + 1;
            text.replace_range(at..end, "");
        }
        let machines = spec.machines().flat_map(|(machine, _)| &machine.patches);
        let pools = spec.pools.iter().flat_map(|pool| &pool.patches);
        let all = spec.patches.iter().chain(&spec.control_plane.patches).chain(pools);
        for source in all.chain(machines) {
            if let PatchEntry::Inline(inline) = &source.patch {
                text = format!("{text}\n{:?}", inline.expose());
            }
        }
        text
    }
}
