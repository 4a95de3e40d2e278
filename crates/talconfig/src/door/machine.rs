//! From layers to the configuration of a machine.
//!
//! Between two stages a configuration is text to talhelper: what one library writes and another one reads can
//! differ in blanks at the beginning of a text, and files depend on it. So it is text here too, where that makes a
//! difference ([`Intermediate`]).

use std::collections::BTreeMap;

use plan::LayerSource;
use talos_config::yaml::{self, Dialect};
use talos_config::{
    Confidential, Config, Contract, Data, Document, Finding, Generate, Mode, Options, Patch,
    Patched, Role, Secret, SourceId, Value,
};

use crate::door::environment::Environment;
use crate::door::image::Images;
use crate::door::layers::{Layer, LayerContext, LayerOp};
use crate::door::load::{Node, Talconfig};
use crate::door::secrets::Secrets;
use crate::door::trace::{LayerTrace, PatchLines, TracedText, plain};
use crate::door::{sops_files, text};
use crate::error::{Error, ErrorDetail, LocatedError};
use crate::gotemplate::{self, TemplateContext, TemplateError};
use crate::host::Host;
use crate::value_ext::ValueExt;

/// A machine's configuration.
pub struct Machine {
    /// The text in talhelper's layout.
    pub text: Secret<String>,
    /// Warnings that Talos would print.
    pub warnings: Vec<String>,
}

/// Everything that a machine's configuration is made from.
pub struct Cluster<'a> {
    pub(crate) talconfig: &'a Talconfig,
    secrets: &'a Secrets,
    pub(crate) images: &'a Images<'a>,
    pub(crate) contract: Contract,
    mode: &'a str,
}

impl<'a> Cluster<'a> {
    /// Puts together what machines are made from. `mode` is where they run: metal, cloud or container.
    pub fn new(
        talconfig: &'a Talconfig,
        secrets: &'a Secrets,
        images: &'a Images<'a>,
        mode: &'a str,
    ) -> Result<Self, Error> {
        let contract = talconfig
            .talos()
            .parse()
            .map_err(|error: talos_config::NoContract| Error::Machine(error.to_string().into()))?;
        let host = images.host;
        let cluster = &talconfig.cluster;
        host.debug(&|| {
            format!(
                "generating input file clusterName={} endpoint={} kubernetesVersion={}",
                talconfig.cluster_name(),
                cluster.text_at("endpoint"),
                talconfig.kubernetes()
            )
        });
        for (what, key, default) in [
            ("pod network", "clusterPodNets", "10.244.0.0/16"),
            ("service network", "clusterSvcNets", "10.96.0.0/12"),
            ("additional machine cert SANs", "additionalMachineCertSans", ""),
            ("additional subject alt names", "additionalApiServerCertSans", ""),
        ] {
            host.debug(&|| {
                let texts = cluster.texts_at(key).join(" ");
                let texts = if texts.is_empty() { default } else { &texts };
                format!("setting input {what} to [{texts}]")
            });
        }
        Ok(Self { talconfig, secrets, images, contract, mode })
    }

    /// Returns the layers of a machine, in the order in which they are applied.
    pub fn layers(&self, node: &Node) -> Result<Vec<Layer>, Error> {
        let mut layers = self.layer_context().keys(node)?;
        layers.extend(self.layer_context().overlays(node)?);
        Ok(layers)
    }

    /// Returns the configuration of a machine.
    pub fn machine(&self, node: &Node) -> Result<Machine, Error> {
        self.build(node, &mut LayerTrace::default())
    }

    /// Applies the layers of a machine, and records the result of each in the trace.
    pub(crate) fn build(&self, node: &Node, trace: &mut LayerTrace) -> Result<Machine, Error> {
        let builder = Builder {
            host: self.images.host,
            environment: self.images.environment,
            talconfig: self.talconfig,
            node,
        };
        trace.located = self.talconfig.source_text.is_known();
        let keys = self
            .layer_context()
            .keys(node)
            .map_err(|error| builder.within("imageFactory", error))?;
        let text = builder.keys(&self.generate(node)?, &keys, trace)?;
        if known_mode(self.mode).is_none() && has_volumes(node) {
            return Err(unknown_mode(self.mode));
        }
        let layers = self.layer_context().overlays(node)?;
        let intermediate = builder.documents(text, &layers, trace)?;
        let intermediate = builder.patches(intermediate, &layers, Stage::Machine, trace)?;
        let intermediate = builder.patches(intermediate, &layers, Stage::All, trace)?;
        let (config, text) = builder.manifests(intermediate, &layers, trace)?.both()?;
        let mode = known_mode(self.mode).ok_or_else(|| unknown_mode(self.mode))?;
        let mut validation = config.validate(mode, true);
        // A deprecation of a newer Talos does not apply to this one.
        validation.errors.retain(|error| !error.problem.message.ends_with(NEWER_DOCUMENTS));
        if mode == Mode::Metal && self.contract < Contract::new(1, 14) && !installs(&config) {
            validation.errors.push(Finding::error(
                "v1alpha1.Config",
                "install instructions are required in \"\" mode",
            ));
        }
        if !validation.errors.is_empty() {
            return Err(Error::Machine(ErrorDetail::new(validation.text())));
        }
        // Rules of our own are not part of talhelper's output.
        let warnings = validation.warnings.into_iter().filter(Finding::is_of_talos);
        let documents = text::parse(&text).map_err(|refusal| Error::Machine(refusal.said))?;
        Ok(Machine {
            text: Secret::new(yaml::rewrite(&documents, 2, true)),
            warnings: warnings.map(|warning| warning.problem.message).collect(),
        })
    }

    fn layer_context(&self) -> LayerContext<'_> {
        LayerContext {
            talconfig: self.talconfig,
            contract: self.contract,
            mode: known_mode(self.mode),
            older_key: self.secrets.older_key.as_deref(),
            images: self.images,
        }
    }

    fn generate(&self, node: &Node) -> Result<Config, Error> {
        let cluster = &self.talconfig.cluster;
        let mut options = Options {
            schedule_on_control_planes: self.talconfig.schedules_on_control_planes(),
            ..Options::default()
        };
        if cluster.has("domain") {
            options.dns_domain = cluster.text_at("domain").to_owned();
        }
        if self.contract >= Contract::new(1, 14) {
            // This generates the document; layers set its contents.
            options.install_disk = "any".to_owned();
        }
        let role = if node.is_control_plane() { Role::ControlPlane } else { Role::Worker };
        let generate = Generate {
            cluster: self.talconfig.cluster_name(),
            endpoint: cluster.text_at("endpoint"),
            kubernetes: self.talconfig.kubernetes(),
            contract: self.contract,
            secrets: &self.secrets.bundle,
            options,
        };
        generate.config(role).map_err(|error| Error::Machine(error.to_string().into()))
    }
}

/// Returns true if a configuration has install instructions.
fn installs(config: &Config) -> bool {
    let document = config.document("v1alpha1", "");
    document.and_then(|document| document.body.get("machine")?.get("install")).is_some()
}

fn known_mode(name: &str) -> Option<Mode> {
    Mode::parse(name).filter(|mode| *mode != Mode::MetalAgent)
}

fn unknown_mode(name: &str) -> Error {
    let name = talos_config::rules::quoted(name);
    Error::Machine(
        ErrorDetail::new(format!("unknown Talos runtime mode: {name}"))
            .hint("it is metal, cloud or container"),
    )
}

fn has_volumes(node: &Node) -> bool {
    ["volumes", "userVolumes"].iter().any(|key| !node.value.items_at(key).is_empty())
}

/// The patches that are applied together.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Stage {
    Machine,
    All,
}

struct Builder<'a> {
    host: &'a dyn Host,
    environment: &'a Environment,
    talconfig: &'a Talconfig,
    node: &'a Node,
}

/// A patch with variables and templates rendered.
struct RenderedPatch {
    /// The key of the talconfig, or the path of a file.
    name: String,
    text: String,
    origin: PatchOrigin,
    /// The encrypted values of its file, if the patch is hidden in output.
    encrypted: Option<Confidential>,
}

/// The source of a patch.
enum PatchOrigin {
    /// In a key of the talconfig.
    Key,
    /// In a file, whose text this is.
    File(String),
}

impl Builder<'_> {
    /// Sets what keys set.
    fn keys(
        &self,
        config: &Config,
        layers: &[Layer],
        trace: &mut LayerTrace,
    ) -> Result<String, Error> {
        let mut documents = config.documents().to_vec();
        trace.push(|| "generated".to_owned(), || Some(config.clone()));
        let mut snapshot = None;
        let mut rendered: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for layer in layers {
            match &layer.op {
                LayerOp::Set { kind, path, value } => {
                    if let Some(document) = find(&mut documents, kind) {
                        set(&mut document.body, path, value.clone());
                    }
                }
                LayerOp::Append { kind, path, items } => {
                    if let Some(document) = find(&mut documents, kind) {
                        append(&mut document.body, path, items);
                    }
                }
                LayerOp::Rendered { kind, path, key, template } => {
                    let before = snapshot.get_or_insert_with(|| documents.clone());
                    let value = self.render(template, before);
                    let value = value.map_err(|error| {
                        let detail = error.detail.in_file(&layer.origin);
                        self.within(&layer.origin, Error::Template(detail))
                    })?;
                    let what = if path
                        .last()
                        .is_some_and(|last| last.to_lowercase().ends_with("labels"))
                    {
                        "node labels"
                    } else {
                        "node annotations"
                    };
                    rendered.entry(what).or_default().push(format!("{key}:{value}"));
                    if self.environment.is_encrypted_in(template) {
                        let path = format!("{}.{key}", path.join("."));
                        trace.confidential.add_field(kind, &path);
                    }
                    if let Some(document) = find(&mut documents, kind) {
                        insert(&mut document.body, path, key, &value);
                    }
                }
                LayerOp::Remove { kind } => {
                    documents.retain(|document| document.kind.name != *kind);
                }
                LayerOp::Add(document) => documents.push(document.clone()),
                LayerOp::Documents(_)
                | LayerOp::Patch(_)
                | LayerOp::GlobalPatch(_)
                | LayerOp::Manifest(_) => {}
            }
            trace.push(|| self.layer(&layer.origin), || Config::new(documents.clone()).ok());
        }
        for what in ["node labels", "node annotations"] {
            if let Some(added) = rendered.get(what) {
                self.host.debug(&|| format!("adding map[{}] to {what}", added.join(" ")));
            }
        }
        let config = Config::new(documents).map_err(|error| plain(&error))?;
        Ok(config.encode(Dialect::default()).into_exposed())
    }

    /// Merges the documents that keys became.
    fn documents(
        &self,
        text: String,
        layers: &[Layer],
        trace: &mut LayerTrace,
    ) -> Result<Intermediate, Error> {
        let mut patch = String::new();
        for layer in layers {
            let LayerOp::Documents(documents) = &layer.op else { continue };
            if patch.is_empty() {
                self.host.debug(&|| {
                    "patching multidocs configurations to main configurations".to_owned()
                });
            }
            for document in documents {
                let config = Config::new(vec![document.clone()]).map_err(|error| plain(&error))?;
                patch.push_str("---\n");
                patch.push_str(config.encode_indented(2).expose());
            }
            trace.push(
                || self.layer(&layer.origin),
                || merged(&text, &patch).ok()?.into_config().ok(),
            );
        }
        if patch.is_empty() {
            return Ok(Intermediate::Text(text));
        }
        // Two documents of the same name are refused here, before one is merged into the other.
        read(&patch)?;
        let merged = merged(&text, &patch).and_then(Patched::into_config);
        Ok(Intermediate::new(merged.map_err(|error| trace.locate(&error))?))
    }

    /// Applies the patches of one stage. All are rendered with the configuration below the first of
    /// them.
    fn patches(
        &self,
        intermediate: Intermediate,
        layers: &[Layer],
        stage: Stage,
        trace: &mut LayerTrace,
    ) -> Result<Intermediate, Error> {
        let entries: Vec<(&str, &str)> = layers
            .iter()
            .filter_map(|layer| match &layer.op {
                LayerOp::Patch(patch) if stage == Stage::Machine => {
                    Some((&*layer.origin, &**patch))
                }
                LayerOp::GlobalPatch(patch) if stage == Stage::All => {
                    Some((&*layer.origin, &**patch))
                }
                _ => None,
            })
            .collect();
        if entries.is_empty() {
            return Ok(intermediate);
        }
        let whose = if stage == Stage::Machine { "node specific" } else { "global" };
        self.host.debug(&|| format!("applying {whose} patches to {}", self.node.hostname()));
        let (below, text) = intermediate.read()?;
        let mut rendered = Vec::new();
        for (key, entry) in entries {
            rendered.extend(match entry.strip_prefix('@') {
                Some(path) => {
                    self.patch_file(path, &below).map_err(|error| self.within(key, error))?
                }
                None => {
                    let text = self.render(entry, below.documents()).map_err(|error| {
                        let text = self.talconfig.plan_text(key, entry.lines().count());
                        self.template_error(error, &text)
                    })?;
                    Some(RenderedPatch {
                        name: key.to_owned(),
                        text,
                        origin: PatchOrigin::Key,
                        encrypted: self.encrypted(entry, None),
                    })
                }
            });
        }
        let mut patches = Vec::new();
        for patch in rendered {
            let RenderedPatch { name, text, origin, encrypted } = self.named_file(patch)?;
            let source = trace.text(match origin {
                PatchOrigin::Key => {
                    let LayerSource { file, key, lines } =
                        self.talconfig.plan_text(&name, text.lines().count());
                    TracedText { file, key, lines: PatchLines::Known(lines) }
                }
                PatchOrigin::File(written) => {
                    let lines = PatchLines::Of { written, text: text.clone() };
                    TracedText { file: name, key: String::new(), lines }
                }
            });
            let patch = Patch::parse(&text, source).map_err(|error| trace.patch_error(&error))?;
            if let Some(values) = encrypted {
                trace.confidential.extend(&values);
                trace.confidential.add_patch(&patch);
            }
            patches.push(patch);
        }
        if patches.is_empty() {
            return Ok(text.map_or(Intermediate::Documents(below), Intermediate::Text));
        }
        // Operations work on the text itself.
        let operations = patches.iter().any(Patch::is_operations);
        let mut patched = if operations {
            let text = text.map_or(Intermediate::Documents(below), Intermediate::Text).into_text();
            Patched::new(text, SourceId::default())
        } else {
            Patched::from(below)
        };
        let first = trace.texts.len() - patches.len();
        for (index, patch) in patches.iter().enumerate() {
            let applied = patched.apply(patch, Dialect::default());
            patched = applied.map_err(|error| trace.patch_error(&error))?;
            if trace.enabled {
                let layer = trace.texts[first + index].layer_source().location(0);
                trace.push(|| layer, || patched.clone().into_config().ok());
            }
        }
        if operations {
            return Ok(Intermediate::Text(patched.encode(Dialect::default()).into_exposed()));
        }
        let config = patched.into_config().map_err(|error| trace.patch_error(&error))?;
        Ok(Intermediate::new(config))
    }

    /// Reads a patch from a file; `None` if it is empty.
    fn patch_file(&self, path: &str, below: &Config) -> Result<Option<RenderedPatch>, Error> {
        let bytes = self.host.read(path).map_err(|error| Error::Patch(error.into()))?;
        let raw = String::from_utf8_lossy(&bytes).into_owned();
        if raw.trim().is_empty() {
            self.host.debug(&|| format!("{path} is an empty file, skip applying this patch"));
            return Ok(None);
        }
        let opened = sops_files::decrypt_yaml(raw.clone(), path, self.environment, self.host);
        let (content, encrypted) = match opened {
            Ok(opened) => (opened.text, opened.encrypted),
            Err(unopened) if unopened.is_encrypted => {
                return Err(Error::Patch(unopened.detail.within(&format!("{path}: "))));
            }
            // A template need not be YAML before it is rendered.
            Err(_) => (raw.clone(), None),
        };
        let encrypted = self.encrypted(&content, encrypted);
        let content = self.render_file(path, &content, below)?;
        let text = text::substitute(&content, self.environment).map_err(|refusal| {
            if self.talconfig.source_text.is_known() {
                // Of a template that was rendered, the lines need not be those of the file.
                Error::Located(LocatedError::new(path, Error::PATCH, refusal.problems))
            } else {
                Error::Patch(refusal.said.in_file(path))
            }
        })?;
        Ok(Some(RenderedPatch {
            name: path.to_owned(),
            text,
            origin: PatchOrigin::File(raw),
            encrypted,
        }))
    }

    /// Reads an entry that looks like a file name from that file.
    fn named_file(&self, patch: RenderedPatch) -> Result<RenderedPatch, Error> {
        let RenderedPatch { name, text, .. } = &patch;
        if text.contains([' ', '\n']) || text.starts_with(['[', '{']) {
            return Ok(patch);
        }
        let bytes = self.host.read(text).map_err(|error| {
            Error::Patch(ErrorDetail::new(error.to_string()).hint(format!(
                "{name} has neither a blank nor a line break, so it is taken for the name of a file"
            )))
        })?;
        let raw = String::from_utf8_lossy(&bytes).into_owned();
        Ok(RenderedPatch {
            name: text.clone(),
            text: raw.clone(),
            origin: PatchOrigin::File(raw),
            encrypted: patch.encrypted,
        })
    }

    /// Returns the values to hide of a text: its encrypted values, and everything it sets if a
    /// template transforms such a value.
    fn encrypted(&self, text: &str, values: Option<Confidential>) -> Option<Confidential> {
        values.or_else(|| self.environment.is_encrypted_in(text).then(Confidential::default))
    }

    /// Appends the documents of files.
    fn manifests(
        &self,
        intermediate: Intermediate,
        layers: &[Layer],
        trace: &mut LayerTrace,
    ) -> Result<Intermediate, Error> {
        let paths: Vec<(&str, &str)> = layers
            .iter()
            .filter_map(|layer| match &layer.op {
                LayerOp::Manifest(path) => Some((&*layer.origin, &**path)),
                _ => None,
            })
            .collect();
        if paths.is_empty() {
            return Ok(intermediate);
        }
        self.host.debug(&|| format!("generating extra manifests for {}", self.node.hostname()));
        let (below, mut text) = intermediate.both()?;
        for (key, path) in paths {
            let opened = sops_files::read_with_values(path, self.environment, self.host)
                .map_err(|detail| self.within(key, Error::Patch(detail)))?;
            let encrypted = self.encrypted(&opened.text, opened.encrypted);
            let content = self
                .render_file(path, &opened.text, &below)
                .map_err(|error| self.within(key, error))?;
            if let Some(values) = encrypted {
                trace.confidential.extend(&values);
                // Errors are reported when everything is parsed together.
                if let Ok(documents) = Config::parse(&content, SourceId::default()) {
                    trace.confidential.add_config(&documents);
                }
            }
            if !content.starts_with("---\n") {
                text.push_str("---\n");
            }
            text.push_str(&content);
            trace.push(|| path.to_owned(), || Config::parse(&text, SourceId::default()).ok());
        }
        Ok(Intermediate::Text(text))
    }

    /// Returns the location of a key for people.
    fn layer(&self, key: &str) -> String {
        let group = if self.node.is_control_plane() { "controlPlane" } else { "worker" };
        self.talconfig.key_location(key, group)
    }

    /// Adds the key of the talconfig to an error, if locations are wanted.
    fn within(&self, key: &str, error: Error) -> Error {
        if self.talconfig.source_text.is_known() {
            error.within(&format!("{}: ", self.layer(key)))
        } else {
            error
        }
    }

    fn render_file(&self, path: &str, content: &str, below: &Config) -> Result<String, Error> {
        self.render(content, below.documents()).map_err(|error| {
            let count = u32::try_from(content.lines().count()).unwrap_or(u32::MAX);
            let text = LayerSource {
                file: path.to_owned(),
                key: String::new(),
                lines: (1..=count).collect(),
            };
            self.template_error(error, &text)
        })
    }

    /// Returns the error of a template. With locations it has the line of the file, otherwise that
    /// of the template.
    fn template_error(&self, error: TemplateError, written: &LayerSource) -> Error {
        let TemplateError { line, problem, detail } = error;
        if !self.talconfig.source_text.is_known() {
            let name = if written.key.is_empty() { &written.file } else { &written.key };
            return Error::Template(detail.in_file(name));
        }
        let message = format!("{}: template: {problem}", written.location(line));
        Error::Template(ErrorDetail { message, hint: detail.hint })
    }

    fn render(&self, template: &str, documents: &[Document]) -> Result<String, TemplateError> {
        if !template.contains("{{") {
            return Ok(template.to_owned());
        }
        let context =
            TemplateContext { environment: self.environment, now: self.host.now(), sprig: true };
        let body = template_data(documents);
        let data = gotemplate::config(&body);
        gotemplate::render("template", template, &data, &context)
    }
}

/// Returns the `v1alpha1` document as templates see it. Settings that have moved to their own
/// document are still found in the old place: templates use the installer's image above all.
fn template_data(documents: &[Document]) -> BTreeMap<String, Value> {
    let of_kind = |kind: &str| documents.iter().find(|document| document.kind.name == kind);
    let mut body = of_kind("v1alpha1").map(|document| document.body.clone()).unwrap_or_default();
    let moved = of_kind("UnattendedInstallConfig");
    if let Some(image) = moved.and_then(|document| document.body.get("installer")?.get("image"))
        && !body.get("machine").is_some_and(|machine| machine.has("install"))
    {
        set(&mut body, &["machine", "install", "image"], image.clone());
    }
    body
}

/// Merges documents into a configuration.
fn merged(text: &str, patch: &str) -> Result<Patched, talos_config::Error> {
    let patch = Patch::parse(patch, SourceId::default())?;
    Patched::new(text.to_owned(), SourceId::default()).apply(&patch, Dialect::default())
}

/// A configuration between two stages of talhelper.
enum Intermediate {
    Text(String),
    /// Documents that read as themselves once they are written.
    Documents(Config),
}

impl Intermediate {
    fn new(config: Config) -> Self {
        let values = config.documents().iter().flat_map(|document| document.body.values());
        if values.into_iter().all(keeps_its_blanks) {
            Self::Documents(config)
        } else {
            Self::Text(config.encode(Dialect::default()).into_exposed())
        }
    }

    /// Parses the documents, and returns the text if it was text.
    fn read(self) -> Result<(Config, Option<String>), Error> {
        match self {
            Self::Documents(config) => Ok((config, None)),
            Self::Text(text) => {
                let config = read(&text)?;
                Ok((config, Some(text)))
            }
        }
    }

    fn both(self) -> Result<(Config, String), Error> {
        let (config, text) = self.read()?;
        let text = text.unwrap_or_else(|| config.encode(Dialect::default()).into_exposed());
        Ok((config, text))
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Documents(config) => config.encode(Dialect::default()).into_exposed(),
        }
    }
}

/// Returns false if a text of several lines begins with a blank, which rewriting would lose.
fn keeps_its_blanks(value: &Value) -> bool {
    match &value.data {
        Data::Text(text) => !text.contains('\n') || !text.starts_with(char::is_whitespace),
        Data::List(items) => items.iter().all(keeps_its_blanks),
        Data::Map(map) => map.values().all(keeps_its_blanks),
        Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) => true,
    }
}

fn read(text: &str) -> Result<Config, Error> {
    Config::parse(text, SourceId::default()).map_err(|error| plain(&error))
}

fn find<'a>(documents: &'a mut [Document], kind: &str) -> Option<&'a mut Document> {
    documents.iter_mut().find(|document| document.kind.name == kind)
}

/// Returns the object at a path, creating it if need be.
fn object_at<'a>(
    body: &'a mut BTreeMap<String, Value>,
    path: &[&str],
) -> Option<&'a mut BTreeMap<String, Value>> {
    let Some((first, rest)) = path.split_first() else { return Some(body) };
    let entry = body.entry((*first).to_owned());
    match &mut entry.or_insert_with(|| Value::new(Data::Map(BTreeMap::new()))).data {
        Data::Map(map) => object_at(map, rest),
        _ => None,
    }
}

fn set(body: &mut BTreeMap<String, Value>, path: &[&str], value: Value) {
    let Some((last, before)) = path.split_last() else { return };
    if let Some(object) = object_at(body, before) {
        object.insert((*last).to_owned(), value);
    }
}

fn append(body: &mut BTreeMap<String, Value>, path: &[&str], items: &[Value]) {
    let Some((last, before)) = path.split_last() else { return };
    let Some(object) = object_at(body, before) else { return };
    let list =
        object.entry((*last).to_owned()).or_insert_with(|| Value::new(Data::List(Vec::new())));
    if let Data::List(list) = &mut list.data {
        list.extend(items.iter().cloned());
    }
}

fn insert(body: &mut BTreeMap<String, Value>, path: &[&str], key: &str, value: &str) {
    if let Some(object) = object_at(body, path) {
        object.insert(key.to_owned(), Value::from(value));
    }
}

/// The message with which Talos deprecates the `v1alpha1` document once all of it has documents.
const NEWER_DOCUMENTS: &str = "is deprecated; use dedicated configuration documents instead";
