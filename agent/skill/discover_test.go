package skill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// add writes a valid skill below base.
func add(t *testing.T, base, place, name string) {
	t.Helper()
	write(t, filepath.Join(base, place, name, "SKILL.md"), front("name: "+name, "description: in "+place))
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

// found lists the results of a search as "name scope".
func found(c *skill.Catalog) string {
	var out []string
	for _, s := range c.Skills {
		out = append(out, s.Name+" "+string(s.Scope))
	}
	return strings.Join(out, ", ")
}

func Test_The_Assistant_Wins_Over_The_Project_And_That_Over_The_User(t *testing.T) {
	t.Parallel()
	assistant, project, home := t.TempDir(), t.TempDir(), t.TempDir()
	add(t, assistant, "skills", "own")
	add(t, project, ".agents/skills", "own")
	add(t, project, ".agents/skills", "both")
	add(t, project, ".claude/skills", "both")
	add(t, project, ".claude/skills", "claude")
	add(t, home, ".agents/skills", "both")
	add(t, home, ".claude/skills", "mine")
	c := skill.Discover(skill.Sources(assistant, project, home)...)
	if got, want := found(c), "own assistant, both project, claude project, mine user"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := fmt.Sprintf("skill 'both' is shadowed by %s", filepath.Join(project, ".agents/skills/both/SKILL.md"))
	if got := texts(c.Problems, skill.Warning); strings.Count(got, "is shadowed by") != 3 || strings.Count(got, want) != 2 {
		t.Errorf("got %q", got)
	}
}

func Test_A_Search_Finds_Skills_In_Folders_And_Not_In_Skills(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	add(t, base, "skills/group/deeper", "deep")
	add(t, base, "skills", "top")
	add(t, base, "skills/top/examples", "inner")
	add(t, base, "skills/node_modules", "package")
	add(t, base, "skills/.git", "object")
	write(t, filepath.Join(base, "skills", "broken", "SKILL.md"), "nothing")
	c := skill.Discover(skill.Sources(base, "", "")...)
	if got, want := found(c), "deep assistant, top assistant"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := texts(c.Problems, skill.Error); !strings.Contains(got, "must start with YAML frontmatter") {
		t.Errorf("got %q", got)
	}
}

func Test_Only_Links_To_Directories_Inside_Are_Followed(t *testing.T) {
	t.Parallel()
	outside, project := t.TempDir(), t.TempDir()
	add(t, outside, ".", "secret")
	add(t, project, ".agents/skills", "shared")
	link(t, "../../.agents/skills/shared", filepath.Join(project, ".claude/skills/shared"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(project, ".claude/skills/secret"))
	link(t, "../../../../../../../../..", filepath.Join(project, ".claude/skills/up"))
	link(t, ".", filepath.Join(project, ".claude/skills/loop"))
	write(t, filepath.Join(project, ".claude/skills/file/x"), "")
	link(t, filepath.Join(outside, "secret", "SKILL.md"), filepath.Join(project, ".claude/skills/file/SKILL.md"))
	c := skill.Discover(skill.Sources("", project, "")...)
	if got, want := found(c), "shared project"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := texts(c.Problems, skill.Warning); strings.Count(got, "the link cannot be followed") != 2 {
		t.Errorf("got %q", got)
	}
	if got := texts(c.Problems, skill.Error); !strings.Contains(got, "SKILL.md cannot be read") {
		t.Errorf("got %q", got)
	}

	whole := t.TempDir()
	link(t, outside, filepath.Join(whole, ".agents"))
	link(t, outside, filepath.Join(whole, ".claude", "skills"))
	c = skill.Discover(skill.Sources("", whole, "")...)
	if len(c.Skills) > 0 || strings.Count(texts(c.Problems, skill.Warning), "cannot be searched") != 2 {
		t.Errorf("got %+v", c)
	}
}

func Test_A_Search_Is_Bounded(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	add(t, base, "skills/"+strings.Repeat("d/", skill.MaxDepth), "deep-enough")
	add(t, base, "skills/"+strings.Repeat("e/", skill.MaxDepth+1), "too-deep")
	c := skill.Discover(skill.Sources(base, "", "")...)
	if got, want := found(c), "deep-enough assistant"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := texts(c.Problems, skill.Warning); !strings.Contains(got, "too many directories, or too deep") {
		t.Errorf("got %q", got)
	}

	many := t.TempDir()
	for i := range skill.MaxDirs + 10 {
		if err := os.MkdirAll(filepath.Join(many, "skills", fmt.Sprintf("d%05d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	for i := range skill.MaxSkills + 10 {
		add(t, home, ".agents/skills", fmt.Sprintf("s%05d", i))
	}
	c = skill.Discover(skill.Sources(many, "", home)...)
	got := texts(c.Problems, skill.Warning)
	if !strings.Contains(got, "not searched: too many directories") || !strings.Contains(got, "not loaded: too many skills") {
		t.Errorf("got %q", got)
	}
	if len(c.Skills) != skill.MaxSkills {
		t.Errorf("got %d skills", len(c.Skills))
	}
}

func Test_Hostile_Files_Are_Refused_Without_Waiting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, file string) error
		want string
	}{
		{"a pipe", func(_ *testing.T, file string) error { return syscall.Mkfifo(file, 0o644) }, "not a regular file"},
		{"a huge file", func(_ *testing.T, file string) error { return os.Truncate(file, 1<<40) }, "has more than 1048576 bytes"},
		{"a link to a device", func(_ *testing.T, file string) error { return os.Symlink("/dev/zero", file) }, "cannot be read"},
		{"a link to a file outside", func(t *testing.T, file string) error {
			t.Helper()
			other := filepath.Join(t.TempDir(), "x")
			write(t, other, front("name: a", "description: stolen"))
			return os.Symlink(other, file)
		}, "cannot be read"},
		{"a link to itself", func(_ *testing.T, file string) error { return os.Symlink("SKILL.md", file) }, "cannot be read"},
		{"a link to nothing", func(_ *testing.T, file string) error { return os.Symlink("nothing", file) }, "does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a")
			file := filepath.Join(dir, "SKILL.md")
			write(t, file, "")
			if c.name != "a huge file" {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.make(t, file); err != nil {
				t.Fatal(err)
			}
			checkErrors(t, skill.Validate(dir), []string{c.want})
			if s, problems := skill.Load(dir); s != nil || !strings.Contains(texts(problems, skill.Error), c.want) {
				t.Errorf("got %+v, %q", s, problems)
			}
		})
	}
}

func Test_Resources_Are_Read_Only_Inside(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a")
	write(t, filepath.Join(dir, "SKILL.md"), front("name: a", says))
	write(t, filepath.Join(dir, "ok.txt"), "ok")
	write(t, filepath.Join(filepath.Dir(dir), "out.txt"), "out")
	write(t, filepath.Join(dir, "big"), strings.Repeat("x", skill.MaxResource+1))
	link(t, "../out.txt", filepath.Join(dir, "link"))
	link(t, "ok.txt", filepath.Join(dir, "inner"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, problems := skill.Load(dir)
	if s == nil {
		t.Fatal(problems)
	}
	tree, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, c := range []struct {
		path string
		want error
	}{
		{"ok.txt", nil},
		{"inner", nil},
		{"../out.txt", sandbox.ErrDenied},
		{"/etc/passwd", sandbox.ErrDenied},
		{"x/../ok.txt", sandbox.ErrDenied},
		{"link", sandbox.ErrDenied},
		{"pipe", sandbox.ErrInvalid},
		{".", sandbox.ErrInvalid},
		{"big", sandbox.ErrExhausted},
		{"nothing", sandbox.ErrNotFound},
	} {
		if _, err := tree.ReadResource(c.path); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.path, err, c.want)
		}
	}
	names, whole := tree.Resources()
	if want := []string{"big", "ok.txt"}; !slices.Equal(names, want) || !whole {
		t.Errorf("got %q, %v, want %q", names, whole, want)
	}
}

func Test_The_List_Of_Resources_Is_Bounded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a")
	write(t, filepath.Join(dir, "SKILL.md"), front("name: a", says))
	for i := range skill.MaxResources + 1 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%04d", i)), "")
	}
	s, problems := skill.Load(dir)
	if s == nil {
		t.Fatal(problems)
	}
	a, err := s.Activate()
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Resources) != skill.MaxResources || a.Whole || !strings.Contains(a.Prompt(), "(there are more)") {
		t.Errorf("got %d resources, whole is %v", len(a.Resources), a.Whole)
	}
}
