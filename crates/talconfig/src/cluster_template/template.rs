//! The user's own templates, in the dialect of Jinja that the cluster-template configures.
//!
//! Delimiters are `#% %#`, `#{ }#` and `#| #|`; a line with only a tag is removed; undefined values
//! are empty, at any depth. Methods of Python's strings and dicts are supported as far as such
//! templates use them.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, ValueKind, from_args};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, Value};
use talos_config::yaml::{self, Content, Limits, Node, Resolved};

use super::read::{ClusterFile, Keys};
use super::{Network, PatchFiles, tags};
use crate::error::ErrorDetail;

/// Returns the data of templates: all keys of both files, and the defaults that the
/// cluster-template adds.
pub(super) fn data(cluster: &Node, nodes: &Node, read: &ClusterFile, count: usize) -> Value {
    let mut data = BTreeMap::new();
    for file in [cluster, nodes] {
        for (name, _, value) in Keys::new(file).0 {
            data.insert(name.to_owned(), value_of(value));
        }
    }
    let given = |key: &str| data.get(key).is_some_and(Value::is_true);
    let has_bgp = ["cilium_bgp_router_addr", "cilium_bgp_router_asn", "cilium_bgp_node_asn"];
    let has_bgp = has_bgp.into_iter().all(given);
    for (key, value) in [
        ("node_default_gateway", Value::from(read.gateway.to_string())),
        ("node_dns_servers", Value::from(read.dns_servers.clone())),
        ("node_ntp_servers", Value::from(read.time_servers.clone())),
        ("cluster_pod_cidr", Value::from(read.pods.as_str())),
        ("cluster_svc_cidr", Value::from(read.services.as_str())),
        ("repository_branch", Value::from("main")),
        ("repository_visibility", Value::from("public")),
        ("cilium_loadbalancer_mode", Value::from("dsr")),
        ("cilium_bgp_enabled", Value::from(has_bgp)),
        ("spegel_enabled", Value::from(count > 1)),
    ] {
        data.entry(key.to_owned()).or_insert(value);
    }
    Value::from(data)
}

pub(super) fn render(
    name: &str,
    template: &str,
    data: &Value,
    patches: &PatchFiles,
) -> Result<String, ErrorDetail> {
    let template = tags::rewrite(template).map_err(|tags::TooLong { line }| {
        ErrorDetail::new(format!(
            "{name}:{line}: this tag is too long, or there are too many branches"
        ))
        .hint("name parts of it with `#% set … %#`")
    })?;
    let render = || -> Result<String, Error> {
        environment(patches)?.template_from_named_str(name, &template)?.render(data.clone())
    };
    render().map_err(|error| {
        let line = error.line().map_or_else(String::new, |line| format!(":{line}"));
        let cause = error.detail().map_or_else(String::new, |cause| format!(": {cause}"));
        let detail = ErrorDetail::new(format!("{name}{line}: {}{cause}", error.kind()));
        match error.kind() {
            ErrorKind::UnknownFunction if cause.contains("key") || cause.contains("token") => {
                detail.hint("functions that read secrets are not there: use a variable of talenv.sops.yaml")
            }
            ErrorKind::UnknownFunction | ErrorKind::UnknownFilter | ErrorKind::UnknownMethod => {
                detail.hint("filters and functions are those of minijinja, with `nthhost`, `basename` and `talos_patches`")
            }
            _ => detail,
        }
    })
}

fn environment(patches: &PatchFiles) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.block_delimiters("#%", "%#").variable_delimiters("#{", "}#");
    syntax.comment_delimiters("#|", "#|");
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build()?);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // A template that never ends is refused: this is far more than any patch takes.
    environment.set_fuel(Some(10_000_000));
    environment.set_unknown_method_callback(method);
    environment.add_filter("basename", |path: String| {
        Path::new(&path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
    });
    environment.add_filter("nthhost", |network: String, number: u32| {
        let host = Network::parse(&network).and_then(|network| network.host(number));
        host.map_or(Value::from(false), |host| Value::from(host.to_string()))
    });
    environment.add_filter("center", |text: String, width: Option<usize>| {
        let missing = width.unwrap_or(80).saturating_sub(text.chars().count());
        // Python puts the odd blank to the left where the width is odd too.
        let left = missing / 2 + (missing & width.unwrap_or(80) & 1);
        Ok(format!("{}{text}{}", blanks(left)?, blanks(missing - left)?))
    });
    environment.add_filter("wordcount", |text: String| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).count()
    });
    environment.add_filter("indent", indent);
    let patches = patches.clone();
    environment.add_function("talos_patches", move |scope: String| {
        let files = patches.get(&scope).map(Vec::as_slice).unwrap_or_default();
        let paths =
            files.iter().map(|file| format!("templates/config/talos/patches/{scope}/{file}.j2"));
        Value::from(paths.collect::<Vec<_>>())
    });
    Ok(environment)
}

/// Returns blanks, as many as a patch may have.
fn blanks(count: usize) -> Result<String, Error> {
    if count > MOST_BLANKS {
        let message = format!("more than {MOST_BLANKS} blanks");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(" ".repeat(count))
}

/// Indents lines as Jinja does: all but the first one and blank ones, unless that is wanted.
#[expect(clippy::needless_pass_by_value, reason = "the engine gives named arguments so")]
fn indent(
    text: &str,
    width: Option<usize>,
    first: Option<bool>,
    blank: Option<bool>,
    named: Kwargs,
) -> Result<String, Error> {
    let width = match width {
        Some(width) => width,
        None => named.get::<Option<usize>>("width")?.unwrap_or(4),
    };
    let named_flag = |given: Option<bool>, name: &str| match given {
        Some(given) => Ok(given),
        None => Ok::<_, Error>(named.get::<Option<bool>>(name)?.unwrap_or(false)),
    };
    let (first, blank) = (named_flag(first, "first")?, named_flag(blank, "blank")?);
    named.assert_all_used()?;
    let pad = blanks(width)?;
    if text.matches('\n').count().saturating_mul(width) > Limits::default().bytes {
        return Err(Error::new(ErrorKind::InvalidOperation, "more text than a file may have"));
    }
    let mut output = String::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            output.push('\n');
        }
        if if index == 0 { first } else { blank || !line.is_empty() } {
            output.push_str(&pad);
        }
        output.push_str(line);
    }
    Ok(output)
}

/// Fills in the places of `'{} {0} {name}'`, without Python's ways to format them.
fn format_braces(text: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (values, named): (Rest<Value>, Kwargs) = from_args(arguments)?;
    let mut output = String::new();
    let mut next = 0;
    let mut rest = text;
    let wrong = |what: String| Error::new(ErrorKind::InvalidOperation, format!("format: {what}"));
    while let Some(at) = rest.find(['{', '}']) {
        output.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            output.push_str(brace);
            rest = after;
            continue;
        }
        let end = after.find('}').filter(|_| brace == "{");
        let end = end.ok_or_else(|| wrong(format!("a single {brace}")))?;
        let field = &after[..end];
        let value = if field.is_empty() {
            next += 1;
            values.get(next - 1).cloned()
        } else if let Ok(index) = field.parse::<usize>() {
            values.get(index).cloned()
        } else {
            named.get::<Option<Value>>(field)?
        };
        let value = value.ok_or_else(|| wrong(format!("nothing is given for {{{field}}}")))?;
        output.push_str(&value.to_string());
        rest = &after[end + 1..];
    }
    named.assert_all_used()?;
    output.push_str(rest);
    Ok(Value::from(output))
}

/// Far more than a patch can use.
const MOST_BLANKS: usize = 10_000;

/// Methods that Python's texts and mappings have.
fn method(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    let filter = |state: &mut State<'_, '_>, filter: &str| {
        let arguments: Vec<Value> = std::iter::once(value).chain(arguments).cloned().collect();
        state.apply_filter(filter, &arguments)
    };
    match (value.kind(), name) {
        (ValueKind::String, "lower" | "upper" | "title" | "capitalize" | "replace") => {
            filter(state, name)
        }
        (ValueKind::String, "center") => filter(state, name),
        (ValueKind::String, "format") => {
            format_braces(value.as_str().unwrap_or_default(), arguments)
        }
        (ValueKind::String, "zfill") => {
            let (width,): (usize,) = from_args(arguments)?;
            let text = value.as_str().unwrap_or_default();
            let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
            let zeros = blanks(width.saturating_sub(text.chars().count()))?.replace(' ', "0");
            Ok(Value::from(format!("{}{zeros}{digits}", &text[..text.len() - digits.len()])))
        }
        (ValueKind::String, "strip") => filter(state, "trim"),
        (ValueKind::String, "splitlines") => filter(state, "lines"),
        // Without a separator both split at any white space.
        (ValueKind::String, "split") => filter(state, "split").and_then(|parts| {
            // A list can be counted into, from its end too.
            Ok(Value::from(parts.try_iter()?.collect::<Vec<_>>()))
        }),
        (ValueKind::String, "startswith" | "endswith") => {
            let (part,): (String,) = from_args(arguments)?;
            let text = value.as_str().unwrap_or_default();
            Ok(Value::from(if name == "startswith" {
                text.starts_with(&part)
            } else {
                text.ends_with(&part)
            }))
        }
        (ValueKind::String, "join") => {
            let (parts,): (Value,) = from_args(arguments)?;
            state.apply_filter("join", &[parts, value.clone()])
        }
        (ValueKind::Map, "items") => filter(state, "items"),
        (ValueKind::Map, "keys") => Ok(Value::from(value.try_iter()?.collect::<Vec<_>>())),
        (ValueKind::Map, "values") => {
            let values = value.try_iter()?.map(|key| value.get_item(&key));
            Ok(Value::from(values.collect::<Result<Vec<_>, _>>()?))
        }
        (ValueKind::Map, "get") => {
            let (key, other): (Value, Option<Value>) = from_args(arguments)?;
            let found = value.get_item(&key)?;
            let nothing = || other.unwrap_or(Value::from(()));
            Ok(if found.is_undefined() { nothing() } else { found })
        }
        _ => Err(Error::new(ErrorKind::UnknownMethod, format!("{name} of {}", value.kind()))),
    }
}

/// Converts a value to the type that Python would give it.
fn value_of(node: &Node) -> Value {
    match &node.content {
        Content::Sequence(items) => Value::from(items.iter().map(value_of).collect::<Vec<_>>()),
        Content::Mapping(_) => Keys::new(node)
            .0
            .into_iter()
            .map(|(name, _, value)| (name.to_owned(), value_of(value)))
            .collect::<BTreeMap<String, Value>>()
            .into(),
        Content::Scalar { text, .. } => match yaml::resolve_node(node) {
            Resolved::Null => Value::from(()),
            Resolved::Bool(flag) => Value::from(flag),
            Resolved::Int(number) => Value::from(number),
            Resolved::Float(number) => Value::from(number),
            Resolved::Timestamp | Resolved::Merge | Resolved::Text => Value::from(&**text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClusterTemplate;
    use super::*;
    use talos_config::SourceId;

    fn filled(template: &str) -> Result<String, ErrorDetail> {
        let id = "a1".repeat(32);
        let nodes = format!(
            "nodes:\n  - {{name: cp-1, address: 10.0.0.11, controller: true, disk: /dev/sda, mac_addr: \
             \"00:11:22:33:44:aa\", schematic_id: {id}}}\n"
        );
        let cluster =
            "node_cidr: 10.0.0.0/24\ncluster_api_addr: 10.0.0.10\nown: {deep: [1, two]}\n";
        let guide =
            ClusterTemplate::parse((cluster, SourceId(1)), (&nodes, SourceId(2))).expect("a guide");
        let files = ["a.yaml".to_owned(), "b.yaml".to_owned()].to_vec();
        guide.render("p.yaml.j2", template, &PatchFiles::from([("global".to_owned(), files)]))
    }

    /// Compared with Jinja 3.1 under the settings of the cluster-template.
    #[test]
    fn templates_are_filled_in_as_jinja_does() {
        for (template, expected) in [
            ("a: #{ node_cidr }#\n", "a: 10.0.0.0/24\n"),
            (
                "#% for item in node_dns_servers %#\n- #{ item }#\n#% endfor %#\n",
                "- 1.1.1.1\n- 1.0.0.1\n",
            ),
            (
                "a:\n  #% if spegel_enabled %#\n  b: 1\n  #% else %#\n  c: 1\n  #% endif %#\n",
                "a:\n  c: 1\n",
            ),
            ("#| nothing #|a # b\n", "a # b\n"),
            ("#{ nothing.at.all }#|#{ nothing | default('x') }#", "|x"),
            ("#{ nodes[0].controller }# #{ nodes[0].controller | string | lower }#", "True true"),
            ("#{ node_cidr.split('/') | last }#", "24"),
            ("#{ node_cidr.split('/')[-1] }#", "24"),
            ("#{ nodes[0].disk.startswith('/') }#", "True"),
            ("#{ node_cidr | nthhost(5) }# #{ node_cidr | nthhost(256) }#", "10.0.0.5 False"),
            ("#{ '-secureboot' if nodes[0].secureboot }#.", "."),
            ("#{ own.deep | join(',') }# #{ own.get('no', 'other') }#", "1,two other"),
            ("#{ ','.join(own.deep[1:]) }# #{ ' A '.strip().lower() }#", "two a"),
            ("#{ talos_patches('%s' % ('global')) | length }#", "2"),
            ("#{ talos_patches('global') | map('basename') | join(' ') }#", "a.yaml b.yaml"),
            ("#{ nodes | selectattr('controller', 'equalto', False) | list | length }#", "0"),
            ("#{ cilium_bgp_enabled }# #{ node_default_gateway }#", "False 10.0.0.1"),
            ("#{ '%s %d %03d %.1f %s%%' % ('a', 1, 2, 1.25, none) }#", "a 1 002 1.2 None%"),
            ("#{ ('%s: %s' % (node_cidr, own.deep[1])) | upper }#", "10.0.0.0/24: TWO"),
            ("#{ '%s' % nodes[0].name | upper }#!", "CP-1!"),
            ("#{ '%s' % 'a' ~ '%s' % 'b' }#", "ab"),
            (
                "#{ '%s-%s' | format('a', 1) }# #{ '{} {1} {x} {{}}'.format('a', 2, x=3) }#",
                "a-1 a 2 3 {}",
            ),
            ("#{ own | tojson }#", "{\"deep\": [1, \"two\"]}"),
            ("#{ 'a b/ü' | urlencode }#", "a%20b/%C3%BC"),
            ("[#{ 'abc' | center(6) }#] [#{ 'ab' | center(5) }#]", "[ abc  ] [  ab ]"),
            ("#{ 'Hello, World! 1 x_y' | wordcount }# #{ '-7'.zfill(4) }#", "4 -007"),
            (
                "#{ 'a\\nb\\n\\nc' | indent(2) }# #{ 'a' | indent(first=true) }#",
                "a\n  b\n\n  c     a",
            ),
            ("$$patch: delete # ${VALUE}\n\n", "$$patch: delete # ${VALUE}\n\n"),
        ] {
            assert_eq!(filled(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_template_is_told_with_its_line() {
        let message = |template: &str| filled(template).expect_err("an error").message;
        assert_eq!(message("a\n#% if %#\n"), "p.yaml.j2:2: syntax error: unexpected end of block");
        assert!(message("a\n\n#{ nope() }#").starts_with("p.yaml.j2:3: unknown function"));
        assert!(message("#{ node_cidr | nope }#").starts_with("p.yaml.j2:1: unknown filter"));
        assert!(message("#{ node_cidr.nope() }#").starts_with("p.yaml.j2:1: unknown method"));
        assert!(
            message("#% for a in range(9999) %##% for b in range(9999) %##% endfor %##% endfor %#")
                .contains("engine ran out of fuel")
        );
        assert!(message("#{ '%s %s' % 'a' }#").starts_with("p.yaml.j2:1: invalid operation"));
        assert!(message("\n#{ 'x' | center(9999999999) }#").contains("more than 10000 blanks"));
        assert!(
            message(&format!("\n#{{ {}1 }}#", "-".repeat(100_000))).starts_with("p.yaml.j2:2: ")
        );
        let deep = format!("#{{ {}1 }}#", "-".repeat(990));
        assert_eq!(filled(&deep).as_deref(), Ok("1"));
        let hint = filled("#{ age_key('private') }#").expect_err("an error").hint;
        assert!(hint.is_some_and(|hint| hint.starts_with("functions that read secrets")));
    }
}
