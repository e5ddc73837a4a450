package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
)

// describeRepo adds what is known of a repository's sandbox.
func (d *keptDocument) describeRepo(r persist.Record) {
	d.Volumes = r.Spec.Volumes
	if !belongsTo(r, repo.Repo{Path: r.Spec.Workspace}) {
		return
	}
	d.Repo, d.Mode, d.Workdir = r.Spec.Workspace, repo.Mode(r.Spec.Dir), cmp.Or(r.Spec.Dir, r.Spec.Target)
}

// printRepos prints a second table about the sandboxes of repositories, when there are any.
func (a *app) printRepos(docs []keptDocument) {
	rows := [][]string{{"NAME", "MODE", "WORKDIR", "VOLUMES"}}
	for _, d := range docs {
		if d.Repo == "" {
			continue
		}
		var volumes []string
		for _, v := range d.Volumes {
			volumes = append(volumes, v.Name+":"+v.Target)
		}
		rows = append(rows, []string{d.ID, d.Mode, d.Workdir, strings.Join(volumes, " ")})
	}
	if len(rows) > 1 {
		fmt.Fprintln(a.out)
		a.printColumns(rows)
	}
}
