//! Trust: the machines of one authority, or in maintenance those of a fingerprint.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer,
    ServerName, UnixTime,
};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use sha2::{Digest, Sha256};
use talos_config::pki::{self, Certificate, Pem};
use talos_config::{Context, Secret};

/// The hash of a machine's public key, as talosctl takes it and the console of a machine shows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Reads a fingerprint: 32 bytes in base64.
    pub fn parse(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns the fingerprint of the key of a certificate; `None` where the certificate cannot be read.
    pub fn of_certificate(certificate: &Certificate) -> Option<Self> {
        let block = pki::blocks(&certificate.encode()).next()?;
        Self::of(&block.bytes.into())
    }

    fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = ParsedCertificate::try_from(certificate).ok()?;
        Some(Self(Sha256::digest(parsed.subject_public_key_info()).into()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

/// The part of a context that cannot be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unusable(pub(crate) &'static str);

/// For a cluster: machines must have a certificate of its authority, and we show ours.
pub(crate) fn mutual(context: &Context) -> Result<ClientConfig, Unusable> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&context.ca) {
        roots.add(certificate).map_err(|_| Unusable("its authority"))?;
    }
    if roots.is_empty() {
        return Err(Unusable("its authority"));
    }
    let chain: Vec<CertificateDer<'_>> = certificates(&context.certificate).collect();
    if chain.is_empty() {
        return Err(Unusable("the client's certificate"));
    }
    let key = private_key(&context.key).ok_or(Unusable("the client's key"))?;
    let webpki = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|_| Unusable("its authority"))?;
    let config = builder()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(IssuerFirst(webpki)))
        .with_client_auth_cert(chain, key);
    Ok(http2(config.map_err(|_| Unusable("the client's certificate and key"))?))
}

/// For a machine in maintenance, which has made a certificate itself: any, or one of those that are known.
pub(crate) fn maintenance(fingerprints: Vec<Fingerprint>) -> Result<ClientConfig, Unusable> {
    let verifier = Pinned { fingerprints, provider: provider() };
    let config = builder()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(http2(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, Unusable> {
    ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|_| Unusable("this program's cryptography"))
}

fn http2(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

fn certificates(text: &str) -> impl Iterator<Item = CertificateDer<'static>> {
    let blocks = pki::blocks(text).filter(|block| block.label == "CERTIFICATE");
    blocks.map(|block| block.bytes.into())
}

/// Talos has a label of its own for Ed25519 keys; what is in it is PKCS#8 all the same.
fn private_key(text: &Secret<String>) -> Option<PrivateKeyDer<'static>> {
    let Pem { label, bytes } = pki::blocks(text.expose()).next()?;
    Some(match label.as_str() {
        "ED25519 PRIVATE KEY" | "PRIVATE KEY" => PrivatePkcs8KeyDer::from(bytes).into(),
        "EC PRIVATE KEY" => PrivateSec1KeyDer::from(bytes).into(),
        "RSA PRIVATE KEY" => PrivatePkcs1KeyDer::from(bytes).into(),
        _ => return None,
    })
}

/// Verifies as rustls does, and reports an unknown issuer rather than an expired certificate.
///
/// Rustls looks at the time first. But a machine in maintenance whose clock is wrong is not a machine of the cluster,
/// even if its certificate has expired.
#[derive(Debug)]
struct IssuerFirst(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for IssuerFirst {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verify = |at| {
            self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, at)
        };
        let verified = verify(now);
        if let Err(rustls::Error::InvalidCertificate(
            CertificateError::ExpiredContext { not_after: valid, .. }
            | CertificateError::NotValidYetContext { not_before: valid, .. },
        )) = verified
        {
            verify(valid)?;
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Takes a machine by its key and not by who signed it.
#[derive(Debug)]
struct Pinned {
    /// Empty for any machine.
    fingerprints: Vec<Fingerprint>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let known = self.fingerprints.is_empty()
            || Fingerprint::of(end_entity).is_some_and(|found| self.fingerprints.contains(&found));
        if known {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
