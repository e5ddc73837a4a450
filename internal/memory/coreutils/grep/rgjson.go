package grep

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// rgJSON writes the results as messages, one per line.
type rgJSON struct {
	r     *rg
	begun time.Time // of the whole search
	file  time.Time // of the current file
	open  bool      // the file has a message
	buf   []byte
	held  int // bytes of buf that are charged
	one   rgStats
	all   rgStats
}

// rgStats holds the statistics of a search.
type rgStats struct{ searches, searched, printed, lines, matches int64 }

func (a *rgStats) add(b rgStats) {
	a.searches += b.searches
	a.searched += b.searched
	a.printed += b.printed
	a.lines += b.lines
	a.matches += b.matches
}

// start is called before each file.
func (j *rgJSON) start() {
	j.file, j.open, j.one = j.r.p.Now(), false, rgStats{}
}

// lines writes a message about the lines from begin to end, in which matches are pairs of places. They
// are context unless sep is ':'.
func (j *rgJSON) lines(s *grepScan, begin, end int, sep byte, matches []int) {
	s.shown = end
	if !j.open {
		j.open = true
		j.buf = append(j.buf[:0], `{"type":"begin","data":{"path":`...)
		j.buf = appendJSONData(j.buf, []byte(s.name))
		j.write("}}\n")
	}
	text := s.buf[begin:end]
	if end == s.n && s.added {
		text = text[:len(text)-1]
	}
	kind := "context"
	if sep == ':' {
		kind = "match"
		j.one.lines += int64(countLines(text))
	}
	j.buf = append(j.buf[:0], `{"type":"`+kind+`","data":{"path":`...)
	j.buf = appendJSONData(j.buf, []byte(s.name))
	j.buf = append(j.buf, `,"lines":`...)
	j.buf = appendJSONData(j.buf, text)
	number := "null"
	if s.number {
		s.countTo(begin)
		number = strconv.FormatInt(s.lines+1, 10)
	}
	j.buf = append(j.buf, `,"line_number":`+number+`,"absolute_offset":`+strconv.FormatInt(s.base+int64(begin), 10)+`,"submatches":[`...)
	for i := 0; i+1 < len(matches) && j.isCharged(); i += 2 {
		if i > 0 {
			j.buf = append(j.buf, ',')
		}
		from, to := matches[i]-begin, matches[i+1]-begin
		j.buf = append(j.buf, `{"match":`...)
		j.buf = appendJSONData(j.buf, s.buf[matches[i]:matches[i+1]])
		j.buf = append(j.buf, fmt.Sprintf(`,"start":%d,"end":%d}`, from, to)...)
		j.one.matches++
	}
	j.write("]}}\n")
}

// isCharged charges what the message has grown by, which is less than it had, and reports whether the search goes on.
func (j *rgJSON) isCharged() bool {
	if n := cap(j.buf) - j.held; n > 0 {
		if err := j.r.p.Reserve(n); err != nil {
			j.r.ended = err
			return false
		}
		j.held += n
	}
	return true
}

// noteBinary notes the first NUL byte.
func (j *rgJSON) noteBinary(s *grepScan, from int) {
	if i := bytes.IndexByte(s.buf[from:s.n], 0); i >= 0 && s.binaryAt < 0 {
		s.binaryAt = s.base + int64(from+i)
	}
}

// countLines counts the lines of a text, the last one too.
func countLines(text []byte) int {
	n := 0
	for i, c := range text {
		if c == '\n' || i == len(text)-1 {
			n++
		}
	}
	return n
}

func (j *rgJSON) write(end string) {
	j.buf = append(j.buf, end...)
	j.one.printed += int64(len(j.buf))
	_, _ = j.r.out.Write(j.buf)
}

// finish ends the messages about a file of which so much was read.
func (j *rgJSON) finish(name string, searched, binaryAt int64) {
	if !j.open {
		return
	}
	j.one.searches, j.one.searched = 1, searched
	binary := "null"
	if binaryAt >= 0 {
		binary = strconv.FormatInt(binaryAt, 10)
	}
	b := appendJSONData([]byte(`{"type":"end","data":{"path":`), []byte(name))
	b = append(b, `,"binary_offset":`+binary+`,"stats":{"elapsed":`...)
	took := j.r.p.Now().Sub(j.file)
	b = append(b, fmt.Sprintf(`{"secs":%d,"nanos":%d,"human":"%.6fs"}`, took/time.Second, took%time.Second, took.Seconds())...)
	b = append(b, fmt.Sprintf(`,"searches":1,"searches_with_match":1,"bytes_searched":%d,"bytes_printed":%d,"matched_lines":%d,"matches":%d}}}`,
		searched, j.one.printed, j.one.lines, j.one.matches)...)
	_, _ = j.r.out.Write(append(b, '\n'))
	j.all.add(j.one)
}

// summary ends everything.
func (j *rgJSON) summary() {
	elapsed := func(d time.Duration) string {
		return fmt.Sprintf(`{"human":"%.6fs","nanos":%d,"secs":%d}`, d.Seconds(), d%time.Second, d/time.Second)
	}
	took := j.r.p.Now().Sub(j.begun)
	fmt.Fprintf(j.r.out, `{"data":{"elapsed_total":%s,"stats":{"bytes_printed":%d,"bytes_searched":%d,"elapsed":%s,"matched_lines":%d,"matches":%d,"searches":%d,"searches_with_match":%d}},"type":"summary"}`+"\n",
		elapsed(took), j.all.printed, j.all.searched, elapsed(took), j.all.lines, j.all.matches, j.all.searches, j.all.searches)
}

// appendJSONData appends a text as an object, in base64 if it is none.
func appendJSONData(b, text []byte) []byte {
	if !utf8.Valid(text) {
		b = append(b, `{"bytes":"`...)
		return append(base64.StdEncoding.AppendEncode(b, text), `"}`...)
	}
	b = append(b, `{"text":"`...)
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			b = append(b, fmt.Sprintf(`\u%04x`, c)...)
		default:
			b = append(b, c)
		}
	}
	return append(b, `"}`...)
}
