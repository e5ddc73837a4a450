package split

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// csplitDivision is a pattern: where the text is divided.
type csplitDivision struct {
	text   string
	line   int // before which; 0: before what re finds
	re     *regex.Matcher
	ignore bool // the lines are not written
	offset int
	repeat int // more times; -1: without end
}

// parse reads the patterns; false after a message.
func (c *csplit) parse(args []string) bool {
	last := uint64(0)
	for i := 0; i < len(args); i++ {
		d := csplitDivision{text: args[i]}
		ok := false
		if d.text != "" && (d.text[0] == '/' || d.text[0] == '%') {
			ok = c.parseRegexp(&d)
		} else {
			ok = c.parseLine(&d, &last)
		}
		if ok && i+1 < len(args) && strings.HasPrefix(args[i+1], "{") {
			i++
			ok = c.parseRepeat(&d, args[i])
		}
		if !ok {
			return false
		}
		c.divisions = append(c.divisions, d)
	}
	return true
}

func (c *csplit) parseLine(d *csplitDivision, last *uint64) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimLeft(d.text, " \t\n\v\f\r"), "+"), 10, 63)
	quoted := quoting.Name(d.text)
	switch {
	case err != nil:
		c.p.Warn("%s: invalid pattern", quoted)
		return false
	case n == 0:
		c.p.Warn("%s: line number must be greater than zero", d.text)
		return false
	case n < *last:
		c.p.Warn("line number %s is smaller than preceding line number, %d", quoted, *last)
		return false
	case n == *last:
		c.p.Warn("warning: line number %s is the same as preceding line number", quoted)
	}
	*last = n
	d.line = int(n)
	d.text = strconv.FormatUint(n, 10)
	return true
}

func (c *csplit) parseRegexp(d *csplitDivision) bool {
	end := strings.LastIndexByte(d.text[1:], d.text[0]) + 1
	if end == 0 {
		c.p.Warn("%s: closing delimiter '%c' missing", d.text, d.text[0])
		return false
	}
	quoted := quoting.Name(d.text)
	re, err := regex.Compile(d.text[1:end], regex.Expr)
	if err != nil {
		c.p.Warn("%s: invalid regular expression: %s", quoted, program.RegexError(err))
		return false
	}
	d.re, d.ignore = re.Matcher(c.p.Spend), d.text[0] == '%'
	if offset := d.text[end+1:]; offset != "" {
		if d.offset, err = strconv.Atoi(strings.TrimLeft(offset, " \t\n\v\f\r")); err != nil {
			c.p.Warn("%s: integer expected after delimiter", quoted)
			return false
		}
	}
	return true
}

func (c *csplit) parseRepeat(d *csplitDivision, text string) bool {
	count, ok := strings.CutSuffix(text[1:], "}")
	if !ok {
		c.p.Warn("%s: '}' is required in repeat count", quoting.Name(text))
		return false
	}
	if count == "*" {
		d.repeat = -1
		return true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimLeft(count, " \t\n\v\f\r"), "+"), 10, 63)
	if err != nil {
		// GNU's moves the brace to behind the quote.
		c.p.Warn("%s}: integer required between '{' and '}'", quoting.Name(text[:len(text)-1]))
		return false
	}
	d.repeat = int(n)
	return true
}

// divide writes the pieces that the patterns end. It returns false when that was all.
func (c *csplit) divide() bool {
	for i := range c.divisions {
		d := &c.divisions[i]
		for n := 0; d.repeat < 0 || n <= d.repeat; n++ {
			if !d.ignore && !c.create() || !c.isReadable() {
				return false
			}
			ok := false
			if d.re == nil {
				ok = c.upToLine(d, n)
			} else {
				ok = c.upToMatch(d, n)
			}
			if !ok {
				return false
			}
			if c.suppress {
				c.drop()
			}
			if d.re == nil && !c.suppress && c.current+1 >= len(c.starts) {
				return c.outOfRange(d, n)
			}
		}
	}
	return true
}

// drop passes over a line.
func (c *csplit) drop() {
	file := c.file
	c.file = nil
	c.write(min(c.next+1, len(c.starts)))
	c.file = file
}

// upToLine writes the lines in front of a number.
func (c *csplit) upToLine(d *csplitDivision, repetition int) bool {
	if c.suppress && c.current+1 >= len(c.starts) {
		return c.outOfRange(d, repetition)
	}
	if c.next >= len(c.starts) {
		_ = c.file.Close()
		c.file, c.status = nil, 1
		c.p.Warn("input disappeared")
		return false
	}
	// Beyond the text all numbers are alike; that keeps the product small.
	end := min(d.line, len(c.starts)+1) * (repetition + 1)
	if !c.write(min(end, len(c.starts))) {
		return false
	}
	if end > len(c.starts) {
		return c.outOfRange(d, repetition)
	}
	return c.close()
}

func (c *csplit) outOfRange(d *csplitDivision, repetition int) bool {
	c.p.Warn("%s: line number out of range%s", quoting.Name(d.text), onRepetition(repetition))
	return c.fail()
}

func onRepetition(n int) string {
	if n == 0 {
		return ""
	}
	return " on repetition " + strconv.Itoa(n)
}

// upToMatch writes the lines in front of the next that matches.
func (c *csplit) upToMatch(d *csplitDivision, repetition int) bool {
	for {
		c.current++
		line, ok := c.line(c.current)
		if !ok {
			return c.noMatch(d, repetition)
		}
		found := d.re.Match(line)
		if err := d.re.Err(); err != nil {
			if c.status = c.p.Status(err); c.status == 1 {
				c.p.Warn("error in regular expression search")
			}
			return c.fail()
		}
		if found {
			break
		}
	}
	if d.offset >= 0 && !c.write(c.current) {
		return false
	}
	end := c.current + d.offset // which GNU's lets overflow too
	if end < c.next || c.next >= len(c.starts) {
		c.p.Warn("%s: line number out of range", quoting.Name(d.text))
		return c.fail()
	}
	if !c.write(min(end, len(c.starts))) {
		return false
	}
	if end > len(c.starts) {
		c.p.Warn("%s: line number out of range", quoting.Name(d.text))
		return c.fail()
	}
	if d.offset > 0 {
		c.current = end
	}
	return c.close()
}

// noMatch ends the run, without an error when the pattern repeats as often as it matches.
func (c *csplit) noMatch(d *csplitDivision, repetition int) bool {
	if d.repeat >= 0 {
		c.p.Warn("%s: match not found%s", quoting.Name(d.text), onRepetition(repetition))
	}
	if !d.ignore && (!c.write(len(c.starts)) || !c.close()) {
		return false
	}
	if d.repeat >= 0 {
		c.fail()
	}
	return false
}
