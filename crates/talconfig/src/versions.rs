//! The releases of Talos, with the system extensions and overlays that each has.
//!
//! The list is the one that talhelper 3.1.15 was built with. Another one can be given instead, in the same
//! form, so that a new release needs no new build.

use std::sync::OnceLock;

use serde_json::Value;

/// What is taken when a talconfig names no release.
pub const LATEST: &str = "v1.13.7";

/// Releases and what they have.
#[derive(Debug)]
pub struct Versions(Value);

impl Versions {
    /// The list that was built in.
    pub fn built_in() -> &'static Self {
        static LIST: OnceLock<Versions> = OnceLock::new();
        LIST.get_or_init(|| Self::parse(include_str!("versions.json")).unwrap_or(Self(Value::Null)))
    }

    /// Reads a list; nothing when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let list: Value = serde_json::from_str(text).ok()?;
        list.get("versions")?.as_array()?;
        Some(Self(list))
    }

    /// Whether a release is known.
    pub fn contains(&self, version: &str) -> bool {
        self.release(version).is_some()
    }

    /// Whether a release has a system extension.
    pub fn has_extension(&self, version: &str, extension: &str) -> bool {
        self.members(version, 1, "extensionSets", "extensions")
            .any(|known| known.as_str() == Some(extension))
    }

    /// Whether a release has an overlay.
    pub fn has_overlay(&self, version: &str, name: &str, image: &str) -> bool {
        let mut overlays = self.members(version, 2, "overlaySets", "overlays");
        overlays.find(|known| known[0] == name).is_some_and(|known| known[1] == image)
    }

    fn release(&self, version: &str) -> Option<&Value> {
        self.0["versions"].as_array()?.iter().find(|release| release[0] == version)
    }

    fn members(
        &self,
        version: &str,
        column: usize,
        sets: &str,
        names: &str,
    ) -> impl Iterator<Item = &Value> {
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let set = self.release(version).and_then(|release| number(&release[column]));
        let set = set.and_then(|set| self.0[sets][set].as_array());
        set.into_iter().flatten().filter_map(move |index| self.0[names].get(number(index)?))
    }
}
