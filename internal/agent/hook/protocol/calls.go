package protocol

import "encoding/json"

// Op is an operation on a message to the user.
type Op string

// The operations. Except Send and Start they change a message that Start began.
const (
	Send    Op = "send"    // shows a whole message
	Start   Op = "start"   // shows a message that later operations change, until End: ctx.SendStream
	Replace Op = "replace" // replaces the content
	Append  Op = "append"  // adds to its content
	End     Op = "end"     // fixes the content; a Message with Type set is appended first
)

// MessageFunctions are the names of the functions of ctx by their operation.
var MessageFunctions = map[Op]string{Send: "Send", Start: "SendStream", Replace: "Replace", Append: "Append", End: "End"}

// Level is the importance of a line of the log.
type Level string

// The levels.
const (
	Trace Level = "trace"
	Debug Level = "debug"
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

// SandboxArgs are the arguments of the host call "sandbox".
type SandboxArgs struct {
	Function string            `json:"function"`
	Args     []json.RawMessage `json:"args"`
}

// MemoryArgs are the arguments of the host call "memory".
type MemoryArgs struct {
	Space    string          `json:"space"`
	Function string          `json:"function"`
	Key      string          `json:"key,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
}

// MessageArgs are the arguments of the host call "message".
type MessageArgs struct {
	Op      Op              `json:"op"`
	ID      string          `json:"id,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
}

// LogArgs are the arguments of the host call "log".
type LogArgs struct {
	Level Level  `json:"level"`
	Trace bool   `json:"trace,omitempty"` // a step of the request, of ctx.trace; false: a line of the log
	Text  string `json:"text"`
}
