//go:build linux

package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxProgram is the kernel's limit of instructions in one seccomp program
// (BPF_MAXINSNS).
const maxProgram = 4096

// bpfLabel names a position in a bpfProgram. The zero label means the next instruction.
type bpfLabel string

// bpfOp is one instruction, with labels as the targets of its jumps.
type bpfOp struct {
	code uint16
	k    uint32
	yes  bpfLabel // of a conditional jump
	no   bpfLabel
	far  [2]bool // the targets yes and no need a detour
}

// bpfProgram assembles a classic BPF program for seccomp. All jumps go forward. A
// conditional jump that is too far for its 8 bits goes through a detour, an unconditional
// jump.
type bpfProgram struct {
	ops    []bpfOp
	labels map[bpfLabel]int // index into ops of the instruction that follows
	err    error            // the first mistake; reported by assemble
}

const (
	bpfLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfAnd   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	bpfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	bpfBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	bpfJump  = unix.BPF_JMP | unix.BPF_JA
	bpfReply = unix.BPF_RET | unix.BPF_K
)

// load puts the 32-bit word at offset of struct seccomp_data into the accumulator.
func (p *bpfProgram) load(offset uint32) { p.emit(bpfOp{code: bpfLoad, k: offset}) }

// mask keeps the accumulator's bits that are set in k.
func (p *bpfProgram) mask(k uint32) { p.emit(bpfOp{code: bpfAnd, k: k}) }

// reply returns a SECCOMP_RET value from the program.
func (p *bpfProgram) reply(k uint32) { p.emit(bpfOp{code: bpfReply, k: k}) }

// equal jumps to yes if the accumulator is k, else to no.
func (p *bpfProgram) equal(k uint32, yes, no bpfLabel) {
	p.emit(bpfOp{code: bpfEqual, k: k, yes: yes, no: no})
}

// least jumps to yes if the accumulator is at least k, unsigned, else to no.
func (p *bpfProgram) least(k uint32, yes, no bpfLabel) {
	p.emit(bpfOp{code: bpfLeast, k: k, yes: yes, no: no})
}

// bits jumps to yes if any bit of k is set in the accumulator, else to toAllow.
func (p *bpfProgram) bits(k uint32, yes bpfLabel) {
	p.emit(bpfOp{code: bpfBits, k: k, yes: yes, no: toAllow})
}

func (p *bpfProgram) emit(op bpfOp) { p.ops = append(p.ops, op) }

// label names the instruction that is emitted next.
func (p *bpfProgram) label(l bpfLabel) {
	if p.labels == nil {
		p.labels = map[bpfLabel]int{}
	}
	if _, twice := p.labels[l]; twice && p.err == nil {
		p.err = fmt.Errorf("label %q is set twice", l)
	}
	p.labels[l] = len(p.ops)
}

// isConditional reports whether op has two targets.
func (op bpfOp) isConditional() bool {
	return op.code == bpfEqual || op.code == bpfLeast || op.code == bpfBits
}

// size returns the number of instructions of the assembled op.
func (op bpfOp) size() int {
	n := 1
	for _, far := range op.far {
		if far {
			n++
		}
	}
	return n
}

// assemble resolves the labels. It fails for a label that is missing, set twice or before
// its jump, and for a program whose size the kernel would refuse.
func (p *bpfProgram) assemble() (Program, error) {
	if p.err != nil {
		return nil, p.err
	}
	at, err := p.layout()
	if err != nil {
		return nil, err
	}
	if total := at[len(p.ops)]; total == 0 || total > maxProgram {
		return nil, fmt.Errorf("a seccomp program of %d instructions, outside 1..%d", total, maxProgram)
	}
	if last := p.ops[len(p.ops)-1]; last.code != bpfReply {
		return nil, fmt.Errorf("the program does not end with a reply")
	}
	out := make(Program, 0, at[len(p.ops)])
	for i, op := range p.ops {
		f := unix.SockFilter{Code: op.code, K: op.k}
		if !op.isConditional() {
			out = append(out, f)
			continue
		}
		yes, no := p.distances(i, at)
		// The detours follow the jump: first that of yes, then that of no.
		var detours []unix.SockFilter
		f.Jt, detours = shortJump(op.far[0], yes, detours)
		f.Jf, detours = shortJump(op.far[1], no, detours)
		for n := range detours {
			detours[n].K -= uint32(n) + 1
		}
		out = append(append(out, f), detours...)
	}
	return out, nil
}

// shortJump returns the 8-bit displacement of a jump over distance instructions. If the
// jump is far, it appends a detour and returns the displacement of the detour.
func shortJump(far bool, distance int, detours []unix.SockFilter) (uint8, []unix.SockFilter) {
	if !far {
		return uint8(distance), detours
	}
	return uint8(len(detours)), append(detours, unix.SockFilter{Code: bpfJump, K: uint32(distance)})
}

// layout computes the position of each instruction, and of the end. A far jump needs room
// for a detour. This can only increase other distances, so the loop terminates.
func (p *bpfProgram) layout() ([]int, error) {
	for {
		at := make([]int, len(p.ops)+1)
		for i, op := range p.ops {
			at[i+1] = at[i] + op.size()
		}
		grown := false
		for i := range p.ops {
			op := &p.ops[i]
			if !op.isConditional() {
				continue
			}
			for _, l := range []bpfLabel{op.yes, op.no} {
				if to, ok := p.labels[l]; l != "" && (!ok || to <= i || to >= len(p.ops)) {
					return nil, fmt.Errorf("label %q is not ahead of instruction %d", l, i)
				}
			}
			yes, no := p.distances(i, at)
			for n, d := range []int{yes, no} {
				if d > 255 && !op.far[n] {
					op.far[n], grown = true, true
				}
			}
		}
		if !grown {
			return at, nil
		}
	}
}

// distances returns the numbers of instructions between the conditional jump ops[i] and
// its two targets.
func (p *bpfProgram) distances(i int, at []int) (yes, no int) {
	to := func(l bpfLabel) int {
		if l == "" {
			return at[i+1] - at[i] - 1
		}
		return at[p.labels[l]] - at[i] - 1
	}
	return to(p.ops[i].yes), to(p.ops[i].no)
}
