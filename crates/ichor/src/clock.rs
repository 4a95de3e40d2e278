//! The clock of commands that have no engine.

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the one clock of commands that have no engine")]
pub(crate) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// This moment in RFC 3339, to the millisecond.
pub(crate) fn timestamp() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
