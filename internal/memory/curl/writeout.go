package curl

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// textBatch is how many bytes of a text are written at once.
const textBatch = 32 << 10

// writeOut writes the text of --write-out.
func (t *transfer) writeOut(format string) {
	out := t.tool.p.Stdout
	var b strings.Builder
	flush := func() {
		_, _ = io.WriteString(out, b.String()) // curl does not look either.
		b.Reset()
	}
	defer flush()
	for i := 0; i < len(format); i++ {
		if b.Len() >= textBatch {
			flush()
		}
		c := format[i]
		if c == '\\' && i+1 < len(format) {
			i++
			if j := strings.IndexByte("nrt", format[i]); j >= 0 {
				b.WriteByte("\n\r\t"[j])
			} else {
				b.WriteString(`\` + format[i:i+1])
			}
			continue
		}
		if c != '%' || i+1 == len(format) {
			b.WriteByte(c)
			continue
		}
		rest := format[i+1:]
		if header, ok := strings.CutPrefix(rest, "header{"); ok {
			if name, _, ok := strings.Cut(header, "}"); ok {
				if t.last != nil {
					b.WriteString(t.last.value(name))
				}
				i += len("header{") + len(name) + 1
				continue
			}
		}
		if rest[0] == '%' {
			b.WriteByte('%')
			i++
			continue
		}
		name, _, ok := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
		if rest[0] != '{' || !ok {
			b.WriteString(format[i : i+2])
			i++
			continue
		}
		i += len(name) + 2
		if t.tool.p.Spend(16) != nil {
			return
		}
		switch name {
		case "onerror":
			if t.code == 0 {
				return
			}
		case "stderr":
			flush()
			out = t.tool.errors
		case "stdout":
			flush()
			out = t.tool.p.Stdout
		case "json":
			b.WriteString(t.json())
		case "header_json":
			b.WriteString(t.headerJSON())
		default:
			v, known := t.variable(name)
			if !known {
				fmt.Fprintf(t.tool.errors, "curl: unknown --write-out variable: '%s'\n", name)
			}
			b.WriteString(v.text())
		}
	}
}

// variable is a value of --write-out: text, a whole number, or a time.
type variable struct {
	value any
}

func (v variable) text() string {
	switch x := v.value.(type) {
	case nil:
		return ""
	case time.Duration:
		return fmt.Sprintf("%.6f", x.Seconds())
	case status:
		return fmt.Sprintf("%03d", int(x))
	default:
		return fmt.Sprint(x)
	}
}

// status is a number of three digits.
type status int

// variable returns the value of a name.
func (t *transfer) variable(name string) (v variable, known bool) {
	if i := slices.IndexFunc(variables(), func(x named) bool { return x.name == name }); i >= 0 {
		return variable{variables()[i].value(t)}, true
	}
	return variable{}, false
}

// named is a variable with its name.
type named struct {
	name  string
	value func(t *transfer) any
	quiet bool // it is not in %{json}
}

// textOrNil returns nil for an empty text, which is null in JSON.
func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (t *transfer) lastValue(name string) any {
	if t.last == nil {
		return nil
	}
	return textOrNil(t.last.value(name))
}

func (t *transfer) lastStatus() status {
	if t.last == nil {
		return 0
	}
	return status(t.last.status)
}

// speed is bytes in a second over the whole transfer.
func (t *transfer) speed(n int64) any {
	if t.stats.total <= 0 {
		return 0
	}
	return int64(float64(n) / t.stats.total.Seconds())
}

// variables are in the order of %{json}.
func variables() []named {
	return []named{
		{"certs", func(*transfer) any { return "" }, false},
		{"content_type", func(t *transfer) any { return t.lastValue("Content-Type") }, false},
		{"errormsg", func(t *transfer) any { return textOrNil(t.errorText) }, false},
		{"exitcode", func(t *transfer) any { return t.code }, false},
		{"filename_effective", func(t *transfer) any { return t.fileName() }, false},
		{"ftp_entry_path", func(*transfer) any { return nil }, false},
		{"http_code", func(t *transfer) any { return t.lastStatus() }, false},
		{"http_connect", func(t *transfer) any { return status(t.stats.proxyStatus) }, false},
		{"http_version", func(t *transfer) any { return t.httpVersion() }, false},
		{"local_ip", func(t *transfer) any { return t.stats.local }, false},
		{"local_port", func(t *transfer) any { return t.stats.localPort }, false},
		{"method", func(t *transfer) any { return t.sentMethod() }, false},
		{"num_certs", func(*transfer) any { return 0 }, false},
		{"num_connects", func(t *transfer) any { return t.stats.connects }, false},
		{"num_headers", func(t *transfer) any { return t.stats.headers }, false},
		{"num_redirects", func(t *transfer) any { return t.redirects }, false},
		{"proxy_ssl_verify_result", func(*transfer) any { return 0 }, false},
		{"redirect_url", func(t *transfer) any { return t.redirectURL() }, false},
		{"referer", func(t *transfer) any { return textOrNil(t.config.referer) }, false},
		{"remote_ip", func(t *transfer) any { return t.stats.remote }, false},
		{"remote_port", func(t *transfer) any { return t.stats.remotePort }, false},
		{"response_code", func(t *transfer) any { return t.lastStatus() }, false},
		{"scheme", func(t *transfer) any { return t.schemeName() }, false},
		{"size_download", func(t *transfer) any { return t.stats.downloaded }, false},
		{"size_header", func(t *transfer) any { return t.stats.headerSize }, false},
		{"size_request", func(t *transfer) any { return t.stats.requestSize }, false},
		{"size_upload", func(t *transfer) any { return t.stats.uploaded }, false},
		{"speed_download", func(t *transfer) any { return t.speed(t.stats.downloaded) }, false},
		{"speed_upload", func(t *transfer) any { return t.speed(t.stats.uploaded) }, false},
		{"ssl_verify_result", func(t *transfer) any { return t.verifyResult() }, false},
		{"time_appconnect", func(t *transfer) any { return t.stats.appConnect }, false},
		{"time_connect", func(t *transfer) any { return t.stats.connect }, false},
		{"time_namelookup", func(t *transfer) any { return t.stats.lookup }, false},
		{"time_pretransfer", func(t *transfer) any { return t.stats.preTransfer }, false},
		{"time_redirect", func(t *transfer) any { return t.stats.redirect }, false},
		{"time_starttransfer", func(t *transfer) any { return t.stats.firstByte }, false},
		{"time_total", func(t *transfer) any { return t.stats.total }, false},
		{"url", func(t *transfer) any { return t.given }, false},
		{"url_effective", func(t *transfer) any { return t.effective() }, false},
		{"urlnum", func(t *transfer) any { return t.number }, false},
	}
}

func (t *transfer) fileName() any {
	if t.sink == nil {
		return nil
	}
	return textOrNil(t.sink.name)
}

func (t *transfer) httpVersion() string {
	switch {
	case t.last == nil:
		return "0"
	case t.last.proto == "1.0":
		return "1.0"
	}
	return t.last.proto
}

func (t *transfer) schemeName() any {
	if t.url == nil || t.stats.preTransfer == 0 && t.url.scheme != "file" {
		return nil
	}
	return strings.ToUpper(t.url.scheme)
}

func (t *transfer) verifyResult() int {
	if strings.Contains(t.errorText, "self-signed") {
		return 18
	}
	if strings.Contains(t.errorText, "local issuer") {
		return 20
	}
	return 0
}

func (t *transfer) effective() string {
	if t.url == nil {
		return t.given
	}
	return t.url.effective()
}

// redirectURL returns the URL to which the last response redirected.
func (t *transfer) redirectURL() any {
	if t.last == nil || t.last.status/100 != 3 || t.last.value("Location") == "" {
		return nil
	}
	to, f := t.lastURL.resolve(t.last.value("Location"), t.config.pathAsIs)
	if f != nil {
		return nil
	}
	return to.effective()
}

func (t *transfer) json() string {
	var b strings.Builder
	b.WriteByte('{')
	for _, v := range variables() {
		if v.quiet {
			continue
		}
		b.WriteString(quoteJSON(v.name) + ":")
		switch x := v.value(t).(type) {
		case nil:
			b.WriteString("null")
		case string:
			if v.name == "http_version" {
				b.WriteString(`"` + x + `"`)
			} else {
				b.WriteString(quoteJSON(x))
			}
		case status:
			fmt.Fprint(&b, int(x))
		default:
			b.WriteString(variable{x}.text())
		}
		b.WriteByte(',')
	}
	b.WriteString(`"curl_version":"libcurl/` + Version + `"}`)
	return b.String()
}

// headerJSON is all fields of the last answer, by name.
func (t *transfer) headerJSON() string {
	if t.last == nil {
		return "{\n}"
	}
	values := map[string][]string{}
	var names []string
	for _, f := range t.last.fields {
		name := strings.ToLower(f.name)
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], quoteJSON(f.value)) // bounded: maxHead
	}
	lines := make([]string, 0, len(names))
	for _, n := range names {
		lines = append(lines, quoteJSON(n)+":["+strings.Join(values[n], ",")+"]")
	}
	return "{" + strings.Join(lines, ",\n") + "\n}"
}

func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
