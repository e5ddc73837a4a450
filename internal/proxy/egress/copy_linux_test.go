package egress

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// tcpPair returns both ends of a connection over loopback.
func tcpPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// relayed returns a connection whose bytes pass through relay.
func relayed(t *testing.T) (client, server net.Conn) {
	t.Helper()
	client, inside := tcpPair(t)
	outside, server := tcpPair(t)
	var done sync.WaitGroup
	done.Go(func() { relay(inside, outside, time.Minute) })
	t.Cleanup(func() {
		_, _ = client.Close(), server.Close()
		done.Wait()
	})
	return client, server
}

func Test_Pieces_Of_All_Sizes_Arrive_Whole_And_In_Order(t *testing.T) {
	t.Parallel()
	client, server := relayed(t)
	var both sync.WaitGroup
	defer both.Wait()
	for _, way := range []struct{ from, to net.Conn }{{client, server}, {server, client}} {
		sent := make(chan []byte, 1)
		both.Go(func() {
			h := sha256.New()
			random := rand.New(rand.NewPCG(1, uint64(len(way.from.LocalAddr().String())))) //nolint:gosec // not a secret
			text := make([]byte, 512<<10)
			for i := range text {
				text[i] = byte(random.Uint32())
			}
			for range 300 {
				// Most pieces are small, and some are far above the limit for splice.
				piece := text[random.IntN(1000):][:1+random.IntN(1<<random.IntN(19))]
				h.Write(piece)
				if _, err := way.from.Write(piece); err != nil {
					t.Error(err)
				}
			}
			if err := way.from.(*net.TCPConn).CloseWrite(); err != nil { //nolint:forcetypeassert // of tcpPair
				t.Error(err)
			}
			sent <- h.Sum(nil)
		})
		both.Go(func() {
			h := sha256.New()
			if _, err := io.Copy(h, way.to); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(h.Sum(nil), <-sent) {
				t.Error("something else arrived")
			}
		})
	}
}

// If each waiting direction held a pipe, a tunnel would need four more descriptors.
func Test_Tunnels_That_Wait_Hold_No_Pipes(t *testing.T) {
	const count = 30
	before := pipes(t)
	for range count {
		client, server := relayed(t)
		for _, way := range []struct{ from, to net.Conn }{{client, server}, {server, client}} {
			var sending sync.WaitGroup
			sending.Go(func() {
				if _, err := way.from.Write(make([]byte, 1<<20)); err != nil {
					t.Error(err)
				}
			})
			if _, err := io.ReadFull(way.to, make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			sending.Wait()
		}
	}
	if held := pipes(t) - before; held > count {
		t.Errorf("%d tunnels hold %d ends of pipes", count, held)
	}
}

func pipes(t *testing.T) (count int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, "pipe:") {
			count++
		}
	}
	return count
}
