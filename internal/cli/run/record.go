package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// proposal holds the policy entries that would allow the denied operations.
type proposal struct {
	lists map[string][]string // key path → entries, in order
	why   map[string]string   // entry as JSON → its origin
	left  []string            // denials that no entry can allow
}

// Keys of a proposal, in output order.
var proposalKeys = []string{"network.allow", "filesystem.rw", "filesystem.ro", "filesystem.sockets", "commands"}

// recordDenials adds denials to the proposed policy in file, and creates the file if needed.
func recordDenials(file string, list []sandbox.Denial) error {
	p := proposal{lists: map[string][]string{}, why: map[string]string{}}
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return sandbox.Errorf(sandbox.Invalid, "--record: %w", err)
	default:
		old, _, err := policy.Decode(file, data)
		if err != nil {
			return err
		}
		if !p.take(old) {
			return sandbox.Errorf(sandbox.Exists, "--record: %s holds more than a proposal", file).
				WithHint("name a file of its own")
		}
		p.takeComments(string(data))
	}
	for _, d := range list {
		p.propose(d)
	}
	return replaceFile(file, p.document())
}

// take reads an earlier proposal; false: the file is something else.
func (p *proposal) take(old sandbox.Policy) bool {
	p.lists["network.allow"] = old.Network.Allow
	p.lists["filesystem.rw"], p.lists["filesystem.ro"] = old.Filesystem.RW, old.Filesystem.RO
	p.lists["filesystem.sockets"] = old.Filesystem.Sockets
	for name := range old.Commands {
		p.lists["commands"] = append(p.lists["commands"], name)
	}
	slices.Sort(p.lists["commands"])
	again, _, err := policy.Decode("", p.document())
	if err != nil {
		return false
	}
	a, aerr := json.Marshal(old)
	b, berr := json.Marshal(again)
	return aerr == nil && berr == nil && bytes.Equal(a, b)
}

// takeComments reads the comments that document wrote after and below the entries.
func (p *proposal) takeComments(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, leftPrefix); ok {
			p.left = append(p.left, rest)
		} else if entry, why, ok := strings.Cut(line, ", // "); ok {
			p.why[strings.TrimSuffix(entry, ": true")] = why
		}
	}
}

// leftPrefix begins a line about a denial that no entry can allow.
const leftPrefix = "//   "

// propose finds the entry that would allow d.
func (p *proposal) propose(d sandbox.Denial) {
	flag, value, _ := strings.Cut(d.Fix, " ")
	key := map[string]string{
		"--allow": "network.allow", "--rw": "filesystem.rw", "--ro": "filesystem.ro", "--socket": "filesystem.sockets", "--cmd": "commands",
	}[flag]
	entry := strings.TrimSuffix(value, "=true")
	// Quote a name that the user must not copy without checking.
	if key == "" || entry == "" || entry == "HOST" || strings.ContainsAny(entry, `'"$\`) {
		if line := host.DenialLine(d); !slices.Contains(p.left, line) {
			p.left = append(p.left, line)
		}
		return
	}
	if !slices.Contains(p.lists[key], entry) {
		p.lists[key] = append(p.lists[key], entry)
		p.why[jsonString(entry)] = console.Escape(d.Op + " " + d.Target)
	}
}

// document formats the proposal as JSONC.
func (p *proposal) document() []byte {
	var b bytes.Buffer
	b.WriteString("// Proposed from what was refused, by agent-sandbox exec --record. Nothing here is in force:\n" +
		"// read it, delete what should stay refused, and use it with -c or copy it.\n{\n")
	open, group := "", 0
	for _, key := range proposalKeys {
		if len(p.lists[key]) == 0 {
			continue
		}
		parent, name, nested := strings.Cut(key, ".")
		if open != parent {
			if open != "" {
				b.WriteString("  },\n")
			}
			fmt.Fprintf(&b, "  %q: {\n", parent)
			open = parent
		}
		group++
		if nested {
			fmt.Fprintf(&b, "    %q: [\n", name)
		}
		for _, entry := range p.lists[key] {
			p.entry(&b, entry, nested)
		}
		if nested {
			b.WriteString("    ],\n")
		}
	}
	if group > 0 {
		b.WriteString("  },\n")
	}
	b.WriteString("}\n")
	if len(p.left) > 0 {
		b.WriteString("// What no entry allows:\n")
		for _, line := range p.left {
			b.WriteString(leftPrefix + line + "\n")
		}
	}
	return b.Bytes()
}

func (p *proposal) entry(b *bytes.Buffer, entry string, listed bool) {
	text := fmt.Sprintf("      %s,", jsonString(entry))
	if !listed {
		text = fmt.Sprintf("    %s: true,", jsonString(entry))
	}
	if why := p.why[jsonString(entry)]; why != "" {
		text += " // " + why
	}
	b.WriteString(text + "\n")
}

func jsonString(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// replaceFile replaces a file atomically, so that a crash leaves the old one.
func replaceFile(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".agent-sandbox-*")
	if err != nil {
		return sandbox.Errorf(sandbox.Invalid, "--record: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return sandbox.Errorf(sandbox.Invalid, "--record: %w", err)
	}
	return nil
}
