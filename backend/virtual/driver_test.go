package virtual_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// project is a host directory with a repository and some files.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{".git/hooks", ".git/objects", ".git/refs", "src"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", "src/a": "one\n", "src/b": "two\n", ".env": "KEY=canary\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func box(t *testing.T, d *virtual.Driver, dir string, p sandbox.Policy) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Create(t.Context(), d, sandbox.Spec{Workspace: dir, Home: "/home/somebody", Env: []string{"PATH=/opt/bin", "LANG=C"}, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

func sh(t *testing.T, s *sandbox.Sandbox, script string) *sandbox.Result {
	t.Helper()
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func workspace(t *testing.T, s *sandbox.Sandbox) virtual.Workspace {
	t.Helper()
	w, ok := sandbox.As[virtual.Workspace](s.Unwrap())
	if !ok {
		t.Fatal("there is no workspace in memory")
	}
	return w
}

func Test_Changes_Stay_In_Memory_Until_They_Are_Applied(t *testing.T) {
	t.Parallel()
	dir, d := project(t), virtual.New(virtual.Options{})
	s := box(t, d, dir, sandbox.Policy{})
	other := box(t, d, dir, sandbox.Policy{})
	if res := sh(t, s, "echo new >src/a; rm src/b; mkdir made; echo x >made/f; echo evil >.git/hooks/pre-commit; echo evil >.envrc; ln -s / made/out"); res.Code != 0 && !strings.Contains(string(res.Stderr), ".git/hooks") {
		t.Fatalf("%d %s", res.Code, res.Stderr)
	}
	if got := sh(t, other, "cat src/a src/b; ls"); string(got.Stdout) != "one\ntwo\nsrc\n" {
		t.Errorf("another sandbox sees %q", got.Stdout)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "src/a")); err != nil || string(data) != "one\n" {
		t.Fatalf("the host has %q, %v before anything is applied", data, err)
	}
	w := workspace(t, s)
	list, err := w.Changes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		rel, _ := filepath.Rel(dir, c.Path)
		got = append(got, c.Kind+" "+rel)
	}
	want := []string{"created .envrc", "created made", "created made/f", "created made/out", "modified src/a", "deleted src/b"}
	if !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
	if _, err := w.Apply(t.Context(), virtual.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"src/a": "new\n", "made/f": "x\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != text {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	for _, name := range []string{"src/b", ".git/hooks/pre-commit"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

func Test_Apply_Skips_A_File_That_Changed_On_The_Host(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := box(t, virtual.New(virtual.Options{}), dir, sandbox.Policy{})
	sh(t, s, "echo inside >src/a; echo inside >src/b")
	if err := os.WriteFile(filepath.Join(dir, "src/a"), []byte("outside, longer\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done, err := workspace(t, s).Apply(t.Context(), virtual.ApplyOptions{})
	if err != nil || len(done.Changes) != 1 || len(done.Skipped) != 1 || done.Skipped[0].Path != filepath.Join(dir, "src/a") || done.Skipped[0].Reason != "conflict" {
		t.Errorf("%+v, %v", done, err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "src/a")); string(data) != "outside, longer\n" {
		t.Errorf("src/a holds %q", data)
	}
}

func Test_Discard_Drops_All_Changes(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := box(t, virtual.New(virtual.Options{}), dir, sandbox.Policy{})
	sh(t, s, "rm -r src; echo x >new")
	w := workspace(t, s)
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := sh(t, s, "cat src/a; ls"); string(got.Stdout) != "one\nsrc\n" {
		t.Errorf("%q", got.Stdout)
	}
	if list, err := w.Changes(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func Test_The_Policy_Holds_In_Memory(t *testing.T) {
	t.Parallel()
	dir := project(t)
	extra := t.TempDir()
	if err := os.WriteFile(filepath.Join(extra, "given"), []byte("given\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	single := filepath.Join(t.TempDir(), "single")
	if err := os.WriteFile(single, []byte("alone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var denied []string
	d := virtual.New(virtual.Options{Denied: func(d sandbox.Denial) {
		mu.Lock()
		defer mu.Unlock()
		denied = append(denied, string(d.Kind)+" "+d.Target)
	}})
	s := box(t, d, dir, sandbox.Policy{
		Filesystem: sandbox.Filesystem{RO: []string{extra, single}, Exclude: []string{filepath.Join(dir, ".env")}},
		Commands:   map[string]sandbox.CommandRule{"rm": "false", "echo": "false", "git": "@git"},
		Env:        sandbox.Env{Set: map[string]string{"SET": "yes"}},
	})
	for script, want := range map[string]string{
		"cat " + extra + "/given " + single: "0 given\nalone\n",
		"printf x >" + extra + "/given":     "1 ",
		"printf x >" + single:               "1 ",
		"cat .env":                          "1 ",
		"printf x >.git/config":             "1 ",
		"mv .git/config .git/c":             "1 ",
		"rm src/a":                          "126 ",
		"command echo x":                    "126 ",
		"/bin/rm src/a":                     "126 ",
		"printenv SET LANG":                 "0 yes\nC\n",
		"printf x >/usr/bin/ls":             "1 ",
		"printf x >~/mine && cat ~/mine && printf y >/tmp/f":  "0 x",
		"curl -s http://127.0.0.1/ || printf '%s' none":       "0 none",
		"cat /etc/hostname; hostname":                         "0 sandbox\nsandbox\n",
		"cat /proc/1/environ 2>/dev/null | grep -c .":         "1 0\n",
		"tr '\\0' '\\n' < /proc/self/environ | grep -c TOKEN": "1 0\n",
	} {
		if res := sh(t, s, script); fmt.Sprintf("%d %s", res.Code, res.Stdout) != want {
			t.Errorf("%s: %d %q %s, want %q", script, res.Code, res.Stdout, res.Stderr, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(denied, "command rm") {
		t.Errorf("denials: %q", denied)
	}
}

func Test_The_Home_Directory_Can_Be_Worked_In_And_Is_Not_Written(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: dir, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	if res := sh(t, s, "echo x >new && cat new"); string(res.Stdout) != "x\n" {
		t.Errorf("%q %s", res.Stdout, res.Stderr)
	}
	done, err := workspace(t, s).Apply(t.Context(), virtual.ApplyOptions{})
	if err != nil || len(done.Changes) != 0 || len(done.Skipped) != 1 || done.Skipped[0].Reason != "refused" {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("it was written")
	}
}

func Test_Rules_That_Memory_Cannot_Enforce_Are_Rejected(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]sandbox.Policy{
		"limits.cpu":         {Limits: sandbox.Limits{CPU: 1}},
		"limits.tmp":         {Limits: sandbox.Limits{Tmp: 1 << 20}},
		"filesystem.tmp":     {Filesystem: sandbox.Filesystem{Tmp: sandbox.TmpKeep}},
		"filesystem.sockets": {Filesystem: sandbox.Filesystem{Sockets: []string{"/run/some.sock"}}},
		"network.publish":    {Network: sandbox.Network{Mode: sandbox.NetworkAllow, Publish: []string{"8080"}}},
	} {
		s, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: project(t), Home: "/home/x", Policy: p})
		if err == nil {
			_ = s.Close(t.Context())
		}
		if sandbox.CodeOf(err) != sandbox.Unsupported || !strings.Contains(err.Error(), name) || sandbox.HintOf(err) == "" {
			t.Errorf("%s: %v (hint %q)", name, err, sandbox.HintOf(err))
		}
	}
	_, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: project(t), Home: "/home/x", Stage: "s"})
	if sandbox.CodeOf(err) != sandbox.Unsupported {
		t.Errorf("a stage: %v", err)
	}
}

func Test_The_Allow_List_Is_That_Of_All_Backends(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "hello %s %s", r.Host, r.Header.Get("Authorization"))
	}))
	defer web.Close()
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	denied := make(chan sandbox.Denial, 10)
	d := virtual.New(virtual.Options{Denied: func(d sandbox.Denial) { denied <- d }})
	s := box(t, d, project(t), sandbox.Policy{
		Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"http://127.0.0.1:" + port}},
	})
	if res := sh(t, s, "curl -sS http://127.0.0.1:"+port+"/; curl -sS -o /dev/null -w '%{http_code}' http://example.com/"); string(res.Stdout) != "hello 127.0.0.1:"+port+" 403" {
		t.Errorf("%q %s", res.Stdout, res.Stderr)
	}
	select {
	case e := <-denied:
		if e.Kind != sandbox.DeniedHost || e.Target != "example.com:80" {
			t.Errorf("denied %+v", e)
		}
	case <-time.After(deadline.Scale(10 * time.Second)):
		t.Error("no denial was reported")
	}
}

func Test_Sandboxes_May_Share_A_Tree(t *testing.T) {
	t.Parallel()
	dir, d := project(t), virtual.New(virtual.Options{Share: true, Apply: true})
	a := box(t, d, dir, sandbox.Policy{})
	b := box(t, d, dir, sandbox.Policy{})
	sh(t, a, "echo a >f; mkfifo pipe; sleep 1000 >/dev/null 2>&1 &")
	if got := sh(t, b, "cat f"); string(got.Stdout) != "a\n" {
		t.Errorf("%q", got.Stdout)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "f")); err == nil {
		t.Error("applied although a command runs in it")
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(data) != "a\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func Test_A_File_Is_As_Small_As_The_Policy_Thinks(t *testing.T) {
	t.Parallel()
	res := sh(t, box(t, virtual.New(virtual.Options{}), project(t), sandbox.Policy{}),
		fmt.Sprintf("truncate -s %d a; truncate -s %d b; wc -c <a; wc -c <b", sandbox.DefaultMemoryFile, sandbox.DefaultMemoryFile+1))
	if want := fmt.Sprintf("%d\n0\n", sandbox.DefaultMemoryFile); string(res.Stdout) != want {
		t.Errorf("got %q, want %q: what a project may set untrusted is what it gets without", res.Stdout, want)
	}
}

func Test_The_Policy_Limits_All_Files_Together(t *testing.T) {
	t.Parallel()
	const script = `i=0; while [ $i -lt 12000 ] && : >n$i; do i=$((i+1)); done 2>/dev/null; echo $i
		for f in a b c d e f g h i j k l; do truncate -s 0 $f; head -c 10000000 /dev/zero >$f || break; done 2>/dev/null; cat ? | wc -c`
	for name, c := range map[string]struct {
		limits sandbox.Limits
		all    bool
	}{
		"a repository with its node_modules fits the default": {sandbox.Limits{}, true},
		"fewer nodes":    {sandbox.Limits{Nodes: 1000}, false},
		"a smaller disk": {sandbox.Limits{Disk: 20 << 20}, false},
		"both are large": {sandbox.Limits{Nodes: 100000, Disk: 1 << 30}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := sh(t, box(t, virtual.New(virtual.Options{}), project(t), sandbox.Policy{Limits: c.limits}), script)
			if all := string(res.Stdout) == "12000\n120000000\n"; all != c.all {
				t.Errorf("%s%s", res.Stdout, res.Stderr)
			}
		})
	}
}
