package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
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

// record is the file of a proposed policy; nil: there is none. newRecord opens its directory before the command starts, so that a
// link that the command creates on the path cannot redirect the write.
type record struct {
	file string // as the user named it
	dir  *os.Root
	name string // in dir
}

// newRecord returns nil for "". It fails if the file holds something else than a proposal.
func newRecord(file string, w hostfile.Writable) (*record, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // a nil record does nothing
	}
	dir, name, err := hostfile.OpenParent(file, true, w)
	if err != nil {
		return nil, recordError(err)
	}
	r := &record{file: file, dir: dir, name: name}
	if _, err := r.read(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *record) close() {
	if r != nil {
		_ = r.dir.Close() // opened to read
	}
}

func recordError(err error) error { return sandbox.Errorf(sandbox.Invalid, "--record: %w", err) }

// read returns the proposal in the file, or an empty one. Another process may change the file between two calls.
func (r *record) read() (*proposal, error) {
	p := &proposal{lists: map[string][]string{}, why: map[string]string{}}
	data, err := hostfile.ReadIn(r.dir, r.name, policy.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, recordError(err)
	}
	old, _, err := policy.Decode(r.file, data)
	if err != nil {
		return nil, err
	}
	if !p.take(old) {
		return nil, sandbox.Errorf(sandbox.Exists, "--record: %s holds more than a proposal", r.file).
			WithHint("name a file of its own")
	}
	p.takeComments(string(data))
	return p, nil
}

// add adds denials to the file, and creates it if needed.
func (r *record) add(list []sandbox.Denial) error {
	if r == nil {
		return nil
	}
	p, err := r.read()
	if err != nil {
		return err
	}
	for _, d := range list {
		p.propose(d)
	}
	if err := hostfile.ReplaceIn(r.dir, r.name, p.document()); err != nil {
		return recordError(err)
	}
	return nil
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
