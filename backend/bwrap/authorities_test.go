//go:build linux

package bwrap

import (
	"os"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
)

// fetchJava prints what a server answers.
const fetchJava = `public class Fetch { public static void main(String[] a) throws Exception {
	System.out.print(new String(new java.net.URL(a[0]).openStream().readAllBytes())); } }`

func Test_Programs_That_Read_The_Authorities_Of_The_System_Trust_Decrypted_Hosts(t *testing.T) {
	plainuser.Repeat(t)
	for _, c := range []struct{ name, needs, script string }{
		{"wget", "wget", `wget -qO- https://$BOUND/`},
		{"curl without variables", "curl", `unset CURL_CA_BUNDLE SSL_CERT_FILE; curl -sS https://$BOUND/`},
		{"python without variables", "python3", `unset SSL_CERT_FILE; python3 -c 'import os, urllib.request as u; print(u.urlopen("https://"+os.environ["BOUND"]+"/").read().decode())'`},
		{"java", "javac", `java -XX:TieredStopAtLevel=1 -Dhttp.nonProxyHosts= Fetch.java https://$BOUND/`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !hasTool(c.needs) {
				t.Skipf("%s has no %s", toolPath, c.needs)
			}
			p := newScene(t)
			p.secret(sandbox.Secret{}) // its hosts are decrypted
			if err := os.WriteFile(p.workspace+"/Fetch.java", []byte(fetchJava), 0o644); err != nil {
				t.Fatal(err)
			}
			res := p.shell(t, p.create(t), c.script)
			if !strings.HasPrefix(string(res.Stdout), "hello from "+p.bound.addr) {
				t.Error(text(res))
			}
		})
	}
}
