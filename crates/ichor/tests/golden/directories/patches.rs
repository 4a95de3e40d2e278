//! Patches: as text and as files, of every kind that people write; and files with further documents.

use serde_json::{Value, json};

use super::Maker;
use super::anchors::push;
use super::combinations::{DOCUMENTS, PATCHES, is_control_plane};

impl Maker {
    /// A list of patches.
    pub(super) fn patches(&mut self) -> Value {
        self.list(|maker, _| json!(maker.patch()))
    }

    fn patch(&mut self) -> String {
        let is_file = self.random.one_in(2);
        let choices = if is_file { IN_FILES } else { INLINE };
        let text = loop {
            let (least, most, text) = *self.random.pick(choices);
            let fits = self.operations || !is_operations(text);
            if fits && (least..=most).contains(&self.minor) {
                break text;
            }
        };
        if is_file { self.patch_file(text) } else { text.to_owned() }
    }

    /// Puts a text into a file of its own and gives the patch that names it.
    fn patch_file(&mut self, text: &str) -> String {
        let name = format!("patches/p{}.yaml", self.files.len());
        let before = *self.random.pick(&["", "./", " ./"]);
        self.files.insert(name.clone(), text.to_owned());
        format!("@{before}{name}")
    }

    /// Gives the first machine the patches that have to come up.
    pub(super) fn put_patches(&mut self, cluster: &mut Value) {
        let mut patches = Vec::new();
        let name = self.one_shown(PATCHES, 8);
        let combination = PATCHES.iter().find(|combination| combination.name == name);
        // Operations and documents exclude each other, and only control planes have plugins.
        let fits = name.starts_with("operations") == self.operations
            && (name != "a list without one of its elements" || is_control_plane(cluster));
        if let Some(text) = combination.map(|combination| combination.text).filter(|_| fits) {
            let patch = match name {
                "a patch by its bare name" => {
                    self.beside.insert("bare.yaml".to_owned(), text.to_owned());
                    "bare.yaml".to_owned()
                }
                "a patch by its absolute path" => {
                    self.variables.insert("HERE".to_owned(), "CASE".to_owned());
                    self.beside.insert("absolute.yaml".to_owned(), text.to_owned());
                    "@${HERE}/absolute.yaml".to_owned()
                }
                "operations as JSON" | "operations as YAML" | "a patch of several documents" => {
                    text.to_owned()
                }
                _ => self.patch_file(text),
            };
            patches.push(patch);
            if name == "a disk that a patch encrypts" {
                // Nobody else may say how.
                cluster["nodes"][0]["volumes"] = json!([]);
            }
        } else {
            self.shown.remove(name);
        }
        let name = if self.operations { "" } else { self.one_shown(DOCUMENTS, 4) };
        let document = DOCUMENTS.iter().find(|document| document.name == name);
        if name == "TimeSyncConfig" && cluster.to_string().contains("  time:") {
            // Servers of time stand in one place only.
            self.shown.remove(name);
        } else if let Some(document) = document {
            let text = format!("apiVersion: v1alpha1\nkind: {name}\n{}", document.text);
            let patch = if self.random.one_in(2) { self.patch_file(&text) } else { text };
            patches.push(patch);
        }
        for patch in patches {
            push(&mut cluster["nodes"][0]["patches"], json!(patch));
        }
    }

    /// Makes a file with a document of its own and gives its name.
    pub(super) fn manifest(&mut self) -> String {
        let number = self.files.len();
        let name = format!("extra/e{number}.yaml");
        let text = (*self.random.pick(MANIFESTS)).replace("NUMBER", &number.to_string());
        self.files.insert(name.clone(), text);
        format!("{}{name}", self.random.pick(&["", "@", "@./"]))
    }
}

fn is_operations(text: &str) -> bool {
    text.starts_with("- op") || text.starts_with("# operations") || text.starts_with("[{")
}

pub(super) const OF_ALL: &str = "machine: {sysctls: {a: all, b: all}}";
pub(super) const OF_GROUP: &str = "machine: {sysctls: {a: group, c: group, d: group}}";
pub(super) const OWN: &str = "machine: {sysctls: {a: own, b: own, c: own}}";

pub(super) const OPERATIONS_AS_JSON: &str = r#"[{"op":"add","path":"/machine/sysctls","value":{"a":"1"}},{"op":"copy","from":"/machine/sysctls/a","path":"/machine/sysctls/b"},{"op":"move","from":"/machine/sysctls/b","path":"/machine/sysctls/c"},{"op":"test","path":"/machine/sysctls/a","value":"1"}]"#;

pub(super) const OPERATIONS_AS_YAML: &str = "# operations
- op: add
  path: /machine/sysctls
  value: {a: '1', b: 'yes', c: '1:30'}
- op: replace
  path: /machine/sysctls/a
  value: '2'
- op: remove
  path: /machine/sysctls/b
- op: add
  path: /machine/certSANs/-
  value: operations.lan
";

pub(super) const SEVERAL_DOCUMENTS: &str = "---
# first
machine:
  sysctls: {several: '1'}
---
apiVersion: v1alpha1
kind: KmsgLogConfig
name: several
url: tcp://10.0.0.9:514
---
apiVersion: v1alpha1
kind: LinkConfig
name: nobody
$$patch: delete
";

pub(super) const WITHOUT_A_PLUGIN: &str = "cluster:
  apiServer:
    admissionControl:
      - name: PodSecurity
        $$patch: delete
";

pub(super) const ENCRYPTED: &str = "machine:
  systemDiskEncryption:
    ephemeral:
      provider: luks2
      keys:
        - slot: 0
          tpm: {}
";

pub(super) const LINES_OF_A_TEMPLATE: &str = "{{ $type := .MachineConfig.MachineType }}
machine:
  sysctls:
    type: \"{{ $type }}\"
{{- if contains \"metal\" .MachineConfig.MachineInstall.InstallImage }}
    metal: \"{{ .MachineConfig.MachineInstall.InstallImage | splitList \":\" | first }}\"
{{- end }}
{{- range $index, $net := .ClusterConfig.ClusterNetwork.PodSubnet }}
    net{{ $index }}: \"{{ $net }}\"
{{- end }}
";

/// Patches as text, with the first and the last release that takes them.
const INLINE: &[(u32, u32, &str)] = &[
    (2, 13, "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n"),
    (2, 13, "machine: {kubelet: {extraArgs: {rotate-server-certificates: 'true'}}}"),
    (2, 13, "{\"machine\":{\"sysctls\":{\"json\":\"1\"}}}"),
    (2, 13, "cluster:\n  proxy:\n    disabled: true\n"),
    (2, 13, "machine:\n  certSANs:\n    - patched.lan\n"),
    (2, 13, "machine:\n  time:\n    servers: [time.lan]\n"),
    (2, 13, "cluster:\n  network:\n    podSubnets: [10.77.0.0/16]\n"),
    (2, 13, "machine:\n  nodeLabels:\n    patched: '{{ .MachineConfig.MachineType }}'\n"),
    (2, 13, "machine:\n  features:\n    kubePrism:\n      $$patch: delete\n"),
    (2, 13, "machine:\n  kubelet:\n    nodeIP:\n      validSubnets: [10.0.0.0/24]"),
    // Later it is refused beside the command line of a unified image.
    (2, 11, "machine:\n  install:\n    extraKernelArgs: [x=y]\n"),
    (2, 11, "- op: add\n  path: /machine/env\n  value: {A: b}\n"),
    (2, 11, "[{\"op\": \"add\", \"path\": \"/machine/sysfs\", \"value\": {\"a\": \"1\"}}]"),
];

/// The same for files.
const IN_FILES: &[(u32, u32, &str)] = &[
    (2, 13, "# comment\nmachine:\n  sysctls:\n    from.file: \"${VALUE}\" # why\n"),
    (
        2,
        13,
        "machine:\n  kubelet:\n    extraArgs:\n      v: \"{{ .MachineConfig.MachineType }}\"\n",
    ),
    (2, 13, "cluster:\n  apiServer:\n    extraArgs:\n      a: b\n"),
    (2, 13, "\n\n"),
    (
        2,
        13,
        "machine:\n  registries:\n    mirrors:\n      docker.io:\n        endpoints: [https://mirror.lan]\n",
    ),
    (2, 13, "cluster:\n  controllerManager:\n    $$patch: delete\n"),
    (
        2,
        13,
        "machine:\n  files:\n    - content: |\n        [plugins]\n          a = 1\n      path: /var/cri.toml\n      op: create\n",
    ),
    (
        2,
        11,
        "[{\"op\":\"add\",\"path\":\"/cluster/allowSchedulingOnControlPlanes\",\"value\":true}]",
    ),
];

/// Documents of files that the talconfig names, each with a name of its own.
const MANIFESTS: &[&str] = &[
    "# kept\napiVersion: v1alpha1\nkind: KmsgLogConfig\nname: logNUMBER # here\nurl: 'tcp://10.0.0.9:514'\n",
    "---\napiVersion: v1alpha1\nkind: KmsgLogConfig\nname: \"{{ .MachineConfig.MachineType }}NUMBER\"\nurl:    \"tcp://10.0.0.9:514\"\n# foot\n",
    "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: logNUMBER\nurl: >-\n  tcp://10.0.0.9:514\n---\napiVersion: v1alpha1\nkind: KmsgLogConfig\nname: \"${NOT}NUMBER\"\nurl: tcp://10.0.0.9:514\n",
];
