package gate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/gate"
)

func Test_Shut_Waits_For_Running_Goroutines_And_Holds_Them(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate.Gate{}
		turns, end := 0, false
		g.Enter(t.Context())
		go func() {
			defer g.Leave()
			for !end {
				turns++
				g.Pass(t.Context())
			}
		}()
		for range 2 {
			if err := g.Shut(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			before := turns
			<-time.After(time.Hour) // of the bubble
			if turns != before {
				t.Errorf("it ran from %d to %d", before, turns)
			}
		}
		end = true
		g.Open()
		synctest.Wait()
	})
}

func Test_Sleep_Is_Longer_By_The_Time_In_Which_The_Gate_Was_Shut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate.Gate{}
		begin := time.Now()
		woke := make(chan time.Duration)
		go func() {
			g.Enter(t.Context())
			defer g.Leave()
			gate.Of(g.With(t.Context())).Sleep(t.Context(), time.Minute, nil)
			woke <- time.Since(begin)
		}()
		synctest.Wait()
		if err := g.Shut(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour) // of the bubble
		g.Open()
		if took := <-woke; took != time.Hour+time.Minute {
			t.Errorf("it slept for %v", took)
		}
	})
}

func Test_The_End_Of_A_Context_Releases_A_Held_Goroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate.Gate{}
		if err := g.Shut(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		passed := make(chan struct{})
		go func() {
			g.Enter(ctx)
			defer g.Leave()
			close(passed)
		}()
		synctest.Wait()
		select {
		case <-passed:
			t.Fatal("it passed a gate that is shut")
		default:
		}
		cancel()
		<-passed
	})
}
