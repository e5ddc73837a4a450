//go:build linux

package escape_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// target is a kind of sandbox that the attempts are made in.
type target struct {
	name      string
	flags     []string // of agent-sandbox, besides the case's own
	persistent      bool     // the sandbox is created, used by exec --in, and destroyed
	engine    string   // the socket of the container engine that makes it; "": none does
	env       []string // of the host, besides the case's own
	groups    []uint32 // that the user is in: the engine's socket's
	processes int      // that there may be where the policy's limit is 64
	always       []string // kinds of attempts that are made each time; see everywhere

	pod bool              // it has a copy of the work tree, from which nothing comes back
	insidePaths  map[string]string // words that stand for other paths inside

	// not says why an attempt is none on this wall; "": it is one.
	unsuitable func(c *escape) string
	// refuses is what agent-sandbox says to flags of an attempt that this wall cannot have; "": it has them.
	refuses func(c *escape) string
}

// bwrapTarget is that of agent-sandbox exec, which the matrix is about.
func bwrapTarget() *target { return &target{name: "bwrap", processes: 64, unsuitable: none, refuses: none} }

func persistentBwrapTarget() *target {
	return &target{
		name: "bwrap, persistent", persistent: true, processes: 64, unsuitable: none, refuses: none,
		always: append([]string{"A5.", "B15.", "E21.26", "F24.8", "F24.9"}, keeperAttempts()...),
	}
}

// keeperAttempts are the kinds of attempts that a keeper could change: what lives, and where the network's ends are.
func keeperAttempts() []string { return []string{"E21.29", "E21.30", "E23.", "F25."} }

func none(*escape) string { return "" }

// launch is the command line that makes the attempt, of agent-sandbox's flags and the command.
func (w *target) launch(h *host, flags, args []string) []string {
	line := []string{fixture.command, "exec", "--in", sandboxName}
	if !w.persistent {
		line = slices.Concat([]string{fixture.command, "exec"}, h.expandAll(w.flags), flags)
	}
	return slices.Concat(line, []string{"--"}, args)
}

// variables are what a case may use in scripts of the host: {run} runs a command in the sandbox of the attempt, {start} in one
// that is made for it, and {flags} are this wall's. {processes} is its limit where the policy's is 64.
func (w *target) variables(h *host, flags []string) map[string]string {
	text := func(args ...string) string { return strings.Join(args, " ") }
	own := text(h.expandAll(w.flags)...)
	start := text(fixture.command, "exec", own, "--")
	if w.persistent {
		start = text(fixture.command, "create", own, "late && "+fixture.command, "exec --in late --")
	}
	return map[string]string{
		"flags": own, "run": text(w.launch(h, flags, nil)...), "start": start, "processes": fmt.Sprint(w.processes),
	}
}

// sandboxName is the sandbox's, one in every host.
const sandboxName = "escape"

// isOwnFile tells whether a path, relative to the host's, is where agent-sandbox has what belongs to a living sandbox of this
// kind, or programs that it writes for the first one.
func (w *target) isOwnFile(path string) bool {
	const data = "home/.local/share/agent-sandbox/"
	return w.persistent && strings.HasPrefix(path, data+"sandboxes") || w.engine != "" && strings.HasPrefix(path, data+"docker") ||
		w.pod && strings.HasPrefix(path, data)
}

// isOwnSocket tells of a Unix socket's name whether it is a keeper's, which is the user's own, or the far end of a connection to
// an engine: such a one is in the network of who has connected.
func (w *target) isOwnSocket(name string) bool {
	keeper, _ := filepath.Match("/proc/self/fd/*/socket", name)
	return w.persistent && keeper || w.engine != "" && name == w.engine
}

// isInside tells whether what an attempt has achieved is in the container's own root file system, which root may write: a file
// at a path of the host's that the container does not show, whose own file is looked at afterwards, or bytes where no
// private file system is promised.
func (w *target) isInside(h *host, line string) bool {
	if w.pod { // whatever comes into being is in its own file systems
		return strings.HasSuffix(strings.TrimSpace(line), " exists")
	}
	if w.engine == "" {
		return false
	}
	if path, ok := strings.CutSuffix(strings.TrimSpace(line), " exists"); ok {
		path = strings.TrimPrefix(path, "OPEN ")
		return strings.HasPrefix(path, h.base+"/") && !strings.HasPrefix(path, h.work+"/")
	}
	return slices.ContainsFunc([]string{"/", "/run", "/dev"}, func(dir string) bool { return strings.HasPrefix(line, "OPEN "+dir+" took ") })
}

// exec is the command line of another sandbox of this kind beside the one under attack.
func (h *host) exec(args ...string) []string {
	return slices.Concat([]string{fixture.command, "exec"}, h.expandAll(h.target.flags), args)
}

// createPersistent creates the sandbox that exec --in uses, and returns what destroys it, or how it
// was refused.
func (c *escape) createPersistent(ctx context.Context, h *host, flags []string) (destroy func() error, refused *outcome) {
	if !h.target.persistent {
		return func() error { return nil }, nil
	}
	run := func(ctx context.Context, args ...string) *outcome {
		cmd := c.prepare(ctx, h, args)
		var out []byte
		var err error
		if c.Net == nil {
			out, err = cmd.CombinedOutput()
		} else if err = c.network.Begin(c.Net); err == nil {
			err = c.network.Machine.Do(func() (err error) { // whose network the keeper is on
				out, err = cmd.CombinedOutput()
				return err
			})
		}
		if err == nil {
			return nil
		}
		o := &outcome{stderr: string(out), code: cmd.ProcessState.ExitCode()}
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			o.err = err
		}
		return o
	}
	create := slices.Concat([]string{fixture.command, "create"}, h.expandAll(h.target.flags), h.expandAll(c.Flags), flags, []string{sandboxName})
	if o := run(ctx, create...); o != nil {
		return nil, o
	}
	return func() error {
		out, err := c.prepare(context.WithoutCancel(ctx), h, []string{fixture.command, "destroy", sandboxName}).CombinedOutput()
		if err != nil {
			return fmt.Errorf("destroy: %w\n%s", err, out)
		}
		return nil
	}, nil
}

// completeVariable is the variable that has all attempts made on all backends as all users, which takes long: a sandbox is made for
// each. Without it a run makes a part; see planned.
const completeVariable = "AGENT_SANDBOX_ESCAPE"

// chooseAttempts returns the attempts that a run makes as a user: with the variable everywhere all of them, else all that a
// container or a supervisor inside could change, and one of each other row of the catalogue. Which one, and as whom, differs
// from backend to backend, and is the same in each run.
func (w *target) chooseAttempts(made []escape, u user) (chosen []escape) {
	if os.Getenv(completeVariable) == "all" {
		return made
	}
	rows := map[string][]string{} // the attempts of the rows that have none among the few
	for _, c := range made {
		rows[rowOf(c.ID)] = append(rows[rowOf(c.ID)], c.ID)
	}
	for _, c := range made {
		if w.isAlways(c.ID) {
			delete(rows, rowOf(c.ID))
		}
	}
	for _, c := range made {
		switch ids := rows[rowOf(c.ID)]; {
		case w.isAlways(c.ID) && (u.uid != 0 || !w.pod && differsForRoot(c.ID)), // their users are chosen by what differs
			len(ids) > 0 && ids[hash(w.name, rowOf(c.ID))%len(ids)] == c.ID && u.uid != 0:
			chosen = append(chosen, c)
		}
	}
	return chosen
}

func (w *target) isAlways(id string) bool {
	return slices.ContainsFunc(w.always, func(kind string) bool { return strings.HasPrefix(id, kind) })
}

// rowOf is the row of the catalogue that a case is in: "A1" of "A1.2".
func rowOf(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name
}

func hash(words ...string) int {
	h := fnv.New32a()
	for _, w := range words {
		_, _ = h.Write([]byte(w)) // it never fails
	}
	return int(h.Sum32() >> 1)
}

// differsForRoot tells whether root, without a capability, has more behind these walls than other owners of a work tree:
// what the kernel shows as files belongs to root.
func differsForRoot(id string) bool { return strings.HasPrefix(id, "A5.") || id[0] == 'C' || id[0] == 'G' }

// Test_Escape_Resident makes the attempts in sandboxes that live on.
func Test_Escape_Resident(t *testing.T) {
	requireBwrap(t)
	persistentBwrapTarget().run(t, bwrapAttempts())
}

// Test_Escape_Docker makes the attempts in containers of a real engine, and those that only containers know.
func Test_Escape_Docker(t *testing.T) {
	dockerTarget(t).run(t, append(bwrapAttempts(), contained()...))
}

// Test_Escape_Resident_Docker makes them in containers that live on.
func Test_Escape_Resident_Docker(t *testing.T) {
	w := dockerTarget(t)
	w.name, w.persistent, w.always = "docker, persistent", true, append([]string{"A5.", "G40."}, keeperAttempts()...)
	w.run(t, append(bwrapAttempts(), contained()...))
}

// run makes the attempts but no control: that knows no wall, and Test_Escape makes it. Those that only pods know have
// theirs here.
func (w *target) run(t *testing.T, all []escape) {
	t.Helper()
	checkCatalogue(t, all)
	made, res := slices.DeleteFunc(slices.Clone(all), func(c escape) bool { return w.unsuitable(&c) != "" }), &results{}
	us := []user{{"user", plainUser}, {"root", 0}}
	if self := os.Getuid(); self != 0 {
		us = []user{{"user", self}}
	}
	for _, u := range us {
		t.Run(u.name, func(t *testing.T) {
			chosen := w.chooseAttempts(made, u)
			for _, c := range chosen {
				t.Run(c.ID+" "+c.Name, func(t *testing.T) {
					c.prepareNetwork(t)
					res.set(c.ID, u.name, verdictFailed)
					c.attemptOn(t, w, u)
					if c.ID[0] == 'H' {
						c.runControl(t, u)
					}
					if !t.Failed() {
						res.set(c.ID, u.name, verdictHeld)
					}
				})
			}
			t.Logf("%d of %d attempts; %s=all makes all", len(chosen), len(made), completeVariable)
		})
	}
	t.Run("the threat model says the same", func(t *testing.T) {
		begin := "<!-- " + w.name + ": written by `" + completeVariable + "=all go test ./test/e2e/escape -update` -->"
		compareDocument(t, begin, "<!-- end of "+w.name+" -->", w.summarize(all, res), *update && res.findMissing(made) == "")
	})
}

// summarize says what became of all attempts on a wall. One that this run has not made counts as one that holds.
func (w *target) summarize(all []escape, res *results) string {
	type reason struct{ kind, text string }
	var order []reason
	ids := map[reason][]string{}
	note := func(kind, text, id string) {
		r := reason{kind, text}
		if ids[r] == nil {
			order = append(order, r)
		}
		ids[r] = append(ids[r], id)
	}
	held, refused := map[string]int{}, 0
	for _, c := range all {
		switch says := w.refuses(&c); {
		case w.unsuitable(&c) != "":
			note("not made", w.unsuitable(&c), c.ID)
			continue
		case says != "":
			note("refused", says, c.ID)
			refused++
		}
		for _, u := range users {
			if res.at(c.ID, u) == verdictFailed {
				note("open", "as "+u+" it is not true that "+c.Name, c.ID)
			} else {
				held[u]++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d cases; %d hold as root, %d as a plain user", w.name, len(all), held["root"], held["user"])
	if refused > 0 {
		fmt.Fprintf(&b, ", %d of them because the flag is refused and nothing runs", refused)
	}
	b.WriteString(".\n")
	for i, r := range order {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s (%s): %s.\n", joinRanges(ids[r]), r.kind, r.text)
	}
	return b.String()
}

// attemptOn makes one attempt on a wall.
func (c *escape) attemptOn(t *testing.T, w *target, u user) {
	t.Helper()
	h := c.newHost(t, u.uid)
	h.target = w
	if w.pod {
		h.addAttacker()
	}
	if c.Setup != nil {
		c.Setup(h)
	}
	o := c.attempt(h, true, nil)
	var err error
	if says := w.refuses(c); says != "" {
		err = errors.Join(h.checkRefused(o, says), h.checkUntouched(), h.checkClean())
	} else {
		err = c.judge(h, o)
	}
	if err != nil {
		t.Errorf("the wall does not hold: %v\n%s", err, o)
	}
	h.clear()
}

// checkRefused wants nothing to have run, for a reason.
func (h *host) checkRefused(o outcome, says string) error {
	if o.err != nil || o.tried() || o.code != 125 || !strings.Contains(o.stderr, says) {
		return fmt.Errorf("want exit code 125, nothing run, and %q said (%w)", says, o.err)
	}
	return h.checkUnchanged("")
}
