package protocol

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Any input is an error or a frame that can be written and read again.
func FuzzFrame(f *testing.F) {
	for _, order := range []Frame{
		{Done: &Outcome{Value: json.RawMessage(`{"a":1}`)}},
		{Call: &HostCall{Op: "log", Args: json.RawMessage(`{}`)}},
		{Done: &Outcome{Fault: &Fault{Kind: Uncaught, Thrown: Thrown{Message: "x", File: "a.js", Line: 1}}}},
		{Reply: &HostReply{Refusal: Refuse("no")}},
	} {
		var b bytes.Buffer
		if err := WriteFrame(&b, order); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x05\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadFrame(bytes.NewReader(data))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteFrame(&again, got); err != nil {
			t.Fatalf("%+v cannot be written: %v", got, err)
		}
		if _, err := ReadFrame(&again); err != nil {
			t.Fatalf("%+v cannot be read again: %v", got, err)
		}
		if got.Done != nil && got.Done.Fault != nil {
			_ = got.Done.Fault.Failure("create hook", Limits{}).Error()
		}
	})
}
