//! `talhelper validate …`

use std::borrow::Cow;

use talconfig::{Host, Talconfig};
use talos_config::{Coded, Config, Mode, SourceId};

use super::{Session, TalhelperError};

/// `talhelper validate talconfig`
pub(super) fn talconfig(
    session: &mut Session<'_>,
    file: &str,
    env_files: &[String],
    no_substitute: bool,
) -> Result<(), TalhelperError> {
    session.host.debug(&|| "start loading and validating config file".to_owned());
    let environment = if no_substitute { None } else { Some(&mut session.environment) };
    let findings =
        Talconfig::validate(file, env_files, environment, session.host).map_err(|error| {
            let hint = error.hint().map(Cow::into_owned);
            // The same troubles have other names here than when configuration is made.
            let message = match &error {
                talconfig::Error::Substitution(detail) => {
                    format!("failed trying to substitute env: {detail}")
                }
                talconfig::Error::WrongType(detail) => {
                    format!("failed to validate talhelper config file: {detail}")
                }
                other => other.to_string(),
            };
            TalhelperError::Fatal { message, hint }
        })?;
    if findings.is_empty() {
        return session.say("Your talhelper config file is looking great!");
    }
    session.findings("There are issues with your talhelper config file:", &findings, true)?;
    if findings.iter().any(|finding| !finding.is_warning) {
        session.printer.note(&format!("{} ", super::system_host::time_stamp()));
        return Err(TalhelperError::AlreadyReported);
    }
    Ok(())
}

/// `talhelper validate nodeconfig`
pub(super) fn nodeconfig(
    session: &mut Session<'_>,
    files: &[String],
    mode: &str,
) -> Result<(), TalhelperError> {
    if files.is_empty() {
        return Err(TalhelperError::new(
            "please specify at least 1 talos node config file you want to validate",
        ));
    }
    for file in files {
        let failed = |reason: String| {
            TalhelperError::new(format!(
                "failed to validate Talos node config file {file}: {reason}"
            ))
        };
        let bytes = session.host.read(file).map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8_lossy(&bytes);
        let config = Config::parse(&text, SourceId::default()).map_err(|error| match &error {
            talos_config::Error::Document(_) => {
                let line = error.origin().map_or(1, |origin| origin.line);
                failed(format!("error decoding document /v1alpha1/ (line {line}): {error}"))
            }
            talos_config::Error::Syntax(syntax) => {
                failed(format!("line {}: {syntax}", syntax.origin.line))
            }
            _ => failed(error.to_string()),
        })?;
        let known = Mode::parse(mode).filter(|mode| *mode != Mode::MetalAgent);
        let known = known.ok_or_else(|| {
            failed(format!("unknown Talos runtime mode: {}", talos_config::rules::quoted(mode)))
        })?;
        let validation = config.validate(known, true);
        for warning in validation.warnings.iter().filter(|warning| warning.is_of_talos()) {
            session.say(&warning.problem.message)?;
        }
        if !validation.errors.is_empty() {
            return Err(failed(validation.text()));
        }
        session.say(&format!("{file} is valid for {mode} mode"))?;
    }
    Ok(())
}
