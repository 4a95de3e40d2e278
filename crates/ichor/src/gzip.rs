//! gzip (RFC 1952), read only: what machines pack archives with.
//!
//! Compressed bytes go in, what was packed comes out, as it is read. Always holds: no more than the last 32 KiB and one
//! block's codes are kept; bytes that are damaged or cut off are an error at the latest at their end; no input makes
//! it panic.

use std::io::{self, BufRead, BufReader, Read};

/// Reads what a gzip file holds, one or several members of it.
pub(crate) struct Gunzip<R> {
    bits: Bits<R>,
    next: Next,
    /// Whether no block follows the one that is read.
    last: bool,
    /// What was made: up to [`WINDOW`] bytes that may be repeated, then those that nobody took yet.
    made: Vec<u8>,
    taken: usize,
    check: Check,
}

/// What comes next in the input.
enum Next {
    Member,
    Block,
    Stored(usize),
    Coded {
        letters: Code,
        distances: Code,
    },
    Trailer,
    Nothing,
    /// There was an error, and will be.
    Broken,
}

impl<R: Read> Gunzip<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            bits: Bits { input: BufReader::new(input), held: 0, count: 0 },
            next: Next::Member,
            last: false,
            made: Vec::new(),
            taken: 0,
            check: Check::default(),
        }
    }

    /// Makes some more bytes, or goes on in the input without any.
    fn step(&mut self) -> io::Result<()> {
        if self.made.len() > 2 * WINDOW {
            self.made.drain(..self.made.len() - WINDOW);
        }
        self.taken = self.made.len();
        self.next = match std::mem::replace(&mut self.next, Next::Broken) {
            Next::Member => {
                self.member()?;
                Next::Block
            }
            Next::Block => self.block()?,
            Next::Stored(0) => self.after_block(),
            Next::Stored(left) => {
                let count = left.min(WINDOW);
                for _ in 0..count {
                    let byte = self.bits.take(8)?;
                    self.made.push(low_byte(byte));
                }
                Next::Stored(left - count)
            }
            Next::Coded { letters, distances } => {
                if self.coded(&letters, &distances)? {
                    self.after_block()
                } else {
                    Next::Coded { letters, distances }
                }
            }
            Next::Trailer => self.trailer()?,
            Next::Nothing => Next::Nothing,
            Next::Broken => return Err(broken("read on after an error")),
        };
        self.check.add(&self.made[self.taken..]);
        Ok(())
    }

    fn after_block(&self) -> Next {
        if self.last { Next::Trailer } else { Next::Block }
    }

    /// The head of a member: magic, method, flags, and fields that say nothing about the content.
    fn member(&mut self) -> io::Result<()> {
        self.made.clear();
        self.taken = 0;
        self.check = Check::default();
        if self.bits.take(16)? != 0x8b1f || self.bits.take(8)? != 8 {
            return Err(broken("no gzip"));
        }
        let flags = self.bits.take(8)?;
        // The time, the level and the system.
        for _ in 0..6 {
            self.bits.take(8)?;
        }
        if flags & 0x04 != 0 {
            for _ in 0..self.bits.take(16)? {
                self.bits.take(8)?;
            }
        }
        for name_or_comment in [0x08, 0x10] {
            if flags & name_or_comment != 0 {
                while self.bits.take(8)? != 0 {}
            }
        }
        if flags & 0x02 != 0 {
            self.bits.take(16)?;
        }
        Ok(())
    }

    fn block(&mut self) -> io::Result<Next> {
        self.last = self.bits.take(1)? == 1;
        match self.bits.take(2)? {
            0 => {
                self.bits.align();
                let (length, complement) = (self.bits.take(16)?, self.bits.take(16)?);
                if length != complement ^ 0xffff {
                    return Err(broken("a wrong length"));
                }
                Ok(Next::Stored(index(length)))
            }
            1 => {
                let lengths: Vec<u8> = (0..288_u16)
                    .map(|letter| match letter {
                        0..144 => 8,
                        144..256 => 9,
                        256..280 => 7,
                        _ => 8,
                    })
                    .collect();
                Ok(Next::Coded { letters: Code::new(&lengths)?, distances: Code::new(&[5; 30])? })
            }
            2 => self.codes(),
            _ => Err(broken("an unknown kind of block")),
        }
    }

    /// The codes of a block, whose lengths are themselves coded.
    fn codes(&mut self) -> io::Result<Next> {
        let letters = index(self.bits.take(5)?) + 257;
        let distances = index(self.bits.take(5)?) + 1;
        let count = index(self.bits.take(4)?) + 4;
        let mut lengths = [0; 19];
        for place in &ORDER[..count] {
            lengths[*place] = low_byte(self.bits.take(3)?);
        }
        let code = Code::new(&lengths)?;
        let mut lengths: Vec<u8> = Vec::with_capacity(letters + distances);
        while lengths.len() < letters + distances {
            let (length, times) = match self.bits.symbol(&code)? {
                16 => {
                    let previous = *lengths.last().ok_or_else(|| broken("nothing to repeat"))?;
                    (previous, 3 + self.bits.take(2)?)
                }
                17 => (0, 3 + self.bits.take(3)?),
                18 => (0, 11 + self.bits.take(7)?),
                length => (length.to_le_bytes()[0], 1),
            };
            lengths.extend(std::iter::repeat_n(length, index(times)));
        }
        if lengths.len() > letters + distances {
            return Err(broken("too many codes"));
        }
        let (letters, distances) = lengths.split_at(letters);
        Ok(Next::Coded { letters: Code::new(letters)?, distances: Code::new(distances)? })
    }

    /// Reads a part of a coded block. Says whether it ended.
    fn coded(&mut self, letters: &Code, distances: &Code) -> io::Result<bool> {
        let enough = self.made.len() + WINDOW;
        while self.made.len() < enough {
            let symbol = self.bits.symbol(letters)?;
            if symbol < 256 {
                self.made.push(symbol.to_le_bytes()[0]);
                continue;
            }
            if symbol == 256 {
                return Ok(true);
            }
            let length = self.number(&LENGTHS, usize::from(symbol) - 257)?;
            let symbol = self.bits.symbol(distances)?;
            let distance = self.number(&DISTANCES, usize::from(symbol))?;
            let start = self.made.len().checked_sub(distance);
            let start = start.ok_or_else(|| broken("a repetition of what was not there"))?;
            // What is repeated may be what is being made.
            for from in start..start + length {
                self.made.push(self.made[from]);
            }
        }
        Ok(false)
    }

    /// A number that is told by a symbol and further bits.
    fn number(&mut self, table: &[(u16, u8)], symbol: usize) -> io::Result<usize> {
        let (base, bits) = table.get(symbol).ok_or_else(|| broken("an unknown symbol"))?;
        Ok(usize::from(*base) + index(self.bits.take(u32::from(*bits))?))
    }

    fn trailer(&mut self) -> io::Result<Next> {
        self.bits.align();
        let checksum = self.bits.take(16)? | self.bits.take(16)? << 16;
        let length = self.bits.take(16)? | self.bits.take(16)? << 16;
        if checksum != !self.check.register || length != self.check.length {
            return Err(broken("a wrong checksum"));
        }
        Ok(if self.bits.is_at_end()? { Next::Nothing } else { Next::Member })
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.made.len() && !matches!(self.next, Next::Nothing) {
            if let Err(error) = self.step() {
                // What was made of damaged bytes is not given out.
                self.made.truncate(self.taken);
                return Err(error);
            }
        }
        let ready = &self.made[self.taken..];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.taken += count;
        Ok(count)
    }
}

/// Bits, the lowest of each byte first.
struct Bits<R> {
    input: BufReader<R>,
    held: u64,
    count: u32,
}

impl<R: Read> Bits<R> {
    /// Holds as many bits as are wanted, or as there are.
    fn fill(&mut self, wanted: u32) -> io::Result<()> {
        while self.count < wanted {
            let Some(byte) = self.input.fill_buf()?.first().copied() else { break };
            self.input.consume(1);
            self.held |= u64::from(byte) << self.count;
            self.count += 8;
        }
        Ok(())
    }

    /// The next bits, sixteen at most.
    fn take(&mut self, count: u32) -> io::Result<u32> {
        self.fill(count)?;
        let bits = self.held & ((1 << count) - 1);
        self.drop(count)?;
        Ok(u32::try_from(bits).unwrap_or_default())
    }

    fn drop(&mut self, count: u32) -> io::Result<()> {
        self.count = self.count.checked_sub(count).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.held >>= count;
        Ok(())
    }

    fn symbol(&mut self, code: &Code) -> io::Result<u16> {
        self.fill(code.longest)?;
        let bits = usize::try_from(self.held & ((1 << code.longest) - 1)).unwrap_or_default();
        let (symbol, length) = code.table[bits];
        if length == 0 {
            return Err(broken("an unknown code"));
        }
        self.drop(u32::from(length))?;
        Ok(symbol)
    }

    /// Goes on with the next whole byte.
    fn align(&mut self) {
        self.held >>= self.count % 8;
        self.count -= self.count % 8;
    }

    fn is_at_end(&mut self) -> io::Result<bool> {
        self.fill(8)?;
        Ok(self.count == 0)
    }
}

/// A prefix code: for every combination of as many bits as its longest code has, the symbol and the length of its code.
struct Code {
    table: Vec<(u16, u8)>,
    longest: u32,
}

impl Code {
    /// A code is told by how long the code of each symbol is, none longer than fifteen bits.
    fn new(lengths: &[u8]) -> io::Result<Self> {
        let longest = u32::from(lengths.iter().copied().max().unwrap_or_default());
        let mut table = vec![(0, 0); 1 << longest];
        let mut code = 0_u32;
        for length in 1..=longest {
            for (symbol, _) in
                lengths.iter().enumerate().filter(|(_, has)| u32::from(**has) == length)
            {
                if code >> length != 0 {
                    return Err(broken("more codes than there can be"));
                }
                // A code comes with its highest bit first, and any bits may follow it.
                let first = code.reverse_bits() >> (32 - length);
                let entry = (u16::try_from(symbol).unwrap_or_default(), low_byte(length));
                for place in (index(first)..1 << longest).step_by(1 << length) {
                    table[place] = entry;
                }
                code += 1;
            }
            code <<= 1;
        }
        Ok(Self { table, longest })
    }
}

/// The checksum and the length of what was made.
struct Check {
    register: u32,
    length: u32,
}

impl Check {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let place = low_byte(self.register) ^ byte;
            self.register = self.register >> 8 ^ CHECKSUMS[usize::from(place)];
        }
        // It is told modulo 2³².
        self.length = self.length.wrapping_add(u32::try_from(bytes.len()).unwrap_or_default());
    }
}

impl Default for Check {
    fn default() -> Self {
        Self { register: u32::MAX, length: 0 }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged archive: {what}"))
}

fn low_byte(bits: u32) -> u8 {
    bits.to_le_bytes()[0]
}

fn index(bits: u32) -> usize {
    usize::try_from(bits).unwrap_or_default()
}

/// How far back a repetition reaches.
const WINDOW: usize = 1 << 15;

/// The order in which the lengths of the codes of lengths are told.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Lengths of repetitions, from symbol 257 on: the shortest, and how many bits are added to it.
const LENGTHS: [(u16, u8); 29] = {
    let mut table = [(0, 0); 29];
    let (mut symbol, mut base) = (0, 3);
    while symbol < 28 {
        let bits = if symbol < 8 { 0 } else { symbol / 4 - 1 };
        #[expect(clippy::cast_possible_truncation, reason = "five at most")]
        let entry = (base, bits as u8);
        table[symbol] = entry;
        base += 1 << bits;
        symbol += 1;
    }
    table[28] = (258, 0);
    table
};

/// Distances of repetitions: the shortest, and how many bits are added to it.
const DISTANCES: [(u16, u8); 30] = {
    let mut table = [(0, 0); 30];
    let (mut symbol, mut base) = (0, 1);
    while symbol < 30 {
        let bits = if symbol < 4 { 0 } else { symbol / 2 - 1 };
        #[expect(clippy::cast_possible_truncation, reason = "thirteen at most")]
        let entry = (base, bits as u8);
        table[symbol] = entry;
        base += 1 << bits;
        symbol += 1;
    }
    table
};

/// What a byte does to the checksum.
const CHECKSUMS: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "a byte")]
        let mut register = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            register = if register & 1 == 1 { register >> 1 ^ 0xedb8_8320 } else { register >> 1 };
            bit += 1;
        }
        table[byte] = register;
        byte += 1;
    }
    table
};

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_kind_of_block_is_read() {
        let numbers: Vec<String> =
            (0..150_u32).map(|number| (number * number).to_string()).collect();
        for (packed, expected) in [
            (STORED, "bronze, ichor, ichor, bronze"),
            (FIXED, "bronze, ichor, ichor, bronze"),
            (DYNAMIC, &numbers.join(" ")),
        ] {
            assert_eq!(String::from_utf8(unpack(&bytes(packed)).unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn members_follow_each_other() {
        let packed = [bytes(STORED), bytes(FIXED)].concat();
        let expected = b"bronze, ichor, ichor, bronzebronze, ichor, ichor, bronze";
        assert_eq!(unpack(&packed).unwrap(), expected);
        assert!(unpack(&[bytes(STORED), b"behind".to_vec()].concat()).is_err());
        assert!(unpack(b"").is_err());
    }

    proptest! {
        /// Longer than the window, in blocks of any size.
        #[test]
        fn stored_blocks_give_back_their_bytes(seed: u8, length in 0..200_000_usize, size in 1..65_536_usize) {
            let content: Vec<u8> =
                (0..length).map(|place| (place / 251 + place * usize::from(seed)).to_le_bytes()[0]).collect();
            prop_assert!(unpack(&store(&content, size)).unwrap() == content);
        }

        #[test]
        fn damage_is_noticed(place in 10..400_usize, bit in 0..8_u32, cut: bool) {
            for text in [STORED, FIXED, DYNAMIC] {
                let whole = bytes(text);
                let mut damaged = whole.clone();
                if cut {
                    damaged.truncate(place);
                } else if let Some(byte) = damaged.get_mut(place) {
                    *byte ^= 1 << bit;
                }
                // Bits between the last block and the checksum say nothing.
                let same = |unpacked: Vec<u8>| unpacked == unpack(&whole).unwrap();
                prop_assert!(unpack(&damaged).map_or(true, same), "{place} {bit}");
                prop_assert!(!cut || place >= whole.len() || unpack(&damaged).is_err());
            }
        }

        #[test]
        fn nothing_makes_it_panic(content: Vec<u8>) {
            let head = &bytes(FIXED)[..10];
            let _ = unpack(&[head, &content].concat());
        }
    }

    fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Gunzip::new(packed).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Packs without compressing, in blocks of that size.
    pub(crate) fn store(content: &[u8], size: usize) -> Vec<u8> {
        let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        for block in content.chunks(size) {
            let length = u16::try_from(block.len()).unwrap();
            packed.push(0);
            packed.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
            packed.extend(block);
        }
        let mut check = Check::default();
        check.add(content);
        packed.extend([1, 0, 0, 255, 255]);
        packed.extend((!check.register).to_le_bytes());
        packed.extend(check.length.to_le_bytes());
        packed
    }

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digits = |at| &hexadecimal[at..at + 2];
        (0..hexadecimal.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(digits(at), 16).unwrap())
            .collect()
    }

    // Packed by zlib.
    const STORED: &str = "1f8b0800000000000403011c00e3ff62726f6e7a652c206963686f722c206963686f722c2062726f6e7a65c1f46eab1c0000\
         00";
    const FIXED: &str =
        "1f8b08000000000002034b2acacfab4ad551c84ccec82f825349605100c1f46eab1c000000";
    const DYNAMIC: &str = "\
         1f8b08000000000002032592c901033108035b7109e6588efe1bcbc8f9c4642d6010bec74e9e3d56c7bf1375724fe5193b76\
         ef31e7cce416c52241e31fe7ec094ff464a3cbe49c3c9feff9ba4ea12bcee67ff37db85f745baa4ba25d2a9851ca54d39ce2\
         16ea926af7a96f09a044d210d9a41820f42b0a13b1df3d1e378fe735c8c8f052d4fa36ba5d74a18ca0bea0210fea455239d4\
         239a6e31f48d85202f2c29aa0cf83221cd82395bd36a8cef32cf671a38343137e7d3cc5f2b5abed5e5962cc34d32ea23b79a\
         2a35d4ebfbc91c329a9ea73ffa7643d00bcbc8fa71f826b58b827906fad51c2888a0c44da6dcb96f5732ebfa8bf3cae04281\
         cd88cd9467e6a138e5a3952cb591bbfedf74c873ff64bfb736e1fb96f2f613f9bd05696bb15a605abdb7a15c2815cf6875e4\
         f11b1861cf13fb4671bdef15d2d4d397acb47e753a55b35ffd5ef59ad797a52b7e3c7bc5b68f73dfe358f13333b3f8d55c7e\
         5b0fc4fe2f24f4444c3eb892792e687f0075ca58f1020000";
}
