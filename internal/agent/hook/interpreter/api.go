package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// native is a Go function with the signature that the engine requires.
type native = func(goja.FunctionCall) goja.Value

// install defines the globals of a new runtime. A nil setting means that no request exists and only the log is defined.
func (r *run) install(ctx context.Context, h protocol.Host, s *protocol.Setting) {
	// Save the built-ins before the script can replace them.
	jsonObject := r.rt.Get("JSON").ToObject(r.rt)
	r.parse, _ = goja.AssertFunction(jsonObject.Get("parse"))
	r.stringify, _ = goja.AssertFunction(jsonObject.Get("stringify"))
	r.newError = r.rt.Get("Error").ToObject(r.rt)
	r.hooks = r.rt.NewObject()
	r.set(r.rt.GlobalObject(), found, r.hooks)

	log, console := r.rt.NewObject(), r.rt.NewObject()
	for _, l := range []struct {
		name  string
		level protocol.Level
	}{{"Trace", protocol.Trace}, {"Debug", protocol.Debug}, {"Info", protocol.Info}, {"Warn", protocol.Warn}, {"Error", protocol.Error}} {
		f := r.rt.ToValue(r.logger(ctx, h, l.level, false))
		r.set(log, l.name, f)
		r.set(console, strings.ToLower(l.name), f)
		if l.level == protocol.Info {
			r.set(console, "log", f)
		}
	}
	r.set(r.rt.GlobalObject(), "log", log)
	r.set(r.rt.GlobalObject(), "console", console)
	if s != nil {
		r.first = r.context(ctx, h, *s)
	}
}

func (r *run) set(o *goja.Object, name string, v any) {
	if err := o.Set(name, v); err != nil {
		panic(err)
	}
}

// context builds the first argument of a hook.
func (r *run) context(ctx context.Context, h protocol.Host, s protocol.Setting) *goja.Object {
	c := r.value(s.Context).ToObject(r.rt)
	for _, op := range []protocol.Op{protocol.Send, protocol.Start, protocol.Replace, protocol.Append, protocol.End} {
		r.set(c, protocol.MessageFunctions[op], r.messenger(ctx, h, op))
	}
	trace := r.rt.NewObject()
	for name, level := range map[string]protocol.Level{"Debug": protocol.Debug, "Info": protocol.Info, "Warn": protocol.Warn, "Error": protocol.Error} {
		r.set(trace, name, r.logger(ctx, h, level, true))
	}
	r.set(c, "trace", trace)
	memory := r.rt.NewObject()
	for _, space := range []string{"context", "chat", "user", "team"} {
		r.set(memory, space, r.memory(ctx, h, space))
	}
	r.set(c, "memory", memory)
	if !s.Sandbox {
		r.set(c, "sandbox", goja.Null())
		return c
	}
	box := r.rt.NewObject()
	r.set(box, "workdir", s.Workdir)
	for name, kinds := range map[string][]reflect.Kind{
		"ReadFile": {reflect.String}, "WriteFile": {reflect.String, reflect.String}, "ListDir": {reflect.String}, "Exec": {reflect.Slice},
	} {
		r.set(box, name, func(call goja.FunctionCall) goja.Value {
			return r.ask(ctx, h, "sandbox", protocol.SandboxArgs{Function: name, Args: r.arguments("ctx.sandbox."+name, kinds, call)})
		})
	}
	r.set(c, "sandbox", box)
	return c
}

// arguments encodes a call's arguments of these kinds as JSON.
func (r *run) arguments(function string, kinds []reflect.Kind, call goja.FunctionCall) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(kinds))
	for i, kind := range kinds {
		v := call.Argument(i)
		switch kind {
		case reflect.String:
			if !isString(v) {
				r.throwType("%s: argument %d: expected a string", function, i+1)
			}
		default:
			if o, ok := v.(*goja.Object); !ok || o.ClassName() != "Array" {
				r.throwType("%s: argument %d: expected an array of strings, such as [\"git\", \"status\"]", function, i+1)
			}
		}
		out = append(out, r.json(v))
	}
	return out
}

// messenger builds one of ctx.Send, SendStream, Replace, Append and End.
func (r *run) messenger(ctx context.Context, h protocol.Host, op protocol.Op) native {
	function := "ctx." + protocol.MessageFunctions[op]
	return func(call goja.FunctionCall) goja.Value {
		args, message := protocol.MessageArgs{Op: op}, call.Argument(0)
		if op != protocol.Send && op != protocol.Start {
			if !isString(message) {
				r.throwType("%s: argument 1: expected a message's id", function)
			}
			args.ID, message = message.String(), call.Argument(1)
		}
		if !goja.IsUndefined(message) {
			args.Message = r.json(message)
		}
		return r.ask(ctx, h, "message", args)
	}
}

// memory builds one of the objects of ctx.memory.
func (r *run) memory(ctx context.Context, h protocol.Host, space string) *goja.Object {
	o := r.rt.NewObject()
	ask := func(function string, call goja.FunctionCall, value json.RawMessage) goja.Value {
		args := protocol.MemoryArgs{Space: space, Function: function, Value: value}
		if function != "Keys" {
			key := call.Argument(0)
			if !isString(key) {
				r.throwType("ctx.memory.%s.%s: argument 1: expected a string", space, function)
			}
			args.Key = key.String()
		}
		return r.ask(ctx, h, "memory", args)
	}
	for _, name := range []string{"Get", "Has", "Del", "Keys"} {
		r.set(o, name, func(call goja.FunctionCall) goja.Value { return ask(name, call, nil) })
	}
	r.set(o, "Set", func(call goja.FunctionCall) goja.Value { return ask("Set", call, r.json(call.Argument(1))) })
	r.set(o, "GetSet", func(call goja.FunctionCall) goja.Value {
		if ask("Has", call, nil).ToBoolean() {
			return ask("Get", call, nil)
		}
		value := call.Argument(1)
		if make, ok := goja.AssertFunction(value); ok {
			made, err := make(goja.Undefined(), call.Argument(0))
			if err != nil {
				panic(err)
			}
			value = made
		}
		// Another request may have set the key meanwhile: its value stays.
		return ask("GetSet", call, r.json(value))
	})
	return o
}

// logger builds one of the functions of log, or of ctx.trace.
func (r *run) logger(ctx context.Context, h protocol.Host, level protocol.Level, isTrace bool) native {
	return func(call goja.FunctionCall) goja.Value {
		var b strings.Builder
		for i, v := range call.Arguments {
			if i > 0 {
				b.WriteByte(' ')
			}
			if b.Len() > protocol.MaxLog {
				break
			}
			b.WriteString(r.words(v))
		}
		return r.ask(ctx, h, "log", protocol.LogArgs{Level: level, Trace: isTrace, Text: protocol.Clip(b.String(), protocol.MaxLog)})
	}
}

// words formats a value for a log line.
func (r *run) words(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		if s, symbol := v.(*goja.Symbol); symbol {
			return "Symbol(" + s.String() + ")"
		}
		return v.String()
	}
	if o.ClassName() == "Error" {
		return o.String()
	}
	if text, err := r.stringify(goja.Undefined(), v); err == nil && !goja.IsUndefined(text) {
		return text.String()
	} else if err != nil && r.isUncatchable(err) {
		panic(err)
	}
	return o.ClassName()
}

// ask calls the host and pauses the script's clock meanwhile. It throws an Error when the host refuses.
func (r *run) ask(ctx context.Context, h protocol.Host, op string, args any) goja.Value {
	raw, err := json.Marshal(args)
	if err == nil {
		r.clock.Pause()
		raw, err = h.Call(ctx, op, raw)
		r.clock.Resume()
	}
	if err == nil {
		return r.value(raw)
	}
	if no := (*protocol.Refusal)(nil); errors.As(err, &no) {
		r.throw(no)
	}
	r.throw(protocol.Refuse("%v", err))
	return nil
}

// throw throws a JavaScript Error that exposes no Go value.
func (r *run) throw(no *protocol.Refusal) {
	e, err := r.rt.New(r.newError, r.rt.ToValue(no.Message))
	if err != nil {
		panic(err)
	}
	for name, v := range no.Props {
		r.set(e, name, v)
	}
	panic(e)
}

func (r *run) throwType(format string, args ...any) {
	panic(r.rt.NewTypeError(append([]any{format}, args...)...))
}

// value decodes JSON; empty input is undefined.
func (r *run) value(raw json.RawMessage) goja.Value {
	if len(raw) == 0 {
		return goja.Undefined()
	}
	v, err := r.parse(goja.Undefined(), r.rt.ToValue(string(raw)))
	if err != nil {
		panic(err)
	}
	return v
}

// json encodes a value as JSON, or null if it has no JSON form. It throws any error.
func (r *run) json(v goja.Value) json.RawMessage {
	text, err := r.stringify(goja.Undefined(), v)
	if err != nil {
		panic(err)
	}
	if goja.IsUndefined(text) {
		return json.RawMessage("null")
	}
	s := text.String()
	if len(s) > protocol.MaxValue {
		r.throw(protocol.Refuse("a value of %d bytes as JSON; at most %d", len(s), protocol.MaxValue))
	}
	if !json.Valid([]byte(s)) {
		r.throw(protocol.Refuse("a value that nests too deeply"))
	}
	return json.RawMessage(s)
}

func isString(v goja.Value) bool {
	_, ok := v.(goja.String)
	return ok
}
