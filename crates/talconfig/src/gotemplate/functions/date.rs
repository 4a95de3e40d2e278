//! Formatting of times with Go's layouts.

use talos_config::civil::date_of_day;

/// Formats a time with a layout such as `2006-01-02`, in UTC.
pub(super) fn written(layout: &str, seconds: i64) -> Result<String, String> {
    let (year, month, day) = date_of_day(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    let parts = [
        ("2006", format!("{year:04}")),
        ("01", format!("{month:02}")),
        ("02", format!("{day:02}")),
        ("15", format!("{:02}", second / 3_600)),
        ("04", format!("{:02}", second / 60 % 60)),
        ("05", format!("{:02}", second % 60)),
    ];
    let mut output = String::new();
    let mut rest = layout;
    while let Some(first) = rest.chars().next() {
        if let Some((part, value)) = parts.iter().find(|(part, _)| rest.starts_with(*part)) {
            output.push_str(value);
            rest = &rest[part.len()..];
            continue;
        }
        if let Some(other) = other_part(rest) {
            let known = "2006, 01, 02, 15, 04 and 05";
            return Err(format!("Ichor does not have {other:?} of Go's layouts, only {known}"));
        }
        output.push(first);
        rest = &rest[first.len_utf8()..];
    }
    Ok(output)
}

/// Returns a part of a layout that Go supports and Ichor does not, if the text begins with one.
fn other_part(rest: &str) -> Option<&str> {
    // Here the blank is text, and the year follows.
    if rest.starts_with("_2006") {
        return None;
    }
    let fraction = rest.strip_prefix(['.', ',']).filter(|digits| {
        let digit = if digits.starts_with('9') { '9' } else { '0' };
        let behind = digits.trim_start_matches(digit);
        behind.len() < digits.len() && !behind.starts_with(|next: char| next.is_ascii_digit())
    });
    if fraction.is_some() {
        return rest.get(..2);
    }
    OTHERS.iter().copied().find(|other| rest.starts_with(*other))
}

/// Longer ones first, where they begin alike.
const OTHERS: &[&str] = &[
    "Jan", "Mon", "MST", "002", "03", "06", "__2", "_2", "PM", "pm", "Z07", "-07", "1", "2", "3",
    "4", "5",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn a_moment_is_written_as_go_does() {
        check(&[
            (
                "{{ date \"2006-01-02 15:04:05\" 1748736305 }} {{ date \"2006-01-02\" (int64 1748736305) }}",
                "2025-06-01 00:05:05 2025-06-01",
            ),
            (
                "{{ date \"02.01.2006 15.04\" 1748736305 }} {{ date \"20060102150405\" 1748736305 }}",
                "01.06.2025 00.05 20250601000505",
            ),
            (
                "{{ date \"_2006\" 0 }} {{ date \"at 2006\" 0 }} {{ date \"\" 0 }} {{ date \"x-y\" 0 }} {{ date \"7 8 9\" 0 }} {{ date \"0 00 000\" 0 }} {{ date \"Z - P M .\" 0 }} {{ date \"15h04\" 0 }}",
                "_1970 at 1970  x-y 7 8 9 0 00 000 Z - P M . 00h00",
            ),
            (
                "{{ date \"2006-01-02\" 951782400 }} {{ date \"2006-01-02\" -1 }} {{ now | date \"2006\" | len }}",
                "2000-02-29 1969-12-31 4",
            ),
        ]);
    }

    #[test]
    fn other_parts_of_a_layout_are_refused() {
        for layout in
            ["Jan 2006", "Monday", "06", "3:04", "PM", "MST", "-0700", "05.000", "_2", "002"]
        {
            assert!(written(layout, 0).is_err(), "{layout}");
        }
    }
}
