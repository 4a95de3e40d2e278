//! Logging: what the engine, the client of the Talos API and the command do, as lines on stderr.
//!
//! In: `-v`, `--log-format` and `ICHOR_LOG`. Out: a line for each event, with the fields of the spans around it.
//! Always holds: only our own crates log, since others might log a secret; what machines and files bring is escaped.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry, Scope};

use crate::args::{LogArgs, LogFormat};
use crate::{Error, clock, printer};

/// Begins to log if that is wanted; returns whether it is. `-v` goes before the filter of `ICHOR_LOG`.
pub(crate) fn start(args: LogArgs, filter: Option<&str>) -> Result<bool, Error> {
    let targets = match (args.verbose, filter) {
        (0, None | Some("")) => return Ok(false),
        (0, Some(filter)) => parse(filter)?,
        (1, _) => ours(LevelFilter::INFO),
        (_, _) => ours(LevelFilter::DEBUG),
    };
    let lines = Lines { format: args.log_format }.with_filter(targets);
    // A second start, as in tests of the library, keeps the first one's lines.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(lines));
    Ok(true)
}

/// Parses a filter: a level, or `TARGET=LEVEL` with commas between.
fn parse(filter: &str) -> Result<Targets, Error> {
    let invalid = |problem: String| Error::Usage {
        message: format!("ICHOR_LOG={filter:?}: {problem}"),
        hint: "write it as debug, or as engine=debug,talos_api=info".to_owned(),
    };
    let given: Targets = filter.parse().map_err(|_| invalid("invalid filter".to_owned()))?;
    let mut targets = ours(given.default_level().unwrap_or(LevelFilter::OFF));
    for (target, level) in &given {
        if !CRATES.contains(&target.split("::").next().unwrap_or_default()) {
            let known = CRATES.join(", ");
            return Err(invalid(format!("{target:?} does not log, only {known} do")));
        }
        targets = targets.with_target(target.to_owned(), level);
    }
    Ok(targets)
}

fn ours(level: LevelFilter) -> Targets {
    CRATES.iter().fold(Targets::new(), |targets, name| targets.with_target(*name, level))
}

/// Writes events as lines.
struct Lines {
    format: LogFormat,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let spans = context.event_scope(event).into_iter().flat_map(Scope::from_root);
        let spans: Vec<(&'static str, Fields)> = spans
            .filter_map(|span| Some((span.name(), span.extensions().get::<Fields>()?.clone())))
            .collect();
        let (level, target) = (event.metadata().level().as_str(), event.metadata().target());
        printer::log(&match self.format {
            LogFormat::Text => text(level, target, &fields, &spans),
            LogFormat::Json => json(level, target, fields, spans),
        });
    }
}

fn text(level: &str, target: &str, fields: &Fields, spans: &[(&str, Fields)]) -> String {
    let Fields { message, values } = fields;
    let mut line = format!("{} {level:<5} {target}: {message}", clock::timestamp());
    for (name, value) in values.iter().chain(spans.iter().flat_map(|(_, fields)| &fields.values)) {
        // Writing to a string cannot fail.
        let _ = match value {
            Value::String(text) if text.contains([' ', '"', '=']) => {
                write!(line, " {name}={text:?}")
            }
            Value::String(text) => write!(line, " {name}={text}"),
            value => write!(line, " {name}={value}"),
        };
    }
    line
}

fn json(level: &str, target: &str, fields: Fields, spans: Vec<(&str, Fields)>) -> String {
    let Fields { message, values } = fields;
    let head = [
        ("time", clock::timestamp()),
        ("level", level.to_ascii_lowercase()),
        ("target", target.to_owned()),
        ("message", message),
    ];
    let object = |values: Vec<(&str, Value)>| -> Map<String, Value> {
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    let mut line = object(head.map(|(name, text)| (name, text.into())).into());
    line.extend(object(values));
    for (name, fields) in spans {
        line.insert(name.to_owned(), Value::Object(object(fields.values)));
    }
    Value::Object(line).to_string()
}

/// The fields of an event or a span.
#[derive(Clone, Default)]
struct Fields {
    message: String,
    values: Vec<(&'static str, Value)>,
}

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            (name, value) => {
                self.values.retain(|(known, _)| *known != name);
                self.values.push((name, value));
            }
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    /// As milliseconds are counted.
    fn record_u128(&mut self, field: &Field, value: u128) {
        self.set(field, u64::try_from(value).unwrap_or(u64::MAX).into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }
}

/// The crates that log.
const CRATES: [&str; 3] = ["engine", "ichor", "talos_api"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_filter_names_levels_and_our_crates_only() {
        for filter in ["debug", "engine=debug", "talos_api::node=trace,ichor=info", "off"] {
            assert!(parse(filter).is_ok(), "{filter}");
        }
        for filter in ["h2=trace", "engin", "engine=loud", "debug,kube_client=debug"] {
            assert!(parse(filter).is_err(), "{filter}");
        }
        let targets = parse("debug").expect("a filter");
        assert!(targets.would_enable("engine::lease", &tracing::Level::DEBUG));
        assert!(!targets.would_enable("h2::codec", &tracing::Level::ERROR));
    }
}
