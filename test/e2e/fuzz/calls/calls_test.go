//go:build linux

package calls_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/e2e/fuzz/calls"
)

func Test_A_Program_Round_Trips_As_Text(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		p := calls.Generate(seed, seed%2 == 0)
		got, err := calls.Parse(p.String())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p)
		}
		if !reflect.DeepEqual(got, p) {
			t.Fatalf("seed %d:\n%s\nis read as\n%s", seed, p, got)
		}
	}
}

func Test_A_Seed_Generates_One_Program(t *testing.T) {
	t.Parallel()
	if a, b := calls.Generate(7, true), calls.Generate(7, true); a.String() != b.String() {
		t.Errorf("two programs of one seed:\n%s\n%s", a, b)
	}
	if a, b := calls.Generate(7, false), calls.Generate(8, false); a.String() == b.String() {
		t.Error("two seeds generate one program")
	}
}

func Test_An_Invalid_Program_Text_Is_Refused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"openat path=\"a\"", "thread\n openat path=\"a", "thread\n openat reg=8", "thread\n openat flags=x", "thread\n openat path", "thread repeat=x"} {
		if p, err := calls.Parse(text); err == nil {
			t.Errorf("%q is read as %q", text, p)
		}
	}
}

func Test_Minimise_Retains_The_Necessary_Calls(t *testing.T) {
	t.Parallel()
	p := calls.Generate(3, false)
	p.Threads[1].Calls = append(p.Threads[1].Calls, calls.Call{Name: "first"})
	p.Threads[0].Calls = slices.Insert(p.Threads[0].Calls, 5, calls.Call{Name: "second", Flip: "x"})
	has := func(p calls.Program, name string) bool {
		return slices.ContainsFunc(p.Threads, func(t calls.Thread) bool {
			return slices.ContainsFunc(t.Calls, func(c calls.Call) bool { return c.Name == name })
		})
	}
	got := calls.Minimise([]calls.Program{calls.Generate(4, false), p}, func(ps []calls.Program) bool {
		last := ps[len(ps)-1]
		return has(last, "first") && has(last, "second")
	})
	if len(got) != 1 || len(got[0].Threads) != 2 {
		t.Fatalf("%d programs: %v", len(got), got)
	}
	if a, b := got[0].Threads[0].Calls, got[0].Threads[1].Calls; len(a) != 1 || len(b) != 1 || a[0].Name != "second" || a[0].Flip != "" || b[0].Name != "first" {
		t.Errorf("what is left:\n%s", got[0])
	}
}
