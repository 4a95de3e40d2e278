//! The releases of Talos, with the system extensions and overlays of each.
//!
//! The built-in list is that of talhelper 3.1.15. An answer of an image factory takes precedence
//! over it, so that a new Talos release does not need a new build.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Value, json};

/// The release of a talconfig that names none.
pub const LATEST: &str = "v1.13.7";

/// Returns the Git tag of a release: with a `v`.
pub fn tag(version: &str) -> String {
    if version.starts_with('v') { version.to_owned() } else { format!("v{version}") }
}

/// Releases and what they have.
#[derive(Clone, Debug)]
pub struct ReleaseCatalog {
    built_in: BuiltIn<'static>,
    /// Answers of an image factory.
    refreshed: BTreeMap<String, ReleaseContents>,
}

/// The extensions and overlays of a release.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReleaseContents {
    /// The names of its system extensions.
    pub extensions: Vec<String>,
    /// The names of its overlays, each with its image.
    pub overlays: Vec<(String, String)>,
}

impl ReleaseCatalog {
    /// Returns the built-in list.
    pub fn built_in() -> &'static Self {
        static LIST: OnceLock<ReleaseCatalog> = OnceLock::new();
        LIST.get_or_init(|| Self {
            built_in: serde_json::from_str(include_str!("release_catalog.json"))
                .unwrap_or_default(),
            refreshed: BTreeMap::new(),
        })
    }

    /// Returns the built-in list with the output of [`ReleaseCatalog::refreshed`]; `None` if that
    /// is invalid.
    pub fn with_refreshed(text: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(text).ok()?;
        let mut catalog = Self::built_in().clone();
        for (version, release) in json.get("releases")?.as_object()? {
            let extensions = release["extensions"].as_array()?.iter();
            let overlays = release["overlays"].as_array()?.iter();
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let overlay = |pair: &Value| Some((text(&pair[0])?, text(&pair[1])?));
            catalog.add(
                version,
                ReleaseContents {
                    extensions: extensions.map(text).collect::<Option<_>>()?,
                    overlays: overlays.map(overlay).collect::<Option<_>>()?,
                },
            );
        }
        Some(catalog)
    }

    /// Adds or replaces a release.
    pub fn add(&mut self, version: &str, release: ReleaseContents) {
        self.refreshed.insert(version.to_owned(), release);
    }

    /// Returns the refreshed releases as text, for [`ReleaseCatalog::with_refreshed`].
    pub fn refreshed(&self) -> String {
        let release = |release: &ReleaseContents| json!({ "extensions": release.extensions, "overlays": release.overlays });
        let releases: serde_json::Map<String, Value> = self
            .refreshed
            .iter()
            .map(|(version, of_version)| (version.clone(), release(of_version)))
            .collect();
        format!("{:#}\n", json!({ "releases": releases }))
    }

    /// Returns true if the release is known.
    pub fn contains(&self, version: &str) -> bool {
        self.refreshed.contains_key(version) || self.release(version).is_some()
    }

    /// Returns the known releases: those that are built in, then those that were added.
    pub fn releases(&self) -> impl Iterator<Item = &str> {
        let built_in = self.built_in.versions.iter().map(|(version, ..)| *version);
        let added = self.refreshed.keys().map(String::as_str);
        built_in.chain(added.filter(|version| self.release(version).is_none()))
    }

    /// Returns the system extensions of a release; `None` if it is unknown.
    pub fn extensions(&self, version: &str) -> Option<Vec<String>> {
        if let Some(release) = self.refreshed.get(version) {
            return Some(release.extensions.clone());
        }
        let BuiltIn { extensions, extension_sets, .. } = &self.built_in;
        let (_, set, _) = self.release(version)?;
        let set = extension_sets.get(*set)?.iter();
        Some(
            set.filter_map(|index| extensions.get(*index)).map(|name| (*name).to_owned()).collect(),
        )
    }

    /// Returns true if a release has a system extension.
    pub fn has_extension(&self, version: &str, extension: &str) -> bool {
        self.extensions(version).is_some_and(|known| known.iter().any(|known| known == extension))
    }

    /// Returns true if a release has an overlay.
    pub fn has_overlay(&self, version: &str, name: &str, image: &str) -> bool {
        if let Some(release) = self.refreshed.get(version) {
            return release.overlays.iter().any(|known| known.0 == name && known.1 == image);
        }
        let BuiltIn { overlays, overlay_sets, .. } = &self.built_in;
        let set = self.release(version).and_then(|(_, _, set)| overlay_sets.get(*set));
        let mut set = set.into_iter().flatten().filter_map(|index| overlays.get(*index));
        set.find(|known| known.0 == name).is_some_and(|known| known.1 == image)
    }

    fn release(&self, version: &str) -> Option<&(&'static str, usize, usize)> {
        self.built_in.versions.iter().find(|(known, ..)| *known == version)
    }
}

/// The list that is built in. Most releases have the same extensions and overlays as others, so that these are sets,
/// which releases refer to by their numbers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BuiltIn<'a> {
    #[serde(borrow)]
    extensions: Vec<&'a str>,
    overlays: Vec<(&'a str, &'a str)>,
    extension_sets: Vec<Vec<usize>>,
    overlay_sets: Vec<Vec<usize>>,
    /// Each with the numbers of its extensions and its overlays.
    versions: Vec<(&'a str, usize, usize)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extensions_of_the_guide_are_known() {
        for name in ["qemu-guest-agent", "iscsi-tools", "intel-ucode", "amd-ucode"] {
            assert!(
                ReleaseCatalog::built_in().has_extension("v1.12.0", &format!("siderolabs/{name}"))
            );
        }
        assert!(!ReleaseCatalog::built_in().has_extension("v1.12.0", "siderolabs/qemu"));
        assert_eq!(ReleaseCatalog::built_in().extensions("v9.9.9"), None);
    }

    #[test]
    fn what_was_asked_for_later_stands_before_what_was_built_in() {
        let mut catalog = ReleaseCatalog::built_in().clone();
        let release = ReleaseContents {
            extensions: vec!["siderolabs/new".to_owned()],
            overlays: vec![("board".to_owned(), "siderolabs/sbc-board".to_owned())],
        };
        catalog.add("v1.12.0", release.clone());
        catalog.add("v9.9.9", release);
        let catalog = ReleaseCatalog::with_refreshed(&catalog.refreshed()).expect("a list");
        for version in ["v1.12.0", "v9.9.9"] {
            assert!(catalog.contains(version));
            assert!(catalog.has_extension(version, "siderolabs/new"));
            assert!(!catalog.has_extension(version, "siderolabs/iscsi-tools"));
            assert!(catalog.has_overlay(version, "board", "siderolabs/sbc-board"));
            assert!(!catalog.has_overlay(version, "board", "siderolabs/other"));
        }
        assert!(catalog.has_extension("v1.12.1", "siderolabs/iscsi-tools"));
        for wrong in ["", "[]", "{\"releases\": {\"v1.0.0\": {}}}"] {
            assert!(ReleaseCatalog::with_refreshed(wrong).is_none(), "{wrong}");
        }
    }
}
