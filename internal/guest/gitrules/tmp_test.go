package gitrules

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGitRulesEndUnderTmp(t *testing.T) {
	tmp, err := os.MkdirTemp("/tmp", "guest-test-") //nolint:usetesting // TMPDIR may lie elsewhere; /tmp is the point here
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	link := filepath.Join(tmp, "link")
	if err := os.Symlink("/usr", link); err != nil {
		t.Fatal(err)
	}
	const refused = "git reset --hard"
	for _, row := range []struct {
		name, dir string
		args      []string
		env       []string
		refused   string
	}{
		{"in /tmp", "/tmp", nil, nil, ""},
		{"below /tmp", tmp, nil, nil, ""},
		{"elsewhere", "/usr", nil, nil, refused},
		{"a name that only begins so", "/tmpfile", nil, nil, refused},
		{"an unknown directory", "", nil, nil, refused},
		{"-C into /tmp", "/usr", []string{"-C", tmp}, nil, ""},
		{"-C twice, relative", "/", []string{"-C", "tmp", "-C", filepath.Base(tmp)}, nil, ""},
		{"-C out of /tmp", tmp, []string{"-C", "/usr"}, nil, refused},
		{"-C with dots", tmp, []string{"-C", "../../usr"}, nil, refused},
		{"a link in /tmp that leads out", link, nil, nil, refused},
		{"a link in /tmp by -C", tmp, []string{"-C", "link"}, nil, refused},
		{"--work-tree outside", tmp, []string{"--work-tree=/usr"}, nil, refused},
		{"--git-dir outside", tmp, []string{"--git-dir", "/usr/.git"}, nil, refused},
		{"--git-dir inside", tmp, []string{"--git-dir", ".git"}, nil, ""},
		{"GIT_DIR outside", tmp, nil, []string{"GIT_DIR=/usr/.git"}, refused},
		{"GIT_WORK_TREE outside", tmp, nil, []string{"GIT_WORK_TREE=../../usr"}, refused},
	} {
		t.Run(row.name, func(t *testing.T) {
			call := Call{Args: append(row.args, "reset", "--hard"), Env: row.env, Dir: row.dir}
			checkRefusal(t, call.Check(), row.refused)
		})
	}
}
