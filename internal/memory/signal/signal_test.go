package signal_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

func Test_Names_And_Numbers_Belong_Together(t *testing.T) {
	t.Parallel()
	for n := range signal.RTMAX + 1 {
		name := signal.Name(n)
		if name == "" {
			if n != 32 && n != 33 {
				t.Errorf("signal %d has no name", n)
			}
			continue
		}
		if got := signal.Number(name); got != n {
			t.Errorf("%s is %d, want %d", name, got, n)
		}
		if got := signal.Number("sig" + strings.ToLower(name)); got != n {
			t.Errorf("sig%s is %d, want %d", strings.ToLower(name), got, n)
		}
	}
	for text, want := range map[string]int{"15": 15, "POLL": 29, "IOT": 6, "CLD": signal.CHLD, "NONE": -1, "65": -1, "32": -1, "-1": -1} {
		if got := signal.Number(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
