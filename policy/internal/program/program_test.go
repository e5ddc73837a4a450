package program

import (
	"os"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
)

// makePrograms makes executable files with a text.
func makePrograms(t *testing.T, text string, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.Chmod(treetest.Write(t, f, text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func Test_Find_Resolves_Links_And_Skips_What_Cannot_Run(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	makePrograms(t, "\x7fELF", dir+"/real/tool", dir+"/b/tool")
	treetest.Make(t, dir, "a/tool -> ../real/tool", "c/tool -> ../a/tool", "d/tool", "e/tool/", "f/tool -> gone")
	got := Find("tool", []string{dir + "/a", dir + "/b", dir + "/c", dir + "/d", dir + "/e", dir + "/f", dir + "/none"})
	if want := []string{dir + "/real/tool", dir + "/b/tool"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func Test_Real_Skips_Scripts_Only_When_Asked(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	script, elf := dir+"/script", dir+"/elf"
	makePrograms(t, "#!/bin/sh\n", script)
	makePrograms(t, "\x7fELF", elf)
	for _, row := range []struct {
		targets []string
		skip    bool
		want    string
	}{
		{[]string{script, elf}, false, script},
		{[]string{script, elf}, true, elf},
		{[]string{script}, true, script},
	} {
		if got := Real(row.targets, row.skip); got != row.want {
			t.Errorf("%q, %v: got %s, want %s", row.targets, row.skip, got, row.want)
		}
	}
}

func Test_A_Script_Of_A_Node_Package_Needs_Its_Tree(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	makePrograms(t, "#!/usr/bin/env node\n", dir+"/lib/node_modules/x/cli.js", dir+"/bin/x")
	makePrograms(t, "\x7fELF", dir+"/lib/node_modules/y/y")
	for program, want := range map[string]string{
		dir + "/lib/node_modules/x/cli.js": dir + "/lib/node_modules", dir + "/bin/x": "", dir + "/lib/node_modules/y/y": "", dir + "/gone": "",
	} {
		if got := Tree(program); got != want {
			t.Errorf("%s: got %q, want %q", program, got, want)
		}
	}
}

func Test_Hard_Links_Of_Git_Are_Git(t *testing.T) {
	t.Parallel()
	dir := treetest.Dir(t)
	makePrograms(t, "\x7fELF", dir+"/bin/git", dir+"/lib/git-core/git-other")
	if err := os.MkdirAll(dir+"/lib/git-core", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git", "git-checkout"} {
		if err := os.Link(dir+"/bin/git", dir+"/lib/git-core/"+name); err != nil {
			t.Fatal(err)
		}
	}
	got := OfGit([]string{dir + "/bin/git"})
	for _, name := range []string{"git", "git-checkout"} {
		if !slices.Contains(got, dir+"/lib/git-core/"+name) {
			t.Errorf("%q lacks %s", got, name)
		}
	}
	if slices.Contains(got, dir+"/lib/git-core/git-other") {
		t.Errorf("%q has another program", got)
	}
}
