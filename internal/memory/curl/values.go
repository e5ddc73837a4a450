package curl

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// signed reads a whole number.
func signed(to *int, v string) error {
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return errNumber
	}
	*to = int(n)
	return nil
}

// unsigned reads a whole number from 0 on.
func unsigned(to *int, v string) error {
	if err := signed(to, v); err != nil {
		return err
	}
	if *to < 0 {
		return errPositive
	}
	return nil
}

// seconds reads a time with fractions.
func seconds(to *time.Duration, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(v, "xXpP_") {
		return errNumber
	}
	if f < 0 {
		return errPositive
	}
	*to = time.Duration(min(f, 1e9) * float64(time.Second))
	return nil
}

func wholeSeconds(to *time.Duration, v string) error {
	var n int
	if err := unsigned(&n, v); err != nil {
		return err
	}
	*to = time.Duration(min(n, 1e9)) * time.Second
	return nil
}

// size reads bytes, with K, M, G.
func (p *parser) size(to *int64, v, what string) error {
	factor := int64(1)
	text := v
	if v != "" {
		if i := strings.IndexByte("BKMG", v[len(v)-1]&^0x20); i >= 0 {
			factor, text = 1<<(10*i), v[:len(v)-1]
		} else if c := v[len(v)-1]; len(v) > 1 && (c < '0' || c > '9') {
			p.tool.warn("unsupported %s unit. Use G, M, K or B!", what)
			return errBadUse
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return errNumber
	case n < 0:
		return errPositive
	case n > math.MaxInt64/factor:
		return badUse("too large number")
	}
	*to = n * factor
	return nil
}

// choose records which kind of request the options make. There can be only one.
func (c *config) choose(t *tool, k requestKind) bool {
	if c.kind != kindNone && c.kind != k {
		t.warn("You can only select one HTTP request method! You asked for both %s and %s.", kindNames[k], kindNames[c.kind])
		return false
	}
	c.kind = k
	return true
}

func (p *parser) choose(k requestKind) error {
	if !p.c.choose(p.tool, k) {
		return errTold
	}
	return nil
}

func (p *parser) head() error {
	p.c.head = true
	return p.choose(kindHead)
}

func (p *parser) include() error {
	if p.c.remoteName {
		return p.clash()
	}
	p.c.include = true
	return nil
}

func (p *parser) remoteName() error {
	if p.c.include {
		return p.clash()
	}
	p.c.remoteName = true
	return nil
}

func (p *parser) clash() error {
	fmt.Fprint(p.tool.errors, "curl: showing headers and --remote-header-name cannot be combined\n"+tryHelp)
	return &usageError{"", codeUsage}
}

func (p *parser) failing(this, other *bool) error {
	if *other {
		p.tool.say("curl: You must select either --fail or --fail-with-body, not both.\n")
		return errBadUse
	}
	*this = true
	return nil
}

// maxData bounds the part of a request that is in memory.
const maxData = 64 << 20

// readAll reads to the end, up to maxData. It charges the machine for the text, a copy of it and a list of its lines.
func (t *tool) readAll(r io.Reader) ([]byte, error) {
	var out []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if t.p.Reserve(3*n+lineWeight*bytes.Count(buf[:n], []byte("\n"))) != nil {
			return nil, errNoMemory
		}
		out = append(out, buf[:n]...)
		if len(out) > maxData {
			return nil, errNoMemory
		}
		if e := t.p.Spend(1 + n>>6); e != nil {
			return nil, e
		}
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// lineWeight is about how many bytes of memory a line of a file takes beside its text.
const lineWeight = 64

// readFile reads a file of the machine; "-" is standard input.
func (t *tool) readFile(name string) ([]byte, error) {
	if name == "-" {
		return t.readAll(t.p.Stdin)
	}
	f, err := t.p.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return t.readAll(f)
}

func (p *parser) header(v string, to *[]string) error {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		*to = append(*to, v) // bounded: by options, each of which is charged
		return nil
	}
	data, err := p.tool.readFile(name)
	if err != nil {
		p.tool.warn("Failed to open %s!", name)
		return errReading
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if line = strings.TrimRight(line, "\r"); line != "" {
			*to = append(*to, line) // bounded: readAll has charged for lines
		}
	}
	return nil
}

func (p *parser) referer(v string) error {
	p.c.referer, p.c.autoReferer = strings.CutSuffix(v, ";auto")
	return nil
}

func (p *parser) cookie(v string) error {
	if file, ok := strings.CutPrefix(v, "@"); ok {
		p.c.cookieFiles = append(p.c.cookieFiles, file) // bounded: by options, each of which is charged
	} else if strings.Contains(v, "=") {
		p.c.cookies = append(p.c.cookies, v) // bounded: by options, each of which is charged
	} else {
		p.c.cookieFiles = append(p.c.cookieFiles, v) // bounded: by options, each of which is charged
	}
	return nil
}

func (p *parser) byteRange(v string) error {
	if _, err := strconv.ParseUint(v, 10, 63); err == nil {
		p.tool.warn("A specified range MUST include at least one dash (-). Appending one for you!")
		v += "-"
	}
	if strings.Trim(v, "0123456789-,") != "" {
		p.tool.warn("Invalid character is found in given range. A specified range MUST have only digits in 'start'-'stop'. The server's response to this request is uncertain.")
	}
	p.c.rangeOf = v
	return nil
}

func (p *parser) continueAt(v string) error {
	p.c.hasResume = true
	if v == "-" {
		p.c.resume = -1
		return nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return errNumber
	}
	if n < 0 {
		return errPositive
	}
	p.c.resume, p.c.hasResume = n, n > 0
	return nil
}

// protocols reads "http,https", "=https", "-all,http", "+https".
func (p *parser) protocols(v string, to *map[string]bool) error {
	all := []string{"http", "https", "file"}
	set := map[string]bool{}
	for _, s := range all {
		set[s] = true
	}
	for item := range strings.SplitSeq(v, ",") {
		mode, name := byte('+'), item
		for name != "" && strings.IndexByte("+-=", name[0]) >= 0 {
			mode, name = name[0], name[1:]
		}
		if mode == '=' {
			clear(set)
		}
		switch name = strings.ToLower(name); {
		case name == "all":
			for _, s := range all {
				set[s] = mode != '-' // bounded: by the protocols in this function
			}
		case slices.Contains(all, name):
			set[name] = mode != '-' // bounded: by the protocols in this function
		case slices.Contains(otherProtocols, name):
		default:
			p.tool.warn("unrecognized protocol '%s'", name)
			continue
		}
	}
	*to = set
	return nil
}

// otherProtocols are those that curl knows and that are not spoken here.
var otherProtocols = []string{
	"dict", "ftp", "ftps", "gopher", "gophers", "imap", "imaps", "ldap", "ldaps", "mqtt", "pop3", "pop3s", "rtmp", "rtsp", "scp", "sftp", "smb",
	"smbs", "smtp", "smtps", "telnet", "tftp",
}

func (p *parser) defaultProtocol(v string) error {
	v = strings.ToLower(v)
	if !slices.Contains([]string{"http", "https", "file"}, v) && !slices.Contains(otherProtocols, v) {
		return &usageError{"a specified protocol is unsupported by libcurl", codeProtocol}
	}
	p.c.defaultProtocol = v
	return nil
}

func (p *parser) tlsMax(v string) error {
	versions := map[string]uint16{
		"default": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
	}
	n, ok := versions[v]
	if !ok {
		return errBadUse
	}
	p.c.tlsMax = n
	return nil
}

func (p *parser) output(v string) error {
	if len(v) > 1 && v[0] == '-' {
		p.tool.warn("The file name argument '%s' looks like a flag.", v)
	}
	p.c.addOutput(v, false, true)
	return nil
}

// createMode is for files that other protocols make.
func (p *parser) createMode(v string) error {
	n, err := strconv.ParseUint(v, 8, 32)
	if err != nil {
		return errNumber
	}
	if n > 0o777 {
		return badUse("too large number")
	}
	return nil
}

func (p *parser) writeOut(v string) error {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		p.c.writeOut = v
		return nil
	}
	data, err := p.tool.readFile(name)
	if err != nil {
		p.tool.warn("Failed to open %s", name)
		return errReading
	}
	p.c.writeOut = strings.NewReplacer("\r", "", "\n", "").Replace(string(data))
	return nil
}

// stderr redirects messages.
func (p *parser) stderr(v string) error {
	if v == "-" {
		p.tool.errors = p.tool.p.Stdout
		return nil
	}
	f, err := p.tool.p.OpenFile(v, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err == nil {
		p.tool.closers = append(p.tool.closers, f) // bounded: by options, each of which is charged
		p.tool.errors = f
	} else {
		p.tool.warn("Failed to open %s!", v)
	}
	return nil
}

func (p *parser) next() error {
	if len(p.c.outputs) == 0 {
		return badUse("is badly used here")
	}
	p.c = newConfig()
	p.tool.configs = append(p.tool.configs, p.c) // bounded: by options, each of which is charged
	return nil
}
