package gitrules

import (
	"slices"
	"strings"
	"testing"
)

// harmless are words to which no rule applies, in any order.
var harmless = []string{"status", "log", "diff", "show", "fetch", "add", "blame", "ls-files", "rev-parse", "describe"}

func FuzzGitArgv(f *testing.F) {
	for _, row := range ruleRows {
		f.Add(strings.Join(splitAlias(row.line), "\x00"))
	}
	resetTable, ok := optionTable("reset")
	if !ok {
		f.Fatal("there is no table of reset")
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		check := func(args ...string) *Refusal { return Call{Args: args, Dir: "/home/x"}.Check() }
		r := check(args...)
		if r != nil && (r.What == "" || r.Why == "" || r.Instead == "") {
			t.Errorf("%q: %+v says too little", args, *r)
		}
		// After "--" nothing is an option: what follows a harmless command never blocks it.
		for _, command := range harmless {
			if r := check(append([]string{command, "--"}, args...)...); r != nil {
				t.Errorf("%s -- %q: %+v", command, args, *r)
			}
		}
		for _, command := range []string{"commit", "rm", "switch", "branch", "tag", "reset", "merge"} {
			if r := check(append([]string{command, "--"}, args...)...); r != nil {
				t.Errorf("%s -- %q: %+v", command, args, *r)
			}
			// The value of an option is not an option.
			for _, a := range args {
				if r := check("commit", "-m", a); r != nil {
					t.Errorf("commit -m %q: %+v", a, *r)
				}
			}
		}
		// Without dashes, pluses and colons no argument requests force from commit, push or
		// branch.
		plain := !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") || strings.ContainsAny(a, "+:") })
		for _, command := range []string{"commit", "push", "branch", "switch", "reset", "rm", "tag", "merge"} {
			if r := check(append([]string{command}, args...)...); plain && r != nil {
				t.Errorf("%s %q: %+v", command, args, *r)
			}
		}
		// A refused command stays refused after harmless options of git itself.
		if again := check(append([]string{"--no-pager", "-c", "user.name=x", "-C", "sub"}, args...)...); (again == nil) != (r == nil) {
			t.Errorf("%q: %v, but behind other options %v", args, r, again)
		}
		// A dangerous option counts after any arguments, unless it is a value or follows
		// "--".
		if parsed := parseOptions(resetTable, append(slices.Clone(args), "--soft", "--hard")); !parsed.has("hard") &&
			!slices.Contains(args, "--") && !slices.Contains(args, "--end-of-options") {
			t.Errorf("reset %q --soft --hard: hard was not seen", args)
		}
	})
}

// For any environment, reading it ends and does not panic.
func FuzzGitParameters(f *testing.F) {
	f.Add(`'a.b=c' 'd.e'='f'`)
	f.Add(`'it'\''s'='`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, kv := range parameterSettings(text) {
			checkSetting(kv[0], kv[1])
		}
		for _, word := range splitAlias(text) {
			if len(word) > len(text) {
				t.Errorf("%q is longer than %q", word, text)
			}
		}
	})
}
