package persistent

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// printRepos prints a second table about the sandboxes of repositories, when there are any.
func printRepos(a *console.App, docs []document) {
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
		fmt.Fprintln(a.Out)
		a.PrintColumns(rows)
	}
}
