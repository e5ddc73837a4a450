package curl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Version is that of the curl whose behaviour is followed; servers see it in User-Agent.
const Version = "7.88.1"

const tryHelp = "curl: try 'curl --help' or 'curl --manual' for more information\n"

// Command returns the program curl, whose requests go the given way.
func Command(way Way) shell.Command {
	return shell.Command{
		Name: "curl", Usage: "[options...] <url>", Summary: "transfer what a URL names", Help: helpBody,
		Run: func(p *shell.Proc) int { return run(p, way) },
	}
}

const helpBody = ` -d, --data <data>          send data with POST; @file reads a file
 -f, --fail                 no output and status 22 on HTTP errors
 -F, --form <name=content>  send a form; @file attaches a file
 -H, --header <header>      send a header field
 -i, --include              show the answer's header too
 -I, --head                 ask for the header only
 -L, --location             follow redirections
 -o, --output <file>        write to a file
 -O, --remote-name          write to a file named as in the URL
 -s, --silent               no progress and no errors; -S shows errors
 -T, --upload-file <file>   send a file with PUT
 -u, --user <user:password> name and password for the server
 -v, --verbose              show what is sent and received
 -w, --write-out <format>   say something about the transfer at its end
 -X, --request <method>     another method
 -V, --version              show the version and quit

Requests go where the policy of the sandbox lets them; -x and --resolve are refused.
`

// tool is one run of curl.
type tool struct {
	p       *shell.Proc
	way     Way
	configs []*config
	errors  io.Writer
	closers []io.Closer
	pool    pool
	jar     jar
	files   map[string]io.WriteCloser // of -D: one file for all transfers

	silent, showError, verbose bool
	bar, noMeter, failEarly    bool
	count                      int // of URLs begun
}

func run(p *shell.Proc, way Way) int {
	t := &tool{p: p, way: way, errors: p.Stderr, pool: pool{way: way}}
	t.jar.now = p.Now
	defer t.close()
	c := newConfig()
	t.configs = []*config{c}
	parse := &parser{tool: t, c: c, table: options()}
	if err := parse.defaults(p.Args[1:]); err != nil {
		return t.usage(parse, err)
	}
	if len(p.Args) == 1 && len(c.outputs) == 0 {
		t.say(tryHelp)
		return codeUsage
	}
	if err := parse.args(p.Args[1:]); err != nil {
		return t.usage(parse, err)
	}
	if parse.quit != nil {
		return parse.quit()
	}
	return t.perform()
}

// usage prints the error of an option.
func (t *tool) usage(p *parser, err error) int {
	u, ok := errors.AsType[*usageError](err)
	if !ok {
		return t.p.Status(err)
	}
	if u.text != "" {
		t.say("curl: option " + p.name + ": " + u.text + "\n" + tryHelp)
	}
	return u.code
}

func (t *tool) close() {
	t.pool.close()
	for _, c := range t.closers {
		_ = c.Close() // Each write has already returned its error.
	}
}

// perform makes all transfers and returns the status of the last one that failed.
func (t *tool) perform() int {
	status := 0
	for _, c := range t.configs {
		if !t.ready(c) {
			return codeUsage
		}
		st, more := t.all(c)
		if st != 0 || len(c.outputs) > 0 {
			status = st
		}
		if c.cookieJar != "" {
			t.saveCookies(c.cookieJar)
		}
		if !more {
			break
		}
	}
	return status
}

// ready checks the combination of options; false after a message.
func (t *tool) ready(c *config) bool {
	urls := 0
	for _, o := range c.outputs {
		if o.hasURL {
			urls++
		}
	}
	if urls == 0 {
		t.say("curl: no URL specified!\n" + tryHelp)
		return false
	}
	if c.hasData && !c.get && !c.choose(t, kindPost) {
		return false
	}
	for _, o := range c.outputs {
		if o.hasUpload && o.upload != "" && !c.choose(t, kindPut) {
			return false
		}
	}
	t.inferred(c)
	if c.user != "" && !strings.Contains(c.user, ":") {
		// No user is there to enter a password.
		c.user += ":" // bounded: by an option, which is charged
	}
	t.loadCookies(c)
	return true
}

// inferred warns of -X where it does harm, and with -v where it does nothing.
func (t *tool) inferred(c *config) {
	name := map[requestKind]string{kindNone: "GET", kindGet: "GET", kindHead: "HEAD", kindForm: "POST", kindPost: "POST", kindPut: "PUT"}[c.kind]
	switch {
	case c.method == "":
	case strings.EqualFold(c.method, name):
		if t.verbose && !t.silent {
			t.say("Note: Unnecessary use of -X or --request, " + name + " is already inferred.\n")
		}
	case strings.EqualFold(c.method, "HEAD"):
		t.warn("Setting custom HTTP method to HEAD with -X/--request may not work the way you want. Consider using -I/--head instead.")
	}
}

// all makes the transfers of a configuration. more is false when no further ones are to be made.
func (t *tool) all(c *config) (status int, more bool) {
	for i := range c.outputs {
		o := &c.outputs[i]
		if !o.hasURL {
			t.warn("Got more output options than URLs")
			continue
		}
		uploads, f := t.uploads(c, o)
		if f != nil {
			return t.report(f), true
		}
		for i := range uploads.count {
			if err := t.p.Spend(len(uploads.pieces)); err != nil {
				return t.p.Status(err), false
			}
			upload, _ := uploads.url(i)
			st, on := t.urls(c, o, upload)
			if st != 0 {
				status = st
			} else if on {
				status = 0
			}
			if !on {
				return status, false
			}
		}
	}
	return status, true
}

// uploads returns the files that are sent to the URL, in order, as the words of a pattern; the one word "" is none.
func (t *tool) uploads(c *config, o *output) (*glob, *fault) {
	if !o.hasUpload || o.upload == "" || c.globOff {
		return &glob{count: 1, pieces: []globPiece{{text: o.upload}}}, nil
	}
	return newGlob(t.p, o.upload)
}

// urls makes a transfer for each URL that the word stands for.
func (t *tool) urls(c *config, o *output, upload string) (status int, more bool) {
	g := &glob{count: 1, pieces: []globPiece{{text: o.url}}}
	if !c.globOff {
		var f *fault
		if g, f = newGlob(t.p, o.url); f != nil {
			return t.report(f), true
		}
	}
	for i := range g.count {
		if err := t.p.Spend(1 + len(g.pieces)); err != nil {
			return t.p.Status(err), false
		}
		url, values := g.url(i)
		x := &transfer{tool: t, config: c, out: o, given: url, values: values, upload: upload, number: t.count}
		t.count++
		status = x.perform()
		if t.p.Context().Err() != nil {
			return t.p.Status(context.Cause(t.p.Context())), false
		}
		if status != 0 && t.failEarly {
			return status, false
		}
	}
	return status, true
}

// report prints a fault and returns the exit status.
func (t *tool) report(f *fault) int {
	if !t.silent || t.showError {
		t.say(fmt.Sprintf("curl: (%d) %s\n", f.code, f.text))
		if f.code == codeVerify {
			t.say(moreHelp)
		}
	}
	return f.code
}

// say writes a message as it is.
func (t *tool) say(text string) { _, _ = io.WriteString(t.errors, text) }

// warnWidth is the maximal width of a warning's line, in columns.
const warnWidth = 79 - len("Warning: ")

// warn writes a warning in lines of 79 columns, unless curl is silent.
func (t *tool) warn(format string, args ...any) {
	if t.silent {
		return
	}
	text := fmt.Sprintf(format, args...)
	var b strings.Builder
	for len(text) > warnWidth {
		cut := warnWidth - 1
		for cut > 0 && text[cut] != ' ' {
			cut--
		}
		if cut == 0 {
			cut = warnWidth - 1
		}
		b.WriteString("Warning: " + text[:cut+1] + "\n")
		text = text[cut+1:]
	}
	b.WriteString("Warning: " + text + "\n")
	t.say(b.String())
}

// warnVerbose is a warning that only -v shows.
func (t *tool) warnVerbose(format string, args ...any) {
	if t.verbose {
		t.say("* WARNING: " + fmt.Sprintf(format, args...) + "\n")
	}
}

func (p *parser) help() error {
	p.quit = func() int {
		c := Command(p.tool.way)
		_, err := io.WriteString(p.tool.p.Stdout, "Usage: curl "+c.Usage+"\n"+c.Help)
		if err != nil {
			return p.tool.p.WriteFailed(err)
		}
		return 0
	}
	return nil
}

func (p *parser) version() error {
	p.quit = func() int {
		_, err := io.WriteString(p.tool.p.Stdout, "curl "+Version+" (agent-sandbox, in memory) libcurl/"+Version+"\nRelease-Date: 2023-02-20\n"+
			"Protocols: file http https \nFeatures: IDN IPv6 Largefile libz SSL threadsafe\n")
		if err != nil {
			return p.tool.p.WriteFailed(err)
		}
		return 0
	}
	return nil
}

// cmpOr returns the first text that is not empty.
func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
