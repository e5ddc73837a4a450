package a

import (
	"bufio"
	"context"
	"strings"
)

type process struct{}

func (process) Spend(int) error { return nil }

func endless(f func() bool) {
	for { // want "no bound"
		if f() {
			return
		}
	}
}

func whileTrue(f func() bool) {
	for f() { // want "no bound"
	}
}

func asked(ctx context.Context, f func() bool) { // want asked:"asks"
	for f() {
		if ctx.Err() != nil {
			return
		}
	}
}

func charged(p process, f func() bool) { // want charged:"asks"
	for f() {
		if p.Spend(1) != nil {
			return
		}
	}
}

func read(r *bufio.Reader) { // want read:"asks"
	for {
		if _, err := r.ReadByte(); err != nil {
			return
		}
	}
}

// A write to a builder never fails, so it does not end a loop.
func build(f func() bool) string {
	var b strings.Builder
	for f() { // want "no bound"
		b.WriteByte('x')
	}
	return b.String()
}

func received(c chan int) { // want received:"asks"
	for {
		if <-c == 0 {
			return
		}
	}
}

func step(p process) bool { return p.Spend(1) == nil } // want step:"asks"

func byCall(p process) { // want byCall:"asks"
	for step(p) {
	}
}

func counted(n int, s string, list []int) {
	for n > 0 {
		n--
	}
	for s != "" {
		s = s[1:]
	}
	for {
		i := strings.IndexByte(s, ' ')
		if i < 0 {
			break
		}
		s = s[i+1:]
	}
	for len(list) > 0 {
		list = list[1:]
	}
	for n != 0 {
		n >>= 1
	}
}

type chain struct{ next *chain }

func follow(c *chain) {
	for c != nil {
		c = c.next
	}
}

func explained(f func() bool) {
	for f() { // bounded: f is false at the end of the script
	}
	// bounded: the same
	for f() {
	}
	for f() { // bounded:  // want "no bound"
	}
}
