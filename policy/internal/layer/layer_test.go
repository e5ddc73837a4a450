package layer

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_A_Source_Names_The_File_The_Flag_Or_The_Origin(t *testing.T) {
	file := sandbox.Layer{Name: "global", File: "/g\nx", Lines: map[string]int{"network": 2}}
	flags := sandbox.Layer{Name: Flags}
	for _, c := range []struct {
		name  string
		layer sandbox.Layer
		key   string
		want  string
	}{
		{"a line", file, "network", `"/g\nx":2`},
		{"a file without the line", file, "docker", `"/g\nx"`},
		{"the defaults", sandbox.Layer{Name: Defaults}, "network", "built in"},
		{"a flag of its own", flags, "network", "--network"},
		{"the flag of a path", flags, "filesystem.ro[2]", "--ro"},
		{"the flag of a preset", flags, "filesystem.presets[0]", "--preset"},
		{"the flag of a socket", flags, "filesystem.sockets[0]", "--socket"},
		{"the flag of a command", flags, "commands.a.b", "--cmd"},
		{"a layer of a program", sandbox.Layer{}, "network", "policy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Source(c.layer, c.key); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if strings.Contains(Source(file, "x"), "\n") {
		t.Error("a source has two lines")
	}
}
