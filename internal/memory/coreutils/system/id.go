package system

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func idCommand() program.Description {
	return program.Description{
		Name: "id", Usage: "[OPTION]... [USER]...",
		Summary: "print who a user is, or who runs this",
		Help: `  -a             ignored
  -g, --group    only the group
  -G, --groups   only the groups
  -n, --name     with -g, -G or -u, names, not numbers
  -r, --real     with -g, -G or -u, the real one; here they are the same
  -u, --user     only the user
  -z, --zero     with -g, -G or -u, end with NUL
  -Z, --context  the security context, of which there is none`,
		Run: runID,
	}
}

var idOptions = []getopt.Option{
	{Short: 'Z', Long: "context"},
	{Short: 'g', Long: "group"},
	{Short: 'G', Long: "groups"},
	{Short: 'n', Long: "name"},
	{Short: 'r', Long: "real"},
	{Short: 'u', Long: "user"},
	{Short: 'z', Long: "zero"},
	{Short: 'a'},
}

// identity is a user with the groups that it is in, its own group first.
type identity struct {
	uid    uint32
	groups []uint32
}

func ownIdentity(p *shell.Proc) identity {
	c := p.Cred()
	groups := []uint32{c.GID}
	for _, g := range c.Groups {
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return identity{c.UID, groups}
}

// identityOf returns the identity of a user who is named or numbered.
func identityOf(a *accounts.Database, name string) (identity, bool) {
	e, ok := accounts.ByName(a.AllUsers(), name)
	if !ok {
		n, err := strconv.ParseUint(strings.TrimPrefix(name, "+"), 10, 32)
		if err != nil {
			return identity{}, false
		}
		if e, ok = accounts.ByID(a.AllUsers(), uint32(n)); !ok {
			return identity{}, false
		}
	}
	return identity{e.ID, a.GroupsOf(e)}, true
}

// idJob holds the parsed options of id.
type idJob struct {
	accounts *accounts.Database
	only     byte // u, g, G or 0
	names    bool
	zero     bool
	many     bool
}

func runID(p *shell.Proc) int {
	o := program.NewOptions(p, idCommand, idOptions)
	j := &idJob{accounts: accounts.New(p)}
	realOnly, only, context := false, 0, false
	for o.Next() {
		switch o.ID {
		case 'u', 'g', 'G':
			if j.only != byte(o.ID) {
				only++
			}
			j.only = byte(o.ID)
		case 'n':
			j.names = true
		case 'r':
			realOnly = true
		case 'z':
			j.zero = true
		case 'Z':
			context = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	switch {
	case context:
		p.Warn("--context (-Z) works only on an SELinux-enabled kernel")
		return 1
	case only > 1:
		p.Warn("cannot print \"only\" of more than one choice")
		return 1
	case only == 0 && (realOnly || j.names):
		p.Warn("cannot print only names or real IDs in default format")
		return 1
	case only == 0 && j.zero:
		p.Warn("option --zero not permitted in default format")
		return 1
	}
	return j.run(p, o.Args())
}

func (j *idJob) run(p *shell.Proc, users []string) int {
	out, status := program.NewOutput(p), 0
	end := "\n"
	if j.zero {
		end = "\x00"
	}
	if len(users) == 0 {
		_, _ = out.WriteString(j.text(ownIdentity(p)) + end) // The error stays in out.
		return out.Close(0)
	}
	j.many = len(users) > 1
	for _, u := range users {
		who, ok := identityOf(j.accounts, u)
		if !ok {
			p.Warn("%s: no such user", quoting.Name(u))
			status = 1
			continue
		}
		_, _ = out.WriteString(j.text(who) + end) // The error stays in out.
		if j.zero && j.only == 'G' && j.many {
			_, _ = out.WriteString(end) // The same.
		}
	}
	return out.Close(status)
}

func (j *idJob) text(who identity) string {
	switch j.only {
	case 'u':
		return j.one(who.uid, j.accounts.User)
	case 'g':
		return j.one(who.groups[0], j.accounts.Group)
	case 'G':
		separator := " "
		if j.zero {
			separator = "\x00"
		}
		var list []string
		for _, g := range who.groups {
			list = append(list, j.one(g, j.accounts.Group))
		}
		return strings.Join(list, separator)
	}
	user, ok := accounts.ByID(j.accounts.AllUsers(), who.uid)
	s := "uid=" + formatAccount(who.uid, user.Name, ok)
	list := make([]string, len(who.groups))
	for i, g := range who.groups {
		group, ok := accounts.ByID(j.accounts.AllGroups(), g)
		list[i] = formatAccount(g, group.Name, ok)
	}
	return s + " gid=" + list[0] + " groups=" + strings.Join(list, ",")
}

func formatAccount(id uint32, name string, known bool) string {
	if !known {
		return accounts.FormatID(id)
	}
	return accounts.FormatID(id) + "(" + name + ")"
}

func (j *idJob) one(id uint32, name func(uint32) string) string {
	if j.names {
		return name(id)
	}
	return accounts.FormatID(id)
}
