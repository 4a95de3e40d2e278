//! Plain files: one of each format with something of everything, and seeded ones.

/// Numbers from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.next().to_le_bytes()[0]);
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// A YAML document, a mapping. With or without comments, a seed gives the same data.
pub(crate) fn yaml(random: &mut Random, comments: bool) -> String {
    let indent = 1 + random.below(4);
    let mut writer = Writer { random, text: String::new(), indent, comments };
    writer.map(0, 0);
    if writer.random.one_in(3) {
        writer.comment("# at the end\n");
    }
    writer.text
}

struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    indent: usize,
    comments: bool,
}

impl Writer<'_> {
    fn map(&mut self, column: usize, depth: usize) {
        for number in 0..=self.random.below(4) {
            self.comments_before(column);
            let key = self.random.pick(KEYS);
            let end = self.random.pick(&["", "", "", "_plain", "_secret", "_unencrypted"]);
            // Numbered, since a key may be there only once.
            let key = match key.strip_suffix('"') {
                Some(key) => format!("{key}{number}{end}\""),
                None => format!("{key}{number}{end}"),
            };
            self.text.extend([&" ".repeat(column), &key, ":"]);
            self.value(column, depth, false);
        }
        if column > 0 {
            self.comments_before(column);
        }
    }

    fn list(&mut self, column: usize, depth: usize) {
        for _ in 0..=self.random.below(3) {
            self.comments_before(column);
            self.text.extend([&" ".repeat(column), "-"]);
            self.value(column, depth, true);
        }
        if self.random.one_in(3) {
            self.comments_before(column);
        }
    }

    fn value(&mut self, column: usize, depth: usize, in_list: bool) {
        let below = column + if in_list { 2 } else { self.indent };
        match self.random.below(if depth > 3 { 6 } else { 10 }) {
            6 | 7 if in_list => {
                // A mapping begins after the dash, unless a comment does.
                self.text.push(' ');
                let at = self.text.len();
                self.map(below, depth + 1);
                let inner = self.text.split_off(at);
                if inner.trim_start().starts_with('#') {
                    self.text.push('\n');
                    self.text.push_str(&inner);
                } else {
                    self.text.push_str(inner.trim_start());
                }
            }
            6 | 7 => {
                if self.random.one_in(5) {
                    self.comment(" # hide behind a key");
                }
                self.text.push('\n');
                self.map(below, depth + 1);
            }
            8 if !in_list => {
                self.text.push('\n');
                let column = if self.random.one_in(2) { column } else { below };
                self.list(column, depth + 1);
            }
            9 => {
                let flow = self.random.pick(FLOW);
                self.text.extend([" ", flow]);
                self.comment_behind();
            }
            5 => {
                let lines = self.random.pick(LINES);
                let header = self.random.pick(&[" |", " |-", " >", " |+"]);
                self.text.push_str(header);
                self.comment_behind();
                for line in lines.split('\n') {
                    let pad = if line.is_empty() { 0 } else { below };
                    self.text.extend([&" ".repeat(pad), line, "\n"]);
                }
            }
            _ => {
                let scalar = self.random.pick(SCALARS);
                self.text.extend([" ", scalar]);
                self.comment_behind();
            }
        }
    }

    fn comments_before(&mut self, column: usize) {
        if self.random.one_in(3) {
            for _ in 0..=self.random.below(2) {
                let line = format!("{}#{}\n", " ".repeat(column), self.random.pick(COMMENTS));
                self.comment(&line);
            }
            if self.random.one_in(4) {
                self.comment("\n");
            }
        }
    }

    fn comment_behind(&mut self) {
        if self.random.one_in(5) {
            let behind = format!(" #{}", self.random.pick(COMMENTS));
            self.comment(&behind);
        }
        self.text.push('\n');
    }

    fn comment(&mut self, text: &str) {
        if self.comments {
            self.text.push_str(text);
        }
    }
}

/// A JSON value.
pub(crate) fn json(random: &mut Random, depth: usize) -> String {
    match random.below(if depth > 3 { 8 } else { 11 }) {
        8 | 9 => {
            let pairs: Vec<String> = (0..random.below(4))
                .map(|number| {
                    let end = random.pick(&["", "_plain", "_secret", "_unencrypted"]);
                    format!("\"k{number}{end}\": {}", json(random, depth + 1))
                })
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        10 => {
            let items: Vec<String> =
                (0..random.below(4)).map(|_| json(random, depth + 1)).collect();
            format!("[{}]", items.join(" , "))
        }
        _ => random.pick(JSON_SCALARS).to_owned(),
    }
}

/// A line of a dotenv file.
pub(crate) fn dotenv(random: &mut Random) -> String {
    let key = random.pick(&[
        "A",
        "data",
        "meta",
        "k1",
        "x y",
        "",
        "X_secret",
        "Y_plain",
        "Z_unencrypted",
    ]);
    let value =
        random.pick(&["", "text", "a=b", "\"quoted\"", "line\\nline", " é # no comment", "1"]);
    match random.below(5) {
        0 => format!("#{}\n", random.pick(COMMENTS)),
        1 => "\n".to_owned(),
        _ => format!("{key}={value}\n"),
    }
}

const KEYS: &[&str] = &[
    "a", "data", "token", "meta", "k", "yes", "\"a b\"", "é", "\"#x\"", "n", "\"- \"", "null",
    "x:y",
];

const FLOW: &[&str] = &["[]", "{}", "[a, 1, true]", "{a: 1, b_secret: [x]}", "[[1], {c: d}]"];

const LINES: &[&str] = &["one\ntwo", "one\n\n  two", "- # no comment\nx: y", "é\n\u{2603}"];

const COMMENTS: &[&str] =
    &[" plain", " hide this", " show this", " é", "#", " ENC[x]", "x: y", " show hide"];

const SCALARS: &[&str] = &[
    "",
    "text",
    "\"\"",
    "''",
    "1",
    "-5",
    "0",
    "0644",
    "0x1F",
    "1_000",
    "9223372036854775807",
    "1.5",
    "1.0",
    "-0.25",
    "1e100",
    "1e-9",
    "6.02e23",
    "-.inf",
    ".inf",
    ".nan",
    "true",
    "false",
    "True",
    "yes",
    "no",
    "on",
    "null",
    "~",
    "2001-01-02",
    "2001-01-02T03:04:05Z",
    "2001-01-02T03:04:05.678+02:00",
    "2001-1-2 3:4:5",
    "\"2001-01-02\"",
    "\"1\"",
    "'true'",
    "'null'",
    "\"two\\nlines\"",
    "\"trail \"",
    "'# no comment'",
    "a#b",
    "http://h:1/p?q#f",
    "\"tab\\there\"",
    "\"\\x00\\x7f\\u0085\\u2028\\ufeff\"",
    "é",
    "\"\\U0001F600\"",
    "'it''s'",
    "!!str 1",
    "!!float 1",
    "!!int \"2\"",
    "!!binary aGVsbG8=",
    "!custom x",
    "'|'",
    "'- x'",
    "\"line\\n\\n\"",
    "0b11",
    "12:30:45",
    "=",
    "'%'",
    "'@x'",
    "long text long text long text long text long text long text long text long text long text end",
];

const JSON_SCALARS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-7",
    "1.5",
    "1.0",
    "1e100",
    "1E-9",
    "1e20",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "123456789.125",
    "\"\"",
    "\"text\"",
    "\"<a&b>\"",
    "\"é\\u2603\\ud83d\\ude00\"",
    "\"\\u0000\\b\\f\\n\\r\\t\\u2028\\\\\\\"/\"",
    "\"#\"",
    "\"ENC[x]\"",
];

/// A sample with every construct of YAML.
pub(crate) const YAML: &str = r#"# at the top

# still at the top
text: a text # behind a text
# hide the next
data:
  # in a mapping
  token: secret # show behind
  token_secret: s
  name_plain: p
  name_unencrypted: u
  # behind the last
empty: ""
int: 42
negative: -7
float: 1.50
large: 1e100
small: 1e-9
flag: true
off: False
"yes": yes
nothing: null
tilde: ~
none:
date: 2001-01-02
time: 2001-01-02T03:04:05.5+02:00
lines: |
  one
    two

  three
folded: >-
  one
  two
unicode: "grüße ☃ \U0001F600"
quoted: "tab\t quote\" # no comment"
# show the list
list:
  # hide the first
  - 1
  - two
  - [3, 4.5, {five: 6}]
  # before the mapping
  - key: v
    # in the mapping
    other: w
  - - nested
    - lists
emptylist: []
emptymap: {}
flow: {a: 1, b: [x, y]} # behind brackets
anchor: &x
  k: 1
alias: *x
k0:
  meta:
    deep: {a_secret: 1}
# hide
k1: hidden
# show
k2: shown
# at the end
---
# of the second document
second: 1
---
third: [a]
"#;

pub(crate) const JSON: &str = r#"{"text": "a", "empty": "", "int": 42, "negative": -7, "float": 1.5, "one": 1.0,
 "large": 1e100, "flag": true, "off": false, "nothing": null, "list": [1, "two", [3], {"four": 4}], "emptylist": [],
 "emptymap": {}, "data": {"token": "s", "x_secret": 1, "y_plain": 2.25, "z_unencrypted": false, "meta": {"k1": "<&>"}},
 "lines": "one\ntwo\n", "unicode": "grüße ☃ 😀", "k0": {"a": {"b": {"c": [[], [[]], {}]}}}}
"#;

pub(crate) const DOTENV: &str = r#"# at the top
TEXT=a text

EMPTY=
# hide
NUMBER=42
FLAG=true
LINES=one\ntwo
QUOTED="x y"
EQUALS=a=b==
UNICODE=grüße ☃
#show
data=1
meta=2
X_secret=3
Y_plain=4
Z_unencrypted=5
k1=# no comment
# at the end
"#;
