//! Thirty-two bytes as letters with a checksum, under a prefix that says what they are.

/// Reads thirty-two bytes. An error does not repeat any of the text.
pub(super) fn decode(prefix: &str, text: &str) -> Result<[u8; 32], &'static str> {
    // Prefix, separator, 52 letters of five bits, six of checksum.
    if text.len() != prefix.len() + 59 || !text.is_ascii() {
        return Err("its length is wrong");
    }
    let Some(letters) = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('1')) else {
        return Err("its beginning is wrong");
    };
    let upper = prefix.bytes().any(|byte| byte.is_ascii_uppercase());
    let fives: Option<Vec<u8>> = letters
        .bytes()
        .map(|letter| {
            let lower = letter.to_ascii_lowercase();
            let right_case = !letter.is_ascii_alphabetic() || letter.is_ascii_uppercase() == upper;
            let value = ALPHABET.iter().position(|&known| known == lower).filter(|_| right_case)?;
            u8::try_from(value).ok()
        })
        .collect();
    let fives = fives.ok_or("it has a character that cannot be in it")?;
    if polynomial(prefix, &fives) != 1 {
        return Err("its checksum is wrong; it was probably not copied as a whole");
    }
    let mut bytes = [0; 32];
    let mut bits = 0_u16;
    let mut count = 0;
    let mut filled = 0;
    for five in &fives[..52] {
        bits = (bits << 5) | u16::from(*five);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes[filled] = (bits >> count).to_le_bytes()[0];
            filled += 1;
            bits &= (1 << count) - 1;
        }
    }
    if bits == 0 { Ok(bytes) } else { Err("its last bits are wrong") }
}

/// Writes thirty-two bytes.
pub(super) fn encode(prefix: &str, bytes: &[u8; 32]) -> String {
    let mut fives = Vec::new();
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    for start in (0..260).step_by(5) {
        fives.push((start..start + 5).fold(0, |five, at| (five << 1) | bit(at)));
    }
    let mut padded = fives.clone();
    padded.extend([0; 6]);
    let checksum = polynomial(prefix, &padded) ^ 1;
    fives.extend((0..6).map(|i| (checksum >> (5 * (5 - i)) & 31).to_le_bytes()[0]));
    let letters = fives.iter().map(|&five| char::from(ALPHABET[usize::from(five)]));
    format!("{prefix}1{}", letters.collect::<String>())
}

/// Returns the checksum of bech32, over the prefix in lower case and the letters.
fn polynomial(prefix: &str, fives: &[u8]) -> u32 {
    let prefix: Vec<u8> = prefix.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let high = prefix.iter().map(|byte| byte >> 5);
    let low = prefix.iter().map(|byte| byte & 31);
    high.chain([0]).chain(low).chain(fives.iter().copied()).fold(1, |sum, five| {
        let shifted = (sum & 0x01ff_ffff) << 5 ^ u32::from(five);
        let terms = GENERATOR.iter().enumerate();
        terms.fold(
            shifted,
            |sum_so_far, (i, term)| {
                if sum >> (25 + i) & 1 == 1 { sum_so_far ^ term } else { sum_so_far }
            },
        )
    })
}

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
