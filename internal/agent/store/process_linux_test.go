package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("STORE_CHILD"); mode != "" {
		os.Exit(child(mode, os.Getenv("STORE_DIR")))
	}
	os.Exit(m.Run())
}

// child is another process that uses the store. It prints a line for each completed step.
func child(mode, dir string) int {
	ctx := context.Background()
	if mode == "full" {
		// The kernel lets no file grow further, as on a full disk.
		signal.Ignore(syscall.SIGXFSZ)
		limit := &syscall.Rlimit{Cur: 600 << 10, Max: 600 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, limit); err != nil {
			return fail(err)
		}
	}
	at := time.Now()
	s, err := store.Open(ctx, dir, store.Options{Now: func() time.Time {
		if mode == "mount" { // at least one second between two reads of the clock
			at = at.Add(time.Second)
			return at
		}
		return time.Now()
	}})
	if err != nil {
		return fail(err)
	}
	switch mode {
	case "mount":
		return fail(errors.Join(sweepMounted(ctx, s), s.Close()))
	case "runs":
		for range 5 {
			if err := request(ctx, s, store.NewID(time.Now())); err != nil {
				return fail(err)
			}
		}
		return fail(s.Close())
	case "hold":
		c, err := s.Converse(ctx, store.Request{User: "ann", Chat: "c1", Assistant: "coder"})
		if err != nil {
			return fail(err)
		}
		w, err := s.OpenWorkspace(ctx, "ann", "c1", store.Limits{})
		if err != nil {
			return fail(err)
		}
		if _, err = s.Begin(ctx, store.Run{User: "ann", Assistant: "coder", Chat: "c1"}, store.Limits{}); err != nil {
			return fail(err)
		}
		fmt.Println("holds", c.Chat().ID, w.Dir)
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent kills it
		return 1
	case "write", "full":
		for {
			if err := request(ctx, s, "c1"); err != nil {
				return fail(err)
			}
			fmt.Println("done")
		}
	}
	return 2
}

// sweepMounted mounts a directory in a workspace, in its own mount namespace, and sweeps
// that.
func sweepMounted(ctx context.Context, s *store.Store) error {
	w, err := s.OpenWorkspace(ctx, "ann", "c1", store.Limits{})
	if err != nil {
		return err
	}
	at, from := filepath.Join(w.Dir, "a", "b", "mnt"), filepath.Join(filepath.Dir(s.Dir()), "outside")
	err = errors.Join(os.MkdirAll(filepath.Join(at, "c"), 0o700), w.Close(),
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount(from, at, "", syscall.MS_BIND, ""))
	if err != nil {
		return err
	}
	for range 2 { // the next sweep retries
		r, err := s.Sweep(ctx, store.Sweeping{OlderThan: time.Nanosecond})
		if err != nil {
			return err
		}
		fmt.Println(len(r.Workspaces), r.Left)
	}
	return nil
}

func fail(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, sandbox.CodeOf(err), err)
	return 1
}

// start starts a child, which ends with the test.
func start(t *testing.T, mode, dir string) (*osexec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := osexec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "STORE_CHILD="+mode, "STORE_DIR="+dir)
	cmd.Stderr = &strings.Builder{}
	_, err = cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

func Test_A_Writer_Killed_At_Any_Moment_Leaves_A_Consistent_Store(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	done := int64(0)
	for round := range 12 {
		cmd, out := start(t, "write", dir)
		for range round {
			if !out.Scan() {
				t.Fatalf("round %d: %v %s", round, cmd.Wait(), cmd.Stderr)
			}
			done++
		}
		must(t, cmd.Process.Kill())
		for out.Scan() { // the steps that it had printed when it died
			done++
		}
		_ = cmd.Wait() // it was killed
	}
	s := open(t, dir, store.Options{})
	must(t, request(t.Context(), s, "c1")) // no lock is left
	db := raw(t, dir)
	var check string
	must(t, db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&check))
	if check != "ok" {
		t.Error(check)
	}
	entries, err := s.History(t.Context(), "ann", "c1")
	must(t, err)
	turns := map[string]int{}
	for _, e := range entries {
		turns[e.Run]++
		if e.Message.Role == message.User && string(e.Message.Parts[1].Data) != strings.Repeat(e.Run, 100) {
			t.Errorf("run %s: its file is not whole", e.Run)
		}
	}
	for run, n := range turns {
		if n != 2 {
			t.Errorf("run %s has %d messages", run, n)
		}
	}
	got, err := s.Usage(t.Context(), store.Query{})
	must(t, err)
	finished := got.Total.Runs - got.Total.Unfinished
	if int64(len(turns)) < done+1 || finished < done+1 || finished > int64(len(turns)) {
		t.Errorf("%d requests were done; there are %d turns and %d finished runs", done+1, len(turns), finished)
	}
	if *got.Total.CostUSD != 0.5*float64(finished) {
		t.Errorf("%d runs were booked as $%g", finished, *got.Total.CostUSD)
	}
}

func Test_A_Full_Disk_Is_Reported_And_Loses_Nothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, out := start(t, "full", dir)
	done := 0
	for out.Scan() {
		done++
	}
	if err := cmd.Wait(); err == nil || done == 0 {
		t.Fatalf("%v after %d requests", err, done)
	}
	told := fmt.Sprint(cmd.Stderr)
	if !strings.HasPrefix(told, "exhausted") && !strings.HasPrefix(told, "unavailable") {
		t.Errorf("it said %q", told)
	}
	s := open(t, dir, store.Options{})
	must(t, request(t.Context(), s, "c1"))
	entries, err := s.History(t.Context(), "ann", "c1")
	must(t, err)
	if len(entries) < 2*(done+1) || len(entries)%2 != 0 {
		t.Errorf("%d requests were done, and there are %d messages", done+1, len(entries))
	}
}

func Test_Many_Processes_Use_One_Store_From_Its_First_Moment(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	var all []*osexec.Cmd
	for range 16 {
		cmd, _ := start(t, "runs", dir)
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stderr)
		}
	}
	s := open(t, dir, store.Options{})
	got, err := s.Usage(t.Context(), store.Query{})
	must(t, err)
	if got.Total.Runs != 80 || got.Total.Unfinished != 0 || got.Total.Usage.Input != 800 || *got.Total.CostUSD != 40 {
		t.Errorf("%+v", got.Total)
	}
	locks, err := os.ReadDir(filepath.Join(dir, "locks"))
	must(t, err)
	if len(locks) != 0 {
		t.Errorf("locks are left: %v", locks)
	}
}

// Y17: the number of running requests comes from kernel locks, not from a counter.
func Test_Locks_Of_A_Dead_Process_Are_Free(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, out := start(t, "hold", dir)
	if !out.Scan() {
		t.Fatalf("%v %s", cmd.Wait(), cmd.Stderr)
	}
	s := open(t, dir, store.Options{Now: func() time.Time { return time.Now().AddDate(0, 1, 0) }})
	_, err := s.Converse(t.Context(), store.Request{User: "ann", Chat: "c1", Assistant: "coder"})
	wants(t, err, sandbox.Exists, "chat c1 is busy with another request hint: wait")
	_, err = s.Begin(t.Context(), store.Run{User: "ann", Assistant: "coder"}, store.Limits{Requests: 1})
	wants(t, err, sandbox.Exhausted, "1 requests running")
	report, err := s.Sweep(t.Context(), store.Sweeping{})
	must(t, err)
	if report.Busy != 1 || len(report.Workspaces) != 0 {
		t.Errorf("a workspace in use: %+v", report)
	}
	runs, err := s.Runs(t.Context(), store.Query{}, 0)
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != "running" {
		t.Errorf("%+v", runs)
	}
	waiting := make(chan error, 1)
	go func() {
		c, err := s.Converse(t.Context(), store.Request{User: "ann", Chat: "c1", Assistant: "coder", Wait: true})
		if err == nil {
			err = c.Close()
		}
		waiting <- err
	}()
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	must(t, <-waiting)
	r, err := s.Begin(t.Context(), store.Run{User: "ann", Assistant: "coder"}, store.Limits{Requests: 1})
	must(t, err)
	must(t, r.Finish(t.Context(), event.Response{}))
	if report, err = s.Sweep(t.Context(), store.Sweeping{}); err != nil || len(report.Workspaces) != 1 {
		t.Errorf("%+v %v", report, err)
	}
	if runs, err = s.Runs(t.Context(), store.Query{}, 0); err != nil || len(runs) != 2 {
		t.Fatalf("%+v %v", runs, err)
	}
	if outcomes := runs[0].Outcome + " " + runs[1].Outcome; !strings.Contains(outcomes, store.Unfinished) || !strings.Contains(outcomes, string(event.NoResult)) {
		t.Error(outcomes)
	}
}

func Test_A_Sweep_Leaves_Mounts_In_A_Workspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	canary := filepath.Join(dir, "outside", "sub", "canary")
	must(t, os.MkdirAll(filepath.Dir(canary), 0o700))
	must(t, os.WriteFile(canary, []byte("alive"), 0o600))
	self, err := os.Executable()
	must(t, err)
	cmd := osexec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "STORE_CHILD=mount", "STORE_DIR="+filepath.Join(dir, "store"))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	told := strings.Split(string(out), "\n")
	if !strings.HasPrefix(told[0], "1 [") || !strings.HasPrefix(told[1], "0 [") || strings.Count(string(out), "device or resource busy") != 2 {
		t.Errorf("%s", out)
	}
	if text, err := os.ReadFile(canary); err != nil || string(text) != "alive" {
		t.Errorf("the canary: %q %v", text, err)
	}
	// The mount ended with its process.
	sweep(t, open(t, filepath.Join(dir, "store"), store.Options{}), store.Sweeping{})
	if left, err := os.ReadDir(filepath.Join(dir, "store", "workspaces", ".trash")); err != nil || len(left) != 0 {
		t.Errorf("the trash has %v %v", left, err)
	}
}
