package curl

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// expectFrom is the size from which a POST sends Expect: 100-continue; an upload always does.
const expectFrom = 1 << 20

// custom returns the value of a header field that -H has set, and whether it has; "" takes the field away.
func (t *transfer) custom(name string) (value string, ok bool) {
	for _, h := range t.config.headers {
		key, v, found := strings.Cut(h, ":")
		if !found {
			key, found = strings.CutSuffix(h, ";")
			v = ""
		}
		if found && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

func (t *transfer) hasCustom(name string) bool {
	_, ok := t.custom(name)
	return ok
}

// sentMethod is the method on the request's line.
func (t *transfer) sentMethod() string {
	if t.config.method != "" {
		return t.config.method
	}
	return t.method
}

// isChunked reports whether the body is sent in chunks.
func (t *transfer) isChunked() bool {
	if v, ok := t.custom("Transfer-Encoding"); ok {
		return strings.Contains(strings.ToLower(v), "chunked")
	}
	return t.body != nil && t.body.size < 0 && !t.config.http10
}

// expects100 reports whether the server is asked before the body is sent.
func (t *transfer) expects100() bool {
	if v, ok := t.custom("Expect"); ok {
		return strings.EqualFold(v, "100-continue")
	}
	if t.body == nil || t.config.http10 {
		return false
	}
	return t.body.upload && t.body.size != 0 || t.body.size > expectFrom
}

func (t *transfer) userAgent() string {
	if t.config.agent != nil {
		return *t.config.agent
	}
	return "curl/" + Version
}

// isTrusted reports whether the user's name and password are for the server that is asked now.
func (t *transfer) isTrusted() bool {
	return t.config.locationTrusted || t.url.origin() == t.authHost
}

// requestHead is the request up to its body, with the fields in curl's order.
func (t *transfer) requestHead(c *conn) string {
	if t.wget != nil {
		return t.wget.requestHead(t, c)
	}
	var b strings.Builder
	version := "1.1"
	if t.config.http10 {
		version = "1.0"
	}
	fmt.Fprintf(&b, "%s %s HTTP/%s\r\n", t.sentMethod(), t.target(c), version)
	t.hostField(&b)
	if t.auth != "" && t.isTrusted() && !t.hasCustom("Authorization") {
		b.WriteString("Authorization: " + t.auth + "\r\n")
	}
	t.rangeField(&b)
	if agent := t.userAgent(); agent != "" && !t.hasCustom("User-Agent") {
		b.WriteString("User-Agent: " + agent + "\r\n")
	}
	if !t.hasCustom("Accept") && !t.config.json {
		b.WriteString("Accept: */*\r\n")
	}
	if t.config.compressed && !t.hasCustom("Accept-Encoding") {
		b.WriteString("Accept-Encoding: deflate, gzip\r\n")
	}
	if t.config.referer != "" && !t.hasCustom("Referer") {
		b.WriteString("Referer: " + t.config.referer + "\r\n")
	}
	if c.absolute && !t.hasCustom("Proxy-Connection") {
		b.WriteString("Proxy-Connection: Keep-Alive\r\n")
	}
	if t.isChunked() && t.body != nil && !t.hasCustom("Transfer-Encoding") {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	if v := t.cookieField(); v != "" {
		b.WriteString("Cookie: " + v + "\r\n")
	}
	t.customFields(&b)
	t.bodyFields(&b)
	return b.String() + "\r\n"
}

// target returns the target in the request line.
func (t *transfer) target(c *conn) string {
	path := t.url.path
	if t.config.target != "" {
		path = t.config.target
	} else {
		path += t.url.query
	}
	if c.absolute {
		return "http://" + t.url.authorityText() + path
	}
	return path
}

func (t *transfer) hostField(b *strings.Builder) {
	if v, ok := t.custom("Host"); ok {
		// The name that was set is for the first server.
		if t.redirects == 0 || t.url.origin() == t.authHost {
			if v != "" {
				b.WriteString("Host: " + v + "\r\n")
			}
			return
		}
	}
	b.WriteString("Host: " + t.url.authorityText() + "\r\n")
}

func (t *transfer) rangeField(b *strings.Builder) {
	want := t.config.rangeOf
	if t.config.hasResume && t.body == nil {
		if start := t.sink.resumeAt; start > 0 {
			want = fmt.Sprintf("%d-", start)
		}
	}
	switch {
	case t.body == nil:
		if want != "" && !t.hasCustom("Range") {
			b.WriteString("Range: bytes=" + want + "\r\n")
		}
	case t.hasCustom("Content-Range"):
	case t.config.hasResume && t.body.upload && t.config.resume > 0:
		whole := t.body.size + t.config.resume
		fmt.Fprintf(b, "Content-Range: bytes %d-%d/%d\r\n", t.config.resume, whole-1, whole)
	case want != "":
		fmt.Fprintf(b, "Content-Range: bytes %s/%d\r\n", want, t.body.size)
	}
}

func (t *transfer) cookiesOn() bool {
	return len(t.config.cookieFiles) > 0 || t.config.cookieJar != ""
}

// cookieField returns the cookies of the jar for the server, and those of -b.
func (t *transfer) cookieField() string {
	if t.hasCustom("Cookie") {
		return ""
	}
	text := ""
	if t.cookiesOn() {
		text = t.tool.jar.header(t.url)
	}
	if given := strings.Join(t.config.cookies, ";"); given != "" {
		if text != "" {
			text += "; "
		}
		text += given
	}
	return text
}

// customFields are those of -H.
func (t *transfer) customFields(b *strings.Builder) {
	headers := t.config.headers
	if t.config.json {
		if !t.hasCustom("Content-Type") {
			headers = append(slices.Clip(headers), "Content-Type: application/json")
		}
		if !t.hasCustom("Accept") {
			headers = append(slices.Clip(headers), "Accept: application/json")
		}
	}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		switch {
		case ok && strings.TrimSpace(value) == "":
			continue // "Name:" takes the field away.
		case !ok:
			if name, ok = strings.CutSuffix(h, ";"); !ok || strings.TrimSpace(name) == "" {
				continue
			}
			h = name + ":"
			// "Name;" is a field without a value.
		}
		if strings.ContainsAny(h, "\r\n\x00") || !isValidName(name) {
			continue // A line end would make more of one field.
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "host":
			continue
		case "content-type":
			if t.body != nil && t.body.contentType != "" {
				continue
			}
		case "content-length":
			if t.isChunked() {
				continue
			}
		case "authorization", "cookie":
			if !t.isTrusted() {
				continue
			}
		}
		b.WriteString(h + "\r\n")
	}
}

func isValidName(name string) bool {
	return httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) || name != "" && !strings.ContainsAny(name, "\r\n")
}

// bodyFields are those about the body, which come last.
func (t *transfer) bodyFields(b *strings.Builder) {
	if t.body == nil {
		return
	}
	if t.body.size >= 0 && !t.isChunked() && !t.hasCustom("Content-Length") {
		fmt.Fprintf(b, "Content-Length: %d\r\n", t.body.size)
	}
	switch kind := t.body.contentType; {
	case kind != "":
		if v, ok := t.custom("Content-Type"); ok && v != "" {
			kind = v + kind[strings.Index(kind, ";"):]
		}
		b.WriteString("Content-Type: " + kind + "\r\n")
	case !t.body.upload && !t.config.json && !t.hasCustom("Content-Type"):
		b.WriteString("Content-Type: application/x-www-form-urlencoded\r\n")
	}
	if t.expects100() && !t.hasCustom("Expect") {
		b.WriteString("Expect: 100-continue\r\n")
	}
}

// basic is the value of a field with name and password, RFC 7617.
func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// cutPassword splits "name:password".
func cutPassword(s string) (name, password string, ok bool) { return strings.Cut(s, ":") }

// credentials finds out with which name and password the server is asked.
func (t *transfer) credentials() *fault {
	c := t.config
	t.auth = ""
	if c.bearer != "" {
		t.auth = "Bearer " + c.bearer
		return nil
	}
	user, password, found := t.url.user, t.url.password, t.url.hasUser
	if c.user != "" {
		user, password, _ = cutPassword(c.user)
		found = true
	}
	if c.netrc || c.netrcMay {
		u, p, ok, f := t.fromNetrc(user, c.netrc)
		if f != nil {
			return f
		}
		if ok && (c.netrc || !found) {
			user, password, found = u, p, true
		}
	}
	if found && !c.digest {
		t.auth = basic(user, password)
	}
	return nil
}
