package memory

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Storage holds the saved state of one [Machine]. The machine calls it from one goroutine at a time.
type Storage interface {
	// Load returns what Save stored last; nil: nothing. The machine closes it.
	Load() (io.ReadCloser, error)
	// Save replaces what is stored by what write writes, or leaves it as it was when write fails.
	Save(write func(io.Writer) error) error
}

// savedMagic begins a saved machine. The number is the version of what follows: the length of a [savedState] as 8 bytes, that
// as JSON, and a pack of the changed files.
const savedMagic = "agent-sandbox-machine 1\n"

// maxSavedState bounds a [savedState] as JSON, whose history has at most 16 MiB.
const maxSavedState = 256 << 20

// savedState is what a saved machine has beside its files. Scripts and paths need not be UTF-8, so they are bytes.
type savedState struct {
	Created time.Time     `json:"created"`
	Dir     []byte        `json:"dir"`
	Script  []byte        `json:"script"` // makes variables, functions, aliases, options and traps
	Grafts  []savedGraft  `json:"grafts"`
	Runs    int           `json:"runs"`
	RunTime time.Duration `json:"run_time"`
	History []Result      `json:"history"`
}

// savedGraft is a changed file.
type savedGraft struct {
	Path       []byte `json:"path"`
	Attributes bool   `json:"attributes,omitempty"`
	Gone       bool   `json:"gone,omitempty"`
}

// describe is the script whose output makes the state of a shell again. Options come last: set -e would end it early.
const describe = "declare -p; declare -f; alias -p; umask -p; trap -p; shopt -p; set +o"

// Save writes the machine for [Load]: its files, the shell's directory, variables, functions, aliases, options and traps, and
// the history. It waits for a Run to end. Background jobs are not saved. The error is ErrClosed, or that of w.
func (m *Machine) Save(w io.Writer) error {
	m.run.Lock()
	defer m.run.Unlock()
	if m.isClosed() {
		return ErrClosed
	}
	return m.save(w)
}

func (m *Machine) save(w io.Writer) error {
	s := m.snapshot()
	d := savedState{History: m.History()}
	m.mu.Lock()
	d.Runs, d.RunTime = m.count, m.spent
	m.mu.Unlock()
	return s.save(w, d)
}

// Save writes the snapshot for [Load], without a history.
func (s *Snapshot) Save(w io.Writer) error { return s.save(w, savedState{}) }

func (s *Snapshot) save(w io.Writer, d savedState) error {
	d.Created, d.Dir = s.Created(), []byte(s.Dir())
	sh := s.state.Shell()
	var script bytes.Buffer
	_, err := sh.RunScript(context.Background(), shell.Script{Text: describe}, shell.Stdio{Stdout: &script})
	sh.Close()
	if err != nil {
		return fmt.Errorf("save the shell: %w", err)
	}
	d.Script = script.Bytes()
	var grafts []vfs.Graft
	for _, c := range vfs.Diff(s.system.Tree, s.state.Tree()) {
		grafts = append(grafts, vfs.Graft{
			Path: c.Path, Gone: c.Kind == vfs.Deleted, Attributes: c.Kind == vfs.Modified && !c.Content && c.New.Mode.IsRegular(),
		})
	}
	part, lost, err := s.state.Tree().Extract(grafts)
	if err != nil {
		return fmt.Errorf("save the files: %w", err)
	}
	left := map[string]bool{}
	for _, path := range lost {
		left[path] = true
	}
	for _, g := range grafts {
		if !left[g.Path] {
			d.Grafts = append(d.Grafts, savedGraft{[]byte(g.Path), g.Attributes, g.Gone})
		}
	}
	state, err := json.Marshal(d)
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint64([]byte(savedMagic), uint64(len(state)))
	if _, err := w.Write(append(head, state...)); err != nil {
		return err
	}
	_, err = part.WritePack(w)
	return err
}

// Load makes a machine of what Save wrote, in this process or another. The options are those of [New]; Dir and Env count only
// where the saved state says nothing. What is read may come from anywhere: it can do what a script can, within the limits. The
// error is ErrInvalid, or that of r.
func Load(r io.Reader, o Options) (*Machine, error) {
	m, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := m.load(r); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Machine) load(r io.Reader) error {
	wrong := func(err error) error { return fmt.Errorf("%w saved machine: %w", ErrInvalid, err) }
	head := make([]byte, len(savedMagic)+8)
	if _, err := io.ReadFull(r, head); err != nil {
		return wrong(err)
	}
	size := binary.BigEndian.Uint64(head[len(savedMagic):])
	if string(head[:len(savedMagic)]) != savedMagic || size > maxSavedState {
		return wrong(fmt.Errorf("it does not begin with %q", savedMagic))
	}
	var d savedState
	state, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err == nil {
		err = json.Unmarshal(state, &d)
	}
	if err != nil {
		return wrong(err)
	}
	part, _, err := vfs.ReadPack(r, m.options.Files)
	if err != nil {
		return wrong(err)
	}
	grafts := make([]vfs.Graft, len(d.Grafts))
	for i, g := range d.Grafts {
		grafts[i] = vfs.Graft{Path: string(g.Path), Attributes: g.Attributes, Gone: g.Gone}
	}
	m.sh.FS().Graft(part, grafts)
	script := string(d.Script) + "\ncd -- " + quote(string(d.Dir)) + "\n"
	// Assignments to the shell's own read-only variables fail, and their messages are dropped.
	if _, err := m.runScript(context.Background(), script, shell.Stdio{}); err != nil {
		return wrong(err)
	}
	if m.options.Fresh {
		m.begin = m.sh.Save()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count, m.spent, m.created = d.Runs, d.RunTime, d.Created
	m.history, m.oldest, m.historyBytes = d.History, 0, 0
	for i := range m.history {
		m.historyBytes += m.history[i].bytes()
	}
	return nil
}

// quote quotes a word for the shell.
func quote(s string) string {
	var b bytes.Buffer
	b.WriteByte('\'')
	for _, c := range []byte(s) {
		if c == '\'' {
			b.WriteString(`'\''`)
			continue
		}
		b.WriteByte(c)
	}
	b.WriteByte('\'')
	return b.String()
}

// loadStored continues with what Options.Storage holds.
func (m *Machine) loadStored() error {
	r, err := m.options.Storage.Load()
	if err != nil || r == nil {
		return err
	}
	err = m.load(r)
	if closed := r.Close(); err == nil {
		err = closed
	}
	return err
}

// store stores the machine.
func (m *Machine) store() error {
	if m.options.Storage == nil {
		return nil
	}
	if err := m.options.Storage.Save(m.save); err != nil {
		return fmt.Errorf("store the machine: %w", err)
	}
	return nil
}
