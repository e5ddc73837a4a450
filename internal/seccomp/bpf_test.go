//go:build linux

package seccomp

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// seccompData is struct seccomp_data of one call.
type seccompData struct {
	nr   uint32
	arch uint32
	ip   uint64
	args [6]uint64
}

// runBPF interprets program as the kernel does. It fails for instructions that seccomp
// does not allow, for a jump out of the program, and for an end without a reply.
func runBPF(program []unix.SockFilter, d seccompData) (uint32, error) {
	var data [64]byte
	binary.LittleEndian.PutUint32(data[dataCall:], d.nr)
	binary.LittleEndian.PutUint32(data[dataArch:], d.arch)
	binary.LittleEndian.PutUint64(data[callerHigh-4:], d.ip)
	for i, a := range d.args {
		binary.LittleEndian.PutUint64(data[dataArgs+8*i:], a)
	}
	var acc uint32
	for pc := 0; pc < len(program); pc++ {
		in := program[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case 0x20: // ld [k]
			if in.K%4 != 0 || in.K >= 64 {
				return 0, fmt.Errorf("load of %d", in.K)
			}
			acc = binary.LittleEndian.Uint32(data[in.K:])
		case 0x54: // and #k
			acc &= in.K
		case 0x05: // ja
			pc += int(in.K)
		case 0x15: // jeq
			jump(acc == in.K)
		case 0x35: // jge
			jump(acc >= in.K)
		case 0x45: // jset
			jump(acc&in.K != 0)
		case 0x06: // ret #k
			return in.K, nil
		default:
			return 0, fmt.Errorf("instruction %d has code %#x", pc, in.Code)
		}
	}
	return 0, fmt.Errorf("ran off the end of %d instructions", len(program))
}

// filterOf decodes the result of Bytes.
func filterOf(t *testing.T, b []byte) []unix.SockFilter {
	t.Helper()
	if len(b)%8 != 0 {
		t.Fatalf("%d bytes are no array of struct sock_filter", len(b))
	}
	var out []unix.SockFilter
	for ; len(b) > 0; b = b[8:] {
		out = append(out, unix.SockFilter{
			Code: binary.LittleEndian.Uint16(b), Jt: b[2], Jf: b[3], K: binary.LittleEndian.Uint32(b[4:]),
		})
	}
	return out
}

func Test_Jumps_Of_Any_Distance_Reach_Their_Target(t *testing.T) {
	for _, distance := range []int{0, 1, 253, 254, 255, 256, 257, 1000, 4000} {
		t.Run(fmt.Sprintf("over %d instructions", distance), func(t *testing.T) {
			for _, yesFirst := range []bool{true, false} {
				var p bpfProgram
				p.load(dataCall)
				p.equal(7, "yes", "no")
				labels, replies := []bpfLabel{"yes", "no"}, []uint32{1, 2}
				if !yesFirst {
					labels, replies = []bpfLabel{"no", "yes"}, []uint32{2, 1}
				}
				p.label(labels[0])
				for range distance {
					p.mask(0xffff)
				}
				p.reply(replies[0])
				p.label(labels[1])
				p.reply(replies[1])
				program, err := p.assemble()
				if err != nil {
					t.Fatal(err)
				}
				for nr, want := range map[uint32]uint32{7: 1, 8: 2} {
					if got, err := runBPF(program, seccompData{nr: nr}); err != nil || got != want {
						t.Errorf("number %d: got %d, %v, want %d", nr, got, err, want)
					}
				}
			}
		})
	}
}

func Test_Both_Jumps_Of_A_Branch_Can_Be_Far(t *testing.T) {
	var p bpfProgram
	p.load(dataCall)
	p.least(7, "yes", "no")
	p.label("between")
	for range 300 {
		p.mask(0xffff)
	}
	p.label("yes")
	p.reply(1)
	p.label("no")
	p.reply(2)
	program, err := p.assemble()
	if err != nil {
		t.Fatal(err)
	}
	for nr, want := range map[uint32]uint32{6: 2, 7: 1, 1 << 31: 1} {
		if got, err := runBPF(program, seccompData{nr: nr}); err != nil || got != want {
			t.Errorf("number %d: got %d, %v, want %d", nr, got, err, want)
		}
	}
}

func Test_Assembler_Refuses_What_The_Kernel_Would(t *testing.T) {
	tests := []struct {
		name string
		make func(*bpfProgram)
		want string
	}{
		{"nothing at all", func(*bpfProgram) {}, "0 instructions"},
		{"too many instructions", func(p *bpfProgram) {
			for range maxProgram {
				p.mask(1)
			}
			p.reply(0)
		}, "4097 instructions"},
		{"a label that is not set", func(p *bpfProgram) { p.equal(1, "away", ""); p.reply(0) }, `"away"`},
		{"a jump backwards", func(p *bpfProgram) { p.label("back"); p.equal(1, "back", ""); p.reply(0) }, `"back"`},
		{"a label behind the end", func(p *bpfProgram) { p.equal(1, "end", ""); p.reply(0); p.label("end") }, `"end"`},
		{"a label set twice", func(p *bpfProgram) { p.label("a"); p.label("a"); p.reply(0) }, "twice"},
		{"an end without a reply", func(p *bpfProgram) { p.load(0) }, "reply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p bpfProgram
			tt.make(&p)
			_, err := p.assemble()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
