package filetype

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// elfFile reads the properties of an ELF file that file prints.
type elfFile struct {
	b    *fileBytes
	o    binary.ByteOrder
	wide bool // 64 bits

	interp, build, system  string
	dynamic, pie           bool
	symbols, debug, hasSec bool
}

// elfTypes are the kinds by their number.
var elfTypes = []sign{
	1: {"", "relocatable", "application/x-object"}, 2: {"", "executable", "application/x-executable"},
	3: {"", "shared object", "application/x-sharedlib"}, 4: {"", "core file", "application/x-coredump"},
}

func elfMachine(n uint16) string {
	switch n {
	case 2:
		return "SPARC"
	case 3:
		return "Intel 80386"
	case 8:
		return "MIPS, MIPS-I"
	case 20:
		return "PowerPC or cisco 4500"
	case 21:
		return "64-bit PowerPC or cisco 7500"
	case 22:
		return "IBM S/390"
	case 40:
		return "ARM"
	case 62:
		return "x86-64"
	case 183:
		return "ARM aarch64"
	case 243:
		return "UCB RISC-V"
	}
	return fmt.Sprintf("*unknown arch %#x*", n)
}

// elfBound is the number of headers of a kind that are examined.
const elfBound = 2048

// elfKind describes programs and libraries.
func elfKind(b *fileBytes) (text, mime string) {
	h := b.at(0, 52)
	if h == nil {
		h = make([]byte, 52)
		copy(h, b.head)
	}
	if h[4] != 1 && h[4] != 2 || h[5] != 1 && h[5] != 2 {
		return "ELF", mimeData
	}
	e := elfFile{b: b, wide: h[4] == 2, o: binary.LittleEndian}
	bits, order := "32-bit", "LSB"
	if e.wide {
		bits = "64-bit"
	}
	if h[5] == 2 {
		e.o, order = binary.BigEndian, "MSB"
	}
	kind := e.o.Uint16(h[16:])
	if len(b.head) < len(h) {
		return "ELF " + bits + " " + order, mimeData
	}
	if kind == 0 || int(kind) >= len(elfTypes) {
		return fmt.Sprintf("ELF %s %s *unknown arch %#x*", bits, order, e.o.Uint16(h[18:])), mimeData
	}
	name := elfTypes[kind]
	e.programs()
	e.sections()
	if kind == 3 && e.pie {
		name = sign{"", "pie executable", "application/x-pie-executable"}
	}
	abi := "SYSV"
	if h[7] == 3 {
		abi = "GNU/Linux"
	}
	text = fmt.Sprintf("ELF %s %s %s, %s, version %d (%s)", bits, order, name.text, elfMachine(e.o.Uint16(h[18:])), e.o.Uint32(h[20:]), abi)
	return text + e.details(kind), name.mime
}

// details returns the description that follows the head.
func (e *elfFile) details(kind uint16) string {
	var s strings.Builder
	if kind == 2 || kind == 3 {
		switch {
		case e.dynamic:
			s.WriteString(", dynamically linked")
		case e.pie:
			s.WriteString(", static-pie linked")
		default:
			s.WriteString(", statically linked")
		}
	}
	if e.interp != "" {
		s.WriteString(", interpreter " + quoting.EscapeOctal(e.interp))
	}
	if e.build != "" {
		s.WriteString(", " + e.build)
	}
	if e.system != "" {
		s.WriteString(", for " + e.system)
	}
	if !e.hasSec && kind != 4 {
		return s.String() + ", no section header"
	}
	if e.debug {
		s.WriteString(", with debug_info")
	}
	if e.symbols {
		s.WriteString(", not stripped")
	} else if kind != 4 {
		s.WriteString(", stripped")
	}
	return s.String()
}

// word reads an address or offset.
func (e *elfFile) word(b []byte) int64 {
	if e.wide {
		return int64(e.o.Uint64(b) & (1<<62 - 1))
	}
	return int64(e.o.Uint32(b))
}

// table calls fn for each entry of the table whose offset, size of an entry and number of them are in
// the header; the places are those of 64 and of 32 bits.
func (e *elfFile) table(offset, size [2]int, least [2]int, fn func(entry []byte)) bool {
	i := 1
	if e.wide {
		i = 0
	}
	h := e.b.at(0, 52+12*(1-i))
	if h == nil {
		return false
	}
	start, each, count := e.word(h[offset[i]:]), int(e.o.Uint16(h[size[i]:])), int(e.o.Uint16(h[size[i]+2:]))
	if start == 0 || count == 0 || each < least[i] {
		return false
	}
	for n := range min(count, elfBound) {
		entry := e.b.at(start+int64(n)*int64(each), each)
		if entry == nil {
			return true
		}
		fn(entry)
	}
	return true
}

// programs reads the program headers.
func (e *elfFile) programs() {
	e.table([2]int{32, 28}, [2]int{54, 42}, [2]int{56, 32}, func(p []byte) {
		at, size := e.word(p[4:]), int64(e.o.Uint32(p[16:]))
		if e.wide {
			at, size = e.word(p[8:]), e.word(p[32:])
		}
		if size < 0 || size > fileHead {
			return
		}
		body := e.b.at(at, int(size))
		switch e.o.Uint32(p) {
		case 2: // PT_DYNAMIC
			e.dynamicFlags(body)
		case 3: // PT_INTERP
			e.interp = strings.TrimRight(string(body), "\x00")
			e.dynamic, e.pie = true, true
		case 4: // PT_NOTE
			e.notes(body)
		}
	})
}

// dynamicFlags looks for needed libraries, and for DF_1_PIE.
func (e *elfFile) dynamicFlags(body []byte) {
	step := 8
	if e.wide {
		step = 16
	}
	for ; len(body) >= step; body = body[step:] {
		value := e.word(body[step/2:])
		switch e.word(body) {
		case 1: // DT_NEEDED
			e.dynamic = true
		case 0x6ffffffb: // DT_FLAGS_1
			e.pie = e.pie || value&0x08000000 != 0
		}
	}
}

// notes reads the notes that name the builder and the system.
func (e *elfFile) notes(body []byte) {
	for len(body) >= 12 {
		nameSize, size, kind := int64(e.o.Uint32(body)), int64(e.o.Uint32(body[4:])), e.o.Uint32(body[8:])
		start := 12 + (nameSize+3)&^3
		end := start + (size+3)&^3
		if start+size > int64(len(body)) {
			return
		}
		name, desc := string(body[12:12+nameSize]), body[start:start+size]
		switch {
		case name == "GNU\x00" && kind == 3:
			hash := map[int64]string{16: "md5/uuid", 20: "sha1", 8: "xxHash"}[size]
			if hash != "" {
				e.build = "BuildID[" + hash + "]=" + hex.EncodeToString(desc)
			}
		case name == "Go\x00\x00" && kind == 4 && size < 128:
			e.build = "Go BuildID=" + quoting.EscapeOctal(string(desc))
		case name == "GNU\x00" && kind == 1 && size == 16 && e.o.Uint32(desc) == 0:
			e.system = fmt.Sprintf("GNU/Linux %d.%d.%d", e.o.Uint32(desc[4:]), e.o.Uint32(desc[8:]), e.o.Uint32(desc[12:]))
		}
		body = body[min(end, int64(len(body))):]
	}
}

// sections looks for symbols and debugging information.
func (e *elfFile) sections() {
	var names []byte
	var offsets []uint32
	e.hasSec = e.table([2]int{40, 32}, [2]int{58, 46}, [2]int{64, 40}, func(s []byte) {
		at, size := e.word(s[16:]), int64(e.o.Uint32(s[20:]))
		if e.wide {
			at, size = e.word(s[24:]), e.word(s[32:])
		}
		offsets = append(offsets, e.o.Uint32(s)) // bounded: by 65,535 sections
		switch e.o.Uint32(s[4:]) {
		case 2: // SHT_SYMTAB
			e.symbols = true
		case 3: // SHT_STRTAB; the names of sections are in the last one.
			if size <= fileHead {
				names = e.b.at(at, int(size))
			}
		}
	})
	for _, off := range offsets {
		if int64(off) < int64(len(names)) && bytes.HasPrefix(names[off:], []byte(".debug_info\x00")) {
			e.debug = true
		}
	}
}

// classKind describes Java classes.
func classKind(b *fileBytes) string {
	v := b.at(4, 4)
	if v == nil {
		return ""
	}
	minor, major := binary.BigEndian.Uint16(v), binary.BigEndian.Uint16(v[2:])
	if major < 45 { // Universal binaries of macOS begin with the same bytes; the number of their parts follows, which is small.
		return ""
	}
	s := fmt.Sprintf("compiled Java class data, version %d.%d", major, minor)
	switch {
	case major > 62:
		return s // Later ones are not known by name.
	case major > 52:
		s += fmt.Sprintf(" (Java SE %d)", major-44)
	case major >= 46:
		s += fmt.Sprintf(" (Java 1.%d)", major-44)
	}
	return s
}

// machKind describes programs of macOS.
func machKind(b *fileBytes) string {
	h := b.at(4, 12)
	if h == nil {
		return ""
	}
	cpu := map[uint32]string{0x01000007: " x86_64", 0x0100000c: " arm64"}[binary.LittleEndian.Uint32(h)]
	kind := map[uint32]string{1: " object", 2: " executable", 6: " dynamically linked shared library", 8: " bundle"}[binary.LittleEndian.Uint32(h[8:])]
	return "Mach-O 64-bit" + cpu + kind
}

// dosKind describes programs of DOS and Windows.
func dosKind(b *fileBytes) (text, mime string) {
	const mimeDOS = "application/x-dosexec"
	h := b.at(0, 64)
	if h == nil {
		return "", ""
	}
	at := int64(binary.LittleEndian.Uint32(h[60:]))
	p := b.at(at, 96)
	if p == nil || string(p[:4]) != "PE\x00\x00" {
		return "MS-DOS executable", mimeDOS
	}
	s := "PE32"
	if binary.LittleEndian.Uint16(p[24:]) == 0x20b {
		s = "PE32+"
	}
	kind := " executable"
	if binary.LittleEndian.Uint16(p[22:])&0x2000 != 0 {
		kind = " executable (DLL)"
	}
	window := map[uint16]string{1: " (native)", 2: " (GUI)", 3: " (console)"}[binary.LittleEndian.Uint16(p[92:])]
	machine := map[uint16]string{0x14c: " Intel 80386", 0x8664: " x86-64", 0xaa64: " Aarch64"}[binary.LittleEndian.Uint16(p[4:])]
	return fmt.Sprintf("%s%s%s%s, for MS Windows, %d sections", s, kind, window, machine, binary.LittleEndian.Uint16(p[6:])), "application/vnd.microsoft.portable-executable"
}
