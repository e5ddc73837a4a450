package session

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

var errNoCommand = errors.New("the request names no command")

// decodeRequest reads and checks a request.
func decodeRequest(data []byte) (*request, error) {
	var req request
	if err := json.Unmarshal(data, &req); err != nil {
		return nil, err
	}
	if req.Op == "" && (len(req.Args) == 0 || len(req.Args[0]) == 0) {
		return nil, errNoCommand
	}
	if len(req.Arg) > maxArgument {
		return nil, errors.New("the request's argument is too long")
	}
	for _, list := range [][][]byte{req.Args, req.Env, {[]byte(req.Dir)}} {
		for _, b := range list {
			if bytes.IndexByte(b, 0) >= 0 {
				return nil, errors.New("the request holds a NUL byte")
			}
		}
	}
	if req.Dir != "" && !strings.HasPrefix(req.Dir, "/") {
		return nil, errors.New("the request's directory is not absolute")
	}
	return &req, nil
}

// exitFrame is the content of the last frame.
func exitFrame(exit sandbox.Exit) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(exit.Code))
	out = append(out, byte(exit.Signal))
	return append(out, exit.Reason[:min(len(exit.Reason), maxExitReason)]...)
}

const (
	exitSize      = 5   // bytes of an exit frame without a reason
	maxExitReason = 200 // bytes of a reason
)
