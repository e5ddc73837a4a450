//go:build linux

package guestsocket_test

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker/guestsocket"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

func Test_The_Session_Uses_The_Socket_When_The_Guest_Connects_To_It(t *testing.T) {
	s, err := guestsocket.Open(filepath.Join(t.TempDir(), strings.Repeat("deep/", 20)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	far, near := net.Pipe()
	defer far.Close()
	var guest net.Conn
	err = session.Within(filepath.Dir(s.Path()), guestsocket.File, func(path string) (err error) {
		guest, err = (&net.Dialer{}).DialContext(t.Context(), "unix", path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	conn := s.Accept(t.Context(), guestsocket.NewStream(client.NewHijackedResponse(near, "")))
	if _, err := io.WriteString(guest, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	// The session ends with the engine's connection.
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(got); err == nil {
		t.Error("the session goes on without the engine")
	}
}

func Test_Closing_The_Session_Closes_The_Attached_Stream(t *testing.T) {
	s, err := guestsocket.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	far, near := net.Pipe()
	defer far.Close()
	guest, err := (&net.Dialer{}).DialContext(t.Context(), "unix", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close()
	if err := s.Accept(t.Context(), guestsocket.NewStream(client.NewHijackedResponse(near, ""))).Close(); err != nil {
		t.Error(err)
	}
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the attached stream is still open")
	}
}
