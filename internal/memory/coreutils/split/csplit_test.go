package split_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Csplit_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	const setup = "seq 10 > s\n: > e\nprintf 'a\\nb\\n\\nc' > n\nmkdir d\nprintf 'x.y\\n[a]\\nfoo+\\nfoo\\n  bar\\nab{2}\\n' > r"
	var rows []programtest.Row
	for _, line := range []string{
		"s", "", "s 3", "s 3 7", "s 7 3", "s 3 3", "s 0", "s 00", "s x", "s ''", "s 10", "s 11", "s 20", "s 3 {2}", "s 3 {*}", "s 3 {9}", "s 3 {0}", "s 2 {1} 8", "s 2 {9223372036854775807}", "s 2 {9223372036854775808}", "s 18446744073709551615", "s 18446744073709551616", "s 9223372036854775807 {*}", "s +3", "s ' 3'", "s -3", "s -- -3", "s 3x", "s 1", "s 1 1", "s 1 {*}",
		"s /5/", "s /5/+1", "s /5/1", "s /5/-2", "s /5/-4", "s /5/-5", "s /x/", "s %5%", "s %5%+1", "s %5%-2", "s %5%-9", "s /5/-9", "s /1/ {*}", "s /1/ {1}", "s /1/ {9}", "s /5", "s /", "s %", "s /5/x", "s /5/+x", "s '/5/ 1'", "s /5/+9223372036854775807", "s /5/-9223372036854775807", "s /5/+9223372036854775808", "s //", "s // {*}", "s //+1 {*}", "s //+3 {*}", "s //-1", "s /[/", "s '/a\\{/'", "s '/\\(/'", "s '/\\)/'", "s '/*/'", "s '/1\\|2/' {*}", "s '/^.$/' {3}", "s '/[[:foo:]]/'", "s '/[b-a]/'", "s '/1**/'", "s '/a\\{2,1\\}/'", "s '/\\1/'", "s '/5//'",
		"s {3}", "s 3 {", "s 3 {x}", "s 3 {3", "s 3 {-1}", "s 3 {3}x", "s 3 {}", "s 3 {**}", "s {*} 3", "s 3 {*} 5", "s /5/ {", "s /x/ {*}", "s %x% {*}", "s %1% {*}", "s %x%", "s %5% {1}", "s %1% {1}", "s %1% {2}",
		"s 3 %7% 9", "s 3 4 5 /8/", "s /5/-1 5", "s /5/ /5/", "s /5/ 3", "s /10/ 10", "s /10/", "s /10/+1", "s /10/+2", "s /5/+9", "s /5/+5", "s /5/+6", "s /5/+6 7", "s /5/+6 /7/", "s /3/+3 /6/", "s /3/+3 /7/", "s /5/-2 /8/", "s /5/-2 4 /6/", "s %3% 5 %7%+1", "s /5/-3 /6/-3 {*}", "s %9%-4 /8/", "s /8/-6 3 {1}",
		"-n x s 3", "-n 0 s 3", "-n 5 s 3", "-n -1 s 3", "-n 99999999999 s 3", "-b %d s 3", "-b x%03xy s 3", "-b %s s 3", "-b %d%d s 3", "-b x s 3", "-b '' s 3", "-b % s 3", "-b %.3d s 3", "-b %5.3d s 3", "-b %-5d s 3", "-b '%-5.3d|' s 3", "-b %05.3d s 3", "-b \"%'d\" s 3", "-b \"%'x\" s 3", "-b %+d s 3", "-b %i s 3", "-b %u s 3", "-b %#x s 2 {3}", "-b %#X s 2 {3}", "-b %#o s 2 {3}", "-b %#05x s 2", "-b %#.3o s 2", "-b %#d s 3", "-b %ld s 3", "-b %q s 3", "-b 'a%%%d%%' s 3", "-b %.0d s 3", "-b %o s 1 {8}", "-b '%5d' s 3", "-b %d% s 3", "-b '%\t' s 3",
		"-f a/b s 3", "-f pre s 3", "-f d/ s 3", "-f '' s 3", "-k s 20", "-k s 3 20", "-k s /x/", "-k s 3 /x/", "-k s 3 /2/-1", "-s s 3", "-q s 3", "--quiet s 3", "--silent s 3", "-z s 1 3", "-z s /1/ {*}", "-z s 3 3 3", "-z e %x% {*}", "-z s %5%", "-z s %x% {*}", "-z s 11", "-zk s 1 11", "-skz -f p -n 1 s /3/ {*}",
		"--suppress-matched s 3", "--suppress-matched s /3/ {*}", "--suppress-matched s 3 {*}", "--suppress-matched s 1 2 3", "--suppress-matched s 10", "--suppress-matched s 10 11", "--suppress-matched s 11", "--suppress-matched s 9 10", "--suppress-matched s /10/", "--suppress-matched s /5/-1", "--suppress-matched s /5/+1", "--suppress-matched s /5/-1 /5/", "--suppress-matched s /1/ /2/ /3/", "--suppress-matched -z s /1/ {*}", "--suppress-matched s %4% 7", "--suppress-matched s 5 {1}", "--suppress-matched s 5 {2}", "--suppress-matched s 5 10", "--suppress-matched s 10 /x/", "--suppress-matched s 10 // {*}", "--suppress-matched s /9/+1 {*}",
		"nosuch 3", "nosuch x", "d 3", "d %x%", "d /x/", "-k d 3", "e 3", "e /x/", "e /x/ {*}", "e %x%", "e %x% {*}", "e 1", "-k e 1", "--suppress-matched e 1", "e //-1", "n 2 3", "n /^$/", "n /c/", "n /c$/+1", "n 4", "n 5", "- 2", "- /two/ {*}", "- 9", "r /x.y/ '/foo+/' '/foo\\+$/'", "r '/[[]a]/' '/^ *b/'", "r '/\\(o\\)\\1/' {*}", "r '/b{2}/'", "r '/FOO/'", "r '/\\bfoo\\b/' {*}", "--x s 3", "-b", "-n", "--d=3 s 3", "--s s 3", "--pre=q s 3 --keep", "s 3 -s",
	} {
		rows = append(rows, programtest.Row{Setup: setup, Line: "csplit " + line, Stdin: "in one\nin  two\nin two\nIN TWO\n", Loose: programtest.NoTimes})
	}
	programtest.RunRows(t, rows)
}
