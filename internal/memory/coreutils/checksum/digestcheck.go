package checksum

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// digestLine is a line of a file of checksums.
type digestLine struct {
	name, sum string
	kind      *digestKind
	bits      int
}

// checkFile checks the digests in the lines of a file.
func (d *digestJob) checkFile(list string) bool {
	in, err := program.OpenInput(d.p, list)
	if err != nil {
		d.p.Error(list, err)
		return false
	}
	defer in.Close()
	shown := list
	if list == "-" {
		shown = "standard input"
	}
	d.matched, d.failed, d.malformed, d.unread, d.seen = 0, 0, 0, 0, 0
	lines := program.NewLineReader(d.p, in, '\n')
	for number := 1; d.ended == nil; number++ {
		text, ok := lines.Next()
		if !ok {
			if lines.Spent {
				d.ended = lines.Ended
			} else if lines.Err() != nil {
				d.p.Warn("%s: read error", shell.QuoteIfNeeded(shown))
				return false
			}
			break
		}
		line := strings.TrimSuffix(string(text), "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		d.checkLine(shown, number, strings.TrimSuffix(line, "\r"))
	}
	return d.verdict(shown)
}

func (d *digestJob) checkLine(list string, number int, text string) {
	line, ok := d.parseLine(text)
	if !ok {
		d.malformed++
		if d.warn {
			tag := "checksum"
			if d.kind != nil {
				tag = d.kind.tag + " checksum"
			}
			_ = d.out.Flush()
			d.p.Warn("%s: %d: improperly formatted %s line", shell.QuoteIfNeeded(list), number, tag)
		}
		return
	}
	d.seen++
	escaped, shown := "", line.name
	if s := escapeNewlines(line.name); s != line.name && strings.Contains(line.name, "\n") {
		escaped, shown = `\`, s
	}
	sum, err := d.sum(line.name, line.kind, line.bits)
	switch {
	case d.ended != nil:
	case err != nil && d.ignoreMissing && shell.Strerror(err) == "No such file or directory":
	case err != nil:
		d.unread++
		_ = d.out.Flush()
		d.p.Error(line.name, err)
		if !d.silent {
			fmt.Fprintf(d.out, "%s%s: FAILED open or read\n", escaped, shown)
		}
	case strings.EqualFold(sum, line.sum):
		d.matched++
		if !d.silent && !d.quiet {
			fmt.Fprintf(d.out, "%s%s: OK\n", escaped, shown)
		}
	default:
		d.failed++
		if !d.silent {
			fmt.Fprintf(d.out, "%s%s: FAILED\n", escaped, shown)
		}
	}
}

func escapeNewlines(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(s)
}

func (d *digestJob) verdict(list string) bool {
	if d.ended != nil {
		return false
	}
	_ = d.out.Flush()
	if d.seen == 0 {
		d.p.Warn("%s: no properly formatted checksum lines found", shell.QuoteIfNeeded(list))
		return false
	}
	if !d.silent {
		d.count(d.malformed, "line is improperly formatted", "lines are improperly formatted")
		d.count(d.unread, "listed file could not be read", "listed files could not be read")
		d.count(d.failed, "computed checksum did NOT match", "computed checksums did NOT match")
		if d.ignoreMissing && d.matched == 0 && d.failed == 0 {
			d.p.Warn("%s: no file was verified", shell.QuoteIfNeeded(list))
		}
	}
	return d.matched+d.failed > 0 && d.failed == 0 && d.unread == 0 && (!d.strict || d.malformed == 0)
}

func (d *digestJob) count(n int, one, many string) {
	switch {
	case n == 1:
		d.p.Warn("WARNING: 1 %s", one)
	case n > 1:
		d.p.Warn("WARNING: %d %s", n, many)
	}
}

// parseLine reads "SUM  name", "SUM *name", "SUM name" (BSD's -r) or "TAG (name) = SUM".
func (d *digestJob) parseLine(s string) (digestLine, bool) {
	s = strings.TrimLeft(s, " \t")
	escaped := strings.HasPrefix(s, `\`)
	if escaped {
		s = s[1:]
	}
	line, ok := d.parseTagged(s)
	if !ok && d.kind != nil && !d.auto {
		line, ok = d.parsePlain(s)
	}
	if !ok || line.name == "" {
		return line, false
	}
	if escaped {
		if line.name, ok = unescapeDigestName(line.name); !ok {
			return line, false
		}
	}
	return line, true
}

func (d *digestJob) parsePlain(s string) (line digestLine, ok bool) {
	n := 0
	for n < len(s) && ascii.HexValue(s[n]) >= 0 {
		n++
	}
	line.kind, line.bits = d.kind, d.bits
	if d.kind.tag == "BLAKE2b" {
		line.bits = n * 4
	}
	if n != line.bits/4 || n < 2 || n%2 != 0 || line.bits > d.kind.bits || n+1 >= len(s) || s[n] != ' ' && s[n] != '\t' {
		return line, false
	}
	line.sum, line.name = s[:n], s[n+1:]
	if line.name[0] == ' ' || line.name[0] == '*' {
		line.name = line.name[1:]
	}
	return line, true
}

func (d *digestJob) parseTagged(s string) (line digestLine, ok bool) {
	kind, rest := d.kind, ""
	for _, k := range digestKinds {
		if d.auto || k == d.kind {
			if tail, found := strings.CutPrefix(s, k.tag); found && tail != "" && strings.IndexByte(" (-", tail[0]) >= 0 {
				kind, rest, ok = k, tail, true
			}
		}
	}
	if !ok {
		return line, false
	}
	line.kind, line.bits = kind, kind.bits
	if strings.HasPrefix(rest, "-") {
		digits, tail, _ := strings.Cut(rest[1:], " ")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 8 || n > 512 || n%8 != 0 || kind.tag != "BLAKE2b" {
			return line, false
		}
		line.bits, rest = n, " "+tail
	}
	rest = strings.TrimPrefix(rest, " ")
	end := strings.LastIndexByte(rest, ')')
	if !strings.HasPrefix(rest, "(") || end < 0 {
		return line, false
	}
	line.name = rest[1:end]
	rest = strings.TrimLeft(rest[end+1:], " \t")
	if !strings.HasPrefix(rest, "=") {
		return line, false
	}
	line.sum = strings.TrimLeft(rest[1:], " \t")
	if len(line.sum) != line.bits/4 {
		return line, false
	}
	for _, c := range []byte(line.sum) {
		if ascii.HexValue(c) < 0 {
			return line, false
		}
	}
	return line, true
}

func unescapeDigestName(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		default:
			return "", false
		}
	}
	return b.String(), true
}
