//go:build linux

// Package journeys_test has the work of a day, as scripts that run outside and then inside a sandbox: both print the same, and the
// sandbox says nothing.
package journeys_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// plainUser is the user ID of journeys when the tests run as root.
const plainUser = 1000

// journey is a script of testdata. Its first lines are comments: "# needs: PROGRAM..." and "# flags: FLAG...", in which {cache} is a
// directory that outlives the runs of the journey, also in $CACHE. The part before a line "# inside" prepares the project and runs
// outside in any case; if it ends with the status 75, the machine lacks what its last line of output names.
type journey struct {
	needs, flags    []string
	prepare, inside string
}

func readJourney(t *testing.T, file string) journey {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var j journey
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "# needs: "); ok {
			j.needs = strings.Fields(rest)
		}
		if rest, ok := strings.CutPrefix(line, "# flags: "); ok {
			j.flags = strings.Fields(rest)
		}
	}
	prepare, inside, ok := strings.Cut(string(data), "\n# inside\n")
	if !ok {
		t.Fatalf("%s has no line \"# inside\"", file)
	}
	j.prepare, j.inside = prepare, inside
	return j
}

func Test_A_Days_Work_Is_The_Same_Inside(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	command := installed(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sh")
		t.Run(name, func(t *testing.T) {
			j := readJourney(t, file)
			for _, p := range j.needs {
				if _, err := exec.LookPath(p); err != nil {
					t.Skipf("%s is not installed", p)
				}
			}
			p := newPlace(t, name)
			outside := p.play(t, j, "bash", "-euc", j.inside)
			line := []string{command, "exec"}
			for _, flag := range j.flags {
				line = append(line, strings.ReplaceAll(flag, "{cache}", p.cache))
			}
			inside := p.play(t, j, append(line, "--", "bash", "-euc", j.inside)...)
			if outside.code != 0 {
				t.Fatalf("outside: %d\n%s\n%s", outside.code, outside.stdout, outside.stderr)
			}
			if inside.code != 0 || inside.stdout != outside.stdout || strings.Contains(inside.stderr, "agent-sandbox:") {
				t.Errorf("inside: %d\n%s\n%s\noutside:\n%s", inside.code, inside.stdout, inside.stderr, outside.stdout)
			}
			t.Logf("%s: %.2f s inside, %.2f s outside: %.2f x", name, inside.time.Seconds(), outside.time.Seconds(), float64(inside.time)/float64(outside.time))
		})
	}
}

// installed returns the command, which every user can execute.
func installed(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent(), "agent-sandbox-journeys-") //nolint:usetesting // below /tmp a sandbox has its own
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		err = errors.Join(os.Chmod(dir, 0o755), programs.Install(t.Context(), dir, programs.Command, programs.CommandInMemory))
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, programs.Command)
}

// parent returns a directory below which every user can reach files.
func parent() string {
	if os.Getuid() == 0 {
		return "/srv"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "."
	}
	return home
}

// place is a user's home directory with a project.
type place struct {
	base, home, project, cache string
	uid                        int
}

func newPlace(t *testing.T, name string) *place {
	t.Helper()
	base, err := os.MkdirTemp(parent(), "agent-sandbox-journey-"+name+"-") //nolint:usetesting // below /tmp a sandbox has its own
	if err != nil {
		t.Fatal(err)
	}
	p := &place{base: base, home: filepath.Join(base, "home"), cache: filepath.Join(base, "cache"), uid: os.Getuid()}
	p.project = filepath.Join(p.home, "project")
	if p.uid == 0 {
		p.uid = plainUser
	}
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", base).Run() //nolint:noctx // the context of the test has ended
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(os.Chmod(base, 0o755), os.Mkdir(p.cache, 0o755), os.Chown(p.cache, p.uid, p.uid)); err != nil {
		t.Fatal(err)
	}
	return p
}

// outcome is what a script printed, and how long it took.
type outcome struct {
	code           int
	stdout, stderr string
	time           time.Duration
}

// play prepares a fresh home and project, and runs a command in it.
func (p *place) play(t *testing.T, j journey, command ...string) outcome {
	t.Helper()
	_ = exec.CommandContext(t.Context(), "chmod", "-R", "u+w", p.home).Run() // the first time there is none
	err := errors.Join(os.RemoveAll(p.home), os.MkdirAll(p.project, 0o755), os.Chown(p.home, p.uid, p.uid), os.Chown(p.project, p.uid, p.uid))
	if err != nil {
		t.Fatal(err)
	}
	const temporaryFailure = 75 // sysexits.h
	out := p.run(t, "bash", "-euc", j.prepare)
	if lines := strings.Split(strings.TrimSpace(out.stderr), "\n"); out.code == temporaryFailure {
		t.Skip(lines[len(lines)-1])
	}
	if out.code != 0 {
		t.Fatalf("prepare: %d\n%s\n%s", out.code, out.stdout, out.stderr)
	}
	return p.run(t, command...)
}

func (p *place) run(t *testing.T, command ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(2*time.Minute))
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = p.project
	cmd.Env = []string{"HOME=" + p.home, "PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "USER=journey", "CACHE=" + p.cache, "TERM=xterm-256color"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, 10*time.Second
	begin := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("%q: %v, %v\n%s\n%s", command[0], err, ctx.Err(), &stdout, &stderr)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(begin)}
}
