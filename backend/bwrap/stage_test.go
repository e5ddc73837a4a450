//go:build linux

package bwrap

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/mountinfo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Other_Ways_To_A_Workspace_Are_Found(t *testing.T) {
	t.Parallel()
	const root = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	for _, row := range []struct {
		name, mounts, dir string
		want              []string
	}{
		{"none", root, "/home/u/w", nil},
		{"another file system", root + "30 22 8:2 / /mnt rw - ext4 /dev/sdb1 rw\n", "/home/u/w", nil},
		{"the whole file system again", root + "30 22 8:1 / /mnt rw - ext4 /dev/sda1 rw\n", "/home/u/w", []string{"/mnt/home/u/w"}},
		{"the workspace again", root + "30 22 8:1 /home/u/w /mnt rw - ext4 /dev/sda1 rw\n", "/home/u/w", []string{"/mnt"}},
		{"a directory above", root + "30 22 8:1 /home /mnt rw - ext4 /dev/sda1 rw\n", "/home/u/w", []string{"/mnt/u/w"}},
		{"a directory in it", root + "30 22 8:1 /home/u/w/src /mnt rw - ext4 /dev/sda1 rw\n", "/home/u/w", []string{"/mnt"}},
		{"a neighbor with a longer name", root + "30 22 8:1 /home/u/w2 /mnt rw - ext4 /dev/sda1 rw\n", "/home/u/w", nil},
		{"a workspace that is itself mounted from elsewhere", root + "30 22 8:1 /data/w /home/u/w rw - ext4 /dev/sda1 rw\n", "/home/u/w", []string{"/data/w"}},
		{"a name with a space", root + "30 22 8:1 /my\\040w /mnt\\011x rw - ext4 /dev/sda1 rw\n", "/my w", []string{"/mnt\tx"}},
		{"a file system on top of another", root + "30 22 8:2 / /home rw - ext4 /dev/sdb1 rw\n31 22 8:2 /u /mnt rw - ext4 /dev/sdb1 rw\n", "/home/u/w", []string{"/mnt/w"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := findAliases(mountinfo.Parse(row.mounts), row.dir); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func Test_A_Stage_Needs_A_Workspace(t *testing.T) {
	t.Parallel()
	_, err := New(Options{DataDir: t.TempDir()}).Create(t.Context(), sandbox.Spec{Stage: "x", Home: t.TempDir()})
	if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), "needs a workspace") {
		t.Errorf("%v", err)
	}
}

func Test_A_Git_Directory_Elsewhere_Is_Read_Only_For_A_Stage(t *testing.T) {
	t.Parallel()
	plan := &policy.Plan{
		Workspace: "/home/u/wt",
		Mounts: []policy.Mount{
			{Path: "/home/u/.cache", Access: policy.ReadWrite, Dir: true, Rule: 1},
			{Path: "/home/u/main/.git", Access: policy.ReadWrite, Dir: true, Rule: 0},
			{Path: "/home/u/main/.git/worktrees/wt", Access: policy.ReadWrite, Dir: true, Pin: true, Rule: 0},
			{Path: "/home/u/other", Access: policy.ReadWrite, Dir: true, Rule: 1},
			{Path: "/home/u/other/.git", Access: policy.ReadWrite, Dir: true, Pin: true, Rule: 0},
			{Path: "/home/u/wt", Access: policy.ReadWrite, Dir: true, Rule: 1},
			{Path: "/home/u/wt/nested/.git", Access: policy.ReadWrite, Dir: true, Pin: true, Rule: 0},
		},
		Rules: []policy.Rule{{Preset: "@git"}, {}},
	}
	want := []policy.Access{
		policy.ReadWrite, policy.ReadOnly, policy.ReadOnly, policy.ReadWrite, policy.ReadWrite, policy.ReadWrite, policy.ReadWrite,
	}
	adapted := (&staged{}).adapt(plan)
	for i, m := range adapted.Mounts {
		if m.Access != want[i] {
			t.Errorf("%s is %s, want %s", m.Path, m.Access, want[i])
		}
		if plan.Mounts[i].Access != policy.ReadWrite {
			t.Errorf("%s was changed in the plan itself", m.Path)
		}
	}
}
