//! Amounts of bytes: `10GiB`, `1.5 TB`, `50%`.

use crate::value::Data;

/// Checks that a text is an amount of bytes.
pub(super) fn check(text: &str) -> Result<(), String> {
    bytes(text).map(drop)
}

/// Checks that a text is an amount of bytes or a share of them.
pub(super) fn check_size(text: &str) -> Result<(), String> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let Some(share) = unsigned.strip_suffix('%') else { return check(unsigned) };
    let number: f64 = share.parse().map_err(|_| format!("{text:?} is not a percentage"))?;
    if share.ends_with(' ') || !(0.0..101.0).contains(&number) || number.trunc() > 100.0 {
        return Err(format!("percentage must be between 0 and 100, got {share}"));
    }
    Ok(())
}

/// Checks that a text is an amount of bytes with a comparison in front.
pub(super) fn check_match(text: &str) -> Result<(), String> {
    check(comparison(text).1)
}

/// Returns whether a size is what such a text asks for. One that cannot be read asks for nothing.
pub fn satisfies(size: u64, condition: &str) -> bool {
    let (operator, amount) = comparison(condition);
    bytes(amount).is_ok_and(|amount| match operator {
        ">=" => size >= amount,
        "<=" => size <= amount,
        ">" => size > amount,
        "<" => size < amount,
        _ => size == amount,
    })
}

/// Returns the operator in front of an amount, if there is one, and the amount.
fn comparison(text: &str) -> (&str, &str) {
    let text = text.trim();
    let operators = [">=", "<=", "==", ">", "<"];
    let operator = operators.into_iter().find(|operator| text.starts_with(operator)).unwrap_or("");
    (operator, text[operator.len()..].trim_start())
}

/// Returns a size of a legacy partition: kept as text when that is exact, as a number of bytes otherwise.
pub(crate) fn disk(text: &str) -> Result<Data, String> {
    let amount = bytes(text)?;
    let spelled = spell(amount);
    let exact = amount % 1000 == 0 && bytes(&spelled) == Ok(amount);
    Ok(if exact && amount > 0 { Data::Text(spelled) } else { Data::Int(amount.into()) })
}

/// Reads an amount of bytes. Units are decimal, or binary with an `i`, in any case.
pub fn bytes(text: &str) -> Result<u64, String> {
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.' && character != ',')
        .unwrap_or(text.len());
    let digits = text[..end].replace(',', "");
    let number: f64 = digits.parse().map_err(|_| format!("{text:?} has no number in front"))?;
    let unit = text[end..].trim().to_lowercase();
    let unit = unit.strip_suffix('b').filter(|prefix| !prefix.is_empty()).unwrap_or(&unit);
    let size = match unit {
        "" | "b" => 1,
        _ => {
            let (letter, base) = match unit.strip_suffix('i') {
                Some(letter) => (letter, 1024_u64),
                None => (unit, 1000),
            };
            let power = ["k", "m", "g", "t", "p", "e"].iter().position(|known| *known == letter);
            let power =
                power.ok_or_else(|| format!("unhandled size name: {}", text[end..].trim()))?;
            base.pow(u32::try_from(power + 1).unwrap_or_default())
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "Go computes it so, and so must we")]
    let amount = number * size as f64;
    #[expect(clippy::cast_precision_loss, reason = "only whether it is too large")]
    if amount >= u64::MAX as f64 {
        return Err(format!("too large: {text}"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above; digits only"
    )]
    Ok(amount as u64)
}

/// Spells an amount of bytes with a decimal unit, as people read it: `10 GB`, `1.5 GB`, `82 MB`.
pub fn spell(amount: u64) -> String {
    if amount < 10 {
        return format!("{amount} B");
    }
    let mut power = 0;
    let mut size = 1_u64;
    while power < UNITS.len() - 1 && amount / size >= 1000 {
        size *= 1000;
        power += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "Go computes it so, and so must we")]
    let value = (amount as f64 / size as f64 * 10.0 + 0.5).floor() / 10.0;
    let unit = UNITS[power];
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

const UNITS: &[&str] = &["B", "kB", "MB", "GB", "TB", "PB", "EB"];
