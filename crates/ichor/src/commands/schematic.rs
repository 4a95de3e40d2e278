//! `ichor gen schematic`: the id of a schematic, and the images that a factory makes of it.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use talconfig::Versions;
use talos_config::{Schematic, nearest};

use crate::args::{DEFAULT_FACTORY, GenSchematic};
use crate::factory::Factories;
use crate::printer::Printer;
use crate::settings::Input;
use crate::texts::Texts;
use crate::{Error, ExitStatus, releases};

pub(super) fn run(
    args: &GenSchematic,
    factories: &Factories,
    cache: &Path,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut texts = Texts::default();
    let (schematic, source) = texts.parse(&Input::file(&args.file), Schematic::parse)?;
    let version = args.talos.as_deref().map(talconfig::tag);
    if let Some(version) = &version {
        check(&schematic, &releases::known(cache), version, texts.name(source), printer)?;
    }
    let id = schematic.id();
    if args.register {
        let url = format!("{}/schematics", args.factory.trim_end_matches('/'));
        let given = factories.register(&url, &schematic.canonical()).map_err(|reason| {
            Error::Factory { attempt: "register the schematic".to_owned(), reason }
        })?;
        if given != id {
            printer.note(&format!("warning: the factory gives it another id: {given}"));
        }
    }
    let images = version.map(|version| Images::new(args, &id, &version));
    printer.value(&Identified { id, schematic: schematic.canonical(), images }, args.shown.output)
}

/// Refuses extensions that a release does not have. What is not known about a release is told.
fn check(
    schematic: &Schematic,
    versions: &Versions,
    version: &str,
    file: &str,
    printer: &mut Printer,
) -> Result<(), Error> {
    let Some(known) = versions.extensions(version) else {
        printer.note(&format!(
            "warning: the extensions of {version} are not known: `ichor extensions {version} --refresh` asks the factory"
        ));
        return Ok(());
    };
    for name in schematic.extensions() {
        if known.contains(&name) {
            continue;
        }
        let near = nearest(&name, known.iter().map(String::as_str));
        let hint = near.map_or_else(
            || format!("`ichor extensions {version}` shows those that there are"),
            |near| format!("did you mean {near:?}?"),
        );
        return Err(Error::Config {
            message: format!("{file}: {version} has no extension {name:?}"),
            hint: Some(hint),
            code: "schematic.extension",
        });
    }
    Ok(())
}

#[derive(Serialize)]
struct Identified {
    id: String,
    schematic: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<Images>,
}

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

impl Images {
    fn new(args: &GenSchematic, id: &str, version: &str) -> Self {
        let GenSchematic { platform, arch, secureboot, factory, .. } = args;
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
