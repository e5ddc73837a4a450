//go:build linux

package seccomp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data (seccomp(2)), little-endian.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// argLow returns the offset of the low word of argument n. For a parameter that the kernel
// declares as int this is the whole value; the kernel ignores the bits above.
func argLow(n int) uint32 { return uint32(dataArgs + 8*n) }

// argHigh returns the offset of the high word of argument n.
func argHigh(n int) uint32 { return argLow(n) + 4 }

// callerHigh is the offset of the high word of the caller's instruction address.
const callerHigh = 12

// Labels to which a check can jump; reply returns the others.
const (
	toAllow bpfLabel = "allow"
	toAsk   bpfLabel = "notify"
)

// reply returns the label of an ERRNO reply. Zero makes the call succeed without an effect.
func reply(errno unix.Errno) bpfLabel { return bpfLabel("errno " + strconv.Itoa(int(errno))) }

// callRule decides about some system calls.
type callRule struct {
	calls string            // names, separated by spaces
	to    bpfLabel          // target of the jump; empty: check decides
	check func(*bpfProgram) // looks at the arguments; every path ends in a jump
}

// filterPlan is a whole program before it is assembled.
type filterPlan struct {
	table   callTable
	rules   []callRule
	foreign uint32   // reply to calls of another architecture
	newer   bpfLabel // target for calls that are newer than newestCall
	replies map[bpfLabel]uint32
}

// span maps the call numbers from start up to the next span to a label.
type span struct {
	start uint32
	to    bpfLabel
}

// assemble makes the program: architecture, then a binary search for the
// number, then the checks, then the replies.
func (f filterPlan) assemble() (Program, error) {
	spans, err := f.spans()
	if err != nil {
		return nil, err
	}
	var p bpfProgram
	p.load(dataArch)
	p.equal(f.table.audit, "native", "")
	p.reply(f.foreign)
	p.label("native")
	p.load(dataCall)
	f.search(&p, spans)
	for i, r := range f.rules {
		if r.check != nil {
			p.label(checkLabel(i))
			r.check(&p)
		}
	}
	for _, l := range slices.Sorted(maps.Keys(f.replies)) {
		p.label(l)
		p.reply(f.replies[l])
	}
	return p.assemble()
}

func checkLabel(rule int) bpfLabel { return bpfLabel("check " + strconv.Itoa(rule)) }

// spans turns the rules into one sorted, gapless map of all call numbers.
func (f filterPlan) spans() ([]span, error) {
	places := map[uint32]bpfLabel{}
	for i, r := range f.rules {
		to := r.to
		if to == "" {
			to = checkLabel(i)
		}
		for name := range strings.FieldsSeq(r.calls) {
			nr, ok, err := f.table.number(name)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if _, twice := places[nr]; twice {
				return nil, fmt.Errorf("two rules for system call %q", name)
			}
			places[nr] = to
		}
	}
	out := []span{{0, toAllow}}
	for _, nr := range slices.Sorted(maps.Keys(places)) {
		out = appendSpan(out, span{nr, places[nr]})
		if _, next := places[nr+1]; !next {
			out = appendSpan(out, span{nr + 1, toAllow})
		}
	}
	return appendSpan(out, span{newestCall + 1, f.newer}), nil
}

// appendSpan omits a span that continues the one before.
func appendSpan(spans []span, s span) []span {
	last := &spans[len(spans)-1]
	switch {
	case last.start == s.start:
		last.to = s.to
	case last.to != s.to:
		spans = append(spans, s)
	}
	return spans
}

// search emits a binary search over spans with the call number in the accumulator.
func (f filterPlan) search(p *bpfProgram, spans []span) {
	if len(spans) < 2 {
		return
	}
	half := len(spans) / 2
	place := func(s []span) bpfLabel {
		if len(s) == 1 {
			return s[0].to
		}
		return bpfLabel("calls " + strconv.Itoa(int(s[0].start)) + ".." + strconv.Itoa(int(s[len(s)-1].start)))
	}
	p.least(spans[half].start, place(spans[half:]), place(spans[:half]))
	for _, part := range [][]span{spans[:half], spans[half:]} {
		if len(part) > 1 {
			p.label(place(part))
			f.search(p, part)
		}
	}
}

// oneOf emits a jump to yes if the accumulator is one of values, else to no.
func (p *bpfProgram) oneOf(yes, no bpfLabel, values ...uint32) {
	for i, v := range values {
		if i == len(values)-1 {
			p.equal(v, yes, no)
			return
		}
		p.equal(v, yes, "")
	}
}
