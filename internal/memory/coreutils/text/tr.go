package text

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func trCommand() program.Description {
	return program.Description{
		Name: "tr", Usage: "[OPTION]... STRING1 [STRING2]",
		Summary: "translate, squeeze or delete bytes of standard input",
		Help: `  -c, -C, --complement    use all bytes that are not in STRING1
  -d, --delete            delete the bytes of STRING1
  -s, --squeeze-repeats   write one of a run of the same byte, for the bytes of the
                            last STRING
  -t, --truncate-set1     cut STRING1 to the length of STRING2
      --help              show this help and exit
      --version           show the version and exit

In a STRING, \NNN is a byte in octal, and \\ \a \b \f \n \r \t \v are as ever. A-B is a
range; [A*N] is N times A, [A*] in STRING2 as many as STRING1 needs; [=A=] is A;
[:alnum:] [:alpha:] [:blank:] [:cntrl:] [:digit:] [:graph:] [:lower:] [:print:]
[:punct:] [:space:] [:upper:] [:xdigit:] are classes. STRING2 is made as long as STRING1 with
its last byte.`,
		Run: runTr,
	}
}

var trOptions = []getopt.Option{
	{Short: 'c', Long: "complement"},
	{Short: 'C', ID: 'c'},
	{Short: 'd', Long: "delete"},
	{Short: 's', Long: "squeeze-repeats"},
	{Short: 't', Long: "truncate-set1"},
}

// tr is a run of tr.
type tr struct {
	p                                     *shell.Proc
	complement, delete, squeeze, truncate bool
	translates                            bool

	to   [256]byte
	drop [256]bool
	once [256]bool // to be squeezed
	last int       // byte written last, if it is one of those; else -1
}

func runTr(p *shell.Proc) int {
	t := &tr{p: p, last: -1}
	o := program.NewOptions(p, trCommand, trOptions)
	o.Order = getopt.RequireOrder
	for o.Next() {
		switch o.ID {
		case 'c':
			t.complement = true
		case 'd':
			t.delete = true
		case 's':
			t.squeeze = true
		case 't':
			t.truncate = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if status := t.operands(o.Args()); status != 0 {
		return status
	}
	return t.copy()
}

// operands reads the strings and fills the tables; it returns 0 when they are right.
func (t *tr) operands(args []string) int {
	least, most := 2, 2
	if t.delete {
		least, most = 1, 1
		if t.squeeze {
			least, most = 2, 2
		}
	} else if t.squeeze {
		least = 1
	}
	t.translates = !t.delete && len(args) == 2
	switch {
	case len(args) == 0:
		return program.UsageError(t.p, trCommand, 1, "missing operand")
	case len(args) < least:
		t.p.Warn("missing operand after %s", quoting.Name(args[len(args)-1]))
		return t.explain("Two strings must be given when translating.", "Two strings must be given when both deleting and squeezing repeats.")
	case len(args) > most:
		t.p.Warn("extra operand %s", quoting.Name(args[most]))
		if most == 1 {
			return t.explain("", "Only one string may be given when deleting without squeezing repeats.")
		}
		program.TryHelp(t.p, trCommand())
		return 1
	}
	if fault := t.prepare(args); fault != "" {
		t.p.Warn("%s", fault)
		return 1
	}
	return 0
}

// explain ends a message about the number of strings.
func (t *tr) explain(translating, deleting string) int {
	text := translating
	if t.delete {
		text = deleting
	}
	_, _ = t.p.Stderr.Write([]byte(text + "\n"))
	program.TryHelp(t.p, trCommand())
	return 1
}

// prepare fills the tables.
func (t *tr) prepare(args []string) (fault string) {
	first, fault := parseTrSet(t.p, args[0])
	if fault != "" {
		return fault
	}
	if first.fill >= 0 {
		return "the [c*] repeat construct may not appear in string1"
	}
	if t.complement {
		first.turn()
	}
	for c := range t.to {
		t.to[c] = byte(c)
	}
	var second *trSet
	if len(args) == 2 {
		if second, fault = parseTrSet(t.p, args[1]); fault != "" {
			return fault
		}
		if second.fills > 1 {
			return "only one [c*] repeat construct may appear in string2"
		}
	}
	if t.translates {
		if fault = t.translate(first, second); fault != "" {
			return fault
		}
	}
	if t.delete {
		for _, it := range first.items {
			t.drop[it.c] = true
		}
	}
	if t.squeeze {
		last := first
		if second != nil {
			last = second
		}
		for _, it := range last.items {
			t.once[it.c] = true
		}
	}
	return ""
}

// translate fills the table of a translation.
func (t *tr) translate(first, second *trSet) (fault string) {
	second.repeat(len(first.items))
	if fault := second.mayTranslate(first, t); fault != "" {
		return fault
	}
	if fault := second.extend(len(first.items), t.truncate); fault != "" {
		return fault
	}
	if first.turned && !second.isSingle() {
		return "when translating with complemented character classes,\nstring2 must map all characters in the domain to one"
	}
	n := min(len(first.items), len(second.items))
	for i := range n {
		a, b := first.items[i], second.items[i]
		if b.class != 0 && a.class != 0 {
			// Upper and lower case go together, in any order of their letters.
			t.to[a.c] = convertCase(a.c, b.class)
			continue
		}
		t.to[a.c] = b.c
	}
	return ""
}

func convertCase(c, class byte) byte {
	switch {
	case class == 'u' && c >= 'a' && c <= 'z':
		return c - 32
	case class == 'l' && c >= 'A' && c <= 'Z':
		return c + 32
	}
	return c
}

// copy translates standard input.
func (t *tr) copy() int {
	in := program.NewLineReader(t.p, t.p.Stdin, '\n')
	for {
		b, ok := in.Bytes()
		if !ok {
			break
		}
		if t.delete {
			b = t.without(b)
		}
		if t.translates {
			to := &t.to
			for i, c := range b {
				b[i] = to[c]
			}
		}
		if t.squeeze {
			b = t.squeezed(b)
		}
		if _, err := t.p.Stdout.Write(b); err != nil {
			return t.p.WriteFailed(err)
		}
	}
	if in.Spent {
		return t.p.Status(in.Ended)
	}
	if err := in.Err(); err != nil {
		t.p.Errorf(err, "read error")
		return 1
	}
	return 0
}

func (t *tr) without(b []byte) []byte {
	n := 0
	for _, c := range b {
		b[n] = c
		if !t.drop[c] {
			n++
		}
	}
	return b[:n]
}

func (t *tr) squeezed(b []byte) []byte {
	n := 0
	for _, c := range b {
		if t.once[c] {
			if int(c) == t.last {
				continue
			}
			t.last = int(c)
		} else {
			t.last = -1
		}
		b[n] = c
		n++
	}
	return b[:n]
}
