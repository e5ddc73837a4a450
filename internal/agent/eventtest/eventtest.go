// Package eventtest has helpers for the tests of decoders.
package eventtest

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Read returns the events of a stream, and their response. It fails the test if the stream breaks off.
func Read(tb testing.TB, d event.Decoder, in io.Reader) ([]event.Event, event.Response) {
	tb.Helper()
	var fold event.Fold
	var events []event.Event
	for e, err := range event.Stream(tb.Context(), in, d, 0) {
		if err != nil {
			tb.Fatal(err)
		}
		events = append(events, e)
		fold.Add(e)
	}
	return events, fold.Response()
}

// JSON returns a value as JSON, for comparison.
func JSON(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
