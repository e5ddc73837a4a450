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

// target is a kind of sandbox in which attempts are made.
type target struct {
	name       string
	flags      []string // of agent-sandbox, besides the case's own
	persistent bool     // the sandbox is created, used by exec --in, and destroyed
	engine     string   // the socket of the container engine that creates it; "": none
	env        []string // of the host, in addition to the case's own
	groups     []uint32 // the user's groups: that of the engine's socket
	processes  int      // the limit where the policy's is 64
	always     []string // prefixes of the IDs of attempts that every run makes; see completeVariable

	pod         bool              // it has a copy of the work tree that is not copied back
	insidePaths map[string]string // variables that have other values inside

	// unsuitable returns why an attempt proves nothing on this target; "": it proves something.
	unsuitable func(c *escape) string
	// refuses returns the error of agent-sandbox for flags of an attempt that this target does not support; "": it supports them.
	refuses func(c *escape) string
}

// bwrapTarget is a sandbox of agent-sandbox exec, which the matrix is about.
func bwrapTarget() *target {
	return &target{name: "bwrap", processes: 64, unsuitable: none, refuses: none}
}

func persistentBwrapTarget() *target {
	return &target{
		name: "bwrap, persistent", persistent: true, processes: 64, unsuitable: unsuitableForPersistent, refuses: none,
		always: append([]string{"A5.", "B15.", "E21.26", "F24.8", "F24.9"}, keeperAttempts()...),
	}
}

// keeperAttempts returns the prefixes of the IDs of attempts whose result may depend on the keeper: processes and network
// ends.
func keeperAttempts() []string { return []string{"E21.29", "E21.30", "E23.", "F25."} }

func none(*escape) string { return "" }

// unsuitableForPersistent returns why an attempt proves nothing in a persistent sandbox; "": it proves something.
func unsuitableForPersistent(c *escape) string {
	if slices.Contains(c.Flags, "--events") || slices.Contains(c.Flags, "--record") {
		return "create writes no such file"
	}
	return ""
}

// launch returns the command line that runs args in the sandbox, with flags of agent-sandbox.
func (w *target) launch(h *host, flags, args []string) []string {
	line := []string{fixture.command, "exec", "--in", sandboxName}
	if !w.persistent {
		line = slices.Concat([]string{fixture.command, "exec"}, h.expandAll(w.flags), flags)
	}
	return slices.Concat(line, []string{"--"}, args)
}

// variables returns the placeholders for scripts of the host: {run} runs a command in the sandbox of the attempt, {start} in a
// new sandbox, and {flags} are this target's. {processes} is its limit where the policy's is 64.
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

// sandboxName is the name of the persistent sandbox that a host has.
const sandboxName = "escape"

// isOwnFile reports whether a path, relative to the host's base, belongs to agent-sandbox while a sandbox of this target runs.
func (w *target) isOwnFile(path string) bool {
	const data = "home/.local/share/agent-sandbox/"
	return w.persistent && strings.HasPrefix(path, data+"sandboxes") || w.engine != "" && strings.HasPrefix(path, data+"docker") ||
		w.pod && strings.HasPrefix(path, data)
}

// isOwnSocket reports whether a Unix socket belongs to the user's own keeper or to the engine: the engine's end of a
// connection is listed in the network of its client.
func (w *target) isOwnSocket(name string) bool {
	keeper, _ := filepath.Match("/proc/self/fd/*/socket", name)
	return w.persistent && keeper || w.engine != "" && name == w.engine
}

// isInside reports whether a line is about the container's own root file system, which root may write. Either it names a file
// at a path of the host that the container does not show; the host itself is checked afterwards. Or it names a number of bytes
// in a place without a private file system.
func (w *target) isInside(h *host, line string) bool {
	if w.pod { // every new file is in the container's own file systems
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

// exec returns the command line of another sandbox of this kind beside the one under attack.
func (h *host) exec(args ...string) []string {
	return slices.Concat([]string{fixture.command, "exec"}, h.expandAll(h.target.flags), args)
}

// createPersistent creates the sandbox that exec --in uses, if the target is persistent. It returns a function that destroys
// the sandbox, or the outcome of a refused create.
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

// completeVariable names the variable with which a run makes all attempts on all backends as all users. That takes long:
// each attempt needs a sandbox. Without the variable a run makes a part; see chooseAttempts.
const completeVariable = "AGENT_SANDBOX_ESCAPE"

// chooseAttempts returns the attempts that a run makes as a user. With completeVariable these are all attempts. Otherwise they
// are those whose result may depend on the target, and one of each other row of the catalogue. Which one, and as whom, differs
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
		case w.isAlways(c.ID) && (u.uid != 0 || !w.pod && differsForRoot(c.ID)), // the users for whom the result may differ
			len(ids) > 0 && ids[hash(w.name, rowOf(c.ID))%len(ids)] == c.ID && u.uid != 0:
			chosen = append(chosen, c)
		}
	}
	return chosen
}

func (w *target) isAlways(id string) bool {
	return slices.ContainsFunc(w.always, func(kind string) bool { return strings.HasPrefix(id, kind) })
}

// rowOf returns the catalogue's row of a case: "A1" of "A1.2".
func rowOf(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name
}

func hash(words ...string) int {
	h := fnv.New32a()
	for _, w := range words {
		_, _ = h.Write([]byte(w)) // Write never fails
	}
	return int(h.Sum32() >> 1)
}

// differsForRoot reports whether root, without a capability, may do more in these sandboxes than other owners of a work tree:
// the files of proc(5) and sysfs(5) belong to root.
func differsForRoot(id string) bool {
	return strings.HasPrefix(id, "A5.") || id[0] == 'C' || id[0] == 'G'
}

// Test_Escape_Resident makes the attempts in persistent sandboxes.
func Test_Escape_Resident(t *testing.T) {
	requireBwrap(t)
	persistentBwrapTarget().run(t, bwrapAttempts())
}

// Test_Escape_Docker makes the attempts in containers of a real engine, and the attempts for containers only.
func Test_Escape_Docker(t *testing.T) {
	dockerTarget(t).run(t, append(bwrapAttempts(), contained()...))
}

// Test_Escape_Resident_Docker makes them in persistent containers.
func Test_Escape_Resident_Docker(t *testing.T) {
	w := dockerTarget(t)
	w.name, w.persistent, w.always = "docker, persistent", true, append([]string{"A5.", "G40."}, keeperAttempts()...)
	w.unsuitable = unsuitableForPersistentDocker
	w.run(t, append(bwrapAttempts(), contained()...))
}

// run makes the attempts without their controls, which Test_Escape runs. The controls of attempts for pods only run here.
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
		w.compareDocument(t, all, res, *update && res.findMissing(made) == "")
	})
}

// compareDocument compares what the threat model says about a target with the results, or writes it there.
func (w *target) compareDocument(t *testing.T, all []escape, res *results, write bool) {
	t.Helper()
	begin := "<!-- " + w.name + ": written by `" + completeVariable + "=all go test ./test/e2e/escape -update` -->"
	compareDocument(t, begin, "<!-- end of "+w.name+" -->", w.summarize(all, res), write)
}

// Test_The_Threat_Model_Lists_All_Attempts compares the document with the catalogue, without an engine or a cluster: a new
// attempt that is not in it is found before the run that makes it.
func Test_The_Threat_Model_Lists_All_Attempts(t *testing.T) {
	native, containers := bwrapAttempts(), append(bwrapAttempts(), contained()...)
	for _, tt := range []struct {
		target
		all []escape
	}{
		{*persistentBwrapTarget(), native},
		{target{name: "docker", unsuitable: unsuitableForDocker, refuses: refusedByDocker}, containers},
		{target{name: "docker, persistent", unsuitable: unsuitableForPersistentDocker, refuses: refusedByDocker}, containers},
		{target{name: "kube", unsuitable: unsuitableForKube, refuses: refusedByKube}, append(containers, pods()...)},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.compareDocument(t, tt.all, &results{}, false) })
	}
}

// summarize describes the results of all attempts on a target. An attempt that this run has not made counts as held.
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

// attemptOn makes one attempt on a target.
func (c *escape) attemptOn(t *testing.T, w *target, u user) {
	t.Helper()
	h := c.newHost(t, u.uid, w)
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
		t.Errorf("the isolation does not hold: %v\n%s", err, o)
	}
	h.clear()
}

// checkRefused returns an error unless agent-sandbox refused to run the attempt with a message.
func (h *host) checkRefused(o outcome, says string) error {
	if o.err != nil || o.tried() || o.code != 125 || !strings.Contains(o.stderr, says) {
		return fmt.Errorf("want exit code 125, no command run, and the message %q (%w)", says, o.err)
	}
	return h.checkUnchanged("")
}
