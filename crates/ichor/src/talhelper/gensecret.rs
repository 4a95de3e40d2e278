//! `talhelper gensecret`

use talconfig::Host;
use talos_config::yaml::{self, Limits};
use talos_config::{Bundle, Config, Contract, SourceId};

use super::{Session, TalhelperError};
use crate::entropy;

pub(super) fn run(session: &mut Session<'_>, from: Option<&str>) -> Result<(), TalhelperError> {
    let failed =
        |reason: String| TalhelperError::new(format!("failed to generate secret bundle: {reason}"));
    let bundle = match from {
        None => {
            let contract = talconfig::LATEST.parse().unwrap_or(Contract::CURRENT);
            entropy::with_secret_source(|makers| Bundle::generate(contract, makers))?
        }
        Some(path) => {
            let bytes = session.host.read(path).map_err(|error| failed(error.to_string()))?;
            let text = String::from_utf8_lossy(&bytes);
            let config =
                Config::parse(&text, SourceId::default()).map_err(|error| match &error {
                    talos_config::Error::Document(_) => {
                        let line = error.origin().map_or(1, |origin| origin.line);
                        failed(format!("error decoding document /v1alpha1/ (line {line}): {error}"))
                    }
                    _ => failed(error.to_string()),
                })?;
            Bundle::from_config(&config)
        }
    };
    // Written with the indentation of talhelper, in the quotes of Talos.
    let text = bundle.encode(talos_config::yaml::Dialect::default());
    let documents = yaml::parse(text.expose(), SourceId::default(), Limits::default());
    let text = documents
        .map_or_else(|_| text.expose().clone(), |documents| yaml::rewrite(&documents, 2, false));
    session.printer.verbatim(&text)?;
    Ok(())
}
