// Package eventtest is what the tests of decoders have in common.
package eventtest

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Read returns the events of a stream, and what they fold into. A stream that breaks off fails the test.
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

// JSON is a value as JSON, to be compared.
func JSON(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
