package session

import (
	"bytes"
	"encoding/json"
	"testing"
)

func Fuzz_What_The_Other_End_Sends(f *testing.F) {
	f.Add([]byte("n\x00\x00\x00\x06egress\x00\x00\x00\x02hi\x00\x00\x00\x00"))
	f.Add([]byte("d\x00\x00\x00\x2a" + `{"network":"tcp","addr":"localhost:65535"}`))
	f.Add([]byte("u\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames := &frameReader{r: bytes.NewReader(data)}
		for {
			kind, body, err := frames.next()
			if err != nil {
				break
			}
			if limit, ok := limitOf(kind); !ok || len(body) > limit || len(body) > len(data) {
				t.Fatalf("a frame %q of %d bytes", kind, len(body))
			}
			var want target
			if kind == frameDial && json.Unmarshal(body, &want) == nil && want.check() == nil {
				_ = insideAddr{want}.String()
			}
		}
	})
}
