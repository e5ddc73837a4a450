package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

// crowd creates many sandboxes at once, runs a command in each, and prints the memory of each: the proportional
// set size (PSS, proc_pid_smaps(5)) of its keeper and all processes below that.
func (s *scene) crowd(ctx context.Context, n int) error {
	driver := s.driver("bwrap")
	boxes, errs := make([]*sandbox.Sandbox, n), make([]error, n)
	slots := make(chan struct{}, 8)
	begin := time.Now()
	var wg sync.WaitGroup
	for i := range boxes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if boxes[i], errs[i] = sandbox.Create(ctx, driver, s.spec("bwrap", "crowd-"+strconv.Itoa(i))); errs[i] == nil {
				errs[i] = nothing(ctx, boxes[i])
			}
		})
	}
	wg.Wait()
	made := time.Since(begin)
	defer func() {
		for _, box := range boxes {
			if box != nil {
				_ = box.Close(context.WithoutCancel(ctx)) // the driver ends with its directory
			}
		}
	}()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	begin = time.Now()
	for _, box := range boxes {
		if err := nothing(ctx, box); err != nil {
			return err
		}
	}
	turn := time.Since(begin)
	sizes, err := s.sizes(n)
	if err != nil {
		return err
	}
	fmt.Printf("%d bwrap sandboxes at once: made in %.1f s, `true` in one after the other %.2f ms each. Memory of each, kernel's apart (PSS): "+
		"%.1f MiB median, %.1f to %.1f MiB, of which the keeper has %.1f MiB.\n\n",
		n, made.Seconds(), float64(turn)/float64(n)/float64(time.Millisecond),
		rounds.At(sizes.all, 0.5), sizes.all[0], sizes.all[n-1], rounds.At(sizes.keepers, 0.5))
	return nil
}

type sizes struct{ all, keepers []float64 } // MiB, sorted

// sizes adds up the memory of each keeper of a crowd and its descendants.
func (s *scene) sizes(n int) (sizes, error) {
	parent, keepers := map[int]int{}, map[int]bool{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return sizes{}, err
	}
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, _ := os.ReadFile(dir + "/stat") // it may have ended
		if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(f) > 1 {
			parent[pid], _ = strconv.Atoi(f[1])
		}
		args, _ := os.ReadFile(dir + "/cmdline")
		keepers[pid] = bytes.HasPrefix(args, []byte(s.command+"\x00keep\x00crowd-"))
	}
	all, own := map[int]float64{}, map[int]float64{}
	for pid := range parent {
		top := pid
		for top > 1 && !keepers[top] {
			top = parent[top]
		}
		if !keepers[top] {
			continue
		}
		size := pss(pid)
		all[top] += size
		if pid == top {
			own[top] = size
		}
	}
	if len(all) != n {
		return sizes{}, fmt.Errorf("found %d keepers instead of %d", len(all), n)
	}
	var out sizes
	for top := range all {
		out.all, out.keepers = append(out.all, all[top]), append(out.keepers, own[top])
	}
	slices.Sort(out.all)
	slices.Sort(out.keepers)
	return out, nil
}

// pss returns the size of a process in MiB.
func pss(pid int) float64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
			kib, _ := strconv.ParseFloat(f[1], 64)
			return kib / 1024
		}
	}
	return 0
}
