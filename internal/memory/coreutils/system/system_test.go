package system_test

import (
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func Test_Test_Decides_As_GNU_Does(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, e := range []string{
		"", "a", "''", "-n a", "-n ''", "-z a", "-z ''", "-n", "-z", "! a", "! ''", "!", "a = a", "a = b", "a == a", "a != b", "a != a", "1 -eq 1", "1 -eq 01", "1 -ne 2", "1 -lt 2", "2 -le 2", "3 -gt 2", "2 -ge 3", "-1 -lt 0", "x -eq 1", "1 -eq ''", "1 -eq 1x", "' 1 ' -eq 1", "99999999999999999999 -gt 1", "-l abc -eq 3", "3 -eq -l abc", "-l", "-l a",
		"-e f", "-e nosuch", "-f f", "-f d", "-d d", "-d f", "-s f", "-s empty", "-r f", "-w f", "-x f", "-x x", "-h l", "-L l", "-L f", "-e l", "-e broken", "-h broken", "-p p", "-S f", "-b f", "-c /dev/null", "-u su", "-g sg", "-k st", "-O f", "-G f", "-N empty", "-t 0", "-t x", "-t", "f -nt old", "old -nt f", "f -ot old", "old -ot f", "f -nt nosuch", "nosuch -ot f", "f -ef h", "f -ef l", "f -ef old", "f -ef nosuch",
		"a -a b", "a -a ''", "'' -o b", "'' -o ''", "a -o b -a ''", "! a -o b", "'(' a ')'", "'(' '' ')'", "'(' a = a ')'", "'(' a = b ')' -o c", "! '(' a ')'", "'(' ! a ')'", "'(' a", "a ')'", "'('", "')'", "'(' ')'", "'(' a b ')'", "a b", "a b c", "a b c d", "a b c d e", "-n a -a -n b", "-f f -a -d d", "-f f -o -d nosuch", "a = a -a b = b", "a = a -a b = c", "! a = b", "! ! a", "! ! ! a", "! -f nosuch", "-x", "-q f", "-q", "--", "-a", "-o", "a -a", "a -o", "-a b", "= = =", "! = !", "-n = -n", "'(' = '('", "'(' = a ')'", "a '<' b", "'(' '(' a ')' ')'", "a -eq", "-eq 1", "1 -eq 1 -a", "-n a b", "a -a b c", "'(' -f f ')' -a '(' -d d ')'", "-d d -a ! -f d", "--help", "-e ''", "-n '' -o -n a",
	} {
		lines = append(lines, "test "+e, "[ "+e+" ]")
	}
	lines = append(lines, "[", "[ a", "[ ] a", "[ -f f", "[ ']' ]")
	var rows []programtest.Row
	for _, r := range programtest.RowsOf("", lines...) {
		if r.Line != "test --help" && r.Line != "[ --help ]" {
			rows = append(rows, r)
		}
	}
	programtest.RunReadOnly(t, "echo x > f; ln f h; ln -s f l; ln -s nowhere broken; mkdir d; : > empty; mkfifo p; touch x; chmod +x x; touch su sg; chmod u+s su; chmod g+s sg; mkdir st; chmod +t st; touch -d 2001-01-01 old", rows)
}

func Test_Identities_Are_Printed_As_By_GNU(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, programtest.RowsOf("",
		"id", "id root", "id daemon", "id nosuch", "id root nosuch daemon", "id -u", "id -g", "id -G", "id -un", "id -gn", "id -Gn", "id -u daemon", "id -G daemon", "id -nG daemon", "id -ru", "id -u -g", "id -n", "id -r", "id -z", "id -uz", "id -Gz root daemon", "id -Z root", "id -a", "id 1", "id +1", "id 99999", "id --user --name", "id --bogus", "id -u root daemon", "id -G root daemon",
		"groups", "groups root", "groups daemon nosuch", "groups --bogus", "whoami", "whoami x", "whoami --bogus", "logname", "logname x",
		"uname", "uname -s", "uname -o", "uname -so", "uname x", "uname --bogus", "uname -m", "arch", "arch x", "nproc x", "nproc --ignore=x", "nproc --ignore=-1", "nproc --bogus", "tty", "tty -s", "tty --quiet", "tty x", "tty --bogus",
	))
	programtest.RunRows(t, []programtest.Row{
		{Line: "nproc", Env: []string{"OMP_NUM_THREADS=7"}}, {Line: "nproc --ignore=3", Env: []string{"OMP_NUM_THREADS=7"}}, {Line: "nproc --ignore=9", Env: []string{"OMP_NUM_THREADS=7"}}, {Line: "nproc", Env: []string{"OMP_NUM_THREADS=7", "OMP_THREAD_LIMIT=4"}},
	})
}

func Test_Commands_Are_Run_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, programtest.RowsOf("touch f noexec; mkdir d",
		"sleep 0", "sleep 0.01", "sleep .01s 0.001m", "sleep", "sleep x", "sleep 0.01x", "sleep 1 x y", "sleep -1", "sleep ''", "sleep 1e-3", "sleep --bogus", "sleep 0 0 0",
		"timeout 5 true", "timeout 5 false", "timeout 5 ls nosuch", "timeout 0.05 sleep 5", "timeout 0 true", "timeout -s KILL 0.05 sleep 5", "timeout -s 9 0.05 sleep 5", "timeout --preserve-status 0.05 sleep 5", "timeout -s INT 0.05 sleep 5", "timeout -v 0.05 sleep 5", "timeout -k 1 0.05 sleep 5", "timeout", "timeout 1", "timeout x true", "timeout -s FOO 1 true", "timeout 1 nosuch", "timeout 1 ./noexec", "timeout 1 ./d", "timeout -k x 1 true", "timeout --bogus 1 true", "timeout 1m ls", "timeout --foreground 1 ls", "timeout -1 true", "timeout 5 env false", "timeout 1 sleep 0.01",
		"nice true", "nice -n 5 ls", "nice -n x true", "nice -n 5", "nice -5 ls", "nice --adjustment=3 false", "nice nosuch", "nice ./noexec", "nice --bogus", "nice",
		"nohup ls", "nohup false", "nohup nosuch", "nohup", "nohup --bogus", "nohup ./noexec", "nohup ls nosuch", "setsid -w false", "setsid -w ls", "setsid", "setsid --bogus", "setsid nosuch",
		"sync", "sync f", "sync d", "sync nosuch", "sync -d", "sync -d f", "sync -f f", "sync -df f", "sync --bogus", "clear",
		"kill -l", "kill -l 9", "kill -l TERM", "kill -l SIGINT", "kill -0 99999999", "which ls", "which ls nosuch", "which nosuch", "which -a nosuch", "which", "which ./noexec",
	))
}

// Test_Asking_About_Standard_Input_Reads_Nothing_Of_It holds what wc relies on, which asks for the size first.
func Test_Asking_About_Standard_Input_Reads_Nothing_Of_It(t *testing.T) {
	t.Parallel()
	for range 500 {
		p := shell.NewProc(t.Context(), shell.ProcOptions{Args: []string{"wc"}, Stdin: iotest.OneByteReader(strings.NewReader("text"))})
		if info, err := p.Stat("/dev/stdin"); err != nil || info.Mode&fs.ModeNamedPipe == 0 {
			t.Fatalf("%v, %v; want a pipe", info.Mode, err)
		}
		runtime.Gosched()
		if b, err := io.ReadAll(p.Stdin); string(b) != "text" || err != nil {
			t.Fatalf("read %q, %v after looking", b, err)
		}
	}
}
