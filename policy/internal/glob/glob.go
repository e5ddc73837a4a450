// Package glob expands glob patterns on the host. Patterns may come from hostile files, so the number of matches
// and of visited entries is bounded.
package glob

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// IsPattern reports whether a written path holds glob metacharacters. A backslash
// alone is an ordinary character of a name.
func IsPattern(written string) bool { return strings.ContainsAny(written, "*?[{") }

// Bounds of one glob: it may come from a hostile project file. Each match
// may become a mount, and bubblewrap takes some 9,000 arguments.
const (
	maxMatches      = 2000
	maxVisits       = 1 << 20
	maxAlternatives = 256 // of all braces together; matching tries them one by one
)

// Glob is a pattern below a fixed directory.
type Glob struct {
	base    string   // what precedes the first component with a metacharacter
	pattern string   // the rest
	parts   []string // the rest by component; nil when braces span components
	deep    bool     // whether ** is in it
	depth   int      // components that a match has at most, unless deep
	visits  int
	matches []string
}

// Parse splits an absolute path with metacharacters. Only what starts at
// from, a byte offset, was written by the user: a home or working directory in
// front of it may hold metacharacters that are nothing but names.
func Parse(path string, from int) (Glob, error) {
	cut := from
	for i := from; i < len(path); i++ {
		if strings.IndexByte("*?[{", path[i]) >= 0 {
			break
		}
		if path[i] == '/' {
			cut = i + 1
		}
	}
	g := Glob{base: path[:cut], pattern: strings.TrimRight(path[cut:], "/")}
	if !doublestar.ValidatePattern(g.pattern) {
		return g, errors.New("invalid glob")
	}
	parts := hostpath.Split(g.pattern)
	if slices.Contains(parts, "..") {
		return g, errors.New("invalid glob: .. after a metacharacter")
	}
	if countAlternatives(g.pattern) > maxAlternatives {
		return g, errors.New("too many alternatives in braces")
	}
	g.pattern = strings.Join(parts, "/")
	g.deep = strings.Contains(g.pattern, "**")
	g.depth = strings.Count(g.pattern, "/") + 1
	if !hasSlashInBraces(g.pattern) {
		g.parts = strings.Split(g.pattern, "/")
	}
	return g, nil
}

func hasSlashInBraces(pattern string) bool {
	open := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			open++
		case '}':
			open--
		case '/':
			if open > 0 {
				return true
			}
		}
	}
	return false
}

// countAlternatives returns the number of patterns that braces stand for.
func countAlternatives(pattern string) int {
	n, commas := 1, []int{}
	for i := 0; i < len(pattern) && n <= maxAlternatives; i++ {
		switch last := len(commas) - 1; {
		case pattern[i] == '\\':
			i++
		case pattern[i] == '{':
			commas = append(commas, 1)
		case pattern[i] == ',' && last >= 0:
			commas[last]++
		case pattern[i] == '}' && last >= 0:
			n *= commas[last]
			commas = commas[:last]
		}
	}
	return n
}

// Expand returns the paths that exist and match, sorted. It does not use io/fs, which refuses names that are not UTF-8: a file
// with such a name would escape its rule.
func (g *Glob) Expand() ([]string, error) {
	base, err := hostpath.Locate(g.base)
	if err != nil || !base.Dir {
		return nil, nil //nolint:nilerr // nothing can match below it
	}
	err = g.walk(base.Path, "", 0)
	return g.matches, err
}

func (g *Glob) walk(dir, rel string, level int) error {
	entries, _ := os.ReadDir(dir) // what cannot be listed cannot be matched; the entries read so far count
	for _, e := range entries {
		name := e.Name()
		sub := name
		if rel != "" {
			sub = rel + "/" + name
		}
		full := hostpath.Join(dir, name)
		if g.match(sub) {
			g.matches = append(g.matches, full)
		}
		if g.visits++; g.visits > maxVisits || len(g.matches) > maxMatches {
			return errors.New("the glob matches or searches too much; name a directory instead")
		}
		if (g.deep || level+1 < g.depth) && g.enter(name, level) && hostpath.ReservedRoot(full) == "" && g.isDir(e, full) {
			if err := g.walk(full, sub, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Glob) match(rel string) bool {
	ok, _ := doublestar.Match(g.pattern, rel) // the pattern was validated
	return ok
}

// enter prunes directories that no match can lie below.
func (g *Glob) enter(name string, level int) bool {
	if g.parts == nil || level >= len(g.parts) {
		return true
	}
	for _, part := range g.parts[:level+1] {
		if strings.Contains(part, "**") {
			return true
		}
	}
	ok, _ := doublestar.Match(g.parts[level], name) // validated as part of the pattern
	return ok
}

// isDir follows links only where the pattern bounds the depth, as shells do: with
// ** a link to a parent would never end.
func (g *Glob) isDir(e os.DirEntry, full string) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	if g.deep {
		return false
	}
	info, err := os.Stat(full)
	return err == nil && info.IsDir()
}
