//! Texts are written as talosctl wrote them when the table was made.

#[path = "data/strings.rs"]
mod table;

use talos_config::yaml::{Dialect, Tree, emit};

#[test]
fn strings_are_written_as_talosctl_writes_them() {
    let rows = table::rows();
    assert!(rows.len() > 150, "{}", rows.len());
    for (text, written) in rows {
        let mut output = String::new();
        emit(
            &Tree::Map(vec![("k".into(), Tree::Text(text.as_str().into()))]),
            Dialect::V1_14,
            &mut output,
        );
        assert_eq!(output, format!("k: {written}\n"), "{text:?}");
    }
}
