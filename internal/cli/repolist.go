package cli

import (
	"fmt"
	"strings"
)

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
