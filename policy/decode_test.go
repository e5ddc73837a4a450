package policy

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Decode_Reads_Every_Key(t *testing.T) {
	const text = `{
  // a comment
  "$schema": "x",
  "backend": "bwrap",
  "network": {"allow": ["a.b",
    "GET https://c.d/e/**"], "deny": ["f.g"], "private_hosts": ["h.i"], "inspect": ["j.k"], "publish": ["80"], "any": true, "ca": "x.pem",
    "upstream": "http://p:1"}, /* another */
  "docker": false, "userns": true, "debuggers": true,
  "filesystem": {
    "presets": ["!@agents", "@lint/go", "@git-strict"],
    "ro": ["/srv", "a\nb"],
    "rw": ["~/x"], "exclude": [
      ".env*",
    ], "sockets": ["/run/x"],
  },
  "commands": {"git": true, "npm": "./w.sh", "rm": false, "g++": false},
  "secrets": {"T": {"from_env": "A", "env": "B", "file": "c", "hosts": ["d.e"], "header": "F"},
    "U": {"from_file": "a", "hosts": ["d.e"]}, "V": {"from_command": ["a", "b"], "hosts": ["d.e"]}},
  "env": {"pass": ["GH_*"], "deny": ["*"], "set": {"A": ""}},
  "limits": {"wall": "1m", "output": 7, "memory": "2gb", "tmp": "64k", "file": "1m", "pids": 3, "cpu": 0.5},
} // the end, without a newline`
	p, lines, err := Decode("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	want := sandbox.Policy{
		Schema: "x", Backend: "bwrap", Network: sandbox.Network{
			Mode: sandbox.NetworkAllow, Allow: []string{"a.b", "GET https://c.d/e/**"}, Deny: []string{"f.g"}, PrivateHosts: []string{"h.i"},
			Inspect: []string{"j.k"}, Publish: []string{"80"}, Any: true, CA: "x.pem", Upstream: "http://p:1",
		}, Docker: &no, Userns: &yes, Debuggers: &yes,
		Filesystem: sandbox.Filesystem{
			Presets: []string{"!@agents", "@lint/go", "@git-strict"},
			RO:      []string{"/srv", "a\nb"}, RW: []string{"~/x"}, Exclude: []string{".env*"}, Sockets: []string{"/run/x"},
		},
		Commands: map[string]sandbox.CommandRule{"git": "true", "npm": "./w.sh", "rm": "false", "g++": "false"},
		Secrets: map[string]sandbox.Secret{
			"T": {FromEnv: "A", Env: "B", File: "c", Hosts: []string{"d.e"}, Header: "F"},
			"U": {FromFile: "a", Hosts: []string{"d.e"}}, "V": {FromCommand: []string{"a", "b"}, Hosts: []string{"d.e"}},
		},
		Env:    sandbox.Env{Pass: []string{"GH_*"}, Deny: []string{"*"}, Set: map[string]string{"A": ""}},
		Limits: sandbox.Limits{Wall: 60e9, Output: 7, Memory: 2 << 30, Tmp: 64 << 10, File: 1 << 20, Pids: 3, CPU: 0.5},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	for key, line := range map[string]int{
		"$schema": 3, "network": 5, "network.allow": 5, "network.allow[1]": 6, "network.ca": 6, "network.upstream": 7, "debuggers": 8,
		"filesystem": 9, "filesystem.presets[2]": 10, "filesystem.ro[1]": 11, "filesystem.exclude[0]": 13, "filesystem.sockets[0]": 14,
		"commands.g++": 16, "secrets.T": 17, "secrets.U.hosts[0]": 18, "secrets.V.from_command[1]": 18, "env.set.A": 19, "limits.cpu": 20,
	} {
		if lines[key] != line {
			t.Errorf("%s is on line %d, want %d", key, lines[key], line)
		}
	}
}

// badConfigs are mistakes with the whole message and hint for each.
var badConfigs = []struct{ name, text, want, hint string }{
	{"an empty file is not an empty policy", "", "f:1: found an empty file, expected an object such as {}", ""},
	{"nor is one of white space", " \n\t\n", "f:1: found an empty file, expected an object such as {}", ""},
	{"a comment alone has no value", "// x\n", "f:2: found broken JSON (parsing value met the end of the file), expected an object", ""},
	{"a byte order mark is named", "\ufeff{}", "f:1: found a byte order mark, expected an object", ""},
	{"invalid UTF-8 has a line", "{\n\"backend\": \"\xff\"}", "f:2: found invalid UTF-8, expected UTF-8 text", ""},
	{"the top is an array", "[]", "f:1: found an array, expected an object", ""},
	{"the top is a string", `"x"`, `f:1: found "x", expected an object`, ""},
	{"the top is null", "null", "f:1: found null, expected an object", ""},
	{"a second object follows", "{}\n{}", "f:2: found broken JSON (invalid character '{' after top-level value), expected an object", ""},
	{"the file was cut", "{\n\"network\": ", "f:2: found broken JSON (parsing value met the end of the file), expected an object", ""},
	{"a comma is missing", "{\"docker\": true\n\"userns\": true}", "f:2: found broken JSON (invalid character '\"' after object value (expecting ',' or '}')), expected an object", ""},
	{"a string has a raw newline", "{\"backend\": \"a\nb\"}", `f:1: found broken JSON (invalid literal "\"a\nb\""), expected an object`, ""},
	{"a string is not closed", "{\"a", "f:1: found broken JSON (parsing string met the end of the file), expected an object", ""},
	{"a word is not JSON", "{\"docker\": yes}", `f:1: found broken JSON (invalid literal "yes"), expected an object`, ""},
	{"brackets are nested without end", strings.Repeat("[", MaxConfig), "f:1: found more than 64 brackets inside each other, expected at most 4", ""},
	{"so are objects", strings.Repeat(`{"a":`, 65) + "\n", "f:1: found more than 64 brackets inside each other, expected at most 4", ""},
	{"the file is too large", "{}" + strings.Repeat(" ", MaxConfig), "f:1: found more than 1MiB, expected a smaller file", ""},

	{"a key is misspelled", "{\n\"netwrok\": \"none\"}", "f:2: netwrok: found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants", `did you mean "network"?`},
	{"a key has another case", `{"Docker": true}`, "f:1: Docker: found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants", `did you mean "docker"?`},
	{"a key belongs elsewhere", `{"ro": []}`, "f:1: ro: found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants", `did you mean "filesystem.ro"?`},
	{"a nested key is misspelled", "{\"filesystem\": {\n\"exlude\": []}}", "f:2: filesystem.exlude: found an unknown key, expected one of presets, ro, rw, exclude, sockets, tmp", `did you mean "exclude"?`},
	{"a key resembles nothing", `{"limits": {"colour": 1}}`, "f:1: limits.colour: found an unknown key, expected one of wall, output, memory, tmp, file, disk, nodes, pids, cpu", ""},
	{"a key writes a line of its own", `{"a\nb": 1}`, `f:1: "a\nb": found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants`, ""},
	{"a key stands twice", "{\"docker\": true,\n\"docker\": false}", "f:2: docker: found a second time, expected once (first on line 1)", ""},
	{"a key stands twice in another spelling", `{"env": {"set": {"A": "1", "\u0041": "2"}}}`, "f:1: env.set.A: found a second time, expected once (first on line 1)", ""},
	{"null is no value", `{"docker": null}`, "f:1: docker: found null, expected true or false", ""},
	{"null is no text", `{"backend": null}`, "f:1: backend: found null, expected a string", ""},
	{"null is no list", `{"filesystem": {"ro": null}}`, "f:1: filesystem.ro: found null, expected an array of strings", ""},
	{"a boolean is written as text", `{"docker": "true"}`, `f:1: docker: found "true", expected true or false`, ""},
	{"a list is written as text", `{"filesystem": {"ro": "/x"}}`, `f:1: filesystem.ro: found "/x", expected an array of strings`, ""},
	{"a list has a number", "{\"filesystem\": {\"ro\": [\"/x\",\n 3]}}", "f:2: filesystem.ro[1]: found 3, expected a string", ""},
	{"a section is a list", `{"env": []}`, "f:1: env: found an array, expected an object", ""},
	{"half a character is refused", `{"filesystem": {"ro": ["a\ud800b"]}}`, `f:1: filesystem.ro[0]: found half of a surrogate pair in "\"a\\ud800b\"", expected a whole character`, ""},

	{"a backend is unknown", `{"backend": "bwarp"}`, `f:1: backend: found "bwarp", expected one of virtual, bwrap, docker, kube`, `did you mean "bwrap"?`},
	{"a backend is empty", `{"backend": ""}`, `f:1: backend: found "", expected one of virtual, bwrap, docker, kube`, ""},
	{"a network is unknown", `{"network": "internet"}`, `f:1: network: found "internet", expected "none", "host", true, false or an object such as {"allow": ["example.com"]}`, ""},
	{"a network is a list", `{"network": ["example.com"]}`, `f:1: network: found an array, expected "none", "host", true, false or an object such as {"allow": ["example.com"]}`, ""},
	{"a network is null", `{"network": null}`, `f:1: network: found null, expected "none", "host", true, false or an object such as {"allow": ["example.com"]}`, ""},
	{"a mode inside a network", `{"network": {"-": "host"}}`, `f:1: network.-: found an unknown key, expected one of allow, deny, private_hosts, inspect, publish, any, ca, upstream`, ""},
	{"a list of a network is misspelled", "{\"network\": {\n\"alow\": []}}", `f:2: network.alow: found an unknown key, expected one of allow, deny, private_hosts, inspect, publish, any, ca, upstream`, `did you mean "allow"?`},
	{"a rule of a network is a number", "{\"network\": {\"allow\": [\"a.b\", \"c.d\",\n 7]}}", `f:2: network.allow[2]: found 7, expected a string`, ""},
	{"a list of a network stands outside", `{"allow": []}`, `f:1: allow: found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants`, `did you mean "network.allow"?`},
	{"a key of a secret is misspelled", "{\"secrets\": {\"A\": {\n\"host\": []}}}", `f:2: secrets.A.host: found an unknown key, expected one of from_env, from_file, from_command, env, file, hosts, header`, `did you mean "hosts"?`},
	{"a secret is its value", `{"secrets": {"A": "hunter2"}}`, `f:1: secrets.A: found "hunter2", expected an object`, ""},
	{"a rule is no host", "{\"network\": {\"allow\": [\"a.b\",\n\"*.c.d\", \"e f.g\"]}}", `f:2: network.allow[2]: rule "e f.g": "e" is not an HTTP method in upper case`, ""},
	{"a rule is empty", `{"network": {"deny": [""]}}`, `f:1: network.deny[0]: rule "": it is empty`, ""},
	{"a rule has a wrong scheme", `{"network": {"allow": ["ftp://a.b"]}}`, `f:1: network.allow[0]: rule "ftp://a.b": the scheme "ftp" is not http, https or tcp`, ""},
	{"a rule has port 0", `{"network": {"allow": ["a.b:0"]}}`, `f:1: network.allow[0]: rule "a.b:0": "0" is not a port`, ""},
	{"a private host is an address", `{"network": {"private_hosts": ["10.0.0.1"]}}`, `f:1: network.private_hosts[0]: rule "10.0.0.1": only a name or *.name may stand here`, ""},
	{"an inspected host has a port", "{\"network\": {\n\"inspect\": [\"a.b:443\"]}}", `f:2: network.inspect[0]: rule "a.b:443": only a name or *.name may stand here`, ""},
	{"a list of a network has too many rules", `{"network": {"deny": ["x"` + strings.Repeat(`,"x"`, 4096) + `]}}`, `f:1: network.deny: found 4097 entries, expected at most 4096`, ""},
	{"a published port is 0", `{"network": {"publish": ["80", "0"]}}`, `f:1: network.publish[1]: found "0", expected PORT or HOSTPORT:PORT, each from 1 to 65535`, ""},
	{"a published port is too large", `{"network": {"publish": ["8080:65536"]}}`, `f:1: network.publish[0]: found "8080:65536", expected PORT or HOSTPORT:PORT, each from 1 to 65535`, ""},
	{"a published port has an address", `{"network": {"publish": ["0.0.0.0:80:80"]}}`, `f:1: network.publish[0]: found "0.0.0.0:80:80", expected PORT or HOSTPORT:PORT, each from 1 to 65535`, ""},
	{"a published port has a leading zero", `{"network": {"publish": ["080"]}}`, `f:1: network.publish[0]: found "080", expected PORT or HOSTPORT:PORT, each from 1 to 65535`, ""},
	{"a published port is given twice", "{\"network\": {\"publish\": [\"80\",\n\"80:8080\"]}}", `f:2: network.publish[1]: found port 80 of the host a second time, expected it once`, ""},
	{"a CA is empty", `{"network": {"ca": ""}}`, `f:1: network.ca: found "", expected "ephemeral" or the path of a PEM file`, ""},
	{"an upstream proxy speaks TLS, and its password is not told", `{"network": {"upstream": "https://u:hunter2@p:1"}}`, `f:1: network.upstream: found another address, expected http://[USER:PASSWORD@]HOST:PORT`, ""},
	{"an upstream proxy has a path", `{"network": {"upstream": "http://p:1/x"}}`, `f:1: network.upstream: found another address, expected http://[USER:PASSWORD@]HOST:PORT`, ""},
	{"an upstream proxy has a wrong port", `{"network": {"upstream": "http://p:99999"}}`, `f:1: network.upstream: found another address, expected http://[USER:PASSWORD@]HOST:PORT`, ""},
	{"an upstream proxy is empty", `{"network": {"upstream": ""}}`, `f:1: network.upstream: found another address, expected http://[USER:PASSWORD@]HOST:PORT`, ""},

	{"a secret has no hosts", "{\"secrets\": {\n\"A\": {}}}", `f:2: secrets.A: found no hosts, expected those that get the value`, ""},
	{"a secret's host has a path", "{\"secrets\": {\"A\": {\"hosts\": [\"a.b\",\n\"c.d/**\"]}}}", `f:2: secrets.A.hosts[1]: "c.d/**": a secret is bound to https or http hosts, without methods and paths`, ""},
	{"a secret's host has a method", `{"secrets": {"A": {"hosts": ["GET c.d"]}}}`, `f:1: secrets.A.hosts[0]: "GET c.d": a secret is bound to https or http hosts, without methods and paths`, ""},
	{"a secret's host is not looked at", `{"secrets": {"A": {"hosts": ["tcp://c.d:1"]}}}`, `f:1: secrets.A.hosts[0]: "tcp://c.d:1": a secret is bound to https or http hosts, without methods and paths`, ""},
	{"a secret goes everywhere", `{"secrets": {"A": {"hosts": ["*"]}}}`, `f:1: secrets.A.hosts[0]: "*": it allows every host; say that any host is meant, or name it`, ""},
	{"a secret's host is none", `{"secrets": {"A": {"hosts": ["a@b.c"]}}}`, `f:1: secrets.A.hosts[0]: "a@b.c": it has user information`, ""},
	{"a secret has two sources", "{\"secrets\": {\"A\": {\"hosts\": [\"a.b\"], \"from_env\": \"B\",\n\"from_file\": \"c\"}}}", `f:2: secrets.A.from_file: found from_env and from_file, expected one of them`, ""},
	{"a secret's command is empty", `{"secrets": {"A": {"hosts": ["a.b"], "from_command": []}}}`, `f:1: secrets.A.from_command: found nothing in it, expected where the value comes from`, ""},
	{"a secret's program is empty, and its arguments are not told", `{"secrets": {"A": {"hosts": ["a.b"], "from_command": ["", "hunter2"]}}}`, `f:1: secrets.A.from_command: found an empty program or a NUL character, expected a program and its arguments`, ""},
	{"a secret's file is empty", `{"secrets": {"A": {"hosts": ["a.b"], "file": ""}}}`, `f:1: secrets.A.file: found "", expected a path`, ""},
	{"a secret's name is no variable", `{"secrets": {"my token": {"hosts": ["a.b"]}}}`, `f:1: secrets.my token: found "my token", expected a variable's name that is not the sandbox's own, or env or file`, ""},
	{"a secret's name is no source", `{"secrets": {"my token": {"hosts": ["a.b"], "env": "A"}}}`, `f:1: secrets.my token: found "my token", expected a variable's name that is not the sandbox's own, or env or file`, ""},
	{"a secret has no name", `{"secrets": {"": {"hosts": ["a.b"], "file": "x"}}}`, `f:1: secrets.: found "", expected a name`, ""},
	{"a placeholder would be the PATH", `{"secrets": {"A": {"hosts": ["a.b"], "env": "PATH"}}}`, `f:1: secrets.A.env: found "PATH", expected a variable's name that is not the sandbox's own`, ""},
	{"a placeholder would be the proxy", `{"secrets": {"https_proxy": {"hosts": ["a.b"]}}}`, `f:1: secrets.https_proxy: found "https_proxy", expected a variable's name that is not the sandbox's own, or env or file`, ""},
	{"a placeholder would be loaded", `{"secrets": {"A": {"hosts": ["a.b"], "env": "LD_PRELOAD"}}}`, `f:1: secrets.A.env: found "LD_PRELOAD", expected a variable's name that is not the sandbox's own`, ""},
	{"a header is no field's name", `{"secrets": {"A": {"hosts": ["a.b"], "header": "a:b"}}}`, `f:1: secrets.A.header: found "a:b", expected the name of a header field`, ""},

	{"a preset lacks its @", `{"filesystem": {"presets": ["base"]}}`, `f:1: filesystem.presets[0]: found "base", expected "@name" or "!@name"`, ""},
	{"a path is empty", `{"filesystem": {"rw": [""]}}`, `f:1: filesystem.rw[0]: found "", expected a path`, ""},
	{"a mode of tmp", `{"filesystem": {"tmp": "always"}}`, "f:1: filesystem.tmp: found \"always\", expected fresh or keep", ""},
	{"an empty mode of tmp", `{"filesystem": {"tmp": ""}}`, "f:1: filesystem.tmp: found \"\", expected fresh or keep", ""},
	{"a path has a NUL", `{"filesystem": {"sockets": ["a\u0000b"]}}`, `f:1: filesystem.sockets[0]: found "a\x00b", expected a path`, ""},

	{"a rule is a number", `{"commands": {"rm": 1}}`, `f:1: commands.rm: found 1, expected true, false, "@preset" or the path of a script`, ""},
	{"a rule is null", `{"commands": {"rm": null}}`, `f:1: commands.rm: found null, expected true, false, "@preset" or the path of a script`, ""},
	{"a rule is empty", `{"commands": {"rm": ""}}`, `f:1: commands.rm: found "", expected true, false, "@preset" or the path of a script`, ""},
	{"a preset is unknown", `{"commands": {"git": "@gti"}}`, `f:1: commands.git: found the unknown preset "@gti", expected "@git"`, `did you mean "@git"?`},
	{"a preset is for another command", `{"commands": {"npm": "@git"}}`, `f:1: commands.npm: found @git, which is only for git, expected true, false or the path of a script`, ""},
	{"a command has a directory", `{"commands": {"/bin/rm": false}}`, `f:1: commands./bin/rm: found "/bin/rm", expected the name of a command without a directory`, ""},
	{"a command is nameless", `{"commands": {"": false}}`, `f:1: commands.: found "", expected the name of a command without a directory`, ""},
	{"a command is an option", `{"commands": {"-x": false}}`, `f:1: commands.-x: found "-x", expected the name of a command without a directory`, ""},
	{"a command is a directory", `{"commands": {"..": false}}`, `f:1: commands...: found "..", expected the name of a command without a directory`, ""},
	{"a command has a newline", `{"commands": {"a\nb": false}}`, `f:1: "commands.a\nb": found "a\nb", expected the name of a command without a directory`, ""},

	{"a pattern is in the middle", `{"env": {"pass": ["A*B"]}}`, `f:1: env.pass[0]: found "A*B", expected a variable's name, or its beginning and *`, ""},
	{"a pattern is empty", `{"env": {"deny": [""]}}`, `f:1: env.deny[0]: found "", expected a variable's name, or its beginning and *`, ""},
	{"a variable has a sign", `{"env": {"deny": ["A=B"]}}`, `f:1: env.deny[0]: found "A=B", expected a variable's name, or its beginning and *`, ""},
	{"a pattern is set", `{"env": {"set": {"A*": "x"}}}`, `f:1: env.set.A*: found "A*", expected a variable's name`, ""},
	{"a value has a NUL", `{"env": {"set": {"A": "\u0000"}}}`, "f:1: env.set.A: found a NUL character, expected a value without", ""},
	{"a value is a number", `{"env": {"set": {"A": 1}}}`, "f:1: env.set.A: found 1, expected a string", ""},

	{"a duration has no unit", `{"limits": {"wall": "90"}}`, `f:1: limits.wall: found "90", expected a positive duration such as "90s" or "10m"`, ""},
	{"a duration is a number", `{"limits": {"wall": 90}}`, `f:1: limits.wall: found 90, expected a positive duration such as "90s" or "10m"`, ""},
	{"a duration is negative", `{"limits": {"wall": "-1s"}}`, `f:1: limits.wall: found "-1s", expected a positive duration such as "90s" or "10m"`, ""},
	{"a size has a wrong unit", `{"limits": {"memory": "4xyz"}}`, `f:1: limits.memory: found "4xyz", expected a positive size such as "512MiB"`, ""},
	{"a size is zero", `{"limits": {"tmp": 0}}`, `f:1: limits.tmp: found 0, expected a positive size such as "512MiB"`, ""},
	{"a size overflows", `{"limits": {"output": "9223372036854775807T"}}`, `f:1: limits.output: found "9223372036854775807T", expected a positive size such as "512MiB"`, ""},
	{"a file's size is no size", `{"limits": {"file": "4xyz"}}`, `f:1: limits.file: found "4xyz", expected a positive size such as "512MiB"`, ""},
	{"a reserved size is zero", `{"requests": {"memory": 0}}`, `f:1: requests.memory: found 0, expected a positive size such as "512MiB"`, ""},
	{"reserved processors are zero", `{"requests": {"cpu": 0}}`, "f:1: requests.cpu: found 0, expected a number of processors from 0.01 to 65536", ""},
	{"a count is zero", `{"limits": {"pids": 0}}`, "f:1: limits.pids: found 0, expected a whole number of at least 1", ""},
	{"a count is negative", `{"limits": {"pids": -4}}`, "f:1: limits.pids: found -4, expected a whole number of at least 1", ""},
	{"a count is half", `{"limits": {"pids": 1.5}}`, "f:1: limits.pids: found 1.5, expected a whole number of at least 1", ""},
	{"a count overflows", `{"limits": {"pids": 99999999999999999999}}`, "f:1: limits.pids: found 99999999999999999999, expected a whole number of at least 1", ""},
	{"processors are zero", `{"limits": {"cpu": 0}}`, "f:1: limits.cpu: found 0, expected a number of processors from 0.01 to 65536", ""},
	{"processors are too many", `{"limits": {"cpu": 1e300}}`, "f:1: limits.cpu: found 1e+300, expected a number of processors from 0.01 to 65536", ""},
	{"processors are text", `{"limits": {"cpu": "2"}}`, `f:1: limits.cpu: found "2", expected a positive number`, ""},
	{"long content is cut", `{"backend": "` + strings.Repeat("é", 50) + `"}`, `f:1: backend: found "` + strings.Repeat("é", 30) + `"..., expected one of virtual, bwrap, docker, kube`, ""},
}

func Test_Decode_Refuses_With_One_Line(t *testing.T) {
	for _, c := range badConfigs {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Decode("f", []byte(c.text))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if err.Error() != c.want {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if !errors.Is(err, sandbox.ErrInvalid) {
				t.Errorf("code is %s", sandbox.CodeOf(err))
			}
			if got := sandbox.HintOf(err); got != c.hint {
				t.Errorf("hint is %q, want %q", got, c.hint)
			}
		})
	}
}

func Test_Decode_Accepts_Every_Valid_Form(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"an empty object", "{}"},
		{"empty sections", `{"filesystem": {}, "commands": {}, "env": {"set": {}}, "limits": {}}`},
		{"a whole surrogate pair", `{"filesystem": {"ro": ["\ud83d\ude00"]}}`},
		{"an escaped backslash before u", `{"filesystem": {"ro": ["\\ud800"]}}`},
		{"brackets in strings and comments", `{"backend": "bwrap" /* ` + strings.Repeat("[", 100) + ` */, // ` + strings.Repeat("{", 100) + "\n" + `"$schema": "\"` + strings.Repeat("[", 100) + `"}`},
		{"a comment up to the end", "{}// x"},
		{"an unusual variable", `{"env": {"set": {"ProgramFiles(x86)": "1"}}}`},
		{"every variable", `{"env": {"pass": ["*"]}}`},
		{"an allow-list of nothing", `{"network": {}}`},
		{"rules that need a CA and any host, which other layers may bring", `{"network": {"allow": ["*", "GET https://a.b/c"], "inspect": ["d.e"]}}`},
		{"an upstream proxy with a login", `{"network": {"upstream": "http://u:p@h:3128/"}}`},
		{"a secret called as people talk", `{"secrets": {"the npm token": {"from_command": ["pass", "npm"], "file": "~/.npmrc", "hosts": ["*.a.b:8443", "http://c"]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := Decode("f", []byte(c.text)); err != nil {
				t.Error(err)
			}
		})
	}
}

func Test_Decode_Names_A_File_On_One_Line(t *testing.T) {
	_, _, err := Decode("/a\nb/c.json", []byte("[]"))
	if want := `"/a\nb/c.json":1: found an array, expected an object`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range badConfigs {
		if len(c.text) < 4096 {
			f.Add([]byte(c.text))
		}
	}
	var schema struct{ Examples []json.RawMessage }
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		f.Fatal(err)
	}
	for _, e := range schema.Examples {
		f.Add([]byte(e))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, lines, err := Decode("f", data)
		if err != nil {
			if strings.ContainsFunc(err.Error(), unicode.IsControl) || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("message %q", err)
			}
			if !errors.Is(err, sandbox.ErrInvalid) {
				t.Errorf("code %s", sandbox.CodeOf(err))
			}
			return
		}
		last := 1 + strings.Count(string(data), "\n")
		for key, line := range lines {
			if line < 1 || line > last {
				t.Errorf("%s is on line %d of %d", key, line, last)
			}
		}
		once, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Decode("f", once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Errorf("%s became %s (%v)", once, twice, err)
		}
	})
}
