//! `ichor certs`: until when certificates are valid, of the client, of the API and, with rights, of the whole cluster.
//!
//! Always holds: only certificates are taken out of secrets, and nothing else of them is kept or shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use talos_api::proto::cosi::meta::ResourceDefinitionSpec;
use talos_api::{CallError, Client, Node, NodeError, resource};
use talos_config::Coded as _;
use talos_config::Context;
use talos_config::pki::{Certificate, Subject};
use talos_config::yaml::{self, Content};

use crate::args::inspect::CertsArgs;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::nodes::Nodes;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::table::{NodeRow, Row, Rows};
use crate::timestamp::Timestamp;
use crate::{Error, ExitStatus, clock, nodes, talosconfig};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Rows<Expiry>>::json_schema;

pub(super) async fn run(
    args: &CertsArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let context = talosconfig::context(&args.connection, environment)?;
    let mut rows = of_client(&context);
    let nobody_named = args.connection.nodes.is_empty() && context.nodes.is_empty();
    if args.client || nobody_named {
        return printer.value(&Rows(rows), args.output.format);
    }
    let named = &args.connection.endpoints;
    let endpoints = if named.is_empty() { &context.endpoints } else { named };
    let (mut failures, mut succeeded) = (Vec::new(), 0);
    for (endpoint, shown) in of_endpoints(endpoints).await {
        match shown {
            Ok(shown) => {
                succeeded += 1;
                let place = || "API".to_owned();
                rows.extend(
                    shown.iter().map(|one| Expiry::row(&endpoint, place(), one, RenewedBy::Talos)),
                );
            }
            Err(error) => failures.push(error),
        }
    }
    let nodes = Nodes::from_context(&args.connection, environment)?;
    let answers = nodes.call_each(|node| async move { of_secrets(&node).await }).await;
    let (answers, unanswered) = answers.split();
    // A machine that is its own endpoint is reported once.
    let is_new = |failure: &NodeError| {
        !failures.iter().any(|known: &NodeError| {
            known.node == failure.node && known.reason.code() == failure.reason.code()
        })
    };
    let unanswered: Vec<NodeError> = unanswered.into_iter().filter(is_new).collect();
    failures.extend(unanswered);
    succeeded += answers.len();
    for (node, found) in answers {
        if found.is_empty() {
            printer.note(&format!("{node}: its secrets need the role os:admin"));
        }
        rows.extend(found.into_iter().map(|FoundCertificate { place, certificate, renewed }| {
            Expiry::row(&node, place, &certificate, renewed)
        }));
    }
    printer.value(&Rows(rows), args.output.format)?;
    Ok(nodes::report(failures, succeeded, printer))
}

/// Returns the certificates of the talosconfig.
fn of_client(context: &Context) -> Vec<NodeRow<Expiry>> {
    let texts = [("talosconfig crt", &context.certificate), ("talosconfig ca", &context.ca)];
    let rows = texts.into_iter().flat_map(|(place, text)| {
        let row = |one| Expiry::row("client", place.to_owned(), &one, RenewedBy::User);
        Certificate::all(text).map(row)
    });
    rows.collect()
}

/// Returns the certificates that endpoints present to all clients.
async fn of_endpoints(endpoints: &[String]) -> Vec<(String, Result<Vec<Certificate>, NodeError>)> {
    let ask = |endpoint: &String| {
        let endpoint = endpoint.clone();
        tokio::spawn(async move {
            let shown = Client::certificates_of(&endpoint).await;
            (endpoint, shown)
        })
    };
    let tasks: Vec<_> = endpoints.iter().map(ask).collect();
    let mut answers = Vec::new();
    for task in tasks {
        // A task that panicked has said so itself.
        answers.extend(task.await);
    }
    answers
}

/// A certificate in the secrets of a machine.
struct FoundCertificate {
    place: String,
    certificate: Certificate,
    renewed: RenewedBy,
}

/// Who renews a certificate.
#[derive(Clone, Copy, Debug)]
enum RenewedBy {
    User,
    Talos,
}

/// All that is in the secrets of a machine, each once; nothing where it may not be read.
async fn of_secrets(node: &Node) -> Result<Vec<FoundCertificate>, NodeError> {
    let known = node.list::<ResourceDefinitionSpec>().await?.into_values();
    let mut definitions: Vec<_> =
        known.filter(|definition| definition.default_namespace == NAMESPACE).collect();
    // The certificate of maintenance mode is unused after configuration, and is regenerated at every boot.
    definitions.retain(|definition| !definition.display_type.contains("Maintenance"));
    let is_root = |definition: &ResourceDefinitionSpec| definition.display_type.contains("Root");
    // A certificate is named by where it is at home; others have copies.
    definitions.sort_by_key(|definition| !is_root(definition));
    let mut found: Vec<FoundCertificate> = Vec::new();
    for definition in definitions {
        let resources = match node.list_resources(NAMESPACE, &definition.resource_type).await {
            Err(NodeError { reason: CallError::Denied(_), .. }) => continue,
            resources => resources?,
        };
        let renewed = if is_root(&definition) { RenewedBy::User } else { RenewedBy::Talos };
        for resource in &resources {
            let Ok(Some(spec)) = resource::decode_generic(resource) else { continue };
            let id = resource.metadata.as_ref().map_or("", |metadata| &metadata.id);
            let mut inside = Vec::new();
            search(&spec, &format!("{}/{id} ", definition.display_type), &mut inside);
            for (place, certificate) in inside {
                if found.iter().all(|known| known.certificate != certificate) {
                    found.push(FoundCertificate { place, certificate, renewed });
                }
            }
        }
    }
    Ok(found)
}

/// Finds certificates at any depth, in base64, as texts, and in files that are texts themselves.
fn search(node: &yaml::Node, place: &str, found: &mut Vec<(String, Certificate)>) {
    let dot = if place.ends_with(' ') { "" } else { "." };
    match &node.content {
        Content::Mapping(entries) => {
            for (key, value) in entries {
                let key = key.scalar().map_or("", |(text, _)| text);
                search(value, &format!("{place}{dot}{key}"), found);
            }
        }
        Content::Sequence(items) => {
            for (number, item) in items.iter().enumerate() {
                search(item, &format!("{place}[{number}]"), found);
            }
        }
        Content::Scalar { text, .. } => {
            let words = text.split(|c: char| c.is_whitespace() || c == '"');
            let encoded = words.filter(|word| word.starts_with(BEGIN_IN_BASE64));
            let decoded = encoded.filter_map(|word| STANDARD.decode(word).ok());
            let texts = decoded.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            for text in texts.chain([text.to_string()]) {
                found.extend(Certificate::all(&text).map(|one| (place.to_owned(), one)));
            }
        }
    }
}

/// Until when one certificate is valid.
#[derive(Debug, Serialize)]
struct Expiry {
    certificate: String,
    subject: String,
    expires: Timestamp,
    status: &'static str,
}

schema!(Expiry, plain { certificate, subject, expires, status });

impl Expiry {
    fn row(
        node: &str,
        place: String,
        certificate: &Certificate,
        renewed: RenewedBy,
    ) -> NodeRow<Self> {
        let (begin, end) = certificate.validity().unwrap_or_default();
        let soon = match renewed {
            RenewedBy::User => SOON,
            // Talos renews when half of the time is over: later than that something is wrong.
            RenewedBy::Talos => SOON.min(end.saturating_sub(begin) / 4),
        };
        let left = end.saturating_sub(clock::now());
        let status = match left {
            ..=0 => "expired",
            left if left < soon => "expires soon",
            _ => "OK",
        };
        let subject = subject(&certificate.subject());
        let expires = Timestamp::from_seconds(end);
        let what = Self { certificate: place, subject, expires, status };
        NodeRow { node: node.to_owned(), what }
    }
}

fn subject(subject: &Subject) -> String {
    let organizations = subject.organizations.iter().map(|name| format!("O={name}"));
    let name = subject.common_name.iter().map(|name| format!("CN={name}"));
    organizations.chain(name).collect::<Vec<_>>().join(",")
}

impl Row for Expiry {
    const COLUMNS: &'static [&'static str] = &["CERTIFICATE", "SUBJECT", "EXPIRES", "STATUS"];

    fn cells(&self) -> Vec<String> {
        let Self { certificate, subject, expires, status } = self;
        vec![
            certificate.clone(),
            subject.clone(),
            format!("{} ({})", expires.date(), expires.relative()),
            (*status).to_owned(),
        ]
    }
}

/// COSI namespace of secrets.
const NAMESPACE: &str = "secrets";
/// `-----BEGIN CERT`
const BEGIN_IN_BASE64: &str = "LS0tLS1CRUdJTiBDRVJU";
/// Thirty days: time enough to renew what does not renew itself.
const SOON: i64 = 30 * 24 * 3600;

#[cfg(test)]
mod tests {
    use talos_config::SourceId;
    use talos_config::pki::{Authority, Key, NewAuthority, Validity};
    use talos_config::yaml::{Limits, parse};

    use super::*;

    #[test]
    fn certificates_are_found_wherever_they_are() {
        let authority = authority(0, 2_000_000_000);
        let pem = authority.certificate().encode();
        let encoded = STANDARD.encode(&pem);
        let indented = pem.replace('\n', "\n    ");
        let text = format!(
            "a:\n  - crt: {encoded}\n    key: bm90aGluZw==\nkubeconfig: |\n    data: \"{encoded}\"\npem: |\n    {indented}\n"
        );
        let documents = parse(&text, SourceId(1), Limits::default()).unwrap();
        let mut found = Vec::new();
        search(&documents[0].root, "Secret/one ", &mut found);
        let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["Secret/one a[0].crt", "Secret/one kubeconfig", "Secret/one pem"]);
        assert!(found.iter().all(|(_, one)| one == authority.certificate()));
    }

    #[test]
    fn what_ends_soon_is_told() {
        let day = 24 * 3600;
        let (people, itself) = (RenewedBy::User, RenewedBy::Talos);
        for (before, left, renewed, status) in [
            (day, -day, people, "expired"),
            (day, 29 * day, people, "expires soon"),
            (day, 31 * day, people, "OK"),
            (day, day, itself, "OK"),
            (4 * day, day, itself, "expires soon"),
            (4000 * day, 29 * day, itself, "expires soon"),
        ] {
            let authority = authority(clock::now() - before, clock::now() + left);
            let row = Expiry::row("client", "crt".to_owned(), authority.certificate(), renewed);
            assert_eq!(row.what.status, status);
            assert_eq!(row.what.subject, "O=home");
        }
    }

    fn authority(not_before: i64, not_after: i64) -> Authority {
        let validity = Validity { not_before, not_after, serial: [1; 16] };
        let new =
            NewAuthority { organization: Some("home"), addresses: &[], validity, id: [1; 20] };
        Authority::new(Key::ed25519([1; 32]), &new)
    }
}
