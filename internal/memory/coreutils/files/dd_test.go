package files_test

import (
	"regexp"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

// Test_Dd_Copies_As_GNU_Does leaves out how long it took.
func Test_Dd_Copies_As_GNU_Does(t *testing.T) {
	t.Parallel()
	const tree = "seq 1 1000 > in; printf 'Hello, World' > small; printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' > out; mkdir d"
	took := regexp.MustCompile(`copied, .*`)
	for _, r := range programtest.RowsOf(tree,
		"dd if=in of=new", "dd if=in of=out", "dd if=in of=new bs=1k", "dd if=in of=new bs=1K count=2", "dd if=in of=new bs=10 skip=3 count=4", "dd if=in of=out bs=4 seek=2 count=1", "dd if=in of=out bs=4 seek=2 count=1 conv=notrunc", "dd if=small of=out conv=notrunc", "dd if=small conv=ucase", "dd if=small conv=lcase status=none", "dd if=small conv=swab status=none", "dd if=small bs=5 conv=swab", "dd if=small bs=5 conv=sync", "dd if=small ibs=5 obs=3", "dd if=small ibs=3 obs=5", "dd if=small bs=5", "dd if=small bs=5 conv=sync,ucase of=new",
		"dd if=/dev/zero of=new bs=1M count=3", "dd if=/dev/zero of=new bs=1 count=1", "dd if=/dev/zero of=new bs=1000 count=1", "dd if=/dev/zero of=new bs=1023 count=1", "dd if=/dev/zero of=new bs=1024 count=1", "dd if=/dev/zero bs=2x3 count=1 status=none", "dd if=/dev/zero of=new bs=1w count=1", "dd if=/dev/zero of=new bs=1b count=1", "dd if=/dev/zero of=new bs=3M count=1", "dd of=new seek=100 bs=10 count=0", "dd if=/dev/null of=new seek=1 bs=1M", "dd if=/dev/null of=out", "dd if=/dev/null", "dd if=in of=/dev/null", "dd if=in of=new count=10B", "dd if=in of=new skip=10B count=1 bs=4", "dd if=in of=new seek=10B count=1 bs=4", "dd if=in of=new bs=4 count=10 iflag=count_bytes", "dd if=in of=new bs=4 skip=2 count=1 iflag=skip_bytes", "dd if=in of=new bs=4 seek=3 count=1 oflag=seek_bytes", "dd if=small of=out oflag=append conv=notrunc", "dd if=in of=new bs=1k iflag=fullblock oflag=direct conv=fsync", "dd if=in of=new iseek=2 oseek=1 bs=3 count=2",
		"dd if=small of=out conv=excl", "dd if=small of=new conv=excl", "dd if=small of=new conv=nocreat", "dd if=small of=out conv=nocreat", "dd if=nosuch", "dd of=d", "dd if=d of=new", "dd if=d", "dd of=d/x/y", "dd foo", "dd foo=bar", "dd bs=x", "dd bs=0", "dd bs=", "dd count=-1", "dd bs=1x", "dd bs=1Q", "dd bs=99999999999999999999", "dd count=x", "dd conv=foo", "dd conv=ucase,foo", "dd conv=", "dd iflag=foo", "dd oflag=foo", "dd status=foo", "dd --bogus", "dd -x", "dd status=none if=small", "dd status=noxfer if=small", "dd status=progress if=small of=new", "dd if=small skip=5", "dd if=small bs=4 skip=5", "dd if=small bs=12 skip=1", "dd if=small count=0", "dd if=small of=new of=new2", "dd if=in bs=1k count=1 of=new conv=sparse", "dd if=small -- of=new", "dd bs=1 if=small skip=7 count=3 status=none", "dd ibs=1k obs=512 if=in of=new", "dd bs=2k ibs=1 if=in of=new",
	) {
		for _, stdin := range []string{"", "from standard input\n"} {
			t.Run(r.Line, func(t *testing.T) {
				t.Parallel()
				r := r
				r.Stdin = stdin
				got, want := programtest.RunBoth(t, r)
				got.Stderr, want.Stderr = took.ReplaceAllString(got.Stderr, "copied"), took.ReplaceAllString(want.Stderr, "copied")
				programtest.Compare(t, r, got, want)
			})
		}
	}
}
