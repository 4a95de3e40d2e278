//! The table of pins. What a pin is and how it is built is in the module above.

use super::{Library, Patch, Pin, Program, Version};

const TALOSCTL: &str = "github.com/siderolabs/talos/cmd/talosctl";
const TALOS_TAG: &str = "github.com/siderolabs/talos/pkg/machinery/version.Tag";

/// The release of Talos that nodes of our own run.
pub const NODES_TALOS: &str = "v1.13.9";
/// The release of Kubernetes that they run.
pub const NODES_KUBERNETES: &str = "v1.36.3";

/// All pins. First what Ichor is compared with, then what only Talos nodes of our own are made of
/// (docs/dev/talos-harness.md).
pub(super) const PINS: &[Pin] = &[
    Pin {
        folder: "talos-1.14.1",
        stamps: &[(TALOS_TAG, "v1.14.1")],
        // The newest rtnetlink to be had is older than the one a laboratory command of talosctl is
        // written for; that command is left out.
        patch: Some(Patch {
            module: "github.com/siderolabs/talos",
            remove: &[
                "go.work",
                "cmd/talosctl/cmd/mgmt/bgp_launch_linux.go",
                "cmd/talosctl/cmd/mgmt/bgp_launch_linux_test.go",
            ],
            add: &[("fabric_zebra_stub.go.txt", "cmd/talosctl/cmd/mgmt/fabric_zebra_linux.go")],
            edit: &[],
        }),
        tags: &[],
        library: None,
        programs: &[talosctl("talosctl-1.14.1", "v1.14.1")],
    },
    Pin {
        folder: "talos-1.13.9",
        stamps: &[(TALOS_TAG, "v1.13.9")],
        patch: None,
        tags: &[],
        library: None,
        programs: &[talosctl("talosctl-1.13.9", "v1.13.9")],
    },
    Pin {
        folder: "talos-1.12.0",
        stamps: &[(TALOS_TAG, "v1.12.0")],
        patch: None,
        tags: &[],
        library: None,
        programs: &[talosctl("talosctl-1.12.0", "v1.12.0")],
    },
    Pin {
        folder: "talhelper",
        stamps: &[("github.com/budimanjojo/talhelper/v3/cmd.version", "3.1.15")],
        patch: None,
        tags: &[],
        library: None,
        programs: &[Program {
            name: "talhelper",
            package: "github.com/budimanjojo/talhelper/v3",
            version: Some(says(&["--version"], "talhelper version 3.1.15")),
        }],
    },
    Pin {
        folder: "kube",
        stamps: KUBERNETES,
        patch: None,
        tags: &[],
        library: None,
        programs: &[
            Program {
                name: "kubectl",
                package: "k8s.io/kubernetes/cmd/kubectl",
                version: Some(says(&["version", "--client"], "Client Version: v1.36.3")),
            },
            Program {
                name: "kube-apiserver",
                package: "k8s.io/kubernetes/cmd/kube-apiserver",
                version: Some(says(&["--version"], "Kubernetes v1.36.3")),
            },
            Program {
                name: "kube-controller-manager",
                package: "k8s.io/kubernetes/cmd/kube-controller-manager",
                version: Some(says(&["--version"], "Kubernetes v1.36.3")),
            },
            Program {
                name: "kube-scheduler",
                package: "k8s.io/kubernetes/cmd/kube-scheduler",
                version: Some(says(&["--version"], "Kubernetes v1.36.3")),
            },
            Program {
                name: "kubelet",
                package: "k8s.io/kubernetes/cmd/kubelet",
                version: Some(says(&["--version"], "Kubernetes v1.36.3")),
            },
        ],
    },
    Pin {
        folder: "etcd",
        stamps: &[],
        patch: None,
        tags: &[],
        library: None,
        programs: &[
            Program {
                name: "etcd",
                package: "go.etcd.io/etcd/server/v3",
                version: Some(says(&["--version"], "etcd Version: 3.6.6")),
            },
            Program {
                name: "etcdctl",
                package: "go.etcd.io/etcd/etcdctl/v3",
                version: Some(says(&["version"], "etcdctl version: 3.6.6")),
            },
            Program {
                name: "etcdutl",
                package: "go.etcd.io/etcd/etcdutl/v3",
                version: Some(says(&["version"], "etcdutl version: 3.6.6")),
            },
        ],
    },
    Pin {
        folder: "helm",
        stamps: &[("helm.sh/helm/v3/internal/version.version", "v3.21.4")],
        patch: None,
        tags: &[],
        library: None,
        programs: &[Program {
            name: "helm",
            package: "helm.sh/helm/v3/cmd/helm",
            version: Some(says(&["version", "--short"], "v3.21.4")),
        }],
    },
    Pin {
        folder: "sops",
        stamps: &[],
        patch: None,
        tags: &[],
        library: None,
        programs: &[Program {
            name: "sops",
            package: "github.com/getsops/sops/v3/cmd/sops",
            version: Some(says(&["--disable-version-check", "--version"], "sops 3.13.3")),
        }],
    },
    Pin {
        folder: "versitygw",
        stamps: &[("main.Version", "1.8.0")],
        patch: None,
        tags: &[],
        library: None,
        programs: &[Program {
            name: "versitygw",
            package: "github.com/versity/versitygw/cmd/versitygw",
            version: Some(says(&["--version"], "1.8.0")),
        }],
    },
    Pin {
        folder: "talos-node",
        stamps: &[(TALOS_TAG, NODES_TALOS)],
        patch: Some(Patch {
            module: "github.com/siderolabs/talos",
            remove: &["go.work"],
            add: &[],
            edit: &[
                // Lowering the score needs a capability that root of a sandbox may lack.
                (
                    "internal/app/machined/pkg/system/runner/runner.go",
                    "args.OOMScoreAdj = score",
                    "args.OOMScoreAdj = max(score, 0)",
                ),
                // The harness starts a node again that ended, as a machine would.
                (
                    "internal/app/machined/pkg/runtime/mode.go",
                    "Reboot|Shutdown|Upgrade|Rollback|MetaKV",
                    "Upgrade|Rollback|MetaKV",
                ),
            ],
        }),
        tags: &["tcell_minimal", "grpcnotrace"],
        library: None,
        programs: &[Program {
            name: "machined",
            package: "github.com/siderolabs/talos/internal/app/machined",
            // Whatever its arguments are, it takes the machine that it runs on for its own.
            version: None,
        }],
    },
    Pin {
        folder: "containerd",
        stamps: &[("github.com/containerd/containerd/v2/version.Version", "v2.2.3")],
        patch: None,
        tags: &[
            "no_btrfs",
            "no_devmapper",
            "no_aufs",
            "no_zfs",
            "osusergo",
            "netgo",
            "static_build",
        ],
        library: None,
        programs: &[
            Program {
                name: "containerd",
                package: "github.com/containerd/containerd/v2/cmd/containerd",
                version: Some(says(&["--version"], "v2.2.3")),
            },
            Program {
                name: "containerd-shim-runc-v2",
                package: "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
                version: Some(says(&["-v"], "v2.2.3")),
            },
        ],
    },
    Pin {
        folder: "runc",
        stamps: &[],
        patch: None,
        tags: &["seccomp", "osusergo", "netgo"],
        library: Some(Library { name: "seccomp", package: "libseccomp-dev" }),
        programs: &[Program {
            name: "runc",
            package: "github.com/opencontainers/runc",
            version: Some(says(&["--version"], "runc version 1.4.2")),
        }],
    },
    Pin {
        folder: "cni",
        stamps: &[(
            "github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion",
            "v1.9.1",
        )],
        patch: None,
        tags: &[],
        library: None,
        programs: &[
            plugin("bridge", "github.com/containernetworking/plugins/plugins/main/bridge"),
            plugin("loopback", "github.com/containernetworking/plugins/plugins/main/loopback"),
            plugin("host-local", "github.com/containernetworking/plugins/plugins/ipam/host-local"),
        ],
    },
    Pin {
        folder: "discovery",
        stamps: &[],
        patch: None,
        tags: &[],
        library: None,
        programs: &[Program {
            name: "discovery-service",
            package: "github.com/siderolabs/discovery-service/cmd/discovery-service",
            version: None,
        }],
    },
    Pin {
        folder: "node-image",
        stamps: &[],
        patch: None,
        tags: &[],
        library: None,
        programs: &[Program { name: "node-image", package: ".", version: None }],
    },
];

const KUBERNETES: &[(&str, &str)] = &[
    ("k8s.io/component-base/version.gitVersion", NODES_KUBERNETES),
    ("k8s.io/component-base/version.gitMajor", "1"),
    ("k8s.io/component-base/version.gitMinor", "36"),
    ("k8s.io/client-go/pkg/version.gitVersion", NODES_KUBERNETES),
];

const fn talosctl(name: &'static str, version: &'static str) -> Program {
    Program {
        name,
        package: TALOSCTL,
        version: Some(says(&["version", "--client", "--short"], version)),
    }
}

const fn plugin(name: &'static str, package: &'static str) -> Program {
    Program { name, package, version: Some(says(&[], "plugin v1.9.1")) }
}

const fn says(arguments: &'static [&'static str], says: &'static str) -> Version {
    Version { arguments, says }
}
