//! `JSONPath` of kubectl: defines the columns of resources, and extracts values from them.
//!
//! In goes a template such as `{.metadata.id}: {.spec.addresses[*]}` and a value, out come the values that it finds,
//! one group for each part of the template.

use super::value::Value;

/// A text with paths in braces.
pub(super) struct Template(Vec<Piece>);

/// Treatment of missing keys.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Missing {
    Fails,
    IsNothing,
}

enum Piece {
    Text(Value),
    Path(Path),
    /// The pieces are repeated for every value that the path finds.
    Range(Path, Vec<Self>),
}

type Path = Vec<Step>;

enum Step {
    Field(String),
    /// All that is in a list or a mapping.
    Every,
    /// The value and all values in it, at any depth.
    Below,
    Slice {
        start: Option<i64>,
        end: End,
        step: Option<i64>,
    },
    Filter {
        left: Path,
        right: Option<(Comparison, Path)>,
    },
    Union(Vec<Path>),
    Literal(Value),
}

/// End of a slice, exclusive.
enum End {
    At(i64),
    /// Behind the start: it is one element.
    Next,
    Last,
}

#[derive(Clone, Copy)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Parser { rest: text }.pieces(false).map(Self)
    }

    /// Returns the matches of each part of the template.
    pub(super) fn find<'a>(
        &'a self,
        value: &'a Value,
        missing: Missing,
    ) -> Result<Vec<Vec<&'a Value>>, String> {
        let mut groups = Vec::new();
        find_pieces(&self.0, value, missing, &mut groups)?;
        Ok(groups)
    }

    /// Formats the matches as one line, for a cell of a table. Missing values are empty.
    pub(super) fn line(&self, value: &Value) -> String {
        let groups = self.find(value, Missing::IsNothing).unwrap_or_default();
        let words = |group: &Vec<&Value>| {
            group.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        groups.iter().map(words).collect()
    }
}

fn find_pieces<'a>(
    pieces: &'a [Piece],
    value: &'a Value,
    missing: Missing,
    groups: &mut Vec<Vec<&'a Value>>,
) -> Result<(), String> {
    for piece in pieces {
        match piece {
            Piece::Text(text) => groups.push(vec![text]),
            Piece::Path(path) => groups.push(walk(path, value, missing)?),
            Piece::Range(path, pieces) => {
                for value in walk(path, value, missing)? {
                    find_pieces(pieces, value, missing, groups)?;
                }
            }
        }
    }
    Ok(())
}

fn walk<'a>(
    path: &'a [Step],
    value: &'a Value,
    missing: Missing,
) -> Result<Vec<&'a Value>, String> {
    let mut found = vec![value];
    for step in path {
        found = step.take(found, missing)?;
    }
    Ok(found)
}

impl Step {
    fn take<'a>(
        &'a self,
        values: Vec<&'a Value>,
        missing: Missing,
    ) -> Result<Vec<&'a Value>, String> {
        let is_something = |value: &&Value| **value != Value::Null;
        let mut found = Vec::new();
        match self {
            Self::Field(name) => {
                let fields = values.iter().filter_map(|value| match value {
                    Value::Map(entries) => entries.get(name),
                    _ => None,
                });
                found.extend(fields);
                if found.is_empty() && !values.is_empty() && missing == Missing::Fails {
                    return Err(format!("{name} is not found"));
                }
            }
            Self::Every => values.into_iter().for_each(|value| found.extend(parts(value))),
            Self::Below => values.into_iter().for_each(|value| below(value, &mut found)),
            Self::Slice { start, end, step } => {
                for value in values.into_iter().filter(is_something) {
                    let Value::List(items) = value else { return Err(NO_LIST.to_owned()) };
                    found.extend(slice(items, *start, end, *step)?);
                }
            }
            Self::Filter { left, right } => {
                for value in values.into_iter().filter(is_something) {
                    let Value::List(items) = value else { return Err(NO_LIST.to_owned()) };
                    for item in items {
                        if passes(item, left, right.as_ref(), missing)? {
                            found.push(item);
                        }
                    }
                }
            }
            Self::Union(paths) => {
                for path in paths {
                    for value in &values {
                        found.extend(walk(path, value, missing)?);
                    }
                }
            }
            Self::Literal(literal) => found.extend(values.iter().map(|_| literal)),
        }
        Ok(found)
    }
}

fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::List(items) => items.iter().collect(),
        Value::Map(entries) => entries.values().collect(),
        _ => Vec::new(),
    }
}

fn below<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    let parts = parts(value);
    // Texts count as having parts: so kubectl sees it.
    let is_text = matches!(value, Value::Text(text) | Value::Time(text) if !text.is_empty());
    if is_text || !parts.is_empty() {
        found.push(value);
        for part in parts {
            below(part, found);
        }
    }
}

fn slice<'a>(
    items: &'a [Value],
    start: Option<i64>,
    end: &End,
    step: Option<i64>,
) -> Result<Vec<&'a Value>, String> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let from_end = |number: i64| if number < 0 { number + length } else { number };
    let first = from_end(start.unwrap_or(0));
    let end = match end {
        End::At(number) => from_end(*number),
        End::Next => first + 1,
        End::Last => length,
    };
    if first == end {
        return Ok(Vec::new());
    }
    let outside = |number: i64| format!("index {number} is out of range of a list of {length}");
    let at = usize::try_from(first).ok().filter(|at| *at < items.len());
    let at = at.ok_or_else(|| outside(first))?;
    let end = usize::try_from(end).ok().filter(|end| *end <= items.len());
    let end = end.ok_or_else(|| outside(first))?;
    let step = usize::try_from(step.unwrap_or(1)).ok().filter(|step| *step > 0);
    let step = step.ok_or("the step of a slice must be at least 1")?;
    let slice = items.get(at..end).ok_or("a slice must start before its end")?;
    Ok(slice.iter().step_by(step).collect())
}

fn passes(
    item: &Value,
    left: &[Step],
    right: Option<&(Comparison, Path)>,
    missing: Missing,
) -> Result<bool, String> {
    let Some((comparison, right)) = right else {
        return Ok(walk(left, item, missing).is_ok_and(|found| !found.is_empty()));
    };
    match (walk(left, item, missing)?.as_slice(), walk(right, item, missing)?.as_slice()) {
        ([], _) | (_, []) => Ok(false),
        ([left], [right]) => Ok(comparison.holds(left, right)),
        _ => Err("a filter compares two single values".to_owned()),
    }
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::Int(left), Value::Int(right)) => left.partial_cmp(right),
            (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
            (Value::Text(left), Value::Text(right)) => left.partial_cmp(right),
            (left, right) => (left == right).then_some(std::cmp::Ordering::Equal),
        };
        match self {
            Self::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
            Self::NotEqual => !order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Self::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
            Self::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Self::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Reads texts and braces up to the end, or up to the end of a range.
    fn pieces(&mut self, in_range: bool) -> Result<Vec<Piece>, String> {
        let mut pieces = Vec::new();
        loop {
            let (text, rest) = self.rest.split_at(self.rest.find('{').unwrap_or(self.rest.len()));
            self.rest = rest;
            if !text.is_empty() {
                pieces.push(Piece::Text(Value::text(text)));
            }
            if !self.skip("{") {
                return if in_range { Err("unclosed range".to_owned()) } else { Ok(pieces) };
            }
            self.rest = self.rest.trim_start_matches(' ');
            if self.word("range") {
                let path = self.path()?;
                pieces.push(Piece::Range(path, self.pieces(true)?));
            } else if self.word("end") {
                self.rest = self.rest.trim_start_matches(' ');
                return match self.skip("}") {
                    true if in_range => Ok(pieces),
                    true => Err("end without a range".to_owned()),
                    false => Err("unclosed brace".to_owned()),
                };
            } else {
                pieces.push(Piece::Path(self.path()?));
            }
        }
    }

    /// Reads a path up to the brace that ends it.
    fn path(&mut self) -> Result<Path, String> {
        let mut path = Vec::new();
        while !self.skip("}") {
            self.step(&mut path)?;
        }
        Ok(path)
    }

    fn step(&mut self, path: &mut Path) -> Result<(), String> {
        let mut characters = self.rest.chars();
        let Some(first) = characters.next() else { return Err("unclosed brace".to_owned()) };
        match first {
            // The value itself.
            ' ' | '@' | '$' => self.rest = characters.as_str(),
            '.' if self.skip("..") => {
                path.push(Step::Below);
                if self.rest.starts_with(|next: char| next.is_alphanumeric() || next == '_') {
                    self.field(path);
                }
            }
            '.' => {
                self.rest = characters.as_str();
                self.field(path);
            }
            '[' if self.skip("[?(") => path.push(self.filter()?),
            '[' => {
                let end = self.rest.find(']').ok_or("unclosed bracket")?;
                let inside = &self.rest[1..end];
                self.rest = &self.rest[end + 1..];
                path.push(elements(inside)?);
            }
            '"' | '\'' => {
                self.rest = characters.as_str();
                let text = self.quoted(first)?;
                path.push(Step::Literal(Value::Text(text)));
            }
            '+' | '-' | '0'..='9' => {
                let end = self.rest[1..].find(|next: char| !next.is_ascii_digit() && next != '.');
                let (number, rest) = self.rest.split_at(end.map_or(self.rest.len(), |end| end + 1));
                self.rest = rest;
                match Value::plain(number) {
                    number @ (Value::Int(_) | Value::Float(_)) => path.push(Step::Literal(number)),
                    _ => return Err(format!("{number} is not a number")),
                }
            }
            _ if self.word("true") => path.push(Step::Literal(Value::Bool(true))),
            _ if self.word("false") => path.push(Step::Literal(Value::Bool(false))),
            _ => return Err(format!("a path starts with a dot, not with {:?}", self.rest)),
        }
        Ok(())
    }

    /// Reads a name; a backslash takes the next character as it is.
    fn field(&mut self, path: &mut Path) {
        let mut name = String::new();
        let mut characters = self.rest.chars();
        while let Some(next) = characters.clone().next() {
            if " \t\r\n.,[]$@{}".contains(next) {
                break;
            }
            characters.next();
            let taken = if next == '\\' { characters.next() } else { Some(next) };
            name.extend(taken);
        }
        self.rest = characters.as_str();
        match name.as_str() {
            "*" => path.push(Step::Every),
            "" => {}
            _ => path.push(Step::Field(name)),
        }
    }

    fn filter(&mut self) -> Result<Step, String> {
        let mut quote = None;
        let end = self.rest.char_indices().find_map(|(at, character)| {
            match (character, quote) {
                ('"' | '\'', None) => quote = Some(character),
                (_, Some(open)) if character == open => quote = None,
                (')', None) => return Some(at),
                _ => {}
            }
            None
        });
        let (inside, rest) = self.rest.split_at(end.ok_or("unclosed filter")?);
        self.rest = rest;
        if !self.skip(")]") {
            return Err("a filter ends with )]".to_owned());
        }
        let Some(at) = inside.find(['!', '<', '>', '=']) else {
            return Ok(Step::Filter { left: whole_path(inside)?, right: None });
        };
        let (left, mut right) = inside.split_at(at);
        let (_, comparison) = COMPARISONS
            .iter()
            .find(|(sign, _)| right.starts_with(sign))
            .ok_or_else(|| format!("a filter cannot compare with {right:?}"))?;
        right = right.trim_start_matches(['!', '<', '>', '=']);
        let right = Some((*comparison, whole_path(right)?));
        Ok(Step::Filter { left: whole_path(left)?, right })
    }

    /// Reads a text up to its closing quote, which an escaped one is not.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => text.extend(characters.next().map(|escaped| match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                })),
                _ if character == quote => {
                    self.rest = characters.as_str();
                    return Ok(text);
                }
                _ => text.push(character),
            }
        }
        Err("unclosed quote".to_owned())
    }

    fn skip(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn word(&mut self, word: &str) -> bool {
        let after: Option<&'a str> = self.rest.strip_prefix(word);
        match after.filter(|after| !after.starts_with(char::is_alphanumeric)) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }
}

fn whole_path(text: &str) -> Result<Path, String> {
    let mut parser = Parser { rest: text };
    let mut path = Vec::new();
    while !parser.rest.is_empty() {
        parser.step(&mut path)?;
    }
    Ok(path)
}

/// Parses the content of brackets: `0`, `1:3`, `*`, `'key'`, or several of them.
fn elements(inside: &str) -> Result<Step, String> {
    let choices: Vec<&str> = inside.split(',').collect();
    if choices.len() > 1 {
        let paths = choices.into_iter().map(|choice| Ok(vec![elements(choice.trim_matches(' '))?]));
        return Ok(Step::Union(paths.collect::<Result<_, String>>()?));
    }
    for quote in ['\'', '"'] {
        let key = inside.strip_prefix(quote).and_then(|inside| inside.strip_suffix(quote));
        if let Some(key) = key {
            return Ok(Step::Field(key.replace('\\', "")));
        }
    }
    if inside == "*" {
        return Ok(Step::Slice { start: None, end: End::Last, step: None });
    }
    let wrong = || format!("[{inside}] is neither a number, a slice, a 'key' nor *");
    let number = |text: &str| match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| wrong()),
    };
    let numbers: Vec<Option<i64>> = inside.split(':').map(number).collect::<Result<_, _>>()?;
    match *numbers.as_slice() {
        [Some(start)] => Ok(Step::Slice { start: Some(start), end: End::Next, step: None }),
        [start, end] | [start, end, None] => {
            Ok(Step::Slice { start, end: end.map_or(End::Last, End::At), step: None })
        }
        [start, end, step] => Ok(Step::Slice { start, end: end.map_or(End::Last, End::At), step }),
        _ => Err(wrong()),
    }
}

/// The longer ones first.
const COMPARISONS: &[(&str, Comparison)] = &[
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];
const NO_LIST: &str = "not a list: it has no numbered elements";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_columns_and_of_people() {
        let value = value();
        for (template, line) in [
            ("{.name}", "eth0"),
            ("{.missing}", ""),
            ("{.missing.below}", ""),
            ("{.nothing}", "null"),
            ("{.list}", "[1,2,3]"),
            ("{.list[*]}", "1 2 3"),
            ("{.list[:]}", "1 2 3"),
            ("{.list[0]}", "1"),
            ("{.list[-1]}", "3"),
            ("{.list[0:2]}", "1 2"),
            ("{.list[::2]}", "1 3"),
            ("{.list[0,2]}", "1 3"),
            ("{.list[7]}", ""),
            ("{.nothing[*]}", ""),
            ("{['a.b']}", "1"),
            (r"{.a\.b}", "1"),
            (r#"{.conditions[?(@.type=="Ready")].status}"#, "True"),
            ("{.conditions[?(@.weight>1)].status}", "False"),
            ("{.conditions[?(@.weight!=2)].type}", "Ready"),
            ("{.conditions[?(@.weight)].type}", "Ready (other)"),
            ("{.conditions[?(@.type=='(other)')].weight}", "2"),
            ("{..status}", "True False"),
            ("{.conditions[*]['type','status']}", "Ready (other) True False"),
            (r#"{.name}{"\t"}{.list[1]}!"#, "eth0\t2!"),
            ("{range .conditions[*]}{.type}={.weight};{end}.", "Ready=1;(other)=2;."),
            ("{.conditions[0]}", r#"{"status":"True","type":"Ready","weight":1}"#),
            ("{$.name}", "eth0"),
        ] {
            let parsed = Template::parse(template);
            let parsed = parsed.unwrap_or_else(|error| panic!("{template}: {error}"));
            assert_eq!(parsed.line(&value), line, "{template}");
        }
        assert_eq!(
            Template::parse("{@}").map(|path| path.line(&Value::Int(7))),
            Ok("7".to_owned())
        );
    }

    #[test]
    fn what_people_ask_for_has_to_be_there() {
        let value = value();
        let path = Template::parse("{.missing}").unwrap_or_else(|error| panic!("{error}"));
        let outcome = path.find(&value, Missing::Fails).map(|groups| groups.len());
        assert_eq!(outcome, Err("missing is not found".to_owned()));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for template in [
            "{",
            "{.a",
            "{.a[",
            "{.a[x]}",
            "{.a[]}",
            "{name}",
            "{\"a}",
            "{end}",
            "{range .a}",
            "{.a[?(@.b}",
            "{.a[?(@.b=1)]}",
            "{1.2.3}",
        ] {
            assert!(Template::parse(template).is_err(), "{template}");
        }
    }

    fn value() -> Value {
        let map = |entries: &[(&str, Value)]| {
            Value::Map(
                entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            )
        };
        let condition = |kind: &str, status: &str, weight: i128| {
            map(&[
                ("type", Value::text(kind)),
                ("status", Value::text(status)),
                ("weight", Value::Int(weight)),
            ])
        };
        map(&[
            ("name", Value::text("eth0")),
            ("list", Value::List([1, 2, 3].map(Value::Int).into())),
            ("nothing", Value::Null),
            ("a.b", Value::Int(1)),
            (
                "conditions",
                Value::List(vec![condition("Ready", "True", 1), condition("(other)", "False", 2)]),
            ),
        ])
    }
}
