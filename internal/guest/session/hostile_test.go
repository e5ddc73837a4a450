//go:build linux

package session_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pretender is a guest that answers each request with the same bytes and closes the
// connection.
func pretender(t *testing.T, answer string) *session.Connection {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		const greeting = "agent-sandbox session 3\n"
		go func() { _, _ = io.WriteString(theirs, greeting) }()
		if _, err := io.ReadFull(theirs, make([]byte, len(greeting))); err != nil {
			return
		}
		m := mux.Server(theirs, bufio.NewReader(theirs))
		for {
			s, err := m.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.WriteString(s, answer)
				_ = s.Close()
			}()
		}
	}()
	c, err := session.Connect(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Close(), theirs.Close() })
	return c
}

func frame(kind byte, data string) string {
	return string([]byte{kind, 0, 0, byte(len(data) >> 8), byte(len(data))}) + data
}

func Test_Frames_From_A_Hostile_Guest_Are_Rejected(t *testing.T) {
	begun := frame('b', "\x00\x00\x00\x01")
	for _, row := range []struct {
		name, answer string
		code         sandbox.Code
	}{
		{"nothing", "", sandbox.Closed},
		{"a frame that is none", frame('?', "x"), sandbox.Closed},
		{"output before the beginning", frame('o', "x"), sandbox.Internal},
		{"an exit before the beginning", frame('x', "\x00\x00\x00\x00\x00"), sandbox.Internal},
		{"a failure that is no JSON", frame('f', "x"), sandbox.Internal},
		{"a failure with a code that is none", frame('f', `{"code":"root","text":"x"}`), sandbox.Internal},
		{"a failure that claims a time-out", frame('f', `{"code":"timeout","text":"x"}`), sandbox.Internal},
		{"a failure that drives the terminal", frame('f', `{"code":"denied","text":"\u001b]0;x\u0007\nforged"}`), sandbox.Denied},
		{"a failure without an end", "f\x7f\xff\xff\xff" + strings.Repeat("x", 100_000), sandbox.Closed},
		{"half a frame", "b\x00\x00", sandbox.Closed},
		{"no exit", begun + frame('o', "x"), sandbox.Closed},
		{"an end without a reason", begun + frame('f', ""), sandbox.Closed},
		{"an exit that is too short", begun + frame('x', "\x00"), sandbox.Internal},
		{"output without an end", begun + "o\xff\xff\xff\xff", sandbox.Closed},
		{"a second beginning", begun + begun, sandbox.Internal},
		{"a request", begun + frame('r', "{}"), sandbox.Internal},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			p, err := pretender(t, row.answer).Start(t.Context(), session.Command{Args: []string{"x"}, Dir: "/"}, sandbox.Stdio{Stdout: &out})
			if err == nil {
				_, err = p.Wait()
			}
			if sandbox.CodeOf(err) != row.code {
				t.Fatalf("code %s: %v", sandbox.CodeOf(err), err)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\x07") || len(err.Error()) > 5000 {
				t.Errorf("the error repeats it: %.200q", err.Error())
			}
		})
	}
}

func Test_An_Exit_Status_Fits_Into_A_Byte(t *testing.T) {
	p, err := pretender(t, frame('b', "\x00\x00\x00\x01")+frame('x', "\xff\xff\xff\xff\xff")).
		Start(t.Context(), session.Command{Args: []string{"x"}, Dir: "/"}, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 255 || exit.Signal != 127 {
		t.Errorf("%+v, %v", exit, err)
	}
}
