//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// escape is a case: one attempt of the catalogue. In its strings {work}, {home}, {base}, {attacker} and the variables that
// Setup adds stand for the host's paths.
type escape struct {
	ID     string // "A1.2": letter of the class, number of the row, number in the row
	Name   string // a sentence that is true if the isolation holds
	Matrix string // the row of the matrix that the case belongs to; may be empty

	Setup  func(h *host)            // prepares the host
	Dir    string                   // working directory; empty: {work}
	Flags  []string                 // of agent-sandbox exec
	Env    []string                 // of the host, in addition to the usual ones
	Files  func(h *host) []*os.File // inherited descriptors from 3 on
	TTY    bool                     // stdin, stdout and stderr are a terminal
	Ctty   bool                     // stdio are pipes, and there is a controlling terminal
	Sh     string                   // the attempt: a script, or
	Go     []string                 // arguments of the attacker, or
	Args   []string                 // a whole command line after --
	Launch []string                 // replaces agent-sandbox exec and its arguments; see target.variables
	Bare   []string                 // replaces the attempt in the control
	Net    *testnet.Limits          // the attempt runs on its own network, within these limits; nil: on this machine's
	During func(h *host, p *attempt)

	Hold    func(h *host, o outcome) error // returns an error if the host was harmed, in addition to the checks of every case
	Ends    bool                           // the sandbox may end the attempt early
	Control control

	network *testnet.Network // the network of Net, while the case runs
}

// control describes how to show that the same attempt succeeds without the isolation. The zero value runs it without a
// sandbox.
type control struct {
	Flags []string      // run it in a sandbox with these flags instead
	Setup func(h *host) // after Setup, only in the control
	Root  bool          // only root can make the attempt on the bare host
	If    func() string // returns why this host itself prevents the attempt; "": it does not
	None  string        // why the case has no control
	Luck  bool          // the attempt is a race, which can be lost without a sandbox too
	Every bool          // every step must succeed, not only one
	Pod   bool          // run it in a pod with a cluster's defaults
}

var classes = map[byte]string{
	'A': "files", 'B': "sockets and IPC", 'C': "kernel", 'D': "commands", 'E': "network", 'F': "secrets and life",
	'G': "containers", 'H': "pods",
}

func bwrapAttempts() []escape {
	return slices.Concat(renames(), creations(), links(), paths(), descriptors(), repositories(), laterRun(),
		configurations(), ownData(), exclusions(), storage(), sockets(), families(), terminals(), ipc(), namespaces(), syscalls(),
		planted(), commands(), allowLists(), specialAddresses(), requests(), proxies(), direct(), published(), secrets(), placeholders(), sshAgents(), lifecycle(), outputFiles(), work(), staging())
}

type user struct {
	name string
	uid  int
}

// plainUser is the user ID of the plain user's attempts when the tests run as root.
const plainUser = 1000

func Test_Escape(t *testing.T) {
	requireBwrap(t)
	all := bwrapAttempts()
	checkCatalogue(t, all)
	res := &results{}
	for _, u := range []user{{"root", 0}, {"user", plainUser}} {
		if self := os.Getuid(); self != 0 {
			if u.uid == 0 {
				t.Run("root", func(t *testing.T) { t.Skip("the tests do not run as root") })
				continue
			}
			u.uid = self
		}
		t.Run(u.name, func(t *testing.T) {
			for _, c := range all {
				if !c.isPlannedAs(u) {
					continue
				}
				t.Run(c.ID+" "+c.Name, func(t *testing.T) {
					c.prepareNetwork(t)
					res.set(c.ID, u.name, verdictFailed)
					c.runWithControl(t, u)
					if !t.Failed() {
						res.set(c.ID, u.name, verdictHeld)
					}
				})
			}
		})
	}
	t.Run("the matrix in the threat model is that of this run", func(t *testing.T) { checkMatrix(t, all, res) })
}

// isPlannedAs reports whether a run of Test_Escape makes the attempt as a user. Without completeVariable each attempt is made
// as one of the two users; as root if only root can run its control.
func (c *escape) isPlannedAs(u user) bool {
	if os.Getenv(completeVariable) == "all" || os.Getuid() != 0 {
		return true
	}
	asRoot := c.Control.Root || hash(c.ID)%2 == 0
	return asRoot == (u.uid == 0)
}

func checkCatalogue(t *testing.T, all []escape) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.ID] || classes[c.ID[0]] == "" || c.Name == "" {
			t.Errorf("bad or second case %q %q", c.ID, c.Name)
		}
		seen[c.ID] = true
		if c.Matrix != "" && !slices.ContainsFunc(peerRows, func(r peerRow) bool { return r.attack == c.Matrix }) {
			t.Errorf("%s: no row %q in the matrix", c.ID, c.Matrix)
		}
	}
}

// runWithControl makes the attempt in a sandbox, and then its control.
func (c *escape) runWithControl(t *testing.T, u user) {
	t.Helper()
	h := c.newHost(t, u.uid, bwrapTarget())
	if c.Setup != nil {
		c.Setup(h)
	}
	if !*controls {
		o := c.attempt(h, true, nil)
		if err := c.judge(h, o); err != nil {
			t.Errorf("the isolation does not hold: %v\n%s", err, o)
		}
	}
	h.clear()
	c.runControl(t, u)
}

// prepareNetwork marks the case as parallel, and borrows a network if it needs one.
func (c *escape) prepareNetwork(t *testing.T) {
	t.Helper()
	t.Parallel()
	if c.Net != nil {
		c.network = testnet.Borrow(t, fixture.base, isRequired("network"))
	}
}

func (c *escape) runControl(t *testing.T, u user) {
	t.Helper()
	reason := c.Control.None
	if reason == "" && c.Control.Root && u.uid != 0 {
		reason = "only root can do it on the bare host"
	}
	if reason == "" && c.Control.If != nil {
		reason = c.Control.If()
	}
	if reason != "" {
		t.Logf("no control: %s", reason)
		return
	}
	if *controls && c.Control.Flags != nil {
		return
	}
	h := c.newHost(t, u.uid, bwrapTarget())
	defer h.clear()
	if c.Setup != nil {
		c.Setup(h)
	}
	if c.Control.Setup != nil {
		c.Control.Setup(h)
	}
	if c.Net != nil && c.Net.Naive {
		end, err := testnet.StartNaiveProxy(c.network)
		h.must(err)
		defer end()
	}
	var o outcome
	if c.Control.Pod {
		o = testCluster.attemptInPlainPod(h, c)
	} else {
		o = c.attempt(h, c.Control.Flags != nil, c.Control.Flags)
	}
	err := c.judge(h, o)
	switch {
	case err == nil && c.Control.Luck:
		t.Logf("the race was not won without a sandbox either\n%s", o)
		return
	case err == nil:
		t.Errorf("this case cannot fail: its attempt did not succeed without a sandbox\n%s", o)
	}
	if errors.Is(err, errNotTried) {
		t.Errorf("the control did not run: %v\n%s", err, o)
	}
	if c.Control.Every && strings.Contains("\n"+o.stdout, "\nheld") {
		t.Errorf("an attempt of this case does not succeed without a sandbox either\n%s", o)
	}
}

var errNotTried = errors.New("the attempt was not made")

// judge returns an error that lists the successes of an attempt, or nil.
func (c *escape) judge(h *host, o outcome) error {
	var errs []error
	if o.err != nil {
		errs = append(errs, o.err)
	}
	if !c.Ends && !o.tried() {
		errs = append(errs, errNotTried)
	}
	for line := range strings.Lines(o.stdout) {
		switch {
		case h.target.isInside(h, line):
		case strings.HasPrefix(line, "OPEN"):
			errs = append(errs, errors.New(strings.TrimSpace(line)))
		case strings.HasPrefix(line, "BROKEN"):
			// A permitted action failed, so refusals prove nothing.
			errs = append(errs, fmt.Errorf("%w: %s", errNotTried, strings.TrimSpace(line)))
		}
	}
	if strings.Contains(o.stdout+o.stderr, canary) {
		errs = append(errs, errors.New("a secret was read"))
	}
	if h.target.pod { // first, because some checks run programs of the host in its tree
		errs = append(errs, h.checkUnchanged(""))
	}
	if c.Hold != nil {
		if err := c.Hold(h, o); err != nil {
			errs = append(errs, err)
		}
	}
	if c.Net != nil {
		errs = append(errs, c.network.Judge(filepath.Base(h.base)))
	}
	return errors.Join(append(errs, h.checkUntouched(), h.checkClean())...)
}

// outcome is the exit status and the output of an attempt.
type outcome struct {
	stdout, stderr string
	code           int
	err            error // it could not be made, or took too long
}

func (o outcome) tried() bool { return strings.Contains(o.stdout, "tried") }

func (o outcome) String() string {
	return fmt.Sprintf("exit %d\n--- stdout\n%.4000s\n--- stderr\n%.4000s", o.code, o.stdout, o.stderr)
}
