//! `ichor gen schematic`: the id of a schematic, and the images that a factory makes of it.

use std::fmt;

use serde::Serialize;
use talos_config::Schematic;

use crate::factory::DEFAULT_FACTORY;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema};
use crate::printer::Printer;
use crate::settings::GenSchematic;
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, release_catalog};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Identified>::json_schema;

pub(in crate::commands) fn run(
    settings: &GenSchematic,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut sources = SourceMap::default();
    let (schematic, source) = sources.parse(&settings.file, Schematic::parse)?;
    let version = settings.talos.as_deref().map(talconfig::tag);
    if let Some(version) = &version {
        let (names, versions) =
            (schematic.extensions(), release_catalog::load(settings.cache.as_deref()));
        let warning =
            release_catalog::check_extensions(&names, &versions, version, sources.name(source))?;
        if let Some(warning) = warning {
            printer.note(&warning.to_string());
        }
    }
    let id = schematic.id();
    if settings.register {
        let url = format!("{}/schematics", settings.factory.trim_end_matches('/'));
        let given = settings.client.register(&url, &schematic.canonical()).map_err(|reason| {
            Error::Factory { attempt: "register the schematic".to_owned(), reason }
        })?;
        if given != id {
            printer.note(&format!("warning: the factory returned another id: {given}"));
        }
    }
    let images = version.map(|version| Images::new(settings, &id, &version));
    printer.value(&Identified { id, schematic: schematic.canonical(), images }, settings.output)
}

#[derive(Serialize)]
struct Identified {
    id: String,
    schematic: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<Images>,
}

schema!(Identified, plain { id, schematic } optional { images });

impl fmt::Display for Identified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(images) = &self.images else { return f.write_str(&self.id) };
        let Images { installer, iso, disk_image, pxe, uki } = images;
        write!(
            f,
            "id           {}\ninstaller    {installer}\niso          {iso}\ndisk image   {disk_image}\npxe          {pxe}",
            self.id
        )?;
        uki.as_ref().map_or(Ok(()), |uki| write!(f, "\nuki          {uki}"))
    }
}

/// The names of images.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Images {
    installer: String,
    iso: String,
    disk_image: String,
    pxe: String,
    /// The kernel and all that belongs to it as one signed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    uki: Option<String>,
}

schema!(Images, camel { installer, iso, disk_image, pxe } optional { uki });

impl Images {
    fn new(settings: &GenSchematic, id: &str, version: &str) -> Self {
        let GenSchematic { platform, arch, secureboot, factory, .. } = settings;
        let factory = factory.trim_end_matches('/');
        let registry = factory.split_once("://").map_or(factory, |(_, host)| host);
        let secure = if *secureboot { "-secureboot" } else { "" };
        // The common factory has a host of its own for machines that boot from the network.
        let pxe =
            if factory == DEFAULT_FACTORY { "https://pxe.factory.talos.dev" } else { factory };
        let image = format!("{factory}/image/{id}/{version}/{platform}-{arch}{secure}");
        Self {
            installer: format!("{registry}/{platform}-installer{secure}/{id}:{version}"),
            iso: format!("{image}.iso"),
            disk_image: format!("{image}.raw.zst"),
            pxe: format!("{pxe}/pxe/{id}/{version}/{platform}-{arch}{secure}"),
            uki: secureboot.then(|| format!("{image}-uki.efi")),
        }
    }
}
