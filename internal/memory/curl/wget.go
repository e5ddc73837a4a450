package curl

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// wgetVersion is that of the wget whose behaviour is followed.
const wgetVersion = "1.21.3"

// Exit statuses of wget, see EXIT STATUS in wget(1).
const (
	wgetGeneric = 1
	wgetParse   = 2
	wgetFile    = 3
	wgetNetwork = 4
	wgetTLS     = 5
	wgetServer  = 8
)

// Wget returns the program wget, whose requests go the given way.
func Wget(way Way) shell.Command {
	return shell.Command{
		Name: "wget", Usage: "[OPTION]... [URL]...", Summary: "get files from the web", Help: wgetHelp,
		Run: func(p *shell.Proc) int { return runWget(p, way) },
	}
}

const wgetHelp = `  -q,  --quiet                no messages
  -nv, --no-verbose           short ones
  -o,  --output-file=FILE     messages go to FILE; -a appends
  -i,  --input-file=FILE      read URLs from FILE
  -O,  --output-document=FILE write all there; - is standard output
  -P,  --directory-prefix=DIR save files in DIR
  -c,  --continue             get the rest of a file
  -nc, --no-clobber           leave files that are there
  -t,  --tries=NUMBER         how often to try; 0 is without end
  -T,  --timeout=SECONDS      how long to wait
  -S,  --server-response      show the answer's header
       --spider               look whether it is there
  -U,  --user-agent=AGENT     who asks
       --header=STRING        send a header field
       --method=METHOD        another method
       --post-data=STRING     send with POST; --post-file=FILE, --body-data, --body-file
       --user=USER, --password=PASS
       --max-redirect=NUMBER  redirections to follow
       --no-check-certificate trust every server
       --ca-certificate=FILE  whom to trust
       --content-disposition  take the server's name for the file
`

const (
	wgetHeader = getopt.First + iota
	wgetMethod
	wgetPostData
	wgetPostFile
	wgetBodyData
	wgetBodyFile
	wgetUser
	wgetPassword
	wgetRedirects
	wgetInsecure
	wgetCA
	wgetDisposition
	wgetSpider
	wgetBrief
	wgetKeep
	wgetIgnored
	wgetReferer
	wgetMilder
)

func wgetOptions() []getopt.Option {
	return []getopt.Option{
		{Short: 'q', Long: "quiet"},
		{Long: "no-verbose", ID: wgetBrief},
		{Short: 'v', Long: "verbose"},
		{Short: 'o', Long: "output-file", Arg: getopt.Required},
		{Short: 'a', Long: "append-output", Arg: getopt.Required},
		{Short: 'i', Long: "input-file", Arg: getopt.Required},
		{Short: 'O', Long: "output-document", Arg: getopt.Required},
		{Short: 'P', Long: "directory-prefix", Arg: getopt.Required},
		{Short: 'c', Long: "continue"},
		{Long: "no-clobber", ID: wgetKeep},
		{Short: 't', Long: "tries", Arg: getopt.Required},
		{Short: 'T', Long: "timeout", Arg: getopt.Required},
		{Short: 'S', Long: "server-response"},
		{Long: "spider", ID: wgetSpider},
		{Short: 'U', Long: "user-agent", Arg: getopt.Required},
		{Long: "header", ID: wgetHeader, Arg: getopt.Required},
		{Long: "referer", ID: wgetReferer, Arg: getopt.Required},
		{Long: "method", ID: wgetMethod, Arg: getopt.Required},
		{Long: "post-data", ID: wgetPostData, Arg: getopt.Required},
		{Long: "post-file", ID: wgetPostFile, Arg: getopt.Required},
		{Long: "body-data", ID: wgetBodyData, Arg: getopt.Required},
		{Long: "body-file", ID: wgetBodyFile, Arg: getopt.Required},
		{Long: "user", ID: wgetUser, Arg: getopt.Required},
		{Long: "http-user", ID: wgetUser, Arg: getopt.Required},
		{Long: "password", ID: wgetPassword, Arg: getopt.Required},
		{Long: "http-password", ID: wgetPassword, Arg: getopt.Required},
		{Long: "max-redirect", ID: wgetRedirects, Arg: getopt.Required},
		{Long: "no-check-certificate", ID: wgetInsecure},
		{Long: "ca-certificate", ID: wgetCA, Arg: getopt.Required},
		{Long: "content-disposition", ID: wgetDisposition},
		{Long: "auth-no-challenge", ID: wgetMilder},
		{Short: '4', Long: "inet4-only", ID: wgetIgnored},
		{Short: '6', Long: "inet6-only", ID: wgetIgnored},
		{Long: "no-proxy", ID: wgetIgnored},
		{Long: "no-cache", ID: wgetIgnored},
		{Long: "show-progress", ID: wgetIgnored},
		{Long: "no-hsts", ID: wgetIgnored},
	}
}

// wget is one run of wget.
type wget struct {
	t   *tool
	c   *config
	log io.Writer // nil: no log

	brief, server, spider, resume, keep, disposition bool
	document, prefix, input, agent                   string
	user, password                                   string
	preemptive                                       bool
	tries                                            int
	timeout                                          time.Duration
	shared                                           io.WriteCloser // of -O

	status  int
	files   int
	bytes   int64
	spent   time.Duration
	started time.Time
}

func runWget(p *shell.Proc, way Way) int {
	t := &tool{p: p, way: way, errors: p.Stderr, pool: pool{way: way}, silent: true}
	t.jar.now = p.Now
	defer t.close()
	w := &wget{t: t, c: newConfig(), log: p.Stderr, tries: 20, timeout: 15 * time.Minute, agent: "Wget/" + wgetVersion, started: time.Now()}
	w.c.fail, w.c.location, w.c.maxRedirects, w.c.remoteTime = true, true, 20, true
	urls, status := w.options(splitBundled(p.Args))
	if status >= 0 {
		return status
	}
	if w.input != "" {
		data, err := t.readFile(w.input)
		if err != nil {
			w.say("%s: %s\nNo URLs found in %s.\n", w.input, shell.Strerror(err), w.input)
			return wgetGeneric
		}
		if t.p.Reserve(16*(len(data)/2+1)) != nil { // A word has two bytes at least, with its blank.
			w.say("%s: %s\n", w.input, shell.Strerror(syscall.ENOMEM))
			return wgetGeneric
		}
		urls = append(urls, strings.Fields(string(data))...)
	} else if len(urls) == 0 {
		return w.usage(wgetGeneric, "missing URL")
	}
	return w.all(urls)
}

// splitBundled writes wget's own -nv and -nc as the long options that they are.
func splitBundled(args []string) []string {
	out := append([]string(nil), args...)
	for i, a := range out {
		switch a {
		case "--":
			return out
		case "-nv":
			out[i] = "--no-verbose"
		case "-nc":
			out[i] = "--no-clobber"
		}
	}
	return out
}

func (w *wget) usage(status int, format string, args ...any) int {
	fmt.Fprintf(w.t.p.Stderr, "wget: %s\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n", fmt.Sprintf(format, args...))
	return status
}

// options reads them; status -1 means to go on.
func (w *wget) options(args []string) (urls []string, status int) {
	o := getopt.New(args, wgetOptions())
	for o.Next() {
		switch o.ID {
		case getopt.Help:
			c := Wget(w.t.way)
			return nil, w.print(c.HelpText("wget"))
		case getopt.Version:
			return nil, w.print("GNU Wget " + wgetVersion + " (agent-sandbox, in memory)\n")
		}
		if text := w.option(o.ID, o.Value); text == told {
			return nil, wgetParse
		} else if text != "" {
			return nil, w.usage(wgetParse, "%s", text)
		}
	}
	if o.Err != nil {
		return nil, w.usage(wgetParse, "%v", o.Err)
	}
	return o.Args(), -1
}

func (w *wget) print(text string) int {
	if _, err := io.WriteString(w.t.p.Stdout, text); err != nil {
		return w.t.p.WriteFailed(err)
	}
	return 0
}

// told is the text of the messages so far.
const told = "\x00"

// option takes one option; the text is its error.
func (w *wget) option(id int, v string) string {
	c := w.c
	switch id {
	case 'q':
		w.log = nil
	case 'v', wgetIgnored:
	case wgetBrief:
		w.brief = true
	case 'o', 'a':
		return w.logTo(v, id == 'a')
	case 'i':
		w.input = v
	case 'O':
		w.document = v
	case 'P':
		w.prefix = strings.TrimRight(v, "/")
	case 'c':
		w.resume, c.hasResume = true, true
	case wgetKeep:
		w.keep = true
	case 't':
		n, err := strconv.Atoi(v)
		if err != nil && v != "inf" || n < 0 {
			return fmt.Sprintf("--tries: Invalid number '%s'.", v)
		}
		w.tries = n
	case 'T':
		if seconds(&w.timeout, v) != nil {
			return fmt.Sprintf("--timeout: Invalid time period '%s'", v)
		}
	case 'S':
		w.server = true
	case wgetSpider:
		w.spider = true
	case 'U':
		w.agent = v
	case wgetHeader:
		name, _, ok := strings.Cut(v, ":")
		if !ok || strings.ContainsAny(v, "\r\n") || strings.ContainsAny(name, " \t") || name == "" {
			fmt.Fprintf(w.t.p.Stderr, "wget: --header: Invalid header '%s'.\n", v)
			return told
		}
		c.headers = append(c.headers, v) // bounded: by options, each of which is charged
	case wgetReferer:
		c.referer = v
	case wgetMethod:
		c.method = strings.ToUpper(v)
	case wgetPostData, wgetBodyData:
		c.data, c.hasData = []byte(v), true
	case wgetPostFile, wgetBodyFile:
		data, err := w.t.readFile(v)
		if err != nil {
			return fmt.Sprintf("BODY data file '%s' missing: %s", v, shell.Strerror(err))
		}
		c.data, c.hasData = data, true
	default:
		return w.further(id, v)
	}
	return ""
}

func (w *wget) further(id int, v string) string {
	switch id {
	case wgetUser:
		w.user = v
	case wgetPassword:
		w.password = v
	case wgetMilder:
		w.preemptive = true
	case wgetRedirects:
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Sprintf("--max-redirect: Invalid number '%s'.", v)
		}
		w.c.maxRedirects = n
	case wgetInsecure:
		w.c.insecure = true
	case wgetCA:
		w.c.caFile = v
	case wgetDisposition:
		w.disposition = true
	}
	return ""
}

// logTo sends messages to a file.
func (w *wget) logTo(name string, more bool) string {
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if more {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := w.t.p.OpenFile(name, flag, 0o666)
	if err != nil {
		return fmt.Sprintf("%s: %s", name, shell.Strerror(err))
	}
	w.t.closers = append(w.t.closers, f) // bounded: by the options of wget
	if w.log != nil {
		w.log = f
	}
	return ""
}

// say writes a message unless wget is quiet.
func (w *wget) say(format string, args ...any) {
	if w.log != nil {
		fmt.Fprintf(w.log, format, args...)
	}
}

// tell writes a message that -nv suppresses.
func (w *wget) tell(format string, args ...any) {
	if !w.brief {
		w.say(format, args...)
	}
}

// now is a moment as wget writes it.
func (w *wget) now() string { return w.t.p.Now().Format("2006-01-02 15:04:05") }

// all gets the URLs one after another.
func (w *wget) all(urls []string) int {
	if w.document != "" && w.document != "-" {
		flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if w.resume {
			flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		f, err := w.t.p.OpenFile(w.document, flag, 0o666)
		if err != nil {
			w.say("%s: %s\n", w.document, shell.Strerror(err))
			return wgetGeneric
		}
		w.t.closers = append(w.t.closers, f) // bounded: by the options of wget
		w.shared = f
	}
	if w.spider {
		w.tell("Spider mode enabled. Check if remote file exists.\n")
	}
	for _, u := range urls {
		if err := w.t.p.Spend(1); err != nil {
			return w.t.p.Status(err)
		}
		st := w.one(u)
		if w.t.p.Context().Err() != nil {
			return w.t.p.Status(context.Cause(w.t.p.Context()))
		}
		// The smaller number is the more serious error.
		if st != 0 && (w.status == 0 || st < w.status) {
			w.status = st
		}
	}
	if len(urls) > 1 && !w.spider {
		wall, rate := time.Since(w.started), rateText(w.bytes, w.spent)
		w.say("FINISHED --%s--\nTotal wall clock time: %s\nDownloaded: %d files, %s in %s (%s)\n", w.now(), formatSeconds(wall), w.files, sizeText(w.bytes), formatSeconds(w.spent), rate)
	}
	return w.status
}

func formatSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 2, 64) + "s" }
