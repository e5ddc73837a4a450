// Command testsum reads the output of `go test -json` from standard input, or concurrently from the files and pipes in its
// arguments. It prints a line for each package when that ends, and the output of each failure once, at the innermost test.
// At the end it prints the skipped tests with their reasons, the slowest tests, the first line of each failure again, and
// totals. It exits 1 if a test failed or no package was tested.
//
// With -skips FILE a test that is skipped counts as failed unless the file names it: a line has the end of a package's
// path, a regular expression for the whole name of the test, and the reason. Lines that begin with # are comments.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// event is one line of test2json (go doc test2json), or of a failed build.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	skips := flag.String("skips", "", "the `file` of the tests that may be skipped")
	note := flag.String("note", "", "a `line` about this run for the summary")
	flag.Parse()
	s := newSummary(os.Stdout)
	if *skips != "" {
		text, err := os.ReadFile(*skips)
		if err == nil {
			s.allowed, err = parseSkips(string(text))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(1)
		}
	}
	inputs := []io.Reader{os.Stdin}
	if flag.NArg() > 0 {
		inputs = nil
		for _, name := range flag.Args() {
			f, err := os.Open(name)
			if err != nil {
				fmt.Fprintln(os.Stderr, "testsum:", err)
				os.Exit(1)
			}
			defer f.Close()
			inputs = append(inputs, f)
		}
	}
	if err := s.readAll(inputs); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	if *note != "" {
		s.notes = append(s.notes, *note)
	}
	if !s.end() {
		os.Exit(1)
	}
}

// skip is a line of the file of skips.
type skip struct {
	pkg  string
	test *regexp.Regexp
}

func parseSkips(text string) ([]skip, error) {
	out := []skip{}
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("skips, line %d: %q; expected a package, a test and a reason", n+1, line)
		}
		test, err := regexp.Compile("^(" + f[1] + ")$")
		if err != nil {
			return nil, fmt.Errorf("skips, line %d: %w", n+1, err)
		}
		out = append(out, skip{f[0], test})
	}
	return out, nil
}

// timed is a finished test or package.
type timed struct {
	name    string
	seconds float64
}

// summary collects one run. Its methods except readAll are for one goroutine at a time.
type summary struct {
	mu      sync.Mutex
	out     io.Writer
	allowed []skip // nil: any test may be skipped

	output                  map[string][]string // by package and test, until the test ends
	badBelow                map[string]bool     // by package and test: a subtest has failed
	packages, skipped       []string
	failures, notes         []string
	tests, slowPackages     []timed
	passed, failed, badPkgs int
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string][]string{}, badBelow: map[string]bool{}}
}

// readAll reads all inputs concurrently, to their ends.
func (s *summary) readAll(inputs []io.Reader) error {
	errs := make(chan error)
	for _, in := range inputs {
		go func() { errs <- s.read(in) }()
	}
	var first error
	for range inputs {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

func (s *summary) read(input io.Reader) error {
	in := bufio.NewReader(input)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			s.mu.Lock()
			s.line(line)
			s.mu.Unlock()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		s.out.Write(line) // output of the go command itself
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if e.ImportPath != "" {
			fmt.Fprint(s.out, e.Output)
			return
		}
		s.output[key] = append(s.output[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, key)
		}
		delete(s.output, key)
		delete(s.badBelow, key)
	}
}

// leaf reports whether the failed test of e has no failed subtest, and marks its parents.
func (s *summary) leaf(e event, key string) bool {
	for parent := e.Test; ; {
		i := strings.LastIndexByte(parent, '/')
		if i < 0 {
			break
		}
		parent = parent[:i]
		s.badBelow[e.Package+" "+parent] = true
	}
	s.badBelow[e.Package+" "] = true
	return !s.badBelow[key]
}

// ownLines returns the output of a test without the lines that the testing package adds.
func ownLines(lines []string) (own []string) {
	for _, l := range lines {
		t := strings.TrimSpace(l)
		if !strings.HasPrefix(t, "=== ") && !strings.HasPrefix(t, "--- ") && t != "" {
			own = append(own, l)
		}
	}
	return own
}

func (s *summary) endTest(e event, key string) {
	if !strings.Contains(e.Test, "/") {
		s.tests = append(s.tests, timed{trimModule(e.Package) + " " + e.Test, e.Elapsed})
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		own := ownLines(s.output[key])
		if !s.leaf(e, key) {
			if len(own) > 0 { // the failure is that of a subtest; output of the test itself may explain it
				fmt.Fprintf(s.out, "    (%s %s)\n%s", trimModule(e.Package), e.Test, strings.Join(own, ""))
			}
			return
		}
		s.fail(e, own)
	case "skip":
		s.endSkipped(e, key)
	}
}

func (s *summary) fail(e event, own []string) {
	s.failed++
	first := ""
	if len(own) > 0 {
		first = ": " + strings.TrimSpace(own[0])
	}
	s.failures = append(s.failures, fmt.Sprintf("--- FAIL: %s %s%.300s", trimModule(e.Package), e.Test, first))
	fmt.Fprintf(s.out, "--- FAIL: %s %s (%.2fs)\n%s", trimModule(e.Package), e.Test, e.Elapsed, strings.Join(own, ""))
}

func (s *summary) endSkipped(e event, key string) {
	reason := ""
	if own := ownLines(s.output[key]); len(own) > 0 {
		reason = strings.TrimSpace(own[len(own)-1])
	}
	if s.allowed != nil && !slices.ContainsFunc(s.allowed, func(a skip) bool {
		return strings.HasSuffix("/"+e.Package, "/"+a.pkg) && a.test.MatchString(e.Test)
	}) {
		s.leaf(e, key)
		s.fail(e, []string{"    it was skipped, and the list of skips does not name it: " + reason + "\n"})
		return
	}
	s.skipped = append(s.skipped, fmt.Sprintf("--- SKIP: %s %s: %s", trimModule(e.Package), e.Test, reason))
}

func (s *summary) endPackage(e event) {
	line := fmt.Sprintf("ok  \t%s\t%.3fs", e.Package, e.Elapsed)
	switch e.Action {
	case "skip":
		line = fmt.Sprintf("?   \t%s\t[no test files]", e.Package)
	case "fail":
		line = fmt.Sprintf("FAIL\t%s\t%.3fs", e.Package, e.Elapsed)
		s.badPkgs++
		s.endBadPackage(e)
	}
	fmt.Fprintln(s.out, line)
	s.packages = append(s.packages, line)
	s.slowPackages = append(s.slowPackages, timed{e.Package, e.Elapsed})
}

// endBadPackage prints failures that belong to no test, such as a panic, a time-out or an exit, and the output of
// unfinished tests.
func (s *summary) endBadPackage(e event) {
	var own []string
	for _, l := range s.output[e.Package+" "] {
		if !strings.HasPrefix(l, "FAIL") && strings.TrimSpace(l) != "PASS" {
			own = append(own, l)
		}
	}
	for key, lines := range s.output {
		if pkg, test, _ := strings.Cut(key, " "); pkg == e.Package && test != "" {
			if said := ownLines(lines); len(said) > 0 {
				own = append(own, fmt.Sprintf("--- had not ended: %s\n%s", test, strings.Join(said, "")))
			}
			delete(s.output, key)
		}
	}
	if !s.badBelow[e.Package+" "] {
		s.failures = append(s.failures, "--- FAIL: "+trimModule(e.Package)+", outside of its tests")
		s.failed++
	}
	fmt.Fprint(s.out, strings.Join(own, ""))
}

// trimModule returns a package's path without the module's.
func trimModule(pkg string) string {
	return strings.TrimPrefix(pkg, "github.com/seed434b0696/agent-sandbox/")
}

// slowest is the number of slowest tests and packages in the summary.
const slowest = 10

func (s *summary) printSlowest(what string, all []timed) {
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintf(s.out, "slowest %s:\n", what)
	for _, t := range all[:min(slowest, len(all))] {
		fmt.Fprintf(s.out, "  %7.1fs  %s\n", t.seconds, t.name)
	}
}

// end prints the closing summary and reports whether the run succeeded.
func (s *summary) end() bool {
	fmt.Fprintln(s.out, "\n==> summary")
	for _, l := range slices.Concat(s.packages, s.skipped) {
		fmt.Fprintln(s.out, l)
	}
	s.printSlowest("packages", s.slowPackages)
	s.printSlowest("tests", s.tests)
	for _, l := range slices.Concat(s.notes, s.failures) {
		fmt.Fprintln(s.out, l)
	}
	ok := s.failed == 0 && s.badPkgs == 0 && len(s.packages) > 0
	verdict := "PASS"
	if !ok {
		verdict = "FAIL"
	}
	fmt.Fprintf(s.out, "%s: %d packages, %d failed\n%d passed, %d failed, %d skipped\n",
		verdict, len(s.packages), s.badPkgs, s.passed, s.failed, len(s.skipped))
	return ok
}
