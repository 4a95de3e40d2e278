//! Schematics are registered, and releases refreshed, with an image factory.

use sha2::{Digest, Sha256};
use talos_config::pki::{Authority, Request, Validity};

use crate::Directory;
use crate::server::{Factory, ID};

fn talconfig(registry: &str, protocol: &str) -> String {
    format!(
        "clusterName: home\ntalosVersion: v1.12.0\nkubernetesVersion: v1.35.0\nendpoint: https://10.0.0.10:6443\n\
         imageFactory:\n  registryURL: {registry}\n  protocol: {protocol}\nnodes:\n  - hostname: cp-1\n    \
         ipAddress: 10.0.0.11\n    controlPlane: true\n    installDisk: /dev/sda\n    schematic:\n      \
         customization:\n        systemExtensions:\n          officialExtensions:\n            - \
         siderolabs/iscsi-tools\n"
    )
}

#[test]
fn what_the_factory_registers_is_what_is_installed() {
    let factory = Factory::start();
    let authority = &factory.authority;
    let directory = Directory::new(&[("talconfig.yaml", &talconfig(authority, "http"))]);
    let installer = format!("{authority}/metal-installer/{ID}:v1.12.0");
    assert_eq!(directory.done("talhelper genurl installer"), format!("{installer}\n"));
    assert_eq!(
        directory.done("talhelper genurl image"),
        format!("http://{authority}/image/{ID}/v1.12.0/metal-amd64.iso\n")
    );
    assert_eq!(
        directory.done("talhelper gencommand upgrade"),
        format!(
            "talosctl upgrade --talosconfig=./clusterconfig/talosconfig --nodes=10.0.0.11 --image={installer};\n"
        )
    );
    directory.done("talhelper genconfig");
    let config = directory.read("clusterconfig/home-cp-1.yaml");
    assert!(config.contains(&format!("image: {installer}\n")), "{config}");
    // The id that is computed without the factory is the digest of what the factory was sent.
    let offline = directory.done("talhelper genurl installer --offline-mode");
    let requests = factory.requests();
    assert_eq!(requests.len(), 4);
    for request in requests {
        assert_eq!(request.line, "POST /schematics");
        let id = hex(&Sha256::digest(request.body.as_bytes()));
        assert_eq!(offline, format!("{authority}/metal-installer/{id}:v1.12.0\n"));
    }
}

#[test]
fn an_upgrade_registers_what_its_image_is_made_of() {
    let factory = Factory::start();
    let talconfig = talconfig(&factory.authority, "http").replace("10.0.0.1", "127.91.1.1");
    let directory = Directory::new(&[("talconfig.yaml", &talconfig)]);
    let secrets = directory.done("talhelper gensecret");
    directory.write("talsecret.yaml", &secrets);
    directory
        .done("gen talosconfig home --with-secrets talsecret.yaml -o clusterconfig/talosconfig");
    let upgrade = "node upgrade -n cp-1 -e 127.91.1.11 --deadline 5s --yes";
    let dry = directory.done(&format!("{upgrade} --dry-run"));
    assert_eq!(factory.requests().len(), 0);
    // Nobody is there to be upgraded; by then the factory knows.
    assert_eq!(directory.run(upgrade).code, 5);
    let requests = factory.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].line, "POST /schematics");
    let id = hex(&Sha256::digest(requests[0].body.as_bytes()));
    assert!(
        dry.ends_with(&format!(" would get {}/metal-installer/{id}:v1.12.0\n", factory.authority)),
        "{dry}"
    );
}

#[test]
fn extensions_of_a_native_file_are_those_that_its_release_has() {
    let directory = Directory::new(&[]);
    directory.done(
        "init home --endpoint https://127.91.1.11:6443 --control-plane cp-1=127.91.1.11 \
         --talos v1.12.0 --kubernetes v1.35.0",
    );
    let spec = directory.read("ichor.yaml");
    directory.write("ichor.yaml", &format!("{spec}extensions: [siderolabs/iscsi-tools]\n"));
    directory.done("validate");
    directory.write("ichor.yaml", &format!("{spec}extensions: [siderolabs/iscsi-tool]\n"));
    let said = directory.run("validate");
    assert_eq!(said.code, 3);
    assert!(said.stdout.contains("error[schematic.extension]"), "{}", said.stdout);
    assert!(said.stdout.contains("did you mean \"siderolabs/iscsi-tools\"?"), "{}", said.stdout);
}

#[test]
fn a_factory_is_trusted_by_the_certificates_that_are_named() {
    let directory = Directory::new(&[]);
    directory.done("gen ca --organization trusted");
    directory.done("gen key --name factory");
    directory.done("gen csr --key factory.key --ip 127.0.0.1");
    directory.done("gen ca --organization other");
    // Talos has a name of its own for keys of this kind.
    let key = directory.read("factory.key").replace("ED25519 PRIVATE KEY", "PRIVATE KEY");
    let (certificate, of_authority) =
        (directory.read("trusted.crt"), directory.read("trusted.key"));
    let authority = Authority::parse(&certificate, &of_authority).expect("an authority");
    let request = Request::parse(&directory.read("factory.csr")).expect("a request");
    // From the begin of time to the year 2100.
    let validity = Validity { not_before: 0, not_after: 4_102_444_800, serial: [1; 16] };
    let certificate = authority.sign_machine(&request, validity).expect("a certificate").encode();
    let factory = Factory::start_secure(&certificate, &key);
    directory.write("talconfig.yaml", &talconfig(&factory.authority, "https"));
    let line = "talhelper genurl installer";
    let trusted = directory.run_with(line, &[("SSL_CERT_FILE", "trusted.crt")]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    assert_eq!(trusted.stdout, format!("{}/metal-installer/{ID}:v1.12.0\n", factory.authority));
    let refused = directory.run_with(line, &[("SSL_CERT_FILE", "other.crt")]);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("server not wanting to reply: Post"), "{}", refused.stderr);
    assert_eq!(factory.requests().len(), 1);
}

#[test]
fn a_factory_that_cannot_is_an_error_and_nothing_is_written() {
    let factory = Factory::start();
    let text = talconfig(&factory.authority, "http")
        .replace("  protocol: http\n", "  protocol: http\n  schematicEndpoint: /broken\n");
    let directory = Directory::new(&[("talconfig.yaml", &text)]);
    for line in ["talhelper genconfig", "talhelper gencommand upgrade"] {
        let said = directory.run(line);
        assert_eq!(said.code, 1, "{}", said.stderr);
        let wrong = format!(
            "server not replying StatusCreated (http://{}/broken): 500 Internal Server Error",
            factory.authority
        );
        assert!(said.stderr.contains(&wrong), "{}", said.stderr);
    }
    assert_eq!(directory.files(""), ["talconfig.yaml"]);
}

#[test]
fn a_schematic_is_registered_and_its_images_named() {
    let factory = Factory::start();
    let url = format!("http://{}", factory.authority);
    let directory = Directory::new(&[(
        "schematic.yaml",
        "customization: {systemExtensions: {officialExtensions: [siderolabs/drbd, siderolabs/zfs]}}\n",
    )]);
    let id = "98442b5bb4e8d050f30978ce3e6ec22e7bf534d57cafcd51313235128057e612";
    assert_eq!(directory.done("gen schematic schematic.yaml"), format!("{id}\n"));
    assert_eq!(
        directory.done("gen schematic schematic.yaml --talos v1.12.0"),
        format!(
            "id           {id}\ninstaller    factory.talos.dev/metal-installer/{id}:v1.12.0\n\
             iso          https://factory.talos.dev/image/{id}/v1.12.0/metal-amd64.iso\n\
             disk image   https://factory.talos.dev/image/{id}/v1.12.0/metal-amd64.raw.zst\n\
             pxe          https://pxe.factory.talos.dev/pxe/{id}/v1.12.0/metal-amd64\n"
        )
    );
    assert_eq!(factory.requests().len(), 0);
    let line = "gen schematic schematic.yaml --talos 1.12.0 --secureboot --arch arm64 --register --factory";
    let said = directory.run(&format!("{line} {url}"));
    assert_eq!(
        said.stdout,
        format!(
            "id           {id}\ninstaller    {host}/metal-installer-secureboot/{id}:v1.12.0\n\
             iso          {url}/image/{id}/v1.12.0/metal-arm64-secureboot.iso\n\
             disk image   {url}/image/{id}/v1.12.0/metal-arm64-secureboot.raw.zst\n\
             pxe          {url}/pxe/{id}/v1.12.0/metal-arm64-secureboot\n\
             uki          {url}/image/{id}/v1.12.0/metal-arm64-secureboot-uki.efi\n",
            host = factory.authority
        ),
        "{}",
        said.stderr
    );
    // This factory gives every schematic the same id, and that is told.
    assert!(said.stderr.contains(&format!("another id: {ID}")), "{}", said.stderr);
    let requests = factory.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(hex(&Sha256::digest(requests[0].body.as_bytes())), id);

    directory.write(
        "schematic.yaml",
        "customization: {systemExtensions: {officialExtensions: [siderolabs/iscsi-tool]}}\n",
    );
    let wrong = directory.run(&format!("{line} {url}"));
    assert_eq!((wrong.code, wrong.stdout.as_str()), (3, ""));
    assert!(wrong.stderr.contains("error[schematic.extension]"), "{}", wrong.stderr);
    assert!(
        wrong.stderr.contains("hint: did you mean \"siderolabs/iscsi-tools\"?"),
        "{}",
        wrong.stderr
    );
    assert_eq!(factory.requests().len(), 1);
    // Of a release that is not known nothing is held against a name.
    let unknown = directory.run("gen schematic schematic.yaml --talos v1.13.99");
    assert_eq!(unknown.code, 0);
    let warned = "warning[schematic.unknown-release]: the extensions of v1.13.99 are unknown";
    assert!(unknown.stderr.contains(warned), "{}", unknown.stderr);
}

#[test]
fn extensions_of_a_new_release_need_no_new_build() {
    let factory = Factory::start();
    let text = talconfig("factory.talos.dev", "https")
        .replace("v1.12.0", "v1.13.99")
        .replace("iscsi-tools", "brand-new");
    let directory = Directory::new(&[("talconfig.yaml", &text)]);
    let validate = "talhelper validate talconfig";
    let before = directory.run(validate);
    assert_eq!(before.code, 1);
    assert!(before.stdout.contains("\"siderolabs/brand-new\" is not a supported Talos extension"));
    assert!(before.stderr.contains("`ichor extensions v1.13.99 --refresh`"), "{}", before.stderr);
    let unknown = directory.run("extensions v1.13.99");
    assert_eq!(unknown.code, 3, "{}", unknown.stderr);

    let ask = format!("extensions 1.13.99 --refresh --factory http://{}", factory.authority);
    assert_eq!(directory.done(&ask), "siderolabs/brand-new\nsiderolabs/iscsi-tools\n");
    assert_eq!(
        directory.done("extensions v1.13.99 -o json"),
        "[\n  \"siderolabs/brand-new\",\n  \"siderolabs/iscsi-tools\"\n]\n"
    );
    assert_eq!(directory.done(validate), "Your talhelper config file is looking great!\n");
    // A name that the release does not have is still wrong.
    directory.write("talconfig.yaml", &text.replace("brand-new", "zfs"));
    let wrong = directory.run(validate);
    assert_eq!(wrong.code, 1);
    assert!(
        wrong
            .stdout
            .contains("\"siderolabs/zfs\" is not a supported Talos extension for \"v1.13.99\""),
        "{}",
        wrong.stdout
    );
    assert!(!wrong.stderr.contains("warning:"), "{}", wrong.stderr);
}

#[test]
fn a_release_that_the_factory_does_not_know() {
    let factory = Factory::start();
    let directory = Directory::new(&[]);
    let said = directory
        .run(&format!("extensions v1.12.0 --refresh --factory http://{}", factory.authority));
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("error[factory.unanswered]"), "{}", said.stderr);
    assert!(
        said.stderr.contains("/version/v1.12.0/extensions/official: 404 Not Found"),
        "{}",
        said.stderr
    );
    // What was built in is known as before.
    let known = directory.done("extensions v1.12.0");
    for name in ["qemu-guest-agent", "iscsi-tools", "intel-ucode", "amd-ucode"] {
        assert!(known.lines().any(|line| line == format!("siderolabs/{name}")), "{name}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
