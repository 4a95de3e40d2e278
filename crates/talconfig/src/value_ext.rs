//! Access to keys of values that may be missing.

use std::collections::BTreeMap;

use talos_config::{Data, Value};

/// Access to the keys of an object. A missing key is empty.
pub(crate) trait ValueExt {
    fn text_at(&self, key: &str) -> &str;
    fn flag_at(&self, key: &str) -> bool;
    fn number_at(&self, key: &str) -> i128;
    fn items_at(&self, key: &str) -> &[Value];
    fn texts_at(&self, key: &str) -> Vec<String>;
    fn map_at(&self, key: &str) -> BTreeMap<&str, &str>;
    fn has(&self, key: &str) -> bool;
}

impl ValueExt for Value {
    fn text_at(&self, key: &str) -> &str {
        self.get(key).and_then(Self::as_text).unwrap_or_default()
    }

    fn flag_at(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| matches!(value.data, Data::Bool(true)))
    }

    fn number_at(&self, key: &str) -> i128 {
        match self.get(key).map(|value| &value.data) {
            Some(Data::Int(number)) => *number,
            _ => 0,
        }
    }

    fn items_at(&self, key: &str) -> &[Value] {
        self.get(key).and_then(Self::as_list).unwrap_or_default()
    }

    fn texts_at(&self, key: &str) -> Vec<String> {
        self.items_at(key).iter().filter_map(Self::as_text).map(str::to_owned).collect()
    }

    fn map_at(&self, key: &str) -> BTreeMap<&str, &str> {
        let entries = self.get(key).and_then(Self::as_map).into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), value.as_text().unwrap_or_default())).collect()
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}
