//! The one form of everything that is wrong with a text, and the trait of every error with a code.

use std::borrow::Cow;
use std::fmt;

use crate::Location;

/// One thing that is wrong or questionable. `At` is a [`Location`] where names of files are unknown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostic<At = FileLocation> {
    /// The severity.
    pub level: Level,
    /// The stable identifier of the violated rule, with an entry in the reference of errors.
    pub code: &'static str,
    /// The location, unless it is about no text or about several.
    pub location: Option<At>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// The text is invalid, or has no effect.
    Error,
    /// Valid, but probably a mistake.
    Warning,
}

/// A location in a file, by the name under which the user knows the file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct FileLocation {
    /// The name of the file.
    pub file: String,
    /// Counted from one; zero for the file as a whole.
    pub line: u32,
    /// In characters, counted from one; zero for the line as a whole.
    pub column: u32,
}

/// The remedy for an error: the same for every error of a code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ErrorKind {
    /// It stays, however often it is tried: the input must change.
    Permanent,
    /// It may be gone at the next try.
    Retryable,
    /// A person has to look and decide.
    NeedsPerson,
}

/// An error with a stable code. [`codes!`](crate::codes) writes all but the hint.
pub trait Coded {
    /// Every code of the type itself, each with an entry in the reference of errors. Codes of errors that it only passes
    /// on are those of their own types.
    const CODES: &'static [&'static str];

    /// Returns the code, for scripts, metrics and the reference.
    fn code(&self) -> &'static str;

    /// Returns what can be done about it.
    fn kind(&self) -> ErrorKind;

    /// Returns advice for the user.
    fn hint(&self) -> Option<Cow<'_, str>> {
        None
    }
}

/// Writes the codes of an error inside of its `impl Coded`: one row for each, so that none can be missing in a list.
/// Variants after `from` hold an error of another type, and have its code, kind and hint:
///
/// ```
/// # use talos_config::{Coded, codes};
/// struct Broken;
///
/// impl Coded for Broken {
///     codes! { Self => "example.broken", NeedsPerson; }
/// }
///
/// enum Failed {
///     Late,
///     Broken(Broken),
/// }
///
/// impl Coded for Failed {
///     codes! {
///         from Self::Broken;
///         Self::Late => "example.late", Retryable;
///     }
/// }
///
/// assert_eq!(Failed::CODES, ["example.late"]);
/// assert_eq!(Failed::Broken(Broken).code(), "example.broken");
/// ```
#[macro_export]
macro_rules! codes {
    (from $($inner:path),+; $($pattern:pat => $code:expr, $kind:ident;)*) => {
        const CODES: &'static [&'static str] = &[$($code),*];

        fn code(&self) -> &'static str {
            match self {
                $($pattern => $code,)*
                $($inner(error) => $crate::Coded::code(error),)+
            }
        }

        fn kind(&self) -> $crate::ErrorKind {
            match self {
                $($pattern => $crate::ErrorKind::$kind,)*
                $($inner(error) => $crate::Coded::kind(error),)+
            }
        }
    };
    ($($pattern:pat => $code:expr, $kind:ident;)+) => {
        const CODES: &'static [&'static str] = &[$($code),+];

        fn code(&self) -> &'static str {
            match self {
                $($pattern => $code,)+
            }
        }

        fn kind(&self) -> $crate::ErrorKind {
            match self {
                $($pattern => $crate::ErrorKind::$kind,)+
            }
        }
    };
}

/// Writes constants of codes, and the list of all of them.
///
/// ```
/// mod codes {
///     talos_config::code_table! {
///         pub(super) CODES;
///         LATE = "example.late";
///         BROKEN = "example.broken";
///     }
/// }
///
/// assert_eq!(codes::CODES, [codes::LATE, codes::BROKEN]);
/// ```
#[macro_export]
macro_rules! code_table {
    ($vis:vis $list:ident; $($name:ident = $code:literal;)+) => {
        $(
            #[doc = concat!("The code `", $code, "`.")]
            $vis const $name: &str = $code;
        )+

        /// Every code of the table, each with an entry in the reference of errors.
        $vis const $list: &[&str] = &[$($name),+];
    };
}

impl<At> Diagnostic<At> {
    /// Returns an error without location and hint.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Error, code, location: None, message: message.into(), hint: None }
    }

    /// Returns a warning without location and hint.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(code, message) }
    }

    /// Sets the location.
    #[must_use]
    pub fn at(self, location: impl Into<Option<At>>) -> Self {
        Self { location: location.into(), ..self }
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Changes the text, to hide what must not be shown.
    #[must_use]
    pub fn map_text(self, map: impl Fn(&str) -> String) -> Self {
        Self { message: map(&self.message), hint: self.hint.as_deref().map(map), ..self }
    }
}

impl Diagnostic<Location> {
    /// Names the file of the location.
    pub fn in_file(self, file: impl FnOnce(Location) -> Option<FileLocation>) -> Diagnostic {
        let Self { level, code, location, message, hint } = self;
        Diagnostic { level, code, location: location.and_then(file), message, hint }
    }
}

/// `ichor.yaml:3:7: error[spec.value]: …`, and the hint on a line of its own.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "{}[{}]: {}", self.level, self.code, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl Level {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FileLocation {
    /// Returns the location of a file as a whole.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        [self.line, self.column]
            .into_iter()
            .take_while(|number| *number > 0)
            .try_for_each(|number| write!(f, ":{number}"))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "permanent",
            Self::Retryable => "retryable",
            Self::NeedsPerson => "needs a person",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_is_shown_with_as_much_of_its_location_as_is_known() {
        let at = |line, column| {
            let location = FileLocation { file: "a.yaml".to_owned(), line, column };
            Diagnostic::error("spec.value", "no number").at(location).to_string()
        };
        assert_eq!(at(3, 7), "a.yaml:3:7: error[spec.value]: no number");
        assert_eq!(at(3, 0), "a.yaml:3: error[spec.value]: no number");
        assert_eq!(at(0, 0), "a.yaml: error[spec.value]: no number");
        let nowhere = Diagnostic::<FileLocation>::warning("spec.value", "odd").with_hint("look");
        assert_eq!(nowhere.to_string(), "warning[spec.value]: odd\n  hint: look");
    }
}
