//go:build linux

package persistent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// forked is the name of the forks of a place; at most one exists at a time.
const forked = "offspring"

// files is the number of files of a sandbox; each contains the number of the round that wrote it.
const files = 40

// owning is a place whose sandbox has its own files, and snapshots of them.
type owning struct {
	*place

	dir       string         // the directory of the files, inside
	flags     []string       // of create
	snapshots map[string]int // the snapshots, with the round of each
	took      map[string]time.Duration
	count     map[string]int
}

// operation changes files; a process is killed during it.
type operation struct {
	name string
	// args returns the command line; nil: not possible now.
	args func(o *owning, r *rand.Rand, round int) []string
	// settle checks the result. It returns other rounds that the files may now have; without those they must have this
	// round.
	settle func(t *testing.T, o *owning, args []string, round int) (may []int, err error)
}

var operations = []operation{
	{"snapshot", func(_ *owning, _ *rand.Rand, round int) []string {
		return []string{"snapshot", name, "s" + strconv.Itoa(round)}
	}, settleSnapshots},
	{"restore", func(o *owning, r *rand.Rand, _ int) []string {
		return []string{"restore", name, o.anySnapshot(r)}
	}, settleRestore},
	{"fork", func(*owning, *rand.Rand, int) []string { return []string{"fork", name, forked} }, settleFork},
	{"fork --snapshot", func(o *owning, r *rand.Rand, _ int) []string {
		return []string{"fork", "--snapshot", o.anySnapshot(r), name, forked}
	}, settleFork},
	{"apply", func(o *owning, _ *rand.Rand, _ int) []string {
		if o.backend == "docker" {
			return nil // commands in containers write to the workspace directly
		}
		return []string{"apply", name}
	}, settleApply},
	{"snapshots --remove", func(o *owning, r *rand.Rand, _ int) []string {
		return []string{"snapshots", "--remove", o.anySnapshot(r), name}
	}, settleSnapshots},
}

func (o *owning) anySnapshot(r *rand.Rand) string {
	all := make([]string, 0, len(o.snapshots))
	for s := range o.snapshots {
		all = append(all, s)
	}
	slices.Sort(all) // sorted, so that a seed determines the choice
	return all[r.IntN(len(all))]
}

// settleSnapshots determines the existing snapshots: complete ones only.
func settleSnapshots(t *testing.T, o *owning, args []string, round int) ([]int, error) {
	t.Helper()
	var list []struct {
		Name string `json:"name"`
	}
	if err := o.says(&list, "snapshots", "--json", name); err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, s := range list {
		there[s.Name] = true
		if _, ok := o.snapshots[s.Name]; !ok {
			if args[0] != "snapshot" || s.Name != args[2] {
				return nil, fmt.Errorf("an unexpected snapshot %s", s.Name)
			}
			o.snapshots[s.Name] = round
		}
	}
	for s := range o.snapshots {
		if there[s] {
			continue
		}
		if args[0] != "snapshots" || s != args[2] {
			return nil, fmt.Errorf("the snapshot %s is gone", s)
		}
		delete(o.snapshots, s)
	}
	return []int{round}, nil
}

// settleRestore applies the sandbox's state to the workspace: a snapshot does not contain the record of changes applied
// after it.
func settleRestore(_ *testing.T, o *owning, args []string, round int) (may []int, err error) {
	if o.backend != "docker" {
		err = o.run("apply", "--force", name)
	}
	return []int{round, o.snapshots[args[2]]}, err
}

// settleFork checks that the fork either has all files or does not exist, and destroys it.
func settleFork(_ *testing.T, o *owning, args []string, round int) ([]int, error) {
	var list []struct {
		ID string `json:"name"`
	}
	if err := o.says(&list, "list", "--json"); err != nil {
		return nil, err
	}
	if len(list) < 2 {
		return []int{round}, nil
	}
	want := round
	if args[1] == "--snapshot" {
		want = o.snapshots[args[2]]
	}
	if err := o.up(forked); err != nil {
		return nil, err
	}
	if err := o.holds(forked, want); err != nil {
		return nil, fmt.Errorf("the fork: %w", err)
	}
	return []int{round}, o.end(forked)
}

// settleApply applies again, before any other operation. It must succeed, and the workspace then has all files.
func settleApply(_ *testing.T, o *owning, _ []string, round int) ([]int, error) {
	if err := o.run("apply", name); err != nil {
		return nil, fmt.Errorf("again: %w", err)
	}
	for i := range files {
		data, err := os.ReadFile(filepath.Join(o.work, "own", strconv.Itoa(i)))
		if err != nil || strings.TrimSpace(string(data)) != strconv.Itoa(round) {
			return nil, fmt.Errorf("file %d in the workspace: %q, %w", i, data, err)
		}
	}
	return []int{round}, nil
}

// says runs the command and decodes its output.
func (o *owning) says(into any, args ...string) error {
	cmd := o.prepare(args...)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%q: %w", args, err)
	}
	return json.Unmarshal(out, into)
}

// up starts a sandbox unless it runs.
func (o *owning) up(name string) error {
	if err := o.run("start", name); err != nil && !strings.Contains(err.Error(), "runs already") {
		return err
	}
	return nil
}

// write writes the round's number to all files.
func (o *owning) write(round int) error {
	return o.run("exec", "--in", name, "--", "sh", "-c", fmt.Sprintf(
		"mkdir -p %[1]s && i=0; while [ $i -lt %[2]d ]; do echo %[3]d >%[1]s/$i || exit 1; i=$((i+1)); done", o.dir, files, round))
}

// holds checks that all files of a sandbox have one of these rounds.
func (o *owning) holds(name string, rounds ...int) error {
	cmd := o.prepare("exec", "--in", name, "--", "sh", "-c", fmt.Sprintf("cat %s/* | sort | uniq -c", o.dir))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, r := range rounds {
		if slices.Equal(strings.Fields(string(out)), []string{strconv.Itoa(files), strconv.Itoa(r)}) {
			return nil
		}
	}
	return fmt.Errorf("the files are %q; want %d times one of %d", out, files, rounds)
}

// end destroys a sandbox and its stage.
func (o *owning) end(name string) error {
	if o.backend != "docker" {
		if err := o.run("discard", name); err != nil {
			return err
		}
	}
	return o.run("destroy", name)
}

func (o *owning) begin(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		for _, box := range []string{name, forked} {
			if err := o.run("destroy", box); err != nil && !strings.Contains(err.Error(), "no sandbox") {
				t.Error(err)
			}
		}
	})
	o.snapshots = map[string]int{}
	args := append([]string{"create", "--backend", o.backend, "--env", "PERSISTENT_MARK"}, o.flags...)
	if err := o.run(append(args, name)...); err != nil {
		t.Fatal(err)
	}
}

// calm runs each operation once without a kill. It measures their durations, and creates the files that are created
// once.
func (o *owning) calm(t *testing.T, r *rand.Rand) {
	t.Helper()
	o.begin(t)
	for round, op := range operations { // the first operation creates a snapshot
		if err := o.write(round); err != nil {
			t.Fatal(err)
		}
		args := op.args(o, r, round)
		if args == nil {
			continue
		}
		begin := time.Now()
		err := o.run(args...)
		o.took[op.name] = time.Since(begin)
		if err == nil {
			_, err = op.settle(t, o, args, round)
		}
		if err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
	}
	if err := o.end(name); err != nil {
		t.Fatal(err)
	}
}

// whom has the names of the processes to kill.
var whom = []string{"the command line", "the keeper", "the fork's keeper"}

func (o *owning) opRound(t *testing.T, r *rand.Rand, op operation, round int) error {
	t.Helper()
	if err := o.up(name); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if err := o.write(round); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if len(o.snapshots) == 0 {
		first := "first" + strconv.Itoa(round)
		if err := o.run("snapshot", name, first); err != nil {
			return err
		}
		o.snapshots[first] = round
	}
	args := op.args(o, r, round)
	if args == nil {
		return nil
	}
	who := whom[r.IntN(len(whom))]
	if who == whom[2] && args[0] != "fork" {
		who = whom[1]
	}
	at := time.Duration(r.Int64N(int64(o.took[op.name] * 5 / 4)))
	cmd := o.prepare(args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	<-time.After(at)
	o.strike(who, cmd)
	_ = cmd.Wait() // it was killed, failed, or had ended
	o.count[op.name+", "+who]++
	o.note(t)
	if err := o.after(t, op, args, round); err != nil {
		return fmt.Errorf("%q, %s killed after %v: %w", args, who, at, err)
	}
	return nil
}

func (o *owning) strike(who string, cmd *exec.Cmd) {
	switch who {
	case whom[0]:
		_ = cmd.Process.Kill() // it may have ended
	case whom[1]:
		_ = kill(o.find(command, " keep ", name))
	default:
		_ = kill(o.find(command, " keep ", forked))
	}
}

func (o *owning) after(t *testing.T, op operation, args []string, round int) error {
	t.Helper()
	// Processes of a killed keeper continue for a moment, and then end.
	if err := o.run("stop", name); err != nil {
		return err
	}
	may, err := op.settle(t, o, args, round)
	if err == nil {
		err = o.up(name)
	}
	if err == nil {
		o.note(t)
		err = o.holds(name, may...)
	}
	if err == nil {
		err = o.run("stop", name)
	}
	if err != nil {
		return err
	}
	if left := o.quiet(20 * time.Second); len(left) > 0 {
		return fmt.Errorf("processes are left: %v", left)
	}
	return nil
}

// operating kills a process during operations that change a sandbox's files, for a number of rounds.
func operating(t *testing.T, p *place, dir string, n int, flags ...string) {
	t.Helper()
	r := chance(t)
	o := &owning{place: p, dir: dir, flags: flags, took: map[string]time.Duration{}, count: map[string]int{}}
	o.calm(t, r)
	before := p.residue(t)
	o.begin(t)
	const first = 100 // differs from the rounds of calm
	for i := range n {
		op := operations[r.IntN(len(operations))]
		if err := o.opRound(t, r, op, first+i); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
	if err := o.up(name); err != nil {
		t.Fatal(err)
	}
	if err := o.end(name); err != nil {
		t.Fatal(err)
	}
	// An engine prunes for one client at a time, so the latest remains may need a second prune.
	o.begin(t)
	if err := o.end(name); err != nil {
		t.Fatal(err)
	}
	p.compare(t, before)
	t.Logf("%d rounds: %v; they take %v", n, o.count, o.took)
}

func Test_Killed_In_An_Operation_A_Stage_Is_Consistent(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		unavailable(t, "bwrap", fmt.Sprintf("%v: %s", err, out))
	}
	operating(t, newPlace(t, "bwrap", ""), "own", rounds(t, 24), "--stage")
}

func Test_Killed_In_An_Operation_Memory_Is_Consistent(t *testing.T) {
	operating(t, newPlace(t, "virtual", ""), "own", rounds(t, 24))
}

func Test_Killed_In_An_Operation_A_Container_Is_Consistent(t *testing.T) {
	operating(t, newPlace(t, "docker", engine(t)), "$HOME/own", rounds(t, 12), "--image", image)
}
