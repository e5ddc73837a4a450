// Command testsum reads `go test -json` on standard input. It prints the line of
// each package as it ends, the whole output of what failed, the reason of what was
// skipped, and at the end the packages again with totals. It exits 1 when anything
// failed, or when no package was tested at all.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of test2json (go doc test2json), or of a failed build.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

type summary struct {
	out                     io.Writer
	output                  map[string][]string // by package and test, until it ends
	packages, skipped       []string
	passed, failed, badPkgs int
}

func main() {
	s := &summary{out: os.Stdout, output: map[string][]string{}}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(1)
		}
	}
	if !s.end() {
		os.Exit(1)
	}
}

func (s *summary) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		s.out.Write(line) // what the go command itself says
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
	}
}

func (s *summary) endTest(e event, key string) {
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		fmt.Fprint(s.out, strings.Join(s.output[key], ""))
	case "skip":
		reason := ""
		for _, l := range s.output[key] {
			if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "===") && !strings.HasPrefix(l, "--- SKIP") {
				reason = l
			}
		}
		s.skipped = append(s.skipped, fmt.Sprintf("--- SKIP: %s %s: %s", e.Package, e.Test, reason))
	}
}

func (s *summary) endPackage(e event) {
	line := fmt.Sprintf("ok  \t%s\t%.3fs", e.Package, e.Elapsed)
	switch e.Action {
	case "skip":
		line = fmt.Sprintf("?   \t%s\t[no test files]", e.Package)
	case "fail":
		line = fmt.Sprintf("FAIL\t%s\t%.3fs", e.Package, e.Elapsed)
		s.badPkgs++
		// What no test owns: a panic, a time-out, an exit; without the line that is ours.
		for _, l := range s.output[e.Package+" "] {
			if !strings.HasPrefix(l, "FAIL") {
				fmt.Fprint(s.out, l)
			}
		}
	}
	fmt.Fprintln(s.out, line)
	s.packages = append(s.packages, line)
}

// end prints the closing summary and reports whether all is well.
func (s *summary) end() bool {
	fmt.Fprintln(s.out, "\n==> summary")
	for _, l := range append(s.packages, s.skipped...) {
		fmt.Fprintln(s.out, l)
	}
	ok := s.failed == 0 && s.badPkgs == 0 && len(s.packages) > 0
	verdict := "PASS"
	if !ok {
		verdict = "FAIL"
	}
	fmt.Fprintf(s.out, "%s\ntests: %d passed, %d failed, %d skipped; packages: %d, %d failed\n",
		verdict, s.passed, s.failed, len(s.skipped), len(s.packages), s.badPkgs)
	return ok
}
