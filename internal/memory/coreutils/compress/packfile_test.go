package compress_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

// packRows are lines for one program: NAME, UN, CAT and EXT stand for its names and suffix.
func packSetup(program, suffix string) string {
	return `for i in $(seq 200); do echo hello world; done >f; echo x >g; ` + program + ` -k f; cp f.` + suffix + ` only.` + suffix + `; cp f.` + suffix + ` noext; (cat f.` + suffix + `; echo junk) >junk.` + suffix + `
cat f.` + suffix + ` f.` + suffix + ` >two.` + suffix + `; head -c 20 f.` + suffix + ` >cut.` + suffix + `; : >empty.` + suffix + `; echo text >text.` + suffix + `; mkdir d; ln -s only.` + suffix + ` l.` + suffix + `; cp g h1; ln h1 h2; cp f.` + suffix + ` h3.` + suffix + `; ln h3.` + suffix + ` h4
find . -exec touch -h -d '2024-02-03 04:05:06' {} +
`
}

func Test_Bzip2_Works_As_The_Real_One(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, packSetup("bzip2", "bz2"))
	programtest.RunRows(t, programtest.TarRows(0, made,
		"bunzip2 only.bz2", "bunzip2 -v only.bz2", "bunzip2 f.bz2", "bunzip2 -k only.bz2", "bunzip2 -f f.bz2", "bzip2 -d only.bz2", "bzip2 -dc f.bz2", "bzcat f.bz2", "bzcat two.bz2", "bzcat f", "bzcat -f f", "bzcat nosuch", "bunzip2 noext", "bunzip2 two.bz2", "bunzip2 text.bz2", "bunzip2 nosuch.bz2", "bunzip2 d", "bunzip2 l.bz2", "bunzip2 h3.bz2", "bzip2 -t f.bz2", "bzip2 -tv f.bz2", "bzip2 -t f.bz2 text.bz2 nosuch", "bzip2 -t cut.bz2", "bzip2 -tv cut.bz2", "bzip2 f.bz2", "bzip2 -q f.bz2", "bzip2 f", "bzip2 d", "bzip2 nosuch", "bzip2 h1", "bzip2 l.bz2", "bunzip2 -c f.bz2 nosuch", "bzcat f.bz2 text.bz2 two.bz2",
	))
	programtest.RunRows(t, programtest.TarRows(programtest.AnyTree|programtest.SloppyOutput, made, "bzip2 g", "bzip2 -kv g", "bzip2 -c g", "bzip2 -1k g", "bzip2 -z g", "bzip2 --best g", "bzip2 -fk f"))
	programtest.RunRows(t, []programtest.Row{{Line: "bunzip2", Stdin: ""}, {Line: "bunzip2", Stdin: "hello"}, {Line: "bunzip2", Stdin: "BZh9"}, {Line: "bzip2 -dc", Stdin: "B"}, {Line: "bzip2 -t", Stdin: "text"}})
}

func Test_Xz_Works_As_The_Real_One(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, packSetup("xz", "xz")+"xz --format=lzma -k g; cp f.xz t.txz; xz -C crc32 -kc g >c32.xz; xz -C sha256 -kc g >sha.xz; xz -C none -kc g >none.xz; find . -exec touch -h -d '2024-02-03 04:05:06' {} +\n")
	programtest.RunRows(t, programtest.TarRows(0, made,
		"unxz only.xz", "unxz -v only.xz", "unxz f.xz", "unxz -k only.xz", "unxz -f f.xz", "xz -d only.xz", "xz -dc f.xz", "xzcat f.xz", "xzcat two.xz", "xzcat f", "xzcat -f f", "xzcat nosuch", "unxz noext", "unxz junk.xz", "unxz two.xz", "unxz cut.xz", "unxz empty.xz", "unxz text.xz", "unxz nosuch.xz", "unxz d", "unxz l.xz", "unxz -f l.xz", "unxz h3.xz", "unxz t.txz", "unxz -f g.lzma", "xzcat g.lzma", "lzcat g.lzma", "xz -t f.xz", "xz -tv f.xz", "xz -t f.xz text.xz nosuch", "xz -t cut.xz", "xz f.xz", "xz -q f.xz", "xz f", "xz d", "xz nosuch", "xz h1", "xz l.xz", "xz --bogus", "xz -y", "xz -l f.xz", "xz -l f.xz two.xz", "xz -l f", "xz -l c32.xz sha.xz none.xz", "unxz -c f.xz nosuch", "xzcat c32.xz sha.xz none.xz", "xz -dkS .xz only.xz", "xz -F bad g",
	))
	programtest.RunRows(t, programtest.TarRows(programtest.AnyTree|programtest.SloppyOutput, made, "xz g", "xz -kv g", "xz -c g", "xz -0k g", "xz -z g", "xz -9e g", "xz -fk f", "xz -T0 g", "lzma -k g"))
	programtest.RunRows(t, []programtest.Row{{Line: "unxz", Stdin: ""}, {Line: "unxz", Stdin: "hello"}, {Line: "xzcat", Stdin: "\xfd7zXZ\x00"}, {Line: "xz -dc", Stdin: "\xfd7z"}, {Line: "xz -t", Stdin: "text"}})
}

func Test_Zstd_Works_As_The_Real_One(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, packSetup("zstd -q", "zst")+"gzip -k g; find . -exec touch -h -d '2024-02-03 04:05:06' {} +\n")
	programtest.RunRows(t, programtest.TarRows(0, made,
		"unzstd only.zst", "zstd -d only.zst", "zstd -dq only.zst", "zstd -d --rm only.zst", "unzstd f.zst", "zstd -df f.zst", "zstd -dc f.zst", "zstdcat f.zst", "zstdcat two.zst", "zstdcat f", "zstdcat nosuch", "unzstd noext", "zstd -dc text.zst", "zstd -dc empty.zst", "zstd -dc f.zst nosuch", "unzstd d", "unzstd l.zst", "zstd -t f.zst", "zstd -t text.zst", "zstd -q f", "zstd d", "zstd nosuch", "zstd -d only.zst -o new", "zstd -dc junk.zst", "zstd -dcf f",
	))
	programtest.RunRows(t, programtest.TarRows(programtest.AnyTree|programtest.SloppyOutput, made, "zstd g", "zstd -c g", "zstd -19 g", "zstd -q --rm g", "zstd -f f", "zstd -T0 g -o out.zst"))
	programtest.RunRows(t, []programtest.Row{{Line: "unzstd", Stdin: ""}, {Line: "unzstd", Stdin: "hello"}, {Line: "unzstd", Stdin: "\x28\xb5"}})
}
