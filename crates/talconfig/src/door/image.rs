//! The images that a machine installs and boots, and the names of its files.

use std::collections::BTreeMap;

use talos_config::{Confidential, Data, Schematic, SourceId, Value};

use crate::door::decode;
use crate::door::environment::Environment;
use crate::door::load::{Node, Talconfig};
use crate::door::schema::SCHEMATIC_FILE;
use crate::error::{Error, ErrorDetail};
use crate::gotemplate::{self, GoValue, TemplateContext};
use crate::host::Host;
use crate::value_ext::ValueExt;

/// An image factory.
#[derive(Clone, Debug)]
pub struct Factory {
    /// The host of the registry.
    pub registry: String,
    /// The path where schematics are registered.
    pub endpoint: String,
    /// `https` or `http`
    pub protocol: String,
    installer: String,
    image: String,
}

impl Default for Factory {
    fn default() -> Self {
        Self {
            registry: "factory.talos.dev".to_owned(),
            endpoint: "/schematics".to_owned(),
            protocol: "https".to_owned(),
            installer: INSTALLER.to_owned(),
            image: IMAGE.to_owned(),
        }
    }
}

impl Factory {
    /// Creates a factory at another host, with the default paths.
    pub fn at(registry: &str) -> Self {
        let default = Self::default();
        let registry = if registry.is_empty() { default.registry } else { registry.to_owned() };
        Self { registry, ..Self::default() }
    }

    /// Reads the factory of a talconfig.
    pub(crate) fn from_talconfig(cluster: &Value) -> Self {
        let mut factory = Self::default();
        let Some(said) = cluster.get("imageFactory") else { return factory };
        for (key, field) in [
            ("registryURL", &mut factory.registry),
            ("schematicEndpoint", &mut factory.endpoint),
            ("protocol", &mut factory.protocol),
            ("installerURLTmpl", &mut factory.installer),
            ("ISOURLTmpl", &mut factory.image),
        ] {
            if said.has(key) {
                *field = said.text_at(key).to_owned();
            }
        }
        factory
    }

    /// Returns the URL where schematics are registered.
    fn url(&self) -> String {
        format!("{}://{}{}", self.protocol, self.registry, self.endpoint)
    }

    /// Returns the id of a schematic, computed or from the factory.
    fn id(&self, schematic: &Schematic, offline: bool, host: &dyn Host) -> Result<String, Error> {
        host.debug(&|| format!("defined schematic:\n{}", schematic.canonical().trim_end()));
        if offline {
            host.debug(&|| "generating schematic ID in offline mode".to_owned());
            return Ok(schematic.id());
        }
        let url = self.url();
        host.debug(&|| format!("generating schematic ID from {url}"));
        host.register(&url, &schematic.canonical()).map_err(|reason| {
            Error::Factory(ErrorDetail::new(reason).hint(
                "--offline-mode computes the id; the factory serves it once it is registered",
            ))
        })
    }
}

/// A schematic that a factory must know before it serves images of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Registration {
    /// The URL to register it at.
    pub url: String,
    /// The schematic in its canonical form, which its id is computed from.
    pub schematic: String,
}

/// The properties of a machine that select its image.
#[derive(Clone, Debug)]
pub struct MachineSpec {
    /// The platform.
    pub mode: String,
    /// The processor architecture.
    pub arch: String,
    /// Secure Boot.
    pub secure_boot: bool,
    /// Boot a unified kernel image.
    pub use_uki: bool,
    /// The boot method: `iso`, `disk-image` or `pxe`.
    pub boot_method: String,
    /// The suffix of its image, without a dot.
    pub suffix: String,
}

impl MachineSpec {
    fn for_node(node: &Node) -> Self {
        let nothing = Value::new(Data::Map(BTreeMap::new()));
        let spec = node.value.get("machineSpec").unwrap_or(&nothing);
        let or = |key: &str, default: &str| {
            let text = spec.text_at(key);
            if text.is_empty() { default.to_owned() } else { text.to_owned() }
        };
        Self {
            mode: or("mode", "metal"),
            arch: or("arch", "amd64"),
            secure_boot: spec.flag_at("secureboot"),
            use_uki: spec.flag_at("useUKI"),
            boot_method: or("bootMethod", "iso"),
            suffix: or("imageSuffix", "iso"),
        }
    }
}

/// Makes names of images from schematics.
pub struct Images<'a> {
    /// The image factory.
    pub factory: Factory,
    /// Compute ids instead of asking the factory.
    pub offline: bool,
    /// Files and the network.
    pub host: &'a dyn Host,
    /// The variables of templates.
    pub environment: &'a Environment,
}

impl<'a> Images<'a> {
    /// Images as a talconfig wants them.
    pub fn for_talconfig(
        talconfig: &Talconfig,
        offline: bool,
        host: &'a dyn Host,
        environment: &'a Environment,
    ) -> Self {
        Self { factory: Factory::from_talconfig(&talconfig.cluster), offline, host, environment }
    }

    /// Returns the schematics of all installers and where each is registered, without repetition.
    /// An installer with an image of its own needs no registration.
    pub fn registrations(&self, talconfig: &Talconfig) -> Vec<Registration> {
        let made = talconfig.nodes.iter().filter(|node| !node.value.has("talosImageURL"));
        let schematics = made.filter_map(|node| node.value.get("schematic"));
        let mut registrations: Vec<Registration> = Vec::new();
        for value in schematics {
            let registration = Registration {
                url: self.factory.url(),
                schematic: schematic(Some(value)).canonical(),
            };
            if !registrations.contains(&registration) {
                registrations.push(registration);
            }
        }
        registrations
    }

    /// Returns the name of a machine's installer.
    pub fn installer(&self, node: &Node, version: &str) -> Result<String, Error> {
        let image = node.value.text_at("talosImageURL");
        if !image.is_empty() {
            return Ok(format!("{image}:{version}"));
        }
        let schematic = schematic(node.value.get("schematic"));
        self.installer_of(&schematic, &MachineSpec::for_node(node), version)
    }

    /// Returns the name of the installer that is made of a schematic.
    pub fn installer_of(
        &self,
        schematic: &Schematic,
        spec: &MachineSpec,
        version: &str,
    ) -> Result<String, Error> {
        let id = self.factory.id(schematic, self.offline, self.host)?;
        let data = GoValue::Record(
            "talos.installerTmpl",
            vec![
                ("RegistryURL", GoValue::text(&self.factory.registry)),
                ("ID", GoValue::Text(id)),
                ("Version", GoValue::text(version)),
                ("Mode", GoValue::text(&spec.mode)),
                ("Secureboot", GoValue::Bool(spec.secure_boot)),
            ],
        );
        self.render("installer", &self.factory.installer, &data)
    }

    /// Returns the URL of a machine's boot image.
    pub fn image(&self, node: &Node, version: &str) -> Result<String, Error> {
        let value = node.value.get("imageSchematic").or_else(|| node.value.get("schematic"));
        self.image_of(&schematic(value), &MachineSpec::for_node(node), version)
    }

    /// Returns the URL of the boot image that is made of a schematic.
    pub fn image_of(
        &self,
        schematic: &Schematic,
        spec: &MachineSpec,
        version: &str,
    ) -> Result<String, Error> {
        let suffix = match (spec.suffix.as_str(), spec.boot_method.as_str()) {
            ("", "disk-image") => ".raw.zxt".to_owned(),
            ("", "pxe") => String::new(),
            ("", _) => ".iso".to_owned(),
            (suffix, _) => format!(".{suffix}"),
        };
        let id = self.factory.id(schematic, self.offline, self.host)?;
        let data = GoValue::Record(
            "*talos.imageTmpl",
            vec![
                ("BootMethod", GoValue::text(&spec.boot_method)),
                ("Suffix", GoValue::Text(suffix)),
                ("Protocol", GoValue::text(&self.factory.protocol)),
                ("RegistryURL", GoValue::text(&self.factory.registry)),
                ("ID", GoValue::Text(id)),
                ("Version", GoValue::text(version)),
                ("Mode", GoValue::text(&spec.mode)),
                ("Arch", GoValue::text(&spec.arch)),
                ("Secureboot", GoValue::Bool(spec.secure_boot)),
                ("UseUKI", GoValue::Bool(spec.use_uki)),
            ],
        );
        self.render("image", &self.factory.image, &data)
    }

    fn render(&self, name: &str, text: &str, data: &GoValue<'_>) -> Result<String, Error> {
        let context =
            TemplateContext { environment: self.environment, now: self.host.now(), sprig: true };
        gotemplate::render(name, text, data, &context)
            .map_err(|error| Error::Template(error.detail.in_file("imageFactory")))
    }
}

/// Reads a schematic from a file of its own, as talhelper does.
pub fn read_schematic(text: &str) -> Result<Schematic, ErrorDetail> {
    let value = decode::object(text, SCHEMATIC_FILE, None, &Confidential::default())?;
    Ok(Schematic::from_value(&value))
}

/// Returns a schematic with only extensions and kernel arguments.
pub fn simple_schematic(extensions: &[String], arguments: &[String]) -> Schematic {
    let list = |texts: &[String]| {
        Value::new(Data::List(texts.iter().map(|text| Value::from(text.as_str())).collect()))
    };
    let object = |fields: Vec<(&str, Value)>| {
        let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::new(Data::Map(fields.collect()))
    };
    let extensions = object(vec![("officialExtensions", list(extensions))]);
    let customization =
        object(vec![("extraKernelArgs", list(arguments)), ("systemExtensions", extensions)]);
    Schematic::from_value(&object(vec![("customization", customization)]))
}

fn schematic(value: Option<&Value>) -> Schematic {
    match value {
        Some(value) => Schematic::from_value(value),
        None => Schematic::parse_lenient("{}", SourceId::default())
            .unwrap_or_else(|_| simple_schematic(&[], &[])),
    }
}

impl Talconfig {
    /// Returns the name of a machine's file.
    pub fn file_name(&self, node: &Node) -> Result<String, Error> {
        let role = if node.is_control_plane() { "controlplane" } else { "worker" };
        let data = GoValue::Record(
            "config.filenameTmpl",
            vec![
                ("ClusterName", GoValue::text(self.cluster_name())),
                ("Hostname", GoValue::text(node.hostname())),
                ("IPAddress", GoValue::text(node.raw_address())),
                ("Role", GoValue::text(role)),
            ],
        );
        let text = match node.value.text_at("filenameTmpl") {
            "" => "{{ .ClusterName }}-{{ .Hostname }}.yaml",
            text => text,
        };
        let environment = Environment::default();
        let context = TemplateContext { environment: &environment, now: 0, sprig: false };
        let name = gotemplate::render("filename", text, &data, &context)
            .map_err(|error| Error::Template(error.detail.in_file("filenameTmpl")))?;
        // A talconfig of somebody else must not choose files outside of the output directory.
        if name.split('/').any(|part| part == "..") || name.contains('\0') {
            let shown = talos_config::rules::quoted(&name);
            return Err(Error::Template(
                ErrorDetail::new(format!("{shown} is outside of the output directory"))
                    .hint("the name of a file comes from clusterName, hostname and filenameTmpl"),
            ));
        }
        Ok(name)
    }
}

const INSTALLER: &str =
    "{{.RegistryURL}}/{{.Mode}}-installer{{if .Secureboot}}-secureboot{{end}}/{{.ID}}:{{.Version}}";
const IMAGE: &str = "{{.Protocol}}://{{.RegistryURL}}/image/{{.ID}}/{{.Version}}/{{.Mode}}-{{.Arch}}{{if \
                     .Secureboot}}-secureboot{{end}}{{if and .Secureboot .UseUKI}}-uki.efi{{else}}{{.Suffix}}{{end}}";
