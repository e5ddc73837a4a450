package listing

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func dfCommand() program.Description {
	return program.Description{
		Name: "df", Usage: "[OPTION]... [FILE]...",
		Summary: "show how much of the file system is used",
		Help: `  -a, --all              accepted; there are no others
  -B, --block-size=SIZE  in units of SIZE
  -h, --human-readable   as 1.5K 234M
  -H, --si               the same in powers of 1000
  -i, --inodes           nodes, not bytes
  -k                     in units of 1024 bytes
  -l, --local            accepted; nothing is remote
      --output[=LIST]    columns: source, fstype, itotal, iused, iavail, ipcent, size, used, avail, pcent, file, target
  -P, --portability      in the format of POSIX
      --sync, --no-sync  accepted
      --total            a line for all together
  -t, --type=TYPE        only file systems of TYPE
  -T, --print-type       the type too
  -v                     ignored
  -x, --exclude-type=TYPE  no file systems of TYPE`,
		Run: runDf,
	}
}

const (
	dfOutput = getopt.First + iota
	dfTotal
	dfSync
)

var dfOptions = []getopt.Option{
	{Short: 'a', Long: "all"},
	{Short: 'B', Long: "block-size", Arg: getopt.Required},
	{Short: 'i', Long: "inodes"},
	{Short: 'h', Long: "human-readable"},
	{Short: 'H', Long: "si"},
	{Short: 'k'},
	{Short: 'l', Long: "local"},
	{Long: "output", Arg: getopt.Optional, ID: dfOutput},
	{Short: 'P', Long: "portability"},
	{Short: 'T', Long: "print-type"},
	{Long: "sync", ID: dfSync},
	{Long: "no-sync", ID: dfSync},
	{Long: "total", ID: dfTotal},
	{Short: 't', Long: "type", Arg: getopt.Required},
	{Short: 'v'},
	{Short: 'x', Long: "exclude-type", Arg: getopt.Required},
}

// dfColumns are the columns in the order of --output without a list.
var dfColumns = []string{
	"source", "fstype", "itotal", "iused", "iavail", "ipcent", "size", "used", "avail", "pcent", "file", "target",
}

// dfJob holds the parsed options of df.
type dfJob struct {
	proc      *shell.Proc
	unit      sizes.Format
	inodes    bool
	portable  bool
	withType  bool
	total     bool
	columns   []string
	only, not []string
	rows      []dfRow
}

// dfRow is a line about one file system.
type dfRow struct {
	file, target string
	space        filesystem.Space
}

// listMounted lists the file systems that a tree shows below a path, itself first.
func listMounted(f *vfs.FS, at string) []dfRow {
	rows := []dfRow{{file: "-", target: at, space: filesystem.NewSpace(f.Usage())}}
	for _, m := range f.Mounts() {
		rows = append(rows, listMounted(m.FS, strings.TrimSuffix(at, "/")+m.Path)...)
	}
	return rows
}

// findRow returns the row of the file system that a path is in: the one that is mounted closest above it.
func findRow(rows []dfRow, path string) dfRow {
	best := rows[0]
	for _, r := range rows[1:] {
		if (path == r.target || strings.HasPrefix(path, r.target+"/")) && len(r.target) > len(best.target) {
			best = r
		}
	}
	return best
}

func runDf(p *shell.Proc) int {
	o := program.NewOptions(p, dfCommand, dfOptions)
	j := &dfJob{proc: p, unit: envBlockSize(p, "DF_BLOCK_SIZE")}
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	for _, t := range j.only {
		if slices.Contains(j.not, t) {
			p.Warn("file system type %s both selected and excluded", shell.Quote(t))
			return 1
		}
	}
	all, status := listMounted(p.FS(), "/"), 0
	if len(o.Args()) == 0 {
		j.rows = all
	}
	for _, name := range o.Args() {
		_, err := p.Stat(name)
		if err != nil {
			p.Error(name, err)
			status = 1
			continue
		}
		path, err := p.Realpath(name)
		if err != nil { // A descriptor such as /dev/stdin has no path.
			path = "/"
		}
		row := findRow(all, path)
		row.file = name
		j.rows = append(j.rows, row)
	}
	if len(j.rows) == 0 || !j.isSelected() {
		if status == 0 {
			p.Warn("no file systems processed")
		}
		return 1
	}
	out := program.NewOutput(p)
	_, _ = out.WriteString(j.table()) // The error stays in out.
	return out.Close(status)
}

func (j *dfJob) option(o *program.Options) {
	switch o.ID {
	case 'B':
		if f, ok := blockSizeOption(o); ok {
			j.unit = f
		}
	case 'i':
		j.inodes = true
	case 'h':
		j.unit = sizes.Format{Base: 1024, Suffix: true}
	case 'H':
		j.unit = sizes.Format{Base: 1000, Suffix: true}
	case 'k':
		j.unit = sizes.Format{Unit: 1024, Base: 1024}
	case 'P':
		j.portable = true
	case 'T':
		j.withType = true
	case dfTotal:
		j.total = true
	case 't':
		j.only = append(j.only, o.Value)
	case 'x':
		j.not = append(j.not, o.Value)
	case dfOutput:
		j.setColumns(o)
	}
}

func (j *dfJob) setColumns(o *program.Options) {
	if !o.HasValue {
		j.columns = dfColumns
		return
	}
	for name := range strings.SplitSeq(o.Value, ",") {
		if !slices.Contains(dfColumns, name) {
			o.Reject("option --output: field %s unknown", quoting.Name(name))
			return
		}
		if slices.Contains(j.columns, name) {
			o.Reject("option --output: field %s used more than once", quoting.Name(name))
			return
		}
		j.columns = append(j.columns, name) // bounded: by the number of columns there are
	}
}

// isSelected reports whether -t and -x leave the tree's file system in.
func (j *dfJob) isSelected() bool {
	in := len(j.only) == 0
	for _, t := range j.only {
		in = in || t == filesystem.Type
	}
	for _, t := range j.not {
		in = in && t != filesystem.Type
	}
	return in
}

func (j *dfJob) names() []string {
	if j.columns != nil {
		return j.columns
	}
	names := []string{"source"}
	if j.withType {
		names = append(names, "fstype")
	}
	if j.inodes {
		return append(names, "itotal", "iused", "iavail", "ipcent", "target")
	}
	return append(names, "size", "used", "avail", "pcent", "target")
}

// title is the head of a column.
func (j *dfJob) title(name string) string {
	switch name {
	case "size":
		return j.sizeTitle()
	case "avail":
		if j.unit.Unit == 0 {
			return "Avail"
		}
		return "Available"
	case "pcent":
		if j.portable {
			return "Capacity"
		}
	}
	return map[string]string{
		"source": "Filesystem", "fstype": "Type", "itotal": "Inodes", "iused": "IUsed", "iavail": "IFree", "ipcent": "IUse%",
		"used": "Used", "pcent": "Use%", "file": "File", "target": "Mounted on",
	}[name]
}

func (j *dfJob) sizeTitle() string {
	switch {
	case j.unit.Unit == 0:
		return "Size"
	case j.portable:
		return strconv.FormatInt(j.unit.Unit, 10) + "-blocks"
	}
	short := sizes.Format{Base: 1024, Suffix: true}
	if j.unit.Unit%1000 == 0 {
		short = sizes.Format{Base: 1000, Suffix: true, Bytes: true}
	}
	title := strings.Replace(short.Show(j.unit.Unit), ".0", "", 1)
	if j.unit.Unit < 1000 || j.unit.Unit < 1024 && short.Base == 1024 {
		title += "B"
	}
	return title + "-blocks"
}

func percent(used, free int64) string {
	if used+free == 0 {
		return "-"
	}
	return strconv.FormatInt(sizes.CeilDiv(used*100, used+free), 10) + "%"
}

func (j *dfJob) value(name string, row dfRow, total bool) string {
	s := row.space
	inodes := func(n int64) string {
		if j.unit.Unit == 0 {
			return j.unit.Show(n)
		}
		return strconv.FormatInt(n, 10)
	}
	switch name {
	case "source":
		if total {
			return "total"
		}
		return "vfs"
	case "fstype":
		if total {
			return "-"
		}
		return filesystem.Type
	case "itotal":
		return inodes(s.Nodes)
	case "iused":
		return inodes(s.NodesUsed)
	case "iavail":
		return inodes(s.NodesFree)
	case "ipcent":
		return percent(s.NodesUsed, s.NodesFree)
	case "size":
		return j.unit.Show(s.Total)
	case "used":
		return j.unit.Show(s.Used)
	case "avail":
		return j.unit.Show(s.Free)
	case "pcent":
		return percent(s.Used, s.Free)
	case "file":
		if total {
			return "-"
		}
		return row.file
	}
	if total {
		return "-"
	}
	return row.target
}

// table lays the columns out: text to the left, numbers to the right.
func (j *dfJob) table() string {
	names := j.names()
	rows := [][]string{nil}
	for _, n := range names {
		rows[0] = append(rows[0], j.title(n))
	}
	var all dfRow
	counted := map[string]bool{}
	for _, f := range j.rows {
		if !counted[f.target] {
			counted[f.target] = true
			all.space.Add(f.space)
		}
		var r []string
		for _, n := range names {
			r = append(r, j.value(n, f, false))
		}
		rows = append(rows, r)
	}
	if j.total {
		var r []string
		for _, n := range names {
			r = append(r, j.value(n, all, true))
		}
		rows = append(rows, r)
	}
	widths := make([]int, len(names))
	least := map[string]int{"source": 14, "fstype": 4, "size": 5, "used": 5, "avail": 5, "itotal": 5, "iused": 5, "iavail": 5, "pcent": 4, "ipcent": 4}
	for i, n := range names {
		widths[i] = least[n]
		for _, r := range rows {
			widths[i] = max(widths[i], len(r[i]))
		}
	}
	line := 1
	for _, w := range widths {
		line += w + 1
	}
	if j.proc.Reserve(2*line*len(rows)) != nil { // A text that grows is there twice.
		j.proc.Warn("memory exhausted")
		return ""
	}
	var b strings.Builder
	for _, r := range rows {
		for i, n := range names {
			if i > 0 {
				b.WriteByte(' ')
			}
			pad := strings.Repeat(" ", widths[i]-len(r[i]))
			switch left := n == "source" || n == "fstype" || n == "file" || n == "target"; {
			case left && i == len(names)-1:
				b.WriteString(r[i])
			case left:
				b.WriteString(r[i] + pad)
			default:
				b.WriteString(pad + r[i])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
