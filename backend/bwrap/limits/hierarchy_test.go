//go:build linux

package limits

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
)

func Test_Hierarchies_Are_Found(t *testing.T) {
	tests := []struct {
		name, cgroups, mountinfo string
		want                     []string // "controllers own", "unified own"
	}{
		{
			"version 2 of a desktop", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n",
			"30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			[]string{"unified /sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope"},
		},
		{
			"version 1 with joined controllers", "4:cpu,cpuacct:/a\n3:memory:/b\n1:name=systemd:/c\n",
			"31 30 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n32 30 0:2 / /cg/memory rw - cgroup cgroup rw,memory\n",
			[]string{"cpu,cpuacct /cg/cpu/a", "memory /cg/memory/b"},
		},
		{
			"a container that sees its own part of version 1", "3:memory:/docker/abc/x\n",
			"32 30 0:2 /docker/abc /cg/memory ro - cgroup cgroup rw,memory\n",
			[]string{"memory /cg/memory/x"},
		},
		{
			"a process outside its cgroup namespace", "0::/../other\n",
			"30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
			[]string{"unified /sys/fs/cgroup"},
		},
		{
			"a mount whose root is elsewhere", "0::/a\n",
			"30 25 0:26 /b /mnt rw - cgroup2 cgroup rw\n",
			[]string{"unified /mnt"},
		},
		{
			"a mount point with a space and optional fields", "0::/\n",
			`30 25 0:26 / /my\040cg rw shared:1 master:2 - cgroup2 none rw` + "\n",
			[]string{"unified /my cg"},
		},
		{"nothing mounted", "0::/a\n3:pids:/b\n", "30 25 0:26 / /proc rw - proc proc rw\n", nil},
		{"garbage", "x\n\n::\n0:\n", "- -\nx y - cgroup2\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, h := range parseHierarchies(tt.cgroups, tt.mountinfo) {
				kind := strings.Join(h.controllers, ",")
				if h.unified {
					kind = "unified"
				}
				got = append(got, kind+" "+h.own)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// unifiedTree lays out directories with the files by which version 2 is judged.
// Each line: path, controllers, switched on, processes, or "-".
func unifiedTree(t *testing.T, lines ...string) hierarchy {
	t.Helper()
	h := hierarchy{unified: true, mount: t.TempDir()}
	for i, line := range lines {
		f := strings.Fields(strings.ReplaceAll(line, "-", "\x00"))
		dir := filepath.Join(h.mount, f[0])
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j, name := range []string{"cgroup.controllers", "cgroup.subtree_control", "cgroup.procs"} {
			text := strings.ReplaceAll(strings.Trim(f[j+1], "\x00"), ",", " ")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.type"), []byte("domain\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		h.own = dir
	}
	return h
}

func Test_Unified_Home_Is_Chosen(t *testing.T) {
	all := []string{"cpu", "memory", "pids"}
	tests := []struct {
		name  string
		tree  []string
		must  []string
		dir   string // relative; "none"
		holds string
		turns string
	}{
		{
			"the session's slice of a desktop user",
			[]string{". cpu,memory,pids memory,pids -", "user memory,pids memory,pids -", "user/app memory,pids memory,pids -", "user/app/x memory,pids - 7"},
			nil, "user/app", "memory pids", "",
		},
		{
			"a controller that must hold is switched on where it is available",
			[]string{". cpu,memory,pids cpu,memory,pids -", "user cpu,memory,pids memory,pids -", "user/x memory,pids - 7"},
			[]string{"cpu"},
			"user", "cpu memory pids", "cpu",
		},
		{
			"not where processes are in the way",
			[]string{". cpu,memory,pids memory,pids -", "user cpu,memory,pids memory,pids 5", "user/x memory,pids - 7"},
			[]string{"cpu"},
			".", "cpu memory pids", "cpu",
		},
		{
			"a farther one that has more",
			[]string{". cpu,memory,pids cpu,memory,pids -", "user cpu,memory,pids memory,pids -", "user/x memory,pids - 7"},
			nil, ".", "cpu memory pids", "",
		},
		{"the root itself", []string{". cpu,memory,pids memory,pids 1"}, []string{"cpu"}, ".", "cpu memory pids", "cpu"},
		{"a hierarchy without controllers", []string{". - - 1", "x - - 7"}, all, "none", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := unifiedTree(t, tt.tree...)
			got := homes([]hierarchy{h}, all, tt.must)
			if tt.dir == "none" {
				if len(got) != 0 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("got %+v", got)
			}
			rel, _ := filepath.Rel(h.mount, got[0].dir)
			if have := []string{rel, strings.Join(got[0].controllers, " "), strings.Join(got[0].enable, " ")}; !slices.Equal(have, []string{tt.dir, tt.holds, tt.turns}) {
				t.Errorf("got %q, want %q", have, []string{tt.dir, tt.holds, tt.turns})
			}
		})
	}
}

func Test_The_Unified_Root_Of_A_Container_Is_Rejected_As_Home(t *testing.T) {
	// The container's own cgroup, with its processes, is all that is visible.
	h := unifiedTree(t, ". cpu,memory,pids - 1,2")
	if err := os.WriteFile(filepath.Join(h.mount, "cgroup.type"), []byte("domain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := homes([]hierarchy{h}, []string{"pids"}, []string{"pids"}); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func Test_Home_Must_Be_Writable(t *testing.T) {
	if plainuser.Repeat(t) {
		return
	}
	for _, locked := range []string{"user", "user/cgroup.procs"} {
		t.Run(locked, func(t *testing.T) {
			h := unifiedTree(t, ". memory,pids - -", "user memory,pids memory,pids -", "user/x memory,pids - 7")
			if got := homes([]hierarchy{h}, []string{"pids"}, nil); len(got) != 1 {
				t.Fatalf("got %+v before", got)
			}
			if err := os.Chmod(filepath.Join(h.mount, locked), 0o555); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(h.mount, locked), 0o755) })
			if got := homes([]hierarchy{h}, []string{"pids"}, nil); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func Test_Limits_Become_Settings_Of_A_Cgroup(t *testing.T) {
	p := policy.Limits{Limits: sandbox.Limits{Memory: 64 << 20, Pids: 10, CPU: 1.5}}
	tests := []struct {
		name, controller string
		unified          bool
		want             string
	}{
		{"pids", "pids", true, "[{pids.max 11 false}]"},
		{"memory of version 2 without swap", "memory", true, "[{memory.max 67108864 false} {memory.swap.max 0 true}]"},
		{"memory of version 1 with swap", "memory", false, "[{memory.limit_in_bytes 67108864 false} {memory.memsw.limit_in_bytes 67108864 true}]"},
		{"cpu of version 2", "cpu", true, "[{cpu.max 150000 100000 false}]"},
		{"cpu of version 1", "cpu", false, "[{cpu.cfs_period_us 100000 false} {cpu.cfs_quota_us 150000 false}]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fmt.Sprint(limitSettings(p, tt.controller, tt.unified)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func Test_A_CPU_Limit_Is_A_Quota_And_A_Period(t *testing.T) {
	for cpu, want := range map[float64][2]string{
		2: {"200000", "100000"}, 0.01: {"1000", "100000"}, 0.005: {"5000", "1000000"}, 0.0001: {"1000", "1000000"},
	} {
		quota, period := cpuShare(cpu)
		if got := [2]string{quota, period}; !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %v, want %v", cpu, got, want)
		}
	}
}

func Test_Kernel_Versions_Are_Compared(t *testing.T) {
	for release, want := range map[string]bool{
		"5.14.0": true, "5.14-rc1": true, "6.1.0-18-amd64": true, "5.13.19": false, "4.18.0-553.el8": false,
		"10.0": true, "": false, "six.one": false, "5": false, "5.x": false,
	} {
		if got := isKernelAtLeast(release, 5, 14); got != want {
			t.Errorf("%q: got %v", release, got)
		}
	}
}

func Test_Process_Limit_Needs_A_User_And_A_Kernel(t *testing.T) {
	for _, tt := range []struct {
		name    string
		uid     int
		release string
		holds   bool
	}{
		{"a user on a new kernel", 1000, "6.1.0", true},
		{"a user on an old kernel", 1000, "5.10.0", false},
		{"root", 0, "6.1.0", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if why := whyNoProcessLimit(tt.uid, tt.release); (why == "") != tt.holds {
				t.Errorf("got %q", why)
			}
		})
	}
}
