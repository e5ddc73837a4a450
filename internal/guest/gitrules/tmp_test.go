package gitrules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func Test_Git_Rules_End_In_Private_Directories(t *testing.T) {
	t.Parallel()
	private, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	mkdir := func(name string) string {
		name = filepath.Join(private, name)
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
		return name
	}
	inside := mkdir("repository/sub")
	mkdir("repository/.git")
	file := func(dir, gitdir string) string {
		dir = mkdir(dir)
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+gitdir+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	linked := file("linked", outside+"/.git/worktrees/linked")
	module := file("repository/module", "../.git/modules/module")
	link := filepath.Join(private, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	isPrivate := func(name string) bool {
		resolved, err := filepath.EvalSymlinks(name)
		if err != nil {
			resolved = filepath.Clean(name)
		}
		return resolved == private || strings.HasPrefix(resolved, private+"/")
	}
	const refused = "git reset --hard"
	for _, row := range []struct {
		name, dir string
		args      []string
		env       []string
		refused   string
	}{
		{"in it", private, nil, nil, ""},
		{"below it", inside, nil, nil, ""},
		{"elsewhere", outside, nil, nil, refused},
		{"an unknown directory", "", nil, nil, refused},
		{"-C into it", outside, []string{"-C", private}, nil, ""},
		{"-C twice, relative", filepath.Dir(private), []string{"-C", filepath.Base(private), "-C", "repository"}, nil, ""},
		{"-C out of it", private, []string{"-C", outside}, nil, refused},
		{"-C with dots", private, []string{"-C", "../.."}, nil, refused},
		{"a link in it that leads out", link, nil, nil, refused},
		{"a link in it by -C", private, []string{"-C", "link"}, nil, refused},
		{"--work-tree outside", private, []string{"--work-tree=" + outside}, nil, refused},
		{"--git-dir outside", private, []string{"--git-dir", outside + "/.git"}, nil, refused},
		{"--git-dir inside", private, []string{"--git-dir", ".git"}, nil, ""},
		{"GIT_DIR outside", private, nil, []string{"GIT_DIR=" + outside}, refused},
		{"GIT_WORK_TREE outside", private, nil, []string{"GIT_WORK_TREE=../../x"}, refused},
		{"a linked work tree of a repository outside", linked, nil, nil, refused},
		{"a submodule of a private repository", module, nil, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			call := Call{Args: append(row.args, "reset", "--hard"), Env: row.env, Dir: row.dir, Private: isPrivate}
			checkRefusal(t, call.Check(), row.refused)
			call.Private = nil
			checkRefusal(t, call.Check(), refused)
		})
	}
}
