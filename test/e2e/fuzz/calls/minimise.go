package calls

import "slices"

// Minimise removes threads and calls from the programs ps as long as fails returns true for the rest, as
// it does for ps.
func Minimise(ps []Program, fails func([]Program) bool) []Program {
	for n := len(ps) - 2; n >= 0; n-- { // the last program is the one that fails
		if shorter := slices.Delete(clone(ps), n, n+1); fails(shorter) {
			ps = shorter
		}
	}
	for i := range ps {
		for j := range slices.Backward(ps[i].Threads) {
			if shorter := clone(ps); len(ps[i].Threads) > 1 {
				shorter[i].Threads = slices.Delete(shorter[i].Threads, j, j+1)
				if fails(shorter) {
					ps = shorter
					continue
				}
			}
			ps = minimiseThread(ps, i, j, fails)
		}
	}
	return ps
}

// minimiseThread removes runs of calls from one thread, long ones first, and exchanges of paths.
func minimiseThread(ps []Program, i, j int, fails func([]Program) bool) []Program {
	for size := (len(ps[i].Threads[j].Calls) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(ps[i].Threads[j].Calls); {
			shorter := clone(ps)
			t := &shorter[i].Threads[j]
			t.Calls = slices.Delete(t.Calls, at, min(at+size, len(t.Calls)))
			if fails(shorter) {
				ps = shorter
			} else {
				at += size
			}
		}
	}
	for k := range ps[i].Threads[j].Calls {
		if ps[i].Threads[j].Calls[k].Flip == "" {
			continue
		}
		shorter := clone(ps)
		shorter[i].Threads[j].Calls[k].Flip = ""
		if fails(shorter) {
			ps = shorter
		}
	}
	return ps
}

func clone(ps []Program) []Program {
	out := slices.Clone(ps)
	for i := range out {
		out[i].Threads = slices.Clone(out[i].Threads)
		for j := range out[i].Threads {
			out[i].Threads[j].Calls = slices.Clone(out[i].Threads[j].Calls)
		}
	}
	return out
}
