//! Templates and what Go makes of them.
//!
//! The expectations here and in the tables of the modules beside this one were obtained by running the same templates
//! over the same data with Go 1.26's `text/template`, sprig v3.3.0 with cast v1.10.0 and the types of Talos machinery
//! v1.14.0-alpha.2, which is what talhelper 3.1.15 is built of. What Ichor refuses on purpose is in tests of its own.

use std::collections::BTreeMap;

use talos_config::{Data, Value};

use super::*;
use crate::door::environment::Environment;
use crate::gotemplate::{config, parse};

/// Compares what becomes of templates.
pub(in crate::gotemplate) fn check(cases: &[(&str, &str)]) {
    for (template, expected) in cases {
        assert_eq!(filled(template), *expected, "{template}");
    }
}

/// Renders a template; returns `ERR` and the error if that fails.
fn filled(template: &str) -> String {
    let install = object(&[
        ("disk", Value::from("/dev/sda")),
        ("image", Value::from("factory.talos.dev/metal-installer/abc:v1.13.0")),
        ("wipe", Value::new(Data::Bool(false))),
    ]);
    let machine = object(&[
        ("type", Value::from("worker")),
        ("certSANs", Value::new(Data::List(vec![Value::from("a.lan"), Value::from("b.lan")]))),
        ("install", install),
        ("nodeLabels", object(&[("one", Value::from("1")), ("zone", Value::from("z"))])),
        ("features", object(&[("kubePrism", object(&[("port", Value::new(Data::Int(7445)))]))])),
    ]);
    let endpoint = object(&[("endpoint", Value::from("https://[fd00::1]:6443"))]);
    let cluster = object(&[("clusterName", Value::from("c1")), ("controlPlane", endpoint)]);
    let body = entries(&[
        ("version", Value::from("v1alpha1")),
        ("machine", machine),
        ("cluster", cluster),
    ]);
    let environment = Environment::from_iter([("NAME".to_owned(), "value".to_owned())]);
    let context = TemplateContext { environment: &environment, now: 0, sprig: true };
    let filled = parse::parse(template, true)
        .and_then(|nodes| execute("template", template, &nodes, &config(&body), &context));
    filled.unwrap_or_else(|problem| format!("ERR {problem}"))
}

fn object(members: &[(&str, Value)]) -> Value {
    Value::new(Data::Map(entries(members)))
}

fn entries(members: &[(&str, Value)]) -> BTreeMap<String, Value> {
    members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

#[test]
fn little_text_does_not_make_much() {
    let double = "{{ $x = printf \"%s%s\" $x $x }}".repeat(60);
    let nested = "{{ $x := list 1 }}{{ range 100000 }}{{ $x = list $x }}{{ end }}";
    let wide = "%100000d".repeat(1000);
    for (template, problem) in [
        (format!("{{{{ $x := \"0123456789\" }}}}{double}"), "Ichor does not"),
        (
            double.replace("printf \"%s%s\"", "list").replacen("$x =", "$x := list 1 }}{{ $x =", 1),
            "does not run",
        ),
        (nested.to_owned(), "Ichor does not nest lists this deep"),
        ("{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}".to_owned(), "does not run"),
        ("{{ range 100000 }}{{ range 100000 }}x{{ end }}{{ end }}".to_owned(), "does not run"),
        (format!("{{{{ printf \"{wide}\" {}}}}}", "1 ".repeat(1000)), "more than 16777216 bytes"),
        (
            "{{ $a := repeat 100000 \"a\" }}{{ replace \"a\" $a $a }}".to_owned(),
            "more than 16777216 bytes",
        ),
        (
            "{{ $a := repeat 100000 \"a\" }}{{ regexReplaceAll \"a\" $a \"$0$0$0$0$0\" }}"
                .to_owned(),
            "",
        ),
        (
            "{{ $a := repeat 100000 \"\\n\" }}{{ indent 100000 $a }}".to_owned(),
            "more than 16777216 bytes",
        ),
    ] {
        let filled = filled(&template);
        let shown = filled.get(filled.len().saturating_sub(200)..).unwrap_or_default();
        if problem.is_empty() {
            assert!(!filled.starts_with("ERR"), "{shown}");
        } else {
            assert!(
                filled.starts_with("ERR") && filled.contains(problem),
                "{template:.80} {shown}"
            );
        }
    }
}

#[test]
fn a_wrong_number_of_arguments_is_told_as_go_does() {
    check(COUNTS);
}

const COUNTS: &[(&str, &str)] = &[
    (
        "{{ splitList \",\" }}",
        "ERR 1:3: executing \"template\" at <splitList>: wrong number of args for splitList: want 2 got 1",
    ),
    (
        "{{ splitList }}",
        "ERR 1:3: executing \"template\" at <splitList>: wrong number of args for splitList: want 2 got 0",
    ),
    (
        "{{ splitList \",\" \"a\" \"b\" }}",
        "ERR 1:3: executing \"template\" at <splitList>: wrong number of args for splitList: want 2 got 3",
    ),
    (
        "{{ \"a\" | splitList \",\" \"b\" }}",
        "ERR 1:9: executing \"template\" at <splitList>: wrong number of args for splitList: want 2 got 3",
    ),
    (
        "{{ upper }}",
        "ERR 1:3: executing \"template\" at <upper>: wrong number of args for upper: want 1 got 0",
    ),
    (
        "{{ upper \"a\" \"b\" }}",
        "ERR 1:3: executing \"template\" at <upper>: wrong number of args for upper: want 1 got 2",
    ),
    (
        "{{ default }}",
        "ERR 1:3: executing \"template\" at <default>: wrong number of args for default: want at least 1 got 0",
    ),
    ("{{ default \"d\" }}", "d"),
    ("{{ \"x\" | default }}", "x"),
    (
        "{{ eq }}",
        "ERR 1:3: executing \"template\" at <eq>: wrong number of args for eq: want at least 1 got 0",
    ),
    (
        "{{ eq 1 }}",
        "ERR 1:3: executing \"template\" at <eq 1>: error calling eq: missing argument for comparison",
    ),
    (
        "{{ 1 | eq }}",
        "ERR 1:7: executing \"template\" at <eq>: error calling eq: missing argument for comparison",
    ),
    (
        "{{ ne 1 }}",
        "ERR 1:3: executing \"template\" at <ne>: wrong number of args for ne: want 2 got 1",
    ),
    (
        "{{ ne 1 2 3 }}",
        "ERR 1:3: executing \"template\" at <ne>: wrong number of args for ne: want 2 got 3",
    ),
    (
        "{{ not }}",
        "ERR 1:3: executing \"template\" at <not>: wrong number of args for not: want 1 got 0",
    ),
    (
        "{{ and }}",
        "ERR 1:3: executing \"template\" at <and>: wrong number of args for and: want at least 1 got 0",
    ),
    (
        "{{ or }}",
        "ERR 1:3: executing \"template\" at <or>: wrong number of args for or: want at least 1 got 0",
    ),
    (
        "{{ len }}",
        "ERR 1:3: executing \"template\" at <len>: wrong number of args for len: want 1 got 0",
    ),
    (
        "{{ len \"a\" \"b\" }}",
        "ERR 1:3: executing \"template\" at <len>: wrong number of args for len: want 1 got 2",
    ),
    (
        "{{ index }}",
        "ERR 1:3: executing \"template\" at <index>: wrong number of args for index: want at least 1 got 0",
    ),
    ("{{ index \"a\" }}", "a"),
    (
        "{{ printf }}",
        "ERR 1:3: executing \"template\" at <printf>: wrong number of args for printf: want at least 1 got 0",
    ),
    ("{{ print }}|", "|"),
    ("{{ println }}|", "\n|"),
    (
        "{{ now 1 }}",
        "ERR 1:3: executing \"template\" at <now>: wrong number of args for now: want 0 got 1",
    ),
    (
        "{{ env }}",
        "ERR 1:3: executing \"template\" at <env>: wrong number of args for env: want 1 got 0",
    ),
    (
        "{{ max }}",
        "ERR 1:3: executing \"template\" at <max>: wrong number of args for max: want at least 1 got 0",
    ),
    (
        "{{ mul }}",
        "ERR 1:3: executing \"template\" at <mul>: wrong number of args for mul: want at least 1 got 0",
    ),
    ("{{ add }}", "0"),
    (
        "{{ date \"2006\" }}",
        "ERR 1:3: executing \"template\" at <date>: wrong number of args for date: want 2 got 1",
    ),
    (
        "{{ ternary 1 2 }}",
        "ERR 1:3: executing \"template\" at <ternary>: wrong number of args for ternary: want 3 got 2",
    ),
    ("{{ list }}", "[]"),
    ("{{ keys }}", "[]"),
    (
        "{{ get }}",
        "ERR 1:3: executing \"template\" at <get>: wrong number of args for get: want 2 got 0",
    ),
    (
        "{{ upper lower }}",
        "ERR 1:9: executing \"template\" at <lower>: wrong number of args for lower: want 1 got 0",
    ),
    (
        "{{ upper (lower) }}",
        "ERR 1:10: executing \"template\" at <lower>: wrong number of args for lower: want 1 got 0",
    ),
    (
        "{{ print (upper (lower \"A\" \"B\")) }}",
        "ERR 1:17: executing \"template\" at <lower>: wrong number of args for lower: want 1 got 2",
    ),
    (
        "{{ print (print (print 1 | upper 2)) }}",
        "ERR 1:27: executing \"template\" at <upper>: wrong number of args for upper: want 1 got 2",
    ),
    (
        "{{ \"a\" | upper | lower \"x\" }}",
        "ERR 1:17: executing \"template\" at <lower>: wrong number of args for lower: want 1 got 2",
    ),
    (
        "{{ upper `a\"b` 1 }}",
        "ERR 1:3: executing \"template\" at <upper>: wrong number of args for upper: want 1 got 2",
    ),
    (
        "a\nb {{ upper }}",
        "ERR 2:5: executing \"template\" at <upper>: wrong number of args for upper: want 1 got 0",
    ),
    (
        "é {{ print\n\n(upper 1) }}",
        "ERR 3:7: executing \"template\" at <1>: expected string; found 1",
    ),
];

#[test]
fn arguments_have_the_types_that_go_wants() {
    check(TYPES);
}

const TYPES: &[(&str, &str)] = &[
    ("{{ upper nil }}", "ERR 1:9: executing \"template\" at <nil>: cannot assign nil to string"),
    ("{{ upper true }}", "ERR 1:9: executing \"template\" at <true>: expected string; found true"),
    ("{{ upper 1.5 }}", "ERR 1:9: executing \"template\" at <1.5>: expected string; found 1.5"),
    (
        "{{ upper (1) }}",
        "ERR 1:10: executing \"template\" at <1>: wrong type for value; expected string; got int",
    ),
    (
        "{{ 1 | upper }}",
        "ERR 1:7: executing \"template\" at <upper>: wrong type for value; expected string; got int",
    ),
    (
        "{{ 1 | trimPrefix \"a\" }}",
        "ERR 1:18: executing \"template\" at <\"a\">: wrong type for value; expected string; got int",
    ),
    (
        "{{ upper .MachineConfig.MachineNodeLabels.none }}",
        "ERR 1:23: executing \"template\" at <.MachineConfig.MachineNodeLabels.none>: invalid value; expected string",
    ),
    (
        "{{ .MachineConfig.MachineNodeLabels.none | upper }}",
        "ERR 1:43: executing \"template\" at <upper>: invalid value; expected string",
    ),
    (
        "{{ upper .MachineConfig.MachineFeatures.KubePrismSupport.ServerPort }}",
        "ERR 1:23: executing \"template\" at <.MachineConfig.MachineFeatures.KubePrismSupport.ServerPort>: wrong type for value; expected string; got int",
    ),
    (
        "{{ upper .MachineConfig.MachineCertSANs }}",
        "ERR 1:23: executing \"template\" at <.MachineConfig.MachineCertSANs>: wrong type for value; expected string; got []string",
    ),
    (
        "{{ upper .ClusterConfig.ControlPlane.Endpoint }}",
        "ERR 1:23: executing \"template\" at <.ClusterConfig.ControlPlane.Endpoint>: wrong type for value; expected string; got *v1alpha1.Endpoint",
    ),
    (
        "{{ upper .MachineConfig.MachineInstall.InstallWipe }}",
        "ERR 1:23: executing \"template\" at <.MachineConfig.MachineInstall.InstallWipe>: wrong type for value; expected string; got *bool",
    ),
    (
        "{{ upper .MachineConfig.MachineInstall }}",
        "ERR 1:23: executing \"template\" at <.MachineConfig.MachineInstall>: wrong type for value; expected string; got *v1alpha1.InstallConfig",
    ),
    (
        "{{ .Machine.Type | upper }}",
        "ERR 1:19: executing \"template\" at <upper>: wrong type for value; expected string; got machine.Type",
    ),
    ("{{ ternary 1 2 .MachineConfig.MachineInstall.InstallWipe }}", "2"),
    (
        "{{ ternary 1 2 .MachineConfig.MachineInstall.InstallBootloader }}",
        "ERR 1:29: executing \"template\" at <.MachineConfig.MachineInstall.InstallBootloader>: dereference of nil pointer of type bool",
    ),
    (
        "{{ ternary 1 2 \"x\" }}",
        "ERR 1:15: executing \"template\" at <\"x\">: expected bool; found \"x\"",
    ),
    (
        "{{ trunc \"1\" \"abc\" }}",
        "ERR 1:9: executing \"template\" at <\"1\">: expected integer; found \"1\"",
    ),
    ("{{ trunc 1.0 \"abc\" }}", "a"),
    (
        "{{ trunc 1.5 \"abc\" }}",
        "ERR 1:9: executing \"template\" at <1.5>: expected integer; found 1.5",
    ),
    (
        "{{ trunc (add 1 1) \"abc\" }}",
        "ERR 1:16: executing \"template\" at <1>: wrong type for value; expected int; got int64",
    ),
    ("{{ trunc (int 2) \"abc\" }}", "ab"),
    ("{{ trunc 'a' \"b\" }}", "b"),
    (
        "{{ until (add 1 2) }}",
        "ERR 1:16: executing \"template\" at <2>: wrong type for value; expected int; got int64",
    ),
    (
        "{{ get \"x\" \"a\" }}",
        "ERR 1:7: executing \"template\" at <\"x\">: can't handle \"x\" for arg of type map[string]interface {}",
    ),
    ("{{ get nil \"a\" }}|", "|"),
    (
        "{{ get .MachineConfig.MachineNodeLabels \"a\" }}",
        "ERR 1:21: executing \"template\" at <.MachineConfig.MachineNodeLabels>: wrong type for value; expected map[string]interface {}; got map[string]string",
    ),
    (
        "{{ keys (dict \"a\" 1) 1 }}",
        "ERR 1:21: executing \"template\" at <1>: can't handle 1 for arg of type map[string]interface {}",
    ),
    (
        "{{ upper (first (list)) }}",
        "ERR 1:17: executing \"template\" at <list>: invalid value; expected string",
    ),
    ("{{ printf 1 }}", "ERR 1:10: executing \"template\" at <1>: expected string; found 1"),
    ("{{ atoi 1 }}", "ERR 1:8: executing \"template\" at <1>: expected string; found 1"),
    (
        "{{ and true (upper (1)) }}",
        "ERR 1:20: executing \"template\" at <1>: wrong type for value; expected string; got int",
    ),
    (
        "{{ or true (upper 1) }} {{ and false (upper 1) }} {{ 5 | or 3 (upper (1)) }}",
        "true false 3",
    ),
];

#[test]
fn what_is_no_function_takes_no_arguments() {
    check(&[
        (
            "{{ \"a\" | .ClusterConfig.ClusterName }}",
            "ERR 1:23: executing \"template\" at <.ClusterConfig.ClusterName>: ClusterName has arguments but cannot be invoked as function",
        ),
        (
            "{{ .ClusterConfig.ClusterName \"a\" }}",
            "ERR 1:17: executing \"template\" at <.ClusterConfig.ClusterName>: ClusterName has arguments but cannot be invoked as function",
        ),
        (
            "{{ .MachineConfig.MachineNodeLabels.one \"a\" }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineNodeLabels.one>: one is not a method but has arguments",
        ),
        (
            "{{ $x := 1 }}{{ \"a\" | $x }}",
            "ERR 1:22: executing \"template\" at <$x>: can't give argument to non-function $x",
        ),
        (
            "{{ \"a\" | (print) }}",
            "ERR 1:3: executing \"template\" at <\"a\">: can't give argument to non-function print",
        ),
        (
            "{{ 1 2 }}",
            "ERR 1:3: executing \"template\" at <1>: can't give argument to non-function 1",
        ),
        (
            "{{ \"a\" \"b\" }}",
            "ERR 1:3: executing \"template\" at <\"a\">: can't give argument to non-function \"a\"",
        ),
        (
            "{{ true 1 }}",
            "ERR 1:3: executing \"template\" at <true>: can't give argument to non-function true",
        ),
        (
            "{{ . 1 }}",
            "ERR 1:3: executing \"template\" at <.>: can't give argument to non-function .",
        ),
        (
            "{{ (1) 2 }}",
            "ERR 1:3: executing \"template\" at <(1) 2>: can't give argument to non-function 1",
        ),
        (
            "{{ (print \"a\") \"b\" }}",
            "ERR 1:3: executing \"template\" at <(print \"a\") \"b\">: can't give argument to non-function print \"a\"",
        ),
        (
            "{{ (dict).x \"b\" }}",
            "ERR 1:4: executing \"template\" at <dict>: x is not a method but has arguments",
        ),
        ("{{ nil }}", "ERR 1:3: executing \"template\" at <nil>: nil is not a command"),
        ("{{ $x := nil }}", "ERR 1:9: executing \"template\" at <nil>: nil is not a command"),
        ("{{ print (nil) }}", "ERR 1:10: executing \"template\" at <nil>: nil is not a command"),
    ]);
}

#[test]
fn fields_are_found_or_told() {
    check(&[
        (
            "{{ .ConfigVersion }} {{ $.ClusterConfig.ClusterName }} {{ .Machine.Type }} {{ .MachineConfig.Type }}",
            "v1alpha1 c1 worker worker",
        ),
        (
            "{{ .Foo }}",
            "ERR 1:3: executing \"template\" at <.Foo>: can't evaluate field Foo in type *v1alpha1.Config",
        ),
        (
            "{{ $.Foo }}",
            "ERR 1:4: executing \"template\" at <$.Foo>: can't evaluate field Foo in type *v1alpha1.Config",
        ),
        (
            "{{ $c := .ClusterConfig }}{{ $c.ClusterName }}{{ $c.Foo }}",
            "ERR 1:51: executing \"template\" at <$c.Foo>: can't evaluate field Foo in type *v1alpha1.ClusterConfig",
        ),
        (
            "{{ .MachineConfig.MachineNetwork }} {{ .MachineConfig.MachineInstall.InstallBootloader }} {{ .MachineConfig.MachineInstall.InstallWipe }}",
            "<nil> <nil> false",
        ),
        (
            "{{ .MachineConfig.MachineNetwork.NetworkHostname }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineNetwork.NetworkHostname>: nil pointer evaluating *v1alpha1.NetworkConfig.NetworkHostname",
        ),
        (
            "{{ .MachineConfig.MachineInstall.Foo }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineInstall.Foo>: can't evaluate field Foo in type *v1alpha1.InstallConfig",
        ),
        (
            "{{ .MachineConfig.MachineRegistries.Foo }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineRegistries.Foo>: can't evaluate field Foo in type v1alpha1.RegistriesConfig",
        ),
        (
            "{{ .ClusterConfig.ClusterName.Foo }}",
            "ERR 1:17: executing \"template\" at <.ClusterConfig.ClusterName.Foo>: can't evaluate field Foo in type string",
        ),
        (
            "{{ .MachineConfig.MachineInstall.InstallWipe.Foo }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineInstall.InstallWipe.Foo>: can't evaluate field Foo in type *bool",
        ),
        (
            "{{ .MachineConfig.MachineFeatures.KubePrismSupport.ServerPort.Foo }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineFeatures.KubePrismSupport.ServerPort.Foo>: can't evaluate field Foo in type int",
        ),
        (
            "{{ .MachineConfig.MachineCertSANs.Foo }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineCertSANs.Foo>: can't evaluate field Foo in type []string",
        ),
        (
            "{{ .MachineConfig.MachineNodeLabels.one.Foo }}",
            "ERR 1:17: executing \"template\" at <.MachineConfig.MachineNodeLabels.one.Foo>: can't evaluate field Foo in type string",
        ),
        (
            "{{ .MachineConfig.MachineNodeLabels.one }} {{ .MachineConfig.MachineNodeLabels.none }} {{ .MachineConfig.MachineNodeLabels.none.more }}",
            "1 <no value> <no value>",
        ),
        (
            "{{ (dict \"a\" (dict \"b\" 1)).a.b }} {{ (dict \"a\" (dict \"b\" 1)).a.c.d }} {{ (split \",\" \"a,b\")._1 }}",
            "1 <no value> b",
        ),
        (
            "{{ (print \"a\").Foo }}",
            "ERR 1:10: executing \"template\" at <\"a\">: can't evaluate field Foo in type string",
        ),
        (
            "{{ (list 1 2).x }}",
            "ERR 1:11: executing \"template\" at <2>: can't evaluate field x in type []interface {}",
        ),
        (
            "{{ list.x }}",
            "ERR 1:3: executing \"template\" at <list>: can't evaluate field x in type []interface {}",
        ),
        (
            "{{ .ClusterConfig.ControlPlane.Endpoint }} {{ .ClusterConfig.ControlPlane.Endpoint.Host }} {{ .ClusterConfig.ControlPlane.Endpoint.Hostname }} {{ .ClusterConfig.ControlPlane.Endpoint.Port }}",
            "https://[fd00::1]:6443 [fd00::1]:6443 fd00::1 6443",
        ),
        (
            "{{ .ClusterConfig.ControlPlane.Endpoint.Foo }}",
            "ERR 1:17: executing \"template\" at <.ClusterConfig.ControlPlane.Endpoint.Foo>: can't evaluate field Foo in type *v1alpha1.Endpoint",
        ),
    ]);
}

#[test]
fn branches_and_loops_go_where_go_goes() {
    check(&[
        ("{{ if false }}a{{ else if 0 }}b{{ else }}c{{ end }}", "c"),
        ("{{ if(true) }}a{{ else if(true) }}b{{end}}", "a"),
        ("{{ with \"\" }}a{{ else with 2 }}b{{ . }}{{ end }}", "b2"),
        ("{{ with $x := 5 }}{{ $x }}{{ . }}{{ end }}", "55"),
        (
            "{{ with .ClusterConfig }}{{ $.ConfigVersion }} {{ .ClusterName }}{{ end }}",
            "v1alpha1 c1",
        ),
        (
            "{{ if .MachineConfig.MachineInstall.InstallWipe }}y{{ end }}{{ if .MachineConfig.MachineInstall.InstallBootloader }}y{{ else }}n{{ end }}",
            "yn",
        ),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}", "2"),
        ("{{ $x = 1 }}", "ERR 1:8: executing \"template\" at <1>: undefined variable: $x"),
        ("{{ range .MachineConfig.MachineCertSANs }}{{ . }}{{ break }}x{{ end }}", "a.lan"),
        ("{{ range .MachineConfig.MachineCertSANs }}{{ continue }}{{ . }}{{ end }}|", "|"),
        (
            "{{ range .MachineConfig.MachineCertSANs }}{{ if true }}{{ break }}{{ end }}x{{ end }}|",
            "|",
        ),
        (
            "{{ range .MachineConfig.MachineCertSANs }}{{ range list }}{{ else }}{{ break }}{{ end }}x{{ end }}|",
            "xx|",
        ),
        (
            "{{ range .MachineConfig.MachineCertSANs }}{{ range list }}{{ else }}{{ continue }}{{ end }}x{{ end }}|",
            "|",
        ),
        (
            "{{ range 3 }}{{ . }}{{ end }} {{ range $i := 3 }}{{ $i }}{{ end }} {{ range (add 1 2) }}{{ . }}{{ end }}",
            "012 012 012",
        ),
        (
            "{{ range -2 }}{{ . }}{{ else }}e{{ end }} {{ range .MachineConfig.MachineNodeLabels.none }}a{{ else }}b{{ end }}",
            "e b",
        ),
        (
            "{{ range $i, $j := 3 }}{{ $i }}{{ end }}",
            "ERR 1:19: executing \"template\" at <3>: can't use 3 to iterate over more than one variable",
        ),
        (
            "{{ range \"abc\" }}{{ . }}{{ end }}",
            "ERR 1:9: executing \"template\" at <\"abc\">: range can't iterate over abc",
        ),
        (
            "{{ range nil }}{{ . }}{{ end }}",
            "ERR 1:9: executing \"template\" at <nil>: nil is not a command",
        ),
        (
            "{{ range .MachineConfig.MachineNetwork }}a{{ else }}b{{ end }}",
            "ERR 1:23: executing \"template\" at <.MachineConfig.MachineNetwork>: range can't iterate over <nil>",
        ),
        (
            "{{ range .MachineConfig.MachineInstall.InstallWipe }}{{ end }}",
            "ERR 1:23: executing \"template\" at <.MachineConfig.MachineInstall.InstallWipe>: range can't iterate over false",
        ),
        (
            "{{ range print 1 }}{{ . }}{{ end }}",
            "ERR 1:15: executing \"template\" at <1>: range can't iterate over 1",
        ),
        (
            "{{ range $k, $v := .MachineConfig.MachineNodeLabels }}{{ $k }}={{ $v }} {{ end }}",
            "one=1 zone=z ",
        ),
        ("{{ range $v := .MachineConfig.MachineNodeLabels }}{{ $v }} {{ end }}", "1 z "),
        (
            "{{ range $i, $x := .MachineConfig.MachineCertSANs }}{{ if $i }}, {{ end }}{{ $x }}{{ end }}",
            "a.lan, b.lan",
        ),
        ("{{ range $x := list }}a{{ else }}{{ $x }}{{ end }}", "[]"),
        ("{{ $x := 0 }}{{ range $x = .MachineConfig.MachineCertSANs }}{{ end }}{{ $x }}", "b.lan"),
        (
            "{{ and 1 0 2 }} {{ and 1 2 }} {{ or 0 \"\" }} {{ or 0 \"x\" }} {{ 0 | and 1 }} {{ 5 | or 0 }} {{ and nil 1 }}",
            "0 2  x 0 5 <no value>",
        ),
        (
            "{{ . | len }}",
            "ERR 1:7: executing \"template\" at <len>: error calling len: len of type v1alpha1.Config",
        ),
        ("{{ \"a\" | print | }}", "a"),
        (
            "{{ (index .MachineConfig.MachineCertSANs 0) | upper }} {{ (print \"a\" | upper) }}",
            "A.LAN A",
        ),
        (
            "{{ .MachineConfig.MachineInstall.InstallImage | splitList \":\" | last }} {{ len (print 1 2) | add 1 | printf \"%03d\" }}",
            "v1.13.0 004",
        ),
        (
            "{{ if and (eq .MachineConfig.MachineType \"worker\") (not (empty .ClusterConfig.ClusterName)) }}y{{ end }}",
            "y",
        ),
    ]);
}
