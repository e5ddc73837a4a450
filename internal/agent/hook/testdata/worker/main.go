// Command worker is a worker for tests that run with the race detector, whose memory cannot be bounded.
package main

import (
	"log"
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
)

func main() {
	if err := hook.Serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
