//! The body of the fuzz target, which the tests repeat with every text in the corpus.

use crate::{
    CreationRules, Format, Identities, Recipient, Rule, Timestamp, decrypt, encrypt, is_encrypted,
};

/// Takes the text for a file of every format, for rules and for keys. What can be encrypted can be
/// decrypted again.
pub fn decode(text: &str) {
    let mut identities = Identities::default();
    identities.add("text", text);
    identities.add_variable("text", text);
    let _ = CreationRules::parse(text).and_then(|rules| rules.rule_for(text));
    let _ = Recipient::parse_list(text);
    let mut identities = Identities::default();
    identities.add("key", IDENTITY);
    let rule = Recipient::parse_list(RECIPIENT).and_then(Rule::for_recipients);
    let Ok(rule) = rule else { return };
    for format in [Format::Yaml, Format::Json, Format::Dotenv] {
        let _ = is_encrypted(text, format);
        let _ = decrypt(text, format, &identities);
        let timestamp = Timestamp::from_unix(0);
        if let Ok(encrypted) = encrypt(text, format, &rule, &timestamp, &mut |bytes| bytes.fill(7))
        {
            let again = decrypt(&encrypted, format, &identities);
            assert!(again.is_ok(), "cannot read what was written");
        }
    }
}

/// A throw-away key: thirty-two times the same byte.
const IDENTITY: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
const RECIPIENT: &str = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
