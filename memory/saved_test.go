package memory_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// output runs a script and returns what it printed.
func output(t *testing.T, m *memory.Machine, script string) string {
	t.Helper()
	r, err := m.Run(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	return r.Stdout + r.Stderr
}

const (
	makeState = `mkdir -p "/it's here/d"; cd "/it's here"; printf 'a\0b' >f; ln -s f l; chmod 750 d; echo changed >/etc/hostname; rm -r /var/tmp
		n=3; export E="two
lines"; a=(x 'y z'); declare -A m=([k]="v w"); f() { echo "f $1 ${n}"; }; alias ll='ls -l'; shopt -s extglob; set -u; trap 'echo hup' HUP`
	showState = `pwd; od -An -c f; readlink l; stat -c %a d; cat /etc/hostname; ls -d /var/tmp; echo "$n $E ${a[1]} ${m[k]}"; env | grep ^E=; f 1; alias ll
		shopt -p extglob; set +o | grep nounset; trap -p HUP`
)

func Test_A_Saved_Machine_Is_Loaded_Elsewhere(t *testing.T) {
	t.Parallel()
	m, err := memory.New(memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	output(t, m, makeState)
	want := output(t, m, showState)
	if !strings.Contains(want, "f 1 3\n") || !strings.Contains(want, "it's here") {
		t.Fatalf("the state is not as expected: %s", want)
	}
	before, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var whole, snapshot bytes.Buffer
	if err := errors.Join(m.Save(&whole), before.Save(&snapshot)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from *bytes.Buffer
		runs int
	}{"the machine": {&whole, 2}, "a snapshot": {&snapshot, 0}} {
		other, err := memory.Load(c.from, memory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		history := other.History()
		if len(history) != c.runs || other.Status().Runs != c.runs || c.runs > 0 && history[1].Stdout+history[1].Stderr != want {
			t.Errorf("%s: history %+v", name, history)
		}
		if got := output(t, other, showState); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
		if got, want := other.Status(), m.Status(); got.Nodes != want.Nodes || got.Bytes != want.Bytes {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func Test_Invalid_Saved_Machines_Are_Refused(t *testing.T) {
	t.Parallel()
	m, err := memory.New(memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	output(t, m, "echo hello >/f; head -c 100000 /dev/zero >/g")
	var saved bytes.Buffer
	if err := m.Save(&saved); err != nil {
		t.Fatal(err)
	}
	whole := saved.Bytes()
	for _, n := range []int{0, 10, 30, 200, len(whole) - 1} {
		if _, err := memory.Load(bytes.NewReader(whole[:n]), memory.Options{}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	small := memory.Options{}
	small.Files.Bytes = 1000
	if _, err := memory.Load(bytes.NewReader(whole), small); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("more than the limit: %v", err)
	}
}

// stored is a storage in a variable.
type stored struct {
	data []byte
	fail error
}

func (s *stored) Load() (io.ReadCloser, error) {
	if s.data == nil {
		return nil, s.fail
	}
	return io.NopCloser(bytes.NewReader(s.data)), s.fail
}

func (s *stored) Save(write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := errors.Join(s.fail, write(&b)); err != nil {
		return err
	}
	s.data = b.Bytes()
	return nil
}

func Test_A_Machine_Goes_On_From_Its_Storage(t *testing.T) {
	t.Parallel()
	s := &stored{}
	for i, want := range []string{"1\n", "2\n", "3\n"} {
		m, err := memory.New(memory.Options{Storage: s})
		if err != nil {
			t.Fatal(err)
		}
		if got := output(t, m, "echo x >>/f; n=$((n+1)); wc -l </f"); strings.TrimSpace(got)+"\n" != want {
			t.Errorf("run %d: %s", i, got)
		}
		if got := output(t, m, "echo $n"); got != want {
			t.Errorf("run %d: the variable is %s", i, got)
		}
		m.Close()
	}
	m, err := memory.New(memory.Options{Storage: s})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s.fail = errors.New("the disk is full")
	if r, err := m.Run(context.Background(), "echo hello"); !errors.Is(err, s.fail) || r == nil || r.Stdout != "hello\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := memory.New(memory.Options{Storage: s}); !errors.Is(err, s.fail) {
		t.Errorf("a storage that cannot be read: %v", err)
	}
}

func Test_All_Commands_Are_Listed(t *testing.T) {
	t.Parallel()
	m, err := memory.New(memory.Options{Commands: []shell.Command{{Name: "greet", Summary: "say hello", Run: func(*shell.Proc) int { return 0 }}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var names []string
	for _, c := range m.Commands() {
		names = append(names, c.Name)
	}
	for want := range strings.FieldsSeq("pwd cd ls cat head tail wc grep touch cp mv rm mkdir find echo env export clear help greet") {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not listed", want)
		}
	}
	if !slices.IsSorted(names) {
		t.Error("the list is not sorted")
	}
}
