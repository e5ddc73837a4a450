package system_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

func Test_Machine_Is_Described_As_By_The_Real_Tools(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, line := range []string{
		"pathchk a", "pathchk -p a", "pathchk -p 'a b'", "pathchk -p a/b/c", "pathchk -P -- -x", "pathchk -P a/-x", "pathchk ''", "pathchk -p ''", "pathchk -P ''", "pathchk --portability '' a", "pathchk --portability -- -x", "pathchk", "pathchk --bogus", "pathchk -p abcdefghijklmno", "pathchk -p abcdefghijklmn", "pathchk f/x", "pathchk f", "pathchk nosuch/a/b", "pathchk " + strings.Repeat("a", 255), "pathchk " + strings.Repeat("a", 256), "pathchk " + strings.Repeat("a/", 2100), "pathchk -p " + strings.Repeat("a/", 150), "pathchk a '' b",
		"users", "users x y", "users --bogus", "who -H", "who -q", "who", "who a b c", "who --bogus", "hostid", "hostid x", "hostid --bogus",
		"getent passwd root", "getent passwd 0", "getent group root", "getent group 0 nosuch", "getent passwd nosuch", "getent passwd", "getent group daemon root", "getent foo", "getent foo bar", "getent",
		"stty", "stty size", "stty -a", "stty -F f size", "stty -echo",
		"tput bold", "tput setaf 1", "tput setab 3", "tput sgr0", "tput cup 3 4", "tput colors", "tput cols", "tput lines", "tput foo", "tput el", "tput ed", "tput rev", "tput smul", "tput rmul", "tput civis", "tput cnorm", "tput smcup", "tput rmcup", "tput clear", "tput -T foo bold", "tput -T dumb bold", "tput -T dumb colors", "tput -T xterm-256color setaf 200", "tput -T xterm-256color setaf 9", "tput -T xterm-256color setab 12", "tput -T xterm-256color colors", "tput dim", "tput blink", "tput home", "tput sc", "tput rc", "tput bel", "tput cr", "tput hpa 3", "tput vpa 3", "tput smso", "tput rmso", "tput sitm", "tput cuu1", "tput cuf1",
		"uuidgen -n @dns -N example.com -s", "uuidgen -n @dns -N example.com -m", "uuidgen -n @url -N x -s", "uuidgen -n @oid -N x --sha1", "uuidgen -n @x500 -N '' --md5", "uuidgen -n 6ba7b810-9dad-11d1-80b4-00c04fd430c8 -N example.com -s", "uuidgen -x -n @dns -N 6162 -s",
	} {
		rows = append(rows, programtest.Row{Line: line})
	}
	for _, line := range []string{"uuidgen", "uuidgen -r", "uuidgen -t", "uuidgen -n @dns", "uuidgen -N x", "uuidgen -n @dns -N x", "uuidgen -m", "uuidgen -n foo -N x -s", "uuidgen -x -n @dns -N zz -s", "uuidgen --bogus", "mcookie", "mcookie --bogus", "tput", "getent --bogus", "reset -Z", "stty --bogus"} {
		rows = append(rows, programtest.Row{Line: line, Loose: programtest.SloppyOutput})
	}
	rows = append(rows, programtest.Row{Line: "tput bold", Env: []string{"TERM="}}, programtest.Row{Line: "tput cols", Env: []string{"COLUMNS=33"}}, programtest.Row{Line: "tput -S", Stdin: "bold\nsetaf 1\n"})
	programtest.RunReadOnly(t, "touch f", rows)
}

func Test_Random_Names_Have_Their_Form(t *testing.T) {
	t.Parallel()
	for line, form := range map[string]string{
		"uuidgen":    `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n$`,
		"uuidgen -t": `^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n$`,
		"mcookie":    `^[0-9a-f]{32}\n$`,
	} {
		a, b := outputHere(t, line), outputHere(t, line)
		if !regexp.MustCompile(form).MatchString(a) || a == b {
			t.Errorf("%s: %q, then %q", line, a, b)
		}
	}
}

// outputHere runs a line on an empty tree, and returns both outputs and the status.
func outputHere(t *testing.T, line string) string {
	t.Helper()
	var out strings.Builder
	p := shell.NewProc(t.Context(), shell.ProcOptions{Args: []string{"x"}, Env: programtest.RealEnv(nil), Commands: coreutils.Commands(), Stdout: &out, Stderr: &out})
	if status := p.Run(shell.Spawn{Args: programtest.SplitWords(t, line)}); status != 0 {
		fmt.Fprintf(&out, "[%d]", status)
	}
	return out.String()
}

func Test_Time_Reports_As_GNU_Does(t *testing.T) {
	t.Parallel()
	// What depends on the machine, and on the moment: times, sizes and counts.
	varies := regexp.MustCompile(`(: )?\d+(:\d\d)*\.\d\d|\d+%|\d+avgdata|\d+avgtext|\d+maxresident|\d+inputs|\d+outputs|\d+major|\d+minor|: \d+`)
	for _, r := range programtest.RowsOf("touch f; mkdir d",
		"time true", "time false", "time -p true", "time -p false", "time -q false", "time -v true", "time -v false", "time -f %x true", "time -f '%C|%x|%%|%e' env a=b false", "time -f '%E %U %S %P' true", "time -f 'a\\tb\\nc\\qd' true", "time -f '%q%' true", "time -f '' true", "time -o out true", "time -o out -p ls", "time -a -o out ls nosuch", "time -o d true", "time nosuch", "time ./f", "time ./d", "time", "time -p", "time -f", "time --bogus", "time -Z true", "time echo a b", "time --portability echo x", "time --format=%C echo x y", "time -- echo -n x", "time -f '%W %F %k' true", "time sh -c 'exit 3'", "time sh -c 'kill -9 $$'",
	) {
		r.Loose = programtest.AnyTree
		t.Run(r.Line, func(t *testing.T) {
			t.Parallel()
			got, want := programtest.RunBoth(t, r)
			got.Stderr, want.Stderr = varies.ReplaceAllString(got.Stderr, "N"), varies.ReplaceAllString(want.Stderr, "N")
			programtest.Compare(t, r, got, want)
		})
	}
}

func Test_Watch_Runs_Again_And_Again(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ line, form string }{
		{"watch -t -n 0.1 -g 'cat n; echo x >> n'", `^cat: n: No such file or directory\n\nx\n$`},
		{"watch -e -n 0.1 false", `^Every 0\.1s: false +\S+: .* \d{4}\n\n\[8\]$`},
		{"watch -t -e -n 0.1 'echo a; false'", `^a\n\[8\]$`},
		{"watch -x -t -e -n 0.1 ls nosuch", `^ls: cannot access 'nosuch': No such file or directory\n\[8\]$`},
		{"watch -t -q 2 -n 0.1 echo a", `^a\n\na\n\na\n$`},
		{"watch -d -t -q 1 -n 0.1 echo a", `^a\n\n a\n$`},
		{"watch", `Try 'watch --help'`},
		{"watch -n x ls", `failed to parse argument: 'x'`},
		{"watch --bogus ls", `unrecognized option '--bogus'`},
		{"timeout 0.3 watch -t -n 0.1 echo a", `^(a\n\n?){2,4}\[124\]$`},
	} {
		t.Run(r.line, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			if got := outputHere(t, r.line); !regexp.MustCompile(r.form).MatchString(got) {
				t.Errorf("%q, want %s", got, r.form)
			}
			if took := time.Since(begin); took > deadline.Scale(10*time.Second) {
				t.Errorf("it took %s", took)
			}
		})
	}
}
