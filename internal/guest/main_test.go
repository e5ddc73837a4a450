package guest

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
)

func TestMain(m *testing.M) { os.Exit(guesttest.Run(m)) }

func Test_Only_Calls_Of_The_Guest_Are_Recognized(t *testing.T) {
	for _, row := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"agent-sandbox"}, false},
		{[]string{"agent-sandbox", "exec", "init"}, false},
		{[]string{"agent-sandbox", "check"}, false},
		{[]string{"/x/agent-sandbox", "init", "--", "true"}, true},
		{[]string{"agent-sandbox", "files", "stat", "x"}, true},
		{[]string{"agent-sandbox", "multicall", "git"}, true},
		{[]string{"renamed", "files"}, false}, // outside of a sandbox no command is wrapped
	} {
		if got := IsGuestCall(row.args); got != row.want {
			t.Errorf("Serves(%q) = %v", row.args, got)
		}
	}
}
