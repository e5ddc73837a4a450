package policy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func writeProgram(t *testing.T, name, text string) {
	t.Helper()
	treetest.Write(t, name, text)
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

const (
	elfText    = "\x7fELF"
	scriptText = "#!/bin/sh\n"
)

func Test_Commands_Find_Every_Program(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules map[string]sandbox.CommandRule
		setup func(t *testing.T, root string)
		want  string // name=rule:targets→real+tree, below root
	}{
		{"a command that is not installed is left out", map[string]sandbox.CommandRule{"zz-none": "false"}, func(*testing.T, string) {}, ""},
		{"an allowed command is left out", map[string]sandbox.CommandRule{"zz": "true"}, func(t *testing.T, root string) {
			t.Helper()
			writeProgram(t, root+"/b1/zz", elfText)
		}, ""},
		{"both directories of PATH count, sorted", map[string]sandbox.CommandRule{"zz": "false"}, func(t *testing.T, root string) {
			t.Helper()
			writeProgram(t, root+"/b2/zz", elfText)
			writeProgram(t, root+"/b1/zz", elfText)
		}, "zz=deny:/b1/zz,/b2/zz"},
		{"links are resolved and counted once", map[string]sandbox.CommandRule{"zz": "false"}, func(t *testing.T, root string) {
			t.Helper()
			writeProgram(t, root+"/lib/zz-1.2", elfText)
			symlink(t, "../lib/zz-1.2", root+"/b1/zz")
			symlink(t, "../b1/zz", root+"/b2/zz")
		}, "zz=deny:/lib/zz-1.2"},
		{"directories, broken links, loops and plain files do not count", map[string]sandbox.CommandRule{"zz": "false", "yy": "false", "xx": "false", "ww": "false"}, func(t *testing.T, root string) {
			t.Helper()
			treetest.Write(t, root+"/b1/zz/x", "")
			symlink(t, "gone", root+"/b1/yy")
			symlink(t, "xx", root+"/b1/xx")
			treetest.Write(t, root+"/b1/ww", elfText)
		}, ""},
		{"two commands share a program", map[string]sandbox.CommandRule{"zzls": "false", "zzcat": "w.sh"}, func(t *testing.T, root string) {
			t.Helper()
			treetest.Write(t, root+"/dir/w.sh", scriptText)
			writeProgram(t, root+"/b1/zbox", elfText)
			symlink(t, "zbox", root+"/b1/zzls")
			symlink(t, "zbox", root+"/b1/zzcat")
		}, "zzcat=script:/b1/zbox→/b1/zbox zzls=deny:/b1/zbox"},
		{"the first in PATH is the real one", map[string]sandbox.CommandRule{"zz": "w.sh"}, func(t *testing.T, root string) {
			t.Helper()
			treetest.Write(t, root+"/dir/w.sh", scriptText)
			writeProgram(t, root+"/b2/zz", elfText)
			writeProgram(t, root+"/b1/zz", scriptText)
		}, "zz=script:/b1/zz,/b2/zz→/b1/zz"},
		{"a Node program brings the packages beside it", map[string]sandbox.CommandRule{"zpm": "w.sh"}, func(t *testing.T, root string) {
			t.Helper()
			treetest.Write(t, root+"/dir/w.sh", scriptText)
			writeProgram(t, root+"/lib/node_modules/zpm/bin/cli.js", "#!/usr/bin/env node\n")
			symlink(t, "../lib/node_modules/zpm/bin/cli.js", root+"/b1/zpm")
		}, "zpm=script:/lib/node_modules/zpm/bin/cli.js→/lib/node_modules/zpm/bin/cli.js+/lib/node_modules"},
		{"any other script brings nothing, above all not the home directory", map[string]sandbox.CommandRule{"zz": "w.sh"}, func(t *testing.T, root string) {
			t.Helper()
			treetest.Write(t, root+"/dir/w.sh", scriptText)
			writeProgram(t, root+"/home/bin/zz", scriptText)
			symlink(t, root+"/home/bin/zz", root+"/b1/zz")
		}, "zz=script:/home/bin/zz→/home/bin/zz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			c.setup(t, root)
			layer := sandbox.Layer{Name: "flags", Trusted: true, Policy: sandbox.Policy{Commands: c.rules}}
			env := []string{"PATH=" + root + "/b1:rel:" + root + "/b2:" + root + "/b1"}
			commands, err := resolveCommands([]sandbox.Layer{layer}, env, root+"/dir", root+"/home")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cmd := range commands {
				s := cmd.Name + "=" + cmd.Rule + ":" + strings.Join(cmd.Targets, ",")
				if cmd.Real != "" {
					s += "→" + cmd.Real
				}
				if cmd.Tree != "" {
					s += "+" + cmd.Tree
				}
				got = append(got, strings.ReplaceAll(s, root, ""))
				if cmd.Source != "--cmd" || (cmd.Rule == "script") != (string(cmd.Script) == scriptText) {
					t.Errorf("source %q, script %q", cmd.Source, cmd.Script)
				}
			}
			if g := strings.Join(got, " "); g != c.want {
				t.Errorf("got  %s\nwant %s", g, c.want)
			}
		})
	}
}

func Test_Commands_Cover_Gits_Exec_Path(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// A script first in PATH, as on some hosts; a separate git in the exec-path; a hard link to it.
	writeProgram(t, root+"/first/git", scriptText)
	writeProgram(t, root+"/usr/bin/git", elfText)
	writeProgram(t, root+"/usr/libexec/git-core/git", elfText)
	if err := os.Link(root+"/usr/libexec/git-core/git", root+"/usr/libexec/git-core/git-checkout"); err != nil {
		t.Fatal(err)
	}
	symlink(t, "git", root+"/usr/libexec/git-core/git-push")
	writeProgram(t, root+"/usr/libexec/git-core/git-web--browse", scriptText)
	env := []string{"PATH=" + root + "/first:" + root + "/usr/bin"}
	commands, err := resolveCommands([]sandbox.Layer{Defaults()}, env, root, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(commands) != 1 || commands[0].Rule != "preset" || commands[0].Source != "built in" {
		t.Fatalf("got %+v", commands)
	}
	if want := root + "/usr/bin/git"; commands[0].Real != want {
		t.Errorf("real is %s, want %s: the script would run a wrapped git again", commands[0].Real, want)
	}
	var ours []string
	for _, target := range commands[0].Targets {
		if rest, ok := strings.CutPrefix(target, root); ok {
			ours = append(ours, rest)
		}
	}
	want := []string{"/first/git", "/usr/bin/git", "/usr/libexec/git-core/git", "/usr/libexec/git-core/git-checkout"}
	if !slices.Equal(ours, want) {
		t.Errorf("targets are %v, want %v", ours, want)
	}
	if !slices.IsSorted(commands[0].Targets) {
		t.Error("targets are not sorted")
	}
}

func Test_Commands_Of_The_Last_Layer_Win(t *testing.T) {
	root := t.TempDir()
	writeProgram(t, root+"/zz", elfText)
	layer := func(name string, rule sandbox.CommandRule) sandbox.Layer {
		return sandbox.Layer{Name: name, Trusted: true, Policy: sandbox.Policy{Commands: map[string]sandbox.CommandRule{"zz": rule}}}
	}
	for _, c := range []struct {
		name   string
		layers []sandbox.Layer
		want   int
	}{
		{"allowed after denied", []sandbox.Layer{layer("global", "false"), layer("flags", "true")}, 0},
		{"denied after allowed", []sandbox.Layer{layer("global", "true"), layer("flags", "false")}, 1},
		{"a script that another layer took away is not read", []sandbox.Layer{layer("global", "/gone"), layer("flags", "false")}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			commands, err := resolveCommands(c.layers, []string{"PATH=" + root}, root, "")
			if err != nil || len(commands) != c.want {
				t.Errorf("got %v, %v", commands, err)
			}
		})
	}
}

func Test_Commands_Refuse_A_Script_With_One_Line(t *testing.T) {
	root := t.TempDir()
	treetest.Write(t, root+"/plain", "echo hi\n")
	treetest.Write(t, root+"/home/w.sh", scriptText)
	if err := os.Mkdir(root+"/dir", 0o755); err != nil {
		t.Fatal(err)
	}
	treetest.Write(t, root+"/large", scriptText+strings.Repeat("#", MaxConfig))
	for _, c := range []struct {
		name, rule, home, want string
		code                   sandbox.Code
	}{
		{"it does not exist", "gone.sh", "", "script ROOT/gone.sh: no such file", sandbox.NotFound},
		{"it is a directory", "dir", "", "script ROOT/dir: found a directory, expected a regular file", sandbox.Invalid},
		{"it is a device", "/dev/zero", "", "script /dev/zero: found a device, expected a regular file", sandbox.Invalid},
		{"it is too large", "large", "", "script ROOT/large: found more than 1MiB, expected a smaller file", sandbox.Invalid},
		{"it is no script", "plain", "", "script ROOT/plain: found no #! line, expected one such as #!/bin/sh", sandbox.Invalid},
		{"it is in a home that is unknown", "~/w.sh", "", `found "~/w.sh", but there is no home directory, expected another path`, sandbox.Invalid},
		{"it is in the home directory", "~/w.sh", root + "/home", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			layer := sandbox.Layer{
				Name: "global", File: "/c.json", Trusted: true, Lines: map[string]int{"commands.zz": 3},
				Policy: sandbox.Policy{Commands: map[string]sandbox.CommandRule{"zz": sandbox.CommandRule(c.rule)}},
			}
			_, err := resolveCommands([]sandbox.Layer{layer}, nil, root, c.home)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if want := "/c.json:3: commands.zz: " + strings.ReplaceAll(c.want, "ROOT", root); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if !errors.Is(err, &sandbox.Error{Code: c.code}) {
				t.Errorf("code is %s, want %s", sandbox.CodeOf(err), c.code)
			}
		})
	}
}
