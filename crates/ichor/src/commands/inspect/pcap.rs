//! `ichor pcap`: the packets of a network interface, as a file for tcpdump and Wireshark.
//!
//! Always holds: the file ends with a complete packet, whatever ended the capture.

use std::io::Write as _;
use std::pin::pin;
use std::time::Duration;

use talos_api::proto::machine::{BpfInstruction, PacketCaptureRequest};
use talos_api::{CallError, Node, NodeError};
use talos_config::spell_bytes;

use crate::args::inspect::PcapArgs;
use crate::files::PendingFile;
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, runtime};

pub(super) async fn run(
    args: &PcapArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let node = nodes.single("pcap")?;
    let request = PacketCaptureRequest {
        interface: args.interface.clone(),
        promiscuous: args.promiscuous,
        // Talos captures packets as a whole.
        snap_len: 0,
        bpf_filter: filter(&args.bpf_filter)?,
    };
    let mut sink = Sink::open(args, printer)?;
    let mut packets = Packets::new(args.max_size);
    let outcome = capture(node, request, args.duration, &mut packets, &mut sink, printer).await;
    // What was captured before a failure is kept.
    let size = spell_bytes(packets.taken);
    match sink {
        Sink::File(file) if packets.taken > 0 => {
            file.commit()?;
            let path = args.output.as_deref().unwrap_or_else(|| "-".as_ref()).display();
            printer.note(&format!("wrote {} packets ({size}) to {path}", packets.count));
        }
        Sink::File(_) | Sink::Stdout => {
            printer.note(&format!("captured {} packets ({size})", packets.count));
        }
    }
    outcome.map(|()| ExitStatus::Done)
}

/// Passes packets on until the time is over, the capture is full, the machine ends it, or Ctrl-C.
async fn capture(
    node: &Node,
    request: PacketCaptureRequest,
    duration: Option<Duration>,
    packets: &mut Packets,
    sink: &mut Sink,
    printer: &mut Printer,
) -> Result<(), Error> {
    let mut interrupted = pin!(runtime::interrupted());
    let mut over = pin!(async {
        match duration {
            Some(duration) => tokio::time::sleep(duration).await,
            None => std::future::pending().await,
        }
    });
    let open = |node: Node| async move { node.machine().packet_capture(request).await };
    // An interface may be silent for any time.
    let mut stream = node.open(open).await?.without_idle_timeout();
    loop {
        let bytes = tokio::select! {
            biased;
            () = &mut interrupted => return Ok(()),
            () = &mut over => return Ok(()),
            bytes = stream.bytes() => bytes?,
        };
        let Some(bytes) = bytes else { return Ok(()) };
        let before = spell_bytes(packets.taken);
        let whole = packets.take(&bytes).map_err(|problem| {
            let reason = CallError::Unreadable(format!("the capture {problem}"));
            NodeError { node: node.name().to_owned(), reason }
        })?;
        match sink {
            Sink::File(file) => file.write_all(&whole)?,
            Sink::Stdout => drop(printer.bytes(&whole)?),
        }
        if packets.is_full {
            return Ok(());
        }
        let now = spell_bytes(packets.taken);
        if matches!(sink, Sink::File(_)) && now != before {
            printer.progress(&format!("captured {} packets ({now})", packets.count));
        }
    }
}

/// The destination of packets.
enum Sink {
    File(PendingFile),
    Stdout,
}

impl Sink {
    fn open(args: &PcapArgs, printer: &Printer) -> Result<Self, Error> {
        match &args.output {
            Some(path) if path.as_os_str() != "-" => {
                Ok(Self::File(PendingFile::create(path, args.force)?))
            }
            None if printer.shows_data() => Err(Error::Usage {
                message: "packets are not text, and stdout is a terminal".to_owned(),
                hint: "write them to a file with -o, or pipe them into `tcpdump -r -`".to_owned(),
            }),
            _ => Ok(Self::Stdout),
        }
    }
}

/// Cuts a stream of bytes in the format of libpcap into complete packets.
struct Packets {
    /// Bytes that are not complete yet.
    rest: Vec<u8>,
    /// Whether numbers are big-endian; `None` before the head of the file.
    is_big_endian: Option<bool>,
    count: u64,
    /// In bytes, the head included.
    taken: u64,
    max_size: u64,
    /// The next packet would be too much.
    is_full: bool,
}

impl Packets {
    fn new(max_size: u64) -> Self {
        let rest = Vec::new();
        Self { rest, is_big_endian: None, count: 0, taken: 0, max_size, is_full: false }
    }

    /// Returns what is complete by now.
    fn take(&mut self, bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
        self.rest.extend_from_slice(bytes);
        let mut whole = 0;
        while let Some(length) = self.next_length(whole)? {
            if self.rest.len() < whole + length {
                break;
            }
            if self.taken + length as u64 > self.max_size {
                self.is_full = true;
                break;
            }
            self.count += u64::from(self.taken > 0);
            self.taken += length as u64;
            whole += length;
        }
        Ok(self.rest.drain(..whole).collect())
    }

    /// Returns the length of the head of the file or of the packet there; `None` while it is not known.
    fn next_length(&mut self, at: usize) -> Result<Option<usize>, &'static str> {
        let rest = &self.rest[at..];
        let Some(is_big_endian) = self.is_big_endian else {
            let Some(magic) = rest.first_chunk::<4>() else { return Ok(None) };
            self.is_big_endian = Some(match u32::from_be_bytes(*magic) {
                MICROSECONDS | NANOSECONDS => true,
                number if [MICROSECONDS, NANOSECONDS].contains(&number.swap_bytes()) => false,
                _ => return Err("is not in the format of libpcap"),
            });
            return Ok(Some(FILE_HEAD));
        };
        if self.taken == 0 {
            return Ok(Some(FILE_HEAD));
        }
        let Some(length) = rest.get(8..12).and_then(|bytes| bytes.first_chunk::<4>()) else {
            return Ok(None);
        };
        let length =
            if is_big_endian { u32::from_be_bytes(*length) } else { u32::from_le_bytes(*length) };
        match usize::try_from(length) {
            Ok(length) if length <= LONGEST_PACKET => Ok(Some(PACKET_HEAD + length)),
            _ => Err("has a packet without an end"),
        }
    }
}

/// Parses a filter in the form of `tcpdump -dd`: a line such as `{ 0x15, 0, 8, 0x00000060 },` for each instruction.
fn filter(text: &str) -> Result<Vec<BpfInstruction>, Error> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let instruction = |line: &str| {
        let inner = line.trim_end_matches(',').strip_prefix('{')?.strip_suffix('}')?;
        let mut numbers = inner.split(',').map(|number| {
            let number = number.trim();
            match number.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => number.parse().ok(),
            }
        });
        let mut next = || numbers.next().flatten();
        let (op, jt, jf, k) = (next()?, next()?, next()?, next()?);
        numbers.next().is_none().then_some(BpfInstruction { op, jt, jf, k })
    };
    let parse = |line| {
        instruction(line).ok_or_else(|| Error::Usage {
            message: format!("invalid BPF instruction {line:?}"),
            hint: "compile the filter: --bpf-filter \"$(tcpdump -dd -y EN10MB 'port 53')\""
                .to_owned(),
        })
    };
    lines.map(parse).collect()
}

/// In bytes.
const FILE_HEAD: usize = 24;
const PACKET_HEAD: usize = 16;
/// The longest that tcpdump takes.
const LONGEST_PACKET: usize = 262_144;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(big_endian: bool, packets: &[usize]) -> Vec<u8> {
        let number = |number: u32| {
            if big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
        };
        let mut file = number(MICROSECONDS).to_vec();
        file.resize(FILE_HEAD, 0);
        for length in packets {
            let head = [0, 0, u32::try_from(*length).unwrap(), 9].map(number).concat();
            file.extend(head);
            file.resize(file.len() + length, 7);
        }
        file
    }

    #[test]
    fn packets_are_complete_however_the_bytes_come() {
        for big_endian in [false, true] {
            let file = file(big_endian, &[0, 1, 100]);
            for size in [1, 3, 24, 40, 1000] {
                let mut packets = Packets::new(u64::MAX);
                let mut whole = Vec::new();
                for piece in file[..file.len() - 1].chunks(size) {
                    whole.extend(packets.take(piece).unwrap());
                }
                assert_eq!((packets.count, whole.len()), (2, file.len() - 116), "{size}");
                whole.extend(packets.take(&file[file.len() - 1..]).unwrap());
                assert_eq!((packets.count, &whole), (3, &file));
            }
        }
    }

    #[test]
    fn a_capture_stops_before_it_is_too_large() {
        let file = file(false, &[10, 10, 10]);
        let mut packets = Packets::new(24 + 26 + 26 + 25);
        assert_eq!(packets.take(&file).unwrap().len(), 24 + 26 + 26);
        assert!(packets.is_full);
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        assert!(Packets::new(u64::MAX).take(b"<html>").is_err());
        let mut endless = file(false, &[]);
        endless.extend([0, 0, u32::MAX, 0].map(u32::to_le_bytes).concat());
        assert!(Packets::new(u64::MAX).take(&endless).is_err());
    }

    #[test]
    fn filters_are_read_as_tcpdump_writes_them() {
        let text = "{ 0x28, 0, 0, 0x0000000c },\n{ 0x15, 0, 8, 0x000086dd },\n\n";
        let instruction = |op, jt, jf, k| BpfInstruction { op, jt, jf, k };
        let expected = vec![instruction(0x28, 0, 0, 0xc), instruction(0x15, 0, 8, 0x86dd)];
        assert_eq!(filter(text).unwrap(), expected);
        assert_eq!(filter("").unwrap(), []);
        for wrong in ["port 53", "{ 0x28, 0, 0 },", "{ 1, 2, 3, 4, 5 },", "{ 1, 2, 3, x },"] {
            assert!(filter(wrong).is_err(), "{wrong}");
        }
    }
}
