//! Points in time as machines tell them and people read them.

use std::fmt;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::makers;

/// A point in time. What a machine does not tell, or tells wrongly, is the beginning of 1970.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Moment(Timestamp);

impl From<Option<prost_types::Timestamp>> for Moment {
    fn from(timestamp: Option<prost_types::Timestamp>) -> Self {
        let timestamp = timestamp.unwrap_or_default();
        Self(Timestamp::new(timestamp.seconds, timestamp.nanos).unwrap_or_default())
    }
}

impl Moment {
    pub(crate) fn from_seconds(seconds: i64) -> Self {
        Self(Timestamp::from_second(seconds).unwrap_or_default())
    }

    /// `32s ago`, `1h2m3s ago`: how long ago it was, in whole seconds, as Go writes it.
    pub(crate) fn ago(self) -> String {
        let seconds = makers::now().saturating_sub(self.0.as_second()).max(0);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        match (hours, minutes) {
            (0, 0) => format!("{seconds}s ago"),
            (0, _) => format!("{minutes}m{seconds}s ago"),
            _ => format!("{hours}h{minutes}m{seconds}s ago"),
        }
    }
}

/// RFC 3339 in UTC, with as many digits of the second as there are.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
