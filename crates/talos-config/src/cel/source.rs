//! The text of an expression, places in it, and the report of what is wrong at which place.

/// The text of an expression as code points, because places are counted in them.
pub(super) struct SourceText {
    characters: Vec<char>,
    /// Where each line after the first begins.
    breaks: Vec<usize>,
}

impl SourceText {
    pub(super) fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let breaks = characters
            .iter()
            .enumerate()
            .filter(|(_, character)| **character == '\n')
            .map(|(at, _)| at + 1)
            .collect();
        Self { characters, breaks }
    }

    pub(super) fn characters(&self) -> &[char] {
        &self.characters
    }

    pub(super) fn text(&self, from: usize, to: usize) -> String {
        let to = to.min(self.characters.len());
        self.characters[from.min(to)..to].iter().collect()
    }

    /// Line, counted from 1, and column, counted from 0.
    fn location(&self, at: usize) -> (usize, usize) {
        let line = self.breaks.partition_point(|start| *start <= at);
        (line + 1, at - self.line_start(line))
    }

    fn line_start(&self, line: usize) -> usize {
        if line == 0 { 0 } else { self.breaks[line - 1] }
    }

    /// The line (counted from 0) that the place is in, without its break.
    fn line(&self, line: usize) -> &[char] {
        let end = self.breaks.get(line).map_or(self.characters.len(), |next| next - 1);
        &self.characters[self.line_start(line)..end]
    }
}

/// Where something is wrong.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Position {
    /// The expression as a whole; sorts before every real place, as line -1 does.
    Nowhere,
    At(usize),
}

/// What is wrong, in the order in which it was noticed.
#[derive(Default)]
pub(super) struct Errors(Vec<(Position, String)>);

impl Errors {
    pub(super) fn report(&mut self, place: Position, message: impl Into<String>) {
        self.0.push((place, message.into()));
    }

    pub(super) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Forgets what was reported since there were `length` errors.
    pub(super) fn forget_since(&mut self, length: usize) {
        self.0.truncate(length);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The report, or nothing when nothing is wrong.
    pub(super) fn into_result(self, source: &SourceText) -> Result<(), String> {
        let Self(mut reported) = self;
        if reported.is_empty() {
            return Ok(());
        }
        let truncated = reported.len().saturating_sub(MOST);
        reported.truncate(MOST);
        reported.sort_by_key(|(place, _)| *place);
        let mut blocks: Vec<String> =
            reported.iter().map(|(place, message)| block(*place, message, source)).collect();
        if truncated > 0 {
            blocks.push(format!("{truncated} more errors were truncated"));
        }
        Err(blocks.join("\n"))
    }
}

/// One error with the line it is in and a mark below it.
fn block(place: Position, message: &str, source: &SourceText) -> String {
    let Position::At(at) = place else { return format!("ERROR: <input>:-1:0: {message}") };
    // The reference's lexer has not moved to the first column then.
    if source.characters.is_empty() {
        return format!("ERROR: <input>:1:0: {message}");
    }
    let (line, column) = source.location(at);
    let head = format!("ERROR: <input>:{line}:{}: {message}", column + 1);
    let snippet: String =
        source.line(line - 1).iter().map(|c| if *c == '\t' { ' ' } else { *c }).collect();
    if snippet.len() > LONGEST_SNIPPET {
        return head;
    }
    // A character of several bytes is taken to be twice as wide, and so is what stands below it.
    let wide = |character: char| character.len_utf8() > 1;
    let mut mark: String = snippet
        .chars()
        .take(column)
        .map(|character| if wide(character) { '\u{ff0e}' } else { '.' })
        .collect();
    mark.push(if snippet.chars().nth(column).is_some_and(wide) { '\u{ff3e}' } else { '^' });
    format!("{head}\n | {snippet}\n | {mark}")
}

/// How many errors are shown.
const MOST: usize = 100;

/// Bytes of the longest line that is shown.
const LONGEST_SNIPPET: usize = 16384;
