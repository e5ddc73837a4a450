package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Expected_Mounts_Are_Compared(t *testing.T) {
	t.Parallel()
	var st unix.Stat_t
	if err := unix.Stat("/proc", &st); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/proc", link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expected Identity
		want     string // of the error; empty: none
	}{
		{Identity{Path: "/proc", Dev: st.Dev, Ino: st.Ino}, ""},
		{Identity{Path: "/proc"}, ""},
		{Identity{Path: "/proc", Dev: st.Dev, Ino: st.Ino + 1}, "another file"},
		{Identity{Path: "/proc", Dev: st.Dev + 1, Ino: st.Ino}, "another file"},
		{Identity{Path: guard.Path(link), Dev: st.Dev, Ino: st.Ino}, "elsewhere"},
		{Identity{Path: "/proc/self", Dev: st.Dev, Ino: st.Ino}, "elsewhere"},
		{Identity{Path: guard.Path(link + "x")}, "no such file"},
	} {
		err := verify([]Identity{c.expected})
		if c.want == "" && err != nil {
			t.Errorf("%+v: %v", c.expected, err)
		}
		if c.want != "" && (sandbox.CodeOf(err) != sandbox.Denied || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.expected, err, c.want)
		}
	}
}
