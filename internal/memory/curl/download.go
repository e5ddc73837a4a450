package curl

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"time"
)

// download is one file that wget gets. A nil download is curl's, which reports nothing.
type download struct {
	w     *wget
	name  string // of the file
	begun time.Time
	size  int64 // to come; -1: unknown
	got   int64
	kept  int64 // what -c has already
	dots  int64 // drawn
	saved bool
}

// one gets one URL and returns the exit status.
func (w *wget) one(url string) int {
	if i := strings.Index(url, "://"); i > 0 && defaultPorts[strings.ToLower(url[:i])] == 0 {
		w.say("%s: Unsupported scheme '%s'.\n", url, url[:i])
		return wgetGeneric
	}
	a, f := parseAddress(strings.ReplaceAll(url, " ", "%20"), "", false)
	if f != nil {
		w.say("%s: Invalid host name.\n", url)
		return wgetGeneric
	}
	d := &download{w: w, name: w.fileName(a)}
	if w.keep && w.document == "" && w.exists(d.name) {
		w.say("File '%s' already there; not retrieving.\n\n", d.name)
		return 0
	}
	for try := 1; ; try++ {
		st, again := d.attempt(a, try)
		if !again || w.tries > 0 && try >= w.tries || !w.rest(min(try, 10)) {
			if again && w.tries > 1 {
				w.say("Giving up.\n\n")
			}
			return st
		}
	}
}

// rest waits before another try.
func (w *wget) rest(n int) bool {
	w.say("Retrying.\n\n")
	timer := time.NewTimer(time.Duration(n) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.t.p.Context().Done():
		return false
	}
}

// fileName returns the name under which the URL is saved.
func (w *wget) fileName(a *address) string {
	switch {
	case w.document == "-":
		return "STDOUT"
	case w.document != "":
		return w.document
	}
	name := unescape(a.path[strings.LastIndexByte(a.path, '/')+1:])
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' {
			return '_'
		}
		return r
	}, name)
	if name == "" || name == "." || name == ".." {
		name = "index.html"
	}
	if a.query != "" {
		name += strings.ReplaceAll(a.query, "/", "%2F")
	}
	if w.prefix != "" && w.prefix != "." {
		name = w.prefix + "/" + name
	}
	return name
}

func (w *wget) exists(name string) bool {
	_, err := w.t.p.Lstat(name)
	return err == nil
}

// attempt tries once; again: it may go better the next time.
func (d *download) attempt(a *address, try int) (status int, again bool) {
	w := d.w
	t := &transfer{tool: w.t, config: w.c, out: &output{}, given: a.effective(), number: 1, wget: d}
	t.stats.start = time.Now()
	t.url = a
	more := ""
	if try > 1 {
		more = fmt.Sprintf(" (try:%2d)", try)
	}
	w.tell("--%s--%s  %s\n", w.now(), strings.ReplaceAll(more, " (try", "  (try"), a.text())
	if f := d.sink(t); f != nil {
		w.say("%s\n", f.text)
		return wgetFile, false
	}
	t.meter = &meter{t: t}
	d.prepare(t)
	f := t.follow(w.t.p.Context())
	if f == nil {
		f = t.sink.finish(nil)
	} else {
		_ = t.sink.finish(f) // Only the first error is reported.
	}
	return d.ended(t, f)
}

// prepare sets the method, the body and the headers that name the client.
func (d *download) prepare(t *transfer) {
	w := d.w
	t.method, t.authHost = "GET", t.url.origin()
	switch {
	case w.c.hasData:
		t.method, t.body = "POST", bytesPayload(w.c.data)
	case w.spider:
		t.method = "HEAD"
	}
	user, password := w.user, w.password
	if t.url.hasUser {
		user, password = t.url.user, t.url.password
	}
	if user != "" && w.preemptive {
		t.auth = basic(user, password)
	}
}

// sink returns the destination of the file.
func (d *download) sink(t *transfer) *fault {
	w := d.w
	s := &sink{t: t}
	t.sink = s
	if w.document != "" || w.spider {
		return nil
	}
	s.name = d.name
	if i := strings.LastIndexByte(d.name, '/'); i > 0 {
		if err := w.makeDirs(d.name[:i]); err != nil {
			return failed(codeWrite, "%s: cannot make the directory", d.name[:i])
		}
	}
	if info, err := w.t.p.Stat(d.name); err == nil && w.resume && info.Mode.IsRegular() {
		s.resumeAt, d.kept = info.Size, info.Size
		return nil
	}
	for n := 1; w.exists(s.name) && n < 10000; n++ {
		s.name = fmt.Sprintf("%s.%d", d.name, n)
	}
	d.name = s.name
	return nil
}

func (w *wget) makeDirs(dir string) error {
	for i := 1; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		if err := w.t.p.Mkdir(dir[:i], 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// requestHead is the request with the fields in wget's order.
func (d *download) requestHead(t *transfer, c *conn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", t.sentMethod(), t.target(c))
	field := func(name, value string) {
		if v, ok := t.custom(name); ok {
			value = v
		}
		if value != "" {
			b.WriteString(name + ": " + value + "\r\n") // bounded: by the fields of this function and values that are charged
		}
	}
	known := map[string]bool{"host": true, "user-agent": true, "accept": true, "accept-encoding": true, "connection": true, "content-type": true}
	field("Host", t.url.authorityText())
	if t.config.referer != "" {
		b.WriteString("Referer: " + t.config.referer + "\r\n")
	}
	if d.kept > 0 {
		fmt.Fprintf(&b, "Range: bytes=%d-\r\n", d.kept)
	}
	field("User-Agent", d.w.agent)
	field("Accept", "*/*")
	field("Accept-Encoding", "identity")
	if t.auth != "" && t.isTrusted() && !t.hasCustom("Authorization") {
		b.WriteString("Authorization: " + t.auth + "\r\n")
	}
	field("Connection", "Keep-Alive")
	if c.absolute {
		b.WriteString("Proxy-Connection: Keep-Alive\r\n")
	}
	if t.body != nil {
		field("Content-Type", "application/x-www-form-urlencoded")
		fmt.Fprintf(&b, "Content-Length: %d\r\n", t.body.size)
	}
	for _, h := range t.config.headers {
		name, _, _ := strings.Cut(h, ":")
		if !known[strings.ToLower(name)] {
			b.WriteString(h + "\r\n")
		}
	}
	return b.String() + "\r\n"
}

func (d *download) place(t *transfer) string {
	return net.JoinHostPort(t.url.host, strconv.Itoa(int(t.url.port)))
}

func (d *download) reuses(t *transfer) {
	if d != nil {
		d.w.tell("Reusing existing connection to %s.\n", d.place(t))
	}
}

func (d *download) dials(t *transfer) {
	switch {
	case d == nil:
	case d.w.t.way.Proxied:
		d.w.tell("Connecting to the proxy of the sandbox... ")
	default:
		d.w.tell("Connecting to %s... ", d.place(t))
	}
}

func (d *download) dialed() {
	if d != nil {
		d.w.tell("connected.\n")
	}
}

// failed prints why the connection failed.
func (d *download) failed(t *transfer, f *fault) {
	switch {
	case d == nil:
	case f.code == codeResolve:
		d.w.tell("failed: Name or service not known.\n")
		d.w.say("wget: unable to resolve host address '%s'\n", t.url.host)
	case f.code == codeTimeout:
		d.w.tell("failed: Connection timed out.\n")
	default:
		d.w.tell("failed: Connection refused.\n")
	}
}

// answered prints the server's response.
func (d *download) answered(t *transfer, res *response) {
	if d == nil {
		return
	}
	_, phrase, _ := strings.Cut(res.line, " ")
	sent := "HTTP"
	if d.w.t.way.Proxied {
		sent = "Proxy"
	}
	if d.w.server {
		d.w.tell("%s request sent, awaiting response... \n", sent)
		d.w.say("  %s\n", res.line)
		for _, f := range res.fields {
			d.w.say("  %s: %s\n", f.name, f.value)
		}
	} else {
		d.w.tell("%s request sent, awaiting response... %s\n", sent, phrase)
	}
	if res.status == 200 { // The server sends all of it again.
		t.sink.resumeAt, d.kept = 0, 0
	}
	if d.w.disposition {
		t.out.remote, t.config.remoteName = true, true
		t.sink.named(res)
		t.sink.fixed = false
		if t.sink.name != "" {
			d.name = t.sink.name
		}
	}
	d.challenged(t, res)
}

// challenged answers a server that wants a password with the next request.
func (d *download) challenged(t *transfer, res *response) {
	if res.status != 401 || d.w.user == "" || t.config.user != "" {
		return
	}
	c := *t.config
	c.user, c.digest = d.w.user+":"+d.w.password, true
	t.config = &c
	if t.challenge == "" {
		d.w.tell("Authentication selected: %s\n", res.value("WWW-Authenticate"))
	}
}

func (d *download) follows(to string, next *address) {
	if d == nil {
		return
	}
	d.w.tell("Location: %s [following]\n", to)
	d.w.tell("--%s--  %s\n", d.w.now(), next.text())
}

// saves announces the file.
func (d *download) saves(t *transfer, res *response, length int64) {
	if d == nil {
		return
	}
	d.size, d.begun, d.saved = length, time.Now(), true
	kind, _, _ := strings.Cut(res.value("Content-Type"), ";")
	if kind = strings.TrimSpace(kind); kind != "" {
		kind = " [" + kind + "]"
	}
	if d.w.spider {
		if n, err := strconv.ParseInt(res.value("Content-Length"), 10, 64); err == nil {
			length = n
		} else {
			length = -1
		}
	}
	switch {
	case length < 0:
		d.w.tell("Length: unspecified%s\n", kind)
	default:
		whole := length + d.kept
		more := ""
		if whole >= 1024 {
			more = " (" + sizeText(whole) + ")"
		}
		if d.kept > 0 {
			more += fmt.Sprintf(", %d (%s) remaining", length, sizeText(length))
		}
		d.w.tell("Length: %d%s%s\n", whole, more, kind)
	}
	if d.w.spider {
		return
	}
	if length != 0 || t.sink.name != "" {
		d.w.tell("Saving to: '%s'\n", d.name)
	}
	if d.w.shared != nil {
		t.sink.out = d.w.shared
	}
	d.draw()
}

// received draws a dot for each 1024 bytes.
func (d *download) received(n int) {
	if d != nil {
		d.got += int64(n)
		d.draw()
	}
}

const dotsLine = 50

func (d *download) draw() {
	for ; d.dots < d.got/1024; d.dots++ {
		d.dot()
		d.w.tell(".")
		if d.dots%dotsLine == dotsLine-1 {
			d.line((d.dots+1)*1024, false)
		}
	}
}

// dot writes the text before the next dot.
func (d *download) dot() {
	if d.dots%dotsLine == 0 {
		d.w.tell("\n%6dK", d.dots)
	}
	if d.dots%10 == 0 {
		d.w.tell(" ")
	}
}

// line ends a line of dots.
func (d *download) line(at int64, last bool) {
	if d.size > 0 {
		d.w.tell("%3d%%", 100*at/d.size)
	}
	speed := float64(at) / max(time.Since(d.begun).Seconds(), 1e-6)
	text := rate(speed)
	d.w.tell(" %*s", 4+len(strings.TrimRight(text, "0123456789.")), text)
	switch {
	case last:
		d.w.tell("=%s\n\n", elapsed(time.Since(d.begun)))
	case d.size > 0:
		d.w.tell(" %s", elapsed(time.Duration(float64(d.size-at)/speed*float64(time.Second))))
	}
}

// finish draws the last line.
func (d *download) finish() {
	rest := int(d.dots % dotsLine)
	if rest == 0 {
		d.w.tell("\n%6dK", d.dots)
	}
	blank := 0
	for i := rest; i < dotsLine; i++ {
		if blank++; i%10 == 0 {
			blank++
		}
	}
	d.w.tell("%s", strings.Repeat(" ", blank)) // bounded: by a line of dots
	d.line(d.got, true)
}

// ended prints the result.
func (d *download) ended(t *transfer, f *fault) (status int, again bool) {
	w := d.w
	if f == nil {
		d.done(t)
		return 0, false
	}
	switch f.code {
	case codeHTTP:
		return d.refused(t), false
	case codeRedirects:
		w.say("%d redirections exceeded.\n", w.c.maxRedirects)
		return wgetServer, false
	case codeResolve, codeConnect:
		return wgetNetwork, false
	case codeVerify, codeCACert:
		w.say("ERROR: cannot verify %s's certificate:\n  %s\nTo connect to %s insecurely, use `--no-check-certificate'.\n", t.url.host, f.text, t.url.host)
		return wgetTLS, false
	case codeTLS:
		w.say("Unable to establish SSL connection.\n")
		return wgetNetwork, false
	case codeURL, codeProtocol:
		w.say("%s\n", f.text)
		return wgetGeneric, false
	case codeWrite:
		w.say("Cannot write to '%s' (%s).\n", d.name, f.text)
		return wgetFile, false
	case codeRange:
		return wgetServer, false
	}
	if strings.HasPrefix(f.text, "CONNECT tunnel failed") {
		w.say("Proxy tunneling failed: %s\nUnable to establish SSL connection.\n", strings.TrimPrefix(f.text, "CONNECT tunnel failed, "))
		return wgetNetwork, false
	}
	switch f.code {
	case codeEmpty:
		w.tell("%s request sent, awaiting response... No data received.\n", map[bool]string{true: "Proxy", false: "HTTP"}[w.t.way.Proxied])
	default:
		w.say("%s\n", f.text)
	}
	return wgetNetwork, true
}

// refused reports a status from 400 on.
func (d *download) refused(t *transfer) int {
	w := d.w
	_, phrase, _ := strings.Cut(t.last.line, " ")
	_, phrase, _ = strings.Cut(phrase, " ")
	if w.brief {
		w.say("%s:\n", t.url.text())
	}
	if w.spider && t.last.status == 404 {
		w.say("Remote file does not exist -- broken link!!!\n")
	} else {
		w.say("%s ERROR %d: %s.\n", w.now(), t.last.status, phrase)
	}
	w.tell("\n")
	return wgetServer
}

func (d *download) done(t *transfer) {
	w := d.w
	switch {
	case w.spider:
		more := "."
		if kind := t.last.value("Content-Type"); kind == "" || strings.HasPrefix(kind, "text/html") {
			more = " and could contain further links,\nbut recursion is disabled -- not retrieving."
		}
		w.tell("Remote file exists%s\n\n", more)
		return
	case t.sink.nothing:
		w.tell("\n    The file is already fully retrieved; nothing to do.\n\n")
		return
	case !d.saved:
		return
	}
	d.finish()
	if at, err := time.Parse(time.RFC1123, t.last.value("Last-Modified")); err == nil && w.shared != nil {
		_ = w.t.p.Chtimes(w.document, at, at, true) // The file itself is whole.
	}
	spent := time.Since(d.begun)
	w.files++
	w.bytes += d.got
	w.spent += spent
	sizes := strconv.FormatInt(d.got+d.kept, 10)
	if d.size >= 0 {
		sizes += "/" + strconv.FormatInt(d.size+d.kept, 10)
	}
	switch {
	case w.brief && w.document == "-":
		w.say("%s URL:%s [%s] -> \"-\" [1]\n", w.now(), t.url.text(), sizes)
	case w.brief:
		w.say("%s URL:%s [%s] -> \"%s\" [1]\n", w.now(), t.url.text(), sizes, d.name)
	case w.document == "-":
		w.say("%s (%s) - written to stdout [%s]\n\n", w.now(), rateText(d.got, spent), sizes)
	default:
		w.say("%s (%s) - '%s' saved [%s]\n\n", w.now(), rateText(d.got, spent), d.name, sizes)
	}
}

// rate is a speed in three digits with a unit.
func rate(bytes float64) string {
	unit := 0
	for bytes >= 1024 && unit < 3 {
		bytes /= 1024
		unit++
	}
	digits := 0
	switch {
	case bytes < 9.995:
		digits = 2
	case bytes < 99.95:
		digits = 1
	}
	return strconv.FormatFloat(bytes, 'f', digits, 64) + []string{"", "K", "M", "G"}[unit]
}

func rateText(n int64, d time.Duration) string {
	text := rate(float64(n) / max(d.Seconds(), 1e-6))
	unit := " B/s"
	if last := text[len(text)-1]; last > '9' {
		text, unit = text[:len(text)-1], " "+string(last)+"B/s"
	}
	return text + unit
}

func elapsed(d time.Duration) string {
	s := d.Seconds()
	switch {
	case s < 0.0005:
		return "0s"
	case s < 10:
		return strconv.FormatFloat(s, 'g', 1, 64) + "s"
	}
	return fmt.Sprintf("%ds", int(s))
}

// sizeText writes a size with a unit.
func sizeText(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	v, unit := float64(n), -1
	for v >= 1024 && unit < 3 {
		v /= 1024
		unit++
	}
	digits := 0
	if v < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + "KMGT"[unit:unit+1]
}
