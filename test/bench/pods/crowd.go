package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The pods of a crowd request little, so that one node can run them all.
const (
	crowdCPU    = 0.02
	crowdMemory = 128 << 20
)

// crowd creates many pods at once, runs a command in each, ends them, and prints how many remain; then the same for as
// many plain pods.
func (s *scene) crowd(ctx context.Context, n int) error {
	begin := time.Now()
	like := fmt.Sprintf(`{"limits":{"cpu":"%dm","memory":"%d","ephemeral-storage":"12Gi"},"requests":{"ephemeral-storage":"256Mi"}}`, int(crowdCPU*1000), crowdMemory)
	if err := s.plain(ctx, n, "crowd", like); err != nil {
		return err
	}
	peer := time.Since(begin)
	if err := s.kubectl(ctx, "", "delete", "-n", s.namespace, "pod", "-l", "of=crowd"); err != nil {
		return err
	}
	before, err := s.pods(ctx)
	if err != nil {
		return err
	}
	spec := s.spec()
	spec.Policy.Limits = sandbox.Limits{CPU: crowdCPU, Memory: crowdMemory}
	boxes, errs := make([]*sandbox.Sandbox, n), make([]error, n)
	begin = time.Now()
	each(boxes, func(i int) {
		if boxes[i], errs[i] = sandbox.Create(ctx, s.driver, spec); errs[i] == nil {
			errs[i] = nothing(ctx, boxes[i])
		}
	})
	took := time.Since(begin)
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	first := errors.Join(errs...)
	begin = time.Now()
	each(boxes, func(i int) {
		errs[i] = nil
		if boxes[i] != nil {
			errs[i] = boxes[i].Close(ctx)
		}
	})
	closed := time.Since(begin)
	after, err := s.pods(ctx)
	if err = errors.Join(first, err, errors.Join(errs...)); err != nil {
		return err
	}
	fmt.Printf("%d pods at once: each has run a command after %.1f s, %d failed; closed in %.1f s, after which %d are left. "+
		"%d plain pods with the same requests and limits, `kubectl apply` and `kubectl wait` for Ready: %.1f s.\n\n",
		n, took.Seconds(), failed, closed.Seconds(), after-before, n, peer.Seconds())
	return nil
}

// each calls f concurrently for all numbers, and waits.
func each(boxes []*sandbox.Sandbox, f func(i int)) {
	var wg sync.WaitGroup
	for i := range boxes {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// pods returns the number of pods in the namespace.
func (s *scene) pods(ctx context.Context) (int, error) {
	cmd := exec.CommandContext(ctx, "kubectl", "get", "pods", "-n", s.namespace, "-o", "name")
	cmd.Env = s.env
	out, err := cmd.Output()
	return len(strings.Fields(string(out))), err
}

// alone is the source of a program that links only the backend.
const alone = `package main

import "github.com/seed434b0696/agent-sandbox/backend/kube"

func main() { println(kube.New(kube.Options{}).Name()) }
`

// sizes prints the size that Kubernetes adds to the stripped program.
func (s *scene) sizes(ctx context.Context) error {
	plain, err := os.Stat(s.command)
	if err != nil {
		return err
	}
	whole, err := os.Stat(s.command + "-kube")
	if err != nil {
		return err
	}
	source, program := filepath.Join(s.base, "alone.go"), filepath.Join(s.base, "alone")
	if err := os.WriteFile(source, []byte(alone), 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the backend alone: %w: %s", err, out)
	}
	backend, err := os.Stat(program)
	if err != nil {
		return err
	}
	mb := func(n int64) float64 { return float64(n) / 1e6 }
	fmt.Printf("Stripped: `agent-sandbox-kube` has %.1f MB more than `agent-sandbox` (%.1f and %.1f); a program that links the backend alone has %.1f MB, the guest in it.\n\n",
		mb(whole.Size()-plain.Size()), mb(whole.Size()), mb(plain.Size()), mb(backend.Size()))
	return nil
}
