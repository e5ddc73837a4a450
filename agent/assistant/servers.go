package assistant

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// serverDocument is the file of an MCP server.
type serverDocument struct {
	Schema        string            `json:"$schema"`
	Label         string            `json:"label"`
	Transport     string            `json:"transport"`
	Command       string            `json:"command"`
	Arguments     []string          `json:"arguments"`
	Env           map[string]string `json:"env"`
	URL           string            `json:"url"`
	Headers       map[string]string `json:"headers"`
	Authorization string            `json:"authorization"`
	Timeout       sandbox.Duration  `json:"timeout"`
}

// The transports.
const (
	stdio = "stdio"
	http  = "http"
)

// The bounds of what the file of a server may say.
const (
	maxText          = 4096 // bytes of a name, an address or a value
	maxPairs         = 128  // of env and headers
	maxArguments     = 256
	maxServerTimeout = sandbox.Duration(24 * time.Hour)
	reference        = "$ENV."
)

// parseServer reads the file of an MCP server. A value may be a key, so no problem repeats one.
func parseServer(id, file, dir string, data []byte) (tool.Server, []jsonc.Problem) {
	reader := jsonc.Reader{Expect: expectation, Quiet: true}
	top, problem := reader.Parse(file, data)
	if problem != nil {
		return tool.Server{}, []jsonc.Problem{*problem}
	}
	var doc serverDocument
	c := &checks{top: top}
	c.lines, c.problems = reader.Decode(top, &doc)
	s := tool.Server{ID: id, Label: doc.Label, Timeout: time.Duration(doc.Timeout)}
	if top.IsObject() {
		c.line("label", doc.Label)
		if doc.Timeout > maxServerTimeout {
			c.fail("timeout", "found %s, expected at most %s", doc.Timeout, maxServerTimeout)
		}
		switch c.transport(doc) {
		case stdio:
			c.only(stdio, "url", "headers", "authorization")
			c.program(doc)
			s.Command, s.Env, s.Dir = append([]string{doc.Command}, doc.Arguments...), doc.Env, dir
		case http:
			c.only(http, "command", "arguments", "env")
			c.address(doc.URL)
			s.URL, s.Headers = doc.URL, c.headers(doc)
		}
	}
	return s, c.sorted()
}

// transport returns the transport that the file names or, without one, the transport that has the file's keys.
func (c *checks) transport(doc serverDocument) string {
	switch {
	case doc.Transport == stdio, doc.Transport == http:
		return doc.Transport
	case doc.Transport == "sse":
		c.fail("transport", `found "sse", which MCP has given up, expected stdio or http`).
			Hint = `most servers answer the newer transport, too: write "transport": "http" and the address that ends with /mcp`
	case doc.Transport == "streamable-http" || doc.Transport == "streamable_http":
		c.fail("transport", "found %s, expected stdio or http", jsonc.Clip(doc.Transport)).Hint = `it is called "http" here`
	case c.lines["transport"] > 0:
		if c.has("transport") {
			c.fail("transport", "found another text, expected stdio or http")
		}
	case c.lines["command"] > 0 && c.lines["url"] > 0:
		c.fail("url", "found command beside it, expected one of them")
	case c.lines["command"] > 0:
		return stdio
	case c.lines["url"] > 0:
		return http
	default:
		c.fail("", "found neither command nor url, expected how the server is reached")
	}
	return ""
}

// only refuses the keys that a transport does not have.
func (c *checks) only(transport string, others ...string) {
	for _, key := range others {
		if c.lines[key] > 0 {
			c.fail(key, "found in a server of transport %s, which has none", transport)
		}
	}
}

func (c *checks) program(doc serverDocument) {
	if c.lines["command"] == 0 {
		c.fail("command", "found nothing, expected a program")
	} else if c.has("command") && (doc.Command == "" || !isPrintableLine(doc.Command)) {
		c.fail("command", "found another text, expected a program").Hint = `"arguments" are a list of their own; no shell reads them`
	}
	if len(doc.Arguments) > maxArguments {
		c.fail("arguments", "found %d, expected at most %d", len(doc.Arguments), maxArguments)
		return
	}
	for i, arg := range doc.Arguments {
		if len(arg) > maxText || strings.ContainsRune(arg, 0) {
			c.fail(jsonc.IndexKey("arguments", i), "found a NUL or over %d bytes", maxText)
		}
	}
	if len(doc.Env) > maxPairs {
		c.fail("env", "found %d variables, expected at most %d", len(doc.Env), maxPairs)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Env)) {
		key, value := "env."+name, doc.Env[name]
		switch {
		case !connector.IsVariableName(name):
			c.fail(key, "found a name that no variable has, expected letters, digits and '_'")
		case len(value) > maxText || strings.ContainsRune(value, 0):
			c.fail(key, "found a NUL or over %d bytes", maxText)
		default:
			c.isReference(key, value)
		}
	}
}

// isReference reports whether a value refers to a variable; it adds a problem for an invalid reference.
func (c *checks) isReference(key, value string) bool {
	name, ok := strings.CutPrefix(value, reference)
	if ok && !connector.IsVariableName(name) {
		c.fail(key, "found %sNAME with a name that no variable has", reference)
	}
	return ok
}

func (c *checks) address(text string) {
	u, err := url.Parse(text)
	switch {
	case c.lines["url"] == 0:
		c.fail("url", "found nothing, expected the server's address")
	case !c.has("url"):
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || !isPrintableLine(text):
		c.fail("url", "found another address, expected http:// or https:// and a host")
	case u.User != nil || u.Fragment != "":
		c.fail("url", "found an address with a user or a fragment, expected one without").Hint = `name the variable that holds the key in "authorization"`
	}
}

// headers returns the headers of the file with Authorization.
func (c *checks) headers(doc serverDocument) map[string]string {
	if len(doc.Headers) > maxPairs {
		c.fail("headers", "found %d, expected at most %d", len(doc.Headers), maxPairs)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Headers)) {
		key, value := "headers."+name, doc.Headers[name]
		switch {
		case !connector.IsValidHeader(name, value):
			c.fail(key, "found a header that cannot be sent, expected a name and a value on one line")
		case strings.EqualFold(name, "authorization"):
			c.fail(key, `found a header that has a key of its own, expected it as "authorization"`)
		case !c.isReference(key, value) && connector.IsKeyHeader(name):
			c.keyInFile(key)
		}
	}
	if c.lines["authorization"] == 0 {
		return doc.Headers
	}
	if !c.isReference("authorization", doc.Authorization) && c.has("authorization") {
		c.keyInFile("authorization")
	}
	out := map[string]string{"Authorization": doc.Authorization}
	maps.Copy(out, doc.Headers)
	return out
}

func (c *checks) keyInFile(key string) {
	c.fail(key, `found a key, which is not written in this file, expected "$ENV.NAME"`).
		Hint = `put the whole header, such as "Bearer ...", into a variable and write "$ENV.NAME"`
}

// servers reads all files of mcps/, including those that the package does not name, to report their problems.
func (l *loading) servers(dir string) map[string]tool.Server {
	within := path.Join(dir, serversDir)
	entries, err := l.t.entries(within)
	if err != nil {
		l.add(convertError(l.t.abs(within), err))
	}
	out, files := map[string]tool.Server{}, map[string]string{}
	for _, e := range entries {
		name := path.Join(within, e.Name())
		id, ofKind, ok := cutForm(e.Name(), "mcp")
		switch {
		case !ofKind:
			continue
		case !ok:
			l.failFile(name, "found another ending, expected .mcp.yao, .mcp.jsonc or .mcp.json")
			continue
		case !isValidServer(id):
			l.failFile(name, fmt.Sprintf("found the name %s, expected letters, digits, '-' and '_', at most 64, without two '_' together", jsonc.Clip(id)))
			continue
		case files[id] != "":
			l.failFile(name, "found a second file of the server "+id+", expected one").Hint = "remove one of the two"
			continue
		case len(files) == MaxServers:
			l.failFile(name, fmt.Sprintf("found more than %d servers, expected fewer", MaxServers))
			return out
		}
		files[id] = name
		if data, ok := l.read(name, MaxFile); ok {
			s, problems := parseServer(id, l.t.abs(name), l.t.abs(dir), data)
			l.add(problems...)
			out[id] = s
		} else {
			out[id] = tool.Server{ID: id} // the server exists, and its problems were reported
		}
	}
	return out
}

// isValidServer reports whether a server may have this ID. The separator between it and a tool's name is "__",
// which it must not contain.
func isValidServer(id string) bool {
	return isValidName(id) && !strings.Contains(id, ".") && !strings.Contains(id, "__")
}
