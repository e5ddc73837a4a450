package files_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Names_Are_Taken_Apart_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, programtest.RowsOf(
		"", "basename /a/b/c", "basename /a/b/c.txt .txt", "basename c.txt c.txt", "basename a/", "basename /", "basename //", "basename ''", "basename",
		"basename a b c", "basename -a a/b c/d", "basename -s .c a.c b/d.c", "basename --suffix=.h a.h", "basename -z a/b", "basename -az a b", "basename .txt .txt",
		"basename -- -a", "basename --bogus", "basename a///", "basename ./", "basename a/b/ b", "basename --help=3", "basename -s", "basename a -a",
		"dirname /a/b/c", "dirname a", "dirname a/", "dirname /", "dirname //", "dirname ''", "dirname", "dirname a/b c/d /e", "dirname -z a/b", "dirname a//b", "dirname //a//b//", "dirname ./a", "dirname --x", "dirname .", "dirname ..",
	))
}

const pathsTree = `mkdir -p d/e/f; touch file d/x; ln -s d l; ln -s nowhere broken; ln -s loop1 loop2; ln -s loop2 loop1; ln -s ../file d/up; ln -s d/e/f deep; ln -s /etc/passwd abs; ln -s l/e l2; ln -s broken/x b2; ln -s file/ fs`

func Test_Paths_Are_Resolved_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, programtest.RowsOf(
		pathsTree, "readlink l", "readlink file", "readlink nosuch", "readlink -v file", "readlink -v nosuch", "readlink", "readlink l deep", "readlink -n l", "readlink -n l deep", "readlink -z l deep",
		"readlink -f l", "readlink -f deep", "readlink -f broken", "readlink -f broken/x", "readlink -f nosuch", "readlink -f nosuch/x", "readlink -f loop1", "readlink -fv loop1", "readlink -e broken", "readlink -e l", "readlink -ev nosuch",
		"readlink -m nosuch/x/../y", "readlink -m loop1/x", "readlink -f l/..", "readlink -f d/up", "readlink -f abs", "readlink -f .", "readlink -f ''", "readlink -fv ''", "readlink -f file/", "readlink -fv file/x", "readlink -m file/x", "readlink -f nosuch/", "readlink -f b2", "readlink -fv b2", "readlink -f fs", "readlink -e l/e/f/", "readlink -s x", "readlink -q x", "readlink --bogus",
		"realpath l", "realpath .", "realpath nosuch", "realpath nosuch/x", "realpath -e nosuch", "realpath -m a/b/c", "realpath -s l", "realpath -s l/..", "realpath -L l2/..", "realpath -P l2/..", "realpath l2/..", "realpath -q nosuch/x", "realpath -z l file",
		"realpath --relative-to=d file", "realpath --relative-to=d/e d/x", "realpath --relative-to=. l/e", "realpath --relative-to=d d", "realpath --relative-base=d d/x file", "realpath --relative-base=. d/x /etc", "realpath --relative-to=d/e --relative-base=d d/x file", "realpath --relative-to=file d", "realpath -e --relative-to=file d", "realpath --relative-to=nosuch d", "realpath -e --relative-to=nosuch d",
		"realpath", "realpath loop1", "realpath -m loop1", "realpath file/", "realpath file/.", "realpath file/..", "realpath ''", "realpath --x", "realpath broken", "realpath -e broken", "realpath l deep file", "realpath -s nosuch/..", "realpath -ms x/../y/./z", "realpath /", "realpath //", "realpath /..",
		"pwd", "pwd -P", "pwd -L", "pwd x", "pwd --bogus",
	))
}

func Test_Directories_Are_Made_And_Removed_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf(
		"mkdir d d/e; touch file d/f; ln -s d l; mkdir -p x/y/z g; chmod g+s g; ln -s nowhere broken",
		"mkdir a", "mkdir d", "mkdir file", "mkdir a b c", "mkdir a/b", "mkdir -p a/b/c", "mkdir -p d/e", "mkdir -p file", "mkdir -p file/a", "mkdir -pv a/b d/q", "mkdir -v a", "mkdir -m 700 a", "mkdir -m u=rwx,go= a", "mkdir -m 1777 a", "mkdir -m g+s a", "mkdir -m +t a", "mkdir -m a=rx a", "mkdir -m 7777 a", "mkdir -m 02755 a", "mkdir -m bogus a", "mkdir -pm 700 a/b", "mkdir -pm 700 d", "mkdir", "mkdir ''", "mkdir -p ''", "mkdir a/", "mkdir -p a/b/", "mkdir -p ./a/../b", "mkdir -p l/new", "mkdir broken", "mkdir -p broken", "mkdir -p broken/x", "mkdir --bogus a", "mkdir --parents --verbose q/w", "mkdir -Z a", "mkdir --context=x a", "mkdir g/sub", "mkdir -m 755 g/sub", "mkdir -p a a b a/b", "mkdir -m", "mkdir 'a b'", "mkdir \"it's\" nosuch/\"it's\"", "mkdir .", "mkdir /", "mkdir -p .", "mkdir -p /", "mkdir -p ../w/a",
		"rmdir d/e", "rmdir d", "rmdir file", "rmdir nosuch", "rmdir -p x/y/z", "rmdir -pv x/y/z", "rmdir -p d/e", "rmdir -v d/e", "rmdir --ignore-fail-on-non-empty d", "rmdir --ignore-fail-on-non-empty -p d/e", "rmdir", "rmdir l", "rmdir l/", "rmdir .", "rmdir d/e/", "rmdir d/e/.", "rmdir ..", "rmdir --bogus", "rmdir x/y/z x/y x", "rmdir -p ./x/y/z", "rmdir ''", "rmdir -p x/y/z/", "rmdir file/", "rmdir /",
		"mkfifo a", "mkfifo a b", "mkfifo file", "mkfifo -m 600 a", "mkfifo -m u+x a", "mkfifo -m 1777 a", "mkfifo -m z a", "mkfifo", "mkfifo nosuch/a", "mkfifo --mode=o= a", "mkfifo -q",
		"link file new", "link d new", "link file d", "link nosuch new", "link file", "link", "link a b c", "link l new", "unlink file", "unlink d", "unlink nosuch", "unlink l", "unlink", "unlink a b", "unlink l/", "unlink file/", "link file d/f2", "link --bogus", "unlink -x",
		"truncate -s 3 file", "truncate -s 10 new", "truncate -s +5 file", "truncate -s -5 file", "truncate -s 1K new", "truncate -s 1KB new", "truncate -s '<3' file", "truncate -s '>3' file", "truncate -s /4 file", "truncate -s %4 file", "truncate -c -s 3 new", "truncate -r file new", "truncate -r file -s +2 new", "truncate -r file -s 2 new", "truncate", "truncate -s 3", "truncate file", "truncate -s x file", "truncate -s 3x file", "truncate -s 3 d", "truncate -s 3 nosuch/x", "truncate -o -s 1 new", "truncate -o new", "truncate -s /0 file", "truncate -s ++3 file", "truncate -s '<+3' file", "truncate -s '' file", "truncate -s K new", "truncate -r nosuch new", "truncate -s 99999999999999999999 file", "truncate --size=0 file", "truncate -s 3 l", "truncate -s 1 broken",
	)
	for i := range rows {
		rows[i].Setup += "; echo 'hello world' > file"
	}
	programtest.RunRows(t, rows)
}

const linksTree = `echo one > a; echo two > b; mkdir d d/sub; ln -s a la; ln -s nowhere broken; ln -s d ld; ln a ha; echo three > d/a; ln -s ../a d/la; touch x.~1~ x; mkdir -p p/q/r`

func Test_Links_Are_Made_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf(
		linksTree, "ln a c", "ln -s a c", "ln a b", "ln -f a b", "ln -s a b", "ln -sf a b", "ln -s nosuch c", "ln nosuch c", "ln d c", "ln -s d c", "ln a d", "ln -s a d", "ln -sf ../a d", "ln -s a b d", "ln a b d", "ln b d", "ln -f a b d", "ln a b nosuch", "ln a b x", "ln -t d b", "ln -t nosuch b", "ln -t x b", "ln -s -t d ../b ../x",
		"ln -sfn d ld", "ln -sn b ld", "ln -sf b ld", "ln -snf b ld", "ln -sT b ld", "ln -sfT b ld", "ln -T a d", "ln -fT a d", "ln -sfT a d", "ln -T a", "ln -T a b c", "ln", "ln a", "ln d/sub", "ln b/", "ln -s d/sub", "ln -v a c", "ln -sv a c", "ln -sfv a b", "ln -fv a b",
		"ln la c", "ln -L la c", "ln -P la c", "ln broken c", "ln -L broken c", "ln -r a c", "ln -sr a d/c", "ln -sr d/a p/q/r/c", "ln -sr p/q/r/../../x c", "ln -sr nosuch/x p/y", "ln -srv a p/q/z", "ln -srf d/sub ld", "ln -srn d/sub ld",
		"ln -b a b", "ln -sb a b", "ln -s --backup=numbered a b", "ln -s --backup=numbered a x", "ln -s --backup=simple a x", "ln -sb -S .bak a b", "ln -sbv a b", "ln -s --backup=none a b", "ln -s --backup=foo a b", "ln -s --backup=existing a x", "ln -S .o -s a b",
		"ln -f a a", "ln -sf a a", "ln a a", "ln -f a ha", "ln -fv a ha", "ln -b a ha", "ln -s a a", "ln -sf ./a a", "ln -f a ./a", "ln -d d c", "ln -F d c", "ln --bogus", "ln -s '' c", "ln '' c", "ln -s a ''", "ln -s a nosuch/x", "ln a nosuch/x", "ln -s a a d", "ln -f a d/a", "ln -sf a d/la d", "ln -s -t d a -T b", "ln -t d -t p a", "ln -s . here", "ln -s a d/", "ln -s a nosuch/", "ln -f nosuch b", "ln -sf nosuch b",
	)
	rows = append(rows,
		programtest.Row{Setup: linksTree, Line: "ln -i a b", Stdin: "y\n"}, programtest.Row{Setup: linksTree, Line: "ln -i a b", Stdin: "n\n"}, programtest.Row{Setup: linksTree, Line: "ln -si a b x d", Stdin: "y\ny\n"}, programtest.Row{Setup: linksTree, Line: "ln -if a b"}, programtest.Row{Setup: linksTree, Line: "ln -fi a b", Stdin: "yes\n"},
		programtest.Row{Setup: linksTree, Line: "ln -sb a x", Env: []string{"VERSION_CONTROL=numbered"}}, programtest.Row{Setup: linksTree, Line: "ln -sb a b", Env: []string{"SIMPLE_BACKUP_SUFFIX=.o"}}, programtest.Row{Setup: linksTree, Line: "ln -sb a b", Env: []string{"VERSION_CONTROL=foo"}},
	)
	programtest.RunRows(t, rows)
}

func Test_Mktemp_Makes_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := []programtest.Row{}
	for _, line := range []string{
		"mktemp x", "mktemp xXX", "mktemp a.XX.b", "mktemp nosuch/XXXXXX", "mktemp -d nosuch/XXXXXX", "mktemp -q nosuch/XXXXXX", "mktemp a b", "mktemp --suffix=.txt aXXX.b", "mktemp --suffix=a/b aXXX", "mktemp aXXX/b", "mktemp -t a/bXXX", "mktemp -p . /aXXX", "mktemp --tmpdir=nosuch aXXX", "mktemp --bogus", "mktemp -p nosuch", "mktemp -q x", "mktemp ''", "mktemp -u nosuch/XXXX -d --bogus",
	} {
		rows = append(rows, programtest.Row{Line: line})
	}
	programtest.RunRows(t, rows)
}
