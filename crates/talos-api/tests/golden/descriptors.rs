//! What a set of protos declares, as facts that can be compared one by one.
//!
//! Theirs come out of the Go code that Talos' own programs are built from: every generated file has the
//! descriptor of its proto in it, as a string. So what is compared is what runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, MessageOptions,
};

/// Facts by name. The name of a part is that of its owner, a mark and its own: `/` before numbers of
/// fields and methods of services, `#` before values of enumerations.
#[derive(Default)]
pub(crate) struct Declarations {
    pub(crate) facts: BTreeMap<String, String>,
}

impl Declarations {
    /// Those in `proto/`.
    pub(crate) fn ours() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
        let files = files_below(&root, "proto");
        let set = protox::compile(files, [&root]).expect("protos that compile");
        let mut declarations = Self::default();
        let ours = |file: &&FileDescriptorProto| !file.package().starts_with("google.");
        set.file.iter().filter(ours).for_each(|file| declarations.add_file(file));
        declarations
    }

    /// Those that a release of Talos is built from.
    pub(crate) fn of(pin: &str) -> Self {
        let machinery = testkit::peers::module(pin, "github.com/siderolabs/talos/pkg/machinery");
        let runtime = testkit::peers::module(pin, "github.com/cosi-project/runtime");
        let mut declarations = Self::default();
        for directory in [machinery.join("api"), runtime.join("api/v1alpha1")] {
            for path in go_files(&directory) {
                let source = fs_err::read_to_string(&path).expect("a file of the module");
                let Some(bytes) = raw_descriptor(&source) else { continue };
                let file = FileDescriptorProto::decode(bytes.as_slice()).expect("a descriptor");
                declarations.add_file(&file);
            }
        }
        declarations
    }

    /// How many there are of a kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.facts.values().filter(|fact| fact.split(' ').next() == Some(kind)).count()
    }

    fn add_file(&mut self, file: &FileDescriptorProto) {
        assert_eq!(file.syntax(), "proto3", "{}", file.name());
        let package = file.package();
        for message in &file.message_type {
            self.add_message(package, message);
        }
        for enumeration in &file.enum_type {
            self.add_enumeration(package, enumeration);
        }
        for service in &file.service {
            let owner = format!("{package}.{}", service.name());
            for method in &service.method {
                let stream = |streams| if streams { "stream " } else { "" };
                let fact = format!(
                    "rpc ({}{}) returns ({}{})",
                    stream(method.client_streaming()),
                    method.input_type(),
                    stream(method.server_streaming()),
                    method.output_type()
                );
                self.facts.insert(format!("{owner}/{}", method.name()), fact);
            }
            self.facts.insert(owner, "service".to_owned());
        }
    }

    fn add_message(&mut self, scope: &str, message: &DescriptorProto) {
        let owner = format!("{scope}.{}", message.name());
        for field in &message.field {
            self.facts.insert(format!("{owner}/{}", field.number()), field_fact(message, field));
        }
        let named = message.nested_type.iter().filter(|nested| !is_map_entry(nested));
        named.for_each(|nested| self.add_message(&owner, nested));
        message.enum_type.iter().for_each(|nested| self.add_enumeration(&owner, nested));
        self.facts.insert(owner, "message".to_owned());
    }

    fn add_enumeration(&mut self, scope: &str, enumeration: &EnumDescriptorProto) {
        let owner = format!("{scope}.{}", enumeration.name());
        for value in &enumeration.value {
            self.facts.insert(format!("{owner}#{}", value.name()), value.number().to_string());
        }
        self.facts.insert(owner, "enum".to_owned());
    }
}

/// Every Go file below a directory.
pub(crate) fn go_files(directory: &Path) -> Vec<PathBuf> {
    files_below(directory, "go")
}

/// Everything about a field that a reader or the wire can notice.
fn field_fact(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    // The entries of a map have a name that nobody sees.
    let entry = message.nested_type.iter().filter(|nested| is_map_entry(nested)).find(|nested| {
        field.type_name().rsplit_once('.').is_some_and(|(_, name)| name == nested.name())
    });
    if let Some(entry) = entry {
        let parts: Vec<_> = entry.field.iter().map(type_fact).collect();
        return format!("field {} map<{}>", field.name(), parts.join(", "));
    }
    let mut fact = format!("field {} {:?} {}", field.name(), field.label(), type_fact(field));
    let unpacked = field.options.as_ref().is_some_and(|options| options.packed == Some(false));
    if field.label() == Label::Repeated && unpacked {
        fact.push_str(" unpacked");
    }
    match field.oneof_index {
        _ if field.proto3_optional() => fact.push_str(" optional"),
        Some(index) => {
            let index = usize::try_from(index).expect("an index");
            fact.push_str(" oneof ");
            fact.push_str(message.oneof_decl[index].name());
        }
        None => {}
    }
    fact
}

fn type_fact(field: &FieldDescriptorProto) -> String {
    match field.r#type() {
        Type::Message | Type::Enum => field.type_name().to_owned(),
        scalar => format!("{scalar:?}"),
    }
}

fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(MessageOptions::map_entry)
}

/// The descriptor in a file that Go's generator made, if the file has one.
fn raw_descriptor(source: &str) -> Option<Vec<u8>> {
    let (_, rest) = source.split_once("_rawDesc = \"\" +\n")?;
    let mut bytes = Vec::new();
    for line in rest.lines().map(str::trim).take_while(|line| line.starts_with('"')) {
        let literal = line.strip_suffix(" +").unwrap_or(line);
        let literal = literal.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        unescape(literal.expect("a string of Go"), &mut bytes);
    }
    Some(bytes)
}

/// The bytes of a string literal of Go.
fn unescape(literal: &str, bytes: &mut Vec<u8>) {
    let mut characters = literal.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let escape = characters.next().expect("something behind a backslash");
        let mut number = |digits| {
            let text: String = characters.by_ref().take(digits).collect();
            u32::from_str_radix(&text, 16).expect("hexadecimal digits")
        };
        match escape {
            'x' => bytes.push(u8::try_from(number(2)).expect("two digits")),
            'u' | 'U' => {
                let code = number(if escape == 'u' { 4 } else { 8 });
                let character = char::from_u32(code).expect("a character");
                bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            'a' => bytes.push(0x07),
            'b' => bytes.push(0x08),
            't' => bytes.push(b'\t'),
            'n' => bytes.push(b'\n'),
            'v' => bytes.push(0x0b),
            'f' => bytes.push(0x0c),
            'r' => bytes.push(b'\r'),
            '"' | '\\' => bytes.push(escape as u8),
            _ => panic!("unknown escape {escape:?}"),
        }
    }
}

fn files_below(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs_err::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
