package tar

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// tarJob holds the parsed command line of tar, and its progress.
type tarJob struct {
	p        *shell.Proc
	accounts *accounts.Database
	tell     io.Writer       // where names are listed
	out      *program.Output // standard output

	action  int // a letter, tarDelete or tarTestLabel
	actions int
	verbose int
	format  tarfile.Format
	file    string // "-": a stream
	files   []string
	packing tarPacking
	record  int64
	label   string
	hasName bool // -f was given

	names   tarNames
	exclude tarExclusion
	rename  tarRenaming
	as      tarAttributes
	take    tarTaking
	show    tarShowing

	sparse, zeros, dereference, hardDereference, removeFiles, oneSystem bool
	ignoreUnreadable                                                    bool
	sortInodes, totals                                                  bool
	newer                                                               time.Time
	dates                                                               []string // messages about the dates of options
	startAt                                                             string
	occurrence                                                          int

	status  int
	ended   error // why the process has to end
	said    map[string]bool
	started time.Time
	users   map[uint32]string
	groups  map[uint32]string
}

// tarPacking says how the archive is compressed.
type tarPacking struct {
	format  codec.Format
	level   int
	set     bool
	program bool // it was named with -I
	auto    bool // by the name of the archive
	noAuto  bool
}

// errTarStop ends the job; the error is already printed.
var errTarStop = errors.New("tar: stop")

// warn writes a message.
func (j *tarJob) warn(format string, args ...any) { j.p.Warn(format, args...) }

// fail writes a message about what goes wrong; the job goes on.
func (j *tarJob) fail(format string, args ...any) {
	j.p.Warn(format, args...)
	j.status = 2
}

// failFile prints the error of an operation on a file.
func (j *tarJob) failFile(name, what string, err error) {
	if j.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel) {
		j.ended = err
		return
	}
	j.fail("%s: Cannot %s: %s", quoteTarName(name), what, shell.Strerror(err))
}

// fatal writes a message and ends the job.
func (j *tarJob) fatal(format string, args ...any) error {
	j.p.Warn(format, args...)
	return j.giveUp()
}

// giveUp ends the job after a message.
func (j *tarJob) giveUp() error {
	j.p.Warn("Error is not recoverable: exiting now")
	return errTarStop
}

// once is for messages that come once only.
func (j *tarJob) once(text string) {
	if j.said[text] {
		return
	}
	if j.said == nil {
		j.said = make(map[string]bool)
	}
	j.said[text] = true
	j.warn("%s", text)
}

// quoteTarName shows a name in messages: always on one line.
func quoteTarName(name string) string { return quoting.Quote(name, quoting.Escape, ":") }

// finish prints the result of the job.
func (j *tarJob) finish(err error) int {
	switch {
	case errors.Is(err, errTarStop):
		_ = j.out.Flush() // What was listed before comes out; the error counts.
		return 2
	case err != nil && j.ended == nil:
		j.ended = err
	}
	if j.ended != nil {
		_ = j.out.Flush()
		if s := j.p.Status(j.ended); s != 1 {
			return s
		}
		j.warn("%s", shell.Strerror(j.ended))
		j.warn("Error is not recoverable: exiting now")
		return 2
	}
	if j.status == 2 {
		if err := j.out.Flush(); err != nil {
			return j.p.WriteFailed(err)
		}
		j.warn("Exiting with failure status due to previous errors")
	}
	return j.out.Close(j.status)
}

func (j *tarJob) user(id uint32) string {
	return lookUpOnce(&j.users, id, func() string {
		e, _ := accounts.ByID(j.accounts.AllUsers(), id)
		return e.Name
	})
}

func (j *tarJob) group(id uint32) string {
	return lookUpOnce(&j.groups, id, func() string {
		e, _ := accounts.ByID(j.accounts.AllGroups(), id)
		return e.Name
	})
}

// lookUpOnce looks a name up once.
func lookUpOnce(m *map[uint32]string, id uint32, look func() string) string {
	name, ok := (*m)[id]
	if !ok {
		if *m == nil {
			*m = make(map[uint32]string)
		}
		name = look()
		(*m)[id] = name
	}
	return name
}

// sayTotals reports how much went through.
func (j *tarJob) sayTotals(verb string, n int64) {
	seconds := max(j.p.Now().Sub(j.started).Seconds(), 1e-6)
	fmt.Fprintf(j.p.Stderr, "Total bytes %s: %d (%s, %s/s)\n", verb, n, binarySize(float64(n)), binarySize(float64(n)/seconds))
}

// binarySize is a size with two digits, as in 1.1MiB.
func binarySize(n float64) string {
	unit := -1
	for n >= 1024 && unit < len(sizes.Units)-1 {
		n /= 1024
		unit++
	}
	suffix := "B"
	if unit >= 0 {
		suffix = sizes.Units[unit:unit+1] + "iB"
	}
	if n < 10 && unit >= 0 && n != float64(int(n)) {
		return fmt.Sprintf("%.1f%s", n, suffix)
	}
	return fmt.Sprintf("%.0f%s", n, suffix)
}
