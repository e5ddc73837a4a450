package interpreter

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// fault converts an error of the engine to a fault; nil stays nil.
func (r *run) fault(err error) error {
	if err == nil {
		return nil
	}
	if f := (*protocol.Fault)(nil); errors.As(err, &f) {
		return f
	}
	if in := (*goja.InterruptedError)(nil); errors.As(err, &in) {
		f := &protocol.Fault{Kind: protocol.EngineFailed, Text: "interrupted"}
		if why := r.interrupted(); why != nil {
			f = &protocol.Fault{Kind: why.Kind}
		}
		setPlaces(f, placesOf(in.Stack()))
		return f
	}
	if deep := (*goja.StackOverflowError)(nil); errors.As(err, &deep) {
		f := &protocol.Fault{Kind: protocol.DepthExceeded}
		setPlaces(f, placesOf(deep.Stack()))
		return f
	}
	if ex := (*goja.Exception)(nil); errors.As(err, &ex) {
		return r.thrown(ex.Value(), ex.Stack())
	}
	return &protocol.Fault{Kind: protocol.EngineFailed, Text: protocol.Clip(err.Error(), protocol.MaxText)}
}

// unreadable describes a thrown value that throws again when it is read.
const unreadable = "something that cannot be read was thrown"

// thrown describes a thrown value. Reading it may run the script, which may throw again.
func (r *run) thrown(v goja.Value, stack []goja.StackFrame) *protocol.Fault {
	f := &protocol.Fault{Kind: protocol.Uncaught}
	var class string
	err := r.guarded(func() { class = r.describe(f, v) })
	if err != nil {
		f.Name, f.Message = "", unreadable
		if r.isUncatchable(err) && r.interrupted() != nil {
			f.Kind = r.interrupted().Kind
		}
	}
	places := placesOf(stack)
	if len(stack) == 0 {
		places = placesIn(r.stackOf(v))
	}
	// The innermost frame is the error's constructor; its caller says more.
	for len(places) > 1 && class != "" && places[0].Name == class {
		places = places[1:]
	}
	setPlaces(f, places)
	return f
}

// describe sets the name and message of a thrown value, and returns the name of its class.
func (r *run) describe(f *protocol.Fault, v goja.Value) (class string) {
	f.Message = unreadable
	object, ok := v.(*goja.Object)
	if !ok {
		if _, symbol := v.(*goja.Symbol); v != nil && !symbol {
			f.Message = protocol.Clip(v.String(), protocol.MaxText)
		}
		return ""
	}
	if message := object.Get("message"); message != nil && !goja.IsUndefined(message) {
		f.Message = protocol.Clip(message.String(), protocol.MaxText)
		if name := object.Get("name"); name != nil && !goja.IsUndefined(name) {
			f.Name = protocol.Clip(name.String(), 100)
		}
		if made, ok := object.Get("constructor").(*goja.Object); ok {
			class = made.Get("name").String()
		}
		return class
	}
	text, err := r.stringify(goja.Undefined(), v)
	if err != nil {
		panic(err)
	}
	if !goja.IsUndefined(text) {
		f.Message = protocol.Clip(text.String(), protocol.MaxText)
	}
	return ""
}

// stackOf returns an Error's own stack in the engine's format.
func (r *run) stackOf(v goja.Value) (text string) {
	object, ok := v.(*goja.Object)
	if !ok || object.ClassName() != "Error" {
		return ""
	}
	err := r.guarded(func() {
		if s := object.Get("stack"); s != nil && isString(s) {
			text = s.String()
		}
	})
	if err != nil {
		return ""
	}
	return text
}

// frames returns the lines of a stack that are in the assistant's files.
var frames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`at (?:([^\s(]+) \()?` + namespace + `:([^:\n]+):(\d+):(\d+)\(`)
})

// placesIn parses the frames of a stack in text form.
func placesIn(stack string) (out []protocol.Thrown) {
	for _, m := range frames().FindAllStringSubmatch(stack, protocol.MaxFrames) {
		t := protocol.Thrown{Name: m[1], File: m[2]}
		t.Line, _ = strconv.Atoi(m[3])
		t.Column, _ = strconv.Atoi(m[4])
		out = append(out, clipFrame(t))
	}
	return out
}

// placesOf returns the frames of a stack that are in the assistant's files.
func placesOf(stack []goja.StackFrame) (out []protocol.Thrown) {
	for _, s := range stack {
		p := s.Position()
		name, ours := strings.CutPrefix(p.Filename, namespace+":")
		if ours && len(out) < protocol.MaxFrames {
			t := protocol.Thrown{Name: s.FuncName(), File: name, Line: p.Line, Column: p.Column}
			out = append(out, clipFrame(t))
		}
	}
	return out
}

// clipFrame truncates the texts of a frame. It adds one to the column, since source maps count from 0.
func clipFrame(t protocol.Thrown) protocol.Thrown {
	t.Name, t.File, t.Column = protocol.Clip(cmp.Or(t.Name, "<anonymous>"), 100), protocol.Clip(t.File, 500), t.Column+1
	return t
}

// setPlaces sets a fault's stack, and its place to the innermost frame.
func setPlaces(f *protocol.Fault, places []protocol.Thrown) {
	for i, p := range places {
		if i == 0 {
			f.File, f.Line, f.Column = p.File, p.Line, p.Column
		}
		f.Stack = append(f.Stack, p.Name+" ("+p.Place()+")")
	}
}

// guarded calls f, which may run the script, and returns a panic as an error.
func (r *run) guarded(do func()) (err error) {
	defer func() {
		if x := recover(); x != nil {
			if e, ok := x.(error); ok {
				err = e
				return
			}
			err = errors.New("the engine failed")
		}
	}()
	if ex := r.rt.Try(do); ex != nil {
		return ex
	}
	return nil
}
