package shell

import (
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// library is what compiling leaves behind. Machines forked from each other share it.
type library struct {
	symbols  *symbols
	builtins map[string]*builtin
	dynamics []dynamicCell

	mu       sync.Mutex
	units    map[unitKey]*script
	unitSize int
	ariths   map[string]arithEntry
	patterns map[patternKey]*pattern.Pattern
	words    map[string]*word
	regexps  map[regexKey]*regex.Regexp
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

// maxCached bounds each cache, in entries; maxUnits the scripts that are kept, in
// bytes of what they have been compiled to.
const (
	maxCached = 4096
	maxUnits  = 16 << 20
)

func newLibrary() *library {
	l := &library{
		symbols: newSymbols(), units: map[unitKey]*script{}, ariths: map[string]arithEntry{},
		patterns: map[patternKey]*pattern.Pattern{}, words: map[string]*word{}, regexps: map[regexKey]*regex.Regexp{},
	}
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
	e, ok := l.ariths[text]
	l.mu.Unlock()
	if ok {
		return e.x, e.err
	}
	e.x, e.err = compileArith(l, text)
	if len(text) < 256 {
		l.mu.Lock()
		if len(l.ariths) >= maxCached {
			clear(l.ariths)
		}
		l.ariths[text] = e
		l.mu.Unlock()
	}
	return e.x, e.err
}

// pattern returns the compiled pattern of a text that was made at run time.
func (l *library) pattern(text string, f pattern.Flags) *pattern.Pattern {
	k := patternKey{text, f}
	l.mu.Lock()
	p := l.patterns[k]
	l.mu.Unlock()
	if p != nil {
		return p
	}
	p = pattern.Compile(text, f)
	if len(text) < 256 {
		l.mu.Lock()
		if len(l.patterns) >= maxCached {
			clear(l.patterns)
		}
		l.patterns[k] = p
		l.mu.Unlock()
	}
	return p
}

// text returns the compiled word of a text that is expanded as in double quotes, with quotes
// counting: a subscript, a prompt.
func (l *library) text(s string) *word {
	l.mu.Lock()
	w := l.words[s]
	l.mu.Unlock()
	if w != nil {
		return w
	}
	parsed, err := syntax.Text(s)
	if err != nil {
		w = &word{constant: true, lit: s}
	} else {
		w = (&compiler{lib: l}).word(parsed, wordText)
	}
	if len(s) < 256 {
		l.mu.Lock()
		if len(l.words) >= maxCached {
			clear(l.words)
		}
		l.words[s] = w
		l.mu.Unlock()
	}
	return w
}
