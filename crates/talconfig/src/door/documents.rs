//! The documents that a machine's keys become, beside the oldest one.

use talos_config::{Config, Contract, Data, Document, Location, Mode, Value, kinds};

use crate::door::load::Node;
use crate::door::network;
use crate::error::{Error, ErrorDetail};
use crate::host::Host;
use crate::value_ext::ValueExt;

/// Returns the documents of each key, in the order in which talhelper writes them.
pub(crate) fn documents(
    node: &Node,
    contract: Contract,
    mode: Option<Mode>,
    host: &dyn Host,
) -> Result<Vec<(&'static str, Vec<Document>)>, Error> {
    let value = &node.value;
    let name = node.hostname();
    let networked = contract >= Contract::new(1, 12);
    let say = |what: &str| host.debug(&|| format!("generating {what} config for {name}"));
    let mut documents = Vec::new();
    let nameservers = value.texts_at("nameservers");
    if networked && (!nameservers.is_empty() || value.flag_at("disableSearchDomain")) {
        say("resolver");
        let key = if nameservers.is_empty() { "disableSearchDomain" } else { "nameservers" };
        let resolver = resolver(&nameservers, value.flag_at("disableSearchDomain"));
        documents.push((key, vec![resolver]));
    }
    if networked {
        say("hostname");
        documents.push(if value.flag_at("ignoreHostname") {
            ("ignoreHostname", vec![document("HostnameConfig", vec![("auto", text("stable"))])])
        } else {
            let fields = vec![("auto", text("off")), ("hostname", text(name))];
            ("hostname", vec![document("HostnameConfig", fields)])
        });
    }
    if let Some(firewall) = value.get("ingressFirewall") {
        say("machine firewall");
        let action = match firewall.text_at("defaultAction") {
            "" => "accept",
            action => action,
        };
        let mut rules =
            vec![document("NetworkDefaultActionConfig", vec![("ingress", text(action))])];
        for rule in firewall.items_at("rules") {
            rules.push(checked(from_value("NetworkRuleConfig", rule), mode)?);
        }
        documents.push(("ingressFirewall", rules));
    }
    if !value.items_at("extensionServices").is_empty() {
        say("machine extension service");
        let services = value.items_at("extensionServices").iter();
        let services =
            services.map(|service| checked(from_value("ExtensionServiceConfig", service), mode));
        documents.push(("extensionServices", services.collect::<Result<_, _>>()?));
    }
    for (key, kind, what) in
        [("volumes", "VolumeConfig", "volume"), ("userVolumes", "UserVolumeConfig", "user volume")]
    {
        let volumes = value.items_at(key);
        if volumes.is_empty() {
            continue;
        }
        say(what);
        let (mut names, mut made) = (Vec::new(), Vec::new());
        for volume in volumes {
            let name = volume.text_at("name");
            if names.contains(&name) {
                return Err(wrong(format!("duplicated {what} config name found: {name}")));
            }
            names.push(name);
            made.push(checked(from_value(kind, volume), mode)?);
        }
        documents.push((key, made));
    }
    if networked {
        let mut links = Vec::new();
        let devices = value.items_at("networkInterfaces");
        network::documents(devices, name, &|line| host.debug(line), &mut links)?;
        if !links.is_empty() {
            documents.push(("networkInterfaces", links));
        }
    }
    Ok(documents)
}

fn resolver(nameservers: &[String], disable_default: bool) -> Document {
    let servers = nameservers.iter().map(|address| object(vec![("address", text(address))]));
    let search = object(vec![("disableDefault", Value::new(Data::Bool(disable_default)))]);
    let servers = Value::new(Data::List(servers.collect()));
    document("ResolverConfig", vec![("nameservers", servers), ("searchDomains", search)])
}

/// Refuses a document that breaks the rules of its kind.
fn checked(document: Document, mode: Option<Mode>) -> Result<Document, Error> {
    // Another mode is complained about once all is there.
    let config = Config::new(vec![document.clone()]).map_err(|error| wrong(error.to_string()))?;
    let errors = config.validate(mode.unwrap_or(Mode::Metal), false).errors;
    let id = document.id();
    let own = errors.into_iter().filter(|error| {
        error.document.as_deref().is_some_and(|found| found.trim_end_matches('/') == id)
    });
    let messages: Vec<String> = own.map(|error| error.problem.message).collect();
    if messages.is_empty() { Ok(document) } else { Err(wrong(messages.join("\n"))) }
}

fn wrong(message: String) -> Error {
    Error::Machine(ErrorDetail::new(message))
}

/// Creates a document from a value's fields.
fn from_value(kind: &'static str, value: &Value) -> Document {
    let mut document = document(kind, Vec::new());
    document.body = value.as_map().cloned().unwrap_or_default();
    document
}

/// Creates a document of a kind.
pub(crate) fn document(kind: &'static str, fields: Vec<(&str, Value)>) -> Document {
    let kind = kinds::find(kind).unwrap_or(kinds::V1ALPHA1);
    let body = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Document { kind, body, origin: Location::default() }
}

pub(crate) fn object(fields: Vec<(&str, Value)>) -> Value {
    let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
    Value::new(Data::Map(fields.collect()))
}

pub(crate) fn text(text: &str) -> Value {
    Value::from(text)
}

pub(crate) fn texts(texts: &[String]) -> Value {
    Value::new(Data::List(texts.iter().map(|text| Value::from(text.as_str())).collect()))
}
