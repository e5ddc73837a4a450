package egress

import (
	"io"
	"net"
	"testing"
	"time"
)

const transfer = 1 << 30

// source sends transfer bytes to each connection from which it receives a byte.
func source(c net.Conn) {
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		return
	}
	buf := make([]byte, 256<<10)
	for sent := 0; sent < transfer; sent += len(buf) {
		if _, err := c.Write(buf); err != nil {
			return
		}
	}
}

func download(b *testing.B, c net.Conn, r io.Reader) {
	b.Helper()
	if _, err := c.Write([]byte{'x'}); err != nil {
		b.Fatal(err)
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	if err != nil || n != transfer {
		b.Fatal(n, err)
	}
}

// BenchmarkConnectThroughput moves 1 GiB over loopback, without and with the proxy.
func BenchmarkConnectThroughput(b *testing.B) {
	port := startTCP(b, source)
	b.Run("direct", func(b *testing.B) {
		b.SetBytes(transfer)
		for b.Loop() {
			c, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", "127.0.0.1:"+port)
			if err != nil {
				b.Fatal(err)
			}
			download(b, c, c)
			_ = c.Close()
		}
	})
	b.Run("proxy", func(b *testing.B) {
		bed := newBed(b, network{Allow: []string{"ok.example:" + port, everywhere}})
		b.SetBytes(transfer)
		for b.Loop() {
			c, br, _ := bed.connect(b, "ok.example:"+port)
			_ = c.SetDeadline(time.Time{})
			download(b, c, io.MultiReader(io.LimitReader(br, int64(br.Buffered())), c))
			_ = c.Close()
		}
	})
}

// BenchmarkConnect measures one tunnel, from the connection to the first byte of the
// answer.
func BenchmarkConnect(b *testing.B) {
	port := startTCP(b, echo)
	bed := newBed(b, network{Allow: []string{"127.0.0.1:" + port}})
	b.ReportAllocs()
	for b.Loop() {
		c, br, _ := bed.connect(b, "127.0.0.1:"+port)
		_, _ = c.Write([]byte{'x'})
		if _, err := br.ReadByte(); err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
	}
}
