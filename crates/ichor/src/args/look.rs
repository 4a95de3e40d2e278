//! Commands that look at machines and change nothing.

use clap::{Args, Subcommand, ValueEnum};

use super::{Cp, Dmesg, Etcd, Events, Kubeconfig, Logs, Ls, Maintenance, Reach, Read, Shown};

/// One of them.
#[derive(Clone, Debug, Subcommand)]
pub enum Look {
    /// Show resources of machines
    ///
    /// What Talos knows and does is in resources: `ichor get rd` shows which types there are. A type
    /// goes by its name or by any of its aliases. JSON and YAML are laid out as talosctl does it,
    /// one object for each resource.
    ///
    ///   ichor get members
    ///   ichor get addresses -n 10.0.0.11 --watch
    ///   ichor get hostname -o jsonpath='{.spec.hostname}'
    ///   ichor get disks -n 10.0.0.13 --insecure
    #[command(verbatim_doc_comment)]
    Get(Get),

    /// Show the disks of machines
    ///
    ///   ichor disks -n 10.0.0.11
    ///   ichor disks -n 10.0.0.13 --insecure
    #[command(verbatim_doc_comment)]
    Disks(Hardware),

    /// Show the network links of machines and their addresses
    Links(Hardware),

    /// Show the containers of machines
    Containers(Containers),

    /// Show CPU and memory use of containers
    Stats(Containers),

    /// Show the container images of machines
    #[command(visible_alias = "images")]
    Image {
        #[command(subcommand)]
        what: ImageCommand,
    },

    /// Show when certificates expire
    ///
    /// Those of the talosconfig, of the API, and, for administrators, all that are in the secrets of
    /// the machines. The talosconfig and the authorities are yours to renew: what ends within 30 days
    /// is marked. Talos renews the others itself, and they are marked when it did not.
    ///
    ///   ichor certs
    ///   ichor certs --client -o json
    #[command(verbatim_doc_comment)]
    Certs(Certs),

    /// Show the services of machines
    ///
    ///   ichor services -n 10.0.0.11,10.0.0.12
    ///   ichor services etcd -n 10.0.0.11
    #[command(verbatim_doc_comment, visible_alias = "service")]
    Services(Services),

    /// Show the logs of a service or a container
    ///
    ///   ichor logs -n 10.0.0.11
    ///   ichor logs etcd -n 10.0.0.11 --tail 20 -f
    ///   ichor logs -k kube-system/kube-apiserver-cp-1:kube-apiserver -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Logs(Logs),

    /// Show the kernel log of machines
    ///
    ///   ichor dmesg -n 10.0.0.11 -f
    #[command(verbatim_doc_comment)]
    Dmesg(Dmesg),

    /// Follow events of machines, across restarts
    ///
    /// A machine forgets its events when it boots. With -o json each event is one object on a
    /// line of its own.
    ///
    ///   ichor events -n 10.0.0.11 --tail 20
    ///   ichor events -n 10.0.0.11,10.0.0.12 --since 10m -o json
    #[command(verbatim_doc_comment)]
    Events(Events),

    /// Print a file of a machine
    ///
    ///   ichor read /proc/cpuinfo -n 10.0.0.11
    #[command(verbatim_doc_comment, visible_alias = "cat")]
    Read(Read),

    /// List files of machines
    ///
    ///   ichor ls -l /var/log -n 10.0.0.11
    ///   ichor ls -r -t f /etc/kubernetes -n 10.0.0.11
    #[command(verbatim_doc_comment, visible_alias = "list")]
    Ls(Ls),

    /// Copy a file or a directory from a machine
    ///
    /// Nothing is overwritten, nothing is written outside of the target, and what is neither a
    /// file, a directory nor a link into the target is left out and named. Owners are not kept. Of
    /// what ends early, at a limit or with the connection, whole files stay and half a file does not.
    ///
    ///   ichor cp /var/log ./log -n 10.0.0.11
    ///   ichor cp /etc/kubernetes - -n 10.0.0.11 > kubernetes.tar.gz
    #[command(verbatim_doc_comment, visible_alias = "copy")]
    Cp(Cp),

    /// Show the state of etcd, or save a snapshot
    Etcd(Etcd),

    /// Fetch the administrator's kubeconfig from a control plane
    ///
    /// It is added to the kubeconfig that is there; its context becomes the current one. What is
    /// there under the same name and says something else is kept, and the new one gets a number;
    /// on a terminal you are asked.
    ///
    ///   ichor kubeconfig -n 10.0.0.11
    ///   ichor kubeconfig - -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Kubeconfig(Kubeconfig),
}

/// Arguments of `ichor get`.
#[derive(Clone, Debug, Args)]
pub struct Get {
    /// The type
    #[arg(value_name = "TYPE")]
    pub kind: String,

    /// Some of them; all when left out
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,

    /// The namespace, instead of the type's own
    #[arg(long)]
    pub namespace: Option<String>,

    /// The output format: table, json, yaml or jsonpath=TEMPLATE
    #[arg(short, long, default_value = "table", value_name = "FORMAT", value_parser = ResourceForm::parse)]
    pub output: ResourceForm,

    /// Watch for changes, across restarts of the machine
    #[arg(short, long)]
    pub watch: bool,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// The forms in which resources are shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ResourceForm {
    Table,
    Json,
    Yaml,
    /// What a template finds in each.
    Path(String),
}

impl ResourceForm {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "table" => Ok(Self::Table),
            "json" => Ok(Self::Json),
            "yaml" => Ok(Self::Yaml),
            _ => match text.strip_prefix("jsonpath=") {
                Some(template) => Ok(Self::Path(template.to_owned())),
                None => Err("possible values: table, json, yaml, jsonpath=TEMPLATE".to_owned()),
            },
        }
    }
}

/// Arguments of `ichor disks` and `ichor links`.
#[derive(Clone, Debug, Args)]
pub struct Hardware {
    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor containers` and `ichor stats`.
#[derive(Clone, Debug, Args)]
pub struct Containers {
    /// Those of Kubernetes instead of those of Talos
    #[arg(short, long)]
    pub kubernetes: bool,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// What is done with images.
#[derive(Clone, Debug, Subcommand)]
pub enum ImageCommand {
    /// Show the images
    #[command(visible_aliases = ["l", "ls"])]
    List(ImageList),
}

/// Arguments of `ichor image list`.
#[derive(Clone, Debug, Args)]
pub struct ImageList {
    /// Whose images
    #[arg(long, value_enum, default_value_t)]
    pub namespace: ImageNamespace,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// Who images are for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ImageNamespace {
    /// All workloads of Kubernetes
    #[default]
    Cri,
    /// etcd and the kubelet
    System,
    /// Talos' own services, in memory; Talos 1.13 and later
    Inmem,
}

/// Arguments of `ichor certs`.
#[derive(Clone, Debug, Args)]
pub struct Certs {
    /// Look at the talosconfig only and ask no machine
    #[arg(long)]
    pub client: bool,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor version`.
#[derive(Clone, Debug, Args)]
pub struct Version {
    /// Ask no machine
    #[arg(long)]
    pub client: bool,

    /// Show this program in one line
    #[arg(long)]
    pub short: bool,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor services`.
#[derive(Clone, Debug, Args)]
pub struct Services {
    /// One service, with its latest events
    pub id: Option<String>,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub reach: Reach,
}
