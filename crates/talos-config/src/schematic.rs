//! Schematics: what an image of Talos is made of, and the id by which the factory knows it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::SourceId;
use crate::decode;
use crate::encode::{self, Secrets};
use crate::error::Error;
use crate::hex;
use crate::schema::{Choice, Field, INT, TEXTS, Type, U32, choice, field};
use crate::value::{Data, Value};
use crate::version::TalosVersion;
use crate::yaml::{self, Dialect, Tree, first_document};

/// The schematic of an image.
#[derive(Clone, PartialEq)]
pub struct Schematic(BTreeMap<String, Value>);

impl Schematic {
    /// Reads a schematic. A key that does not exist is an error, as it is to the factory.
    pub fn parse(text: &str, source: SourceId) -> Result<Self, Error> {
        Ok(Self(decode::object(&first_document(text, source)?, FIELDS, &[])?))
    }

    /// Reads a schematic as talhelper does, which leaves unknown keys alone.
    pub fn parse_lenient(text: &str, source: SourceId) -> Result<Self, Error> {
        Ok(Self(decode::lenient_object(&first_document(text, source)?, FIELDS)?))
    }

    /// Returns a schematic that was read as a part of something else.
    pub fn from_value(value: &Value) -> Self {
        let mut body = value.as_map().cloned().unwrap_or_default();
        if let Some(Data::Map(customization)) =
            body.get_mut("customization").map(|value| &mut value.data)
        {
            // The first of the bootloaders stands for none that is named.
            customization
                .retain(|key, value| key != "bootloader" || value.as_text() != Some("none"));
        }
        Self(body)
    }

    /// Returns the text whose hash is the id.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        let tree = Tree::Map(encode::object(&self.0, FIELDS, Secrets::Shown, Dialect::V1_14));
        yaml::emit(&tree, Dialect::V1_14, &mut text);
        text
    }

    /// Returns the id: the factory gives the same, but serves it only once it has seen the schematic.
    pub fn id(&self) -> String {
        hex(&Sha256::digest(self.canonical()))
    }

    /// Returns the names of the system extensions.
    pub fn extensions(&self) -> Vec<String> {
        let extensions = self.0.get("customization").and_then(|customization| {
            customization.get("systemExtensions")?.get("officialExtensions")?.as_list()
        });
        let names = extensions.unwrap_or_default().iter();
        names.filter_map(|name| name.as_text().map(str::to_owned)).collect()
    }

    /// Returns the name of the installer's image for a platform and a release.
    pub fn installer(&self, platform: &str, version: &str, secure_boot: bool) -> String {
        let suffix = if secure_boot { "-secureboot" } else { "" };
        format!("factory.talos.dev/{platform}-installer{suffix}/{}:{version}", self.id())
    }
}

/// Returns the image that installs a release without extensions. From 1.14 on Talos publishes installers through the
/// factory only.
pub fn plain_installer(talos: &TalosVersion) -> String {
    if talos.contract().since(14) {
        Schematic(BTreeMap::new()).installer("metal", &talos.to_string(), false)
    } else {
        format!("ghcr.io/siderolabs/installer:{talos}")
    }
}

const FIELDS: &[Field] = &[
    field("owner", Type::Text),
    field(
        "overlay",
        Type::Object(&[
            field("image", Type::Text).always(),
            field("name", Type::Text).always(),
            field("options", Type::Any),
        ]),
    ),
    field(
        "customization",
        Type::Object(&[
            field("embeddedMachineConfiguration", Type::Text),
            field("extraKernelArgs", TEXTS),
            field(
                "meta",
                Type::List(&Type::Object(&[
                    field("key", INT).always(),
                    field("value", Type::Text).always(),
                ])),
            ),
            field("systemExtensions", Type::Object(&[field("officialExtensions", TEXTS)])),
            field("bootloader", Type::Choice(&BOOTLOADER)),
            field("secureboot", Type::Object(&[field("includeWellKnownCertificates", Type::Bool)])),
            field("diskImage", Type::Object(&[field("sectorSize", U32)])),
        ]),
    )
    .always(),
];

const BOOTLOADER: Choice = choice("BootloaderKind", &["none", "dual-boot", "sd-boot", "grub"]);
