//! Timestamps, spans and the hours in which machines may be disturbed.
//!
//! Always holds: nothing here reads a clock; the time is an argument.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::names::{InvalidText, TextFormat, serialize_as_text};

/// A moment: seconds since 1970, without leap seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the time since an earlier timestamp; zero when that one is later.
    pub fn since(self, earlier: Self) -> Span {
        Span(u32::try_from(self.0.saturating_sub(earlier.0).max(0)).unwrap_or(u32::MAX))
    }
}

/// A length of time in whole seconds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(u32);

impl Span {
    /// Returns a span of so many seconds.
    pub const fn seconds(count: u32) -> Self {
        Self(count)
    }

    /// Returns a span of so many minutes.
    pub const fn minutes(count: u32) -> Self {
        Self(count * 60)
    }

    /// Returns both one after the other, or the longest span that there is.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns this as a `std::time::Duration`.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl TextFormat for Span {
    const WHAT: &'static str = "a length of time";
    const RULE: &'static str = "a number and s, m, h or d, such as 90s, 15m, 6h or 1d12h";
    const PATTERN: &'static str = "^([0-9]+[smhd])+$";
}

impl FromStr for Span {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let parse = || {
            let mut total: u32 = 0;
            let mut rest = text;
            while !rest.is_empty() {
                let end = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
                let count: u32 = rest[..end].parse().ok()?;
                let (_, seconds) = UNITS.iter().find(|(unit, _)| rest[end..].starts_with(*unit))?;
                total = total.checked_add(count.checked_mul(*seconds)?)?;
                rest = &rest[end + 1..];
            }
            (!text.is_empty()).then_some(Self(total))
        };
        parse().ok_or_else(|| InvalidText::new::<Self>(text))
    }
}

serialize_as_text!(Span);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for (unit, seconds) in UNITS {
            if rest >= *seconds {
                write!(f, "{}{unit}", rest / seconds)?;
                rest %= seconds;
            }
        }
        Ok(())
    }
}

const UNITS: &[(char, u32)] = &[('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Hours, in UTC, in which machines may be disturbed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The days on which it begins; every day when there is none.
    pub days: Vec<Day>,
    /// The beginning.
    pub from: TimeOfDay,
    /// The end, on the next day when that is not later than the beginning.
    pub to: TimeOfDay,
}

impl Window {
    /// Returns the first moment at which it is open, from this one on.
    pub fn opens_after(&self, at: Timestamp) -> Timestamp {
        if self.is_open(at) {
            return at;
        }
        let today = at.0.div_euclid(DAY);
        let openings = (today..=today + 7).map(|day| Timestamp(day * DAY + self.from.seconds()));
        openings.into_iter().find(|opening| *opening > at && self.is_open(*opening)).unwrap_or(at)
    }

    /// Returns whether it is open at a moment.
    pub fn is_open(&self, at: Timestamp) -> bool {
        let (day, second) = (at.0.div_euclid(DAY), at.0.rem_euclid(DAY));
        let (from, to) = (self.from.seconds(), self.to.seconds());
        let begins = |day: i64| self.days.is_empty() || self.days.contains(&Day::of(day));
        if from < to {
            begins(day) && (from..to).contains(&second)
        } else {
            (begins(day) && second >= from) || (begins(day - 1) && second < to)
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for day in &self.days {
            write!(f, "{} ", day.name())?;
        }
        write!(f, "{}–{} UTC", self.from, self.to)
    }
}

/// A day of the week.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the days of the week")]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Day {
    /// All of them, as the week begins.
    pub const ALL: [Self; 7] =
        [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    /// Returns its short name.
    pub fn name(self) -> &'static str {
        NAMES_OF_DAYS[self as usize]
    }

    /// Returns the day of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|day| day.name() == name)
    }

    /// Returns the day of the week of a day counted from 1970, which began on a Thursday.
    fn of(day: i64) -> Self {
        Self::ALL[usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default()]
    }
}

/// The short names of the days.
pub const NAMES_OF_DAYS: &[&str] = &["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A time of day.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    hour: u8,
    minute: u8,
}

impl TimeOfDay {
    fn seconds(self) -> i64 {
        i64::from(self.hour) * 3_600 + i64::from(self.minute) * 60
    }
}

impl TextFormat for TimeOfDay {
    const WHAT: &'static str = "a time of day";
    const RULE: &'static str = "hours and minutes, such as 02:30";
    const PATTERN: &'static str = "^([01][0-9]|2[0-3]):[0-5][0-9]$";
}

impl FromStr for TimeOfDay {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let parse = || {
            let two = |text: &str| {
                let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
                text.parse::<u8>().ok().filter(|_| digits)
            };
            let (hour, minute) = text.split_once(':')?;
            let (hour, minute) = (two(hour)?, two(minute)?);
            (hour < 24 && minute < 60).then_some(Self { hour, minute })
        };
        parse().ok_or_else(|| InvalidText::new::<Self>(text))
    }
}

serialize_as_text!(TimeOfDay);

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

/// The seconds of a day.
const DAY: i64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_opens_within_a_week() {
        // A Thursday, 00:00.
        let window = |days: Vec<Day>| Window {
            days,
            from: "22:00".parse().expect("a time"),
            to: "04:00".parse().expect("a time"),
        };
        let friday = window(vec![Day::parse("fri").expect("a day")]);
        assert_eq!(friday.opens_after(Timestamp(0)), Timestamp(DAY + 22 * 3600));
        assert_eq!(friday.opens_after(Timestamp(2 * DAY + 3600)), Timestamp(2 * DAY + 3600));
        assert_eq!(
            friday.opens_after(Timestamp(2 * DAY + 4 * 3600)),
            Timestamp(8 * DAY + 22 * 3600)
        );
        assert_eq!(window(Vec::new()).opens_after(Timestamp(5 * 3600)), Timestamp(22 * 3600));
    }

    /// Thursday, 1 January 1970.
    fn at(day: i64, hour: i64) -> Timestamp {
        Timestamp(day * DAY + hour * 3_600)
    }

    #[test]
    fn a_window_across_midnight_belongs_to_the_day_on_which_it_begins() {
        let window = Window {
            days: vec![Day::Thu],
            from: "22:00".parse().expect("a time"),
            to: "04:00".parse().expect("a time"),
        };
        assert!(window.is_open(at(0, 23)) && window.is_open(at(1, 3)));
        assert!(
            !window.is_open(at(0, 3)) && !window.is_open(at(1, 4)) && !window.is_open(at(1, 23))
        );
        assert_eq!(window.to_string(), "thu 22:00–04:00 UTC");
    }

    #[test]
    fn spans_are_written_as_they_are_read() {
        for text in ["90s", "6h", "1d12h", "15m", "0s"] {
            let span: Span = text.parse().expect("a span");
            assert_eq!(span.to_string().parse(), Ok(span), "{text}");
        }
        assert_eq!(Span::seconds(90).to_string(), "1m30s");
        for bad in ["", "5", "h", "5x", "-5s", "99999999999s", "5µs"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }
}
