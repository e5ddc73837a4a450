# A module with tests, a benchmark, child processes and signals.
# needs: go
# flags: --rw {cache}
export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off
go mod init example.com/journey 2>/dev/null
cat >main.go <<'P'
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

func Add(a, b int) int { return a + b }

func main() {
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { _, _ = os.Stat("go.mod") })
	}
	wg.Wait()
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	_ = syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	out, err := exec.Command("git", "--version").Output()
	fmt.Println(<-c, len(out) > 0, err)
}
P
cat >main_test.go <<'P'
package main

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fail()
	}
}

func BenchmarkAdd(b *testing.B) {
	for b.Loop() {
		Add(1, 2)
	}
}
P
export CGO_ENABLED=0 GOCACHE=$CACHE; go test ./... >/dev/null
# inside
export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off CGO_ENABLED=0 GOCACHE=$CACHE
go test ./... | cut -f1; go test -run "^$" -bench . -benchtime 10x | grep -c BenchmarkAdd
go build -o prog . && ./prog; go run .; gofmt -l .; go list -m; go env GOOS
