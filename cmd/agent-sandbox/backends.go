package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// defaultBackend is what runs commands when neither flag nor configuration names one.
const defaultBackend = "bwrap"

// known are the backends that exist somewhere, and may be missing here.
var known = []string{"bwrap", "docker", "kube", "virtual"}

// hooks are told what a driver does. Each may be nil.
type hooks struct {
	trace  func(phase, line string)
	denied func(sandbox.Denial)
	record bool // notice refusals to read, too
	shared bool // sandboxes over one directory work on the same files, as the contract has it
}

// built are the backends of this version.
var built = []string{"bwrap", "virtual"}

// newDriver makes a backend's driver; "" is the default one. This is the only list of them.
func newDriver(name string, h host, k hooks) (sandbox.Driver, error) {
	switch name {
	case "", defaultBackend:
		return bwrap.New(bwrap.Options{DataDir: h.data, Trace: k.trace, Denied: k.denied, Record: k.record}), nil
	case "virtual":
		return virtual.New(virtual.Options{Share: k.shared, Apply: k.shared, Journal: filepath.Join(h.data, "applies"), Trace: k.trace, Denied: k.denied}), nil
	}
	if slices.Contains(known, name) {
		return nil, sandbox.Errorf(sandbox.Unsupported, "backend %s is not built into this version", name).
			WithHint("the backends of this version: %s", strings.Join(built, ", "))
	}
	return nil, sandbox.Errorf(sandbox.Invalid, "unknown backend %q", name).
		WithHint("the backends are %s", strings.Join(known, ", "))
}

func addBackend(fs *pflag.FlagSet, name *string) {
	fs.StringVar(name, "backend", "", "the kind of wall: `NAME` is bwrap, or virtual (in memory)")
}
