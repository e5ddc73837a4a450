package checksum_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/scripttest"
)

func Test_Digests_Are_Like_The_Real_Ones(t *testing.T) {
	t.Parallel()
	tree := scripttest.Files{
		"a": "hello\n", "b": scripttest.AllBytes(), "e": "", "d/x": "x", "we ird": "y", "new\nline": "n", `back\slash`: "s",
		"good": "b1946ac92492d2347c6235b4d2611184  a\ne2c865db4162bed963bfaa9ef6ac18f0  b\n",
		"bad":  "b1946ac92492d2347c6235b4d2611185  a\ne2c865db4162bed963bfaa9ef6ac18f0 *b\n",
		"miss": "b1946ac92492d2347c6235b4d2611184  a\ne2c865db4162bed963bfaa9ef6ac18f0  nosuch\n",
		"junk": "# comment\nnot a line\nb1946ac92492d2347c6235b4d2611184  a\n\nzz  a\n",
		"all":  "garbage\n", "onlymiss": "b1946ac92492d2347c6235b4d2611184  nosuch\n",
		"bsd":   "MD5 (a) = b1946ac92492d2347c6235b4d2611184\n",
		"upper": "B1946AC92492D2347C6235B4D2611184  a\r\n",
		"esc":   "\\3d0b7e3b56d1ce8a0d5f7a6f8b2c9c0e  new\\nline\n",
		"rev":   "b1946ac92492d2347c6235b4d2611184 a\n",
	}
	lines := []string{
		"md5sum good bad", "md5sum -b a", "md5sum --tag a b", "md5sum -z a b", "md5sum -t a", "md5sum < a", "md5sum - < a", "md5sum e nosuch a", "md5sum d", "md5sum 'we ird'", "md5sum 'new\nline'", `md5sum 'back\slash'`, `md5sum --tag 'back\slash'`, `md5sum -z 'back\slash'`,
		"md5sum -c good", "md5sum --check bad", "md5sum -c miss", "md5sum -c --ignore-missing miss", "md5sum -c junk", "md5sum -cw junk", "md5sum -c --strict junk", "md5sum -c all", "md5sum -c onlymiss", "md5sum -c --ignore-missing onlymiss", "md5sum -c bsd", "md5sum -c upper", "md5sum -c rev", "md5sum -c --quiet bad", "md5sum -c --quiet good", "md5sum -c --status bad", "md5sum -c --status good", "md5sum -c nosuch", "md5sum -c < good", "md5sum -c good bad",
		"md5sum --quiet a", "md5sum --status a", "md5sum --strict a", "md5sum -w a", "md5sum --ignore-missing a", "md5sum -c --tag a", "md5sum -cb good", "md5sum --tag -t a", "md5sum -cz good", "md5sum -q", "md5sum -c esc", "md5sum -c e",
		"b2sum -l 128 a", "b2sum -l 0 a", "b2sum -l 7 a", "b2sum -l 520 a", "b2sum -l x a", "b2sum --tag -l 256 a", "b2sum --tag a", "b2sum -l 128 a > s\nb2sum -c s", "b2sum a > s\nb2sum -c s", "b2sum --tag -l 64 a > s\nb2sum -c s\ncksum -c s",
		"cksum a b e", "cksum < a", "cksum - < a", "cksum nosuch a", "cksum -a bsd a", "cksum -a sysv a b", "cksum -a crc a", "cksum -a sm3 a b e", "cksum -a md5 a", "cksum -a md5 --untagged a", "cksum -a sha256 a", "cksum -a blake2b -l 128 a", "cksum -a blake2b --untagged a", "cksum -a q a", "cksum -a sha256 a b > s\ncksum -c s", "cksum -a sm3 b > s\ncksum -c s\ncksum -a sm3 -c s", "cksum -c bsd", "cksum -a md5 -c good", "cksum -c good", "cksum -a crc -c good", "cksum -l 8 a", "cksum -z a", "cksum -z -a md5 a",
		"sum a b", "sum a", "sum < a", "sum -s a", "sum -s a b", "sum -r a nosuch", "sum --sysv b", "sum -q",
	}
	for _, tool := range []string{"sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"} {
		lines = append(lines, tool+" a b e", tool+" --tag b", tool+" a b > s\n"+tool+" -c s", tool+" --tag a b > s\n"+tool+" -c s")
	}
	scripttest.RunReal(t, "cksum", scripttest.RowsOf(tree, lines...))
}
