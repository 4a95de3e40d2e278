//! The names of functions.

use super::ParameterType::{self, Any, Bool, Int, Map, Text, Truth};

/// A function, the types of its parameters, and of those that may follow them.
type Row = (&'static str, &'static [ParameterType], Option<ParameterType>);

/// Go's own functions that Ichor has.
pub(super) const BUILTINS: &[Row] = &[
    ("and", &[Truth], Some(Truth)),
    ("eq", &[Any], Some(Any)),
    ("ge", &[Any, Any], None),
    ("gt", &[Any, Any], None),
    ("html", &[], Some(Any)),
    ("index", &[Any], Some(Any)),
    ("le", &[Any, Any], None),
    ("len", &[Any], None),
    ("lt", &[Any, Any], None),
    ("ne", &[Any, Any], None),
    ("not", &[Truth], None),
    ("or", &[Truth], Some(Truth)),
    ("print", &[], Some(Any)),
    ("printf", &[Text], Some(Any)),
    ("println", &[], Some(Any)),
];

/// The functions of sprig that Ichor has.
pub(super) const SPRIG: &[Row] = &[
    ("add", &[], Some(Any)),
    ("add1", &[Any], None),
    ("atoi", &[Text], None),
    ("b64dec", &[Text], None),
    ("b64enc", &[Text], None),
    ("cat", &[], Some(Any)),
    ("coalesce", &[], Some(Truth)),
    ("contains", &[Text, Text], None),
    ("date", &[Text, Any], None),
    ("default", &[Truth], Some(Truth)),
    ("dict", &[], Some(Any)),
    ("div", &[Any, Any], None),
    ("empty", &[Truth], None),
    ("env", &[Text], None),
    ("first", &[Any], None),
    ("get", &[Map, Text], None),
    ("has", &[Any, Any], None),
    ("hasKey", &[Map, Text], None),
    ("hasPrefix", &[Text, Text], None),
    ("hasSuffix", &[Text, Text], None),
    ("indent", &[Int, Text], None),
    ("initial", &[Any], None),
    ("int", &[Any], None),
    ("int64", &[Any], None),
    ("join", &[Text, Any], None),
    ("keys", &[], Some(Map)),
    ("last", &[Any], None),
    ("list", &[], Some(Any)),
    ("lower", &[Text], None),
    ("max", &[Any], Some(Any)),
    ("min", &[Any], Some(Any)),
    ("mod", &[Any, Any], None),
    ("mul", &[Any], Some(Any)),
    ("nindent", &[Int, Text], None),
    ("nospace", &[Text], None),
    ("now", &[], None),
    ("quote", &[], Some(Any)),
    ("regexFind", &[Text, Text], None),
    ("regexMatch", &[Text, Text], None),
    ("regexReplaceAll", &[Text, Text, Text], None),
    ("repeat", &[Int, Text], None),
    ("replace", &[Text, Text, Text], None),
    ("rest", &[Any], None),
    ("reverse", &[Any], None),
    ("sortAlpha", &[Any], None),
    ("split", &[Text, Text], None),
    ("splitList", &[Text, Text], None),
    ("squote", &[], Some(Any)),
    ("sub", &[Any, Any], None),
    ("ternary", &[Truth, Truth, Bool], None),
    ("title", &[Text], None),
    ("toString", &[Any], None),
    ("trim", &[Text], None),
    ("trimAll", &[Text, Text], None),
    ("trimPrefix", &[Text, Text], None),
    ("trimSuffix", &[Text, Text], None),
    ("trunc", &[Int, Text], None),
    ("tuple", &[], Some(Any)),
    ("uniq", &[Any], None),
    ("until", &[Int], None),
    ("upper", &[Text], None),
];

/// All of Go's own, as its documentation lists them.
pub(super) const ALL_BUILTINS: &str =
    "and call eq ge gt html index js le len lt ne not or print printf println slice urlquery";

/// The keys of `TxtFuncMap` of sprig v3.3.0.
pub(super) const ALL_SPRIG: &str = "\
    abbrev abbrevboth add add1 add1f addf adler32sum ago all any append atoi b32dec b32enc \
    b64dec b64enc base bcrypt biggest buildCustomCert camelcase cat ceil chunk clean \
    coalesce compact concat contains date dateInZone dateModify date_in_zone date_modify \
    decryptAES deepCopy deepEqual default derivePassword dict dig dir div divf duration \
    durationRound empty encryptAES env expandenv ext fail first float64 floor fromJson genCA \
    genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert \
    genSignedCertWithKey get getHostByName has hasKey hasPrefix hasSuffix hello htmlDate \
    htmlDateInZone htpasswd indent initial initials int int64 isAbs join kebabcase keys \
    kindIs kindOf last list lower max maxf merge mergeOverwrite min minf mod mul mulf \
    mustAppend mustChunk mustCompact mustDateModify mustDeepCopy mustFirst mustFromJson \
    mustHas mustInitial mustLast mustMerge mustMergeOverwrite mustPrepend mustPush \
    mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll \
    mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse mustSlice mustToDate \
    mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout must_date_modify nindent \
    nospace now omit osBase osClean osDir osExt osIsAbs pick pluck plural prepend push quote \
    randAlpha randAlphaNum randAscii randBytes randInt randNumeric regexFind regexFindAll \
    regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit repeat \
    replace rest reverse round semver semverCompare seq set sha1sum sha256sum sha512sum \
    shuffle slice snakecase sortAlpha split splitList splitn squote sub subf substr swapcase \
    ternary title toDate toDecimal toJson toPrettyJson toRawJson toString toStrings trim \
    trimAll trimPrefix trimSuffix trimall trunc tuple typeIs typeIsLike typeOf uniq \
    unixEpoch unset until untilStep untitle upper urlJoin urlParse uuidv4 values without \
    wrap wrapWith";
