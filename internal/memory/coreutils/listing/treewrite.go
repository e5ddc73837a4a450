package listing

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
)

// write draws a root and its descendants.
func (j *treeJob) write(n *treeNode) {
	meta := j.meta(n)
	if n.absent {
		meta = ""
	}
	j.put(meta + j.named(n) + j.noted(n) + "\n")
	j.writeKids(n, "")
}

func (j *treeJob) writeKids(dir *treeNode, indent string) {
	for i, n := range dir.kids {
		branch, next := j.lines.branch, j.lines.bar
		if i == len(dir.kids)-1 {
			branch, next = j.lines.last, j.lines.space
		}
		line := indent + branch
		if j.plain {
			line, next = "", ""
		}
		if j.metaFirst {
			line = j.meta(n) + line
		} else {
			line += j.meta(n)
		}
		j.put(line + j.named(n) + j.noted(n) + "\n")
		j.writeKids(n, indent+next)
	}
}

func (j *treeJob) noted(n *treeNode) string {
	if n.note == "" {
		return ""
	}
	return "  [" + n.note + "]"
}

// named is a node's name, with a link's target and a mark.
func (j *treeJob) named(n *treeNode) string {
	name := n.name
	if j.paths {
		name = n.path
	}
	s := j.shown(name)
	if j.colors {
		s = j.colored(s, n, n.info.Mode)
	}
	mode := n.info.Mode
	if n.target != "" {
		target := j.shown(n.target)
		if j.colors {
			target = j.colored(target, n, n.leads)
		}
		s += " -> " + target
		mode = n.leads
		if !n.leadsOK {
			return s
		}
	}
	if j.marks {
		s += indicate(indicateAll, mode, true)
	}
	return s
}

// shown is a name as a terminal may have it.
func (j *treeJob) shown(name string) string {
	var b strings.Builder
	switch {
	case j.literal:
		b.WriteString(name)
	case j.bytes:
		for i := range len(name) {
			b.WriteString(j.shownByte(name[i]))
		}
	default:
		quoting.EachPrintable(name, func(text string, raw byte) {
			switch {
			case text != "":
				b.WriteString(text) // bounded: by four times the name
			case j.hide:
				b.WriteByte('?') // bounded: by the name
			default:
				b.WriteString(quoting.OctalByte(raw)) // bounded: by four times the name
			}
		})
	}
	if j.quote {
		return `"` + b.String() + `"`
	}
	return b.String()
}

// shownByte is a character where characters are bytes.
func (j *treeJob) shownByte(c byte) string {
	switch {
	case c >= 7 && c <= 13:
		return `\` + "abtnvfr"[c-7:c-6]
	case c == '\\', c == '"' && j.quote, c == ' ' && !j.quote:
		return `\` + string(rune(c))
	case c >= ' ' && c <= '~':
		return string(rune(c))
	case j.hide:
		return "?"
	}
	return quoting.OctalByte(c)
}

// colored is a name in the color of its kind.
func (j *treeJob) colored(s string, n *treeNode, mode fs.FileMode) string {
	if _, ok := j.proc.LookupEnv("LS_COLORS"); !ok {
		return "\x1b[" + treeColor(mode, n.info.Mode&fs.ModeSymlink != 0 && !n.leadsOK && mode == n.info.Mode) + "m" + s + "\x1b[0m"
	}
	c := newLsColors(j.proc)
	color := c.ofMode(n.name, mode, n.info.Nlink)
	if color == "" {
		return s
	}
	return c.of("lc") + color + c.of("rc") + s + c.end()
}

// treeColor is the color of a kind when nothing says another.
func treeColor(mode fs.FileMode, broken bool) string {
	switch filemode.TypeLetter(mode) {
	case 'd':
		return "01;34"
	case 'l':
		if broken {
			return "40;31;01"
		}
		return "01;36"
	case 'p':
		return "40;33"
	case 's':
		return "01;35"
	case 'b', 'c':
		return "40;33;01"
	}
	if mode&0o111 != 0 {
		return "01;32"
	}
	return "00"
}

// meta returns the text in brackets before a name.
func (j *treeJob) meta(n *treeNode) string {
	var parts []string
	i := &n.info
	if j.inode {
		parts = append(parts, program.PadLeft(strconv.FormatUint(i.Ino, 10), 7))
	}
	if j.device {
		parts = append(parts, program.PadLeft(strconv.Itoa(filesystem.DeviceNumber), 3))
	}
	if j.mode {
		parts = append(parts, filemode.String(i.Mode))
	}
	if j.owner {
		parts = append(parts, fmt.Sprintf("%-8s", j.accounts.User(i.UID)))
	}
	if j.group {
		parts = append(parts, fmt.Sprintf("%-8s", j.accounts.Group(i.GID)))
	}
	if j.size != nil {
		parts = append(parts, j.shownSize(j.sizeOf(n)))
	}
	if t, ok := j.time(n); ok {
		parts = append(parts, t)
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, " ") + "]  "
}

// shownSize is a size in its column: in bytes, or rounded to three digits with a unit.
func (j *treeJob) shownSize(n int64) string {
	if j.size.Unit == 1 {
		return program.PadLeft(strconv.FormatInt(n, 10), 11)
	}
	base, power := j.size.Base, 0
	for ; n >= base*base; n /= base {
		power++
	}
	if n < base {
		if power == 0 {
			return program.PadLeft(strconv.FormatInt(n, 10), 4)
		}
	} else {
		power++
	}
	digits := 1
	if n/base >= 10 {
		digits = 0
	}
	return program.PadLeft(strconv.FormatFloat(float64(n)/float64(base), 'f', digits, 64), 3) + j.size.Letter(power)
}

// time returns a file's modification time; not ok when it is not shown.
func (j *treeJob) time(n *treeNode) (string, bool) {
	at, now := n.info.Mtime, j.proc.Now()
	format := j.timeFormat
	if format == "" {
		if !j.dated {
			return "", false
		}
		format = "%b %e %H:%M"
		if at.After(now) || at.Add(filetime.HalfYear).Before(now) {
			format = "%b %e  %Y"
		}
	}
	return strftime.Format(format, at.In(program.Zone(j.proc))), true
}

func (j *treeJob) sizeOf(n *treeNode) int64 {
	if j.sum {
		return n.size
	}
	return n.info.Size
}

// report counts at the end.
func (j *treeJob) report() {
	if j.noReport {
		return
	}
	s := "\n"
	if j.sum {
		s += " " + j.shownSize(j.total)
		if j.size.Unit == 1 {
			s += " bytes"
		}
		s += " used in "
	}
	s += strconv.Itoa(j.dirs) + program.Plural(j.dirs, " directory", " directories")
	if !j.dirsOnly {
		s += ", " + strconv.Itoa(j.files) + program.Plural(j.files, " file", " files")
	}
	j.put(s + "\n")
}

func treeType(m fs.FileMode) string {
	switch filemode.TypeLetter(m) {
	case 'd':
		return "directory"
	case 'l':
		return "link"
	case 'p':
		return "fifo"
	case 's':
		return "socket"
	case 'c':
		return "char"
	case 'b':
		return "block"
	}
	return "file"
}

// attributes returns a node's attributes in JSON and XML besides its name.
func (j *treeJob) attributes(n *treeNode) [][2]string {
	var list [][2]string
	add := func(key, value string) { list = append(list, [2]string{key, value}) } // bounded: by the attributes of a file
	i := &n.info
	if n.target != "" {
		add("target", n.target)
	}
	if j.inode {
		add("inode", strconv.FormatUint(i.Ino, 10))
	}
	if j.device {
		add("dev", strconv.Itoa(filesystem.DeviceNumber))
	}
	if j.mode {
		add("mode", filemode.Octal(filemode.Bits(i.Mode)))
		add("prot", filemode.String(i.Mode))
	}
	if j.owner {
		add("user", j.accounts.User(i.UID))
	}
	if j.group {
		add("group", j.accounts.Group(i.GID))
	}
	if j.size != nil {
		add("size", strings.TrimLeft(j.shownSize(j.sizeOf(n)), " "))
	}
	if t, ok := j.time(n); ok {
		add("time", t)
	}
	return list
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // Strings always marshal.
		return `""`
	}
	return string(b)
}

func (j *treeJob) nodeName(n *treeNode) string {
	if j.paths {
		return n.path
	}
	return n.name
}

func (j *treeJob) writeJSON(roots []*treeNode) {
	j.put("[\n")
	for i, n := range roots {
		j.jsonNode(n, "  ")
		if i < len(roots)-1 {
			j.put(",")
		}
		j.put("\n")
	}
	if !j.noReport {
		j.put(",\n" + `  {"type":"report"`)
		if j.sum {
			j.put(`,"size":` + strconv.FormatInt(j.total, 10))
		}
		j.put(`,"directories":` + strconv.Itoa(j.dirs))
		if !j.dirsOnly {
			j.put(`,"files":` + strconv.Itoa(j.files))
		}
		j.put("}")
	}
	j.put("\n]\n")
}

func (j *treeJob) jsonNode(n *treeNode, indent string) {
	j.put(indent + `{"type":"` + treeType(n.info.Mode) + `","name":` + jsonText(j.nodeName(n)))
	for _, a := range j.attributes(n) {
		value := jsonText(a[1])
		if a[0] == "inode" || a[0] == "dev" || a[0] == "size" && j.size.Unit == 1 {
			value = a[1]
		}
		j.put(`,"` + a[0] + `":` + value)
	}
	if n.note != "" {
		j.put(`,"error":` + jsonText(n.note))
	}
	if len(n.kids) == 0 {
		j.put("}")
		return
	}
	j.put(`,"contents":[` + "\n")
	for i, k := range n.kids {
		j.jsonNode(k, indent+"  ")
		if i < len(n.kids)-1 {
			j.put(",")
		}
		j.put("\n")
	}
	j.put(indent + "]}")
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // A strings.Builder never fails.
	return strings.NewReplacer("&#39;", "'", "&#34;", "&quot;").Replace(b.String())
}

func (j *treeJob) writeXML(roots []*treeNode) {
	encoding := ` encoding="UTF-8"`
	if j.bytes {
		encoding = ""
	}
	j.put(`<?xml version="1.0"` + encoding + "?>\n<tree>\n")
	for _, n := range roots {
		j.xmlNode(n, "  ")
	}
	if !j.noReport {
		j.put("  <report>\n")
		if j.sum {
			j.put("    <size>" + strconv.FormatInt(j.total, 10) + "</size>\n")
		}
		j.put("    <directories>" + strconv.Itoa(j.dirs) + "</directories>\n")
		if !j.dirsOnly {
			j.put("    <files>" + strconv.Itoa(j.files) + "</files>\n")
		}
		j.put("  </report>\n")
	}
	j.put("</tree>\n")
}

func (j *treeJob) xmlNode(n *treeNode, indent string) {
	kind := treeType(n.info.Mode)
	j.put(indent + "<" + kind + ` name="` + xmlText(j.nodeName(n)) + `"`)
	for _, a := range j.attributes(n) {
		j.put(" " + a[0] + `="` + xmlText(a[1]) + `"`)
	}
	j.put(">")
	if n.note != "" {
		j.put("<error>" + xmlText(n.note) + "</error>")
	}
	if len(n.kids) > 0 || indent == "  " && n.note == "" {
		j.put("\n")
		for _, k := range n.kids {
			j.xmlNode(k, indent+"  ")
		}
		j.put(indent)
	}
	j.put("</" + kind + ">\n")
}
