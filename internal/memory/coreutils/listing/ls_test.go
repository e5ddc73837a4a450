package listing_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const lsTree = `mkdir d d/sub 'd/with space' .hidden; echo hello > a; echo hi > .dot; ln -s a link; ln -s nowhere broken; ln -s d dirlink
touch -d '2020-01-02 03:04:05.678' a d/one; printf 'x%.0s' {1..5000} > big; touch -d '2019-05-06 07:08:09' big; chmod 755 big
mkfifo pipe; ln a hard; touch 'b c' "it's" 'q"q' f10 f9 f1.tar.gz f.txt z.c y.c 'new
line' d/two d/.x back~; chmod u+s f9; chmod g+s f10; mkdir -m 1777 sticky; mkdir -m 777 open; touch -d 2021-01-01 d/sub d .hidden 'd/with space' sticky open 'b c' "it's" 'q"q' f10 f9 f1.tar.gz f.txt z.c y.c new* d/two pipe
touch -h -d 2018-01-01 link broken dirlink; touch -d 2022-02-02 .dot back~ d/.x d/one; touch -d '2020-01-02 03:04:05.678' . ..; chmod 700 ..; chown 1:1 z.c; chown 12345:54321 y.c`

func Test_Ls_Lists_As_GNU_Does(t *testing.T) {
	t.Parallel()
	lines := []string{
		"ls", "ls -a", "ls -A", "ls -l", "ls -la", "ls -lA", "ls -lh", "ls -lhs", "ls -ls", "ls -lS", "ls -lSr", "ls -lt", "ls -ltr",
		"ls -1t", "ls -r", "ls -R", "ls -lR", "ls -aR", "ls -F", "ls -lF", "ls -p", "ls --file-type", "ls -Q", "ls -b", "ls -N", "ls -q",
		"ls -m", "ls -x", "ls -C", "ls -C -w 40", "ls -C -w 20", "ls -x -w 40", "ls -m -w 30", "ls -w 0 -C", "ls -w0 -m", "ls -C -T 0", "ls -C -T 4",
		"ls -d", "ls -d .", "ls -ld d", "ls -d d a", "ls -ld d/", "ls -ld dirlink", "ls -ld dirlink/", "ls dirlink", "ls -l dirlink", "ls -l dirlink/",
		"ls -L", "ls -lL", "ls -lH dirlink link", "ls -H dirlink", "ls --dereference-command-line-symlink-to-dir -l dirlink link",
		"ls -n", "ls -ln", "ls -lg", "ls -lo", "ls -lG", "ls -go", "ls --author -l", "ls -k -s", "ls -s", "ls -s -1", "ls -sh", "ls -C -s", "ls -m -s",
		"ls --block-size=K -l", "ls --block-size=1K -l", "ls --block-size=KB -l", "ls --si -l", "ls --block-size=M -s", "ls --block-size=human-readable -l",
		"ls --block-size=3x", "ls --block-size=0", "ls --block-size=1000000000000000000000",
		"ls -X", "ls -lX", "ls -v", "ls -rv", "ls -S", "ls --sort=extension", "ls --sort=width", "ls --sort=time", "ls --sort=version", "ls --sort=size",
		"ls --sort=foo", "ls --sort=", "ls --sort", "ls --color=foo", "ls --group-directories-first", "ls --group-directories-first -r", "ls -l --group-directories-first",
		"ls --full-time", "ls -l --time-style=long-iso", "ls -l --time-style=full-iso", "ls -l --time-style=iso", "ls -l --time-style=locale",
		"ls -l --time-style=+%Y", "ls -l --time-style=+%s", "ls -l '--time-style=+%Y-%m-%d %H:%M'", "ls -l --time-style=bogus", "ls --time-style=posix-long-iso -l",
		"ls --color=always", "ls -l --color=always", "ls --color=auto", "ls --color=never", "ls -C --color=always", "ls -F --color", "ls --color -a d", "ls -R --color",
		"ls --quoting-style=shell", "ls --quoting-style=shell-always", "ls --quoting-style=shell-escape", "ls --quoting-style=shell-escape-always",
		"ls --quoting-style=c", "ls --quoting-style=escape", "ls --quoting-style=locale", "ls --quoting-style=literal", "ls --quoting-style=c-maybe", "ls --quoting-style=bogus",
		"ls -I *.c", "ls --ignore=f*", "ls --hide=f*", "ls -a --hide=f*", "ls -B", "ls -aB", "ls -A -I .*", "ls -I '[a-d]*'",
		"ls --zero", "ls -l --zero", "ls --indicator-style=slash", "ls --indicator-style=classify", "ls --indicator-style=none -F", "ls --indicator-style=x",
		"ls --format=long", "ls --format=commas", "ls --format=across", "ls --format=single-column", "ls --format=vertical", "ls --format=verbose", "ls --format=v",
		"ls nosuch", "ls nosuch a", "ls nosuch d", "ls a d", "ls d a", "ls d .hidden", "ls -l a d", "ls -R d", "ls -R d .hidden", "ls d/", "ls ./d", "ls -d d/*", "ls ''", "ls a/", "ls a/b",
		"ls -y", "ls --bogus", "ls --si=3", "ls -w x", "ls -w -1", "ls -T x", "ls -T", "ls --width", "ls --he=3", "ls --t", "ls -1 -C", "ls -C -1", "ls -l1", "ls -1l", "ls -lC", "ls -Cl", "ls -xl1",
		"ls -D", "ls -lD", "ls -lDR d", "ls -lD a d", "ls -lDQ", "ls -Z", "ls -lZ", "ls --time=foo",
		"ls -d --color=always broken link dirlink", "ls -l broken", "ls -lL broken", "ls -L broken", "ls -ld .", "ls -lrt d", "ls -ltr --full-time d", "ls -gGh", "ls -ogi --help=1",
		"ls -f -1 d/sub", "ls -U d/sub", "ls -F link dirlink broken", "ls -lF link dirlink broken big", "ls -l --file-type link dirlink broken big pipe", "ls -p dirlink/", "ls -- -x", "ls -l -- a",
		"dir", "dir -l", "vdir", "vdir d", "dir -1", "dir nosuch", "vdir --bogus", "ls -CF", "ls -aF --color=always", "ls -l pipe", "ls -l big a", "ls -sk big", "ls -lk big", "ls -lh big", "ls -l --block-size=1 big", "ls -l --si big",
		"ls -s --block-size=512 big", "ls --dired -1 d", "ls -q -1 -Q", "ls --show-control-chars", "ls --hide-control-chars", "ls -rS", "ls -rX", "ls -rt", "ls -Sr d", "ls -tr d",
	}
	rows := programtest.RowsOf("", lines...)
	rows = append(rows,
		programtest.Row{Line: "ls", Env: []string{"QUOTING_STYLE=shell"}},
		programtest.Row{Line: "ls -C", Env: []string{"COLUMNS=30"}},
		programtest.Row{Line: "ls -l", Env: []string{"TIME_STYLE=long-iso"}},
		programtest.Row{Line: "ls -l", Env: []string{"TIME_STYLE=+%F"}},
		programtest.Row{Line: "ls -s", Env: []string{"BLOCKSIZE=512"}},
		programtest.Row{Line: "ls -ls", Env: []string{"BLOCK_SIZE=1"}},
		programtest.Row{Line: "ls -s", Env: []string{"POSIXLY_CORRECT=1"}},
		programtest.Row{Line: "ls a -l", Env: []string{"POSIXLY_CORRECT=1"}},
		programtest.Row{Line: "ls -l a", Env: []string{"TZ=America/New_York"}},
		programtest.Row{Line: "ls --full-time a", Env: []string{"TZ=Asia/Kolkata"}},
		programtest.Row{Line: "ls --color=always", Env: []string{"LS_COLORS=di=1:*.c=33:ex=:ln=target:or=31:mi=32"}},
		programtest.Row{Line: "ls -l --color=always", Env: []string{"LS_COLORS=di=1:*.c=33:ex=:ln=target:or=31:mi=32"}},
		programtest.Row{Line: "ls --color -l", Env: []string{"TERM=dumb"}}, programtest.Row{Line: "ls --color -l", Env: []string{"TERM=", "COLORTERM=yes"}},
	)
	programtest.RunReadOnly(t, lsTree, rows)
	programtest.RunRows(t, []programtest.Row{
		{Setup: "mkdir e", Line: "ls e"},
		{Setup: "mkdir e", Line: "ls -l e"},
		{Setup: "mkdir e", Line: "ls -la e", Loose: programtest.SloppyOutput},
		{Setup: "mkdir e f", Line: "ls e f"},
		{Setup: "mkdir e e/f", Line: "ls -R"},
		{Setup: "", Line: "ls -C"},
		{Setup: "", Line: "ls -m"},
		{Setup: "ln -s . loop; touch x", Line: "ls -RL", Loose: programtest.NoTimes},
		{Setup: "mkdir d; ln -s ../d d/loop", Line: "ls -RL d", Loose: programtest.NoTimes},
		{Setup: "for i in {1..200}; do touch file$i; done", Line: "ls -C"},
		{Setup: "for i in {1..200}; do touch f$((i*i*i)); done", Line: "ls -x"},
		{Setup: "touch a.b.c .x.y 'x~' a1 a01 a001 a1b a10 a2 a2.0 a2.0.1 a-1 a_1 a+1 .a1 .a10 .a2 1 01 2 10 'a~' a.tar.gz a.1.tar.gz a.10.tar.gz a.2.tar.gz A1 B2", Line: "ls -av"},
	})
}
