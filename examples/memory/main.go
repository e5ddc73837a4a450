// Command memory runs scripts in a machine that exists only in memory, takes a snapshot, and
// restores it.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/seed434b0696/agent-sandbox/memory"
)

func main() {
	ctx := context.Background()
	m, err := memory.New(memory.Options{Dir: "/proj"})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	for _, script := range []string{
		"printf '%s\\n' pear apple fig >fruit; cd /tmp; n=3",
		"sort /proj/fruit | head -n $((n-1))", // The working directory and the variable persist.
	} {
		show(ctx, m, script)
	}
	before, err := m.Snapshot()
	if err != nil {
		log.Print(err)
		return
	}
	show(ctx, m, "rm -r /proj; ls /proj")
	if err := m.Restore(before); err != nil {
		log.Print(err)
		return
	}
	show(ctx, m, "wc -l </proj/fruit; pwd")
}

// show runs a script and prints its result.
func show(ctx context.Context, m *memory.Machine, script string) {
	r, err := m.Run(ctx, script)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Printf("$ %s\n%s%s", script, r.Stdout, r.Stderr)
	for _, c := range r.Changes {
		fmt.Println(" ", c.Kind, c.Path)
	}
}
