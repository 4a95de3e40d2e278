//! Secrets of a cluster that exists already.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::validate::check_key;
use super::{Bundle, SecretSource};
use crate::Secret;
use crate::config::Config;
use crate::contract::Contract;
use crate::pki::{Certificate, PkiError};
use crate::value::{Data, Value};

/// The files of a Kubernetes cluster that Talos takes over, as PEM texts.
pub struct KubernetesPki {
    /// `ca.crt` and `ca.key`
    pub kubernetes: (String, Secret<String>),
    /// `etcd/ca.crt` and `etcd/ca.key`
    pub etcd: (String, Secret<String>),
    /// `front-proxy-ca.crt` and `front-proxy-ca.key`
    pub aggregator: (String, Secret<String>),
    /// `sa.key`
    pub service_account: Secret<String>,
}

impl Bundle {
    /// Takes the secrets out of a control plane's configuration. Nothing is made up: what is not in there
    /// is not in the bundle.
    pub fn from_config(config: &Config) -> Self {
        let v1alpha1 = |path: &[&str]| at(config, "v1alpha1", path);
        let text = |value: Option<&Value>| value.and_then(Value::as_text).map(Value::from);
        let first = |one: Option<Value>, other: Option<Value>| one.or(other);
        let identity = |key: &str| at(config, "DiscoveryIdentityConfig", &[key]);
        let cluster = [
            ("id", first(text(v1alpha1(&["cluster", "id"])), text(identity("clusterID")))),
            (
                "secret",
                first(text(v1alpha1(&["cluster", "secret"])), text(identity("clusterSecret"))),
            ),
        ];
        let secretbox = first(
            text(v1alpha1(&["cluster", "secretboxEncryptionSecret"])),
            text(etcd_encryption(config)),
        );
        let secrets = [
            ("bootstraptoken", text(v1alpha1(&["cluster", "token"]))),
            ("aescbcencryptionsecret", text(v1alpha1(&["cluster", "aescbcEncryptionSecret"]))),
            ("secretboxencryptionsecret", secretbox),
        ];
        let pair = |path: &[&str]| v1alpha1(path).cloned();
        let issuing = |kind: &str| {
            let pem = |key: &str| {
                at(config, kind, &["issuingCA", key]).and_then(Value::as_text).map(encoded)
            };
            object([("crt", pem("cert")), ("key", pem("key"))])
        };
        let account = at(config, "KubeServiceAccountConfig", &["issuer", "privateKey"]);
        let account =
            account.and_then(Value::as_text).and_then(|key| object([("key", Some(encoded(key)))]));
        let certs = [
            ("etcd", pair(&["cluster", "etcd", "ca"])),
            ("k8s", pair(&["cluster", "ca"]).or_else(|| issuing("KubeAPIServerCAConfig"))),
            (
                "k8saggregator",
                pair(&["cluster", "aggregatorCA"]).or_else(|| issuing("KubeAggregatorCAConfig")),
            ),
            ("k8sserviceaccount", pair(&["cluster", "serviceAccount"]).or(account)),
            ("os", pair(&["machine", "ca"])),
        ];
        let trustd = [("token", text(v1alpha1(&["machine", "token"])))];
        let parts = [
            ("cluster", object(cluster)),
            ("secrets", object(secrets)),
            ("trustdinfo", object(trustd)),
            ("certs", object(certs)),
        ];
        Self(parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
    }

    /// Takes over the authorities of a Kubernetes cluster and makes the rest.
    pub fn from_kubernetes_pki(
        pki: &KubernetesPki,
        bootstrap_token: Option<&str>,
        contract: Contract,
        source: &mut SecretSource<'_>,
    ) -> Result<Self, PkiError> {
        let mut certs = Vec::new();
        for (name, (certificate, key)) in
            [("etcd", &pki.etcd), ("k8s", &pki.kubernetes), ("k8saggregator", &pki.aggregator)]
        {
            check_key(key.expose())?;
            Certificate::parse(certificate)?;
            certs.push((
                name,
                object([("crt", Some(encoded(certificate))), ("key", Some(encoded(key.expose())))]),
            ));
        }
        check_key(pki.service_account.expose())?;
        let account = object([("key", Some(encoded(pki.service_account.expose())))]);
        certs.push(("k8sserviceaccount", account));
        // The service account's key is here already, so none is made.
        let mut no_rsa = || Secret::new(String::new());
        let mut bundle = Self::generate(
            contract,
            &mut SecretSource { now: source.now, random: &mut *source.random, rsa: &mut no_rsa },
        );
        if let Some(Data::Map(present)) = bundle.0.get_mut("certs").map(|value| &mut value.data) {
            present.extend(
                certs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))),
            );
        }
        if let (Some(token), Some(Data::Map(secrets))) =
            (bootstrap_token, bundle.0.get_mut("secrets").map(|value| &mut value.data))
        {
            secrets.insert("bootstraptoken".to_owned(), Value::from(token));
        }
        Ok(bundle)
    }
}

/// The key that Kubernetes encrypts secrets with, where the first provider is of the kind that we keep.
fn etcd_encryption(config: &Config) -> Option<&Value> {
    let resources = at(config, "KubeEtcdEncryptionConfig", &["config", "resources"])?.as_list()?;
    let of_secrets = resources.iter().find(|resource| {
        let kinds = resource.get("resources").and_then(Value::as_list).unwrap_or_default();
        kinds.iter().any(|kind| kind.as_text() == Some("secrets"))
    })?;
    let provider = of_secrets.get("providers")?.as_list()?.first()?;
    provider.get("secretbox")?.get("keys")?.as_list()?.first()?.get("secret")
}

fn at<'c>(config: &'c Config, kind: &str, path: &[&str]) -> Option<&'c Value> {
    let (first, rest) = path.split_first()?;
    let document = config.document(kind, "")?;
    rest.iter().try_fold(document.body.get(*first)?, |value, key| value.get(key))
}

/// An object of what is there; `None` when nothing is.
fn object<const N: usize>(fields: [(&'static str, Option<Value>); N]) -> Option<Value> {
    let fields = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let fields: std::collections::BTreeMap<_, _> = fields.collect();
    (!fields.is_empty()).then(|| Value::new(Data::Map(fields)))
}

fn encoded(text: &str) -> Value {
    Value::from(STANDARD.encode(text).as_str())
}
