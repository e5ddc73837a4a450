//go:build linux

package fuzz_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/e2e/fuzz/calls"
)

// The environment variables of a long run.
const (
	longVariable = "AGENT_SANDBOX_FUZZ"      // a duration for each kind of sandbox and user, such as 1h
	seedVariable = "AGENT_SANDBOX_FUZZ_SEED" // the first seed
)

// inSandbox is the number of programs that run in one persistent sandbox.
const inSandbox = 8

// long returns the duration of a long run; 0: this is a normal run.
func long(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(longVariable)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s=%q; expected a time such as 1h", longVariable, text)
	}
	return d
}

// firstSeed returns the first seed: a fixed one in a normal run.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	if text := os.Getenv(seedVariable); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%q; expected a number", seedVariable, text)
		}
		return n
	}
	if long(t) == 0 {
		return 1
	}
	return rand.Uint64N(1 << 40) //nolint:gosec // printed
}

func Test_Random_Programs_Stay_In_Bubblewrap(t *testing.T) {
	requireBwrap(t)
	hunt(t, kind{name: "bwrap"}, 20)
}

func Test_Random_Programs_Stay_In_Bubblewrap_With_User_Namespaces(t *testing.T) {
	requireBwrap(t)
	hunt(t, kind{name: "bwrap, --userns", flags: []string{"--userns"}, mounts: true}, 15)
}

func Test_Random_Programs_Stay_In_Persistent_Sandboxes(t *testing.T) {
	requireBwrap(t)
	hunt(t, kind{name: "bwrap, persistent", persistent: true}, 2*inSandbox)
}

// containerFlags create containers from an image without programs.
func containerFlags() []string {
	return []string{"--backend", "docker", "--image", "busybox:latest", "--ro", fixture.tools}
}

func Test_Random_Programs_Stay_In_Containers(t *testing.T) {
	k := kind{name: "docker", flags: containerFlags()}
	k.env, k.groups = requireDocker(t)
	hunt(t, k, 3)
}

func Test_Random_Programs_Stay_In_Persistent_Containers(t *testing.T) {
	k := kind{name: "docker, persistent", flags: containerFlags(), persistent: true}
	k.env, k.groups = requireDocker(t)
	hunt(t, k, 2*inSandbox)
}

// hunt runs programs in a kind of sandbox as each user: n programs, or as many as fit into a long run.
func hunt(t *testing.T, k kind, n int) {
	t.Helper()
	for name, uid := range users() {
		if k.mounts && uid == 0 {
			continue // root's sandbox maps one user to its namespace, which cannot create another
		}
		k := k
		k.uid = uid
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hunter{t: t, k: k, worlds: map[string]*world{}, base: t.Name()}
			begin, seed := time.Now(), firstSeed(t)
			t.Logf("%s as %s: first seed %d", k.name, name, seed)
			for time.Since(begin) < long(t) || long(t) == 0 && h.programs < n {
				if !h.session(seed) {
					break
				}
				seed += uint64(h.size())
			}
			t.Logf("%s as %s: %d programs, %d calls, %d of them succeeded, in %.0f s", k.name, name, h.programs, h.made, h.good, time.Since(begin).Seconds())
			if h.good < h.programs*5 {
				t.Errorf("only %d calls of %d programs succeeded: they test nothing", h.good, h.programs)
			}
		})
	}
}

// hunter runs programs in its own worlds.
type hunter struct {
	t      *testing.T
	k      kind
	base   string
	worlds map[string]*world
	shapes []string // of its worlds; nil: all

	programs, made, good int
}

// size is the number of programs in one sandbox.
func (h *hunter) size() int {
	if h.k.persistent {
		return inSandbox
	}
	return 1
}

// world returns the restored world of a seed.
func (h *hunter) world(seed uint64) *world {
	h.t.Helper()
	choice := shapes
	if h.shapes != nil {
		choice = h.shapes
	}
	shape := choice[seed/uint64(h.size())%uint64(len(choice))]
	w := h.worlds[shape]
	if w == nil {
		base, err := os.MkdirTemp(fixture.base, shape+"-")
		if err == nil {
			err = os.Chmod(base, 0o755)
		}
		if err != nil {
			h.t.Fatal(err)
		}
		w = newWorld(h.t, base, shape, h.k.uid)
		h.worlds[shape] = w
	} else {
		w.restore()
	}
	return w
}

// session runs the programs that begin with a seed in one sandbox. It returns false after a failure.
func (h *hunter) session(seed uint64) bool {
	h.t.Helper()
	var ps []calls.Program
	for i := range h.size() {
		ps = append(ps, calls.Generate(seed+uint64(i), h.k.mounts))
	}
	w := h.world(seed)
	found, count := h.play(w, ps, true)
	if len(found) == 0 {
		return true
	}
	ps = ps[:count]
	h.t.Errorf("%s as uid %d: a program of seed %d in a world %q broke a rule:\n%s", h.k.name, h.k.uid, seed, w.shape, texts(found))
	h.t.Errorf("to repeat it: %s=%d go test ./test/e2e/fuzz -count=1 -run '^%s$'", seedVariable, seed, strings.ReplaceAll(h.base, "/", "$/^"))
	if found[0].kind != stuck {
		ps = h.minimise(w, ps, found[0].kind)
	}
	for _, p := range ps {
		h.t.Errorf("program:\n%s", p)
	}
	return false
}

func texts(list []violation) string {
	var b strings.Builder
	for _, v := range list {
		b.WriteString(v.String() + "\n")
	}
	return b.String()
}

// play runs programs in one sandbox until one breaks a rule, and returns how many ran.
func (h *hunter) play(w *world, ps []calls.Program, count bool) (found []violation, played int) {
	h.t.Helper()
	b := &box{k: &h.k, w: w}
	if err := b.open(); err != nil {
		return []violation{{stopped, err.Error()}}, 0
	}
	for i, p := range ps {
		r := b.run(p, limit)
		if count {
			h.programs, h.made, h.good = h.programs+1, h.made+r.made, h.good+r.good
		}
		played = i + 1
		if found = r.violations; i > 0 && isOnlyStopped(found) {
			found = nil // an earlier program has removed the permissions that this one needs
			break
		}
		if len(found) > 0 {
			break
		}
	}
	if err := b.close(); err != nil && len(found) == 0 {
		found = []violation{{stopped, err.Error()}}
	}
	return found, played
}

// isOnlyStopped reports whether a program broke no rule but did not end.
func isOnlyStopped(found []violation) bool { return len(found) == 1 && found[0].kind == stopped }

// tries is the number of runs after which a shorter program counts as harmless: many programs break a rule
// only in a race.
const tries = 4

// minimise returns shorter programs that break a rule of the same kind.
func (h *hunter) minimise(w *world, ps []calls.Program, kind string) []calls.Program {
	h.t.Helper()
	end := time.Now().Add(2 * time.Minute)
	fails := func(ps []calls.Program) bool {
		for range tries {
			if time.Now().After(end) {
				return false
			}
			w.restore()
			_ = os.Remove(filepath.Join(w.base, "ran"))
			w.outside = w.scanOutside()
			found, _ := h.play(w, ps, false)
			if slices.ContainsFunc(found, func(v violation) bool { return v.kind == kind }) {
				return true
			}
		}
		return false
	}
	return calls.Minimise(ps, fails)
}

// harmful is the seed of a program that breaks every kind of rule. After a change of the generator it is
// another seed.
const harmful = uint64(29)

// Test_The_Judge_Sees_Every_Kind_Of_Harm runs random programs without protections.
func Test_The_Judge_Sees_Every_Kind_Of_Harm(t *testing.T) {
	requireBwrap(t)
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hunter{t: t, k: kind{name: "no protections", bare: true, uid: uid}, worlds: map[string]*world{}, base: t.Name()}
			missing := []string{outside, protected, repository, ran, visible}
			for seed := harmful; seed < harmful+400 && len(missing) > 0; seed++ {
				w := h.world(seed)
				r := (&box{k: &h.k, w: w}).run(calls.Generate(seed, false), limit)
				for _, v := range r.violations {
					missing = slices.DeleteFunc(missing, func(kind string) bool { return kind == v.kind })
				}
				h.programs++
				clear(h.worlds) // no description of it is equal any more
				if err := removeTree(w.base); err != nil {
					t.Error(err)
				}
			}
			if len(missing) > 0 {
				t.Errorf("no violation of %q by %d programs without protections", missing, h.programs)
			}
			t.Logf("%d programs", h.programs)
		})
	}
}
