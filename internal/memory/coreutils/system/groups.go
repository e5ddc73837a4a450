package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func groupsCommand() program.Description {
	return program.Description{
		Name: "groups", Usage: "[OPTION]... [USERNAME]...",
		Summary: "print the groups that users are in",
		Run:     runGroups,
	}
}

func runGroups(p *shell.Proc) int {
	o := program.NewOptions(p, groupsCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	a, out, status := accounts.New(p), program.NewOutput(p), 0
	names := func(who identity) string {
		var list []string
		for _, g := range who.groups {
			list = append(list, a.Group(g))
		}
		return strings.Join(list, " ")
	}
	if len(o.Args()) == 0 {
		_, _ = out.WriteString(names(ownIdentity(p)) + "\n") // The error stays in out.
	}
	for _, u := range o.Args() {
		e, ok := accounts.ByName(a.AllUsers(), u)
		if !ok {
			p.Warn("%s: no such user", quoting.Name(u))
			status = 1
			continue
		}
		_, _ = out.WriteString(u + " : " + names(identity{e.ID, a.GroupsOf(e)}) + "\n") // The same.
	}
	return out.Close(status)
}
