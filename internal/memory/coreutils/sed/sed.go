// Package sed holds the program sed.
package sed

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func sedCommand() program.Description {
	return program.Description{
		Origin: "GNU sed 4.9", HelpOnError: true,
		Name: "sed", Usage: "[OPTION]... {SCRIPT, if there is no -e or -f} [FILE]...",
		Summary: "edit the lines of the FILEs by a script",
		Help: `With no FILE, or when FILE is -, read standard input.

  -n, --quiet, --silent      write lines only where the script says so
  -e, --expression=SCRIPT    add SCRIPT to what is done with each line
  -f, --file=FILE            add the script in FILE
  -E, -r, --regexp-extended  extended regular expressions
  -i, --in-place[=SUFFIX]    change the FILEs themselves; with SUFFIX keep what was, under
                               the name with SUFFIX behind it, or in the place of each * of it
      --follow-symlinks      change what a link leads to instead of the link
  -l, --line-length=N        how wide the l command may write
  -s, --separate             every FILE has its own first and last line
  -u, --unbuffered           write each line at once
  -z, --null-data, --zero-terminated  lines end in NUL, not in a newline
      --posix                only what POSIX has
      --sandbox              refuse the commands e, r and w
  -b, --binary               does nothing
      --help                 show this help and exit
      --version              show the version and exit

Commands are [ADDRESS[,ADDRESS]][!]X: { } block, =, a i c text, b t T to a label, : label, d D
delete, e execute, F file name, g G h H x hold space, l list, n N next line, p P print,
q Q quit, r R read, w W write, s substitute, y transliterate, z empty, # comment.
ADDRESS is a line's number, $, /REGEX/[IM], FIRST~STEP; the second also +N, ~N.
Exit status is 0, 1 for a wrong script, 2 when a FILE could not be read, 4 after another
failure, or what q and Q say.`,
		Run: runSed,
	}
}

const (
	sedPosix = getopt.First + iota
	sedDebug
	sedSandbox
	sedFollow
)

var sedOptions = []getopt.Option{
	{Short: 'b', Long: "binary"},
	{Short: 'E', Long: "regexp-extended"},
	{Short: 'r'},
	{Long: "debug", ID: sedDebug},
	{Short: 'i', Long: "in-place", Arg: getopt.Optional},
	{Short: 'e', Long: "expression", Arg: getopt.Required},
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'l', Long: "line-length", Arg: getopt.Required},
	{Short: 'z', Long: "null-data"},
	{Short: 'z', Long: "zero-terminated"},
	{Short: 'n', Long: "quiet"},
	{Long: "posix", ID: sedPosix},
	{Short: 'n', Long: "silent"},
	{Long: "sandbox", ID: sedSandbox},
	{Short: 's', Long: "separate"},
	{Short: 'u', Long: "unbuffered"},
	{Long: "version", ID: getopt.Version},
	{Long: "help", ID: getopt.Help},
	{Long: "follow-symlinks", ID: sedFollow},
}

// Exit statuses of sed.
const (
	sedBadUsage = 1
	sedBadInput = 2
	sedPanic    = 4
)

// sedSetup holds the parsed options.
type sedSetup struct {
	quiet, extended, separate, unbuffered bool
	posix, sandbox, follow                bool
	inPlace                               bool
	suffix                                string
	lineLength                            int
	delim                                 byte
	bytes                                 bool // the C locale
}

// sedChunk is a part of the script, from -e or -f.
type sedChunk struct {
	text string
	file bool // text is the name of a file
}

func runSed(p *shell.Proc) int {
	setup := sedSetup{lineLength: 70, delim: '\n', bytes: program.IsByteLocale(p)}
	_, setup.posix = p.LookupEnv("POSIXLY_CORRECT")
	if n, err := strconv.Atoi(p.Getenv("COLS")); err == nil && n > 1 {
		setup.lineLength = n - 1
	}
	var chunks []sedChunk
	o := program.NewOptions(p, sedCommand, sedOptions)
	o.Wrong = sedBadUsage
	for o.Next() {
		switch o.ID {
		case 'e':
			chunks = append(chunks, sedChunk{o.Value, false})
		case 'f':
			chunks = append(chunks, sedChunk{o.Value, true})
		case 'i':
			setup.inPlace, setup.separate = true, true
			if o.HasValue {
				setup.suffix = o.Value
			}
		case sedDebug:
			o.RejectQuietly("--debug is not supported here: the programs of other backends have it")
		default:
			setup.option(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	names := o.Args()
	if chunks == nil {
		if len(names) == 0 {
			program.TryHelp(p, sedCommand())
			return sedBadUsage
		}
		chunks, names = []sedChunk{{names[0], false}}, names[1:]
	}
	s := newSed(p, setup)
	defer s.closeFiles()
	if !s.compile(chunks) {
		return s.status
	}
	return s.run(names)
}

func (s *sedSetup) option(o *program.Options) {
	switch o.ID {
	case 'n':
		s.quiet = true
	case 'E', 'r':
		s.extended = true
	case 's':
		s.separate = true
	case 'u':
		s.unbuffered = true
	case 'z':
		s.delim = 0
	case 'l':
		// As atoi(3) has it: what is not a number is 0.
		digits := strings.TrimLeft(o.Value, " \t")
		end := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
		n, _ := strconv.Atoi(digits[:end])
		s.lineLength = n
	case sedPosix:
		s.posix = true
	case sedSandbox:
		s.sandbox = true
	case sedFollow:
		s.follow = true
	}
}
