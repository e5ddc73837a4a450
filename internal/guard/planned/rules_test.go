package planned_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guard/planned"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func plan() *policy.Plan {
	return &policy.Plan{
		Guards: []policy.Guard{{Dir: "/w", Name: ".husky"}, {Dir: "/w/.git/hooks", Name: "*", Except: []string{"*.sample"}}, {Dir: "/home/u", Name: ".npmrc"}},
		Mounts: []policy.Mount{
			{Path: "/tmp", Access: policy.Private},
			{Path: "/w", Access: policy.ReadWrite},
			{Path: "/w/.env", Access: policy.Exclude},
			{Path: "/w/.git", Access: policy.ReadWrite, Pin: true},
		},
		Rules:   []policy.Rule{{}},
		NoRepos: []string{"/w"}, Sockets: []string{"/run/docker.sock", "/w/s", "@x"},
		Nested: policy.NestedNames{
			Roots: []string{"/other", "/w"}, Names: []string{".envrc"}, Dependencies: []string{"vendor"}, Open: []string{"/w/a/.envrc"},
		},
	}
}

func Test_Rules_Are_Those_Of_The_Plan(t *testing.T) {
	got := planned.Rules(plan())
	want := guard.Rules{
		Names: []guard.Name{{Dir: "/w", Name: ".husky"}, {Dir: "/w/.git/hooks", Name: "*", Except: []guard.Path{"*.sample"}}, {Dir: "/home/u", Name: ".npmrc"}},
		Mounts: []guard.Mount{
			{Path: "/tmp", Access: guard.Private},
			{Path: "/w", Access: guard.ReadWrite},
			{Path: "/w/.env", Access: guard.Exclude},
			{Path: "/w/.git", Access: guard.ReadWrite, Pin: true},
		},
		Nested: guard.Nested{
			Roots: []guard.Path{"/other", "/w"}, Names: []guard.Path{".envrc"}, Dependencies: []guard.Path{"vendor"}, Open: []guard.Path{"/w/a/.envrc"},
		},
		Rest: guard.ReadOnly, NoRepos: []guard.Path{"/w"}, Sockets: []guard.Path{"/run/docker.sock", "/w/s", "@x"}, Private: []guard.Path{"/run", "/dev/shm"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func Test_A_Container_Has_The_Rules_Of_Its_Mounts(t *testing.T) {
	got := planned.Contained(plan(), func(host string) (string, bool) {
		rest, ok := strings.CutPrefix(host, "/w")
		return "/workspace" + rest, ok
	})
	want := guard.Rules{
		Names: []guard.Name{{Dir: "/workspace", Name: ".husky"}, {Dir: "/workspace/.git/hooks", Name: "*", Except: []guard.Path{"*.sample"}}},
		Mounts: []guard.Mount{
			{Path: "/workspace", Access: guard.ReadWrite},
			{Path: "/workspace/.env", Access: guard.Exclude},
			{Path: "/workspace/.git", Access: guard.ReadWrite, Pin: true},
		},
		Nested: guard.Nested{
			Roots: []guard.Path{"/workspace"}, Names: []guard.Path{".envrc"}, Dependencies: []guard.Path{"vendor"},
			Open: []guard.Path{"/workspace/a/.envrc"},
		},
		Rest: guard.Private, Inside: true, NoRepos: []guard.Path{"/workspace"}, Sockets: []guard.Path{"/workspace/s", "@x"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func Test_A_Refusal_Is_Reported_Once_With_Printable_Text(t *testing.T) {
	var got []sandbox.Denial
	r := planned.NewReporter(plan(), func(d sandbox.Denial) { got = append(got, d) })
	for range 3 {
		r.Refused(guard.Refusal{Kind: guard.RefusedCommand, Op: "run", Target: "git\x1b push\n", Command: "git\x1b"})
		r.Refused(guard.Refusal{Kind: guard.RefusedPath, Op: "create", Target: "/w/\x1b\n"})
	}
	r.Refused(guard.Refusal{Kind: "another", Op: "create", Target: "/w"})
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, d := range got {
		if all := d.Target + d.Reason + d.Rule + d.Fix; strings.ContainsAny(all, "\x1b\n") {
			t.Errorf("%+v", d)
		}
	}
}

func Test_Refusals_Beyond_The_Bound_Are_Counted(t *testing.T) {
	listed, missed := 0, 0
	r := planned.NewReporter(plan(), func(d sandbox.Denial) {
		if missed += d.Missed; d.Missed == 0 {
			listed++
		}
	})
	const many = 1000
	for i := range many {
		r.Refused(guard.Refusal{Kind: guard.RefusedPath, Op: "create", Target: fmt.Sprintf("/w/%d", i)})
	}
	r.Again()
	if listed == 0 || listed > many/2 || listed+missed != many {
		t.Errorf("%d refusals are listed and %d counted, of %d", listed, missed, many)
	}
	if r.Again(); listed+missed != many {
		t.Errorf("%d refusals are counted twice", listed+missed-many)
	}
}

func Test_A_Workspace_Below_A_Guarded_Tree_Is_Guarded_Where_A_Container_Has_It(t *testing.T) {
	p := plan()
	p.Workspace, p.NoRepos, p.Nested.Roots = "/w/project", []string{"/w"}, []string{"/w"}
	got := planned.Contained(p, func(host string) (string, bool) {
		if rest, ok := strings.CutPrefix(host, "/w/project"); ok {
			return "/workspace" + rest, true
		}
		return host, strings.HasPrefix(host, "/w")
	})
	want := []guard.Path{"/w", "/workspace"}
	if !reflect.DeepEqual(got.NoRepos, want) || !reflect.DeepEqual(got.Nested.Roots, want) {
		t.Errorf("%v and %v, want %v", got.NoRepos, got.Nested.Roots, want)
	}
}
