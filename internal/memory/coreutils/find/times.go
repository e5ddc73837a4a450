package find

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/dates"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// minutes reads -mmin N and its like, days reads -mtime N: the age in whole units.
func (p *findParser) minutes(w, arg string) predicate {
	return p.age(w, arg, time.Minute, p.origin.Add(day))
}

func (p *findParser) days(w, arg string) predicate {
	origin := p.origin
	if kind, _ := comparison(arg); kind == '-' {
		origin = origin.Add(day - time.Second)
	}
	return p.age(w, arg, day, origin)
}

// findTime is the time that a test's second letter stands for.
func findTime(c byte) filetime.Kind {
	switch c {
	case 'a':
		return filetime.Access
	case 'c':
		return filetime.Change
	case 'B':
		return filetime.Birth
	default:
		return filetime.Modify
	}
}

func (p *findParser) age(w, arg string, unit time.Duration, origin time.Time) predicate {
	kind, text := comparison(arg)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) || text[0] == '-' || text[0] == '+' {
		p.fault("invalid argument `%s' to `%s'", arg, w)
		return nil
	}
	// Whole seconds and the rest apart, so that no age is too great.
	seconds, fraction := math.Modf(min(n*unit.Seconds(), 1<<53))
	at := time.Unix(origin.Unix()-int64(seconds), int64(origin.Nanosecond())).Add(-time.Duration(fraction * float64(time.Second)))
	which := findTime(w[1])
	return func(e *findEntry) bool {
		if !e.stat() {
			return false
		}
		t := which.Of(&e.info)
		switch kind {
		case '+':
			return t.Before(at)
		case '-':
			return t.After(at)
		}
		return t.After(at) && !t.After(at.Add(unit))
	}
}

// used reads -used N: days between the last change of status and the last access.
func (p *findParser) used(w, arg string) predicate {
	kind, text := comparison(arg)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 {
		p.fault("Invalid argument %s to %s", arg, w)
		return nil
	}
	return func(e *findEntry) bool {
		if !e.stat() || e.info.Atime.Before(e.info.Ctime) {
			return false
		}
		days := e.info.Atime.Sub(e.info.Ctime).Hours() / 24
		switch kind {
		case '+':
			return math.Floor(days) > n
		case '-':
			return days < n
		}
		return math.Floor(days) == n
	}
}

// newer reads -newer FILE, -anewer FILE and -cnewer FILE.
func (p *findParser) newer(w, arg string) predicate {
	at, ok := p.referenceTime(arg, filetime.Modify)
	if !ok {
		return nil
	}
	which := filetime.Modify
	if w != "-newer" {
		which = findTime(w[1])
	}
	return func(e *findEntry) bool { return e.stat() && which.Of(&e.info).After(at) }
}

func (p *findParser) referenceTime(path string, which filetime.Kind) (time.Time, bool) {
	info, err := p.look(path, 0)
	if err != nil {
		p.fault("%s: %s", quoting.Name(path), shell.Strerror(err))
		return time.Time{}, false
	}
	return which.Of(&info), true
}

// newerXY reads -newermt DATE and its like.
func (p *findParser) newerXY(w string) predicate {
	if len(w) != 8 || strings.IndexByte("aBcm", w[6]) < 0 || strings.IndexByte("aBcmt", w[7]) < 0 {
		p.fault("invalid predicate `%s'", w)
		return nil
	}
	if w[6] == 'B' || w[7] == 'B' {
		p.proc.Warn("This system does not provide a way to find the birth time of a file.")
		p.fault("invalid predicate `%s'", w)
		return nil
	}
	arg, ok := p.argument(w)
	if !ok {
		return nil
	}
	var at time.Time
	if w[7] == 't' {
		if at, ok = dates.Parse(arg, p.now.In(p.zone)); !ok {
			p.fault("I cannot figure out how to interpret %s as a date or time", quoting.Name(arg))
			return nil
		}
	} else if at, ok = p.referenceTime(arg, findTime(w[7])); !ok {
		return nil
	}
	which := findTime(w[6])
	return func(e *findEntry) bool { return e.stat() && which.Of(&e.info).After(at) }
}
