//! Messages as the wire has them, without knowing what they mean.

/// A form in which two encodings of the same message are equal.
///
/// The order of fields is free, and that of the entries of a map; what is empty may be left out. Go makes
/// use of all three: for maps anywhere, and for the specs of resources in general. A field that was lost
/// or changed still shows. Text that happens to look like a message is treated as one, on both sides.
pub(crate) fn normal(bytes: &[u8]) -> Vec<u8> {
    let Some(fields) = fields(bytes) else { return bytes.to_vec() };
    let mut fields: Vec<_> = fields
        .into_iter()
        .map(|(key, value)| match value {
            Value::Plain(value) => (key, value.to_vec()),
            Value::Delimited(value) => (key, normal(value)),
        })
        .filter(|(_, value)| !value.is_empty())
        .collect();
    fields.sort();
    fields
        .iter()
        .flat_map(|(key, value)| {
            [key.to_le_bytes().as_slice(), value.len().to_le_bytes().as_slice(), value].concat()
        })
        .collect()
}

enum Value<'a> {
    Plain(&'a [u8]),
    Delimited(&'a [u8]),
}

/// The fields of a message: number and wire type together, and the value. Nothing when it is no message.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (key, length) = varint(bytes)?;
        bytes = &bytes[length..];
        let value = match key & 7 {
            0 => Value::Plain(bytes.get(..varint(bytes)?.1)?),
            1 => Value::Plain(bytes.get(..8)?),
            5 => Value::Plain(bytes.get(..4)?),
            2 => {
                let (size, length) = varint(bytes)?;
                bytes = &bytes[length..];
                Value::Delimited(bytes.get(..usize::try_from(size).ok()?)?)
            }
            _ => return None,
        };
        if key >> 3 == 0 {
            return None;
        }
        let (Value::Plain(taken) | Value::Delimited(taken)) = &value;
        bytes = &bytes[taken.len()..];
        fields.push((key, value));
    }
    Some(fields)
}

/// A number of variable length, and its length.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let number = bytes[..length]
        .iter()
        .rev()
        .fold(0_u64, |number, byte| number << 7 | u64::from(byte & 0x7f));
    Some((number, length))
}
