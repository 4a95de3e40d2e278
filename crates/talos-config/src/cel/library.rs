//! The functions that expressions can call, in the order in which overloads are tried.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::types::{Scalar, Type};

/// One way to call a function.
#[derive(Clone, Debug)]
pub(super) struct Overload {
    /// Called on a target, which is the first argument then.
    pub(super) member: bool,
    pub(super) arguments: Vec<Type>,
    pub(super) result: Type,
}

impl Overload {
    /// Returns whether it compares numbers of different types.
    pub(super) fn mixes_numbers(&self) -> bool {
        let number = |of: &Type| match of {
            Type::Scalar { scalar, .. } => match scalar {
                Scalar::Double | Scalar::Int | Scalar::Uint => Some(*scalar),
                Scalar::Bool | Scalar::Bytes | Scalar::String => None,
            },
            _ => None,
        };
        match self.arguments.as_slice() {
            [left, right] => match (number(left), number(right)) {
                (Some(left), Some(right)) => left != right,
                _ => false,
            },
            _ => false,
        }
    }
}

pub(super) type Functions = BTreeMap<&'static str, Vec<Overload>>;

/// The functions of every environment.
pub(super) static STANDARD: LazyLock<Functions> = LazyLock::new(|| read(&[STANDARD_TEXT]));

/// The same with optional types.
pub(super) static WITH_OPTIONALS: LazyLock<Functions> =
    LazyLock::new(|| read(&[STANDARD_TEXT, OPTIONALS_TEXT]));

pub(super) static GLOB: LazyLock<Functions> =
    LazyLock::new(|| read(&["glob (string, string) bool"]));

pub(super) static MAC: LazyLock<Functions> = LazyLock::new(|| read(&["mac (bytes) string"]));

pub(super) static MULTIPLY_QOS_VECTORS: LazyLock<Functions> =
    LazyLock::new(|| read(&["multiply_qos_vectors (map(dyn, double), map(dyn, double)) double"]));

/// Reads overloads, one a line: name, arguments, result. A dot before the arguments marks a member.
fn read(texts: &[&'static str]) -> Functions {
    let mut functions = Functions::new();
    let lines = texts.iter().flat_map(|text| text.lines());
    for (name, rest) in lines.filter_map(|line| line.split_once(' ')) {
        let (member, rest) = rest.strip_prefix('.').map_or((false, rest), |rest| (true, rest));
        let Some((arguments, result)) = signature(rest) else { continue };
        functions.entry(name).or_default().push(Overload { member, arguments, result });
    }
    functions
}

fn signature(text: &str) -> Option<(Vec<Type>, Type)> {
    // The result follows the last parenthesis that closes the arguments.
    let mut depth = 0;
    let mut start = 1;
    let mut arguments = Vec::new();
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        let ends = depth == 0 || (depth == 1 && character == ',');
        if ends && start < at {
            arguments.push(Type::read(text[start..at].trim(), ""));
        }
        if depth == 0 {
            return Some((arguments, Type::read(text[at + 1..].trim(), "")));
        }
        if ends {
            start = at + 1;
        }
    }
    None
}

/// Operators have the names that errors give them.
const STANDARD_TEXT: &str = "\
!_ (bool) bool
-_ (double) double
-_ (int) int
@in (A, list(A)) bool
@in (A, map(A, B)) bool
@not_strictly_false (bool) bool
_!=_ (A, A) bool
_%_ (int, int) int
_%_ (uint, uint) uint
_&&_ (bool, bool) bool
_*_ (double, double) double
_*_ (int, int) int
_*_ (uint, uint) uint
_+_ (bytes, bytes) bytes
_+_ (double, double) double
_+_ (duration, duration) duration
_+_ (duration, timestamp) timestamp
_+_ (timestamp, duration) timestamp
_+_ (int, int) int
_+_ (list(A), list(A)) list(A)
_+_ (string, string) string
_+_ (uint, uint) uint
_-_ (double, double) double
_-_ (duration, duration) duration
_-_ (int, int) int
_-_ (timestamp, duration) timestamp
_-_ (timestamp, timestamp) duration
_-_ (uint, uint) uint
_/_ (double, double) double
_/_ (int, int) int
_/_ (uint, uint) uint
_<=_ (bool, bool) bool
_<=_ (int, int) bool
_<=_ (int, double) bool
_<=_ (int, uint) bool
_<=_ (uint, uint) bool
_<=_ (uint, double) bool
_<=_ (uint, int) bool
_<=_ (double, double) bool
_<=_ (double, int) bool
_<=_ (double, uint) bool
_<=_ (string, string) bool
_<=_ (bytes, bytes) bool
_<=_ (timestamp, timestamp) bool
_<=_ (duration, duration) bool
_<_ (bool, bool) bool
_<_ (int, int) bool
_<_ (int, double) bool
_<_ (int, uint) bool
_<_ (uint, uint) bool
_<_ (uint, double) bool
_<_ (uint, int) bool
_<_ (double, double) bool
_<_ (double, int) bool
_<_ (double, uint) bool
_<_ (string, string) bool
_<_ (bytes, bytes) bool
_<_ (timestamp, timestamp) bool
_<_ (duration, duration) bool
_==_ (A, A) bool
_>=_ (bool, bool) bool
_>=_ (int, int) bool
_>=_ (int, double) bool
_>=_ (int, uint) bool
_>=_ (uint, uint) bool
_>=_ (uint, double) bool
_>=_ (uint, int) bool
_>=_ (double, double) bool
_>=_ (double, int) bool
_>=_ (double, uint) bool
_>=_ (string, string) bool
_>=_ (bytes, bytes) bool
_>=_ (timestamp, timestamp) bool
_>=_ (duration, duration) bool
_>_ (bool, bool) bool
_>_ (int, int) bool
_>_ (int, double) bool
_>_ (int, uint) bool
_>_ (uint, uint) bool
_>_ (uint, double) bool
_>_ (uint, int) bool
_>_ (double, double) bool
_>_ (double, int) bool
_>_ (double, uint) bool
_>_ (string, string) bool
_>_ (bytes, bytes) bool
_>_ (timestamp, timestamp) bool
_>_ (duration, duration) bool
_?_:_ (bool, A, A) A
_[_] (list(A), int) A
_[_] (map(A, B), A) B
_||_ (bool, bool) bool
bool (bool) bool
bool (string) bool
bytes (bytes) bytes
bytes (string) bytes
contains .(string, string) bool
double (double) double
double (int) double
double (string) double
double (uint) double
duration (duration) duration
duration (string) duration
dyn (A) dyn
endsWith .(string, string) bool
getDate .(timestamp) int
getDate .(timestamp, string) int
getDayOfMonth .(timestamp) int
getDayOfMonth .(timestamp, string) int
getDayOfWeek .(timestamp) int
getDayOfWeek .(timestamp, string) int
getDayOfYear .(timestamp) int
getDayOfYear .(timestamp, string) int
getFullYear .(timestamp) int
getFullYear .(timestamp, string) int
getHours .(timestamp) int
getHours .(timestamp, string) int
getHours .(duration) int
getMilliseconds .(timestamp) int
getMilliseconds .(timestamp, string) int
getMilliseconds .(duration) int
getMinutes .(timestamp) int
getMinutes .(timestamp, string) int
getMinutes .(duration) int
getMonth .(timestamp) int
getMonth .(timestamp, string) int
getSeconds .(timestamp) int
getSeconds .(timestamp, string) int
getSeconds .(duration) int
int (int) int
int (double) int
int (duration) int
int (string) int
int (timestamp) int
int (uint) int
matches (string, string) bool
matches .(string, string) bool
size (bytes) int
size .(bytes) int
size (list(A)) int
size .(list(A)) int
size (map(A, B)) int
size .(map(A, B)) int
size (string) int
size .(string) int
startsWith .(string, string) bool
string (string) string
string (bool) string
string (bytes) string
string (double) string
string (duration) string
string (int) string
string (timestamp) string
string (uint) string
timestamp (timestamp) timestamp
timestamp (int) timestamp
timestamp (string) timestamp
type (A) type(A)
uint (uint) uint
uint (double) uint
uint (int) uint
uint (string) uint
";

const OPTIONALS_TEXT: &str = "\
_[?_] (list(V), int) optional_type(V)
_[?_] (optional_type(list(V)), int) optional_type(V)
_[?_] (map(K, V), K) optional_type(V)
_[?_] (optional_type(map(K, V)), K) optional_type(V)
_[_] (optional_type(list(V)), int) optional_type(V)
_[_] (optional_type(map(K, V)), K) optional_type(V)
first .(list(V)) optional_type(V)
hasValue .(optional_type(V)) bool
last .(list(V)) optional_type(V)
optional.none () optional_type(V)
optional.of (V) optional_type(V)
optional.ofNonZeroValue (V) optional_type(V)
optional.unwrap (list(optional_type(V))) list(V)
or .(optional_type(V), optional_type(V)) optional_type(V)
orValue .(optional_type(V), V) V
unwrapOpt .(list(optional_type(V))) list(V)
value .(optional_type(V)) V
";
