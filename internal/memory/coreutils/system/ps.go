package system

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func psCommand() program.Description {
	return program.Description{
		Name: "ps", Usage: "[options]",
		Summary: "list the processes of the machine",
		Help: `  -e, -A, -a, -x, a, x, aux  all of them; there is no terminal that others could be on
  -f, -l, u              more columns
  -o FORMAT, o FORMAT    these columns: pid ppid pgid user uid stat s tty tt time comm command cmd args,
                         each with =TITLE if it is wanted
  -p LIST, p LIST        only these processes
  -u LIST, -U LIST       only processes of these users
  -h, h, --no-headers    without titles`,
		Run: runPs,
	}
}

var psOptions = []getopt.Option{
	{Short: 'e'},
	{Short: 'A', ID: 'e'},
	{Short: 'a', ID: 'e'},
	{Short: 'x', ID: 'e'},
	{Short: 'w', ID: 'e'},
	{Short: 'f'},
	{Short: 'F', ID: 'f'},
	{Short: 'l'},
	{Short: 'h'},
	{Long: "no-headers", ID: 'h'},
	{Long: "no-heading", ID: 'h'},
	{Short: 'o', Long: "format", Arg: getopt.Required},
	{Short: 'p', Long: "pid", Arg: getopt.Required},
	{Short: 'u', Long: "user", Arg: getopt.Required},
	{Short: 'U', Long: "User", Arg: getopt.Required, ID: 'u'},
}

// psColumn is a column: its title, and whether it is right-aligned.
type psColumn struct {
	name, title string
	right       bool
}

var psColumns = map[string]psColumn{
	"pid": {"pid", "PID", true}, "ppid": {"ppid", "PPID", true}, "pgid": {"pgid", "PGID", true}, "user": {"user", "USER", false},
	"uname": {"user", "USER", false}, "uid": {"uid", "UID", true}, "stat": {"stat", "STAT", false}, "s": {"s", "S", false},
	"state": {"s", "S", false}, "tty": {"tty", "TT", false}, "tt": {"tty", "TT", false}, "time": {"time", "TIME", true},
	"comm": {"comm", "COMMAND", false}, "command": {"args", "COMMAND", false}, "cmd": {"args", "CMD", false},
	"args": {"args", "COMMAND", false}, "ucmd": {"comm", "CMD", false}, "%cpu": {"%cpu", "%CPU", true}, "pcpu": {"%cpu", "%CPU", true},
	"%mem": {"%cpu", "%MEM", true}, "pmem": {"%cpu", "%MEM", true}, "vsz": {"zero", "VSZ", true}, "rss": {"zero", "RSS", true},
	"ni": {"zero", "NI", true}, "c": {"zero", "C", true},
}

// psJob holds the parsed options of ps.
type psJob struct {
	proc     *shell.Proc
	accounts *accounts.Database
	columns  []psColumn
	pids     []int
	users    []uint32
	titles   bool
}

func runPs(p *shell.Proc) int {
	j := &psJob{proc: p, accounts: accounts.New(p), titles: true}
	args := psArguments(p.Args)
	o := program.NewOptions(p, psCommand, psOptions)
	o.Parser = getopt.New(args, psOptions)
	form := "pid,tty,time,ucmd"
	for o.Next() {
		switch o.ID {
		case 'f':
			form = "user,pid,ppid,c,tty,time,cmd"
		case 'l':
			form = "s,uid,pid,ppid,c,ni,tty,time,ucmd"
		case 'h':
			j.titles = false
		case 'o':
			j.addColumns(o, o.Value)
		case 'p':
			j.addPids(o)
		case 'u':
			j.addUsers(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if j.columns == nil {
		j.addColumns(o, form)
	}
	if args := o.Args(); len(args) > 0 {
		return program.UsageError(p, psCommand, 1, "extra operand %s", quoting.Name(args[0]))
	}
	return j.run()
}

// maxLetters bounds the letters of an option without a dash.
const maxLetters = 1 << 10

// psArguments turns the options of BSD, which have no dash, into those with one.
func psArguments(args []string) []string {
	list := []string{args[0]} // bounded: maxLetters
	rest := args[1:]
	if len(rest) > 0 && rest[0] != "" && len(rest[0]) <= maxLetters && rest[0][0] != '-' && strings.Trim(rest[0], "auxwefhlop") == "" {
		for _, c := range rest[0] {
			switch c {
			case 'u':
				list = append(list, "-o", "user,pid,%cpu,%mem,vsz,rss,tty,stat,time,command")
			default:
				list = append(list, "-"+string(c))
			}
		}
		rest = rest[1:]
	}
	return append(list, rest...)
}

// columnMemory is about how many bytes a column takes in a list that grows.
const columnMemory = 256

func (j *psJob) addColumns(o *program.Options, list string) {
	for list != "" {
		name, rest, _ := strings.Cut(list, ",")
		name, title, titled := strings.Cut(name, "=")
		if titled { // A title goes to the end of the argument.
			_, title, _ = strings.Cut(list, "=")
			rest = ""
			if i := strings.IndexByte(title, ','); i == 0 {
				rest, title = title[1:], ""
			}
		}
		c, ok := psColumns[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			o.Reject("error: unknown user-defined format specifier \"%s\"", name)
			return
		}
		if titled {
			c.title = title
		}
		if j.proc.Reserve(columnMemory) != nil {
			o.Reject("memory exhausted")
			return
		}
		j.columns = append(j.columns, c)
		list = rest
	}
}

func psList(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func (j *psJob) addPids(o *program.Options) {
	for s := range psList(o.Value) {
		n, err := strconv.Atoi(s)
		if err != nil {
			o.Reject("error: process ID list syntax error")
			return
		}
		j.pids = append(j.pids, n)
	}
}

func (j *psJob) addUsers(o *program.Options) {
	for s := range psList(o.Value) {
		id, ok := j.accounts.UserID(s)
		if !ok {
			o.Reject("error: user name does not exist")
			return
		}
		j.users = append(j.users, id)
	}
}

func (j *psJob) run() int {
	var rows [][]string
	head := make([]string, len(j.columns))
	titled := false
	for i, c := range j.columns {
		head[i] = c.title
		titled = titled || c.title != ""
	}
	status := 1
	if j.titles && titled {
		rows = append(rows, head)
	}
	for _, q := range j.proc.Processes() {
		if j.pids != nil && !slices.Contains(j.pids, q.PID) || j.users != nil && !slices.Contains(j.users, j.proc.Cred().UID) {
			continue
		}
		status = 0
		r := make([]string, len(j.columns))
		for i, c := range j.columns {
			r[i] = j.value(c.name, q)
		}
		rows = append(rows, r)
	}
	widths := make([]int, len(j.columns))
	for i, c := range j.columns {
		if c.name == "pid" || c.name == "ppid" || c.name == "pgid" {
			widths[i] = 7
		}
		for _, r := range rows {
			widths[i] = max(widths[i], len(r[i]))
		}
	}
	out := program.NewOutput(j.proc)
	for _, r := range rows {
		for i, c := range j.columns {
			last := i == len(r)-1
			switch {
			case c.right:
				r[i] = program.PadLeft(r[i], widths[i])
			case !last:
				r[i] += strings.Repeat(" ", widths[i]-len(r[i]))
			}
		}
		_, _ = out.WriteString(strings.Join(r, " ") + "\n") // The error stays in out.
	}
	return out.Close(status)
}

func (j *psJob) value(name string, q shell.ProcessInfo) string {
	state := "S"
	switch {
	case q.Stopped:
		state = "T"
	case q.PID == j.proc.PID():
		state = "R"
	}
	switch name {
	case "pid":
		return strconv.Itoa(q.PID)
	case "ppid":
		return strconv.Itoa(q.PPID)
	case "pgid":
		return strconv.Itoa(q.PGID)
	case "user":
		return j.accounts.User(j.proc.Cred().UID)
	case "uid":
		return accounts.FormatID(j.proc.Cred().UID)
	case "stat", "s":
		return state
	case "tty":
		return "?"
	case "time":
		return "00:00:00"
	case "comm":
		first, _, _ := strings.Cut(q.Command, " ")
		return pathname.Base(first)
	case "%cpu":
		return "0.0"
	case "zero":
		return "0"
	}
	return q.Command
}
