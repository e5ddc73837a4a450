//go:build linux

package network_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/network"
)

// client is a real program that connects to one host.
type client struct {
	name    string
	host    string // HOST:PORT, the only address that the command inside needs
	rule    string // the rule that allows it; "": the host
	script  string // of bash
	want    string // its output when it reaches the host
	mute    bool   // it does not show the proxy's reason; the summary of agent-sandbox does
	needs   func(t *testing.T) []string
	program string // a program that the script needs, if needs is nil; without it the test is skipped
}

// clients are programs that users and agents run. ssh gets its known host and key as options, because a sandbox does not see
// the configuration of the user.
var clients = []client{
	{name: "curl with http", host: "allowed.test:80", script: `curl -sS --fail-with-body http://allowed.test/`, want: "hello from allowed.test"},
	{name: "curl with https", host: "allowed.test:443", script: `curl -sS https://allowed.test/`, want: "hello from allowed.test", mute: true},
	{name: "curl to another port", host: "allowed.test:8443", rule: "allowed.test:8443", script: `curl -sS https://allowed.test:8443/`, want: "hello from allowed.test:8443", mute: true},
	{name: "curl to a subdomain", host: "wild.allowed.test:443", rule: "*.allowed.test", script: `curl -sS https://wild.allowed.test/`, want: "hello from wild", mute: true},
	{name: "curl to IPv6", host: "six.test:443", script: `curl -sS https://six.test/`, want: "hello from six.test", mute: true},
	{name: "curl with --proxy", host: "allowed.test:443", script: `p=$HTTPS_PROXY; unset ${!http*} ${!HTTP*}; curl -sS --proxy $p https://allowed.test/`, want: "hello from allowed.test", mute: true},
	{name: "curl with --socks5-hostname", host: "allowed.test:443", script: `curl -sS --socks5-hostname ${HTTPS_PROXY#http://} https://allowed.test/`, want: "hello from allowed.test", mute: true},
	{name: "git over https", host: "git.test:443", script: `git clone -q https://git.test/hello.git /tmp/hello && cat /tmp/hello/README`, want: "hello from git", mute: true},
	{
		name: "git over ssh", host: "git.test:22", rule: "git.test:22", want: "hello from git",
		script: `export GIT_SSH_COMMAND="$GIT_SSH_COMMAND -i $PWD/id_test -o UserKnownHostsFile=$PWD/known_hosts"
			git clone -q "ssh://git@git.test$(dirname "$CA")/hello.git" /tmp/hello && cat /tmp/hello/README`,
	},
	{
		name: "npm", host: "npm.test:443", want: "hello from npm", program: "npm",
		script: `export NODE_EXTRA_CA_CERTS=$CA npm_config_cache=$PWD/.npm npm_config_registry=https://npm.test/ npm_config_fetch_retries=0
			npm install --no-audit --no-fund --no-update-notifier hello-test && node -p "require('hello-test')"`,
	},
	{
		name: "pip", host: "pypi.test:443", want: "hello from pypi", needs: pip,
		script: `export PIP_CERT=$CA PIP_RETRIES=1
			/usr/bin/python3 "$1/pip" install --no-cache-dir --disable-pip-version-check --index-url https://pypi.test/simple/ --target lib hello-test
			PYTHONPATH=lib /usr/bin/python3 -c 'import hello_test; print(hello_test.text)'`,
	},
	{
		name: "python's urllib", host: "allowed.test:443", want: "hello from allowed.test",
		script: `SSL_CERT_FILE=$CA /usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen("https://allowed.test/").read().decode())'`,
	},
	{
		name: "go", host: "goproxy.test:443", want: "hello from go", needs: goTool,
		script: `export PATH=$1:$PATH GOPROXY=https://goproxy.test GOSUMDB=off GOTOOLCHAIN=local GOPATH=$PWD/gopath GOCACHE=$PWD/gocache GOFLAGS=-modcacherw GOENV=off
			mkdir m; cd m; printf 'module m\n\ngo 1.20\n\nrequire hello.test/hello v1.0.0\n' >go.mod
			go mod download hello.test/hello && grep -o 'hello from go' ../gopath/pkg/mod/hello.test/hello@v1.0.0/hello.go`,
	},
	{
		name: "node's fetch", host: "allowed.test:443", want: "hello from allowed.test", mute: true, needs: node,
		script: `NODE_EXTRA_CA_CERTS=$CA "$1" -e 'fetch("https://allowed.test/").then(r => r.text()).then(console.log).catch(e => { console.error(e); process.exit(1) })'`,
	},
	{
		name: "java", host: "allowed.test:443", want: "hello from allowed.test", needs: java,
		script: `java -XX:TieredStopAtLevel=1 -cp "$1" -Djavax.net.ssl.trustStore="$1/trust.p12" -Djavax.net.ssl.trustStorePassword=changeit Fetch`,
	},
}

// pip returns a directory with the system's wheel of pip, unpacked and compiled once: Python would compile the wheel in every
// run.
func pip(t *testing.T) []string {
	t.Helper()
	wheels, err := filepath.Glob("/usr/share/python-wheels/pip-*.whl")
	if err != nil || len(wheels) == 0 {
		missing(t, "pip")
	}
	return []string{prepareOnce(t, "pip", `/usr/bin/python3 -c 'import compileall, sys, zipfile
zipfile.ZipFile(sys.argv[1]).extractall(".")
compileall.compile_dir(".", quiet=1)' "$1"`, wheels[0])}
}

// java returns a directory with a compiled program that fetches a page, and the trust store with the test authority.
func java(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		missing(t, "javac")
	}
	return []string{prepareOnce(t, "java", `keytool -importcert -noprompt -alias t -file "$1" -keystore trust.p12 -storepass changeit
cat >Fetch.java <<'END'
public class Fetch { public static void main(String[] a) throws Exception {
  System.out.print(new String(new java.net.URL("https://allowed.test/").openStream().readAllBytes())); } }
END
javac Fetch.java`, internet.CAFile)}
}

// prepareOnce returns the directory of the test network that has the name. The first call creates it, and runs a bash script
// there.
func prepareOnce(t *testing.T, name, script string, args ...string) string {
	t.Helper()
	dir := filepath.Join(internet.Dir, name)
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return dir
	}
	if err == nil {
		cmd := exec.CommandContext(t.Context(), "/bin/bash", append([]string{"-euc", "umask 022\n" + script, "bash"}, args...)...)
		cmd.Dir = dir
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		t.Fatalf("prepare %s: %v", name, err)
	}
	return dir
}

// node returns a Node.js whose fetch supports proxies: the system's, or that of the npm packages of the tests.
func node(t *testing.T) []string {
	t.Helper()
	const knows = `const [a, b] = process.versions.node.split("."); process.exit(a > 24 || a == 24 || a == 22 && b >= 21 ? 0 : 1)`
	if found, err := exec.LookPath("node"); err == nil && exec.CommandContext(t.Context(), found, "-e", knows).Run() == nil {
		return []string{found}
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	from := filepath.Join(os.Getenv("AGENT_SANDBOX_NPM"), "node-linux-"+arch)
	if _, err := os.Stat(from); err != nil {
		missing(t, "a Node that knows proxies")
	}
	dir, err := internet.Show(from, "node-with-proxies")
	if err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join(dir, "bin", "node")}
}

// goTool returns the directory of the go command that runs the tests.
func goTool(t *testing.T) []string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		missing(t, "go")
	}
	dir, err := internet.Show(strings.TrimSpace(string(root)), "goroot")
	if err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join(dir, "bin")}
}

// missing skips the test because a program is missing, or fails it if the network is required, except for Java.
func missing(t *testing.T, what string) {
	t.Helper()
	if required("network") && what != "javac" {
		t.Fatalf("%s is not installed; `make test` does it", what)
	}
	t.Skipf("%s is not installed", what)
}

func Test_Real_Clients_Reach_Only_Allowed_Hosts(t *testing.T) {
	available(t)
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			for _, c := range clients {
				t.Run(c.name, func(t *testing.T) {
					var args []string
					switch {
					case c.needs != nil:
						args = c.needs(t)
					case c.program != "":
						if _, err := exec.LookPath(c.program); err != nil {
							missing(t, c.program)
						}
					}
					c.passes(t, newHost(t, uid), args)
					// A visit does not tell its client, so only one client at a time may pass. A refused client may make no visit at all.
					t.Parallel()
					c.isRefused(t, newHost(t, uid), args)
				})
			}
		})
	}
}

// passes runs the client in a sandbox that allows its host.
func (c client) passes(t *testing.T, h *host, args []string) {
	t.Helper()
	rule := c.rule
	if rule == "" {
		rule = c.target()
	}
	internet.Take()
	got := h.exec(t, []string{"--allow", rule}, c.script, args...)
	if got.code != 0 || !strings.Contains(got.stdout, c.want) || strings.Contains(got.stderr, "no rule allows") {
		t.Errorf("with --allow %s: %v", rule, got)
	}
	visits := internet.Take()
	if !slices.ContainsFunc(visits, func(v network.Visit) bool { return v.Is(c.target()) }) {
		t.Errorf("it did not reach %s: %v", c.host, visits)
	}
	onlyAt(t, visits, c.target())
	internet.Names()
}

// isRefused runs the client in a sandbox that allows only another host. Other refused clients may run meanwhile.
func (c client) isRefused(t *testing.T, h *host, args []string) {
	t.Helper()
	got := h.exec(t, []string{"--allow", "else.test", "--quiet"}, c.script, args...)
	_, port, _ := strings.Cut(c.host, ":")
	reason := fmt.Sprintf("no rule allows %s on port %s", c.target(), port)
	if got.code == 0 || strings.Contains(got.stdout, c.want) {
		t.Errorf("it reached a server: %v", got)
	}
	if said := strings.Contains(got.stdout+got.stderr, reason); said == c.mute {
		t.Errorf("the client shows the reason: %v; expected %v: %v", said, !c.mute, got)
	}
	onlyAt(t, internet.Take())
	if asked := internet.Names(); len(asked) > 0 {
		t.Errorf("names were resolved: %q", asked)
	}
	if c.mute {
		again := newHost(t, h.uid).exec(t, []string{"--allow", "else.test"}, c.script, args...)
		if again.code == 0 || !strings.Contains(again.stderr, reason) || !strings.Contains(again.stderr, "--allow "+c.target()) {
			t.Errorf("the summary lacks the reason %q: %v", reason, again)
		}
		onlyAt(t, internet.Take())
	}
}

// target returns the name in host.
func (c client) target() string {
	name, _, _ := strings.Cut(c.host, ":")
	return name
}

// onlyAt fails the test for a visit to any address except those of the hosts.
func onlyAt(t *testing.T, visits []network.Visit, hosts ...string) {
	t.Helper()
	for _, v := range visits {
		if !v.Is(hosts...) {
			t.Errorf("%s was reached (on the host's side: %v)", v.To, v.Host)
		}
	}
}
