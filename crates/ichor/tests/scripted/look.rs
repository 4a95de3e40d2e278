//! Commands that inspect machines: what they show of a scripted one, as tables, for programs, and in files.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::Stdio;

use flate2::read::GzDecoder;
use prost::Message;
use serde_json::Value;
use talos_api::proto::common::Data;
use talos_api::proto::cosi::meta::ResourceDefinitionSpec;
use talos_api::proto::cosi::meta::resource_definition_spec::Sensitivity;
use talos_api::proto::cosi::{ListRequest, ListResponse, Metadata, Resource, Spec};
use talos_api::proto::inspect::{
    ControllerDependencyEdge, ControllerRuntimeDependenciesResponse, ControllerRuntimeDependency,
    DependencyEdgeType,
};
use talos_api::proto::machine::connect_record::{Process as Program, State, TimerActive};
use talos_api::proto::machine::{
    ConnectRecord, Container, ContainerInfo, ContainersResponse, DiskUsageInfo, DiskUsageRequest,
    LogsRequest, MemInfo, Memory, MemoryResponse, MountStat, Mounts, MountsResponse, Netstat,
    NetstatRequest, NetstatResponse, PacketCaptureRequest, Process, ProcessInfo, ProcessesResponse,
    ServiceInfo, ServiceList, ServiceListResponse, Version, VersionInfo, VersionResponse,
};
use talos_api::proto::time::{Time, TimeRequest, TimeResponse};
use talos_api::resource::Spec as _;

use crate::Home;
use crate::api::{Call, Machine};
use crate::talos::{authority_of, loopback};

#[test]
fn memory_processes_mounts_and_clocks_are_shown_as_talosctl_shows_them() {
    let (home, machine) = machine();
    let node = machine.address.ip().to_string();
    for (line, expected) in [
        (
            "memory",
            "NODE   TOTAL   USED   FREE   SHARED   BUFFERS   CACHE   AVAILABLE\n\
             cp-1   4000    1700   1000   4        300       1000    2000",
        ),
        (
            "processes",
            "NODE   PID   STATE   THREADS   CPU-TIME   VIRTMEM   RESMEM   LABEL    COMMAND\n\
             cp-1   7     S       9         0.50       1.2 GB    50 MB    pod.t    /usr/bin/etcd --name cp-1\n\
             cp-1   2     S       1         1.25       0 B       0 B               kthreadd",
        ),
        (
            "processes --sort cpu --limit 1",
            "NODE   PID   STATE   THREADS   CPU-TIME   VIRTMEM   RESMEM   LABEL   COMMAND\n\
             cp-1   2     S       1         1.25       0 B       0 B              kthreadd",
        ),
        (
            "mounts",
            "NODE   FILESYSTEM   SIZE(GB)   USED(GB)   AVAILABLE(GB)   PERCENT USED   MOUNTED ON\n\
             cp-1   /dev/sda4    20.00      5.00       15.00           25.00%         /var",
        ),
        (
            "time --check pool.test",
            "NODE   NTP-SERVER   NODE-TIME                         NTP-SERVER-TIME\n\
             cp-1   pool.test    2023-11-14 22:13:20.25 +0000 UTC   2023-11-14 22:13:21 +0000 UTC",
        ),
    ] {
        let said = home.run(&format!("{line} -n cp-1")).ends_with(0);
        // A machine that is named is called, and shown, at its address.
        assert_eq!(
            cells(&said.stdout),
            cells(&expected.replace("cp-1  ", &format!("{node}  "))),
            "{line}"
        );
    }
    let said = home.run("memory -n cp-1 --all").ends_with(0);
    assert!(said.stdout.starts_with(&format!("NODE: {node}\nMemTotal: 4096000 kB\n")), "{said:?}");
    assert_eq!(said.stdout.lines().count(), 49);
    let memory = json(&home, "memory");
    assert_eq!(memory[0]["memtotal"], 4_096_000);
    let clocks = json(&home, "time");
    assert_eq!(clocks[0]["server"], "time.test");
    assert_eq!(clocks[0]["time"], "2023-11-14T22:13:20.25Z");
    assert_eq!(json(&home, "mounts")[0]["available"], 15_000_000_000_u64);
    assert_eq!(json(&home, "processes")[0]["residentMemory"], 50_000_000);
}

#[test]
fn processes_are_shown_again_while_they_are_watched() {
    let (home, _machine) = machine();
    let mut child = home
        .command("processes -n cp-1 --watch -o json")
        .stdout(Stdio::piped())
        .spawn()
        .expect("ichor");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let looks: Vec<String> = lines.by_ref().take(2).map(|line| line.expect("a line")).collect();
    child.kill().expect("a child");
    child.wait().expect("a child");
    for look in looks {
        let processes: Value = serde_json::from_str(&look).expect("JSON");
        assert_eq!(processes.as_array().map(Vec::len), Some(2), "{look}");
    }
}

#[test]
fn sockets_are_shown_with_what_is_asked_for() {
    let (home, machine) = machine();
    let said = home.run("netstat -n cp-1").ends_with(0);
    let head = "NODE Proto Recv-Q Send-Q Local Address Foreign Address State";
    assert_eq!(words(said.stdout.lines().next().expect("a head")), head);
    let node = machine.address.ip();
    let line = words(said.stdout.lines().nth(1).expect("a socket"));
    assert_eq!(line, format!("{node} tcp 1 2 10.0.0.11:6443 10.0.0.9:* ESTABLISHED"));
    let said = home.run("netstat -n cp-1 -alxpk --timers -6 -t").ends_with(0);
    let line = words(said.stdout.lines().nth(1).expect("a socket"));
    assert!(
        line.ends_with("ESTABLISHED 65534 99 7/etcd kube-system/dns keepalive (1.05/3/4)"),
        "{line}"
    );
    let asked = last::<NetstatRequest>(&machine, NETSTAT);
    let (protocols, networks) = (asked.l4proto.unwrap(), asked.netns.unwrap());
    assert!(protocols.tcp6 && !protocols.tcp && !protocols.udp && !protocols.udp6);
    assert!(networks.allnetns && networks.hostnetwork && asked.feature.unwrap().pid);
    assert_eq!(asked.filter, 0, "all of them");

    home.run("netstat -n cp-1 kube-system/DNS").ends_with(0);
    let networks = last::<NetstatRequest>(&machine, NETSTAT).netns.expect("networks");
    assert_eq!((networks.netns, networks.hostnetwork), (vec!["cni-1".to_owned()], false));
    let said = home.run("netstat -n cp-1 kube-system/none").ends_with(1);
    assert!(said.stderr.contains("error[machine.not-found]"), "{said:?}");
    assert_eq!(json(&home, "netstat -p")[0]["process"]["name"], "etcd");
}

#[test]
fn usage_shows_what_it_can_and_reports_the_rest() {
    let (home, machine) = machine();
    let said = home.run("usage /var /etc -d 1 -a -t -5 -n cp-1").ends_with(1);
    let node = machine.address.ip();
    let lines: Vec<String> = said.stdout.lines().map(words).collect();
    assert_eq!(lines, ["NODE SIZE NAME".to_owned(), format!("{node} 4096 var/log")]);
    assert!(said.stderr.contains("error[machine.not-found]"), "{said:?}");
    assert!(said.stderr.contains("/none: no such file or directory"), "{said:?}");
    let asked = last::<DiskUsageRequest>(&machine, DISK_USAGE);
    assert_eq!((asked.recursion_depth, asked.all, asked.threshold), (2, true, -5));
    assert_eq!(asked.paths, ["/var", "/etc"]);
    let said = home.run("usage -H -n cp-1");
    assert!(said.stdout.contains("4.1 kB"), "{said:?}");
}

#[test]
fn a_capture_ends_with_a_complete_packet() {
    let (home, machine) = machine();
    let said = home.run("pcap -n cp-1 -i eth1 -o eth1.pcap --promiscuous").ends_with(0);
    assert!(said.stderr.contains("wrote 2 packets (88 B) to eth1.pcap"), "{said:?}");
    let file = fs_err::read(home.0.path().join("eth1.pcap")).expect("a file");
    assert_eq!(file, capture()[..88]);
    let asked = last::<PacketCaptureRequest>(&machine, PCAP);
    assert_eq!((asked.interface.as_str(), asked.promiscuous), ("eth1", true));
    // One that is there is not overwritten, and a filter that is none is not sent.
    home.run("pcap -n cp-1 -o eth1.pcap").ends_with(3);
    let calls = machine.calls().len();
    home.run("pcap -n cp-1 --bpf-filter port").ends_with(3);
    assert_eq!(machine.calls().len(), calls);
    let said = home.command("pcap -n cp-1 --max-size 60").output().expect("ichor");
    assert_eq!(said.stdout, capture()[..56]);
}

#[test]
fn dependencies_of_controllers_are_a_graph() {
    let (home, _machine) = machine();
    let said = home.run("inspect dependencies -n cp-1").ends_with(0);
    let begins = "digraph  {\n\t\n\tn2[fillcolor=\"azure2\",label=\"Things.test\",";
    assert!(said.stdout.starts_with(begins), "{said:?}");
    assert!(said.stdout.ends_with("\tn1->n2[style=\"bold\"];\n\t\n}\n"), "{said:?}");
    let said = home.run("inspect dependencies --with-resources -n cp-1").ends_with(0);
    assert!(said.stdout.contains("subgraph cluster_s2 {"), "{said:?}");
}

#[test]
fn a_support_bundle_has_all_parts_and_no_secret() {
    let (home, _machine) = machine();
    let said = home.run("support -n cp-1 -O bundle.tar.gz").ends_with(0);
    assert!(said.stderr.contains("wrote bundle.tar.gz"), "{said:?}");
    let parts = unpack(&home, "bundle.tar.gz");
    let names: Vec<&str> = parts
        .iter()
        .map(|(name, _)| name.split_once('/').map_or(name.as_str(), |(_, name)| name))
        .map(|name| name.split_once('/').map_or(name, |(_, name)| name))
        .collect();
    for name in [
        "summary.txt",
        "dmesg.log",
        "dependencies.dot",
        "mounts.txt",
        "processes.txt",
        "services/etcd.log",
        "services/etcd.txt",
        "resources/secretthings.test.yaml",
        "resources/things.test.yaml",
        "errors.txt",
    ] {
        assert!(names.contains(&name), "{name} is missing of {names:?}");
    }
    // The name of a container is a path only to look at.
    assert!(names.contains(&"pods/kube-system_.._.._dns_dns.log"), "{names:?}");
    let all: String = parts.iter().map(|(_, text)| text.as_str()).collect();
    assert!(!all.contains("hunter2"), "{all}");
    let part = |name: &str| &parts.iter().find(|(path, _)| path.ends_with(name)).expect(name).1;
    assert!(part("/things.test.yaml").contains("visible"));
    assert!(part("secretthings.test.yaml").contains("spec: \"******\""), "{all}");
    assert!(part("secretthings.test.yaml").contains("id: one"), "{all}");
    assert!(part("errors.txt").contains("io.txt: "), "{all}");
    assert!(part("services/etcd.log").contains("log of etcd"), "{all}");
    // It stays as it is.
    home.run("support -n cp-1 -O bundle.tar.gz").ends_with(3);
    let said = home.run("support -n cp-1 -O small.tar.gz --max-log-size 5").ends_with(0);
    assert!(said.stderr.contains("missing parts: "), "{said:?}");
    let errors = unpack(&home, "small.tar.gz").pop().expect("a file").1;
    assert!(errors.contains("dmesg.log: the data is longer than 5 B"), "{errors}");
}

#[test]
fn a_bundle_of_machines_that_do_not_answer_is_not_written() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    drop(listener);
    let said = home.run("support -n cp-1 --deadline 2s").ends_with(5);
    assert!(!home.0.path().join("support.tar.gz").exists(), "{said:?}");
}

/// A machine of a cluster of one, that answers all questions.
fn machine() -> (Home, Machine) {
    let listener: TcpListener = loopback();
    let home = Home::new(&[&listener]);
    let secrets = home.read("secrets.yaml");
    let machine = Machine::start(listener, move || authority_of(&secrets), answer);
    (home, machine)
}

fn answer(call: &Call) -> Option<Vec<Vec<u8>>> {
    let one = |message: Vec<u8>| Some(vec![message]);
    match call.path.as_str() {
        "/machine.MachineService/Version" => {
            let info = VersionInfo { tag: "v1.13.9".to_owned(), ..VersionInfo::default() };
            let version = Version { version: Some(info), ..Version::default() };
            one(VersionResponse { messages: vec![version] }.encode_to_vec())
        }
        "/machine.MachineService/Memory" => {
            let meminfo = MemInfo {
                memtotal: 4_096_000,
                memfree: 1_024_000,
                memavailable: 2_048_000,
                buffers: 307_200,
                cached: 1_024_000,
                shmem: 4096,
                ..MemInfo::default()
            };
            let memory = Memory { metadata: None, meminfo: Some(meminfo) };
            one(MemoryResponse { messages: vec![memory] }.encode_to_vec())
        }
        "/machine.MachineService/Processes" => one(processes()),
        "/machine.MachineService/Mounts" => {
            let mount = |filesystem: &str, size, available, mounted_on: &str| MountStat {
                filesystem: filesystem.to_owned(),
                size,
                available,
                mounted_on: mounted_on.to_owned(),
            };
            let stats = vec![
                mount("proc", 0, 0, "/proc"),
                mount("/dev/sda4", 20_000_000_000, 15_000_000_000, "/var"),
            ];
            one(MountsResponse { messages: vec![Mounts { metadata: None, stats }] }.encode_to_vec())
        }
        "/time.TimeService/Time" => one(clocks("time.test")),
        "/time.TimeService/TimeCheck" => {
            one(clocks(&TimeRequest::decode(call.message.as_slice()).ok()?.server))
        }
        NETSTAT => one(sockets()),
        DISK_USAGE => {
            let found = DiskUsageInfo {
                size: 4096,
                relative_name: "var/log".to_owned(),
                ..DiskUsageInfo::default()
            };
            let error = "lstat /none: no such file or directory".to_owned();
            let missing = DiskUsageInfo { error, ..DiskUsageInfo::default() };
            Some(vec![found.encode_to_vec(), missing.encode_to_vec()])
        }
        // Cut in the midst of packets, and without the end of the last one.
        PCAP => Some(capture().chunks(50).map(data).collect()),
        "/inspect.InspectService/ControllerRuntimeDependencies" => {
            let edge = ControllerDependencyEdge {
                controller_name: "a.Controller".to_owned(),
                edge_type: DependencyEdgeType::OutputExclusive.into(),
                resource_namespace: "test".to_owned(),
                resource_type: "Things.test".to_owned(),
                resource_id: String::new(),
            };
            let message = ControllerRuntimeDependency { metadata: None, edges: vec![edge] };
            let messages = vec![message];
            one(ControllerRuntimeDependenciesResponse { messages }.encode_to_vec())
        }
        "/machine.MachineService/ServiceList" => {
            let (id, state) = ("etcd".to_owned(), "Running".to_owned());
            let services = vec![ServiceInfo { id, state, ..ServiceInfo::default() }];
            let messages = vec![ServiceList { services, ..ServiceList::default() }];
            one(ServiceListResponse { messages }.encode_to_vec())
        }
        "/machine.MachineService/Containers" => one(containers()),
        "/machine.MachineService/Dmesg" => Some(vec![data(b"kernel: it works\n")]),
        "/machine.MachineService/Logs" => {
            let id = LogsRequest::decode(call.message.as_slice()).ok()?.id;
            Some(vec![data(format!("log of {id}\n").as_bytes())])
        }
        "/machine.MachineService/Read" => Some(vec![data(b"0000 8086\n")]),
        "/cosi.resource.State/List" => resources(call),
        _ => None,
    }
}

fn processes() -> Vec<u8> {
    let text = |text: &str| text.to_owned();
    let kernel = ProcessInfo {
        pid: 2,
        state: text("S"),
        threads: 1,
        cpu_time: 1.25,
        command: text("kthreadd"),
        ..ProcessInfo::default()
    };
    let etcd = ProcessInfo {
        pid: 7,
        state: text("S"),
        threads: 9,
        cpu_time: 0.5,
        virtual_memory: 1_200_000_000,
        resident_memory: 50_000_000,
        command: text("etcd"),
        executable: text("/usr/bin/etcd"),
        args: text("etcd --name cp-1"),
        label: text("pod.t"),
        ..ProcessInfo::default()
    };
    let processes = Process { metadata: None, processes: vec![kernel, etcd] };
    ProcessesResponse { messages: vec![processes] }.encode_to_vec()
}

fn clocks(server: &str) -> Vec<u8> {
    let time = |nanos, seconds| Some(prost_types::Timestamp { seconds, nanos });
    let time = Time {
        metadata: None,
        server: server.to_owned(),
        localtime: time(250_000_000, 1_700_000_000),
        remotetime: time(0, 1_700_000_001),
    };
    TimeResponse { messages: vec![time] }.encode_to_vec()
}

fn sockets() -> Vec<u8> {
    let text = |text: &str| text.to_owned();
    let record = ConnectRecord {
        l4proto: text("tcp"),
        localip: text("10.0.0.11"),
        localport: 6443,
        remoteip: text("10.0.0.9"),
        remoteport: 0,
        state: State::Established.into(),
        rxqueue: 1,
        txqueue: 2,
        tr: TimerActive::Keepalive.into(),
        timerwhen: 105,
        retrnsmt: 3,
        timeout: 4,
        uid: 65_534,
        inode: 99,
        process: Some(Program { pid: 7, name: text("etcd") }),
        netns: text("cni-1"),
        ..ConnectRecord::default()
    };
    let netstat = Netstat { metadata: None, connectrecord: vec![record] };
    NetstatResponse { messages: vec![netstat] }.encode_to_vec()
}

fn containers() -> Vec<u8> {
    let text = |text: &str| text.to_owned();
    let pod = ContainerInfo {
        id: text("kube-system/dns"),
        pod_id: text("kube-system/dns"),
        pid: 5,
        status: text("SANDBOX_READY"),
        network_namespace: text("cni-1"),
        ..ContainerInfo::default()
    };
    let container = ContainerInfo {
        id: text("kube-system/../../dns:dns"),
        status: text("CONTAINER_RUNNING"),
        ..pod.clone()
    };
    let containers = vec![pod, container];
    let messages = vec![Container { metadata: None, containers }];
    ContainersResponse { messages }.encode_to_vec()
}

/// Two types, one of them sensitive, with a resource each.
fn resources(call: &Call) -> Option<Vec<Vec<u8>>> {
    let asked = ListRequest::decode(call.message.as_slice()).ok()?;
    let resource = |id: &str, proto_spec: Vec<u8>, yaml: &str| {
        let metadata = Metadata {
            namespace: asked.namespace.clone(),
            r#type: asked.r#type.clone(),
            id: id.to_owned(),
            version: "1".to_owned(),
            phase: "running".to_owned(),
            ..Metadata::default()
        };
        let spec = Spec { proto_spec, yaml_spec: yaml.to_owned() };
        let resource = Resource { metadata: Some(metadata), spec: Some(spec) };
        ListResponse { resource: Some(resource) }.encode_to_vec()
    };
    let definition = |kind: &str, sensitivity: Sensitivity| {
        let spec = ResourceDefinitionSpec {
            resource_type: kind.to_owned(),
            default_namespace: "test".to_owned(),
            sensitivity: sensitivity.into(),
            ..ResourceDefinitionSpec::default()
        };
        resource(&kind.to_lowercase(), spec.encode_to_vec(), "{}\n")
    };
    match asked.r#type.as_str() {
        ResourceDefinitionSpec::TYPE => Some(vec![
            definition("Things.test", Sensitivity::NonSensitive),
            definition("SecretThings.test", Sensitivity::Sensitive),
        ]),
        "Things.test" => Some(vec![resource("one", Vec::new(), "value: visible\n")]),
        "SecretThings.test" => Some(vec![resource("one", b"hunter2".to_vec(), "key: hunter2\n")]),
        _ => None,
    }
}

/// A capture of two packets, and of half a third one.
fn capture() -> Vec<u8> {
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.resize(24, 0);
    for _ in 0..3 {
        file.extend([1, 0, 16, 16].map(u32::to_le_bytes).concat());
        file.resize(file.len() + 16, 7);
    }
    file.truncate(24 + 32 + 32 + 20);
    file
}

fn data(bytes: &[u8]) -> Vec<u8> {
    Data { metadata: None, bytes: bytes.to_vec() }.encode_to_vec()
}

fn json(home: &Home, line: &str) -> Value {
    let said = home.run(&format!("{line} -n cp-1 -o json")).ends_with(0);
    home.run(&format!("{line} -n cp-1 -o yaml")).ends_with(0);
    serde_json::from_str(&said.stdout).expect("JSON")
}

/// The cells of a table, whatever the widths of its columns.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect()
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The message of the last call of a path.
fn last<M: Message + Default>(machine: &Machine, path: &str) -> M {
    let calls = machine.calls();
    let call = calls.iter().rfind(|call| call.path == path).expect("a call");
    M::decode(call.message.as_slice()).expect("a message")
}

/// The files of an archive, with their texts.
fn unpack(home: &Home, name: &str) -> Vec<(String, String)> {
    let file = fs_err::File::open(home.0.path().join(name)).expect("an archive");
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    let entries = archive.entries().expect("entries").map(|entry| {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("text");
        (path, text)
    });
    entries.collect()
}

const DISK_USAGE: &str = "/machine.MachineService/DiskUsage";
const NETSTAT: &str = "/machine.MachineService/Netstat";
const PCAP: &str = "/machine.MachineService/PacketCapture";
