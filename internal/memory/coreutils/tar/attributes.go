package tar

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
)

// tarAttributes replace the attributes of the files in members.
type tarAttributes struct {
	user, group       string
	uid, gid          uint32
	hasUser, hasGroup bool
	hasUID, hasGID    bool
	mode              filemode.Change
	mtime             time.Time
	clamp, numeric    bool
	old               bool // -o
}

func (j *tarJob) attributeOption(o *program.Options) {
	switch a := &j.as; o.ID {
	case tarOwner:
		a.user, a.uid, a.hasUID = j.account(o, o.Value, j.accounts.AllUsers(), "owner")
		a.hasUser = true
	case tarGroup:
		a.group, a.gid, a.hasGID = j.account(o, o.Value, j.accounts.AllGroups(), "group")
		a.hasGroup = true
	case tarMode:
		change, ok := filemode.Parse(o.Value)
		if !ok {
			j.hopeless(o, "Invalid mode given on option")
		}
		a.mode = change
	case tarMtime:
		a.mtime = j.date(o, "--mtime", o.Value)
	case tarClampMtime:
		a.clamp = true
	case tarNumericOwner:
		a.numeric = true
	}
}

// account reads "name", "name:number" or "number".
func (j *tarJob) account(o *program.Options, s string, list []accounts.Account, what string) (name string, id uint32, ok bool) {
	name, number, both := strings.Cut(s, ":")
	if both {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			j.reject(o, "%s: Invalid %s ID", number, what)
		}
		return name, uint32(n), true
	}
	if e, found := accounts.ByName(list, s); found {
		return s, e.ID, true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 32)
	if err != nil {
		return s, 0, false // A name alone leaves the number as it is.
	}
	if e, found := accounts.ByID(list, uint32(n)); found {
		return e.Name, e.ID, true
	}
	return "", uint32(n), true
}

// change gives a header what the options say.
func (j *tarJob) change(h *tarfile.Header) {
	a := &j.as
	if a.hasUser {
		h.User = a.user
	}
	if a.hasGroup {
		h.Group = a.group
	}
	if a.hasUID {
		h.UID = a.uid
	}
	if a.hasGID {
		h.GID = a.gid
	}
	if a.numeric {
		h.User, h.Group = "", ""
	}
	if a.mode != nil && h.Type != tarfile.Symlink {
		h.Mode, _ = a.mode.Apply(h.Mode, h.Type == tarfile.Dir, uint32(j.p.Umask()))
	}
	if !a.mtime.IsZero() && (!a.clamp || h.Mtime.After(a.mtime)) {
		h.Mtime = a.mtime
	}
}

// tarShowing holds the options for listing members.
type tarShowing struct {
	fullTime, utc, blocks, transformed bool
	index                              string
	quoting                            quoting.Style
	quoted                             bool // quoting was given
	width                              int  // of owner and size, which only grows
	dateWidth                          int
}

func (s *tarShowing) option(j *tarJob, o *program.Options) {
	switch o.ID {
	case 'v':
		j.verbose++
	case 'R':
		s.blocks = true
	case tarFullTime:
		s.fullTime = true
	case tarUTC:
		s.utc = true
	case tarTotals:
		j.totals = true
		if o.HasValue {
			j.reject(o, "Unknown signal name: %s", o.Value)
		}
	case tarShowTransformed:
		s.transformed = true
	case tarIndexFile:
		s.index = o.Value
	case tarQuotingStyle:
		value, ok, _ := choice.Find(quoting.Styles, o.Value)
		if !ok {
			j.hopeless(o, "Unknown quoting style '%s'. Try '%s --quoting-style=help' to get a list.", o.Value, j.p.Name())
		}
		s.quoting, s.quoted = value, true
	}
}

// name shows the name of a member in a list.
func (s *tarShowing) name(name string) string {
	if s.quoted {
		return quoting.Quote(name, s.quoting, "")
	}
	return quoting.Quote(name, quoting.Escape, "")
}

// openIndex opens where names are listed.
func (j *tarJob) openIndex() error {
	if j.show.index == "" {
		return nil
	}
	f, err := j.p.Create(j.show.index)
	if err != nil {
		j.failFile(j.show.index, "open", err)
		return j.giveUp()
	}
	j.tell = f // The machine closes it with the process.
	return nil
}

// say lists a member as it is worked on: its name, or with more -v all about it.
func (j *tarJob) say(h *tarfile.Header, shown string, plain bool) {
	if j.show.blocks {
		j.put("block " + strconv.FormatInt(h.Block, 10) + ": ")
	}
	if plain {
		j.put(j.show.name(shown) + "\n")
		return
	}
	j.put(j.long(h, shown) + "\n")
}

func (j *tarJob) put(s string) { _, _ = io.WriteString(j.tell, s) } // The error stays in out.

// long is the line of a member in a long listing.
func (j *tarJob) long(h *tarfile.Header, shown string) string {
	user, group := h.User, h.Group
	if user == "" || j.as.numeric {
		user = strconv.FormatUint(uint64(h.UID), 10)
	}
	if group == "" || j.as.numeric {
		group = strconv.FormatUint(uint64(h.GID), 10)
	}
	size := strconv.FormatInt(h.Size, 10)
	letter := "-"
	switch h.Type {
	case tarfile.Link:
		letter, size = "h", "0"
	case tarfile.Symlink:
		letter, size = "l", "0"
	case tarfile.Char, tarfile.Block:
		letter = map[tarfile.Type]string{tarfile.Char: "c", tarfile.Block: "b"}[h.Type]
		size = accounts.FormatID(h.Major) + "," + accounts.FormatID(h.Minor)
	case tarfile.Dir, tarfile.DumpDir:
		letter = "d"
	case tarfile.Fifo:
		letter = "p"
	case tarfile.Volume:
		letter = "V"
	case tarfile.Continued:
		letter = "M"
	case tarfile.Contiguous:
		letter = "C"
	default:
	}
	s := &j.show
	s.width = max(s.width, 19, len(user)+1+len(group)+1+len(size))
	date := j.listedTime(h.Mtime)
	s.dateWidth = max(s.dateWidth, 16, len(date))
	line := letter + filemode.PermString(h.Mode) + " " + user + "/" + group + " " + program.PadLeft(size, s.width-len(user)-1-len(group)-1) + " " +
		date + strings.Repeat(" ", s.dateWidth-len(date)) + " " + s.name(shown) // bounded: by a column of dates
	switch h.Type {
	case tarfile.Link:
		line += " link to " + s.name(h.Link)
	case tarfile.Symlink:
		line += " -> " + s.name(h.Link)
	case tarfile.Volume:
		line += "--Volume Header--"
	case tarfile.Continued:
		line += "--Continued at byte 0--"
	default:
	}
	return line
}

func (j *tarJob) listedTime(t time.Time) string {
	zone := time.UTC
	if !j.show.utc {
		zone = program.Zone(j.p)
	}
	format := "%Y-%m-%d %H:%M"
	if j.show.fullTime {
		format += ":%S"
		if t.Nanosecond() != 0 {
			format += ".%N"
		}
	}
	return strftime.Format(format, t.In(zone))
}
