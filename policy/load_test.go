package policy

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// testSources is a home and a project in a new directory.
func testSources(t *testing.T) Sources {
	t.Helper()
	root := treetest.Dir(t)
	s := Sources{Home: filepath.Join(root, "home"), Dir: filepath.Join(root, "project"), Trust: &Trust{Dir: filepath.Join(root, "trust")}}
	for _, d := range []string{s.Home, s.Dir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s Sources) global() string  { return filepath.Join(s.Home, ".config/agent-sandbox/config.json") }
func (s Sources) project() string { return filepath.Join(s.Dir, ".agent-sandbox.json") }

func Test_Load_Orders_Layers(t *testing.T) {
	const content = `{"network": "none"}`
	for _, c := range []struct {
		name  string
		setup func(t *testing.T, s *Sources)
		want  string // name:trusted of each layer
	}{
		{"no files", func(*testing.T, *Sources) {}, "defaults:true flags:true"},
		{"no home and no project", func(_ *testing.T, s *Sources) { s.Home, s.Dir = "", "" }, "defaults:true flags:true"},
		{"a global file", func(t *testing.T, s *Sources) { t.Helper(); treetest.Write(t, s.global(), content) }, "defaults:true global:true flags:true"},
		{"a global file with comments", func(t *testing.T, s *Sources) { t.Helper(); treetest.Write(t, s.global()+"c", content+"//") }, "defaults:true global:true flags:true"},
		{"a project file is not trusted", func(t *testing.T, s *Sources) { t.Helper(); treetest.Write(t, s.project(), content) }, "defaults:true project:false flags:true"},
		{"both", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.global(), content)
			treetest.Write(t, s.project()+"c", content)
		}, "defaults:true global:true project:false flags:true"},
		{"a trusted project file", func(t *testing.T, s *Sources) {
			t.Helper()
			if err := s.Trust.Add(treetest.Write(t, s.project(), content), []byte(content)); err != nil {
				t.Fatal(err)
			}
		}, "defaults:true project:true flags:true"},
		{"a project file that was trusted and then changed", func(t *testing.T, s *Sources) {
			t.Helper()
			if err := s.Trust.Add(treetest.Write(t, s.project(), content), []byte(content)); err != nil {
				t.Fatal(err)
			}
			treetest.Write(t, s.project(), content+" ")
		}, "defaults:true project:false flags:true"},
		{"a project file that is a link to a trusted one", func(t *testing.T, s *Sources) {
			t.Helper()
			other := treetest.Write(t, filepath.Join(filepath.Dir(s.Dir), "trusted", ".agent-sandbox.json"), content)
			if err := errors.Join(s.Trust.Add(other, []byte(content)), os.Symlink(other, s.project())); err != nil {
				t.Fatal(err)
			}
		}, "defaults:true project:false flags:true"},
		{"no trust store", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.project(), content)
			s.Trust = nil
		}, "defaults:true project:false flags:true"},
		{"a named file takes the project file's place and is trusted", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.project(), `broken`)
			treetest.Write(t, filepath.Join(s.Dir, "sub/my.conf"), content)
			s.ConfigFile = "sub/my.conf"
		}, "defaults:true config:true flags:true"},
		{"a configuration directory of its own", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.global(), "broken")
			s.ConfigHome = filepath.Join(s.Home, "xdg")
			treetest.Write(t, filepath.Join(s.ConfigHome, "agent-sandbox/config.json"), content)
		}, "defaults:true global:true flags:true"},
		{"a relative configuration directory does not count", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.global(), content)
			s.ConfigHome = "xdg"
		}, "defaults:true global:true flags:true"},
		{"a home that is a file has no configuration", func(_ *testing.T, s *Sources) { s.Home = "/dev/null" }, "defaults:true flags:true"},
		{"a link to a file is followed", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, filepath.Join(s.Home, "dotfiles/c.json"), content)
			treetest.Write(t, s.global()+".x", "")
			if err := os.Symlink(filepath.Join(s.Home, "dotfiles/c.json"), s.global()); err != nil {
				t.Fatal(err)
			}
		}, "defaults:true global:true flags:true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testSources(t)
			c.setup(t, &s)
			layers, err := Load(s)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range layers {
				name := l.Name + ":false"
				if l.Trusted {
					name = l.Name + ":true"
				}
				got = append(got, name)
				if isFile := l.File != ""; isFile != (l.Lines != nil) {
					t.Errorf("layer %s has file %q and lines %v", l.Name, l.File, l.Lines)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got  %v\nwant %s", got, c.want)
			}
		})
	}
}

func Test_Load_Refuses_With_One_Line(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(t *testing.T, s *Sources)
		want  string // HOME and DIR stand for the two directories
		code  sandbox.Code
	}{
		{"two global files", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.global(), "{}")
			treetest.Write(t, s.global()+"c", "{}")
		}, "HOME/.config/agent-sandbox/config.json: found config.jsonc beside it, expected one of them", sandbox.Invalid},
		{"two project files, both broken", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.project(), "")
			treetest.Write(t, s.project()+"c", "")
		}, "DIR/.agent-sandbox.json: found .agent-sandbox.jsonc beside it, expected one of them", sandbox.Invalid},
		{
			"a broken file has its line", func(t *testing.T, s *Sources) { t.Helper(); treetest.Write(t, s.project(), "{\n\"x\": 1}") },
			"DIR/.agent-sandbox.json:2: x: found an unknown key, expected one of $schema, backend, network, docker, userns, debuggers, filesystem, commands, secrets, env, limits, requests, assistants", sandbox.Invalid,
		},
		{
			"a directory", func(t *testing.T, s *Sources) { t.Helper(); treetest.Write(t, s.project()+"/x", "") },
			"DIR/.agent-sandbox.json: found a directory, expected a regular file", sandbox.Invalid,
		},
		{"a FIFO is not waited for", func(t *testing.T, s *Sources) {
			t.Helper()
			if err := syscall.Mkfifo(s.project(), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "DIR/.agent-sandbox.json: found a FIFO, expected a regular file", sandbox.Invalid},
		{"a device", func(t *testing.T, s *Sources) { t.Helper(); s.ConfigFile = "/dev/zero" }, "/dev/zero: found a device, expected a regular file", sandbox.Invalid},
		{"a socket", func(t *testing.T, s *Sources) {
			t.Helper()
			l, err := new(net.ListenConfig).Listen(t.Context(), "unix", s.project())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}, "DIR/.agent-sandbox.json: found a socket, expected a regular file", sandbox.Invalid},
		{"a loop of links", func(t *testing.T, s *Sources) {
			t.Helper()
			if err := os.Symlink(".agent-sandbox.json", s.project()); err != nil {
				t.Fatal(err)
			}
		}, "DIR/.agent-sandbox.json: found a loop of symbolic links, expected a regular file", sandbox.Invalid},
		{"a link to nothing", func(t *testing.T, s *Sources) {
			t.Helper()
			if err := os.Symlink("gone", s.project()); err != nil {
				t.Fatal(err)
			}
		}, "DIR/.agent-sandbox.json: found a symbolic link to nothing, expected a regular file", sandbox.Invalid},
		{"a file without end", func(t *testing.T, s *Sources) {
			t.Helper()
			treetest.Write(t, s.project(), "{}")
			if err := os.Truncate(s.project(), 1<<40); err != nil {
				t.Fatal(err)
			}
		}, "DIR/.agent-sandbox.json: found more than 1MiB, expected a smaller file", sandbox.Invalid},
		{"a named file is missing", func(_ *testing.T, s *Sources) { s.ConfigFile = "no.json" }, "DIR/no.json: no such file", sandbox.NotFound},
		{
			"a name is too long", func(_ *testing.T, s *Sources) { s.ConfigFile = "/" + strings.Repeat("x", 4096) },
			"/" + strings.Repeat("x", 4096) + ": file name too long", sandbox.Invalid,
		},
		{"a name has a newline", func(_ *testing.T, s *Sources) { s.ConfigFile = "/no\nsuch" }, `"/no\nsuch": no such file`, sandbox.NotFound},
		{"a wrong flag", func(_ *testing.T, s *Sources) { s.Flags.Limits.Pids = -1 }, "flags: limits.pids: found -1, expected a whole number of at least 1", sandbox.Invalid},
		{"a flag with an unknown preset", func(_ *testing.T, s *Sources) {
			s.Flags.Commands = map[string]sandbox.CommandRule{"git": "@x"}
		}, `flags: commands.git: found the unknown preset "@x", expected "@git"`, sandbox.Invalid},
		{"a relative home", func(_ *testing.T, s *Sources) { s.Home = "home" }, `found the directory "home", expected an absolute path`, sandbox.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testSources(t)
			home, dir := s.Home, s.Dir
			c.setup(t, &s)
			_, err := Load(s)
			if err == nil {
				t.Fatal("it was accepted")
			}
			want := strings.NewReplacer("HOME", home, "DIR", dir).Replace(c.want)
			if err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
			if sandbox.CodeOf(err) != c.code {
				t.Errorf("code is %s, want %s", sandbox.CodeOf(err), c.code)
			}
		})
	}
}

// Root reads every file, so that root can only be shown the message.
func Test_Load_Says_That_A_File_Cannot_Be_Read(t *testing.T) {
	if os.Geteuid() == 0 {
		err := missingError("/x", &os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES})
		if err.Error() != "permission denied" || err.Code != sandbox.Denied {
			t.Errorf("got %v", err)
		}
		return
	}
	s := testSources(t)
	treetest.Write(t, s.project(), "{}")
	if err := os.Chmod(s.project(), 0); err != nil {
		t.Fatal(err)
	}
	_, err := Load(s)
	if want := s.project() + ": permission denied"; err == nil || err.Error() != want || !errors.Is(err, sandbox.ErrDenied) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func Test_Config_Files_Names_What_Later_Runs_Would_Read(t *testing.T) {
	s := Sources{Home: "/h", Dir: "/d", ConfigFile: "c.json", Trust: &Trust{Dir: "/t"}}
	want := []string{
		"/h/.config/agent-sandbox/config.json", "/h/.config/agent-sandbox/config.jsonc", "/d/c.json",
		"/d/.agent-sandbox.json", "/d/.agent-sandbox.jsonc", "/t",
	}
	if got := ConfigFiles(s); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := ConfigFiles(Sources{}); len(got) != 0 {
		t.Errorf("nothing was given, got %v", got)
	}
}

func Test_Defaults_Are_Safe_And_Valid(t *testing.T) {
	l := Defaults()
	if err := checkLayers([]sandbox.Layer{l}); err != nil {
		t.Error(err)
	}
	s := mergeSettings([]sandbox.Layer{l})
	if s.network.mode != sandbox.NetworkNone || s.docker || s.userns || s.debuggers || l.Policy.Commands["git"] != "@git" {
		t.Errorf("defaults are %+v", s)
	}
}
