package text

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func joinCommand() program.Description {
	return program.Description{
		Name: "join", Usage: "[OPTION]... FILE1 FILE2",
		Summary: "join the lines of two sorted FILEs that have the same field",
		Help: `One FILE may be - for standard input. Fields stand between blanks, the first one joins.

  -a FILENUM             also lines of FILENUM that join with nothing
  -e STRING              STRING stands for fields that are not there; with -o
  -i, --ignore-case      upper and lower case are the same
  -j FIELD               -1 FIELD -2 FIELD
  -o FORMAT              which fields are written: FILENUM.FIELD and 0 for the one that
                           joins, with commas or blanks between; auto as the first lines have
  -t CHAR                CHAR stands between fields
  -v FILENUM             as -a, without the lines that join
  -1 FIELD               the field of FILE1 that joins
  -2 FIELD               the field of FILE2
      --check-order      FILEs that are not sorted are an error
      --nocheck-order    they are none
      --header           the first lines are headers
  -z, --zero-terminated  lines end in NUL, not in a newline
      --help             show this help and exit
      --version          show the version and exit`,
		Run: runJoin,
	}
}

const (
	joinCheck = getopt.First + iota
	joinNoCheck
	joinHeader
)

var joinOptions = []getopt.Option{
	{Short: 'a', Arg: getopt.Required},
	{Short: 'e', Arg: getopt.Required},
	{Short: 'i', Long: "ignore-case"},
	{Short: 'j', Arg: getopt.Required},
	{Short: 'o', Arg: getopt.Required},
	{Short: 't', Arg: getopt.Required},
	{Short: 'v', Arg: getopt.Required},
	{Short: '1', Arg: getopt.Required},
	{Short: '2', Arg: getopt.Required},
	{Long: "check-order", ID: joinCheck},
	{Long: "nocheck-order", ID: joinNoCheck},
	{Long: "header", ID: joinHeader},
	{Short: 'z', Long: "zero-terminated"},
}

// joinField is a field that is written: of file 0 or 1, or -1 for the one that joins.
type joinField struct{ file, field int }

// joinLine is a line with its fields.
type joinLine struct {
	text   []byte
	fields [][]byte
}

// joinSide is one of the files.
type joinSide struct {
	name     string
	lines    *program.LineReader
	key      int // from 0
	line     joinLine
	more     bool
	group    []joinLine // lines with the same key
	last     []byte
	hasLast  bool
	disorder bool
}

// join is a run of join.
type join struct {
	p            *shell.Proc
	out          *program.Output
	unpaired     [2]bool
	paired       bool
	empty        string
	fold         bool
	format       []joinField
	auto         bool
	autoCounts   [2]int
	tab          int // -1 for blanks
	check, never bool
	header       bool
	eol          byte
	sides        [2]joinSide
	seenUnpaired bool
	failed       bool
	lastFields   [][]byte // of the line before
}

func runJoin(p *shell.Proc) int {
	j := &join{p: p, out: program.NewOutput(p), paired: true, tab: -1, eol: '\n'}
	o := program.NewOptions(p, joinCommand, joinOptions)
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if !program.CheckOperands(p, joinCommand, args, 2, 2) {
		return 1
	}
	if args[0] == "-" && args[1] == "-" {
		p.Warn("both files cannot be standard input")
		return 1
	}
	for i, name := range args {
		in, err := program.OpenInput(p, name)
		if err != nil {
			p.Error(name, err)
			return 1
		}
		defer in.Close()
		j.sides[i].name, j.sides[i].lines = name, program.NewLineReader(p, in, j.eol)
	}
	return j.run()
}

func (j *join) option(o *program.Options) {
	switch o.ID {
	case 'a', 'v':
		if o.Value != "1" && o.Value != "2" {
			n, err := strconv.ParseInt(o.Value, 10, 64)
			if err != nil || n != 1 && n != 2 {
				o.RejectQuietly("invalid field number: %s", quoting.Name(o.Value))
				return
			}
		}
		j.unpaired[o.Value[len(o.Value)-1]-'1'] = true
		if o.ID == 'v' {
			j.paired = false
		}
	case 'e':
		j.empty = o.Value
	case 'i':
		j.fold = true
	case 'j':
		j.setKey(o, 0)
		if !o.HasEnded() {
			j.setKey(o, 1)
		}
	case '1', '2':
		j.setKey(o, o.ID-'1')
	case 'o':
		if o.Value == "auto" {
			j.auto = true
			return
		}
		j.addFormat(o, o.Value)
	case 't':
		j.setTab(o)
	case joinCheck:
		j.check, j.never = true, false
	case joinNoCheck:
		j.check, j.never = false, true
	case joinHeader:
		j.header = true
	case 'z':
		j.eol = 0
	}
}

func (j *join) setTab(o *program.Options) {
	switch {
	case o.Value == "":
		j.tab = int(j.eol) // The whole line.
	case o.Value == `\0`:
		j.tab = 0
	case len(o.Value) > 1:
		o.RejectQuietly("multi-character tab %s", quoting.Name(o.Value))
	default:
		j.tab = int(o.Value[0])
	}
}

func (j *join) setKey(o *program.Options, side int) {
	if n, ok := joinNumber(o, o.Value); ok {
		j.sides[side].key = n
	}
}

// joinNumber reads the number of a field.
func joinNumber(o *program.Options, text string) (n int, ok bool) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil && strings.Contains(err.Error(), strconv.ErrRange.Error()) {
		return math.MaxInt, true
	}
	if err != nil || v < 1 {
		o.RejectQuietly("invalid field number: %s", quoting.Name(text))
		return 0, false
	}
	return int(v - 1), true
}

// joinFieldSize is the memory of a field of -o, of which a list has one for two bytes.
const joinFieldSize = 16

func (j *join) addFormat(o *program.Options, list string) {
	if j.p.Reserve(joinFieldSize*(len(list)/2+1)) != nil {
		o.RejectQuietly("memory exhausted")
		return
	}
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if part == "0" {
			j.format = append(j.format, joinField{-1, 0})
			continue
		}
		file, field, dotted := strings.Cut(part, ".")
		if file != "1" && file != "2" {
			o.RejectQuietly("invalid file number in field spec: %s", quoting.Name(part))
			return
		}
		if !dotted {
			o.RejectQuietly("invalid field specifier: %s", quoting.Name(part))
			return
		}
		n, ok := joinNumber(o, field)
		if !ok {
			return
		}
		j.format = append(j.format, joinField{int(file[0] - '1'), n})
	}
}

func (j *join) run() int {
	a, b := &j.sides[0], &j.sides[1]
	j.advance(0)
	j.advance(1)
	if j.auto {
		for i := range j.sides {
			if j.sides[i].more {
				j.autoCounts[i] = len(j.sides[i].line.fields)
			}
		}
		j.autoFormat()
	}
	if j.header && (a.more || b.more) {
		j.headers()
	}
	for a.more && b.more && !j.ended() {
		order := j.compare(a.keyOf(&a.line), b.keyOf(&b.line))
		switch {
		case order < 0:
			j.alone(0)
			j.seenUnpaired = true
			j.advance(0)
		case order > 0:
			j.alone(1)
			j.seenUnpaired = true
			j.advance(1)
		default:
			j.pairs()
		}
	}
	for i := range j.sides {
		s := &j.sides[i]
		for s.more && !j.ended() && (j.unpaired[i] || !j.never && !s.disorder) {
			j.alone(i)
			j.advance(i)
		}
	}
	return j.finish()
}

func (j *join) finish() int {
	for i := range j.sides {
		if l := j.sides[i].lines; l.Spent {
			return j.p.Status(l.Ended)
		}
	}
	status := 0
	if j.failed {
		status = 1
	}
	if !j.failed && (j.sides[0].disorder || j.sides[1].disorder) {
		_ = j.out.Flush()
		j.p.Warn("input is not in sorted order")
		status = 1
	}
	return j.out.Close(status)
}

func (j *join) ended() bool {
	return j.failed || j.out.HasFailed() || j.sides[0].lines.Spent || j.sides[1].lines.Spent
}

// advance reads a side's next line.
func (j *join) advance(i int) {
	s := &j.sides[i]
	if s.more {
		s.last, s.hasLast = append(s.last[:0], s.line.text...), true
	}
	line, ok := s.lines.Next()
	if !ok {
		s.more = false
		if err := s.lines.Err(); err != nil && !s.lines.Spent {
			_ = j.out.Flush()
			j.p.Errorf(err, "read error")
			j.failed = true
		}
		return
	}
	s.line.text, s.more = program.WithoutEnd(line, j.eol), true
	s.line.fields = j.split(s.line.fields[:0], s.line.text)
	j.verify(i)
}

// verify checks the order of a side's last two lines.
func (j *join) verify(i int) {
	s := &j.sides[i]
	if j.never || !s.hasLast || s.disorder || !j.check && !j.seenUnpaired {
		return
	}
	j.lastFields = j.split(j.lastFields[:0], s.last)
	last := joinLine{fields: j.lastFields}
	if j.compare(s.keyOf(&last), s.keyOf(&s.line)) <= 0 {
		return
	}
	_ = j.out.Flush()
	j.p.Warn("%s:%d: is not sorted: %s", s.name, s.lines.Count, s.line.text)
	s.disorder = true
	if j.check {
		j.failed = true
	}
}

// split divides a line. The list of a long line's fields is charged; who does not reuse it releases it.
//
// bounded: the room for all fields of a long line is charged first, and a short one has few.
func (j *join) split(fields [][]byte, line []byte) [][]byte {
	if len(line) > joinShort {
		var err error
		if fields, err = program.GrowBuffer(j.p, fields, j.countFields(line)); err != nil {
			j.p.Warn("memory exhausted")
			j.failed = true
			return fields
		}
	}
	if j.tab >= 0 && j.tab != int(j.eol) {
		for len(line) > 0 {
			n := bytes.IndexByte(line, byte(j.tab))
			if n < 0 {
				return append(fields, line)
			}
			fields = append(fields, line[:n])
			if line = line[n+1:]; len(line) == 0 {
				fields = append(fields, line)
			}
		}
		return fields
	}
	if j.tab == int(j.eol) {
		if len(line) == 0 {
			return fields
		}
		return append(fields, line)
	}
	for i := 0; ; {
		for i < len(line) && isFieldBlank(line[i]) {
			i++
		}
		if i == len(line) {
			return fields
		}
		from := i
		for i < len(line) && !isFieldBlank(line[i]) {
			i++
		}
		fields = append(fields, line[from:i])
		if i == len(line) {
			return fields
		}
		// Blanks at the end are followed by an empty field.
		end := i
		for end < len(line) && isFieldBlank(line[end]) {
			end++
		}
		if end == len(line) {
			return append(fields, line[end:])
		}
	}
}

// joinShort is the size of a line in bytes up to which its fields are not counted before.
const joinShort = 256

// countFields returns how many fields a line has at most.
func (j *join) countFields(line []byte) int {
	if j.tab >= 0 {
		return bytes.Count(line, []byte{byte(j.tab)}) + 1
	}
	n := 2
	for _, c := range line {
		if isFieldBlank(c) {
			n++
		}
	}
	return n
}

func (s *joinSide) keyOf(l *joinLine) []byte {
	if s.key < len(l.fields) {
		return l.fields[s.key]
	}
	return nil
}

func (j *join) compare(a, b []byte) int {
	if !j.fold {
		return bytes.Compare(a, b)
	}
	n := min(len(a), len(b))
	for i := range n {
		if x, y := ascii.ToUpper(a[i]), ascii.ToUpper(b[i]); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

// pairs writes all pairs of lines with the same key.
func (j *join) pairs() {
	key := append([]byte(nil), j.sides[0].keyOf(&j.sides[0].line)...)
	for i := range j.sides {
		s := &j.sides[i]
		held := 0
		s.group = s.group[:0]
		for s.more && j.compare(s.keyOf(&s.line), key) == 0 && !j.ended() {
			text := bytes.Clone(s.line.text)
			fields := j.split(nil, text)
			s.group = append(s.group, joinLine{text, fields})
			cost, list := len(text)+64, 24*cap(fields)
			if held += cost + list; len(text) <= joinShort { // Otherwise split has charged the list.
				cost += list
			}
			if err := j.p.Reserve(cost); err != nil {
				j.p.Warn("memory exhausted")
				j.failed = true
			}
			j.advance(i)
		}
		defer j.p.Release(held)
	}
	if !j.paired {
		return
	}
	for a := range j.sides[0].group {
		for b := range j.sides[1].group {
			j.write(&j.sides[0].group[a], &j.sides[1].group[b])
			if j.p.Spend(1) != nil || j.out.HasFailed() {
				return
			}
		}
	}
}

// alone writes a line that joins with nothing.
func (j *join) alone(i int) {
	if !j.unpaired[i] {
		return
	}
	if i == 0 {
		j.write(&j.sides[0].line, nil)
	} else {
		j.write(nil, &j.sides[1].line)
	}
}

func (j *join) headers() {
	var lines [2]*joinLine
	for i := range j.sides {
		if s := &j.sides[i]; s.more {
			text := bytes.Clone(s.line.text)
			lines[i] = &joinLine{text, j.split(nil, text)}
		}
	}
	if lines[0] != nil && lines[1] != nil || lines[0] != nil || lines[1] != nil {
		j.write(lines[0], lines[1])
	}
	for i := range j.sides {
		if j.sides[i].more {
			j.advance(i)
			j.sides[i].hasLast = false
		}
	}
}

// autoFormat writes as many fields as the first lines have.
func (j *join) autoFormat() {
	j.format = append(j.format, joinField{-1, 0})
	for i, n := range j.autoCounts {
		for f := range n {
			if f != j.sides[i].key {
				j.format = append(j.format, joinField{i, f})
			}
		}
	}
}

func (j *join) write(a, b *joinLine) {
	lines := [2]*joinLine{a, b}
	between := byte(' ')
	if j.tab >= 0 {
		between = byte(j.tab)
	}
	if j.format == nil {
		j.writeField(j.keyField(lines))
		for i, l := range lines {
			if l == nil {
				continue
			}
			for f, field := range l.fields {
				if f != j.sides[i].key {
					_ = j.out.WriteByte(between)
					j.writeField(field)
				}
			}
		}
		_ = j.out.WriteByte(j.eol)
		return
	}
	for n, f := range j.format {
		if n > 0 {
			_ = j.out.WriteByte(between)
		}
		var field []byte
		switch {
		case f.file < 0:
			field = j.keyField(lines)
		case lines[f.file] != nil && f.field < len(lines[f.file].fields):
			field = lines[f.file].fields[f.field]
		}
		j.writeField(field)
	}
	_ = j.out.WriteByte(j.eol)
}

func (j *join) keyField(lines [2]*joinLine) []byte {
	if lines[0] != nil {
		return j.sides[0].keyOf(lines[0])
	}
	return j.sides[1].keyOf(lines[1])
}

func (j *join) writeField(field []byte) {
	if len(field) == 0 {
		_, _ = j.out.WriteString(j.empty)
		return
	}
	_, _ = j.out.Write(field)
}
