package files

import (
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func chownCommand() program.Description {
	return program.Description{
		Name: "chown", Usage: "[OPTION]... [OWNER][:[GROUP]] FILE...\n[OPTION]... --reference=RFILE FILE...",
		Summary: "change the owner and group of files",
		Help:    chownHelp + "\n\nOWNER: without a group stands for the owner's own group.", Run: runChown,
	}
}

func chgrpCommand() program.Description {
	return program.Description{
		Name: "chgrp", Usage: "[OPTION]... GROUP FILE...\n[OPTION]... --reference=RFILE FILE...",
		Summary: "change the group of files", Help: chownHelp, Run: runChown,
	}
}

const chownHelp = `  -c, --changes          say what changes
  -f, --silent, --quiet  say little of what fails
  -v, --verbose          say what is done for each file
      --dereference      what links lead to; so it is without options
  -h, --no-dereference   links themselves
      --from=OWNER:GROUP only files that belong to these
      --no-preserve-root let / be changed with -R; so it is without options
      --preserve-root    do not
      --reference=RFILE  the owner and group of RFILE
  -R, --recursive        directories with what is in them
  -H                     with -R, follow operands that are links to directories
  -L                     with -R, follow all links to directories
  -P                     with -R, follow none; so it is without options`

const (
	chownReference = getopt.First + iota
	chownPreserve
	chownNoPreserve
	chownFrom
	chownFollow
)

var chownOptions = []getopt.Option{
	{Short: 'R', Long: "recursive"},
	{Short: 'c', Long: "changes"},
	{Long: "dereference", ID: chownFollow},
	{Short: 'h', Long: "no-dereference"},
	{Long: "from", Arg: getopt.Required, ID: chownFrom},
	{Long: "no-preserve-root", ID: chownNoPreserve},
	{Long: "preserve-root", ID: chownPreserve},
	{Short: 'f', Long: "quiet"},
	{Short: 'f', Long: "silent"},
	{Long: "reference", Arg: getopt.Required, ID: chownReference},
	{Short: 'v', Long: "verbose"},
	{Short: 'H'},
	{Short: 'L'},
	{Short: 'P'},
}

// ownership is an owner and a group, each of which may be missing.
type ownership struct {
	uid, gid    *uint32
	user, group string // as they were named
}

// ownerChanger holds the parsed options of chown and chgrp.
type ownerChanger struct {
	entryChanger
	out       *program.Output
	accounts  *accounts.Database
	describe  func() program.Description
	to, from  ownership
	talk      talk
	recursive bool
	follow    bool // links stand for what they lead to
	walk      byte // H, L or P
	keepRoot  bool
}

func runChown(p *shell.Proc) int {
	c := &ownerChanger{
		entryChanger: entryChanger{proc: p}, out: program.NewOutput(p), accounts: accounts.New(p),
		describe: chownCommand, follow: true, walk: 'P',
	}
	if p.Name() == "chgrp" {
		c.describe = chgrpCommand
	}
	table := chownOptions
	if p.Name() == "chgrp" {
		table = withoutOption(table, chownFrom)
	}
	o := program.NewOptions(p, c.describe, table)
	reference, explicit := "", 0
	referenced := false
	for o.Next() {
		switch o.ID {
		case chownFrom:
			from, fault := c.parse(o.Value)
			if fault != "" {
				o.RejectQuietly("%s: %s", fault, quoting.Name(o.Value))
			}
			c.from = from
		case chownReference:
			reference, referenced = o.Value, true
		case chownFollow:
			c.follow, explicit = true, 1
		case 'h':
			c.follow, explicit = false, -1
		default:
			c.option(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if c.recursive && c.walk == 'P' {
		if explicit > 0 {
			p.Warn("-R --dereference requires either -H or -L")
			return 1
		}
		c.follow = false
	}
	return c.run(o.Args(), reference, referenced)
}

func withoutOption(table []getopt.Option, id int) []getopt.Option {
	var rest []getopt.Option
	for _, t := range table {
		if t.ID != id {
			rest = append(rest, t)
		}
	}
	return rest
}

func (c *ownerChanger) option(o *program.Options) {
	switch o.ID {
	case 'R':
		c.recursive = true
	case 'c':
		c.talk = talkChanges
	case 'v':
		c.talk = talkAll
	case 'f':
		c.silent = true
	case 'H', 'L', 'P':
		c.walk = byte(o.ID)
	case chownPreserve, chownNoPreserve:
		c.keepRoot = o.ID == chownPreserve
	}
}

func (c *ownerChanger) run(args []string, reference string, referenced bool) int {
	least := 2
	if referenced {
		least = 1
	}
	if len(args) < least {
		if len(args) == 0 {
			return program.UsageError(c.proc, c.describe, 1, "missing operand")
		}
		return program.UsageError(c.proc, c.describe, 1, "missing operand after %s", quoting.Name(args[len(args)-1]))
	}
	if referenced {
		info, err := c.proc.Stat(reference)
		if err != nil {
			c.proc.Errorf(err, "failed to get attributes of %s", shell.Quote(reference))
			return 1
		}
		c.to = ownership{gid: &info.GID, group: c.accounts.Group(info.GID)}
		if c.proc.Name() != "chgrp" {
			c.to.uid, c.to.user = &info.UID, c.accounts.User(info.UID)
		}
	} else {
		to, fault := c.parse(args[0])
		if fault != "" {
			c.proc.Warn("%s: %s", fault, quoting.Name(args[0]))
			return 1
		}
		c.to, args = to, args[1:]
	}
	status := 0
	for _, f := range args {
		if !c.operand(f) {
			status = 1
		}
	}
	return c.out.Close(status)
}

// parse reads OWNER:GROUP, or GROUP for chgrp.
func (c *ownerChanger) parse(s string) (to ownership, fault string) {
	if c.proc.Name() == "chgrp" {
		if s == "" {
			return to, ""
		}
		gid, ok := c.accounts.GroupID(s)
		if !ok {
			return to, "invalid group"
		}
		return ownership{gid: &gid, group: s}, ""
	}
	user, group, colon := strings.Cut(s, ":")
	to, fault = c.pair(user, group, colon)
	if fault == "" || colon {
		return to, fault
	}
	// A dot in place of the colon is old, and a name may hold one.
	if user, group, dot := strings.Cut(s, "."); dot {
		if to, f := c.pair(user, group, true); f == "" {
			c.proc.Warn("warning: '.' should be ':': %s", quoting.Name(s))
			return to, ""
		}
	}
	return to, fault
}

func (c *ownerChanger) pair(user, group string, colon bool) (to ownership, fault string) {
	if user != "" {
		uid, ok := c.accounts.UserID(user)
		if !ok {
			return to, "invalid user"
		}
		to.uid, to.user = &uid, user
		if colon && group == "" {
			e, ok := accounts.ByName(c.accounts.AllUsers(), user)
			if !ok {
				return to, "invalid spec"
			}
			to.gid, to.group = &e.Gid, c.accounts.Group(e.Gid)
		}
	}
	if group != "" {
		gid, ok := c.accounts.GroupID(group)
		if !ok {
			return to, "invalid group"
		}
		to.gid, to.group = &gid, group
	}
	if colon && to.user == "" && group == "" {
		to.group = ""
	}
	return to, ""
}

func (c *ownerChanger) operand(path string) bool {
	link, err := c.proc.Lstat(path)
	if err != nil {
		c.warn(err, "cannot access %s", shell.Quote(path))
		c.sayFailed(path)
		return false
	}
	dir := link
	if link.Mode&fs.ModeSymlink != 0 && c.recursive && c.walk != 'P' {
		if info, err := c.proc.Stat(path); err == nil {
			dir = info
		}
	}
	if c.recursive && c.keepRoot && dir.IsDir() {
		if root, err := c.proc.Stat("/"); err == nil && root.Ino == dir.Ino {
			c.proc.Warn("it is dangerous to operate recursively on %s", shell.Quote(path))
			c.proc.Warn("use --no-preserve-root to override this failsafe")
			return false
		}
	}
	ok := true
	if c.recursive && dir.IsDir() {
		ok = c.below(path, &pathname.Chain{Ino: dir.Ino})
	}
	return c.set(path, link) && ok
}

func (c *ownerChanger) below(dir string, above *pathname.Chain) bool {
	return c.changeEntries(dir, func(path string, link vfs.Info) bool {
		ok, info := true, link
		if link.Mode&fs.ModeSymlink != 0 && c.walk == 'L' {
			if followed, err := c.proc.Stat(path); err == nil {
				info = followed
			}
		}
		if info.IsDir() && !above.Has(info.Ino) {
			ok = c.below(path, &pathname.Chain{Ino: info.Ino, Next: above})
		}
		return c.set(path, link) && ok
	})
}

func (c *ownerChanger) set(path string, link vfs.Info) bool {
	info := link
	if link.Mode&fs.ModeSymlink != 0 && c.follow {
		var err error
		if info, err = c.proc.Stat(path); err != nil {
			c.warn(err, "cannot dereference %s", shell.Quote(path))
			c.sayFailed(path)
			return false
		}
	}
	if c.from.uid != nil && *c.from.uid != info.UID || c.from.gid != nil && *c.from.gid != info.GID {
		c.say(path, info, false)
		return true
	}
	uid, gid := info.UID, info.GID
	if c.to.uid != nil {
		uid = *c.to.uid
	}
	if c.to.gid != nil {
		gid = *c.to.gid
	}
	if err := c.proc.Chown(path, uid, gid, c.follow); err != nil {
		what := "ownership"
		if c.proc.Name() == "chgrp" || c.to.uid == nil {
			what = "group"
		}
		c.warn(err, "changing %s of %s", what, shell.Quote(path))
		c.sayFailed(path)
		return false
	}
	c.say(path, info, uid != info.UID || gid != info.GID)
	return true
}

// what describes the owner and group as messages do.
func (o ownership) what() string {
	switch {
	case o.uid != nil && o.gid != nil:
		return o.user + ":" + o.group
	case o.uid != nil:
		return o.user
	}
	return o.group
}

func (c *ownerChanger) say(path string, before vfs.Info, changed bool) {
	if c.talk < talkChanges || c.talk == talkChanges && !changed {
		return
	}
	old := c.accounts.User(before.UID)
	switch {
	case c.to.uid != nil && c.to.gid != nil:
		old += ":" + c.accounts.Group(before.GID)
	case c.to.uid == nil:
		old = c.accounts.Group(before.GID)
	}
	kind := "ownership"
	if c.to.uid == nil && c.to.gid != nil {
		kind = "group"
	}
	name := shell.Quote(path)
	switch {
	case c.to.uid == nil && c.to.gid == nil:
		c.write("ownership of " + name + " retained")
	case changed:
		c.write("changed " + kind + " of " + name + " from " + old + " to " + c.to.what())
	default:
		c.write(kind + " of " + name + " retained as " + old)
	}
}

func (c *ownerChanger) write(s string) { _, _ = c.out.WriteString(s + "\n") } // The error stays in out.

func (c *ownerChanger) sayFailed(path string) {
	if c.talk != talkAll {
		return
	}
	kind := "ownership"
	if c.to.uid == nil && c.to.gid != nil {
		kind = "group"
	}
	if what := c.to.what(); what != "" {
		c.write("failed to change " + kind + " of " + shell.Quote(path) + " to " + what)
	} else {
		c.write("failed to change ownership of " + shell.Quote(path))
	}
}
