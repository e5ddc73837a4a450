package filemode

import (
	"strings"
)

// Change is a mode as chmod takes it: octal, or clauses like "u+rw,go-w".
type Change []Step

// Step is one operator with its operands.
type Step struct {
	Op        byte   // + - =
	Who       uint32 // bits that may change; 0: all that the umask leaves
	Value     uint32
	Mentioned uint32 // bits that were named, so that a directory may lose them
	from      bool   // value names a class whose permissions are copied
	execute   bool   // X
}

const classExec, classRead, classWrite = 0o111, 0o444, 0o222

// Parse reads a mode; not ok when it is none.
func Parse(s string) (change Change, ok bool) {
	if s == "" {
		return nil, false
	}
	if s[0] >= '0' && s[0] <= '7' {
		return parseOctalMode(s)
	}
	for clause := range strings.SplitSeq(s, ",") {
		steps, ok := parseClause(clause)
		if !ok {
			return nil, false
		}
		if change = append(change, steps...); len(change) > maxSteps { // bounded: maxSteps
			return nil, false
		}
	}
	return change, true
}

func octal(s string) (n uint32, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '7' {
			return 0, false
		}
		if n = n<<3 | uint32(s[i]-'0'); n > AllBits {
			return 0, false
		}
	}
	return n, s != ""
}

func parseOctalMode(s string) (Change, bool) {
	n, ok := octal(s)
	// With five digits also a directory's set-ID bits are meant.
	mentioned := n&(SetuidBit|SetgidBit) | StickyBit | 0o777
	if len(s) > 4 {
		mentioned = AllBits
	}
	return Change{{Op: '=', Who: AllBits, Value: n, Mentioned: mentioned}}, ok
}

// maxSteps bounds the steps of a mode, which a script could make of each byte of an argument.
const maxSteps = 1 << 12

// parseClause reads "ugo+rw-x": classes, then operators with permissions.
func parseClause(s string) (steps []Step, ok bool) {
	var who uint32
	i := 0
	for ; i < len(s); i++ {
		bits, ok := classBits(s[i])
		if !ok {
			break
		}
		who |= bits
	}
	for i < len(s) {
		if strings.IndexByte("+-=", s[i]) < 0 {
			return nil, false
		}
		step := Step{Op: s[i], Who: who}
		end := i + 1
		for end < len(s) && strings.IndexByte("+-=", s[end]) < 0 {
			end++
		}
		if !step.permissions(s[i+1 : end]) {
			return nil, false
		}
		if steps = append(steps, step); len(steps) > maxSteps { // bounded: maxSteps
			return nil, false
		}
		i = end
	}
	return steps, len(steps) > 0
}

func classBits(c byte) (uint32, bool) {
	switch c {
	case 'u':
		return SetuidBit | 0o700, true
	case 'g':
		return SetgidBit | 0o070, true
	case 'o':
		return StickyBit | 0o007, true
	case 'a':
		return AllBits, true
	}
	return 0, false
}

// permissions reads the permissions after an operator: an octal number, a class, or letters.
func (m *Step) permissions(s string) bool {
	if s != "" && s[0] >= '0' && s[0] <= '7' {
		n, ok := octal(s)
		if !ok || m.Who != 0 {
			return false
		}
		m.Who, m.Mentioned, m.Value = AllBits, AllBits, n
		return true
	}
	if s == "u" || s == "g" || s == "o" {
		m.from = true
		m.Value = map[string]uint32{"u": 0o700, "g": 0o070, "o": 0o007}[s]
		m.Mentioned = m.Value
		if m.Who != 0 {
			m.Mentioned &= m.Who
		}
		return true
	}
	for i := range len(s) {
		switch s[i] {
		case 'r':
			m.Value |= classRead
		case 'w':
			m.Value |= classWrite
		case 'x':
			m.Value |= classExec
		case 'X':
			m.execute = true
		case 's':
			m.Value |= SetuidBit | SetgidBit
		case 't':
			m.Value |= StickyBit
		default:
			return false
		}
	}
	m.Mentioned = m.Value
	if m.Who != 0 {
		m.Mentioned &= m.Who
	}
	return true
}

// Apply returns the new bits of a file, and the mask of bits that the steps change.
func (c Change) Apply(bits uint32, dir bool, umask uint32) (changed, meant uint32) {
	for _, step := range c {
		var keep uint32
		if dir {
			keep = (SetuidBit | SetgidBit) &^ step.Mentioned
		}
		value := step.bits(bits, dir)
		if step.Who != 0 {
			value &= step.Who
		} else {
			value &^= umask
		}
		value &^= keep
		switch step.Op {
		case '=':
			if step.Who != 0 {
				keep |= AllBits &^ step.Who
			}
			meant |= AllBits &^ keep
			bits = bits&keep | value
		case '+':
			meant |= value
			bits |= value
		case '-':
			meant |= value
			bits &^= value
		}
	}
	return bits, meant
}

// bits returns the permissions that the step names, for a file with the bits now.
func (m *Step) bits(now uint32, dir bool) uint32 {
	value := m.Value
	if m.from {
		value &= now
		for _, class := range []uint32{classRead, classWrite, classExec} {
			if value&class != 0 {
				value |= class
			}
		}
	}
	if m.execute && (dir || now&classExec != 0) {
		value |= classExec
	}
	return value
}
