//! Level `system`: templates of patches, compared with the real Jinja.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use talconfig::cluster_template::{ClusterTemplate, PatchFiles};
use talos_config::SourceId;

#[test]
#[ignore = "level system: needs python3 with jinja2 (cargo xtask test)"]
fn templates_are_filled_in_as_jinja_does() {
    let id = "a1".repeat(32);
    let cluster = "\
node_cidr: 10.0.0.0/24
cluster_api_addr: 10.0.0.10
node_dns_servers: [9.9.9.9, 1.1.1.1]
node_vlan_tag: \"100\"
own: {deep: [1, two, 3.5], flag: true, nothing: null, text: 'it''s'}
";
    let nodes = format!(
        "nodes:\n  - {{name: cp-1, address: 10.0.0.11, controller: true, disk: /dev/sda, mac_addr: \
         \"00:11:22:33:44:aa\", schematic_id: {id}, mtu: 9000}}\n  - {{name: w-1, address: 10.0.0.21, controller: \
         false, disk: S4EV, mac_addr: \"00:11:22:33:44:bb\", schematic_id: {id}, kernel_modules: [nbd, zfs]}}\n"
    );
    let guide = ClusterTemplate::parse((cluster, SourceId(1)), (&nodes, SourceId(2)));
    let guide = guide.map_err(|error| error.to_string()).expect("a guide");
    let data = json!({
        "node_cidr": "10.0.0.0/24",
        "cluster_api_addr": "10.0.0.10",
        "node_dns_servers": ["9.9.9.9", "1.1.1.1"],
        "node_ntp_servers": ["162.159.200.1", "162.159.200.123"],
        "node_default_gateway": "10.0.0.1",
        "node_vlan_tag": "100",
        "spegel_enabled": true,
        "own": {"deep": [1, "two", 3.5], "flag": true, "nothing": null, "text": "it's"},
        "nodes": [
            {"name": "cp-1", "address": "10.0.0.11", "controller": true, "disk": "/dev/sda", "mtu": 9000},
            {"name": "w-1", "address": "10.0.0.21", "controller": false, "disk": "S4EV",
             "kernel_modules": ["nbd", "zfs"]},
        ],
    });
    let patches =
        PatchFiles::from([("global".to_owned(), vec!["a.yaml".to_owned(), "b.yaml".to_owned()])]);
    let theirs = jinja(&json!({ "data": data, "templates": TEMPLATES }));
    for (template, theirs) in TEMPLATES.iter().zip(theirs) {
        let ours = guide.render("t", template, &patches).map_err(|detail| detail.message);
        assert_eq!(ours.as_deref(), Ok(theirs.as_str()), "{template}");
    }
}

/// Renders templates with Jinja, under the settings of the cluster-template.
fn jinja(input: &Value) -> Vec<String> {
    let mut child = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.to_string().as_bytes()).expect("its input");
    drop(stdin);
    let output = child.wait_with_output().expect("its output");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).expect("a list of texts")
}

const SCRIPT: &str = "
import ipaddress, jinja2, json, os, sys
given = json.load(sys.stdin)
environment = jinja2.Environment(
    block_start_string='#%', block_end_string='%#', variable_start_string='#{', variable_end_string='}#',
    comment_start_string='#|', comment_end_string='#|', trim_blocks=True, lstrip_blocks=True,
    keep_trailing_newline=True, undefined=jinja2.ChainableUndefined)
environment.globals.update(given['data'])
files = {'global': ['p/a.yaml.j2', 'p/b.yaml.j2']}
environment.globals['talos_patches'] = lambda scope: files.get(scope, [])
environment.filters['basename'] = lambda path: os.path.splitext(os.path.basename(path))[0]
environment.filters['nthhost'] = lambda network, number: str(ipaddress.ip_network(network)[number])
json.dump([environment.from_string(template).render() for template in given['templates']], sys.stdout)
";

const TEMPLATES: &[&str] = &[
    "a: #{ node_cidr }#\n",
    "no line break at the end",
    "\n\n  two before\n\n",
    "#% for item in node_dns_servers %#\n- #{ item }#\n#% endfor %#\n",
    "list: [#% for item in node_dns_servers %##{ item }##{ ', ' if not loop.last }##% endfor %#]\n",
    "#% for item in nodes %#\n#{ loop.index }#/#{ loop.length }# #{ item.name }# #{ loop.first }#\n#% endfor %#\n",
    "#% for item in nodes if item.controller %#\n- #{ item.name }#\n#% else %#\nnone\n#% endfor %#\n",
    "#% for item in nothing %#\n- x\n#% else %#\nnone\n#% endfor %#\n",
    "a:\n  #% if spegel_enabled %#\n  b: 1\n  #% elif own.flag %#\n  c: 1\n  #% else %#\n  d: 1\n  #% endif %#\n",
    "  #%- if spegel_enabled -%#\n  x\n  #%- endif %#\ny\n",
    "#| a comment #|x\n",
    "x #| a comment\n over lines #|\ny\n",
    "#{ nothing }#|#{ nothing.at.all }#|#{ own.nothing }#|#{ own.missing.deep }#\n",
    "#{ nothing | default('x') }# #{ '' | default('x') }# #{ '' | default('x', true) }# #{ own.nothing | default(1, true) }#\n",
    "#{ own.flag }# #{ own.flag | string | lower }# #{ not own.flag }# #{ own.deep[0] }# #{ own.deep[-1] }#\n",
    "#{ own.text }# #{ own['text'] | upper }# #{ own.text | replace('t', 'T') }# #{ own.text | length }#\n",
    "#{ 1 + 2 * 3 }# #{ 7 // 2 }# #{ 7 % 2 }# #{ 7 / 2 }# #{ 2 ** 3 }# #{ 'a' ~ 1 }# #{ 'a' * 3 }#\n",
    "#{ node_cidr.split('/') | last }# #{ node_cidr.split('/')[0] }# #{ node_cidr.split('.')[1:3] | join('-') }#\n",
    "#{ nodes[0].disk.startswith('/') }# #{ nodes[1].disk.endswith('EV') }# #{ ' x '.strip() }#|#{ 'A'.lower() }#\n",
    "#{ own.get('flag') }# #{ own.get('no', 'other') }# #{ 'deep' in own }# #{ 'x' not in own }#\n",
    "#{ nodes | map(attribute='name') | join(',') }# #{ nodes | selectattr('controller') | map(attribute='address') | list | length }#\n",
    "#{ nodes | selectattr('controller', 'equalto', False) | list | length }# #{ nodes | rejectattr('controller') | map(attribute='name') | first }#\n",
    "#{ node_dns_servers | sort | join(' ') }# #{ node_dns_servers | reverse | list | first }# #{ [3, 1, 2] | max }#\n",
    "#% set ns = namespace(found=false) %##% for n in nodes %##% if n.mtu %##% set ns.found = true %##% endif %##% endfor %##{ ns.found }#\n",
    "#% set name = 'x' %#\n#{ name }#\n",
    "#% macro node(n) %#\n- #{ n.name }#\n#% endmacro %#\n#{ node(nodes[0]) }##{ node(nodes[1]) }#",
    "#% raw %##{ kept }##% endraw %#\n",
    "#{ talos_patches('global') | length }# #{ talos_patches('%s' % (nodes[0].name)) | length }# #{ talos_patches('global') | map('basename') | join(' ') }#\n",
    "#{ node_cidr | nthhost(1) }# #{ node_cidr | nthhost(254) }#\n",
    "#{ nodes[0].mtu | default(1500, true) }# #{ nodes[1].mtu | default(1500, true) }# #{ nodes[0].mtu | int + 1 }#\n",
    "#{ 'yes' if node_vlan_tag else 'no' }# #{ '-secureboot' if nodes[0].secureboot }#.\n",
    "#{ 'a\\nb' | indent(4) }# #{ ' x ' | trim }# #{ 'some words' | title }# #{ 'ABC' | capitalize }#\n",
    "#{ nodes[1].kernel_modules | default([], true) | length > 0 }# #{ nodes[0].kernel_modules | default([], true) | length }#\n",
    "#{ own.deep is iterable }# #{ own.text is string }# #{ nothing is defined }# #{ own.nothing is none }# #{ own is mapping }#\n",
    "#% for key in own | sort %##{ key }# #% endfor %#\n",
    "$$patch: delete # ${VALUE} {{ .Kept }} {% kept %}\n",
];
