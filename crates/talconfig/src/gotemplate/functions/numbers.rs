//! Functions of numbers.

use super::{Arguments, MOST};
use crate::gotemplate::parse::literal::whole;
use crate::gotemplate::value::GoValue;

pub(super) fn call<'d>(
    name: &str,
    arguments: &Arguments<'_, 'd>,
) -> Result<Option<GoValue<'d>>, String> {
    let one = |index: usize| arguments.0.get(index).map_or(Ok(0), number);
    let all = || arguments.0.iter().map(number).collect::<Result<Vec<i64>, String>>();
    Ok(Some(match name {
        "int" => GoValue::Int(one(0)?),
        "int64" => GoValue::Long(one(0)?),
        "atoi" => GoValue::Int(of_digits(arguments.text(0))),
        "add" => GoValue::Long(all()?.into_iter().fold(0, i64::wrapping_add)),
        "add1" => GoValue::Long(one(0)?.wrapping_add(1)),
        "sub" => GoValue::Long(one(0)?.wrapping_sub(one(1)?)),
        "mul" => GoValue::Long(all()?.into_iter().fold(1, i64::wrapping_mul)),
        "div" => GoValue::Long(one(0)?.wrapping_div(divisor(one(1)?)?)),
        "mod" => GoValue::Long(one(0)?.wrapping_rem(divisor(one(1)?)?)),
        "max" => GoValue::Long(all()?.into_iter().max().unwrap_or(0)),
        "min" => GoValue::Long(all()?.into_iter().min().unwrap_or(0)),
        "until" => {
            let count = arguments.number(0);
            if count.unsigned_abs() > MOST.unsigned_abs() {
                return Err(format!("Ichor does not count to more than {MOST}"));
            }
            let numbers = (0..count.abs()).map(|number| GoValue::Int(number * count.signum()));
            GoValue::List("int", numbers.collect())
        }
        _ => return Ok(None),
    }))
}

/// Returns the whole part of a number.
#[expect(clippy::cast_possible_truncation, reason = "so Go has it")]
pub(in crate::gotemplate) fn truncated(number: f64) -> i64 {
    number as i64
}

/// Converts a value to a number.
fn number(value: &GoValue<'_>) -> Result<i64, String> {
    Ok(match value {
        GoValue::Int(number) | GoValue::Long(number) => *number,
        GoValue::Float(number) => truncated(*number),
        GoValue::Bool(value) | GoValue::Flag(value) => i64::from(*value),
        GoValue::Text(text) => of_text(text),
        GoValue::Named(ty, _) => return Err(format!("Ichor does not know the number of a {ty}")),
        _ => 0,
    })
}

/// Converts the digits of a text before its point to a number; 0 for any other text.
fn of_text(text: &str) -> i64 {
    let Some((before, behind)) = text.split_once('.') else { return whole(text).unwrap_or(0) };
    let digits = before.strip_prefix(['+', '-']).unwrap_or(before);
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(digits) || !all_digits(behind) {
        return 0;
    }
    whole(before).unwrap_or(0)
}

/// Parses a decimal number, saturated to its type; 0 for any other text.
fn of_digits(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

fn divisor(number: i64) -> Result<i64, String> {
    if number == 0 {
        return Err("runtime error: integer divide by zero".to_owned());
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use crate::gotemplate::eval::tests::check;

    #[test]
    fn numbers_become_what_sprig_makes_of_them() {
        check(&[
            (
                "{{ int \"12\" }} {{ int \"0x10\" }} {{ int \"010\" }} {{ int \"3.7\" }} {{ int \"x\" }} {{ int \"\" }} {{ int nil }} {{ int true }} {{ int 2.9 }}",
                "12 16 8 3 0 0 0 1 2",
            ),
            (
                "{{ int \"-1.5\" }} {{ int \".5\" }} {{ int \".\" }} {{ int \" 1\" }} {{ int \"1_0\" }} {{ int \"1.x\" }} {{ int \"99999999999999999999\" }}",
                "-1 0 0 0 10 0 0",
            ),
            (
                "{{ int (list 1) }} {{ int .ClusterConfig.ControlPlane.Endpoint }} {{ int now }} {{ int .MachineConfig.MachineInstall.InstallWipe }}",
                "0 0 0 0",
            ),
            (
                "{{ int64 \"12\" }} {{ atoi \"12\" }} {{ atoi \"0x10\" }} {{ atoi \"010\" }} {{ atoi \"x\" }} {{ atoi \"+5\" }} {{ atoi \"1_0\" }}",
                "12 12 0 10 0 5 0",
            ),
            (
                "{{ atoi \"99999999999999999999\" }} {{ atoi \"-99999999999999999999\" }}",
                "9223372036854775807 -9223372036854775808",
            ),
            (
                "{{ add 1 \"2\" 3.9 }} {{ add1 5 }} {{ sub 5 2 }} {{ mul 2 3 4 }} {{ div 7 2 }} {{ div -7 2 }} {{ mod -7 2 }} {{ max 1 3 2 }} {{ min 3 1 2 }}",
                "6 6 3 24 3 -3 -1 3 1",
            ),
            (
                "{{ div 1 0 }}",
                "ERR 1:3: executing \"template\" at <div 1 0>: error calling div: runtime error: integer divide by zero",
            ),
            (
                "{{ mod 1 0 }}",
                "ERR 1:3: executing \"template\" at <mod 1 0>: error calling mod: runtime error: integer divide by zero",
            ),
            (
                "{{ div (int64 \"-9223372036854775808\") -1 }} {{ until 3 }} {{ until -3 }} {{ until 0 }}",
                "-9223372036854775808 [0 1 2] [0 -1 -2] []",
            ),
            ("{{ .MachineConfig.MachineFeatures.KubePrismSupport.ServerPort | add 1 }}", "7446"),
        ]);
    }
}
