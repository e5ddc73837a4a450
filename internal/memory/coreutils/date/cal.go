package date

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func calCommand() program.Description {
	return program.Description{
		Name: "cal", Usage: "[-13jy] [-A NUMBER] [-B NUMBER] [-d YYYY-MM] [-m MONTH] [[MONTH] YEAR]", Summary: "print a calendar",
		Help: `  -1            this month; the default
  -3            the month before and the one after, too
  -A NUMBER     so many months after
  -B NUMBER     so many months before
  -d YYYY-MM    as if it were that month
  -j            days of the year, from 1
  -m MONTH      this MONTH, by number or name
  -y            the whole year`,
		Run: runCal,
	}
}

var calOptions = []getopt.Option{
	{Short: '1'},
	{Short: '3'},
	{Short: 'A', Arg: getopt.Required},
	{Short: 'B', Arg: getopt.Required},
	{Short: 'd', Arg: getopt.Required},
	{Short: 'j'},
	{Short: 'm', Arg: getopt.Required},
	{Short: 'y'},
}

// calendar says which months are printed, and how.
type calendar struct {
	proc          *shell.Proc
	year, month   int // month 0: none was given
	before, after int
	julian        bool // days of the year
	one, whole    bool
}

// statusUsage is sysexits(3)'s status of a wrong command line.
const statusUsage = 64

// monthsMost bounds -A and -B.
const monthsMost = 12 * 9999

func runCal(p *shell.Proc) int {
	o := program.NewOptions(p, calCommand, calOptions)
	o.Wrong = statusUsage
	c := &calendar{proc: p}
	now := p.Now().In(program.Zone(p))
	c.year = now.Year()
	thisMonth := int(now.Month())
	for o.Next() {
		switch o.ID {
		case '1':
			c.one = true
		case '3':
			c.before, c.after = 1, 1
		case 'A', 'B':
			n, err := strconv.Atoi(o.Value)
			if err != nil || n < 0 || n > monthsMost {
				o.Reject("Argument to -%c must be positive", o.ID)
			} else if o.ID == 'A' {
				c.after = n
			} else {
				c.before = n
			}
		case 'd':
			year, month, ok := strings.Cut(o.Value, "-")
			y, err := strconv.Atoi(year)
			m, err2 := strconv.Atoi(month)
			if !ok || err != nil || err2 != nil || y < 1 || y > 9999 || m < 1 || m > 12 {
				o.Reject("%s is not YYYY-MM", quoting.Name(o.Value))
			} else {
				c.year, thisMonth = y, m
			}
		case 'j':
			c.julian = true
		case 'm':
			if c.month = monthNumber(o.Value); c.month == 0 {
				o.RejectQuietly("%s is neither a month number (1..12) nor a name", o.Value)
			}
		case 'y':
			c.whole = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if status := c.operands(o.Args()); status != 0 {
		return status
	}
	if c.month == 0 {
		c.month = thisMonth
	}
	out := program.NewOutput(p)
	if c.whole {
		c.month, c.before, c.after = 1, 0, 11
	}
	if err := c.print(out); err != nil {
		return p.Status(err)
	}
	return out.Close(0)
}

// operands takes the month and the year.
func (c *calendar) operands(args []string) int {
	switch len(args) {
	case 0:
		return 0
	case 1:
		if c.one && c.month == 0 {
			c.proc.Warn("-1 together with a given year but no given month is not supported.")
			return statusUsage
		}
		c.whole = c.whole || c.month == 0
	case 2:
		if c.month = monthNumber(args[0]); c.month == 0 {
			c.proc.Warn("%s is neither a month number (1..12) nor a name", args[0])
			return statusUsage
		}
	default:
		program.TryHelp(c.proc, calCommand())
		return statusUsage
	}
	text := args[len(args)-1]
	year, err := strconv.Atoi(text)
	switch {
	case err != nil:
		c.proc.Warn("not a valid year %s", text)
		return statusUsage
	case year < 1 || year > 9999:
		c.proc.Warn("year `%s' not in range 1..9999", text)
		return statusUsage
	}
	c.year = year
	return 0
}

// monthNumber reads a number from 1 to 12, a name, or its first letters; 0 is none.
func monthNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		if n >= 1 && n <= 12 {
			return n
		}
		return 0
	}
	if len(s) < 3 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); len(s) <= len(name) && strings.EqualFold(name[:len(s)], s) {
			return int(m)
		}
	}
	return 0
}

// calRows is the number of weeks that a month gets.
const calRows = 6

// print prints all months, several beside each other.
func (c *calendar) print(out *program.Output) error {
	first := c.year*12 + c.month - 1 - c.before
	last := c.year*12 + c.month - 1 + c.after
	first, last = max(first, 12), min(last, 12*9999+11)
	cell, perRow := 3, 3
	if c.julian {
		cell, perRow = 4, 2
	}
	width := 7*cell - 1
	// Rows that begin where the rows of a whole year begin have the year once above them.
	withYear := first == last || first%perRow != 0
	for row := first; row <= last; row += perRow {
		if row > first {
			program.WriteText(out, "\n")
		}
		if !withYear && (row == first || row%12 == 0) {
			year := strconv.Itoa(row / 12)
			program.WriteText(out, strings.Repeat(" ", (width*perRow-len(year))/2)+year+"\n") // bounded: by the columns of a year
		}
		var lines [calRows + 2]strings.Builder
		for n := row; n < row+perRow && n <= last; n++ {
			for i, text := range c.monthLines(n/12, n%12+1, cell, withYear) {
				lines[i].WriteString(text + strings.Repeat(" ", max(0, width+2-len(text)))) // bounded: by the columns of a year
			}
		}
		for i := range lines {
			program.WriteText(out, lines[i].String()+"\n")
		}
		if err := c.proc.Spend(64); err != nil {
			return err
		}
	}
	return nil
}

// monthLines are the title, the names of the days, and the weeks.
func (c *calendar) monthLines(year, month, cell int, withYear bool) [calRows + 2]string {
	var lines [calRows + 2]string
	title := time.Month(month).String()
	if withYear {
		title += " " + strconv.Itoa(year)
	}
	lines[0] = strings.Repeat(" ", max(0, (7*cell-1-len(title))/2)) + title // bounded: by the columns of a month
	for _, name := range []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"} {
		lines[1] += program.PadLeft(name, cell-1) + " "
	}
	day := dayNumber(year, month, 1)
	next := dayNumber(year+month/12, month%12+1, 1)
	at := (day + 1) % 7 // Day 0 of this count was a Monday.
	newYear := dayNumber(year, 1, 1)
	var weeks [calRows]strings.Builder
	weeks[0].WriteString(strings.Repeat(" ", at*cell)) // bounded: by the columns of a week
	for d := day; d < next; d++ {
		n := d - day + 1
		if day < reformed && d >= reformed {
			n = d - reformed + 14
		}
		if c.julian {
			n = d - newYear + 1
		}
		weeks[at/7].WriteString(program.PadLeft(strconv.Itoa(n), cell-1) + " ") // bounded: by the days of a month
		at++
	}
	for i := range weeks {
		lines[i+2] = weeks[i].String()
	}
	return lines
}

// reformed is the number of the day that followed September 2, 1752.
const reformed = 2361222

// dayNumber counts days from one to the next, as astronomers do. Days before the reform of the calendar are
// those of Caesar's.
func dayNumber(year, month, day int) int {
	a := (14 - month) / 12
	y, m := year+4800-a, month+12*a-3
	n := day + (153*m+2)/5 + 365*y + y/4
	if year > 1752 || year == 1752 && (month > 9 || month == 9 && day >= 14) {
		return n - y/100 + y/400 - 32045
	}
	return n - 32083
}
