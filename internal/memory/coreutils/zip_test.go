package coreutils

import (
	"os"
	"testing"
)

const zipSetup = `mkdir -p d/e; for i in $(seq 200); do echo hello world; done >d/a; echo hi >d/e/b; ln -s a d/l; echo top >top; : >empty; chmod 755 top; chmod 700 d/e; find . -exec touch -h -d '2024-02-03 04:05:06' {} +
`

const zipArchives = zipSetup + `zip -qr r.zip d/a d/e top; zip -qry y.zip d; zip -q0 s.zip top; zip -qX x.zip d/a top; zip -q9 n.zip d/a; zip -q1 f.zip d/a; (cd d; zip -q ../abs.zip a ../top); cat d/a | zip -q p.zip -; zip -q c.zip d/a top; printf X | dd of=c.zip bs=1 seek=200 conv=notrunc 2>/dev/null
echo junk >junk.zip; head -c 300 r.zip >cut.zip; (echo prefix; cat s.zip) >sfx.zip; find . -exec touch -h -d '2024-02-03 04:05:06' {} +
`

func Test_Unzip_Lists_As_InfoZip_Does(t *testing.T) {
	t.Parallel()
	runReadOnly(t, madeOnce(t, zipArchives), tarRows(0, "",
		"unzip -l r.zip", "unzip -l r", "unzip -v r.zip", "unzip -lq r.zip", "unzip -lqq r.zip", "unzip -Z1 r.zip", "unzip -Z r.zip", "zipinfo r.zip", "zipinfo -1 r.zip", "zipinfo -l y.zip", "zipinfo x.zip", "zipinfo p.zip", "zipinfo n.zip", "zipinfo f.zip", "unzip -v n.zip", "unzip -v f.zip", "unzip -t r.zip", "unzip -tq r.zip", "unzip -tqq r.zip", "unzip -t y.zip", "unzip -p r.zip top", "unzip -p r.zip 'd/*'", "unzip -c r.zip top", "unzip -cq r.zip top", "unzip -l r.zip 'd/*'", "unzip -l r.zip nosuch", "unzip -l r.zip top nosuch", "unzip -l r.zip -x top", "unzip -lC r.zip TOP", "unzip -t r.zip top", "unzip -t r.zip top d/a", "unzip -l nosuch", "unzip -l junk.zip", "unzip -t cut.zip", "unzip -z r.zip", "zipinfo r.zip 'd/*'", "zipinfo nosuch.zip", "unzip -Z1 r.zip -x top", "unzip -l y.zip", "unzip -p p.zip",
	))
}

func Test_Unzip_Extracts_As_InfoZip_Does(t *testing.T) {
	t.Parallel()
	made := madeOnce(t, zipArchives)
	rows := tarRows(noTimes, made+"rm -r d top\n",
		"unzip r.zip", "unzip -q r.zip", "unzip r.zip -d out", "unzip -d out r.zip top", "unzip -dout r.zip", "unzip -j r.zip", "unzip y.zip", "unzip -q y.zip", "unzip s.zip", "unzip x.zip", "unzip r.zip top", "unzip r.zip -x 'd/*'", "unzip r.zip nosuch", "unzip -L r.zip", "unzip r.zip 'd/e/*'")
	rows = append(rows, tarRows(noTimes, made, "unzip -o r.zip", "unzip -n r.zip", "unzip r.zip", "unzip -u r.zip", "unzip -f r.zip", "unzip -qo r.zip -d nosuch/deep")...)
	runRows(t, rows)
	runRows(t, tarRows(0, made+"rm -r d top; touch -d 2001-01-01 .\n", "unzip -q r.zip d/a", "unzip -q x.zip top"))
}

func Test_Zip_Packs_As_InfoZip_Does(t *testing.T) {
	t.Parallel()
	made := madeOnce(t, zipSetup+"zip -q old.zip top d/e/b; find . -exec touch -h -d '2024-02-03 04:05:06' {} +\n")
	runRows(t, tarRows(anyTree|anyOrder, made,
		"zip z.zip top empty", "zip z top", "zip z.zip nosuch", "zip z.zip top nosuch", "zip -r z.zip d/e", "zip -r z.zip d", "zip -ry z.zip d", "zip -q z.zip top", "zip -j z.zip d/e/b top", "zip -jr z.zip d/e", "zip -rD z.zip d/e", "zip -0 z.zip d/a", "zip -r z.zip d -x '*a' '*l'", "zip -r z.zip d -i '*b'", "zip -r z.zip . -i top", "zip old.zip top", "zip old.zip empty", "zip -u old.zip top empty", "zip -f old.zip top", "zip -d old.zip top", "zip -d old.zip nosuch", "zip -d old.zip 'd/*'", "zip -m z.zip top", "zip -rm z.zip d/e", "zip --bogus", "zip -rv z.zip d/e", "zip nodir/z.zip top", "zip z.zip", "zip -d nosuch.zip x", "zip -T old.zip", "zip z.zip ./top", "zip z.zip d/../top", "zip z.zip -- top", "zip -g old.zip empty",
	))
	runRows(t, []row{{setup: made, line: "zip z.zip -@", stdin: "top\nd/a\nnosuch\n", loose: anyTree}, {setup: made, line: "zip -q z.zip -", stdin: "text", loose: anyTree}})
	runRows(t, tarRows(noTimes, made, "zip -qd old.zip top d/e/b"))
}

func Test_Zip_And_InfoZip_Read_Each_Other(t *testing.T) {
	t.Parallel()
	work := t.TempDir() + "/w"
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	prepare(t, work, zipSetup+"zip -q z.zip top")
	for _, line := range []string{"zip -qry new.zip d top empty", "zip -qry z.zip d top empty", "zip -qry0 new.zip d top empty", "zip -qryX9 new.zip d top empty"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			tree := importTree(t, work)
			words := splitWords(t, line)
			if got := runVirtual(t, tree, work, words, row{}); got.status != 0 || got.stderr != "" || got.stdout != "" {
				t.Fatalf("status %d: %s%s", got.status, got.stdout, got.stderr)
			}
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/a.zip", readVirtual(t, tree, work+"/"+words[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			prepare(t, dir, "unzip -tq a.zip; mkdir out; cd out; unzip -q ../a.zip; diff -r --no-dereference d "+work+"/d; cmp top "+work+"/top; test -x top; test -e empty; test $(stat -c %Y d/a) = $(stat -c %Y "+work+"/d/a); test $(stat -c %a d/e) = 700")
		})
	}
}
