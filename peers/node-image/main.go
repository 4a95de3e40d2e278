// What the images of our Talos nodes need and nobody publishes as a Go module: the process that holds a pod
// together ("pause"), and what stands before the kubelet.
package main

import (
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if filepath.Base(os.Args[0]) == "pause" {
		pause()

		return
	}

	privateMounts()
	mountCgroups()
	hideSysctls()
	log.Fatal(syscall.Exec("/usr/local/bin/kubelet.real", os.Args, os.Environ()))
}

// pause waits until the pod ends, and buries its orphans.
func pause() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)

	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}

		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}

// privateMounts keeps what is mounted here inside the kubelet's container.
func privateMounts() {
	for _, path := range []string{"/", "/proc", "/sys/fs/cgroup"} {
		must(path, syscall.Mount("", path, "", syscall.MS_PRIVATE, ""))
	}
}

// mountCgroups shows the kubelet the hierarchies of version 1. Talos binds /sys/fs/cgroup without what is mounted
// below it, which is enough with version 2 only.
func mountCgroups() {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.procs"); err == nil {
		return
	}

	hierarchies, err := os.ReadFile("/proc/self/cgroup")
	must("cgroups", err)

	for line := range strings.Lines(string(hierarchies)) {
		controllers := strings.Split(line, ":")[1]
		if controllers == "" || strings.HasPrefix(controllers, "name=") {
			continue
		}

		path := "/sys/fs/cgroup/" + controllers
		must(path, os.MkdirAll(path, 0o755))
		must(path, syscall.Mount("cgroup", path, "cgroup", 0, controllers))

		for _, controller := range strings.Split(controllers, ",") {
			if controller != controllers {
				os.Symlink(controllers, "/sys/fs/cgroup/"+controller) //nolint:errcheck // there since the last start
			}
		}
	}
}

// hideSysctls puts files where the kubelet looks for settings of the kernel: it insists on values that the machine
// under the nodes need not have, and must not set them.
func hideSysctls() {
	must("/tmp", os.MkdirAll("/tmp", 0o777))
	must("/tmp", syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, "size=64k"))

	for path, value := range map[string]string{
		"kernel/keys/root_maxbytes": "25000000",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
	} {
		target := "/proc/sys/" + path
		if _, err := os.Stat(target); err != nil {
			continue
		}

		file := "/tmp/" + strings.ReplaceAll(path, "/", "_")
		must(file, os.WriteFile(file, []byte(value+"\n"), 0o644))
		must(target, syscall.Mount(file, target, "", syscall.MS_BIND, ""))
	}
}

func must(what string, err error) {
	if err != nil {
		log.Fatalf("%s: %s", what, err)
	}
}
