package connector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// programs is the PATH of the tests' commands.
const programs = "PATH=/usr/local/bin:/usr/bin:/bin"

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func fifo(t *testing.T, name string) string {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func script(text string, args ...any) Secret {
	return Secret{Command: []string{"sh", "-c", fmt.Sprintf(text, args...)}}
}

func Test_A_Key_Is_Read_From_A_Variable_File_Or_Command(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := &Keys{Env: []string{programs, "A=old", "A=key-a"}, Home: dir}
	write(t, filepath.Join(dir, "key"), "key-f\n", 0o600)
	write(t, filepath.Join(dir, "windows"), "key-w\r\n", 0o400)
	write(t, filepath.Join(dir, "long"), strings.Repeat("k", MaxKey)+"\n", 0o600)
	for _, c := range []struct {
		name   string
		secret Secret
		want   string
	}{
		{"nowhere", Secret{}, ""},
		{"a value", Secret{Value: "key-v"}, "key-v"},
		{"a variable, the last one", Secret{Env: "A"}, "key-a"},
		{"a file", Secret{File: filepath.Join(dir, "key")}, "key-f"},
		{"a file of the home", Secret{File: "~/key"}, "key-f"},
		{"a file with another line break", Secret{File: "~/windows"}, "key-w"},
		{"a file as long as may be", Secret{File: "~/long"}, strings.Repeat("k", MaxKey)},
		{"a command", Secret{Command: []string{"printf", "%s", "key-c"}}, "key-c"},
		{"a command with the environment", script(`echo "$A"; echo noise >&2`), "key-a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // fetched and cached
				if got, err := k.Key(t.Context(), c.secret); err != nil || got != c.want {
					t.Fatalf("got %q, %v; want %q", got, err, c.want)
				}
			}
		})
	}
}

func Test_The_Error_Of_A_Missing_Key_Names_Its_Place(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := &Keys{Env: []string{programs, "LINES=a\nhunter2", "CONTROL=a\x01hunter2", "EMPTY="}, Home: dir}
	write(t, filepath.Join(dir, "others"), "hunter2", 0o644)
	write(t, filepath.Join(dir, "group"), "hunter2", 0o640)
	write(t, filepath.Join(dir, "long"), strings.Repeat("hunter2", MaxKey), 0o600)
	write(t, filepath.Join(dir, "empty"), "\n", 0o600)
	fifo(t, filepath.Join(dir, "pipe"))
	for _, c := range []struct {
		name       string
		secret     Secret
		code       sandbox.Code
		want, hint string
	}{
		{"a variable that is not set", Secret{Env: "GONE"}, sandbox.NotFound, "the key ($ENV.GONE): the variable is not set", "export GONE, which holds the key"},
		{"a variable that is empty", Secret{Env: "EMPTY"}, sandbox.NotFound, "the key ($ENV.EMPTY): the variable is not set", "export EMPTY, which holds the key"},
		{"two lines", Secret{Env: "LINES"}, sandbox.Invalid, "the key ($ENV.LINES): it has more than one line, which no header can hold", ""},
		{"a control character", Secret{Env: "CONTROL"}, sandbox.Invalid, "the key ($ENV.CONTROL): it has a control character, which no header can hold", ""},
		{"a file that is gone", Secret{File: dir + "/gone"}, sandbox.NotFound, "the key (the file " + dir + "/gone): no such file or directory", ""},
		{"a file that others may read", Secret{File: "~/others"}, sandbox.Denied, "the key (the file ~/others): others may read it", "make it yours alone: chmod 600 " + dir + "/others"},
		{"a file that the group may read", Secret{File: "~/group"}, sandbox.Denied, "the key (the file ~/group): others may read it", "make it yours alone: chmod 600 " + dir + "/group"},
		{"a file that is too long", Secret{File: "~/long"}, sandbox.Invalid, "the key (the file ~/long): it is larger than 16KiB", ""},
		{"a file that is empty", Secret{File: "~/empty"}, sandbox.NotFound, "the key (the file ~/empty): it is empty", ""},
		{"a pipe", Secret{File: "~/pipe"}, sandbox.Invalid, "the key (the file ~/pipe): it is not a regular file", ""},
		{"a directory", Secret{File: dir}, sandbox.Invalid, "the key (the file " + dir + "): it is not a regular file", ""},
		{"a command that fails", script("set -x; echo hunter2; echo hunter2 >&2; exit 3"), sandbox.Unavailable, "the key (the output of sh): exit status 3", "run it yourself to see what it says"},
		{"a command that prints nothing", script(":"), sandbox.NotFound, "the key (the output of sh): it is empty", ""},
		{"a command that floods", script("while echo hunter2hunter2hunter2hunter2; do :; done | head -c 5000000 | tr '\\n' x"), sandbox.Invalid, "the key (the output of sh): it is larger than 16KiB", ""},
		{"a command that is not there", Secret{Command: []string{"/gone/program"}}, sandbox.Unavailable, "the key (the output of /gone/program): it cannot be run: no such file or directory", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key, err := k.Key(t.Context(), c.secret)
			if key != "" || sandbox.CodeOf(err) != c.code {
				t.Fatalf("got %q and code %s (%v), want %s", key, sandbox.CodeOf(err), err, c.code)
			}
			if err.Error() != c.want || sandbox.HintOf(err) != c.hint {
				t.Errorf("got  %s (%s)\nwant %s (%s)", err, sandbox.HintOf(err), c.want, c.hint)
			}
			if strings.Contains(err.Error()+sandbox.HintOf(err), "hunter2") {
				t.Errorf("the key is shown: %v", err)
			}
		})
	}
}

func Test_Concurrent_Callers_Share_One_Fetch_Of_A_Key(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gate := fifo(t, dir+"/gate")
	k := &Keys{Env: []string{programs}}
	s := script("echo x >>%s/count; read go <%s; echo key", dir, gate)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if key, err := k.Key(t.Context(), s); key != "key" || err != nil {
				t.Errorf("got %q, %v", key, err)
			}
		})
	}
	write(t, gate, "go\n", 0o600)
	wg.Wait()
	if n := runs(t, dir); n != 1 {
		t.Errorf("it was fetched %d times", n)
	}
}

// runs returns the number of lines that a script has added to the file.
func runs(t *testing.T, dir string) int {
	t.Helper()
	data, err := os.ReadFile(dir + "/count")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "x")
}

func Test_A_Key_Is_Cached_And_An_Error_Is_Not(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		keep time.Duration
		end  string
		want int
	}{{"a key", 0, "echo key", 1}, {"a key that is not to be kept", -1, "echo key", 3}, {"an old key", time.Nanosecond, "echo key", 3}, {"an error", 0, "exit 1", 3}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			k := &Keys{Env: []string{programs}, Keep: c.keep}
			for range 3 {
				_, err := k.Key(t.Context(), script("echo x >>%s/count; %s", dir, c.end))
				if (err != nil) != strings.HasPrefix(c.end, "exit") {
					t.Fatal(err)
				}
			}
			if n := runs(t, dir); n != c.want {
				t.Errorf("it was fetched %d times, want %d", n, c.want)
			}
		})
	}
}

func Test_A_Command_That_Hangs_Is_Killed_With_All_It_Started(t *testing.T) {
	t.Parallel()
	held := fifo(t, t.TempDir()+"/held")
	k := &Keys{Env: []string{programs}, Timeout: 100 * time.Millisecond}
	ended := make(chan error, 1)
	go func() {
		_, err := k.Key(t.Context(), script("exec 3>%s; sleep 1000 & sleep 1000", held))
		ended <- err
	}()
	f, err := os.Open(held) // waits for the script
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadAll(f); err != nil { // until no process has the file open
		t.Fatal(err)
	}
	if err := <-ended; sandbox.CodeOf(err) != sandbox.Timeout || err.Error() != "the key (the output of sh): it did not end within 100ms" {
		t.Errorf("got %v", err)
	}
}

func Test_A_Canceled_Caller_Does_Not_Cancel_The_Others(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started := fifo(t, dir+"/started")
	k := &Keys{Env: []string{programs}}
	// The first run hangs, the second does not.
	s := script("mkdir %s/first || { echo key; exit; }; echo >%s; sleep 1000", dir, started)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := k.Key(ctx, s)
		first <- err
	}()
	if _, err := os.ReadFile(started); err != nil {
		t.Fatal(err)
	}
	go func() {
		key, err := k.Key(t.Context(), s)
		if key != "key" {
			err = errors.Join(err, fmt.Errorf("got %q", key))
		}
		second <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) || sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("got %v", err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	// A caller whose context has already ended starts no command.
	if _, err := k.Key(ctx, script("echo x >>%s/count; echo key", dir)); sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir + "/count"); err == nil {
		t.Error("the command was run")
	}
}

func Test_A_Waiting_Caller_Can_Be_Canceled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started, gate := fifo(t, dir+"/started"), fifo(t, dir+"/gate")
	k := &Keys{Env: []string{programs}}
	s := script("echo >%s; read go <%s; echo key", started, gate)
	first := make(chan error, 1)
	go func() {
		_, err := k.Key(t.Context(), s)
		first <- err
	}()
	if _, err := os.ReadFile(started); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Key(ctx, s); sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("got %v", err)
	}
	write(t, gate, "go\n", 0o600)
	if err := <-first; err != nil {
		t.Error(err)
	}
}
