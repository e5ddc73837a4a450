package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// scratch is a directory outside /tmp, which sandboxes replace by their own. Its
// subdirectory bin contains the binaries under test.
var scratch string

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return 0, err
	}
	if scratch, err = os.MkdirTemp(cache, "agent-sandbox-test-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := programs.Install(context.Background(), filepath.Join(scratch, "bin"),
		programs.Command, programs.CommandInMemory, programs.CommandWithPods, programs.CommandWithAgent, programs.Hooks, programs.Guest); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// scratchDir returns a temporary directory of the test below scratch.
func scratchDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "test-") //nolint:usetesting // t.TempDir is in /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func Test_Command(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*/*.txtar") // a directory for each family of commands
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Files:       scripts,
		WorkdirRoot: scratchDir(t),
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", filepath.Join(scratch, "bin")+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
			env.Setenv("LANG", "C.UTF-8")
			env.Setenv("CLUSTER", os.Getenv("KUBECONFIG"))
			box, err := persist.NewID() // unique in a cluster that others may use
			if err != nil {
				return err
			}
			env.Setenv("BOX", box)
			env.Defer(func() { destroyPersistent(t, home) })
			return os.MkdirAll(home, 0o755)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "bwrap":
				return unavailable(t) == nil, nil
			case "kube":
				return cluster(t), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    status,
			"oneline":   oneLine,
			"json":      jsonField,
			"mcpclient": mcpClient,
			"ended":     ended,
			"books":     books,
			"tamper":    tamper,
		},
	})
}

// cluster reports whether a kubeconfig is named; SANDBOX_REQUIRE can require it with
// the word kube.
func cluster(t *testing.T) bool {
	t.Helper()
	named := os.Getenv("KUBECONFIG") != ""
	if !named && slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "kube") {
		t.Fatal("a cluster is required, and KUBECONFIG names none")
	}
	return named
}

// destroyPersistent destroys the persistent sandboxes that a failed script has left.
func destroyPersistent(t *testing.T, home string) {
	t.Helper()
	store := persist.Store{Dir: filepath.Join(home, ".local", "share", "agent-sandbox", "sandboxes")}
	records, err := store.List()
	for _, r := range records {
		if r.Cluster != nil {
			err = errors.Join(err, destroyPod(home, r.ID))
			continue
		}
		err = errors.Join(err, (&persist.Driver{Inner: bwrap.New(bwrap.Options{}), Store: store}).Destroy(context.Background(), r.ID))
	}
	if err != nil {
		t.Error(err)
	}
}

func destroyPod(home, name string) error {
	cmd := exec.CommandContext(context.Background(), filepath.Join(scratch, "bin", "agent-sandbox"), "destroy", name)
	cmd.Env = append(os.Environ(), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("destroy %s: %w\n%s", name, err, out)
	}
	return nil
}

// unavailable returns why no sandbox can run here, or nil. It fails the test where
// SANDBOX_REQUIRE names the backend.
func unavailable(t *testing.T) error {
	t.Helper()
	err := sandboxtest.Available(t.Context(), bwrap.New(bwrap.Options{DataDir: scratch}))
	if err != nil && slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "bwrap") {
		t.Fatalf("required, and not available: %v", err)
	}
	return err
}

// status N PROGRAM ARG... runs a program that has to end with exit status N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// oneline checks that stderr is one line with an error, and at most a hint below it.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: oneline")
	}
	stderr := ts.ReadFile("stderr")
	if !oneErrorLine.MatchString(stderr) {
		ts.Fatalf("stderr is not one error and at most one hint: %q", stderr)
	}
}

// json FIELD VALUE checks a field of the JSON document on stdout. FIELD is
// "a.b.0"; VALUE is JSON.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] json FIELD VALUE")
	}
	var doc, want any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	ts.Check(json.Unmarshal([]byte(args[1]), &want))
	for name := range strings.SplitSeq(args[0], ".") {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				ts.Fatalf("no element %s of %d", name, len(v))
			}
			doc = v[i]
		default:
			ts.Fatalf("nothing at %s", args[0])
		}
	}
	if reflect.DeepEqual(doc, want) == neg {
		ts.Fatalf("%s is %v", args[0], doc)
	}
}

var oneErrorLine = regexp.MustCompile(`\Aagent-sandbox: [^\n]+\n(hint: [^\n]+\n)?\z`)
