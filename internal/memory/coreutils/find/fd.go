package find

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sourcetree"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func fdCommand() program.Description {
	return program.Description{
		Name: "fd", Aliases: []string{"fdfind"}, Usage: "[OPTIONS] [PATTERN] [PATH]...",
		Summary: "find files by their names, as .gitignore allows",
		Help: `  -H, --hidden            also names that begin with a dot
  -I, --no-ignore         whatever .gitignore, .ignore and .fdignore say
      --no-ignore-vcs     whatever .gitignore says
  -u, --unrestricted      -HI
  -s, --case-sensitive    upper and lower case differ
  -i, --ignore-case       they do not; the default unless PATTERN has upper case
  -g, --glob              PATTERN is a glob, not a regular expression
  -F, --fixed-strings     PATTERN is a text
  -a, --absolute-path     write absolute paths
  -L, --follow            links too
  -p, --full-path         PATTERN is about the whole path
  -0, --print0            NUL behind each path
  -d, --max-depth NUM     directories below; --min-depth, --exact-depth
  -t, --type TYPE         f file, d directory, l symlink, x executable, e empty, s socket,
                            p pipe; may be given several times
  -e, --extension EXT     names that end in .EXT
  -E, --exclude GLOB      leave out what matches
  -x, --exec CMD ... ;    run CMD for each path: {} is the path, {/} its last element, {//} its
                            directory, {.} and {/.} without the extension
  -X, --exec-batch CMD ... ;  run CMD once with all paths
      --max-results NUM   at most so many; -1 for one
  -q, --quiet             nothing; the status tells
      --strip-cwd-prefix, -c, --color WHEN, -j, --threads NUM  change nothing

Exit status is 0, 1 after an error or when -q found nothing.`,
		Run: runFd,
	}
}

const (
	fdNoIgnoreVCS = getopt.First + iota
	fdMinDepth
	fdExactDepth
	fdMaxResults
	fdNothing
	fdNothingArg
)

var fdOptions = []getopt.Option{
	{Short: 'H', Long: "hidden"},
	{Short: 'I', Long: "no-ignore"},
	{Long: "no-ignore-vcs", ID: fdNoIgnoreVCS},
	{Short: 'u', Long: "unrestricted"},
	{Short: 's', Long: "case-sensitive"},
	{Short: 'i', Long: "ignore-case"},
	{Short: 'g', Long: "glob"},
	{Long: "regex", ID: fdNothing},
	{Short: 'F', Long: "fixed-strings"},
	{Short: 'a', Long: "absolute-path"},
	{Short: 'L', Long: "follow"},
	{Short: 'p', Long: "full-path"},
	{Short: '0', Long: "print0"},
	{Short: 'd', Long: "max-depth", Arg: getopt.Required},
	{Long: "maxdepth", ID: 'd', Arg: getopt.Required},
	{Long: "min-depth", ID: fdMinDepth, Arg: getopt.Required},
	{Long: "exact-depth", ID: fdExactDepth, Arg: getopt.Required},
	{Short: 't', Long: "type", Arg: getopt.Required},
	{Short: 'e', Long: "extension", Arg: getopt.Required},
	{Short: 'E', Long: "exclude", Arg: getopt.Required},
	{Long: "max-results", ID: fdMaxResults, Arg: getopt.Required},
	{Short: '1'},
	{Short: 'q', Long: "quiet"},
	{Long: "strip-cwd-prefix", ID: fdNothing},
	{Short: 'c', Long: "color", ID: fdNothingArg, Arg: getopt.Required},
	{Short: 'j', Long: "threads", ID: fdNothingArg, Arg: getopt.Required},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// fd is a run of fd.
type fd struct {
	p         *shell.Proc
	out       *program.Output
	walk      *sourcetree.Walk
	fold      int // 1 on, -1 off, 0 as the pattern has it
	glob      bool
	fixed     bool
	absolute  bool
	fullPath  bool
	nul       bool
	least     int
	kinds     string
	endings   []string
	most      int
	quiet     bool
	exec      []string
	batch     bool
	pattern   *regex.Matcher
	globText  []string
	found     int
	bare      bool
	paths     []string // for a batch
	status    int
	ended     error
	foldNames bool
}

func runFd(p *shell.Proc) int {
	f := &fd{p: p, out: program.NewOutput(p), walk: sourcetree.NewWalk(p, ".fdignore")}
	f.walk.All = true
	args := f.takeCommand(p.Args)
	q := *p
	q.Args = args
	o := program.NewOptions(&q, fdCommand, fdOptions)
	o.Parser = getopt.New(args, fdOptions)
	o.Wrong = 2
	for o.Next() {
		f.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	operands := o.Args()
	pattern := ""
	if len(operands) > 0 {
		pattern, operands = operands[0], operands[1:]
	}
	if !f.compile(pattern) {
		return 1
	}
	return f.run(operands)
}

// takeCommand takes -x and -X with their words out of the arguments.
func (f *fd) takeCommand(args []string) []string {
	for i := 1; i < len(args); i++ {
		switch args[i] {
		case "--":
			return args
		case "-x", "--exec", "-X", "--exec-batch":
			f.batch = args[i] == "-X" || args[i] == "--exec-batch"
			end := i + 1
			for end < len(args) && args[end] != ";" {
				end++
			}
			f.exec = args[i+1 : end]
			rest := append([]string(nil), args[:i]...)
			if end < len(args) {
				rest = append(rest, args[end+1:]...)
			}
			return rest
		}
	}
	return args
}

func (f *fd) option(o *program.Options) {
	switch o.ID {
	case 'd', fdMinDepth, fdExactDepth, fdMaxResults:
		n, err := strconv.ParseUint(o.Value, 10, 31)
		if err != nil {
			o.RejectQuietly("'%s' is not a number", o.Value)
			return
		}
		switch o.ID {
		case fdMaxResults:
			f.most = int(n)
		case fdMinDepth:
			f.least = int(n)
		default:
			f.walk.Depth = int(n)
			if o.ID == fdExactDepth {
				f.least = int(n)
			}
		}
	case 't':
		f.kind(o)
	case 'e':
		f.endings = append(f.endings, "."+strings.ToLower(strings.TrimPrefix(o.Value, ".")))
	case 'E':
		f.walk.AddGlob("!"+o.Value, false)
	case '1':
		f.most = 1
	default:
		f.toggle(o.ID)
	}
}

func (f *fd) toggle(id int) {
	switch id {
	case 'H':
		f.walk.Hidden = true
	case 'I':
		f.walk.NoIgnore = true
	case 'u':
		f.walk.Hidden, f.walk.NoIgnore = true, true
	case fdNoIgnoreVCS:
		f.walk.NoGit = true
	case 's':
		f.fold = -1
	case 'i':
		f.fold = 1
	case 'g':
		f.glob = true
	case 'F':
		f.fixed = true
	case 'a':
		f.absolute = true
	case 'L':
		f.walk.Follow = true
	case 'p':
		f.fullPath = true
	case '0':
		f.nul = true
	case 'q':
		f.quiet = true
	}
}

func (f *fd) kind(o *program.Options) {
	kinds := map[string]string{
		"f": "f", "file": "f", "d": "d", "directory": "d", "l": "l", "symlink": "l", "x": "x", "executable": "x", "e": "e", "empty": "e",
		"s": "s", "socket": "s", "p": "p", "pipe": "p",
	}
	kind, ok := kinds[o.Value]
	if !ok {
		fmt.Fprintf(f.p.Stderr, "error: '%s' isn't a valid value for '--type <filetype>'\n  [possible values: file, directory, symlink, executable, empty, socket, pipe]\n\nFor more information try '--help'\n", o.Value)
		o.End(2)
		return
	}
	f.kinds += kind
}

func (f *fd) compile(pattern string) bool {
	f.foldNames = f.fold > 0 || f.fold == 0 && !sourcetree.HasUpper([]string{pattern})
	if f.glob {
		f.globText = strings.Split(strings.TrimPrefix(pattern, "/"), "/") // bounded: once, of an argument
		return true
	}
	flags := regex.Perl
	if f.fixed {
		flags = regex.Literal
	}
	if f.foldNames {
		flags |= regex.IgnoreCase
	}
	re, err := regex.Compile(pattern, flags)
	if err != nil {
		fmt.Fprintf(f.p.Stderr, "[fd error]: regex parse error:\n    %s\nerror: %s\n", pattern, program.RegexError(err))
		return false
	}
	f.pattern = re.Matcher(f.p.Spend)
	return true
}

func (f *fd) run(roots []string) int {
	if f.bare = len(roots) == 0; f.bare {
		roots = []string{"./"}
	}
	valid := 0
	for _, root := range roots {
		if info, err := f.p.Stat(root); err != nil || !info.IsDir() {
			fmt.Fprintf(f.p.Stderr, "[fd error]: Search path '%s' is not a directory.\n", root)
			continue
		}
		valid++
	}
	if valid == 0 {
		fmt.Fprintf(f.p.Stderr, "[fd error]: No valid search paths given.\n")
		return 1
	}
	for _, root := range roots {
		if info, err := f.p.Stat(root); err != nil || !info.IsDir() {
			continue
		}
		if err := f.walk.Run(root, f.bare, f.visit); err != nil {
			f.ended = err
		}
		if f.ended != nil || f.done() {
			break
		}
	}
	if f.ended == nil && f.batch && len(f.paths) > 0 {
		f.runBatch()
	}
	if f.ended != nil {
		return f.p.Status(f.ended)
	}
	if f.quiet && f.found == 0 {
		return 1
	}
	return f.out.Close(f.status)
}

func (f *fd) done() bool {
	return f.most > 0 && f.found >= f.most || f.quiet && f.found > 0 || f.out.HasFailed()
}

// visit looks at something that the walk has found.
func (f *fd) visit(s sourcetree.File) bool {
	if s.Err != nil {
		fmt.Fprintf(f.p.Stderr, "[fd error]: %s: %s (os error %d)\n", s.Path, shell.Strerror(s.Err), int(shell.Errno(s.Err)))
		f.status = 1
		return true
	}
	if s.Depth < f.least || !f.matches(s) || !f.ofKind(s) {
		return true
	}
	f.found++
	if f.quiet {
		return false
	}
	name := s.Path
	if f.absolute {
		name = path.Clean(f.p.Abs(s.Path))
	}
	if len(f.exec) > 0 {
		return f.execute(name)
	}
	if f.nul && f.bare && !f.absolute {
		name = "./" + name
	}
	_, _ = f.out.WriteString(name)
	if s.IsDir {
		_ = f.out.WriteByte('/')
	}
	if f.nul {
		_ = f.out.WriteByte(0)
	} else {
		_ = f.out.WriteByte('\n')
	}
	return !f.done()
}

func (f *fd) matches(s sourcetree.File) bool {
	if len(f.endings) > 0 {
		ok := false
		lower := strings.ToLower(s.Name)
		for _, e := range f.endings {
			ok = ok || strings.HasSuffix(lower, e) && len(lower) > len(e)
		}
		if !ok {
			return false
		}
	}
	text := s.Name
	if f.fullPath {
		text = path.Clean(f.p.Abs(s.Path))
	}
	if f.pattern != nil {
		return f.pattern.Match([]byte(text))
	}
	flags := fnmatch.Path
	if f.foldNames {
		flags |= fnmatch.Fold
	}
	return sourcetree.MatchParts(f.globText, strings.Split(strings.TrimPrefix(text, "/"), "/"), flags)
}

func (f *fd) ofKind(s sourcetree.File) bool {
	if f.kinds == "" {
		return true
	}
	for _, k := range f.kinds {
		ok := false
		switch k {
		case 'f':
			ok = s.Mode.IsRegular()
		case 'd':
			ok = s.IsDir
		case 'l':
			ok = s.Mode&fs.ModeSymlink != 0
		case 'x':
			ok = s.Mode.IsRegular() && f.p.Access(s.Path, 1) == nil
		case 's':
			ok = s.Mode&fs.ModeSocket != 0
		case 'p':
			ok = s.Mode&fs.ModeNamedPipe != 0
		case 'e':
			ok = (!strings.ContainsAny(f.kinds, "fd") || strings.Contains(f.kinds, "f") && s.Mode.IsRegular() || strings.Contains(f.kinds, "d") && s.IsDir) && f.isEmpty(s)
		}
		if ok && (k == 'e' || !strings.Contains(f.kinds, "e")) {
			return true
		}
	}
	return false
}

func (f *fd) isEmpty(s sourcetree.File) bool {
	if s.IsDir {
		entries, err := f.p.ReadDir(s.Path)
		return err == nil && len(entries) == 0
	}
	info, err := f.p.Stat(s.Path)
	return err == nil && s.Mode.IsRegular() && info.Size == 0
}

// execute runs the command for a path, or keeps the path for later.
func (f *fd) execute(name string) bool {
	if f.bare && !f.absolute {
		name = "./" + name
	}
	if f.batch {
		f.paths = append(f.paths, name)
		if err := f.p.Reserve(len(name) + 16); err != nil {
			f.ended = err
			return false
		}
		return !f.done()
	}
	placed := false
	args := make([]string, 0, len(f.exec)+1)
	for _, word := range f.exec {
		args = append(args, fdExpand(word, name))
		placed = placed || args[len(args)-1] != word
	}
	if !placed {
		args = append(args, name)
	}
	f.start(args)
	return f.ended == nil && !f.done()
}

func (f *fd) runBatch() {
	var args []string
	placed := false
	for _, word := range f.exec {
		if fdExpand(word, "x") == word {
			args = append(args, word)
			continue
		}
		placed = true
		for _, name := range f.paths {
			args = append(args, fdExpand(word, name))
		}
	}
	if !placed {
		args = append(args, f.paths...)
	}
	f.start(args)
}

func (f *fd) start(args []string) {
	if err := f.out.Flush(); err != nil {
		f.ended = err
		return
	}
	if f.ended = f.p.Spend(8); f.ended != nil {
		return
	}
	if f.p.Run(shell.Spawn{Args: args}) != 0 {
		f.status = 1
	}
	f.ended = f.p.Context().Err()
}

// fdExpand puts a path into a word of the command.
func fdExpand(word, name string) string {
	if !strings.Contains(word, "{") {
		return word
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	dir := "."
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir = name[:max(i, 1)]
	}
	bare := func(s, from string) string {
		if i := strings.LastIndexByte(from, '.'); i > 0 {
			return s[:len(s)-len(from)+i]
		}
		return s
	}
	stem := bare(name, base)
	return strings.NewReplacer("{}", name, "{/}", base, "{//}", dir, "{.}", strings.TrimPrefix(stem, "./"), "{/.}", bare(base, base)).Replace(word)
}
