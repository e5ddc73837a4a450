package zip_test

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const zipSetup = `mkdir -p d/e; for i in $(seq 200); do echo hello world; done >d/a; echo hi >d/e/b; ln -s a d/l; echo top >top; : >empty; chmod 755 top; chmod 700 d/e; find . -exec touch -h -d '2024-02-03 04:05:06' {} +
`

const zipArchives = zipSetup + `zip -qr r.zip d/a d/e top; zip -qry y.zip d; zip -q0 s.zip top; zip -qX x.zip d/a top; zip -q9 n.zip d/a; zip -q1 f.zip d/a; (cd d; zip -q ../abs.zip a ../top); cat d/a | zip -q p.zip -; zip -q c.zip d/a top; printf X | dd of=c.zip bs=1 seek=200 conv=notrunc 2>/dev/null
echo junk >junk.zip; head -c 300 r.zip >cut.zip; (echo prefix; cat s.zip) >sfx.zip; find . -exec touch -h -d '2024-02-03 04:05:06' {} +
`

func Test_Unzip_Lists_As_InfoZip_Does(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, programtest.MadeOnce(t, zipArchives), programtest.TarRows(0, "",
		"unzip -l r.zip", "unzip -l r", "unzip -v r.zip", "unzip -lq r.zip", "unzip -lqq r.zip", "unzip -Z1 r.zip", "unzip -Z r.zip", "zipinfo r.zip", "zipinfo -1 r.zip", "zipinfo -l y.zip", "zipinfo x.zip", "zipinfo p.zip", "zipinfo n.zip", "zipinfo f.zip", "unzip -v n.zip", "unzip -v f.zip", "unzip -t r.zip", "unzip -tq r.zip", "unzip -tqq r.zip", "unzip -t y.zip", "unzip -p r.zip top", "unzip -p r.zip 'd/*'", "unzip -c r.zip top", "unzip -cq r.zip top", "unzip -l r.zip 'd/*'", "unzip -l r.zip nosuch", "unzip -l r.zip top nosuch", "unzip -l r.zip -x top", "unzip -lC r.zip TOP", "unzip -t r.zip top", "unzip -t r.zip top d/a", "unzip -l nosuch", "unzip -l junk.zip", "unzip -t cut.zip", "unzip -z r.zip", "zipinfo r.zip 'd/*'", "zipinfo nosuch.zip", "unzip -Z1 r.zip -x top", "unzip -l y.zip", "unzip -p p.zip",
	))
}

func Test_Unzip_Extracts_As_InfoZip_Does(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, zipArchives)
	rows := programtest.TarRows(programtest.NoTimes, made+"rm -r d top\n",
		"unzip r.zip", "unzip -q r.zip", "unzip r.zip -d out", "unzip -d out r.zip top", "unzip -dout r.zip", "unzip -j r.zip", "unzip y.zip", "unzip -q y.zip", "unzip s.zip", "unzip x.zip", "unzip r.zip top", "unzip r.zip -x 'd/*'", "unzip r.zip nosuch", "unzip -L r.zip", "unzip r.zip 'd/e/*'")
	rows = append(rows, programtest.TarRows(programtest.NoTimes, made, "unzip -o r.zip", "unzip -n r.zip", "unzip r.zip", "unzip -u r.zip", "unzip -f r.zip", "unzip -qo r.zip -d nosuch/deep")...)
	programtest.RunRows(t, rows)
	programtest.RunRows(t, programtest.TarRows(0, made+"rm -r d top; touch -d 2001-01-01 .\n", "unzip -q r.zip d/a", "unzip -q x.zip top"))
}

func Test_Zip_Packs_As_InfoZip_Does(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, zipSetup+"zip -q old.zip top d/e/b; find . -exec touch -h -d '2024-02-03 04:05:06' {} +\n")
	programtest.RunRows(t, programtest.TarRows(programtest.AnyTree|programtest.AnyOrder, made,
		"zip z.zip top empty", "zip z top", "zip z.zip nosuch", "zip z.zip top nosuch", "zip -r z.zip d/e", "zip -r z.zip d", "zip -ry z.zip d", "zip -q z.zip top", "zip -j z.zip d/e/b top", "zip -jr z.zip d/e", "zip -rD z.zip d/e", "zip -0 z.zip d/a", "zip -r z.zip d -x '*a' '*l'", "zip -r z.zip d -i '*b'", "zip -r z.zip . -i top", "zip old.zip top", "zip old.zip empty", "zip -u old.zip top empty", "zip -f old.zip top", "zip -d old.zip top", "zip -d old.zip nosuch", "zip -d old.zip 'd/*'", "zip -m z.zip top", "zip -rm z.zip d/e", "zip --bogus", "zip -rv z.zip d/e", "zip nodir/z.zip top", "zip z.zip", "zip -d nosuch.zip x", "zip -T old.zip", "zip z.zip ./top", "zip z.zip d/../top", "zip z.zip -- top", "zip -g old.zip empty",
	))
	programtest.RunRows(t, []programtest.Row{{Setup: made, Line: "zip z.zip -@", Stdin: "top\nd/a\nnosuch\n", Loose: programtest.AnyTree}, {Setup: made, Line: "zip -q z.zip -", Stdin: "text", Loose: programtest.AnyTree}})
	programtest.RunRows(t, programtest.TarRows(programtest.NoTimes, made, "zip -qd old.zip top d/e/b"))
}

func Test_Zip_And_InfoZip_Read_Each_Other(t *testing.T) {
	t.Parallel()
	work := t.TempDir() + "/w"
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	programtest.Prepare(t, work, zipSetup+"zip -q z.zip top")
	for _, line := range []string{"zip -qry new.zip d top empty", "zip -qry z.zip d top empty", "zip -qry0 new.zip d top empty", "zip -qryX9 new.zip d top empty"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			tree := programtest.ImportTree(t, work)
			words := programtest.SplitWords(t, line)
			if got := programtest.RunVirtual(t, tree, work, words, programtest.Row{}); got.Status != 0 || got.Stderr != "" || got.Stdout != "" {
				t.Fatalf("status %d: %s%s", got.Status, got.Stdout, got.Stderr)
			}
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/a.zip", programtest.ReadVirtual(t, tree, work+"/"+words[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			programtest.Prepare(t, dir, "unzip -tq a.zip; mkdir out; cd out; unzip -q ../a.zip; diff -r --no-dereference d "+work+"/d; cmp top "+work+"/top; test -x top; test -e empty; test $(stat -c %Y d/a) = $(stat -c %Y "+work+"/d/a); test $(stat -c %a d/e) = 700")
		})
	}
}
