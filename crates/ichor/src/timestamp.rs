//! Points in time, parsed from machines and formatted for output.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::clock;

/// A point in time. Missing and invalid ones are the Unix epoch.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Timestamp(jiff::Timestamp);

impl From<Option<prost_types::Timestamp>> for Timestamp {
    fn from(timestamp: Option<prost_types::Timestamp>) -> Self {
        let timestamp = timestamp.unwrap_or_default();
        Self(jiff::Timestamp::new(timestamp.seconds, timestamp.nanos).unwrap_or_default())
    }
}

impl Timestamp {
    pub(crate) fn from_seconds(seconds: i64) -> Self {
        Self(jiff::Timestamp::from_second(seconds).unwrap_or_default())
    }

    /// RFC 3339 in UTC, in whole seconds.
    pub(crate) fn to_rfc3339_seconds(self) -> String {
        Self::from_seconds(self.0.as_second()).to_string()
    }

    /// `32s ago`, `1h2m3s ago`: how long ago it was, in whole seconds, as Go writes it.
    pub(crate) fn ago(self) -> String {
        let seconds = clock::now().saturating_sub(self.0.as_second()).max(0);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        match (hours, minutes) {
            (0, 0) => format!("{seconds}s ago"),
            (0, _) => format!("{minutes}m{seconds}s ago"),
            _ => format!("{hours}h{minutes}m{seconds}s ago"),
        }
    }

    /// The day.
    pub(crate) fn date(self) -> String {
        self.to_string().chars().take(10).collect()
    }

    /// `Jan  2 15:04:05`, or with the year instead of the seconds when it is half a year ago: as lists of files have it.
    pub(crate) fn ls_format(self) -> String {
        let recent = clock::now().saturating_sub(self.0.as_second()) < HALF_A_YEAR;
        let form = if recent { "%b %e %H:%M:%S" } else { "%b %e %Y %H:%M" };
        self.0.strftime(form).to_string()
    }

    /// As Go writes it: `2006-01-02 15:04:05.123 +0000 UTC`.
    pub(crate) fn go_format(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M:%S%.f +0000 UTC").to_string()
    }

    /// Formats relative to now: `now`, `12 minutes ago`, `2 hours from now`.
    pub(crate) fn relative(self) -> String {
        self.relative_to(clock::now())
    }

    fn relative_to(self, now: i64) -> String {
        let ago = now.saturating_sub(self.0.as_second());
        // The second that is running is over only in part.
        let (seconds, side) = if ago < 0 { (-(ago + 1), "from now") } else { (ago, "ago") };
        let (size, unit) =
            UNITS.iter().rev().find(|(size, _)| seconds >= *size).copied().unwrap_or(UNITS[0]);
        match seconds / size {
            0 => "now".to_owned(),
            _ if seconds >= LONG_WHILE => format!("a long while {side}"),
            // A year and a half is nearer to two.
            1 if seconds >= 18 * MONTH => format!("2 years {side}"),
            1 => format!("1 {unit} {side}"),
            count => format!("{count} {unit}s {side}"),
        }
    }
}

/// RFC 3339 in UTC, with the available fraction of a second.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
const MONTH: i64 = 30 * DAY;
const YEAR: i64 = 12 * MONTH;
const HALF_A_YEAR: i64 = 6 * MONTH;
/// Beyond this no unit is counted.
const LONG_WHILE: i64 = 37 * YEAR;
const UNITS: &[(i64, &str)] = &[
    (1, "second"),
    (MINUTE, "minute"),
    (HOUR, "hour"),
    (DAY, "day"),
    (WEEK, "week"),
    (MONTH, "month"),
    (YEAR, "year"),
];

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn times_as_people_say_them() {
        for (distance, expected) in [
            (0, "now"),
            (-1, "1 second ago"),
            (-59, "59 seconds ago"),
            (31, "30 seconds from now"),
            (61, "1 minute from now"),
            (1 - 2 * HOUR, "1 hour ago"),
            (-6 * DAY, "6 days ago"),
            (-13 * DAY, "1 week ago"),
            (-29 * DAY, "4 weeks ago"),
            (359 * DAY, "11 months from now"),
            (364 * DAY, "1 year from now"),
            (-17 * MONTH, "1 year ago"),
            (-18 * MONTH, "2 years ago"),
            (10 * 365 * DAY, "10 years from now"),
            (-36 * YEAR, "36 years ago"),
            (-37 * YEAR, "a long while ago"),
        ] {
            assert_eq!(Timestamp::from_seconds(NOW + distance).relative_to(NOW), expected);
        }
    }
}
