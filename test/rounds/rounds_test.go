package rounds_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

func Test_Rounds_Are_Multiplied_By_A_Positive_Factor(t *testing.T) {
	for factor, want := range map[string]int{"": 8, "1": 8, "5": 40, "0": 8, "-2": 8, "many": 8} {
		t.Setenv(rounds.Factor, factor)
		if got := rounds.Of(8); got != want {
			t.Errorf("with %s=%q 8 rounds are %d, want %d", rounds.Factor, factor, got, want)
		}
	}
}
