//! Commands that look at machines and change nothing.

use clap::{Args, Subcommand};

use super::{Cp, Dmesg, Etcd, Events, Kubeconfig, Logs, Ls, Reach, Read, Shown};

/// One of them.
#[derive(Clone, Debug, Subcommand)]
pub enum Look {
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

    /// Show what the kernels of machines say
    ///
    ///   ichor dmesg -n 10.0.0.11 -f
    #[command(verbatim_doc_comment)]
    Dmesg(Dmesg),

    /// Follow what happens on machines, also over their restarts
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
    /// file, a directory nor a link into the target is left out and named. Owners are not kept.
    ///
    ///   ichor cp /var/log ./log -n 10.0.0.11
    ///   ichor cp /etc/kubernetes - -n 10.0.0.11 > kubernetes.tar.gz
    #[command(verbatim_doc_comment, visible_alias = "copy")]
    Cp(Cp),

    /// Look at etcd, or save its data
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
