package coreutils

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func groupsCommand() description {
	return description{
		Name: "groups", Usage: "[OPTION]... [USERNAME]...",
		Summary: "print the groups that users are in",
		Run:     runGroups,
	}
}

func runGroups(p *shell.Proc) int {
	o := newOptions(p, groupsCommand, nil)
	for o.Next() {
		continue
	}
	if o.Ended() {
		return o.Status
	}
	a, out, status := newAccounts(p), newOutput(p), 0
	names := func(who identity) string {
		var list []string
		for _, g := range who.groups {
			list = append(list, a.group(g))
		}
		return strings.Join(list, " ")
	}
	if len(o.Args()) == 0 {
		_, _ = out.WriteString(names(ownIdentity(p)) + "\n") // The error stays in out.
	}
	for _, u := range o.Args() {
		e, ok := byAccountName(a.allUsers(), u)
		if !ok {
			p.Warn("%s: no such user", quoteLocaleName(u))
			status = 1
			continue
		}
		_, _ = out.WriteString(u + " : " + names(identity{e.id, a.groupsOf(e)}) + "\n") // The same.
	}
	return out.Close(status)
}
