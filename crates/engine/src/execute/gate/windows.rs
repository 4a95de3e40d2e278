//! Windows: times of the week in which machines may be disturbed.

use domain::{Timestamp, Window};

use super::Verdict;

pub(super) fn look(windows: &[Window], now: Timestamp) -> Verdict {
    if windows.iter().any(|window| window.is_open(now)) {
        return Verdict::Open;
    }
    let names: Vec<String> = windows.iter().map(Window::to_string).collect();
    let opens = windows.iter().map(|window| window.opens_after(now)).min();
    Verdict::Shut {
        why: format!("waits for a window: {}", names.join(", ")),
        until: opens.unwrap_or(now),
    }
}
