//go:build linux

package persist_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// TestMain is also the keeper: "keep BACKEND DATA NAME".
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "keep" {
		os.Exit(keeperMain(os.Args[2], os.Args[3], os.Args[4]))
	}
	os.Exit(m.Run())
}

// driverOf returns the inner driver.
func driverOf(backend, data string) sandbox.Driver {
	if host, ok := strings.CutPrefix(backend, "docker@"); ok {
		return docker.New(docker.Options{Env: []string{"DOCKER_HOST=" + host}, DataDir: data, Image: "debian:bookworm-slim"})
	}
	if backend == "virtual" {
		return virtual.New(virtual.Options{Apply: true})
	}
	return bwrap.New(bwrap.Options{DataDir: data})
}

func keeperMain(backend, data, name string) int {
	ready := false
	store := persist.Store{Dir: filepath.Join(data, "sandboxes")}
	log := persist.NewLog(os.Stderr)
	driver := driverOf(backend, data)
	err := store.Keep(context.Background(), name, persist.Holding{Driver: driver, Env: os.Environ(), Log: log, Ready: func() {
		ready = true
		persist.Ready(nil)
	}})
	if err == nil {
		return 0
	}
	if !ready {
		persist.Ready(err)
	}
	return 1
}

// newDriver returns a driver with a data directory of the test.
func newDriver(t *testing.T) *persist.Driver {
	t.Helper()
	if out, err := exec.Command("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil { //nolint:noctx // at once
		if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "bwrap") {
			t.Fatalf("bubblewrap is required: %v: %s", err, out)
		}
		t.Skipf("bubblewrap cannot run here: %v: %s", err, out)
	}
	return newDriverOver(t, "bwrap")
}

// newDriverOver returns a driver of persistent sandboxes over a backend, whose keeper is this test's binary.
func newDriverOver(t *testing.T, backend string) *persist.Driver {
	t.Helper()
	data := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &persist.Driver{
		Inner: driverOf(backend, data), Store: persist.Store{Dir: filepath.Join(data, "sandboxes")},
		Keeper: []string{self, "keep", backend, data},
	}
}

// harness gives each sandbox of the contract test a name.
type harness struct {
	sandboxtest.Local

	count *atomic.Int64
}

func (h harness) Spec(dir string) sandbox.Spec {
	spec := h.Local.Spec(dir)
	spec.Name = "contract-" + strconv.FormatInt(h.count.Add(1), 10)
	return spec
}

// SnapshotSpec returns a Spec with a stage: only stages have snapshots.
func (h harness) SnapshotSpec(dir string) sandbox.Spec {
	spec := h.Spec(dir)
	spec.Stage = spec.Name
	return spec
}

func (h harness) ForkName() string { return "fork-" + strconv.FormatInt(h.count.Add(1), 10) }

func Test_A_Persistent_Sandbox_Keeps_The_Contract(t *testing.T) {
	d := newDriver(t)
	t.Setenv("TMPDIR", t.TempDir())
	h := harness{Local: sandboxtest.Local{Backend: d, Data: []string{d.Store.Dir}}, count: new(atomic.Int64)}
	sandboxtest.Run(t, h, os.Getenv("SANDBOX_REQUIRE"))
}

// alone are the cases in which sandboxes see each other's changes at once, in the workspace of the host. They do not
// apply to a persistent sandbox in memory, which has its own files until they are applied.
var alone = []string{
	"the wall-clock limit kills the whole process tree",
	"cancel kills the whole process tree",
	"close kills what a command left running",
	"two sandboxes over one directory see each other's files",
}

func Test_A_Persistent_Sandbox_In_Memory_Keeps_The_Contract(t *testing.T) {
	d := newDriverOver(t, "virtual")
	t.Setenv("TMPDIR", t.TempDir())
	h := memoryHarness{harness{Local: sandboxtest.Local{Backend: d, Data: []string{d.Store.Dir}}, count: new(atomic.Int64)}}
	cases := slices.DeleteFunc(sandboxtest.Cases(), func(c sandboxtest.Case) bool { return slices.Contains(alone, c.Name) })
	if n := len(sandboxtest.Cases()) - len(cases); n != len(alone) {
		t.Errorf("%d of %d names are those of cases of the contract", n, len(alone))
	}
	sandboxtest.RunCases(t, h, cases)
}

// memoryHarness is a harness for sandboxes whose files are all in memory.
type memoryHarness struct{ harness }

func (h memoryHarness) SnapshotSpec(dir string) sandbox.Spec { return h.Spec(dir) }

func spec(t *testing.T, name string) sandbox.Spec {
	t.Helper()
	return sandbox.Spec{
		Name: name, Workspace: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin", "MARK=" + t.Name()},
		Policy: sandbox.Policy{Env: sandbox.Env{Pass: []string{"MARK"}}},
	}
}

func create(t *testing.T, d *persist.Driver, name string) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.Create(t.Context(), d, spec(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Destroy(context.Background(), name) })
	return box
}

// marked returns the processes that belong to this test by a variable in their environment.
func marked(t *testing.T) []string {
	t.Helper()
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err == nil && bytes.Contains(env, []byte("MARK="+t.Name()+"\x00")) {
			line, _ := os.ReadFile(dir + "/cmdline")
			out = append(out, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

func Test_A_Sandbox_Outlives_The_Process_That_Created_It(t *testing.T) {
	d := newDriver(t)
	box := create(t, d, "one")
	if res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo text >/tmp/f; sleep 1000 >/dev/null 2>&1 &"}}); err != nil || res.Code != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := box.Detach(); err != nil {
		t.Fatal(err)
	}
	if _, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"true"}}); sandbox.CodeOf(err) != sandbox.Closed {
		t.Errorf("after detach: %v", err)
	}
	again, err := sandbox.Open(t.Context(), d, "one")
	if err != nil {
		t.Fatal(err)
	}
	res, err := again.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "cat /tmp/f; pgrep -c sleep"}})
	if err != nil || string(res.Stdout) != "text\n1\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := marked(t); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
	if err := d.Destroy(t.Context(), "one"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("destroyed twice: %v", err)
	}
}

func Test_Only_One_Of_Many_Creates_Gets_The_Name(t *testing.T) {
	d := newDriver(t)
	var made, refused atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			box, err := sandbox.Create(t.Context(), d, spec(t, "same"))
			switch sandbox.CodeOf(err) {
			case "":
				made.Add(1)
				_ = box.Detach()
			case sandbox.Exists:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d were made, %d refused", made.Load(), refused.Load())
	}
	if err := d.Destroy(t.Context(), "same"); err != nil {
		t.Error(err)
	}
}

func Test_Many_Sandboxes_At_Once(t *testing.T) {
	d := newDriver(t)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			name := "many-" + strconv.Itoa(i)
			box, err := sandbox.Create(t.Context(), d, spec(t, name))
			if err != nil {
				t.Error(err)
				return
			}
			if res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo " + name}}); err != nil || string(res.Stdout) != name+"\n" {
				t.Errorf("%+v, %v", res, err)
			}
			if err := box.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if infos, err := d.List(t.Context()); err != nil || len(infos) != 0 {
		t.Errorf("%v, %v", infos, err)
	}
}

// keeperOf returns the PID of a sandbox's keeper.
func keeperOf(t *testing.T, name string) int {
	t.Helper()
	for _, line := range marked(t) {
		if pid, args, _ := strings.Cut(line, " "); strings.Contains(args, " keep ") && strings.HasSuffix(args, " "+name+" ") {
			n, _ := strconv.Atoi(pid)
			return n
		}
	}
	t.Fatalf("no keeper: %q", marked(t))
	return 0
}

func Test_A_Killed_Keeper_Ends_All_Processes_Of_Its_Sandbox(t *testing.T) {
	d := newDriver(t)
	box := create(t, d, "victim")
	run, err := box.Start(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "setsid sleep 1000 & sleep 1001"}}, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	pids := map[int]int{} // to pidfds
	for _, line := range marked(t) {
		pid, _, _ := strings.Cut(line, " ")
		n, _ := strconv.Atoi(pid)
		if fd, err := unix.PidfdOpen(n, 0); err == nil {
			pids[n] = fd
		}
	}
	if len(pids) < 4 {
		t.Errorf("only these run: %q", marked(t))
	}
	if err := unix.Kill(keeperOf(t, "victim"), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(); sandbox.CodeOf(err) != sandbox.Closed {
		t.Errorf("the command's end: %v", err)
	}
	for pid, fd := range pids {
		if !ends(fd) {
			t.Errorf("process %d is left", pid)
		}
		_ = unix.Close(fd)
	}
	if runs, err := d.Store.Runs("victim"); runs || err != nil {
		t.Errorf("it runs: %v, %v", runs, err)
	}
	if _, err := sandbox.Open(t.Context(), d, "victim"); sandbox.CodeOf(err) != sandbox.Closed {
		t.Errorf("opened: %v", err)
	}
	if err := d.Start(t.Context(), "victim", []string{"PATH=/usr/bin:/bin", "MARK=" + t.Name()}); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(t.Context(), "victim", nil); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("started twice: %v", err)
	}
	again, err := sandbox.Open(t.Context(), d, "victim")
	if err != nil {
		t.Fatal(err)
	}
	if res, err := again.Run(t.Context(), sandbox.Cmd{Args: []string{"echo", "back"}}); err != nil || string(res.Stdout) != "back\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

func Test_A_Supervisor_Killed_From_Inside_Ends_The_Sandbox(t *testing.T) {
	d := newDriver(t)
	box := create(t, d, "inside")
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "kill -9 2; sleep 1000"}})
	if err == nil && res.Code == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := d.Store.Stop(t.Context(), "inside"); err != nil { // when it has ended
		t.Error(err)
	}
	if left := marked(t); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
}

// ended waits until the keeper of a sandbox has released its lock.
func ended(t *testing.T, d *persist.Driver, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(time.Minute))
	defer cancel()
	if err := d.Store.Await(ctx, name); err != nil && !errors.Is(err, sandbox.ErrNotFound) {
		t.Fatal(err)
	}
}

// Y15: a sandbox is idle only while no command runs, whatever the start of the last command was.
func Test_An_Idle_Sandbox_Stops_And_A_Busy_One_Does_Not(t *testing.T) {
	d := newDriver(t)
	d.Idle = 2 * time.Second
	box := create(t, d, "idle")
	if res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sleep", "3"}}); err != nil || res.Code != 0 {
		t.Errorf("while it was busy: %+v, %v", res, err)
	}
	ended(t, d, "idle")
	if _, err := d.Store.Load("idle"); err != nil {
		t.Errorf("its record: %v", err)
	}
}

func Test_A_Sandbox_Whose_Time_Is_Over_Is_Destroyed(t *testing.T) {
	d := newDriver(t)
	begin := time.Now()
	other := create(t, d, "other")
	d.TTL = 3*time.Second + 5*time.Since(begin) // the command must run by then
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	box := create(t, d, "old")
	keeper, err := unix.PidfdOpen(keeperOf(t, "old"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(keeper)
	if res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sleep", fmt.Sprint((d.TTL + time.Second).Seconds())}}); err != nil || res.Code != 0 {
		t.Errorf("while it was busy: %+v, %v", res, err)
	}
	ended(t, d, "old")
	if _, err := d.Store.Load("old"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("its record: %v", err)
	}
	if !ends(keeper) { // the sandbox is renamed first, and then removed
		t.Error("its keeper stays")
	}
	if entries, err := os.ReadDir(d.Store.Dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// deletions are the ways in which a user may delete a sandbox's directory, or the directory of all sandboxes.
var deletions = map[string]func(dir string) error{
	"its directory": os.RemoveAll,
	"its record":    func(dir string) error { return os.Remove(filepath.Join(dir, "record.json")) },
	"all state":     func(dir string) error { return os.RemoveAll(filepath.Dir(filepath.Dir(dir))) },
}

func Test_A_Sandbox_Whose_Record_Is_Deleted_Ends(t *testing.T) {
	for what, do := range deletions {
		t.Run(what, func(t *testing.T) {
			d := newDriver(t)
			box := create(t, d, "deleted")
			deleted(t, d, box, do)
		})
	}
}

// deleted deletes the directory of a sandbox in which a command runs, and waits for its end.
func deleted(t *testing.T, d *persist.Driver, box *sandbox.Sandbox, do func(dir string) error) {
	t.Helper()
	if res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "sleep 86400 >/dev/null 2>&1 &"}}); err != nil || res.Code != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	ender, ok := sandbox.As[persist.Ender](box.Unwrap())
	if !ok {
		t.Fatal("its end is not reported")
	}
	running := marked(t)
	dir := filepath.Join(d.Store.Dir, box.ID())
	if err := do(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // the keeper removes the same files
		t.Fatal(err)
	}
	<-ender.Ended()
	for _, one := range running {
		gone(t, one)
	}
	if left, _ := filepath.Glob(filepath.Join(d.Store.Dir, "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// gone waits for the end of a process that marked has returned.
func gone(t *testing.T, one string) {
	t.Helper()
	number, _, _ := strings.Cut(one, " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if !ends(fd) {
		t.Errorf("it is left: %s", one)
	}
}

// ends waits for the end of a process.
func ends(pidfd int) bool {
	const patience = 20_000
	n, err := 0, error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, patience)
	}
	return n == 1
}

func Test_A_Failed_Start_Leaves_No_Files(t *testing.T) {
	d := newDriver(t)
	s := spec(t, "bad")
	s.Workspace = filepath.Join(t.TempDir(), "gone")
	_, err := sandbox.Create(t.Context(), d, s)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(d.Store.Dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if left := marked(t); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
}

// The next sweep removes the directories of killed processes, whatever their age, but none that a process is using.
func Test_A_Sweep_Removes_Incomplete_Directories(t *testing.T) {
	store := persist.Store{Dir: t.TempDir()}
	for _, dir := range []string{".new-dead", ".new-bare", ".new-alive", ".gone-dead-1/state/deep", ".gone-alive-2"} {
		if err := os.MkdirAll(filepath.Join(store.Dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{".new-dead", ".new-alive", ".gone-alive-2", ".gone-dead-1"} {
		f, err := os.Create(filepath.Join(store.Dir, dir, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if !strings.Contains(dir, "alive") {
			continue
		}
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := store.List(); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	entries, err := os.ReadDir(store.Dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != ".gone-alive-2" || entries[1].Name() != ".new-alive" {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func Test_A_Sweep_Spares_Directories_That_Are_Being_Created(t *testing.T) {
	store := persist.Store{Dir: t.TempDir()}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 10 {
				if err := store.Add(persist.Record{ID: "box-" + strconv.Itoa(i*100+n), Backend: "bwrap"}); err != nil {
					t.Error(err)
				}
				if _, err := store.List(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if list, err := store.List(); err != nil || len(list) != 4*10 {
		t.Errorf("%d, %v", len(list), err)
	}
}

func Test_The_Environment_Is_Not_Stored(t *testing.T) {
	d := newDriver(t)
	s := spec(t, "env")
	s.Env = append(s.Env, "API_TOKEN=hunter2")
	box, err := sandbox.Create(t.Context(), d, s)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close(context.Background())
	_ = filepath.WalkDir(d.Store.Dir, func(path string, e os.DirEntry, _ error) error {
		data, _ := os.ReadFile(path)
		info, _ := e.Info()
		if bytes.Contains(data, []byte("hunter2")) || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s (%v) holds a secret, or others may open it", path, info.Mode())
		}
		return nil
	})
}

func Test_A_Record_Has_Image_And_Volumes_Beside_The_Other_Fields_Of_The_Spec(t *testing.T) {
	store := persist.Store{Dir: t.TempDir()}
	dir := filepath.Join(store.Dir, "old")
	const record = `{"backend": "docker", "spec": {"Workspace": "/w", "Image": "debian:12", "Target": "/src",
		"Volumes": [{"name": "v", "target": "/v"}], "Firewall": ["@default"]}}`
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "record.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := store.Load("old")
	want := sandbox.Spec{Workspace: "/w", Container: sandbox.Container{
		Image: "debian:12", Target: "/src", Volumes: []sandbox.Volume{{Name: "v", Target: "/v"}}, Firewall: []string{"@default"},
	}}
	if err != nil || !reflect.DeepEqual(got.Spec, want) {
		t.Errorf("loaded %+v, %v; expected %+v", got.Spec, err, want)
	}
}

func Test_Unknown_And_Invalid_Names_Are_Refused(t *testing.T) {
	d := newDriver(t)
	for _, name := range []string{".", "..", "../x", "a/b", "a b", "-a", ".a", strings.Repeat("a", 64), "a\n", "ä"} {
		if err := persist.CheckName(name); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("check %q: %v", name, err)
		}
		for what, err := range map[string]error{
			"destroy": d.Destroy(t.Context(), name), "stop": d.Store.Stop(t.Context(), name), "start": d.Start(t.Context(), name, nil),
		} {
			if sandbox.CodeOf(err) != sandbox.NotFound {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}
