package find_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const findTree = `mkdir -p d/sub/deep e/x .hid 'sp ace' q; echo hello > a.txt; echo hi > d/b.txt; touch d/sub/c.c d/sub/deep/D.C e/.dot .hid/f 'sp ace/f g'; : > empty; head -c 1500 /dev/zero > big; head -c 300000 /dev/zero > d/huge
ln -s a.txt link; ln -s nowhere broken; ln -s d ld; ln a.txt hard; ln -s loop loop; mkfifo pipe; chmod 4755 a.txt; chmod 600 big; chmod 777 e; chmod 1755 q; chmod 2755 d/sub; chown 1:1 empty; chown 4242:4343 big
touch -d '2020-01-02 03:04:05.5' a.txt; touch -h -d 2019-01-01 link broken; touch -d '10 days ago' d/b.txt; touch -d '3 days ago' d/sub/c.c; touch -d '90 minutes ago' e/.dot; touch -d '30 minutes ago' empty; touch -d 2021-02-03 . d d/sub d/sub/deep e e/x .hid 'sp ace' q d/huge big pipe .hid/f 'sp ace/f g' d/sub/deep/D.C; ln -s ../a.txt e/up; touch -h -d 2019-01-01 e/up ld loop; touch -d 2021-02-03 e; cp /usr/bin/true prog; touch -d 2021-02-03 prog`

func findRows(lines ...string) []programtest.Row {
	rows := programtest.RowsOf("", lines...)
	for i := range rows {
		rows[i].Loose = programtest.AnyOrder
	}
	return rows
}

func Test_Find_Tests_Files_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, findTree, findRows(
		"find", "find .", "find d", "find d/", "find ./d e", "find nosuch", "find nosuch d nosuch2", "find ''", "find a.txt", "find d e/ link", "find -L d", "find -L .", "find -L ld", "find -H ld", "find -P ld", "find -P ld/", "find -L broken loop", "find -H broken loop link",
		"find . -name *.txt", "find . -name *.TXT", "find . -iname *.c", "find . -name .*", "find . -name *", "find . -name ?", "find . -name '[a-e]*'", "find . -name '[!a-e]*'", "find . -name '*.[ch]'", "find . -name d", "find d/ -name d", "find . -name .", "find d/ -name d/", "find . -name '\\*'", "find . -name ''", "find . -name 'a*t' -o -name 'b*'", "find . -name '[[:upper:]]*'", "find . -name '*[' ",
		"find . -path './d/*'", "find . -path *sub*", "find . -wholename ./d/sub", "find . -ipath *SUB*", "find . -iwholename './D/*'", "find d -path d/sub/*", "find . -path './d/sub' -prune -o -print", "find . -name sub -prune -o -type f -print", "find . -path './.hid' -prune -o -name '*.c' -print",
		"find . -type f", "find . -type d", "find . -type l", "find . -type p", "find . -type f,d", "find . -type l,p", "find . -xtype f", "find . -xtype l", "find . -xtype d", "find -L . -type l", "find -L . -xtype l", "find . -type s", "find . -type b,c", "find . -type D", "find . ! -type d", "find . -not -type f", "find . -type f -name '*.c'", "find . -type f -a -name '*.c'", "find . -type f -and -size +0",
		"find . -size 0", "find . -size +0", "find . -size 1", "find . -size -1", "find . -size +1", "find . -size 3", "find . -size +2c", "find . -size 6c", "find . -size -6c", "find . -size +1k", "find . -size 2k", "find . -size -2k", "find . -size 1M", "find . -size -1M", "find . -size +1M", "find . -size 3w", "find . -size 3b", "find . -size +100k -type f", "find . -type f -size 1G",
		"find . -empty", "find . -type f -empty", "find . -type d -empty", "find . -not -empty -type d", "find . -perm 644", "find . -perm 0644", "find . -perm -644", "find . -perm -100", "find . -perm /111 -type f", "find . -perm /u+x,g+x -type f", "find . -perm -u=rwx", "find . -perm u=rw,g=r,o=r", "find . -perm -4000", "find . -perm /7000", "find . -perm -g+s", "find . -perm -1000", "find . -perm -o+w ! -type l", "find . -perm 777", "find . -perm /222 -name big", "find . -perm -u+q", "find . -perm -000", "find . -perm 000", "find . -perm /000", "find . -perm +x", "find . -perm a+X", "find . -perm -a+X -type d",
		"find . -user root", "find . -user daemon", "find . -user 0", "find . -uid 1", "find . -uid +1", "find . -uid -1 -name a*", "find . -user 4242", "find . -group daemon", "find . -gid 4343", "find . -gid +1", "find . -nouser", "find . -nogroup", "find . -nouser -o -nogroup", "find . -links 2 -type f", "find . -links +2", "find . -links -2 -type f", "find . -samefile a.txt", "find . -samefile link", "find -L . -samefile a.txt", "find . -samefile nosuch", "find . -inum 0", "find . -lname a*", "find . -lname nowhere", "find . -ilname A.TXT", "find . -lname *", "find -L . -lname *",
		"find . -mtime +5", "find . -mtime -5 -type f", "find . -mtime 3", "find . -mtime 2", "find . -mtime 10", "find . -mtime +9 -name b.txt", "find . -mtime -1 -type f", "find . -mtime 0 -type f", "find . -mmin -60 -type f ! -name prog", "find . -mmin +60 -type f", "find . -mmin -100 -type f", "find . -mmin 30", "find . -mmin 31", "find . -mtime +1.5 -name c.c", "find . -mtime -3.5 -name c.c", "find . -newer a.txt -type f", "find . -newer d/b.txt -type f", "find . -newermt 2021-01-01 -type f", "find . -newermt '2 days ago' -type f", "find . ! -newermt 2021-02-03 -type f", "find . -newermt '2020-01-02 03:04:05.4' -name a.txt", "find . -newermt '2020-01-02 03:04:05.6' -name a.txt", "find . -newermm d/b.txt -type f", "find . -newermt @0 -name a.txt", "find . -newercm d/b.txt -name a.txt", "find . -cmin -60 -name a.txt", "find . -ctime 0 -name a.txt", "find . -ctime +0", "find . -cnewer d/b.txt -name a.txt", "find . -daystart -mtime 10 -name b.txt", "find . -daystart -mtime +2 -name '*.c'", "find . -used +100",
		"find . -maxdepth 0", "find . -maxdepth 1", "find . -maxdepth 1 -type f", "find . -mindepth 1", "find . -mindepth 2 -maxdepth 2", "find . -mindepth 3", "find d -maxdepth 1 -mindepth 1", "find . -depth", "find d -depth", "find d -depth -name sub", "find . -depth -prune", "find . -maxdepth 2 -name '*.c' -o -name a.txt", "find . -d -name sub", "find . -xdev -name a.txt", "find . -mount -name a.txt", "find . -noleaf -name a.txt", "find . -follow -name b.txt", "find . -true -name a.txt", "find . -false", "find . -false -o -name a.txt", "find . -readable -name big", "find . -writable -type f", "find . -executable -type f", "find . -fstype nosuch",
		"find . -regex './d/.*'", "find . -regex '.*\\.txt'", "find . -regex '.*\\.\\(c\\|txt\\)'", "find . -regex '.*\\.c' -o -regex '.*D.*'", "find . -iregex '.*\\.C'", "find . -regextype posix-extended -regex '.*\\.(c|txt)'", "find . -regextype egrep -regex '.*/[a-e]\\.[ct]x?t?'", "find . -regextype posix-basic -regex '.*/a.*'", "find . -regextype sed -regex '.*/[a-z]\\{1,3\\}'", "find . -regextype awk -regex '.*x+.*'", "find . -regex 'txt'", "find . -regex '.*[0-9]'", "find . -regextype posix-extended -regex '^\\./d.*$'", "find . -regex '.*a+.*'", "find . -regextype foo", "find . -regextype posix-extended -regex '('", "find . -regextype grep -regex '.*b\\?\\.txt'", "find . -regextype emacs -regex '.*/[^/]*e'", "find . -regextype ed -regex '.*t'",
	))
}

func Test_Find_Reads_Expressions_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, "mkdir d; touch a", findRows(
		"find . -name", "find . -foo", "find . a", "find . -name x a", "find . -name x y.c z.c", "find a -name x (", "find ( )", "find . ( )", "find . ( -name x", "find . -name x )", "find . )", "find . -o -name x", "find . -name x -o", "find . -name x -a", "find . -a -name x", "find . !", "find . -not", "find . -name x !", "find . , -name x", "find . -name x ,", "find . ( -o )", "find . ( -name x -o )", "find . ( ! )", "find . -name x -o -o -name y", "find . -type", "find . -type z", "find . -type fd", "find . -type f,", "find . -type f,d,f", "find . -type ,f", "find . -type ''", "find . -size", "find . -size x", "find . -size 1x", "find . -size 1kk", "find . -size +", "find . -size ''", "find . -mtime x", "find . -mtime +x", "find . -mtime ''", "find . -mmin x", "find . -perm x", "find . -perm +644", "find . -perm 8", "find . -perm /000", "find . -perm ''", "find . -user nosuch", "find . -user ''", "find . -group nosuch", "find . -group ''", "find . -uid x", "find . -inum x", "find . -links x", "find . -newer nosuch", "find . -newerxy a", "find . -newermt foo", "find . -newermt", "find . -newer", "find . -maxdepth", "find . -maxdepth x", "find . -maxdepth -1", "find . -name x -maxdepth 1", "find . -mindepth x", "find . -exec", "find . -exec echo", "find . -exec echo {}", "find . -exec ;", "find . -exec echo {} {} +", "find . -exec echo x +", "find . -exec echo x{} +", "find . -exec +", "find . -printf", "find . -printf %z\n", "find . -printf \\q", "find . -printf %", "find . -printf x\\", "find . -printf %T", "find . -printf %Tq", "find . -fprint", "find . -fprint /nosuch/x", "find . -fprintf", "find . -fprintf /dev/stdout", "find . -used x", "find . -context x", "find . -delete -prune", "find -name a", "find -P -L -H a", "find -X a", "find -O9 .", "find -O a", "find -D foo a", "find -D", "find . -ok", "find . -okdir x", "find . -execdir echo {}", "find . -exec nosuchcmd {} ;", "find . -exec nosuchcmd {} +", "find . -execdir nosuchcmd {} ;", "find . -quit", "find . -prune -o -print", "find . -lname", "find . -xtype z", "find . -xtype", "find . -anewer", "find . -daystart x", "find . -files0-from nosuch", "find -files0-from nosuch", "find . -warn -name a/b", "find . -warn -name a -maxdepth 1", "find . -warn -type f -mindepth 1", "find . -h", "find --bogus", "find -", "find . -", "find . --", "find -- .", "find . -amin +1x", "find . -size 1.5k", "find . -iregex", "find . -true,", "find . -printx", "find . -ls x", "find . -regex [",
		"find . ( -name a )", "find . ( -name a -o -name d )", "find . ( -name a -o -name d ) -print", "find . -name a -print -o -name d -print", "find . -name a , -name d", "find . -name a -print , -name d -print", "find . ! ( -name a -o -name d )", "find . ! ! -name a", "find . -not -not -name a", "find . ( ( -name a ) )", "find . -name a -or -name d", "find . -name a -o -name d -print", "find . ( -name a ) ( -type f )", "find . -name a ! -type d", "find . -print -quit", "find . -name a -quit", "find . -print -print", "find . -print0", "find . -name a -print0", "find . ( -name a -print -o -print ) -quit -print", "find . -type d -o -type f -print", "find . -name d -prune", "find . -name d -prune -print", "find . -false -o -print", "find . -false , -print", "find a d . -maxdepth 0 -print", "find . -print -o -name zz", "find . -name nosuch -o -quit",
	))
}

func Test_Find_Prints_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := findRows(
		"find . -printf '%p\\n'", "find d -printf '%P %h %f %H %d\\n'", "find d/ -printf '%P|%h|%f|%H|%d|%p\\n'", "find . -printf '%P|%h|%f\\n'", "find . -maxdepth 1 -printf '%y %Y %l|%p\\n'", "find . -type f -printf '%s %b %k %p\\n'", "find . -printf '%m %M %#m %p\\n'", "find . -printf '%u %g %U %G %n %p\\n'", "find . -name a.txt -printf '%t|%Tc|%T@|%T+|%TY-%Tm-%Td|%TH:%TM:%TS|%TT|%TX|%Tr|%TD|%TF|%Tx\\n'", "find . -name a.txt -printf '%Ta %TA %Tb %TB %Tj %Tk %Tl %Tp %TU %Tw %TW %Ty %TZ %Tz %Th %Ts %Tu %TV %TG %Tg %Te %TI %TC %TR %Tn %Tt\\n'", "find . -name a.txt -printf '[%10s] [%-10s] [%010s] [%.3f] [%-20p] [%20f] [%5d] [%05d] [%3m]\\n'", "find . -name a.txt -printf 'a\\tb\\\\c\\101\\0|%%|\\a\\b\\f\\r\\v\\n'", "find . -name a.txt -printf 'x\\cy'", "find . -name a.txt -printf '%p'", "find / -maxdepth 0 -printf '%p|%h|%f|%P|%H\\n'", "find ./d/sub/ -maxdepth 1 -printf '%p|%h|%f|%P|%H\\n'", "find . -name big -printf '%S\\n'", "find . -name a.txt -printf '%F\\n' -o -false", "find . -maxdepth 1 -name 'l*' -printf '%p -> %l\\n'", "find -L . -maxdepth 1 -name 'l*' -printf '%y %Y %p %l\\n'", "find . -empty -printf 'empty: %p\\n'", "find . -type f -fprintf /dev/stdout '%f\\n'", "find . -name '*.c' -fprint /dev/stdout", "find . -name '*.c' -fprint /dev/stderr", "find . -name '*.c' -print0 -printf '\\n'", "find . -name a.txt -printf '%A@' -quit -o -false", "find . -printf '%i\\n' -quit -o -false -printf %D", "find . -name a.txt -printf '%+5s|% d|%-5d|%5y|%-5M|'", "find d -printf '%d:%f\\n' -name sub -prune", "find . -printf ''", "find . -name a.txt -printf %n%n%%", "find . -maxdepth 0 -printf '%Td%' ", "find . -name a.txt -printf '%T1 %T- %T%\\n'",
		"find d -exec basename {} ;", "find . -name '*.c' -exec ls -d {} ;", "find . -name '*.c' -exec ls -d {} +", "find . -name '*.c' -exec basename -a x{}y {}{} ;", "find d -execdir basename {} ;", "find d -type f -execdir ls {} ;", "find d -type f -execdir ls {} +", "find . -maxdepth 0 -execdir ls -d {} ;", "find . -name a.txt -exec cat {} ; -exec ls {} ; -print", "find . -type f -exec false {} ; -print", "find . -name a.txt -exec false {} +", "find . -name a.txt -exec true ; -print", "find . -name '*.c' -print -exec ls -d {} ;", "find . -name a.txt -exec cat {} ; -o -name b.txt -print", "find . -name a.txt ! -exec cat nosuch ; -print", "find . -maxdepth 1 -name 'sp*' -exec ls {} +", "find . -name a.txt -exec ./nosuch {} ;", "find . -name a.txt -exec ./d {} ;", "find . -name a.txt -exec ./big {} ;", "find . -type f -name '[ab].txt' -exec ls -d {} + -print", "find . -name a.txt -okdir cat {} ;", "find d/sub -depth -execdir basename {} ;", "find / -maxdepth 0 -execdir ls -d {} ;", "find . -name a.txt -exec basename {} .txt ; -quit",
	)
	for _, i := range []int{17} {
		rows[i].Loose |= programtest.SloppyOutput // The type of the file system is the tree's own.
	}
	for i, r := range rows {
		if strings.Contains(r.Line, "%i") || strings.Contains(r.Line, "%A@") {
			rows[i].Loose |= programtest.SloppyOutput // The number of an inode, and a time that reading changes.
		}
	}
	rows = append(rows,
		programtest.Row{Line: "find . -name a.txt -ok cat {} ;", Stdin: "y\n"}, programtest.Row{Line: "find . -name a.txt -ok cat {} ;", Stdin: "n\n"}, programtest.Row{Line: "find . -name a.txt -ok cat {} ; -print", Stdin: "yes\n"},
		programtest.Row{Line: "find -files0-from - -maxdepth 0", Stdin: "d\x00a.txt\x00"}, programtest.Row{Line: "find -files0-from - -name *.c", Stdin: "d\x00"}, programtest.Row{Line: "find d -files0-from -", Stdin: "d"}, programtest.Row{Line: "find -files0-from -", Stdin: ""},
		programtest.Row{Line: "find . -name a.txt -printf '%TH:%TM %TZ\\n'", Env: []string{"TZ=America/New_York"}}, programtest.Row{Line: "find . -newermt '2020-01-02 00:00' -name a.txt", Env: []string{"TZ=Asia/Tokyo"}},
	)
	programtest.RunReadOnly(t, findTree, rows)
}

func Test_Find_Deletes_And_Writes_As_GNU_Does(t *testing.T) {
	t.Parallel()
	const tree = `mkdir -p d/sub e; touch d/a d/sub/b c.o d/x.o e/y.o; ln -s d ld; ln -s nowhere broken`
	rows := programtest.RowsOf(tree,
		"find . -name *.o -delete", "find d -delete", "find . -delete", "find e -name y.o -delete -print", "find . -type d -name sub -delete", "find . -empty -delete", "find ld -delete", "find ld/ -delete", "find . -type l -delete", "find . -name *.o -exec rm {} ;", "find . -name *.o -exec rm {} +", "find d e -type f -exec rm -f {} +", "find . -name '*.o' -execdir mv {} {}.bak ;", "find . -maxdepth 1 -name c.o -fprintf out '%f %s\\n' -fprint0 out0", "find . -name nosuch -fprint out", "find . -name c.o -fprint out -fprint out", "find d -depth -type d -empty -delete", "find . -name sub -prune -delete", "find . -path ./d -prune -o -type f -delete", "find d -name a -exec chmod 600 {} ;", "find . -name '*.o' -exec touch -d 2001-01-01 {} +", "find d -mindepth 1 -delete", "find . -quit -delete",
	)
	rows = append(rows, programtest.Row{Setup: tree, Line: "find . -type f -fprint out", Loose: programtest.AnyTree})
	for i := range rows {
		rows[i].Loose |= programtest.AnyOrder
	}
	programtest.RunRows(t, rows)
}

// Test_Find_Lists_As_GNU_Does leaves out the numbers of the inodes.
func Test_Find_Lists_As_GNU_Does(t *testing.T) {
	t.Parallel()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	programtest.Prepare(t, work, findTree+"; chown 0:0 big") // After a number GNU's columns are wider by one.
	tree := programtest.ImportTree(t, work)
	inode := regexp.MustCompile(`(?m)^ *\d+`)
	for _, args := range [][]string{{"find", ".", "-ls"}, {"find", ".", "-type", "f", "-fls", "/dev/stdout"}, {"find", "-L", ".", "-maxdepth", "1", "-ls"}} {
		got, want := programtest.RunVirtual(t, tree, work, args, programtest.Row{}), programtest.RunReal(t, work, args, programtest.Row{})
		got.Stdout, want.Stdout = inode.ReplaceAllString(got.Stdout, "N"), inode.ReplaceAllString(want.Stdout, "N")
		programtest.Compare(t, programtest.Row{Loose: programtest.AnyOrder | programtest.AnyTree}, got, want)
	}
}
