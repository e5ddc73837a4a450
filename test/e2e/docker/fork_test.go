//go:build linux

package docker_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// freePort returns a port of 127.0.0.1 that had no listener a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// serve starts a web server in a sandbox that answers with word on port 8000.
func (u user) serve(name, word string) {
	u.t.Helper()
	out := u.inside(name, fmt.Sprintf(`rm -f /tmp/ready; mkfifo /tmp/ready; node -e 'require("http").createServer((q, r) => r.end("%s"))
.listen(8000, "127.0.0.1", () => console.log("ready"))' >/tmp/ready 2>/dev/null </dev/null &
read word </tmp/ready`, word))
	if out.code != 0 {
		u.t.Fatalf("the server in %s: %+v", name, out)
	}
}

// fetch returns what a web server on a port of 127.0.0.1 answers.
func fetch(t *testing.T, port string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(time.Minute))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func Test_A_Fork_Publishes_Its_Ports_On_Other_Ports_Of_The_Host(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("forked")
	for kind, start := range map[string]func(port string) string{
		"a repository's sandbox": func(port string) string {
			config := filepath.Join(dir, ".agent-sandbox/config.json")
			if err := os.WriteFile(config, []byte(`{"ports": ["`+port+`:8000"]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			u.run(dir, "trust", "--yes", ".agent-sandbox/config.json")
			return strings.TrimSpace(u.run(dir, "start"))
		},
		"a persistent sandbox": func(port string) string {
			return strings.TrimSpace(u.run(u.home, "create", "--backend", "docker", "--image", "agent-sandbox-base:"+baseTag, "--publish", port+":8000", "work"))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			port := freePort(t)
			of := start(port)
			u.serve(of, "first")
			forks := map[string]string{} // the port of each
			for _, fork := range []string{of[:4] + "-two", of[:4] + "-three"} {
				t.Cleanup(func() { u.try(u.home, "", "destroy", fork) })
				out := u.try(u.home, "", "fork", of, fork)
				said := regexp.MustCompile(`^agent-sandbox: 127\.0\.0\.1:(\d+) is port 8000 of ` + fork + `\n$`).FindStringSubmatch(out.stderr)
				if out.code != 0 || said == nil {
					t.Fatalf("%+v", out)
				}
				forks[fork] = said[1]
				u.serve(fork, fork)
			}
			check := func() {
				t.Helper()
				for fork, at := range forks {
					if got := fetch(t, at); got != fork {
						t.Errorf("port %s answers %q, want %q", at, got, fork)
					}
				}
				if got := fetch(t, port); got != "first" {
					t.Errorf("port %s answers %q", port, got)
				}
			}
			check()
			// A fork keeps its port.
			u.run(u.home, "stop", of[:4]+"-two")
			u.run(u.home, "start", of[:4]+"-two")
			u.serve(of[:4]+"-two", of[:4]+"-two")
			check()
		})
	}
}

func Test_Forks_At_The_Same_Time_Get_Different_Ports(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	port := freePort(t)
	t.Cleanup(func() { u.try(u.home, "", "destroy", "work", "one", "two", "three") })
	u.run(u.home, "create", "--backend", "docker", "--image", "agent-sandbox-base:"+baseTag, "--publish", port+":8000", "work")
	results := make(chan result)
	for _, fork := range []string{"one", "two", "three"} {
		go func() { results <- u.try(u.home, "", "fork", "work", fork) }()
	}
	seen := map[string]bool{}
	for range 3 {
		out := <-results
		at, _, _ := strings.Cut(out.stderr, " is port 8000")
		if out.code != 0 || seen[at] {
			t.Errorf("%+v, after %v", out, seen)
		}
		seen[at] = true
	}
}
