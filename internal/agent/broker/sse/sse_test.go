package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

func Test_Events_Are_Read_As_The_Standard_Says(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in, want string
		err            error
	}{
		{"a name and data", "event: a\ndata: 1\n\ndata:2\n\n", "a=1 =2 ", io.EOF},
		{"ends of all three kinds", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", "a=1 =2 =3 ", io.EOF},
		{"data of several lines", "data: 1\ndata:  2\ndata\n\n", "=1\n 2\n ", io.EOF},
		{"comments, unknown fields and empty events", ": hi\n\nid: 7\nretry: 1\nx\nevent: lost\n\ndata: 1\n\n", "=1 ", io.EOF},
		{"an event that has no end is thrown away", "data: 1\n\ndata: 2\n", "=1 ", io.ErrUnexpectedEOF},
		{"a line that has no end likewise", "data: 1\n\ndat", "=1 ", io.ErrUnexpectedEOF},
		{"an event over the bound", "data: 1\n\ndata: " + strings.Repeat("x", 100) + "\n\n", "=1 ", sse.ErrTooLong},
		{"many short lines over the bound", strings.Repeat("data: 1\n", 100) + "\n", "", sse.ErrTooLong},
		{"nothing", "", "", io.EOF},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []io.Reader{strings.NewReader(row.in), iotest.OneByteReader(strings.NewReader(row.in))} {
				r := sse.NewReader(in, 90)
				var got strings.Builder
				var err error
				for e := (sse.Event{}); err == nil; {
					if e, err = r.Next(); err == nil {
						got.WriteString(e.Name + "=" + string(e.Data) + " ")
					}
				}
				if got.String() != row.want || !errors.Is(err, row.err) {
					t.Errorf("got %q and %v, want %q and %v", got.String(), err, row.want, row.err)
				}
			}
		})
	}
}

func Test_Events_Round_Trip_And_Raw_Has_The_Original_Bytes(t *testing.T) {
	t.Parallel()
	out := sse.Append(nil, sse.Event{Name: "x", Data: []byte("1\n2")})
	in := append([]byte(": comment\r\n\r\n"), out...)
	e, err := sse.NewReader(bytes.NewReader(in), 1000).Next()
	if err != nil || e.Name != "x" || string(e.Data) != "1\n2" || !bytes.Equal(e.Raw, in) {
		t.Errorf("got %+v, %v", e, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: 1\r\n\r\n: c\rdata: 2\r\r"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64
		whole, bytewise := events(t, bytes.NewReader(in), limit), events(t, iotest.OneByteReader(bytes.NewReader(in)), limit)
		if len(whole) != len(bytewise) {
			t.Fatalf("%d events at once, %d byte by byte", len(whole), len(bytewise))
		}
		for i, e := range whole {
			again := events(t, bytes.NewReader(sse.Append(nil, e)), 4*limit)
			if !bytes.Equal(e.Data, bytewise[i].Data) || e.Name != bytewise[i].Name || len(again) != 1 || !bytes.Equal(again[0].Data, e.Data) || again[0].Name != e.Name {
				t.Fatalf("event %d: %+v, byte by byte %+v, written and read again %+v", i, e, bytewise[i], again)
			}
		}
	})
}

func events(t *testing.T, in io.Reader, limit int) (all []sse.Event) {
	t.Helper()
	for r := sse.NewReader(in, limit); ; {
		e, err := r.Next()
		if err != nil {
			return all
		}
		if len(e.Raw) > limit {
			t.Fatalf("%d bytes were kept", len(e.Raw))
		}
		all = append(all, sse.Event{Name: e.Name, Data: bytes.Clone(e.Data)})
	}
}
