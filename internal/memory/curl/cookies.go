package curl

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cookie is one that a server has set, or a file holds.
type cookie struct {
	domain   string // lower case, without a dot before it
	tail     bool   // it is for subdomains as well
	path     string
	secure   bool
	httpOnly bool
	expires  int64 // seconds since 1970; 0: the end of the session
	name     string
	value    string
	made     int
}

// jar holds the cookies of a command.
type jar struct {
	list []*cookie
	made int
	now  func() time.Time
}

// maxCookies bounds the cookies that servers can make curl store.
const maxCookies = 3000

// set takes a cookie in the place of one that has the same name, domain and path.
func (j *jar) set(c *cookie) {
	j.made++
	c.made = j.made
	for i, old := range j.list {
		if old.name == c.name && old.domain == c.domain && old.tail == c.tail && old.path == c.path {
			c.made = old.made
			if c.expires != 0 && c.expires <= j.now().Unix() {
				j.list = slices.Delete(j.list, i, i+1)
			} else {
				j.list[i] = c
			}
			return
		}
	}
	if c.expires != 0 && c.expires <= j.now().Unix() || len(j.list) >= maxCookies {
		return
	}
	j.list = append(j.list, c) // bounded: maxCookies
}

// receive reads a Set-Cookie field of a response from the address a.
func (j *jar) receive(text string, a *address) {
	if c := readCookie(text, j.now()); c != nil && c.settle(a) {
		j.set(c)
	}
}

// readCookie reads "name=value; attribute=...".
func readCookie(text string, now time.Time) *cookie {
	if len(text) > 8190 {
		return nil
	}
	parts := strings.Split(text, ";") // bounded: 8190 bytes
	name, value, ok := strings.Cut(parts[0], "=")
	c := &cookie{name: strings.TrimSpace(name), value: strings.TrimSpace(value)}
	if !ok || c.name == "" || len(c.name)+len(c.value) > 4096 {
		return nil
	}
	maxAge := false
	for _, p := range parts[1:] {
		key, v, _ := strings.Cut(p, "=")
		v = strings.TrimSpace(v)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "secure":
			c.secure = true
		case "httponly":
			c.httpOnly = true
		case "path":
			c.path = strings.Trim(v, `"`)
		case "domain":
			c.domain, c.tail = strings.ToLower(strings.TrimPrefix(v, ".")), v != ""
		case "max-age":
			n, err := strconv.ParseInt(strings.Trim(v, `"`), 10, 64)
			if err != nil {
				continue
			}
			maxAge = true
			if n <= 0 {
				c.expires = 1
			} else {
				c.expires = now.Unix() + min(n, math.MaxInt64-now.Unix())
			}
		case "expires":
			if maxAge {
				continue
			}
			if t, ok := parseDate(v); ok {
				c.expires = max(t.Unix(), 1)
			}
		}
	}
	switch {
	case strings.HasPrefix(c.name, "__Secure-") && !c.secure:
		return nil
	case strings.HasPrefix(c.name, "__Host-") && (!c.secure || c.path != "/" || c.tail):
		return nil
	}
	return c
}

// settle fills in the attributes that the server has left out; false when it may not set such a cookie.
func (c *cookie) settle(a *address) bool {
	host := strings.ToLower(a.host)
	if c.secure && a.scheme != "https" && !isLocal(host) {
		return false
	}
	if c.tail && c.domain != host {
		_, err := netip.ParseAddr(host)
		if err == nil || !strings.HasSuffix(host, "."+c.domain) || !strings.Contains(c.domain, ".") {
			return false
		}
	}
	if c.domain == "" {
		c.domain = host
	}
	if _, err := netip.ParseAddr(host); err == nil {
		c.tail = false
	}
	if !strings.HasPrefix(c.path, "/") {
		c.path = a.path[:strings.LastIndexByte(a.path, '/')+1]
	} else if len(c.path) > 1 {
		c.path = strings.TrimSuffix(c.path, "/")
	}
	return true
}

func isLocal(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1"
}

// header is the Cookie field for a request; "" for none.
func (j *jar) header(a *address) string {
	host := strings.ToLower(a.host)
	var list []*cookie
	now := j.now().Unix()
	for _, c := range j.list {
		fits := c.domain == host || c.tail && strings.HasSuffix(host, "."+c.domain)
		if fits && isPathInScope(a.path, c.path) && (!c.secure || a.scheme == "https" || isLocal(host)) && (c.expires == 0 || c.expires > now) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(x, y *cookie) int {
		return cmp.Or(len(y.path)-len(x.path), len(y.domain)-len(x.domain), len(y.name)-len(x.name), y.made-x.made)
	})
	var b strings.Builder
	for i, c := range list {
		if i >= 150 || b.Len()+len(c.name)+len(c.value) > 8190 {
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.name + "=" + c.value)
	}
	return b.String()
}

func isPathInScope(path, of string) bool {
	if of == "/" || path == of {
		return true
	}
	return strings.HasPrefix(path, of) && (strings.HasSuffix(of, "/") || path[len(of)] == '/')
}

// load reads a file in the format of Netscape or with header fields.
func (j *jar) load(text string, newSession bool) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if header, ok := cutFold(line, "Set-Cookie:"); ok {
			if c := readCookie(strings.TrimSpace(header), j.now()); c != nil {
				if c.path == "" {
					c.path = "/"
				}
				j.set(c)
			}
			continue
		}
		c := &cookie{}
		if rest, ok := strings.CutPrefix(line, "#HttpOnly_"); ok {
			line, c.httpOnly = rest, true
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, "\t", 8)
		if len(f) == 6 {
			f = append(f, "")
		}
		if len(f) != 7 {
			continue
		}
		expires, err := strconv.ParseInt(f[4], 10, 64)
		if err != nil || newSession && expires == 0 {
			continue
		}
		c.domain, c.tail, c.path, c.secure = strings.ToLower(strings.TrimPrefix(f[0], ".")), strings.EqualFold(f[1], "TRUE"), f[2], strings.EqualFold(f[3], "TRUE")
		c.expires, c.name, c.value = expires, f[5], f[6]
		if len(c.path) > 1 {
			c.path = strings.TrimSuffix(c.path, "/")
		}
		j.set(c)
	}
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// write writes the jar in Netscape's format, the newest cookie first.
func (j *jar) write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n# This file was generated by libcurl! Edit at your own risk.\n\n")
	list := slices.Clone(j.list)
	slices.SortFunc(list, func(x, y *cookie) int { return y.made - x.made })
	yes := func(b bool) string { return strings.ToUpper(strconv.FormatBool(b)) }
	for _, c := range list {
		domain := c.domain
		if domain == "" {
			domain = "unknown"
		}
		if c.tail && !strings.HasPrefix(domain, ".") {
			domain = "." + domain
		}
		if c.httpOnly {
			domain = "#HttpOnly_" + domain
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", domain, yes(c.tail), c.path, yes(c.secure), c.expires, c.name, c.value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// loadCookies reads the files of -b.
func (t *tool) loadCookies(c *config) {
	for _, name := range c.cookieFiles {
		if name == "" {
			continue
		}
		if data, err := t.readFile(name); err == nil {
			t.jar.load(string(data), c.newSession)
		}
	}
}

// saveCookies writes the file of -c.
func (t *tool) saveCookies(name string) {
	if name == "-" {
		_ = t.jar.write(t.p.Stdout) // curl does not report an error here either.
		return
	}
	f, err := t.p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err == nil {
		err = t.jar.write(f)
		_ = f.Close() // Each write has already returned its error.
	}
	if err != nil {
		t.warnVerbose("failed to save cookies in %s", name)
	}
}

// parseDate reads the dates of HTTP and cookies.
func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(strings.Trim(s, `"`))
	for _, form := range []string{
		"Mon, 02 Jan 2006 15:04:05 MST", "Mon, 02-Jan-2006 15:04:05 MST", "Mon, 02-Jan-06 15:04:05 MST", "Monday, 02-Jan-06 15:04:05 MST",
		"Mon Jan _2 15:04:05 2006", "02 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 02 Jan 2006 15:04:05 -0700",
		"2006-01-02 15:04:05",
	} {
		if t, err := time.Parse(form, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
