package curl

import (
	"fmt"
	"time"
)

// meter is the progress that curl shows on standard error.
type meter struct {
	t        *transfer
	shown    bool
	begin    time.Time
	last     time.Time
	total    int64 // to come down; -1: unknown
	down, up int64
	ended    bool
	again    bool // the transfer is tried once more
}

// terminal is a stream that may be a terminal.
type terminal interface {
	Terminal() (columns, rows int, ok bool)
}

func isTerminal(stream any) bool {
	t, ok := stream.(terminal)
	if ok {
		_, _, ok = t.Terminal()
	}
	return ok
}

// newMeter returns a meter; it says nothing when curl is silent or writes to a terminal.
func (t *transfer) newMeter(before *meter) *meter {
	m := &meter{t: t, total: -1, again: before != nil}
	m.shown = !t.tool.silent && !t.tool.noMeter && (t.sink.name != "" || !isTerminal(t.tool.p.Stdout))
	return m
}

func (m *meter) start() {
	m.begin = time.Now()
	m.last = m.begin
	if !m.shown || m.t.tool.bar {
		return
	}
	if !m.again {
		m.t.tool.say("  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n" +
			"                                 Dload  Upload   Total   Spent    Left  Speed\n")
	}
	m.draw(time.Now())
}

// expect sets how much will come.
func (m *meter) expect(n int64) { m.total = n }

func (m *meter) progress(down, up int64) {
	m.down, m.up = down, up
	now := time.Now()
	if m.shown && now.Sub(m.last) >= time.Second {
		m.last = now
		m.draw(now)
	}
}

// end draws the last state and ends the line.
func (m *meter) end() {
	if m == nil || !m.shown || m.ended {
		return
	}
	m.ended = true
	if m.t.began.IsZero() && m.t.url.scheme != "file" || m.t.unresolved {
		return // No request was sent.
	}
	m.down, m.up = m.t.stats.downloaded, m.t.stats.uploaded
	m.draw(time.Now())
	m.t.tool.say("\n")
}

func (m *meter) draw(now time.Time) {
	if m.t.tool.bar {
		m.drawBar()
		return
	}
	spent := now.Sub(m.begin).Seconds()
	speed := func(n int64) int64 {
		if spent <= 0 {
			return 0
		}
		return int64(float64(n) / spent)
	}
	total, percent := m.down+m.up, int64(0)
	upTotal := int64(0)
	if m.t.body != nil && m.t.body.size > 0 {
		upTotal = m.t.body.size
	}
	downTotal := max(m.total, 0)
	if m.total >= 0 {
		total = downTotal + upTotal
	}
	if total > 0 && m.total >= 0 {
		percent = min(100*(m.down+m.up)/total, 100)
	}
	left, whole := "--:--:--", "--:--:--"
	if s := speed(m.down + m.up); s > 0 && m.total > 0 && total/s > 0 {
		whole = clock(float64(total) / float64(s))
		left = clock(float64(total-m.down-m.up) / float64(s))
	}
	at := "--:--:--"
	if spent >= 1 {
		at = clock(spent)
	}
	m.t.tool.say(fmt.Sprintf("\r%3d %s  %3d %s  %3d %s  %s %s %s %s %s %s",
		percent, short(total), share(m.down, downTotal), short(m.down), share(m.up, upTotal), short(m.up),
		short(speed(m.down)), " "+short(speed(m.up)), whole, at, left, short(speed(m.down+m.up))))
}

func share(n, of int64) int64 {
	if of <= 0 {
		return 0
	}
	return min(100*n/of, 100)
}

// drawBar is -#.
func (m *meter) drawBar() {
	if m.total <= 0 {
		return
	}
	const width = 72
	n := int(share(m.down, m.total)) * width / 100
	bar := make([]byte, width)
	for i := range bar {
		bar[i] = ' '
		if i < n {
			bar[i] = '#'
		}
	}
	m.t.tool.say(fmt.Sprintf("\r%s %5.1f%%", bar, 100*float64(m.down)/float64(m.total)))
}

// short writes a number of bytes in five columns.
func short(n int64) string {
	const k = 1 << 10
	switch {
	case n < 100000:
		return fmt.Sprintf("%5d", n)
	case n < 10000*k:
		return fmt.Sprintf("%4dk", n/k)
	case n < 100*k*k:
		return fmt.Sprintf("%2d.%dM", n/k/k, n%(k*k)/(k*k/10))
	case n < 10000*k*k:
		return fmt.Sprintf("%4dM", n/k/k)
	case n < 100*k*k*k:
		return fmt.Sprintf("%2d.%dG", n/k/k/k, n%(k*k*k)/(k*k*k/10))
	}
	return fmt.Sprintf("%4dG", n/k/k/k)
}

func clock(seconds float64) string {
	s := int64(seconds)
	if s >= 360000 {
		return fmt.Sprintf("%3dd %02dh", s/86400, s%86400/3600)
	}
	return fmt.Sprintf("%2d:%02d:%02d", s/3600, s/60%60, s%60)
}
