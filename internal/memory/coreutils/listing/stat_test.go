package listing_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Stat_Prints_The_Same_As_GNU(t *testing.T) {
	t.Parallel()
	lines := []string{
		"stat -c %a a sx d st p la", "stat -c '%A %F' a sx d st p la broken", "stat -c '%s %b %B %o %h' a d la p big", "stat -c '%n %N' a la broken 'sp ace' \"it's\"", "stat -c '%u %U %g %G' a b d/f", "stat -c '%y|%Y' old", "stat -c '%f %t %T %r %R %Hr %Lr' a d la p", "stat -L -c '%F %n %N' la ld a", "stat -L broken", "stat -c '%m' a", "stat -c '%10s|%-10s|%010s|%5a|%#a|%+s|%05a|%-5a|' a", "stat -c '%.3Y|%.Y|%20Y|%-20.2Y|%012Y|%.0Y|%.12Y' old", "stat -c '%10n|%-10n|%.1n|%5.2n|' a", "stat -c '%q %' a", "stat -c '%%' a", "stat -c '%5%' a", "stat -c 'x\\n%n' a", "stat --printf 'a\\tb%n\\n' a", "stat --printf '\\q\\x41\\101\\e\\\\\\\"' a", "stat --printf '%n\\n' a b nosuch", "stat --printf 'x\\' a", "stat --format=%n a", "stat --printf=%s:%n\\n a big", "stat nosuch", "stat nosuch a -c %n", "stat", "stat --bogus", "stat -c", "stat --cached=always -c %n a", "stat --cached=x a", "stat -c '%w|%W' a", "stat -f nosuch", "stat -f -c '%n %s %S %l' a", "stat -c %d%D", "stat a/x -c %n", "stat '' -c %n", "stat -c '%C' nosuch", "stat -c '%y' old", "stat -Lc '%s %y' la", "stat -c '%U:%G %a' d d/f",
	}
	rows := programtest.RowsOf("", lines...)
	for i, r := range rows {
		if r.Line == "stat -c '%w|%W' a" {
			rows[i].Loose = programtest.SloppyOutput // The tree keeps no times of birth.
		}
	}
	rows = append(rows, programtest.Row{Line: "stat -c %y old", Env: []string{"TZ=America/New_York"}}, programtest.Row{Line: "stat -c %N \"it's\" a", Env: []string{"QUOTING_STYLE=c"}}, programtest.Row{Line: "stat -c '%F' -", Stdin: "", Loose: programtest.SloppyOutput})
	programtest.RunReadOnly(t, programtest.AttributesTree+`; touch 'sp ace' "it's"; head -c 5000 /dev/zero > big; touch -d '2020-01-02 03:04:05.678' old`, rows)
}

func Test_Du_Adds_Up_As_GNU_Does(t *testing.T) {
	t.Parallel()
	const tree = `mkdir -p d/sub/deep e; head -c 5000 /dev/zero | tr '\0' x > d/five; head -c 100 /dev/zero | tr '\0' x > d/sub/small; head -c 100000 /dev/zero | tr '\0' x > d/sub/deep/big; ln d/five d/hard; ln -s d ld; ln -s nowhere broken; touch d/empty; touch -d 2020-01-01 d/five d/sub/small d/sub/deep/big d/empty d/sub/deep d/sub e; touch -h -d 2020-01-01 ld broken; printf 'small\n*.x\n' > pats; touch -d 2021-02-03 pats d; printf 'd\0e\0' > list; touch -d 2020-01-01 list .`
	rows := programtest.RowsOf("",
		"du", "du -a", "du -s", "du d", "du d e", "du -s d e", "du -sh d", "du -h d", "du -ah d", "du -b d", "du -ab d", "du -sb d", "du -c d e", "du -sc d e", "du -ch d e", "du -k d", "du -m d", "du -d 0 d", "du -d 1 d", "du -d1 -a d", "du --max-depth=1 -h d", "du -S d", "du -Sa d", "du -l d", "du -la d", "du --apparent-size d", "du --apparent-size -a d", "du -B 1 d", "du -B K d", "du -BM d", "du --block-size=1000 d", "du --si d", "du -0 d", "du --inodes d", "du --inodes -s d e", "du --inodes -a d", "du -L d", "du ld", "du -D ld", "du -H ld", "du -L ld", "du -L broken", "du broken", "du nosuch", "du nosuch d", "du d nosuch", "du d d", "du d d/sub", "du d/sub d", "du d/five d/hard", "du -l d/five d/hard", "du -a -s d", "du -s -d 1 d", "du -s -d 0 d", "du -d x d", "du -B x d", "du -t 10K -a d", "du -t -10K -a d", "du -t x d", "du --threshold=100 -ab d", "du --exclude=small -a d", "du --exclude='*e*' -a d", "du -X pats -a d", "du -X nosuch d", "du --exclude=sub d", "du --exclude='d/sub' d", "du --time d/sub", "du --time -a d/sub", "du --time=mtime d/sub", "du --time=foo d", "du --time --time-style=iso d/sub", "du --time --time-style=full-iso d/sub", "du --time --time-style=+%Y d/sub", "du --time-style=foo --time d", "du --files0-from=list", "du --files0-from=list -s", "du --files0-from=nosuch", "du --files0-from=list d", "du -x d", "du --bogus", "du ''", "du d/", "du ./d", "du -s *", "du -sh d e", "du d/five", "du -a d/five", "du -b d/five", "du -h d/sub/deep/big", "du -P ld d",
	)
	for i := range rows {
		rows[i].Loose = programtest.AnyOrder
	}
	rows = append(rows, programtest.Row{Line: "du -s d", Env: []string{"BLOCK_SIZE=1"}}, programtest.Row{Line: "du -s d", Env: []string{"POSIXLY_CORRECT=1"}}, programtest.Row{Line: "du -s d", Env: []string{"DU_BLOCK_SIZE=human-readable"}}, programtest.Row{Line: "du --files0-from=- -s", Stdin: "d\x00e"})
	programtest.RunReadOnly(t, tree, rows)
}

func Test_Df_Refuses_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf("", "df nosuch", "df --bogus", "df -B x", "df --output=foo", "df --output=size,size", "df -t nosuch", "df -t a -x a", "df -B", "df .", "df -h .", "df -i", "df -T .", "df --output .", "df --output=pcent,target .", "df --total .", "df -P .", "df nosuch .")
	for i := 8; i < len(rows); i++ {
		rows[i].Loose = programtest.SloppyOutput // The numbers are the tree's.
	}
	programtest.RunRows(t, rows)
}

func Test_Install_Copies_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, programtest.RowsOf(programtest.CopyTree,
		"install a new", "install a b e", "install a b", "install -m 644 a new", "install -m u=rw,go=r a new", "install -m x a new", "install -m 4755 a new", "install -d x/y/z", "install -d x y", "install -dv x/y z", "install -d -m 700 x/y", "install -d d", "install -d -m 700 d", "install -d a", "install -D a x/y/z", "install -Dv a x/y/z", "install -D -t x/y a b", "install -t e a b", "install -t nosuch a", "install -v a b e", "install -v a b", "install -p c new", "install -C a new", "install -C a e", "install -b a b", "install -bv a b", "install --backup=numbered a b", "install -S .o a b", "install -o 1 a new", "install -g daemon a new", "install -o daemon -g 2 a new", "install -o nosuch a new", "install -g nosuch a new", "install nosuch new", "install a", "install", "install -d", "install d e", "install a d e", "install a nosuch/x", "install a b nosuch", "install -T a e", "install -T a new", "install -T a b c", "install a a", "install a la", "install la new", "install broken new", "install -c a new", "install --bogus", "install -d -t x y", "install a f/a e", "install -m 600 a f/a", "install empty new", "install --mode=755 --verbose a e/x", "install -D a new", "install -d x x/y", "install a e/", "install a d/x", "install -o 1 -d x", "install b new", "install -Z a new", "install -d ''", "install a ''",
	))
}
