package compress_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const gzipSetup = "for i in $(seq 200); do echo hello world; done >f; touch -d '2024-02-03 04:05:06' f\n"

// Test_Gzip_Replaces_As_GNU_Does decompresses its files, since the compressed bytes may differ.
func Test_Gzip_Replaces_As_GNU_Does(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, line := range []string{
		"gzip -v f", "gzip -k f", "gzip -9 f", "gzip -kfv f", "gzip -c f", "gzip -S .x f", "gzip --suffix=.yy -v f", "gzip -r .", "gzip -qv f", "gzip -vq f", "gzip -1vk f", "gzip -nkv f", "gzip --best -kv f", "gzip --fast -k f", "gzip -v - f",
	} {
		rows = append(rows, programtest.Row{Setup: gzipSetup, Line: line, Stdin: "text", Loose: programtest.AnyTree | programtest.SloppyOutput})
	}
	programtest.RunRows(t, rows)
}

func Test_Gunzip_Restores_As_GNU_Does(t *testing.T) {
	t.Parallel()
	setup := gzipSetup + `cp -p f orig; gzip -k f; cp -p f.gz g.tgz; cp -p f.gz h.GZ; cp -p f.gz i.x; cp -p f.gz j-z; (cat f.gz; echo junk) >junk.gz
(cat f.gz; printf '\0\0\0') >zeros.gz; cat f.gz f.gz >two.gz; head -c 20 f.gz >cut.gz; head -c 5 f.gz >cut5.gz; : >empty.gz; echo text >text.gz
cp -p f renamed; gzip renamed; mv renamed.gz other.gz; mkdir -p d/e; cp -p f.gz d/a.gz; cp -p f.gz d/e/b.gz; echo x >d/c; gzip -k d/c
head -c $(($(stat -c %s f.gz) - 8)) f.gz >crc.gz; printf 'abcdefgh' >>crc.gz; printf '\37\213\11\0\0\0\0\0\0\0' >method.gz; printf '\37\213\10\300\0\0\0\0\0\0' >flags.gz
ln -s f.gz l.gz; ln other.gz hard.gz; chmod 640 j-z; touch -d 2020-01-01 *.gz; rm f; mkdir dir.gz; chmod u+s zeros.gz; gzip -n <orig >noname.gz; printf '\37\213\10\4\0\0\0\0\0\3\4\0abcd\3\0\0\0\0\0\0\0\0\0' >extra.gz
printf 'already' >two
`
	lines := []string{
		"gunzip f.gz", "gunzip -v f.gz", "gunzip f", "gunzip -k f.gz", "gzip -d f.gz", "gunzip -c f.gz", "gunzip -vc f.gz", "zcat f.gz", "zcat f", "zcat orig", "zcat -f orig", "gunzip g.tgz", "gunzip h.GZ", "gunzip i.x", "gunzip -S .x i.x", "gunzip j-z", "gunzip junk.gz", "gunzip -q junk.gz", "gunzip zeros.gz", "gunzip -f zeros.gz", "gunzip two.gz", "gunzip -f two.gz", "gunzip -c two.gz", "gunzip cut.gz", "gunzip -v cut.gz", "gunzip cut5.gz", "gunzip empty.gz", "gunzip text.gz", "gunzip -t text.gz f.gz", "gunzip other.gz", "gunzip -N noname.gz", "gunzip -f other.gz", "gunzip -N f.gz", "gunzip -Nfv other.gz", "gunzip -r d", "gunzip -rv d", "gunzip -rk d", "gunzip d", "gunzip dir.gz", "gunzip crc.gz", "gunzip -c crc.gz", "gunzip -t crc.gz", "gunzip method.gz", "gunzip flags.gz", "gunzip extra.gz", "gunzip l.gz", "gunzip -f l.gz", "gunzip -c l.gz", "gunzip nosuch", "gunzip nosuch.gz", "gunzip nosuch f.gz cut.gz",
		"gzip -t f.gz", "gzip -tv f.gz", "gzip -tv f.gz junk.gz cut.gz", "gzip -l f.gz", "gzip -l f.gz two.gz", "gzip -lv f.gz", "gzip -lv f.gz two.gz", "gzip -lN other.gz", "gzip -lvN f.gz", "gzip -lq f.gz two.gz", "gzip -l orig", "gzip -l nosuch", "gzip -l noname.gz", "gzip -l cut.gz", "gzip -lr d", "gzip -tr d",
		"gzip f.gz", "gzip d", "gzip nosuch", "gzip l.gz", "gzip -v f.gz", "gzip -q f.gz", "gzip hard.gz", "gzip orig nosuch", "gzip -r d/e", "gzip -rv d/e",
		"gzip --bogus", "gzip -y", "gzip -S", "gzip -S '' orig", "gzip -b x", "gzip -Z orig", "gzip -10 -c orig", "gzip --st -d f.gz", "gzip --s -d f.gz", "gunzip --bogus", "zcat -y", "zcat f.gz f.gz nosuch", "gunzip -a -c f.gz", "gzip -cd f.gz d", "gzip -dS .zz f.gz", "gzip -d -S .gz f.gz", "zcat -v f.gz", "gzip -dkN f.gz", "gunzip -kq two.gz",
	}
	rows := make([]programtest.Row, 0, len(lines))
	for _, line := range lines {
		r := programtest.Row{Setup: setup, Line: line}
		if strings.HasPrefix(line, "gzip orig nosuch") {
			r.Loose = programtest.AnyTree
		}
		if strings.Contains(line, "r") && strings.HasSuffix(line, " d") {
			r.Loose = programtest.AnyOrder // the order in which a directory is read
		}
		rows = append(rows, r)
	}
	programtest.RunRows(t, rows)
}

func Test_Gunzip_Reads_Standard_Input_As_GNU_Does(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, in := range []string{"", "hello\n", "\x1f", "\x1f\x8b", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff", "\x1f\x9d\x90\x68\xca\xb0\x61\xf3\x46"} {
		for _, line := range []string{"gunzip", "gzip -t", "zcat -f", "gzip -dv", "gzip -l"} {
			rows = append(rows, programtest.Row{Line: line, Stdin: in})
		}
	}
	programtest.RunRows(t, rows)
}
