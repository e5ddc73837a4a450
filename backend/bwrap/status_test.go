//go:build linux

package bwrap

import "testing"

func Test_Status_Reads_What_Bubblewrap_Reports(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		child      int // 0: not reported
		code       int
		known      bool
	}{
		{"a child alone", `{ "child-pid": 4711 }`, 4711, 0, false},
		{"a child with its namespaces", `{ "child-pid": 4711, "cgroup-namespace": 4026532837, "ipc-namespace": 4026532836 }`, 4711, 0, false},
		{"without spaces", `{"child-pid":4711,"net-namespace":1}`, 4711, 0, false},
		{"behind another member", `{ "net-namespace": 1, "child-pid": 4711 }`, 4711, 0, false},
		{"an exit status", `{ "exit-code": 137 }`, 0, 137, true},
		{"success", `{ "exit-code": 0 }`, 0, 0, true},
		{"an empty object", `{ }`, 0, 0, false},
		{"an empty line", ``, 0, 0, false},
		{"a member that has no number", `{ "child-pid": null }`, 0, 0, false},
		{"a number with more behind it", `{ "exit-code": 1 2 }`, 0, 0, false},
		{"a number that is too large", `{ "exit-code": 99999999999999999999 }`, 0, 0, false},
		{"a line that was cut off", `{ "exit-code": 13`, 0, 0, false},
		{"no object", `"exit-code": 1`, 0, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var child int
			s := &status{child: func(pid int) { child = pid }}
			s.take([]byte(tt.line))
			if child != tt.child || s.code != tt.code || s.known != tt.known {
				t.Errorf("child %d, code %d (known: %v); want %d, %d (%v)", child, s.code, s.known, tt.child, tt.code, tt.known)
			}
		})
	}
}

func Test_Status_Calls_For_The_First_Child_Only(t *testing.T) {
	var calls []int
	s := &status{child: func(pid int) { calls = append(calls, pid) }}
	s.take([]byte(`{ "child-pid": 1 }`))
	s.take([]byte(`{ "child-pid": 2 }`))
	if len(calls) != 1 || calls[0] != 1 {
		t.Errorf("called for %v, want once, for 1", calls)
	}
}
