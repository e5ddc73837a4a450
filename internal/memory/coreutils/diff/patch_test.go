package diff_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/scripttest"
)

func numbers(from, to int, replace ...string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		line := fmt.Sprint(i)
		for k := 0; k < len(replace); k += 2 {
			if replace[k] == line {
				line = replace[k+1]
			}
		}
		if line != "-" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

const (
	patchU = "--- f\t2024-02-03 04:05:06.000000000 +0000\n+++ g\t2024-02-03 04:05:07.000000000 +0000\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -12,7 +12,8 @@ some function\n 12\n 13\n 14\n-15\n+fifteen\n+and more\n 16\n 17\n 18\n"
	patchC = "*** f\t2024-02-03 04:05:06.000000000 +0000\n--- g\t2024-02-03 04:05:07.000000000 +0000\n***************\n*** 2,8 ****\n  2\n  3\n  4\n! 5\n  6\n  7\n  8\n--- 2,8 ----\n  2\n  3\n  4\n! five\n  6\n  7\n  8\n***************\n*** 12,18 ****\n  12\n  13\n  14\n- 15\n  16\n  17\n  18\n--- 12,17 ----\n"
	patchN = "5c5\n< 5\n---\n> five\n15c15,16\n< 15\n---\n> fifteen\n> and more\n18d18\n< 18\n20a21\n> end\n"
	gitNew = "diff --git a/d/new.txt b/d/new.txt\nnew file mode 100755\nindex 0000000..1234567\n--- /dev/null\n+++ b/d/new.txt\n@@ -0,0 +1,2 @@\n+new\n+file\n"
	gitDel = "diff --git a/f b/f\ndeleted file mode 100644\nindex 1234567..0000000\n--- a/f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n"
	gitMov = "diff --git a/f b/sub/moved\nsimilarity index 90%\nrename from f\nrename to sub/moved\nindex 1..2 100644\n--- a/f\n+++ b/sub/moved\n@@ -4,5 +4,5 @@\n 4\n 5\n-6\n+six\n 7\n 8\n"
	gitPur = "diff --git a/f b/h\nsimilarity index 100%\nrename from f\nrename to h\n"
	gitCpy = "diff --git a/f b/h\nsimilarity index 100%\ncopy from f\ncopy to h\n"
	gitMod = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
	gitBin = "diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzfPY\n\nliteral 0\nHcmV?d00001\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
	gitLnk = "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..1234567\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n"
	gitEmp = "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
)

func Test_Patch_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	tree := func(more scripttest.Files) scripttest.Files {
		out := scripttest.Files{"f": numbers(1, 20), "u.patch": patchU, "c.patch": patchC, "n.patch": patchN}
		maps.Copy(out, more)
		return out
	}
	var rows []scripttest.Row
	add := func(more scripttest.Files, lines ...string) {
		rows = append(rows, scripttest.RowsOf(tree(more), lines...)...)
	}
	add(nil,
		"patch f u.patch", "patch < u.patch", "patch -i u.patch", "patch f < c.patch", "patch < c.patch", "patch f n.patch", "patch < n.patch", "patch -p0 < u.patch", "patch -p1 < u.patch", "patch -u f u.patch", "patch -c f u.patch", "patch -n f n.patch", "patch -c f c.patch", "patch -u f c.patch",
		"patch f u.patch\npatch f u.patch", "patch f u.patch\npatch -N f u.patch", "patch f u.patch\npatch -f f u.patch", "patch f u.patch\npatch -t f u.patch", "patch f u.patch\npatch -R f u.patch", "patch -R f u.patch", "patch -R -f f u.patch", "patch -R -t f u.patch", "patch -RN f u.patch", "patch f c.patch\npatch -R f c.patch", "patch f n.patch\npatch -R f n.patch", "patch f n.patch\npatch f n.patch",
		"patch --dry-run f u.patch", "patch -s f u.patch", "patch --verbose f u.patch", "patch -b f u.patch", "patch -b -z .bak f u.patch", "patch -B old/ f u.patch", "patch -Y pre. f u.patch", "patch -V t f u.patch", "patch -V numbered f u.patch\npatch -R -V numbered f u.patch", "patch -o out f u.patch", "patch -o - f u.patch", "patch -o out -s f u.patch", "patch -E f u.patch", "patch f nosuch", "patch -d nosuch f u.patch", "patch f u.patch extra", "patch -q", "patch --nothing", "patch -F x f u.patch", "patch -p x f u.patch", "patch -F 0 f u.patch", "patch -r rej f u.patch", "patch --posix f u.patch", "patch -i nosuch", "patch -l f u.patch", "patch --binary f u.patch", "patch -V q f u.patch", "patch --reject-format=q f u.patch", "patch --reject-format=unified f n.patch",
	)
	// Files that are not quite as the patch has them.
	for name, content := range map[string]string{
		"a line before": "0\n" + numbers(1, 20), "three lines before": "x\ny\nz\n" + numbers(1, 20), "a line less": numbers(2, 20), "other context": numbers(1, 20, "2", "two", "18", "x"),
		"other inner context": numbers(1, 20, "4", "four"), "all other": numbers(30, 50), "only the second": numbers(1, 20, "5", "x"), "only the first": numbers(1, 20, "15", "x"), "empty": "", "tabs": strings.ReplaceAll(numbers(1, 20), "\n", " \n"),
		"carriage returns": strings.ReplaceAll(numbers(1, 20), "\n", "\r\n"), "cut": numbers(1, 8), "twice": numbers(1, 10) + numbers(1, 10) + numbers(1, 20), "no newline": strings.TrimSuffix(numbers(1, 20), "\n"), "two fuzz": numbers(1, 20, "2", "x", "3", "y"),
	} {
		for _, line := range []string{
			"patch f u.patch", "patch f c.patch", "patch f n.patch", "patch -F0 f u.patch", "patch -F3 f u.patch", "patch -l f u.patch", "patch --dry-run f u.patch", "patch -r - f u.patch", "patch -r rejects f c.patch", "patch --reject-format=context f u.patch", "patch --no-backup-if-mismatch f u.patch", "patch -s f u.patch", "patch -f f u.patch", "patch -R f u.patch", "patch --verbose f u.patch", "patch -o out f u.patch",
		} {
			rows = append(rows, scripttest.Row{Name: name + ": " + line, Tree: tree(scripttest.Files{"f": content}), Run: line})
		}
	}
	// Git's own headers.
	for name, text := range map[string]string{"new": gitNew, "del": gitDel, "mov": gitMov, "pur": gitPur, "cpy": gitCpy, "mod": gitMod, "bin": gitBin, "lnk": gitLnk, "emp": gitEmp, "all": gitMov + gitNew} {
		for _, line := range []string{"patch -p1 -i p", "patch -p1 -R -f -i p", "patch -p1 -i p\npatch -p1 -R -i p", "patch -p1 --dry-run -i p", "patch -p1 -b -i p", "patch -p0 -i p", "patch -i p", "patch -p1 -i p\npatch -p1 -i p", "patch -p1 -N -i p\npatch -p1 -N -i p"} {
			rows = append(rows, scripttest.Row{Name: "git " + name + ": " + line, Tree: tree(scripttest.Files{"f": numbers(1, 20), "p": text, "sub/x": "x"}), Run: line})
		}
	}
	rows = append(rows, scripttest.Row{Name: "git del of a whole file", Tree: scripttest.Files{"f": "1\n2\n3\n", "p": gitDel}, Run: "patch -p1 -i p"})
	rows = append(rows, scripttest.Row{Name: "git del of a file below", Tree: scripttest.Files{"d/f": "1\n2\n3\n", "p": strings.ReplaceAll(gitDel, "/f", "/d/f")}, Run: "patch -p1 -i p"})
	multi := "Some text\n\ndiff -ru a/x b/x\n--- a/x\t2024-01-01 00:00:00.000000000 +0000\n+++ b/x\t2024-01-01 00:00:00.000000000 +0000\n@@ -1 +1 @@\n-x\n+X\ndiff -ru a/y/z b/y/z\n--- a/y/z\t2024-01-01 00:00:00.000000000 +0000\n+++ b/y/z\t2024-01-01 00:00:00.000000000 +0000\n@@ -1,2 +1,3 @@\n 1\n+1.5\n 2\nOnly in b: q\n"
	many := scripttest.Files{"x": "x\n", "y/z": "1\n2\n", "p": multi, "dir/x": "x\n", "dir/y/z": "1\n2\n"}
	rows = append(rows, scripttest.RowsOf(many, "patch -p1 -i p", "patch -p1 -d dir < p", "patch -p0 -i p", "patch -p2 -i p", "patch -i p", "patch -p1 --verbose -i p", "patch -p1 -R -i p", "patch -p1 -o out -i p", "patch -d dir -p1 -i ../p", "patch -p3 -i p", "patch -p1 -t -d y < p", "patch -p1 -f -d y < p", "patch -p1 -s -d y < p")...)
	for name, text := range map[string]string{
		"garbage": "just text\n", "nothing": "", "a malformed hunk": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\nxyz\n", "a cut hunk": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n", "a malformed range": "--- f\n+++ f\n@@ -x +1 @@\n", "no header": "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
		"Index": "Index: f\n===\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "Index before names": "Index: f\n====\n--- nosuch\n+++ nosuch2\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "trailing text": patchU + "-- \n2.30.2\n\n", "a mail": "From: x\nSubject: y\n---\n f | 2 +-\n\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n-- \n2.39\n",
		"an absolute name": "--- /etc/passwd\n+++ /etc/passwd\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "a name that leads out": "--- ../f\n+++ ../f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "one name that leads out": "--- ../f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
		"carriage returns": strings.ReplaceAll(patchU, "\n", "\r\n"), "a created file": "--- /dev/null\t1970-01-01 00:00:00 +0000\n+++ n\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+n\n", "a created file by time": "--- n\t1970-01-01 00:00:00.000000000 +0000\n+++ n\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+n\n", "a created file that is there": "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+n\n",
		"a deleted file": "--- x\t2024-01-01 00:00:00 +0000\n+++ /dev/null\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n", "a deleted file by time": "--- x\t2024-01-01 00:00:00 +0000\n+++ x\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n", "an emptied file": "--- x\t2024-01-01 00:00:00 +0000\n+++ x\t2024-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n", "a deleted file with more in it": "--- f\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n",
		"a link": "--- l\n+++ l\n@@ -1 +1 @@\n-x\n+y\n", "a directory": "--- d\n+++ d\n@@ -1 +1 @@\n-x\n+y\n", "no newline at the end": "--- nn\n+++ nn\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "a newline at the end": "--- nn\n+++ nn\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "names with blanks": "--- a b\t2024-01-01 00:00:00 +0000\n+++ a b\t2024-01-01 00:00:00 +0000\n@@ -1 +1 @@\n-x\n+y\n",
		"quoted names": "--- \"a b\"\n+++ \"a b\"\n@@ -1 +1 @@\n-x\n+y\n", "an empty context line": "--- f3\n+++ f3\n@@ -1,3 +1,3 @@\n 1\n\n-3\n+three\n", "different names": "--- f.orig\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "both names": "--- x\n+++ f\n@@ -1 +1 @@\n-x\n+y\n", "an insertion": "--- f\n+++ f\n@@ -3,0 +4,2 @@\n+a\n+b\n", "an insertion at the end": "--- f\n+++ f\n@@ -20,0 +21 @@\n+a\n", "a context insertion": "*** f\n--- f\n***************\n*** 3,5 ****\n--- 3,6 ----\n  3\n  4\n+ new\n  5\n",
		"hunks out of order": "--- f\n+++ f\n@@ -15 +15 @@\n-15\n+x\n@@ -5 +5 @@\n-5\n+y\n", "overlapping hunks": "--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n@@ -2,3 +2,3 @@\n 2\n-3\n+y\n 4\n", "an old context diff": "*** f\n--- f\n***************\n*** 1,3\n  1\n- 2\n  3\n--- 1,2 -----\n  1\n  3\n", "a hunk that grows": "--- f\n+++ f\n@@ -1,2 +1,4 @@\n 1\n+a\n+b\n 2\n@@ -10,3 +12,3 @@\n 10\n-nope\n+x\n 12\n",
	} {
		for _, line := range []string{"patch -i p", "patch -p1 -i p", "patch -p0 -f -i p", "patch -p0 -N -i p", "patch -p0 -R -i p", "patch f p", "patch -E -p0 -i p"} {
			rows = append(rows, scripttest.Row{Name: name + ": " + line, Tree: tree(scripttest.Files{"p": text, "x": "x\n", "l@": "x", "d/": "", "nn": "a", "a b": "x\n", "f3": "1\n\n3\n"}), Run: line})
		}
	}
	scripttest.RunReal(t, "patch", rows)
}

// Test_Patch_Places_Hunks_As_The_Real_One_Does applies patches to files that have changed since.
func Test_Patch_Places_Hunks_As_The_Real_One_Does(t *testing.T) {
	t.Parallel()
	var rows []scripttest.Row
	for seed := range 80 {
		rng := rand.New(rand.NewPCG(uint64(seed), 11)) //nolint:gosec // The rows are to be the same each time.
		kinds := []int{6, 30, 200}[seed%3]
		var a []string
		for range 60 {
			a = append(a, fmt.Sprintf("line %d", rng.IntN(kinds)))
		}
		text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
		b, c := mutate(rng, a, kinds, 6), mutate(rng, a, kinds, 4)
		style := []string{"-u", "-c", "-U1", ""}[seed%4]
		rows = append(rows, scripttest.Row{
			Name: fmt.Sprintf("seed %d %s", seed, style), Tree: scripttest.Files{"a": text(a), "b": text(b), "c": text(c)},
			Run: "diff " + style + " --label a --label b a b > p\npatch c p\npatch -R c p",
		})
	}
	for i := range rows {
		if strings.Contains(rows[i].Run, "diff  --label") {
			rows[i].Run = strings.Replace(rows[i].Run, " --label a --label b", "", 1)
		}
	}
	scripttest.RunReal(t, "patch", rows)
}
