package listing

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/versionorder"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func treeCommand() program.Description {
	return program.Description{
		Name: "tree", Usage: "[OPTION]... [DIRECTORY]...",
		Summary: "draw what is below directories",
		Help: `  -a             also names that begin with a dot
  -d             only directories
  -l             follow links to directories
  -f             whole paths
  -i             no lines
  -L LEVEL       at most LEVEL levels
  -P PATTERN     only files that match; several with | between
  -I PATTERN     not what matches
  --ignore-case  patterns match letters of both cases
  --matchdirs    -P for directories too
  --prune        no empty directories
  --filelimit N  do not go into directories of more than N entries
  --noreport     no count at the end
  -p -u -g -s -h --si -D  mode, owner, group, size, size with units, time of change
  --timefmt FMT  the time as date(1) does; implies -D
  --inodes --device  numbers of inodes and devices
  -F             a mark behind names: one of */=>@|
  -q -N          ? for what cannot be printed; names as they are (so it is without options)
  -Q             names in double quotes
  -r -t -c -U -v reverse order, by time, by time of status, as they come, by version
  --sort=WORD    name, version, size, mtime, ctime
  --dirsfirst, --filesfirst
  --du           sizes of directories with what is below; implies -s
  -n -C          without colours (so it is without options); with them
  --charset X, --metafirst  lines of ASCII when X has no UTF-8; data before the lines
  -J -X          as JSON, as XML
  -o FILE        write to FILE`,
		Run: runTree,
	}
}

const (
	treeNoReport = getopt.First + iota
	treeDirsFirst
	treeFilesFirst
	treePrune
	treeFileLimit
	treeIgnoreCase
	treeMatchDirs
	treeSI
	treeTimeFormat
	treeInodes
	treeDevice
	treeSort
	treeDu
	treeCharset
	treeMetaFirst
)

var treeOptions = []getopt.Option{
	{Short: 'a'},
	{Short: 'd'},
	{Short: 'l'},
	{Short: 'f'},
	{Short: 'i'},
	{Short: 'L', Arg: getopt.Required},
	{Short: 'P', Arg: getopt.Required},
	{Short: 'I', Arg: getopt.Required},
	{Short: 'p'},
	{Short: 'u'},
	{Short: 'g'},
	{Short: 's'},
	{Short: 'h'},
	{Short: 'D'},
	{Short: 'F'},
	{Short: 'q'},
	{Short: 'N'},
	{Short: 'Q'},
	{Short: 'r'},
	{Short: 't'},
	{Short: 'c'},
	{Short: 'U'},
	{Short: 'v'},
	{Short: 'n'},
	{Short: 'C'},
	{Short: 'J'},
	{Short: 'X'},
	{Short: 'x'},
	{Short: 'o', Arg: getopt.Required},
	{Long: "noreport", ID: treeNoReport},
	{Long: "dirsfirst", ID: treeDirsFirst},
	{Long: "filesfirst", ID: treeFilesFirst},
	{Long: "prune", ID: treePrune},
	{Long: "filelimit", Arg: getopt.Required, ID: treeFileLimit},
	{Long: "ignore-case", ID: treeIgnoreCase},
	{Long: "matchdirs", ID: treeMatchDirs},
	{Long: "si", ID: treeSI},
	{Long: "timefmt", Arg: getopt.Required, ID: treeTimeFormat},
	{Long: "inodes", ID: treeInodes},
	{Long: "device", ID: treeDevice},
	{Long: "sort", Arg: getopt.Required, ID: treeSort},
	{Long: "du", ID: treeDu},
	{Long: "charset", Arg: getopt.Required, ID: treeCharset},
	{Long: "metafirst", ID: treeMetaFirst},
}

// treeJob holds the parsed options of tree.
type treeJob struct {
	proc     *shell.Proc
	out      *program.Output
	accounts *accounts.Database

	all, dirsOnly, follow, paths, plain   bool
	level, limit                          int // 0: none
	match, ignore                         []string
	fold                                  fnmatch.Flags
	matchDirs, prune, noReport, sum       bool
	mode, owner, group, inode, device     bool
	size                                  *sizes.Format
	timeFormat                            string
	dated                                 bool // with -D; old times have a year
	marks, quote, hide, metaFirst, colors bool
	literal, bytes                        bool
	sort                                  byte // n, t, c, U, v, s
	reverse                               bool
	first                                 byte // d, f or 0
	form                                  byte // J, X or 0
	file                                  string
	lines                                 treeLines

	seen        map[uint64]bool // directories, with follow
	dirs, files int
	total       int64
	status      int
	err         error
}

// treeLines are the line drawings of the tree.
type treeLines struct{ bar, branch, last, space string }

var (
	treeUTF8  = treeLines{"│\u00a0\u00a0 ", "├── ", "└── ", "    "}
	treeASCII = treeLines{"|   ", "|-- ", "`-- ", "    "}
)

// treeNode is a file with its descendants.
type treeNode struct {
	name, path string
	info       vfs.Info
	target     string
	leads      fs.FileMode
	leadsOK    bool
	kids       []*treeNode
	note       string // why the node has no kids
	absent     bool   // the operand does not exist
	free       bool   // its files need not match
	size       int64
}

// isDir reports whether a node, or the target of a link, is a directory.
func (n *treeNode) isDir() bool { return n.info.IsDir() || n.leadsOK && n.leads.IsDir() }

func runTree(p *shell.Proc) int {
	o := program.NewOptions(p, treeCommand, treeOptions)
	j := &treeJob{proc: p, accounts: accounts.New(p), sort: 'n', lines: treeUTF8, bytes: program.IsByteLocale(p)}
	if j.bytes {
		j.lines = treeASCII
	}
	for o.Next() {
		if !j.listing(o) {
			j.shape(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	q := *p
	if j.file != "" {
		f, err := p.Create(j.file)
		if err != nil {
			p.Warn("invalid filename '%s'", j.file)
			return 1
		}
		defer f.Close()
		q.Stdout = f
	}
	j.out = program.NewOutput(&q)
	j.run(o.Args())
	if j.err != nil {
		_ = j.out.Flush() // The process ends for another reason.
		return p.Status(j.err)
	}
	return j.out.Close(j.status)
}

// listing takes the options that select the files.
func (j *treeJob) listing(o *program.Options) bool {
	switch o.ID {
	case 'a':
		j.all = true
	case 'd':
		j.dirsOnly = true
	case 'l':
		j.follow = true
	case 'L', treeFileLimit:
		n, err := strconv.Atoi(o.Value)
		if err != nil || n < 1 {
			o.RejectQuietly("Invalid level, must be greater than 0.")
		}
		if o.ID == 'L' {
			j.level = n
		} else {
			j.limit = n
		}
	case 'P':
		j.addPatterns(o, &j.match)
	case 'I':
		j.addPatterns(o, &j.ignore)
	case treeIgnoreCase:
		j.fold = fnmatch.Fold
	case treeMatchDirs:
		j.matchDirs = true
	case treePrune:
		j.prune = true
	case treeDu:
		j.sum = true
		if j.size == nil {
			j.size = &sizes.Format{Unit: 1, Base: 1024}
		}
	case 'r':
		j.reverse = true
	case 't', 'c', 'U', 'v':
		j.sort = byte(o.ID)
	case treeSort:
		j.sort = program.Choose(o, "--sort", o.Value, []choice.Choice[byte]{{Name: "name", Value: 'n'}, {Name: "version", Value: 'v'}, {Name: "size", Value: 's'}, {Name: "mtime", Value: 't'}, {Name: "ctime", Value: 'c'}, {Name: "none", Value: 'U'}})
	case treeDirsFirst:
		j.first = 'd'
	case treeFilesFirst:
		j.first = 'f'
	case 'x':
	default:
		return false
	}
	return true
}

// shape takes the options that say how it is drawn.
func (j *treeJob) shape(o *program.Options) {
	switch o.ID {
	case 'f':
		j.paths = true
	case 'i':
		j.plain = true
	case 'p':
		j.mode = true
	case 'u':
		j.owner = true
	case 'g':
		j.group = true
	case 's':
		if j.size == nil {
			j.size = &sizes.Format{Unit: 1, Base: 1024}
		}
	case 'h':
		j.size = &sizes.Format{Base: 1024, Suffix: true}
	case treeSI:
		j.size = &sizes.Format{Base: 1000, Suffix: true}
	case 'D':
		j.dated = true
	case treeTimeFormat:
		j.timeFormat = strings.TrimPrefix(o.Value, "+")
	case treeInodes:
		j.inode = true
	case treeDevice:
		j.device = true
	case 'F':
		j.marks = true
	case 'q':
		j.hide = true
	case 'N':
		j.literal = true
	case 'Q':
		j.quote = true
	case 'C':
		j.colors = true
	case treeNoReport:
		j.noReport = true
	case treeMetaFirst:
		j.metaFirst = true
	case treeCharset:
		j.lines = treeASCII
		if strings.Contains(strings.ToLower(o.Value), "utf") {
			j.lines = treeUTF8
		}
	case 'J', 'X':
		j.form = byte(o.ID)
	case 'o':
		j.file = o.Value
	}
}

// addPatterns takes the alternatives of -P or -I.
func (j *treeJob) addPatterns(o *program.Options, to *[]string) {
	list, err := program.Split(j.proc, o.Value, "|")
	if err != nil {
		o.RejectQuietly("memory exhausted")
		return
	}
	*to = append(*to, list...)
}

func (j *treeJob) put(s string) { _, _ = j.out.WriteString(s) } // The error stays in out.

func (j *treeJob) run(paths []string) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var roots []*treeNode
	for _, path := range paths {
		n := j.root(path)
		if j.err != nil {
			return
		}
		roots = append(roots, n)
	}
	switch j.form {
	case 'J':
		j.writeJSON(roots)
	case 'X':
		j.writeXML(roots)
	default:
		for _, n := range roots {
			j.write(n)
		}
		j.report()
	}
}

// root reads an operand and its descendants.
func (j *treeJob) root(path string) *treeNode {
	n := &treeNode{name: path, path: path}
	info, err := j.proc.Stat(path)
	if err != nil || !info.IsDir() {
		n.note = "error opening dir"
		n.info.Mode = fs.ModeDir
		if err == nil {
			n.info = info
			j.files++
		} else {
			n.absent = true
			j.status = 2
		}
		return n
	}
	n.info = info
	j.fill(n, 1)
	n.size += info.Size
	if len(n.kids) > 0 || n.note != "" {
		j.dirs++
	}
	return n
}

// fill reads a directory.
func (j *treeJob) fill(dir *treeNode, level int) {
	if j.level > 0 && level > j.level {
		return
	}
	entries, err := j.proc.ReadDir(dir.path)
	if err != nil {
		dir.note = "error opening dir"
		return
	}
	if j.follow {
		if j.seen == nil {
			j.seen = make(map[uint64]bool)
		}
		if info, err := j.proc.Stat(dir.path); err == nil {
			j.seen[info.Ino] = true
		}
	}
	entries = slices.DeleteFunc(entries, func(e vfs.DirEntry) bool {
		return !j.all && strings.HasPrefix(e.Name, ".") || j.matches(j.ignore, e.Name)
	})
	if j.limit > 0 && len(entries) > j.limit {
		dir.note = fmt.Sprintf("%d entries exceeds filelimit, not opening dir", len(entries))
		return
	}
	for _, e := range entries {
		if j.err = j.proc.Spend(2); j.err != nil {
			return
		}
		if n := j.entry(dir, e, level); n != nil {
			dir.kids = append(dir.kids, n)
			dir.size += n.size
			j.total += n.size
		}
	}
	j.sortNodes(dir.kids)
}

// entry reads an entry of a directory; nil when it is left out.
func (j *treeJob) entry(dir *treeNode, e vfs.DirEntry, level int) *treeNode {
	n := &treeNode{name: e.Name, path: pathname.Join(dir.path, e.Name)}
	info, err := j.proc.Lstat(n.path)
	if err != nil {
		return nil
	}
	n.info, n.size = info, info.Size
	descend := info.IsDir()
	if info.Mode&fs.ModeSymlink != 0 {
		n.target, _ = j.proc.Readlink(n.path)
		if followed, err := j.proc.Stat(n.path); err == nil {
			n.leads, n.leadsOK = followed.Mode, true
			if descend = j.follow && followed.IsDir(); descend && j.seen[followed.Ino] {
				descend, n.note = false, "recursive, not followed"
			}
		}
	}
	isDir := n.info.IsDir() || descend
	if j.dirsOnly && !n.info.IsDir() && (!n.leadsOK || !n.leads.IsDir()) {
		return nil
	}
	if len(j.match) > 0 && !isDir && !dir.free && !j.matches(j.match, e.Name) {
		return nil
	}
	n.free = isDir && j.matchDirs && j.matches(j.match, e.Name)
	if descend {
		j.fill(n, level+1)
	}
	isDir = isDir || n.leadsOK && n.leads.IsDir()
	if j.prune && isDir && len(n.kids) == 0 {
		return nil
	}
	if isDir {
		j.dirs++
	} else {
		j.files++
	}
	return n
}

func (j *treeJob) matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if fnmatch.Match(strings.TrimSuffix(p, "/"), name, j.fold) {
			return true
		}
	}
	return false
}

func (j *treeJob) sortNodes(nodes []*treeNode) {
	if j.sort == 'U' {
		return
	}
	slices.SortStableFunc(nodes, func(a, b *treeNode) int {
		if x, y := a.isDir(), b.isDir(); j.first != 0 && x != y {
			if x == (j.first == 'd') {
				return -1
			}
			return 1
		}
		if j.reverse {
			a, b = b, a
		}
		c := 0
		switch j.sort {
		case 't':
			c = cmp.Compare(a.info.Mtime.Unix(), b.info.Mtime.Unix()) // The real one counts whole seconds.
		case 'c':
			c = cmp.Compare(a.info.Ctime.Unix(), b.info.Ctime.Unix())
		case 's':
			c = cmp.Compare(b.info.Size, a.info.Size)
		case 'v':
			c = versionorder.Compare(a.name, b.name)
		}
		return cmp.Or(c, strings.Compare(a.name, b.name))
	})
}
