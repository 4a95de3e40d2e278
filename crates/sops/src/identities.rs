//! Private keys, and where they came from.

use crate::age::{self, Identity};
use crate::error::KeySourceTried;

/// The private keys that may open a file.
///
/// Reading variables and files is the caller's; each source is added with a name, so that an error can
/// say what was looked at and why it was of no use. A source that is broken does not stop the others. It
/// has no `Debug`, and nothing of a key is ever repeated.
#[derive(Clone, Default)]
pub struct Identities {
    keys: Vec<Identity>,
    sources_tried: Vec<KeySourceTried>,
}

impl Identities {
    /// Adds the text of a key file (`keys.txt`, the file of `SOPS_AGE_KEY_FILE`, the output of
    /// `SOPS_AGE_KEY_CMD`): one key a line; empty lines and lines that begin with `#` are ignored.
    /// One invalid line discards the whole source, as in `sops`.
    pub fn add(&mut self, source: &str, text: &str) {
        self.add_words(source, text, |line| vec![line]);
    }

    /// Adds the text of a variable (`SOPS_AGE_KEY`), where one line may hold several keys.
    pub fn add_variable(&mut self, source: &str, text: &str) {
        self.add_words(source, text, |line| line.split_whitespace().collect());
    }

    /// Remembers a source that could not be read, for the error that may follow: the file is not there,
    /// the variable is not set.
    pub fn add_missing(&mut self, source: &str, finding: &str) {
        self.sources_tried
            .push(KeySourceTried { source: source.to_owned(), finding: finding.to_owned() });
    }

    /// Returns true if there is no usable key at all.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the sources that were tried, each with its finding.
    pub fn sources_tried(&self) -> &[KeySourceTried] {
        &self.sources_tried
    }

    /// Opens one age file; `Ok(None)` when no key fits.
    pub(crate) fn decrypt(&self, file: &str) -> Result<Option<Vec<u8>>, &'static str> {
        age::decrypt(file, &self.keys)
    }

    fn add_words<'a>(&mut self, source: &str, text: &'a str, words: fn(&'a str) -> Vec<&'a str>) {
        let finding = match read(text, words) {
            Ok(ParsedKeys { keys, others }) => {
                let finding = match (keys.len(), others) {
                    (0, 0) => "no key in it".to_owned(),
                    (0, _) => "only keys of kinds that the `sops` program can use".to_owned(),
                    (1, _) => "one key, which does not fit".to_owned(),
                    (count, _) => format!("{count} keys, none of which fits"),
                };
                self.keys.extend(keys);
                finding
            }
            Err(problem) => problem,
        };
        self.sources_tried.push(KeySourceTried { source: source.to_owned(), finding });
    }
}

struct ParsedKeys {
    keys: Vec<Identity>,
    /// Keys of plugins, and post-quantum ones: valid but not supported.
    others: usize,
}

fn read<'a>(text: &'a str, words: fn(&'a str) -> Vec<&'a str>) -> Result<ParsedKeys, String> {
    let mut found = ParsedKeys { keys: Vec::new(), others: 0 };
    if text.starts_with("age-encryption") || text.starts_with("-----BEGIN AGE") {
        return Err("it is encrypted with a passphrase".to_owned());
    }
    if text.starts_with("-----BEGIN") {
        return Err("it is an SSH or other key, not one of age".to_owned());
    }
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for word in words(line) {
            if word.starts_with("AGE-PLUGIN-") || word.starts_with("AGE-SECRET-KEY-PQ-1") {
                found.others += 1;
                continue;
            }
            let key = Identity::parse(word)
                .map_err(|problem| format!("line {} is not an age key: {problem}", index + 1))?;
            found.keys.push(key);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

    #[test]
    fn one_bad_line_discards_its_source_and_no_other() {
        let mut identities = Identities::default();
        identities.add("a", &format!("# comment\r\n\r\n{KEY}\r\n"));
        identities.add("b", &format!("{KEY}\ngarbage\n"));
        identities.add("c", &format!(" {KEY}\n"));
        identities.add_variable("d", &format!("  {KEY} {KEY}\n{KEY}"));
        identities.add("e", &format!("{KEY} {KEY}"));
        identities.add("f", "AGE-PLUGIN-YUBIKEY-1QQ\n");
        identities.add("g", &KEY.to_ascii_lowercase());
        identities.add("h", &KEY.replace("GFPQ4", "GFPP4"));
        identities.add_missing("i", "not set");
        assert_eq!(identities.keys.len(), 4);
        let findings: Vec<_> =
            identities.sources_tried().iter().map(|tried| tried.finding.as_str()).collect();
        assert_eq!(
            findings,
            [
                "one key, which does not fit",
                "line 2 is not an age key: its length is wrong",
                "line 1 is not an age key: its length is wrong",
                "3 keys, none of which fits",
                "line 1 is not an age key: its length is wrong",
                "only keys of kinds that the `sops` program can use",
                "line 1 is not an age key: its beginning is wrong",
                "line 1 is not an age key: its checksum is wrong; it was probably not copied as a whole",
                "not set",
            ]
        );
    }
}
