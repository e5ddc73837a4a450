package diff

import (
	"path"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// target finds the file that a patch is for.
func (j *patchJob) target(fp *filePatch) (*patchTarget, bool) {
	name := j.file
	if name == "" {
		var ok bool
		if name, ok = j.choose(fp); !ok {
			return nil, false
		}
	}
	t := &patchTarget{name: name, out: name}
	if (fp.rename || fp.copy) && j.file == "" {
		if to := fp.names[j.side(sideNew)]; to != "" {
			t.out = to
		}
	}
	if j.outName != "" {
		t.out = j.outName
	}
	var err error
	if t.info, err = j.stat(name); err != nil {
		t.missing = true
		t.info = vfs.Info{}
	}
	return t, true
}

func (j *patchJob) stat(name string) (vfs.Info, error) {
	if j.follow {
		return j.p.Stat(j.path(name))
	}
	return j.p.Lstat(j.path(name))
}

// isDangerousName reports whether a name leaves the directory: a patch must not reach other files of the machine.
func isDangerousName(name string) bool {
	if strings.HasPrefix(name, "/") {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// choose takes one of the names in the header: the best of those that exist.
func (j *patchJob) choose(fp *filePatch) (string, bool) {
	names := fp.names
	if !j.posix && (names[sideOld] != "" || names[sideNew] != "") {
		names[sideIndex] = ""
	}
	if fp.rename || fp.copy {
		from, to := names[j.side(sideOld)], names[j.side(sideNew)]
		if from == "" || to == "" || isDangerousName(from) || isDangerousName(to) || !j.exists(from) && !j.exists(to) {
			what := "rename"
			if fp.copy {
				what = "copy"
			}
			j.say("Cannot %s file without two valid file names\n", what)
			j.skip = true
			return "", false
		}
		if !j.exists(from) {
			return to, true
		}
		return from, true
	}
	var there []string
	for _, n := range names {
		if n == "" {
			continue
		}
		if j.exists(n) {
			if j.posix && !isDangerousName(n) {
				return n, true
			}
			there = append(there, n)
		}
	}
	if len(there) > 0 {
		return j.safe(bestName(there))
	}
	// A new file goes where the fewest directories have to be made.
	if fp.empty[sideOld] > 0 || fp.empty[sideNew] > 0 {
		var least []string
		fewest := -1
		for _, n := range names {
			if n == "" {
				continue
			}
			switch missing := j.missingDirs(n); {
			case fewest < 0 || missing < fewest:
				least, fewest = []string{n}, missing
			case missing == fewest:
				least = append(least, n)
			}
		}
		if len(least) > 0 {
			return j.safe(bestName(least))
		}
	}
	return "", false
}

func (j *patchJob) exists(name string) bool {
	_, err := j.stat(name)
	return err == nil
}

func (j *patchJob) safe(name string) (string, bool) {
	if isDangerousName(name) {
		j.say("Ignoring potentially dangerous file name %s\n", shell.QuoteIfNeeded(name))
		return "", false
	}
	return name, true
}

func (j *patchJob) missingDirs(name string) int {
	n := 0
	for i := 1; i < len(name); i++ {
		if name[i] == '/' {
			if _, err := j.p.Stat(j.path(name[:i])); err != nil {
				n++
			}
		}
	}
	return n
}

// bestName has the fewest directories, of those the shortest last part, of those it is the shortest.
func bestName(names []string) string {
	best := names[0]
	rank := func(n string) [3]int { return [3]int{strings.Count(n, "/"), len(path.Base(n)), len(n)} }
	for _, n := range names[1:] {
		a, b := rank(n), rank(best)
		for i := range a {
			if a[i] != b[i] {
				if a[i] < b[i] {
					best = n
				}
				break
			}
		}
	}
	return best
}
