package files

import (
	"os"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/dates"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func touchCommand() program.Description {
	return program.Description{
		Name: "touch", Usage: "[OPTION]... FILE...",
		Summary: "set the times of files to now, and make what is missing",
		Help: `  -a                     only the time of access
  -c, --no-create        make nothing
  -d, --date=STRING      the time that STRING describes, as in date -d
  -f                     ignored
  -h, --no-dereference   links themselves
  -m                     only the time of modification
  -r, --reference=FILE   FILE's times
  -t STAMP               [[CC]YY]MMDDhhmm[.ss]
      --time=WORD        access atime use (-a), modify mtime (-m)`,
		Run: runTouch,
	}
}

var touchOptions = []getopt.Option{
	{Long: "time", Arg: getopt.Required, ID: getopt.First},
	{Short: 'c', Long: "no-create"},
	{Short: 'd', Long: "date", Arg: getopt.Required},
	{Short: 'r', Long: "reference", Arg: getopt.Required},
	{Short: 'h', Long: "no-dereference"},
	{Short: 'a'},
	{Short: 'f'},
	{Short: 'm'},
	{Short: 't', Arg: getopt.Required},
}

// toucher holds the parsed options of touch.
type toucher struct {
	proc          *shell.Proc
	access, write bool
	noCreate      bool
	link          bool
	given         bool // the times are not now
	atime, mtime  time.Time
}

func runTouch(p *shell.Proc) int {
	o := program.NewOptions(p, touchCommand, touchOptions)
	t := &toucher{proc: p}
	var date, reference, stamp *string
	for o.Next() {
		value := o.Value
		switch o.ID {
		case 'a':
			t.access = true
		case 'm':
			t.write = true
		case getopt.First:
			if program.Choose(o, "--time", value, []choice.Choice[byte]{{Name: "atime", Value: 'a'}, {Name: "access", Value: 'a'}, {Name: "use", Value: 'a'}, {Name: "mtime", Value: 'm'}, {Name: "modify", Value: 'm'}}) == 'a' {
				t.access = true
			} else {
				t.write = true
			}
		case 'c':
			t.noCreate = true
		case 'h':
			t.link = true
		case 'd':
			date = &value
		case 'r':
			reference = &value
		case 't':
			stamp = &value
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !t.access && !t.write {
		t.access, t.write = true, true
	}
	if stamp != nil && (date != nil || reference != nil) {
		return program.UsageError(p, touchCommand, 1, "cannot specify times from more than one source")
	}
	if !t.times(date, reference, stamp) {
		return 1
	}
	if len(o.Args()) == 0 {
		return program.UsageError(p, touchCommand, 1, "missing file operand")
	}
	status := 0
	for _, f := range o.Args() {
		if !t.touch(f) {
			status = 1
		}
	}
	return status
}

// times finds out which times the files get.
func (t *toucher) times(date, reference, stamp *string) bool {
	now := t.proc.Now()
	local := now.In(program.Zone(t.proc))
	t.atime, t.mtime = now, now
	if reference != nil {
		info, err := t.proc.Stat(*reference)
		if t.link {
			info, err = t.proc.Lstat(*reference)
		}
		if err != nil {
			t.proc.Errorf(err, "failed to get attributes of %s", shell.Quote(*reference))
			return false
		}
		t.given, t.atime, t.mtime = true, info.Atime, info.Mtime
	}
	switch {
	case date != nil && reference != nil:
		// What is relative is so to the times of the reference.
		a, ok := dates.Parse(*date, t.atime.In(local.Location()))
		m, ok2 := dates.Parse(*date, t.mtime.In(local.Location()))
		if !ok || !ok2 {
			t.proc.Warn("invalid date format %s", shell.Quote(*date))
			return false
		}
		t.atime, t.mtime = a, m
	case date != nil:
		at, ok := dates.Parse(*date, local)
		if !ok {
			t.proc.Warn("invalid date format %s", shell.Quote(*date))
			return false
		}
		t.given, t.atime, t.mtime = true, at, at
	case stamp != nil:
		at, ok := touchStamp(*stamp, local)
		if !ok {
			t.proc.Warn("invalid date format %s", shell.Quote(*stamp))
			return false
		}
		t.given, t.atime, t.mtime = true, at, at
	}
	return true
}

// touchStamp reads [[CC]YY]MMDDhhmm[.ss].
func touchStamp(s string, now time.Time) (time.Time, bool) {
	main, seconds := s, ""
	if n := len(s); n > 3 && s[n-3] == '.' {
		main, seconds = s[:n-3], s[n-3:]
	}
	switch len(main) {
	case 10:
		main = main[2:] + main[:2]
	case 12:
		main = main[4:] + main[:4]
	}
	return dates.ParsePOSIX(main+seconds, now)
}

func (t *toucher) touch(path string) bool {
	if path == "-" {
		return t.touchStdout()
	}
	var openErr error
	if !t.noCreate && !t.link {
		var f *vfs.File
		f, openErr = t.proc.OpenFile(path, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o666)
		if openErr == nil {
			if err := f.Close(); err != nil {
				t.proc.Errorf(err, "failed to close %s", shell.Quote(path))
				return false
			}
		}
	}
	err := t.set(path)
	if err == nil {
		return true
	}
	no := shell.Errno(openErr)
	if openErr != nil && no != syscall.EISDIR && no != syscall.EINVAL {
		t.proc.Errorf(openErr, "cannot touch %s", shell.Quote(path))
		return false
	}
	if t.noCreate && shell.Errno(err) == syscall.ENOENT {
		return true
	}
	t.proc.Errorf(err, "setting times of %s", shell.Quote(path))
	return false
}

// set sets the times of a file; those that are not asked for stay.
func (t *toucher) set(path string) error {
	if !t.given && t.access && t.write {
		// A user with write permission can set the times, but only to the current time.
		return t.proc.FS().Touch(t.proc.Cred(), t.proc.Abs(path), !t.link)
	}
	stat := t.proc.Stat
	if t.link {
		stat = t.proc.Lstat
	}
	info, err := stat(path)
	if err != nil {
		return err
	}
	atime, mtime := t.atime, t.mtime
	if !t.access {
		atime = info.Atime
	}
	if !t.write {
		mtime = info.Mtime
	}
	return t.proc.Chtimes(path, atime, mtime, !t.link)
}

// touchStdout sets the times of the file that is standard output.
func (t *toucher) touchStdout() bool {
	f, err := t.proc.Stream(1)
	if err == nil {
		defer f.Close()
		err = t.set("/dev/stdout")
	}
	if err != nil && !t.noCreate {
		t.proc.Errorf(err, "setting times of %s", "'-'")
		return false
	}
	return true
}
