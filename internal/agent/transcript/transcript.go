// Package transcript reads recorded runs of coding agents in the format of any executor.
package transcript

import (
	"bytes"
	"context"
	"io"
	"iter"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/claude"
	"github.com/seed434b0696/agent-sandbox/internal/agent/codex"
	"github.com/seed434b0696/agent-sandbox/internal/agent/cursor"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// formats in the order in which the detector tries them.
var formats = []struct {
	name       string
	recognizes func(line []byte) bool
	decoder    func() event.Decoder
}{
	{"events", event.IsRecorded, func() event.Decoder { return event.Recorded{} }},
	{"claude", claude.CanDecode, func() event.Decoder { return &claude.Decoder{} }},
	{"codex", codex.CanDecode, func() event.Decoder { return &codex.Decoder{} }},
	{"cursor", cursor.CanDecode, func() event.Decoder { return &cursor.Decoder{} }},
}

// Events reads the events of a run from r as they arrive. With the format "" it detects the format;
// it retains the lines before the first recognised one, at most 100 lines and 1 MiB. An error is the
// last pair. Invalid: the format is unknown, or no line has one of the formats. Other errors come
// from r or ctx.
func Events(ctx context.Context, r io.Reader, format string) iter.Seq2[event.Event, error] {
	d := &detector{}
	if format != "" {
		if d.decoder = newDecoder(format); d.decoder == nil {
			err := sandbox.Errorf(sandbox.Invalid, "unknown format %q", format).WithHint("one of claude, codex, cursor and events")
			return func(yield func(event.Event, error) bool) { yield(event.Event{}, err) }
		}
	}
	return func(yield func(event.Event, error) bool) {
		for e, err := range event.Stream(ctx, r, d, 0) {
			if d.lost {
				break
			}
			if d.decoder == nil && err == nil { // a notice of a line over the bound
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if d.decoder == nil {
			yield(event.Event{}, sandbox.Errorf(sandbox.Invalid, "this is not a recorded run of an agent").
				WithHint("record one with --output-format stream-json --verbose of claude, --json of codex exec, or --json of this command"))
		}
	}
}

func newDecoder(format string) event.Decoder {
	for _, f := range formats {
		if f.name == format {
			return f.decoder()
		}
	}
	return nil
}

// detector waits for a line in a known format, and decodes the lines from then on.
type detector struct {
	decoder event.Decoder // nil: not detected yet
	first   [][]byte
	size    int
	lost    bool // no line within the bound was recognised
}

// Decode implements event.Decoder.
func (d *detector) Decode(line []byte) []event.Event {
	if d.decoder != nil {
		return d.decoder.Decode(line)
	}
	for _, f := range formats {
		if f.recognizes(line) {
			d.decoder = f.decoder()
			var events []event.Event
			for _, l := range append(d.first, line) {
				events = append(events, d.decoder.Decode(l)...)
			}
			d.first = nil
			return events
		}
	}
	d.first, d.size = append(d.first, bytes.Clone(line)), d.size+len(line)
	if d.lost = len(d.first) > 100 || d.size > 1<<20; d.lost {
		return []event.Event{{}} // so that the reader checks it
	}
	return nil
}
