//! `talhelper genurl …`: names of installers and URLs of boot images.

use talconfig::{
    Error, Factory, Host, Images, MachineSpec, Node, Talconfig, read_schematic, simple_schematic,
};
use talos_config::Schematic;

use super::args::{Genurl, GenurlImage};
use super::{Session, TalhelperError};

pub(super) fn installer(session: &mut Session<'_>, args: &Genurl) -> Result<(), TalhelperError> {
    let spec = MachineSpec {
        mode: args.mode.clone(),
        arch: String::new(),
        secure_boot: args.secure_boot,
        use_uki: false,
        boot_method: String::new(),
        suffix: String::new(),
    };
    let factory = Factory::at(&args.registry);
    let urls = Urls {
        args,
        factory,
        spec,
        of_node: |images, talconfig, node| images.installer(node, &talconfig.talos()),
        of_schematic: |images, schematic, spec, version| {
            images.installer_of(schematic, spec, version)
        },
        is_meant: |node, wanted| node.raw_address() == wanted || node.hostname() == wanted,
        what: "installer",
    };
    urls.run(session)
}

pub(super) fn image(session: &mut Session<'_>, args: &GenurlImage) -> Result<(), TalhelperError> {
    if !["iso", "disk-image", "pxe"].contains(&args.boot_method.as_str()) {
        return Err(TalhelperError::new(
            "invalid boot-method, should be one of iso, disk-image, pxe",
        ));
    }
    let spec = MachineSpec {
        mode: args.common.mode.clone(),
        arch: args.arch.clone(),
        secure_boot: args.common.secure_boot,
        use_uki: args.use_uki,
        boot_method: args.boot_method.clone(),
        suffix: args.suffix.clone(),
    };
    let urls = Urls {
        args: &args.common,
        // The registry of the flags does not count here; so talhelper has it.
        factory: Factory::default(),
        spec,
        of_node: |images, talconfig, node| images.image(node, &talconfig.talos()),
        of_schematic: |images, schematic, spec, version| images.image_of(schematic, spec, version),
        is_meant: |node, wanted| {
            node.hostname() == wanted || node.addresses().iter().any(|one| one == wanted)
        },
        what: "ISO",
    };
    urls.run(session)
}

struct Urls<'a> {
    args: &'a Genurl,
    factory: Factory,
    spec: MachineSpec,
    of_node: fn(&Images<'_>, &Talconfig, &Node) -> Result<String, Error>,
    of_schematic: fn(&Images<'_>, &Schematic, &MachineSpec, &str) -> Result<String, Error>,
    is_meant: fn(&Node, &str) -> bool,
    what: &'static str,
}

impl Urls<'_> {
    fn run(&self, session: &mut Session<'_>) -> Result<(), TalhelperError> {
        let file = &self.args.config_file;
        if let Some(path) = self.args.customization_file.as_deref() {
            session.host.debug(&|| {
                format!("generating from provided customization file customization-file={path}")
            });
            let bytes = session.host.read(path).map_err(|error| {
                TalhelperError::new(format!(
                    "Failed to read the provided customization file, {error}"
                ))
            })?;
            let schematic =
                read_schematic(&String::from_utf8_lossy(&bytes)).map_err(|trouble| {
                    TalhelperError::new(format!(
                        "Failed to generate customization from customization file, {trouble}"
                    ))
                })?;
            return self.print_of_schematic(session, &schematic);
        }
        match session.host.stat(file) {
            Ok(()) => self.print_of_talconfig(session),
            Err(error) if error.is_missing() => {
                session.host.debug(&|| "no config file found".to_owned());
                session.host.debug(&|| {
                    format!(
                        "generating from provided flags kernelArg=[{}] extension=[{}]",
                        self.args.kernel_args.join(" "),
                        self.args.extensions.join(" ")
                    )
                });
                let schematic = simple_schematic(&self.args.extensions, &self.args.kernel_args);
                self.print_of_schematic(session, &schematic)
            }
            Err(error) => Err(TalhelperError::new(format!(
                "Failed to read Talhelper config file {file}, {error}"
            ))),
        }
    }

    fn print_of_schematic(
        &self,
        session: &mut Session<'_>,
        schematic: &Schematic,
    ) -> Result<(), TalhelperError> {
        let environment = session.environment.clone();
        let images = Images {
            factory: self.factory.clone(),
            offline: self.args.offline,
            host: session.host,
            environment: &environment,
        };
        let url = (self.of_schematic)(&images, schematic, &self.spec, &self.args.version)
            .map_err(|error| TalhelperError::of("Failed to generate installer url, ", &error))?;
        session.say(&url)
    }

    fn print_of_talconfig(&self, session: &mut Session<'_>) -> Result<(), TalhelperError> {
        let talconfig = session.load(&self.args.config_file, &self.args.env_files, false)?;
        let environment = session.environment.clone();
        let images =
            Images::for_talconfig(&talconfig, self.args.offline, session.host, &environment);
        let wanted = self.args.node.as_str();
        let mut urls = Vec::new();
        for node in &talconfig.nodes {
            if !wanted.is_empty() && !(self.is_meant)(node, wanted) {
                continue;
            }
            let url = (self.of_node)(&images, &talconfig, node).map_err(|error| {
                let attempt =
                    format!("Failed to generate {} url for {}, ", self.what, node.hostname());
                TalhelperError::of(&attempt, &error)
            })?;
            urls.push((node.hostname().to_owned(), url));
            if !wanted.is_empty() {
                break;
            }
        }
        match urls.as_slice() {
            [] => Err(TalhelperError::new(format!(
                "Node with IP address or hostname of {wanted} is not found in the config file"
            ))),
            [(_, url)] => session.say(url),
            several => {
                several.iter().try_for_each(|(name, url)| session.say(&format!("{name}: {url}")))
            }
        }
    }
}
