package require

import (
	"strings"
	"testing"
)

func Test_A_Missing_Command_Skips_With_What_Installs_It(t *testing.T) {
	t.Setenv("SANDBOX_REQUIRE", "docker,shell")
	for _, tt := range []struct {
		name, group string
		skipped     bool
	}{
		{"sh", "", false},
		{"agent-sandbox-no-such-command", "", true},
		{"agent-sandbox-no-such-command", "bwrap", true},
	} {
		var inner *testing.T
		t.Run(tt.name+" "+tt.group, func(t *testing.T) {
			inner = t
			if got := Command(t, tt.name, tt.group); !strings.HasSuffix(got, "/"+tt.name) {
				t.Errorf("got %q", got)
			}
		})
		if inner.Skipped() != tt.skipped {
			t.Errorf("%s, %q: skipped is %v", tt.name, tt.group, inner.Skipped())
		}
	}
}
