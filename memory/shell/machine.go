package shell

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/gate"
	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Limits bound the resources of scripts. A zero field is its default, a negative one no limit.
type Limits struct {
	Fuel      int64 // units of work of one Run, about one simple command or 64 bytes each; 500 million
	Depth     int   // functions, sources, evals and subshells inside each other; 2000
	Bytes     int64 // memory of variables, words and captured output together; DefaultBytes
	Processes int   // processes at one time; 256
	Files     int   // open descriptors of one process; 1024
	Source    int64 // bytes of one script; 16 MiB
}

// DefaultBytes is the default of Limits.Bytes.
const DefaultBytes = 256 << 20

func (l Limits) withDefaults() Limits {
	l.Fuel = defaulted(l.Fuel, 500_000_000)
	l.Depth = defaulted(l.Depth, 2000)
	l.Bytes = defaulted(l.Bytes, DefaultBytes)
	l.Processes = defaulted(l.Processes, 256)
	l.Files = defaulted(l.Files, 1024)
	l.Source = defaulted(l.Source, 16<<20)
	return l
}

// defaulted returns def for 0 and the largest number for "no limit".
func defaulted[T int | int64](n, def T) T {
	switch {
	case n == 0:
		return def
	case n < 0:
		return T(^uint(0) >> 2)
	}
	return n
}

// machine holds the state that all processes of one shell share.
type machine struct {
	fs       *vfs.FS
	now      func() time.Time
	limits   Limits
	programs atomic.Pointer[programs]
	fault    func(command string, v any)

	fuel  atomic.Int64          // what is left of the run's fuel
	bytes atomic.Int64          // memory taken by variables and buffers
	most  atomic.Int64          // what bytes may be in this run
	met   atomic.Pointer[error] // the limit that the run met first

	lib      *library
	hintFor  func(string) string
	hostname string
	born     time.Time
	lastPipe atomic.Uint64                    // the last number given to a pipe
	zone     func(name string) *time.Location // what TZ names; nil: UTC only
	life     context.Context                  //nolint:containedctx // The machine's own end.
	wait     sync.WaitGroup                   // goroutines of processes
	gate     gate.Gate                        // which they pass

	table   *process.Table
	mu      sync.Mutex
	first   *process.Process // the first shell's; set before the first Run
	running bool             // a Run is in progress; signals reach its processes
	early   []syscall.Signal
	run     context.Context         //nolint:containedctx // Of the current Run.
	cancel  context.CancelCauseFunc // ends it
	rand    *rand.Rand
}

// Take implements fd.Memory.
func (m *machine) Take(n int) bool { return m.take(n) }

// nextPipe numbers a pipe.
func (m *machine) nextPipe() uint64 { return m.lastPipe.Add(1) + firstPipe }

// firstPipe makes numbers of pipes look different from other numbers.
const firstPipe = 10000

// takeFuel takes n units for a process, which spends them without asking.
func (m *machine) takeFuel(n int) error {
	if m.fuel.Add(-int64(n)) < 0 {
		m.meet(ErrFuel)
		return ErrFuel
	}
	return nil
}

// refuel takes back the fuel that a process did not use. Its parent does not get it: it could then run for too long without
// checking its context.
func (m *machine) refuel(n int) { m.fuel.Add(int64(n)) }

func (m *machine) newRand() *rand.Rand {
	m.mu.Lock()
	defer m.mu.Unlock()
	return rand.New(rand.NewPCG(m.rand.Uint64(), m.rand.Uint64())) //nolint:gosec // RANDOM of a shell is not a secret.
}

// list returns each command once, sorted by name.
func (m *machine) list() []*Command {
	list := m.programs.Load().list()
	all := make([]*Command, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// begin gives a run its fuel.
func (m *machine) begin(ctx context.Context, cancel context.CancelCauseFunc) {
	m.fuel.Store(m.limits.Fuel)
	m.met.Store(nil)
	m.most.Store(min(max(m.limits.Bytes, m.bytes.Load()+graceBytes), m.limits.Bytes+16*graceBytes))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run, m.cancel = ctx, cancel
}

// forkOn returns a machine like this one on other files.
func (m *machine) forkOn(tree *vfs.FS) *machine {
	n := &machine{
		fs: tree, now: m.now, limits: m.limits, lib: m.lib, fault: m.fault,
		rand: m.newRand(), hintFor: m.hintFor,
		hostname: m.hostname, zone: m.zone, born: m.now(),
	}
	_, _, last := m.table.Load()
	n.table = process.NewTable(n.limits.Processes, last, n.ticks)
	n.programs.Store(m.programs.Load())
	n.fuel.Store(n.limits.Fuel)
	n.most.Store(n.limits.Bytes)
	return n
}

// library caches compiled scripts. Machines forked from each other share it.
type library struct {
	symbols  *symbols
	builtins map[string]*builtin
	dynamics []dynamicCell

	mu       sync.Mutex
	units    map[unitKey]*script
	unitSize int
	ariths   cache[string, arithEntry]
	patterns cache[patternKey, *pattern.Pattern]
	words    cache[string, *word]
	regexps  cache[regexKey, *regex.Regexp]
}

// cache has compiled texts of one kind. The zero value is empty.
type cache[K comparable, V any] struct {
	entries map[K]V // bounded: maxCached entries, maxCacheWeight bytes
	weight  int     // of the entries in bytes, about
}

// put stores what takes weight bytes. It drops all entries when they become too many or too heavy.
func (c *cache[K, V]) put(k K, v V, weight int) {
	if weight += nameWeight; weight > maxCacheWeight {
		return
	}
	if c.entries == nil || len(c.entries) >= maxCached || c.weight+weight > maxCacheWeight {
		c.entries, c.weight = map[K]V{}, 0
	}
	c.entries[k] = v
	c.weight += weight
}

// patternKey names a compiled pattern.
type patternKey struct {
	text  string
	flags pattern.Flags
}

type arithEntry struct {
	x   expr
	err *arithError
}

// maxCached and maxCacheWeight bound each cache, in entries and bytes; maxUnits the stored scripts, in
// bytes of their compiled form.
const (
	maxCached      = 4096
	maxCacheWeight = 4 << 20
	maxUnits       = 16 << 20
)

func newLibrary() *library {
	l := &library{symbols: newSymbols(), units: map[unitKey]*script{}}
	for _, n := range firstNames {
		l.symbols.slot(n)
	}
	l.builtins = builtins()
	l.dynamics = dynamicCells(l.symbols)
	return l
}

// arith returns the compiled expression of a text that was made at run time.
func (l *library) arith(text string) (expr, *arithError) {
	l.mu.Lock()
	e, ok := l.ariths.entries[text]
	l.mu.Unlock()
	if ok {
		return e.x, e.err
	}
	e.x, e.err = compileArith(l, text)
	if len(text) < 256 {
		l.mu.Lock()
		l.ariths.put(text, e, arithWeight*len(text))
		l.mu.Unlock()
	}
	return e.x, e.err
}

// pattern returns the compiled pattern of a text that was made at run time.
func (l *library) pattern(text string, f pattern.Flags) *pattern.Pattern {
	k := patternKey{text, f}
	l.mu.Lock()
	p := l.patterns.entries[k]
	l.mu.Unlock()
	if p != nil {
		return p
	}
	p = pattern.Compile(text, f)
	if len(text) < 256 {
		l.mu.Lock()
		l.patterns.put(k, p, patternWeight*len(text))
		l.mu.Unlock()
	}
	return p
}

// compileText compiles text that was made at run time.
func (l *library) compileText(parsed *syntax.Word) *word {
	w := (&compiler{lib: l}).word(parsed, wordText)
	w.levels = parsed.Levels
	return w
}

// textWord returns the compiled word of a text that is expanded as in double quotes, with quotes
// counting: a subscript, a prompt.
func (e *expansion) textWord(s string) *word {
	l := e.sh.m.lib
	l.mu.Lock()
	w := l.words.entries[s]
	l.mu.Unlock()
	if w != nil {
		return w
	}
	names := l.symbols.weight.Load()
	parsed, err := syntax.Text(s, e.sh.parseStep())
	if err != nil {
		w = &word{constant: true, lit: s}
	} else {
		w = l.compileText(parsed)
	}
	e.sh.chargeNames(names)
	if len(s) < 256 {
		l.mu.Lock()
		l.words.put(s, w, nodeWeight*len(s)/2)
		l.mu.Unlock()
	}
	return w
}

// symbols numbers the names of variables and functions: closures hold the numbers.
// Forked machines share them.
type symbols struct {
	mu    sync.RWMutex
	slots map[string]int
	names []string

	weight atomic.Int64 // bytes of all names, about
}

func newSymbols() *symbols { return &symbols{slots: map[string]int{}} }

// slot returns the number of a name, a new one when it has none.
func (s *symbols) slot(name string) int {
	s.mu.RLock()
	n, ok := s.slots[name]
	s.mu.RUnlock()
	if ok {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.slots[name]; ok {
		return n
	}
	n = len(s.names)
	s.slots[name] = n               // bounded: the callers charge for names
	s.names = append(s.names, name) // bounded: the callers charge for names
	s.weight.Add(int64(nameWeight + len(name)))
	return n
}

// known returns the number of a name, -1 when nothing has that name.
func (s *symbols) known(name string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n, ok := s.slots[name]; ok {
		return n
	}
	return -1
}

func (s *symbols) name(slot int) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names[slot]
}

// The first slots are names that the engine itself reads.
const (
	slotIFS = iota
	slotPATH
	slotHOME
	slotPWD
	slotOLDPWD
	slotOPTIND
	slotOPTARG
	slotOPTERR
	slotREPLY
	slotPS4
	slotCDPATH
	slotGLOBIGNORE
	slotFUNCNEST
	slotTIMEFORMAT
	slotBASHREMATCH
	slotCOPROC
	slotPOSIXLY
	slotHISTCONTROL
	slotPS3
	slotSHLVL
	slotTMOUT
	slotBASHENV
	slotMAPFILE
	slotSHELLOPTS
	slotBASHOPTS
	slotDIRSTACK
	slotIGNOREEOF
	slotUnderscore
	slotExecIgnore
	slotPS2
	slotLCALL
	slotLCCTYPE
	slotLANG
	slotExecutionString
)

var firstNames = []string{
	"IFS", "PATH", "HOME", "PWD", "OLDPWD", "OPTIND", "OPTARG", "OPTERR", "REPLY", "PS4", "CDPATH",
	"GLOBIGNORE", "FUNCNEST", "TIMEFORMAT", "BASH_REMATCH", "COPROC", "POSIXLY_CORRECT", "HISTCONTROL",
	"PS3", "SHLVL", "TMOUT", "BASH_ENV", "MAPFILE", "SHELLOPTS", "BASHOPTS", "DIRSTACK", "IGNOREEOF", "_",
	"EXECIGNORE", "PS2", "LC_ALL", "LC_CTYPE", "LANG",
	"BASH_EXECUTION_STRING",
}

// regexKey names a compiled regular expression.
type regexKey struct {
	text string
	fold bool
}

// regexp returns the compiled expression.
func (l *library) regexp(k regexKey) (*regex.Regexp, error) {
	l.mu.Lock()
	re := l.regexps.entries[k]
	l.mu.Unlock()
	if re != nil {
		return re, nil
	}
	flags := regex.Extended
	if k.fold {
		flags |= regex.IgnoreCase
	}
	re, err := regex.Compile(k.text, flags)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.regexps.put(k, re, len(k.text)+re.Size())
	l.mu.Unlock()
	return re, nil
}

// matchRegex matches s with an extended regular expression and returns the groups, the whole first.
func (e *expansion) matchRegex(text, s string) (groups []string, ok bool, err error) {
	re, err := e.sh.m.lib.regexp(regexKey{text, e.sh.shopt&shopt.NoCaseMatch != 0})
	if err != nil {
		return nil, false, err
	}
	if n := re.Size(); n > 1<<12 && (!e.sh.hold(n) || !e.sh.spend(n>>4)) {
		return nil, false, nil
	}
	caps := make([]int, 2*(re.Groups()+1)) // bounded: two numbers for each group of an expression that is charged
	m := re.Matcher(func(n int) error {
		if !e.sh.spend(n) {
			return ErrFuel
		}
		return nil
	})
	if !m.Find([]byte(s), 0, caps) {
		return []string{}, false, nil
	}
	groups = make([]string, len(caps)/2)
	for i := range groups {
		if caps[2*i] >= 0 {
			groups[i] = s[caps[2*i]:caps[2*i+1]]
		}
	}
	return groups, true, nil
}

// AddDevices makes /dev and /proc in a tree for the machines that will have it: the devices, and names for
// the open files of a process. Each machine has its own content of /proc. None of these paths may exist yet.
func AddDevices(f *vfs.FS) error {
	root := vfs.Cred{}
	for _, dir := range []string{"/dev", "/proc"} {
		if err := f.MkdirAll(root, dir, 0o755); err != nil {
			return err
		}
	}
	if err := f.Generate("/proc"); err != nil {
		return err
	}
	for _, d := range []struct {
		name         string
		major, minor uint32
	}{{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}} {
		if err := f.Mknod(root, "/dev/"+d.name, fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(d.major, d.minor)); err != nil {
			return err
		}
	}
	for _, l := range [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}} {
		if err := f.Symlink(root, l[1], "/dev/"+l[0]); err != nil {
			return err
		}
	}
	return nil
}

// What a Run may have met, besides ErrFuel: see Result.Limit.
var (
	ErrMemory    = errors.New("limit of memory reached")
	ErrProcesses = errors.New("limit of processes reached")
	ErrDepth     = errors.New("limit of depth reached")
	ErrSource    = errors.New("limit of a script's length reached")
)

// meet notes that the run has met a limit; the first one counts.
func (m *machine) meet(limit error) { m.met.CompareAndSwap(nil, &limit) }

// graceBytes is the memory that a run may use when the memory is full at its start: enough to unset variables.
const graceBytes = 1 << 20

// take counts n more bytes, or fewer when n is negative. False: there are not as many,
// and nothing has been counted.
func (m *machine) take(n int) bool {
	if m.tryTake(n) {
		return true
	}
	m.meet(ErrMemory)
	return false
}

// tryTake is take for a caller that can do with less: the run has not met the limit.
func (m *machine) tryTake(n int) bool {
	if total := m.bytes.Add(int64(n)); n > 0 && total > m.most.Load() {
		m.bytes.Add(-int64(n))
		return false
	}
	return true
}

// rlimits returns the limits of the machine that ulimit shows.
func (m *machine) rlimits() rlimit.Machine {
	return rlimit.Machine{Files: m.limits.Files, Processes: m.limits.Processes}
}
