//go:build linux

package network_test

import (
	"strings"
	"testing"
)

// If rules inspect TLS, clients must trust the sandbox's authority, which only environment
// variables name.
func Test_Clients_Trust_The_Authority_That_Opens_TLS(t *testing.T) {
	available(t)
	for _, row := range []struct {
		name, rule, script, want string
		needs                    func(t *testing.T) []string
	}{
		{name: "curl", rule: "GET https://allowed.test/pub/**", script: `curl -sS https://allowed.test/pub/x`, want: "hello from allowed.test"},
		{name: "git", rule: "GET,POST https://git.test/hello.git/**", script: `git clone -q https://git.test/hello.git /tmp/hello && cat /tmp/hello/README`, want: "hello from git"},
		{
			name: "python", rule: "GET https://allowed.test/pub/**", want: "hello from allowed.test",
			script: `/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen("https://allowed.test/pub/x").read().decode())'`,
		},
		{
			name: "node", rule: "GET https://allowed.test/pub/**", want: "hello from allowed.test", needs: node,
			script: `"$1" -e 'fetch("https://allowed.test/pub/x").then(r => r.text()).then(console.log)'`,
		},
		{
			name: "npm", rule: "GET https://npm.test/**", want: "hello from npm",
			script: `export npm_config_cache=$PWD/.npm npm_config_registry=https://npm.test/ npm_config_fetch_retries=0
				npm install --no-audit --no-fund --no-update-notifier hello-test && node -p "require('hello-test')"`,
		},
		{
			name: "pip", rule: "GET https://pypi.test/**", want: "hello from pypi", needs: pip,
			script: `export PIP_RETRIES=0
				/usr/bin/python3 "$1/pip" install -q --no-cache-dir --disable-pip-version-check --index-url https://pypi.test/simple/ --target lib hello-test
				PYTHONPATH=lib /usr/bin/python3 -c 'import hello_test; print(hello_test.text)'`,
		},
		{
			name: "go", rule: "GET https://goproxy.test/**", want: "hello from go", needs: goTool,
			script: `export PATH=$1:$PATH GOPROXY=https://goproxy.test GOSUMDB=off GOTOOLCHAIN=local GOPATH=$PWD/gopath GOCACHE=$PWD/gocache GOFLAGS=-modcacherw GOENV=off
				mkdir m; cd m; printf 'module m\n\ngo 1.20\n\nrequire hello.test/hello v1.0.0\n' >go.mod
				go mod download hello.test/hello && grep -o 'hello from go' ../gopath/pkg/mod/hello.test/hello@v1.0.0/hello.go`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var args []string
			if row.needs != nil {
				args = row.needs(t)
			}
			h := newHost(t, internet.PlainUID)
			internet.Take()
			got := h.exec(t, []string{"--ca", "ephemeral", "--allow", row.rule}, row.script, args...)
			if got.code != 0 || !strings.Contains(got.stdout, row.want) {
				t.Error(got)
			}
		})
	}
}

func Test_Requests_Inside_TLS_Must_Match_The_Rules(t *testing.T) {
	available(t)
	for _, row := range []struct{ name, script, reason string }{
		{"another method", `curl -sS -X POST https://allowed.test/pub/x`, "no rule for allowed.test allows"},
		{"another path", `curl -sS https://allowed.test/private`, "no rule for allowed.test allows"},
		{"a path that leads out", `curl -sS --path-as-is https://allowed.test/pub/../private`, ""},
		{"an encoded path that leads out", `curl -sS --path-as-is https://allowed.test/pub/%2e%2e/private`, ""},
		{"another host inside", `curl -sS -H 'Host: denied.test' https://allowed.test/pub/x`, "is not the host that was asked for"},
		{"another name for TLS", `curl -sSk --connect-to denied.test:443:allowed.test:443 https://denied.test/pub/x`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHost(t, internet.PlainUID)
			internet.Take()
			got := h.exec(t, []string{"--ca", "ephemeral", "--allow", "GET https://allowed.test/pub/**"}, row.script)
			if strings.Contains(got.stdout, "hello") || !strings.Contains(got.stdout+got.stderr, row.reason) || !strings.Contains(got.stderr, "refused") {
				t.Errorf("it is not refused: %v", got)
			}
			onlyAt(t, internet.Take())
		})
	}
}
