package interpreter

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/dop251/goja"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// load runs the script's top-level statements, which declare its hooks.
func (r *run) load(prg *goja.Program) error {
	if _, err := r.rt.RunProgram(prg); err != nil {
		return err
	}
	return r.rt.GlobalObject().Delete(found)
}

// call calls one hook and waits for a promise that it returns.
func (r *run) call(o protocol.RunOrder) (json.RawMessage, error) {
	f, ok := goja.AssertFunction(r.hooks.Get(o.Function))
	if !ok {
		return nil, &protocol.Fault{Kind: protocol.InvalidValue, Text: "unknown function " + o.Function}
	}
	v, err := f(goja.Undefined(), r.first, r.value(o.Argument), r.value(o.Options))
	if err != nil {
		return nil, err
	}
	if v, err = r.settled(v); err != nil {
		return nil, err
	}
	text, err := r.stringify(goja.Undefined(), v)
	switch {
	case err != nil && r.isUncatchable(err):
		return nil, err
	case err != nil:
		f := &protocol.Fault{Kind: protocol.InvalidValue}
		if e := (*protocol.Fault)(nil); errors.As(r.fault(err), &e) {
			f.Thrown, f.Text = e.Thrown, o.Function+" returned a value that is not JSON: "+e.Message
		}
		return nil, f
	case goja.IsUndefined(text) || v == nil:
		return json.RawMessage("null"), nil
	}
	s := text.String()
	if len(s) > protocol.MaxValue {
		return nil, &protocol.Fault{Kind: protocol.InvalidValue, Text: o.Function + " returned too much"}
	}
	if !json.Valid([]byte(s)) {
		return nil, &protocol.Fault{Kind: protocol.InvalidValue, Text: o.Function + " returned a value that nests too deeply"}
	}
	return json.RawMessage(s), nil
}

// settled returns the result of a promise, or any other value unchanged. A pending promise can never settle, since a script
// has no asynchronous input.
func (r *run) settled(v goja.Value) (goja.Value, error) {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() != reflect.TypeFor[*goja.Promise]() {
		return v, nil
	}
	p, ok := o.Export().(*goja.Promise)
	if !ok {
		return v, nil
	}
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return p.Result(), nil
	case goja.PromiseStateRejected:
		return nil, r.thrown(p.Result(), nil)
	default:
		return nil, &protocol.Fault{Kind: protocol.PendingPromise}
	}
}

// isUncatchable reports whether the script cannot catch the error.
func (r *run) isUncatchable(err error) bool {
	in, deep := (*goja.InterruptedError)(nil), (*goja.StackOverflowError)(nil)
	return errors.As(err, &in) || errors.As(err, &deep)
}
