package text_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const sortTree = `printf 'b 2\na 10\nc 1\na 2\nB 3\n\n' > a
printf '10\n9\n-1\n1.5\n1.50\n0\n-0\nx\n\n 7\n1e3\n+5\n.5\n-.5\n00012\n123456789012345678901234567890\n123456789012345678901234567891\n' > n
printf '1K\n2M\n1G\n500\n0\n3k\n-1K\n-2M\n1.5K\n' > h
printf 'Mar x\nJAN y\n dec z\nfoo\napr\n' > m
printf 'f-1.10\nf-1.9\nf-1.2a\nf-1.2\nf-1.2~\nf-01\n' > v
printf 'x:3:b\ny:1:a\nz:2:a\nw:10:b\n:5:\n' > k
printf 'b\0a\0c' > z
printf 'a\na\nA\nb\nB\nb\n' > u
printf '1\n2\n3\n' > s1
printf '2\n3\n4' > s2
printf 'inf\nnan\n-inf\n1e10\n2e-3\nzz\n0x10\n' > g
printf 'a-b\nab\na b\nA_b\na\001c\n' > d
printf 'a\0n\0' > names
: > empty
mkdir dir
seq 1 7000 | awk '{print ($1*7919)%7001, "k" ($1%13), $1}' > big`

func Test_Sort_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, sortTree, programtest.TextRows([]string{
		"sort a", "sort -r a", "sort a n", "sort -n n", "sort -nr n", "sort -g n", "sort -g g", "sort -gr g", "sort -h h", "sort -hr h", "sort -M m", "sort -V v", "sort -Vr v", "sort -f u", "sort -fs u", "sort -fu u", "sort -u u", "sort -nu n", "sort -uf u", "sort -d d", "sort -i d", "sort -df d", "sort -b n", "sort -k2 a", "sort -k2n a", "sort -k2,2n -k1,1 a", "sort -k1,1 -k2,2nr a", "sort -k 1,1 -s a", "sort -sk1,1r a",
		"sort -t: -k2 k", "sort -t: -k2n k", "sort -t: -k2,2n k", "sort -t: -k3,3 -k2,2n k", "sort -t: -k3 -r k", "sort -t: -k3r,3 -k2n k", "sort -t : -k1.1,1.1 k", "sort -k1.2 a", "sort -k2.1b a", "sort -k2b,2 a", "sort -bk2.2,2.3 a", "sort -t: -k2.1,2.1 k", "sort -t: -s -k3,3 k", "sort -z z", "sort -zr z", "sort -c s1", "sort -c a", "sort -C a", "sort -cu u", "sort -cn n", "sort -cr s1", "sort -c s1 s2", "sort --check=quiet a", "sort --check=x a",
		"sort -m s1 s2", "sort -mu s1 s2", "sort s1 s2 -u", "sort missing", "sort missing a", "sort dir", "sort empty", "sort", "sort -", "sort - a", "sort --files0-from=names", "sort --files0-from=missing", "sort --files0-from=names a", "sort --files0-from=empty", "sort -k0 a", "sort -kx a", "sort -k1.0 a", "sort -k1,0 a", "sort -k1.x a", "sort -k1,x a", "sort -k1q a", "sort -k1,2q a", "sort -k1,2.x a", "sort -k a", "sort -k '' a", "sort -t '' a", "sort -t ab a", "sort -t '\\0' z", "sort -t: -t, a",
		"sort -ng a", "sort -nM a", "sort -nd a", "sort -nV a", "sort -k1nM a", "sort -Q a", "sort --sort=numeric n", "sort --sort=version v", "sort --sort=x a", "sort --reverse a", "sort --key=2 a", "sort --parallel=2 a", "sort --parallel=0 a", "sort --parallel=x a", "sort -S 1M a", "sort -S x a", "sort -S 50% a", "sort --batch-size=1 a", "sort --batch-size=4 a", "sort -T . a", "sort -o", "sort -s a", "sort -r -s a", "sort -rn -s n", "sort big", "sort -n big", "sort -k2,2 -k1,1n big", "sort -k2,2 -s big", "sort -k2,2 -u big", "sort -k2.2n big", "sort -rk3n big", "sort -k3,3nr -k1 big", "sort -h big", "sort -R empty", "sort -uk2,2 -k1,1n big",
	}))
	programtest.RunRows(t, []programtest.Row{
		{Setup: sortTree, Line: "sort -o a a"}, {Setup: sortTree, Line: "sort -n n -o out"}, {Setup: sortTree, Line: "sort -o dir a"}, {Setup: sortTree, Line: "sort -o x/y a"}, {Setup: sortTree, Line: "sort a -o out -o out2"},
	})
}
