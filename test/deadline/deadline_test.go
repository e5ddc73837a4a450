package deadline

import (
	"testing"
	"time"
)

func Test_A_Scaled_Limit_Is_At_Least_The_Limit_And_Bounded(t *testing.T) {
	if got := Scale(time.Second); got < time.Second || got > most*time.Second {
		t.Errorf("%v", got)
	}
}

func Test_A_Measurement_Is_Reused_For_Some_Time(t *testing.T) {
	first := Factor()
	if second := Factor(); second != first {
		t.Errorf("%v, then %v", first, second)
	}
}

// The reference is the time of a common machine, so the comparison is rough.
func Test_Computing_Is_Compared_With_An_Idle_Machine(t *testing.T) {
	best := computing()
	for range 20 {
		best = min(best, computing())
	}
	t.Logf("this machine takes %.2f times as long as the reference, at best", best)
	if best > most {
		t.Errorf("the reference is far away from this machine: %v", best)
	}
}
