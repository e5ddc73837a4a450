package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const talk = 64 << 10 // bytes that each connection of a crowd sends and gets back

// crowd opens many tunnels, exchanges data on all of them while all are open, and prints
// the memory of the proxy's process.
func (s *scene) crowd(ctx context.Context, count int) error {
	before, err := s.proxy.memory("VmRSS")
	if err != nil {
		return err
	}
	begin := time.Now()
	conns := make([]net.Conn, count)
	err = atOnce(count, func(i int) (err error) {
		if conns[i], err = (&net.Dialer{}).DialContext(ctx, "tcp", s.proxy.addr); err != nil {
			return err
		}
		return tunnel(conns[i], s.source.addr, "")
	})
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	if err != nil {
		return err
	}
	opened := time.Since(begin)
	idle, err := s.proxy.memory("VmRSS")
	if err != nil {
		return err
	}
	files, err := os.ReadDir(s.proxy.proc("fd"))
	if err != nil {
		return err
	}
	begin = time.Now()
	if err := atOnce(count, func(i int) error { return converse(conns[i]) }); err != nil {
		return err
	}
	spoke := time.Since(begin)
	peak, err := s.proxy.memory("VmHWM")
	if err != nil {
		return err
	}
	fmt.Printf("%d connections at once: open after %d ms; each then sent and got %d KiB, all after %d ms. ",
		count, opened.Milliseconds(), talk>>10, spoke.Milliseconds())
	fmt.Printf("The proxy's process had %d MiB resident before, %d MiB with all of them open (%d descriptors), %d MiB at most.\n\n",
		before>>10, idle>>10, len(files), peak>>10)
	return nil
}

// converse sends data and checks that the same data returns.
func converse(c net.Conn) error {
	sent := make(chan error, 1)
	go func() { _, err := c.Write(make([]byte, talk)); sent <- err }()
	_, err := io.ReadFull(c, make([]byte, talk))
	return errors.Join(err, <-sent)
}

// atOnce calls f concurrently for each number below count.
func atOnce(count int, f func(i int) error) error {
	var all sync.WaitGroup
	errs := make([]error, count)
	for i := range count {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (p part) proc(name string) string {
	return "/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/" + name
}

// memory returns a field of the process's status in KiB.
func (p part) memory(field string) (int, error) {
	data, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			return strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return 0, fmt.Errorf("%s has no %s", p.proc("status"), field)
}
