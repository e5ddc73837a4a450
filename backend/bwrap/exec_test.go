//go:build linux

package bwrap_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// open makes a sandbox over a fresh workspace.
func open(t *testing.T) (*sandbox.Sandbox, string) {
	t.Helper()
	dir := t.TempDir()
	d := bwrap.New(bwrap.Options{DataDir: t.TempDir()})
	require.Driver(t, d)
	s, err := sandbox.Create(t.Context(), d, sandbox.Spec{
		Workspace: dir, Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func Test_A_File_That_The_Kernel_Refuses_Is_Not_Executable(t *testing.T) {
	s, dir := open(t)
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("#!/nowhere/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"./program"}})
	var exec *sandbox.ExecError
	if !errors.As(err, &exec) || exec.Code != sandbox.ExitNotExecutable || exec.Name != "./program" {
		t.Errorf("got %+v and %v, want an ExecError with code 126", res, err)
	}
}

func Test_A_Command_Keeps_The_Name_It_Was_Given(t *testing.T) {
	s, dir := open(t)
	script := "#!/bin/sh\necho \"$0\"\n"
	if err := os.WriteFile(filepath.Join(dir, "-odd name"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a name from PATH":       {[]string{"sh", "-c", "echo $0"}, "sh"},
		"a path":                 {[]string{"/bin/sh", "-c", "echo $0"}, "/bin/sh"},
		"a path that looks odd":  {[]string{"./-odd name"}, "./-odd name"},
		"options as arguments":   {[]string{"printf", "%s\n", "--ro-bind"}, "--ro-bind"},
		"an argument of nothing": {[]string{"printf", "[%s]\n", ""}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := s.Run(t.Context(), sandbox.Cmd{Args: c.args})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(string(res.Stdout), "\n"); got != c.want {
				t.Errorf("got %q, want %q (stderr %q)", got, c.want, res.Stderr)
			}
		})
	}
}

func Test_A_Mount_That_Bubblewrap_Cannot_Make_Is_Not_An_Error_Of_The_Command(t *testing.T) {
	require.Driver(t, bwrap.New(bwrap.Options{DataDir: t.TempDir()}))
	dir := t.TempDir()
	// A bubblewrap that accepts every option and then fails to mount.
	tool := filepath.Join(t.TempDir(), "bwrap")
	script := "#!/bin/sh\ncase \"$1\" in --help|--version) exec /usr/bin/bwrap \"$1\";; esac\n" +
		"exec /usr/bin/bwrap --ro-bind /nowhere/at/all /mnt \"$@\"\n"
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.Create(t.Context(), bwrap.New(bwrap.Options{Bwrap: tool, DataDir: t.TempDir()}),
		sandbox.Spec{Workspace: dir, Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"true"}})
	var exec *sandbox.ExecError
	if errors.As(err, &exec) || !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("got %+v and %v, want an error with code unavailable", res, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func Test_Without_A_Network_Npm_Does_Not_Repeat_Requests(t *testing.T) {
	for _, row := range []struct {
		name, want string
		env        []string
		network    sandbox.Network
	}{
		{"no network", "0-", []string{"PATH=" + os.Getenv("PATH")}, sandbox.Network{}},
		{"no network and no environment", "-", nil, sandbox.Network{}},
		{"the user's own number", "-3", []string{"PATH=" + os.Getenv("PATH"), "NPM_CONFIG_FETCH_RETRIES=3"}, sandbox.Network{}},
		{"the host's network", "-", []string{"PATH=" + os.Getenv("PATH")}, sandbox.Network{Mode: sandbox.NetworkHost}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := bwrap.New(bwrap.Options{DataDir: t.TempDir()})
			require.Driver(t, d)
			s, err := sandbox.Create(t.Context(), d, sandbox.Spec{
				Workspace: t.TempDir(), Home: t.TempDir(), Env: row.env, Policy: sandbox.Policy{Network: row.network},
			})
			if err != nil {
				t.Fatal(err)
			}
			res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo $npm_config_fetch_retries-$NPM_CONFIG_FETCH_RETRIES"}})
			if err != nil || string(res.Stdout) != row.want+"\n" {
				t.Errorf("%q, %v, want %q", res.Stdout, err, row.want)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func Test_A_Socket_In_A_Private_Directory_May_Have_Any_Name(t *testing.T) {
	s, _ := open(t)
	script := `import socket, sys
for name in ("/tmp/.mcp.json", "own.sock", ".mcp.json"):
    try:
        socket.socket(socket.AF_UNIX).bind(name); print("bound")
    except OSError as e:
        print("refused")
`
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"python3", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Stdout), "bound\nbound\nrefused\n"; got != want {
		t.Errorf("got %q, want %q (stderr %q)", got, want, res.Stderr)
	}
}
