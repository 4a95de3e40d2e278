//! The clock of commands that have no engine.

use engine::live::SystemClock;

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemClock::time().0
}

/// This moment in RFC 3339, to the millisecond.
pub(crate) fn timestamp() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
