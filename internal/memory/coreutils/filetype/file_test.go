package filetype_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetype"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// fileBinaries makes files of binary formats.
const fileBinaries = `mkdir dir sticky; chmod 1755 sticky; mkfifo pipe; ln -s dir ld; ln -s nowhere broken; printf 'hello\nworld\n' > txt; ln -s txt l; : > empty
(printf 'x%.0s' {1..500}; echo; echo b) > long; printf 'x%.0s' {1..300} > not-long; head -c 100 /dev/zero > zeros; printf 'a\0b' > nul; touch -d 2020-02-03 txt; cp txt setuid; chmod 4755 setuid; cp txt setgid; chmod 2755 setgid
printf 'a\r\nb\n' > mixed; printf 'a\rb\r' > cr; printf 'a\205b\n' > nel; printf '\377\376h\0i\0\n\0' > u16le; printf '\376\377\0h\0i\0\n' > u16be; printf 'a\bb\n' > bs; printf '\200\201x\n' > extended
gzip -c txt > t.gz; gzip -9 -c txt > t9.gz; gzip -nc txt > tn.gz; gzip -1 < txt > t1.gz; bzip2 -c txt > t.bz2; xz -c txt > t.xz; xz -C crc32 -c txt > tc.xz; tar cf t.tar txt; tar --format=posix -cf p.tar txt; tar --format=v7 -cf v7.tar txt; tar czf t.tgz txt; zip -q t.zip txt; zip -q0 t0.zip txt
printf 'application/epub+zip' > mimetype; zip -q0X e.epub mimetype; mkdir META-INF word; echo > META-INF/MANIFEST.MF; zip -qX j.zip META-INF/MANIFEST.MF
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\020\0\0\0\040\010\006\0\0\0' > png; printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\1\0\0\0\0\040\010\003\0\0\1' > png3; printf '\377\330\377\340\0\020JFIF\0\001\001\001\0\110\0\110\0\0\377\331' > jpg
printf '\377\330\377\340\0\020JFIF\0\001\001\0\0\1\0\1\0\0\377\300\0\021\010\0\012\0\024\003\1\042\0\2\021\1\3\021\1\377\331' > jpg2; printf '\377\330\377\340\0\020JFIF\0\001\001\0\0\1\0\1\0\0\377\376\0\007hello\377\302\0\021\010\0\012\0\024\001\1\042\0\2\021\1\3\021\1\377\331' > jpg3
printf 'BM\066\0\0\0\0\0\0\0\066\0\0\0\050\0\0\0\020\0\0\0\020\0\0\0\001\0\030\0\0\0\0\0\0\0\0\0' > bmp; printf 'RIFF\044\0\0\0WAVEfmt \020\0\0\0\001\0\002\0\104\254\0\0\020\261\002\0\004\0\020\0data' > wav; printf 'RIFF\044\0\0\0WEBPVP8 ' > webp; printf 'OggS\0\002' > ogg; printf 'fLaC\0\0\0\042' > flac
printf '\0\0\0\030ftypmp42\0\0\0\0' > mp4; printf '\0\0\0\030ftypisom\0\0\0\0' > isom; printf '\0asm\001\0\0\0' > wasm; printf '\312\376\272\276\0\0\0\064' > class8; printf '\312\376\272\276\0\0\0\101' > class21; printf 'wOF2' > woff2; printf 'II*\0\010\0\0\0' > tif; printf 'PK\005\006\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' > empty.zip
printf '\x1f\x9d\x90' > Z; printf '\317\372\355\376\7\0\0\1\3\0\0\0\2\0\0\0' > macho; printf 'MZ\220\0' > mz; printf '7z\274\257\047\034\0\4xxxxxxxxxxxxxxxxxxx' > 7z; printf 'Rar!\032\007\0xxxx' > rar; printf '\x04\x22\x4d\x18xxxxx' > lz4; printf 'SQLite format 3\0\020\0\001\001\0\100\040\040' > sqlite; head -c 100 /dev/zero >> sqlite
cp /bin/true elf; cp "$(command -v busybox)" static; printf '\177ELF\2\1\1' > cut.elf; printf '{"a":1' > cut.json; (echo '['; seq -s, 1 1000; echo ']') > big.json; (printf 'P6 1 1 255\n'; printf 'a\0b') > ppm`

func Test_File_Prints_The_Same_As_The_Real_One(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "bzip2", "xz", "zip", "zstd", "busybox"} {
		require.Command(t, name, "")
	}
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	samples := strings.Split(strings.TrimSpace(filetype.FileSamples), "\n")
	var setup strings.Builder
	for i, s := range samples {
		fmt.Fprintf(&setup, "printf %%b '%s' > s%03d\n", strings.ReplaceAll(s, "'", `'\''`), i)
	}
	programtest.Prepare(t, work, setup.String()+fileBinaries)
	tree := programtest.ImportTree(t, work)
	entries, err := os.ReadDir(work)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, option := range []string{"-N", "-Ni", "-L"} {
		args := slices.Concat([]string{"file", option}, names)
		got, want := strings.Split(programtest.RunVirtual(t, tree, work, args, programtest.Row{}).Stdout, "\n"), strings.Split(programtest.RunReal(t, work, args, programtest.Row{}).Stdout, "\n")
		if len(got) != len(want) || len(got) < len(names) {
			t.Fatalf("%s: %d lines, want %d", option, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				sample := ""
				if n := 0; i < len(names) && strings.HasPrefix(names[i], "s") {
					if _, err := fmt.Sscanf(names[i], "s%d", &n); err == nil {
						sample = samples[n]
					}
				}
				t.Errorf("%s %q\n     %s\nwant %s", option, sample, got[i], want[i])
			}
		}
	}
}

func Test_File_Takes_Options_As_The_Real_One(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, "mkdir d; echo x > a; echo '{}' > longer.json; ln -s a l; ln -s nowhere broken; printf 'a\\nlonger.json\\n' > list; : > empty; gzip -nc a > z; printf x > 'new\nline'; printf x > 'caf\303\251'; mkfifo p", append(programtest.RowsOf("",
		"file a", "file a longer.json d", "file -b a longer.json", "file -i a d l broken", "file --mime a", "file --mime-type a d", "file --mime-encoding a z d", "file -N a longer.json", "file -F ' ->' a longer.json", "file --separator=- a", "file -0 a longer.json", "file -00 a", "file -b0 a", "file -f list", "file -f list d", "file -bf list", "file -L l broken", "file -h l", "file -Lh l", "file -i -L l broken",
		"file nosuch", "file a nosuch", "file -b nosuch", "file -i nosuch", "file -E nosuch", "file -f nosuch", "file -f empty", "file -- a", "file a/", "file d/", "file ''", "file -s /dev/null", "file -s /dev/zero", "file /dev/null", "file -i /dev/null", "file p", "file -b -i empty", "file 'new\nline'", "file -r 'new\nline'", "file caf\303\251", "file --brief --mime-type z", "file -n a", "file -p a", "file -bL --mime-type l d", "file -b --mime-type a longer.json z",
	), programtest.Row{Line: "file -", Stdin: "text\n"}, programtest.Row{Line: "file -b -", Stdin: "{}"}, programtest.Row{Line: "file -i -", Stdin: "\x00\x01"}, programtest.Row{Line: "file -f -", Stdin: "a\nd\n"}, programtest.Row{Line: "file l", Env: []string{"POSIXLY_CORRECT=1"}}, programtest.Row{Line: "file -bi -", Stdin: ""},
		programtest.Row{Line: "file", Loose: programtest.SloppyOutput}, programtest.Row{Line: "file --bogus a", Loose: programtest.SloppyOutput}, programtest.Row{Line: "file -b", Loose: programtest.SloppyOutput}, programtest.Row{Line: "file --version", Loose: programtest.SloppyOutput}))
}
