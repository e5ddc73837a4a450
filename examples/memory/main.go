// Command memory runs scripts in a machine that exists only in memory, snapshots it, and goes back.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
)

func main() {
	ctx := context.Background()
	m, err := virtual.NewMachine(virtual.Config{WorkingDirectory: "/proj"})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	for _, script := range []string{
		"printf '%s\\n' pear apple fig >fruit; cd /tmp; n=3",
		"sort /proj/fruit | head -n $((n-1))", // The directory and the variable are remembered.
	} {
		show(ctx, m, script)
	}
	before, err := m.CreateSnapshot()
	if err != nil {
		log.Print(err)
		return
	}
	show(ctx, m, "rm -r /proj; ls /proj")
	if err := m.RestoreSnapshot(before); err != nil {
		log.Print(err)
		return
	}
	show(ctx, m, "wc -l </proj/fruit; pwd")
}

// show executes a script and prints what it did.
func show(ctx context.Context, m *virtual.Machine, script string) {
	r, err := m.Execute(ctx, script)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Printf("$ %s\n%s%s", script, r.Stdout, r.Stderr)
	for _, c := range r.Changes {
		fmt.Println(" ", c.Kind, c.Path)
	}
}
