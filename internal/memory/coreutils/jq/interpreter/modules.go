package interpreter

import (
	"io"
	"strings"
)

// linker brings modules together.
type linker struct {
	c      *compiler
	loaded map[string]*module
	depth  int
}

// imports makes what a module imports known in its scope.
func (l *linker) imports(s *scope, root *env, m *module, from string) (*scope, *env) {
	if l.depth++; l.depth > 100 {
		l.c.errs = append(l.c.errs, &SyntaxError{"error: modules import each other without end"})
		return s, root
	}
	defer func() { l.depth-- }()
	for _, imp := range m.imports {
		s, root = l.one(s, root, imp, from)
	}
	return s, root
}

func (l *linker) one(s *scope, root *env, imp importing, from string) (*scope, *env) {
	fail := func(msg string) (*scope, *env) {
		l.c.errs = append(l.c.errs, &SyntaxError{"error: " + msg}) // bounded: by the tokens of the program, which are charged
		return s, root
	}
	if l.c.vm.o.Module == nil {
		return fail("module not found: " + imp.path + "\n")
	}
	content, found, err := l.c.vm.o.Module(imp.path, from, searchPaths(imp.meta), imp.isData)
	if err != nil {
		return fail(err.Error())
	}
	if imp.isData {
		values := &Array{}
		d := NewDecoder(strings.NewReader(content))
		for {
			v, err := d.Next()
			if err == io.EOF { //nolint:errorlint // The decoder returns it as it is.
				break
			}
			if err != nil {
				return fail(err.Error())
			}
			if values.v, err = l.c.vm.collect(values.v, v, 0); err != nil {
				return fail(err.Error())
			}
		}
		s = s.with(scopeVar, imp.name+"::"+imp.name)
		root = &env{up: root, val: values}
		s = s.with(scopeVar, imp.name)
		return s, &env{up: root, val: values}
	}
	mod, err := parse(content, l.c.vm.takeToken)
	if err != nil {
		return fail(strings.TrimPrefix(err.Error(), "error: "))
	}
	if mod.body != nil {
		return fail("library should only have function definitions, not a main expression")
	}
	return l.define(s, root, mod, found, imp)
}

// define makes a module's functions known under its name.
func (l *linker) define(s *scope, root *env, mod *module, found string, imp importing) (*scope, *env) {
	src := l.c.src
	inner, root := l.imports(s, root, mod, found)
	// Data that the module imports stays in the environment; other modules do not see it.
	out := &scope{up: s, depth: inner.depthOf(), kind: scopeLabel}
	prefix := ""
	if imp.name != "" {
		prefix = imp.name + "::"
	}
	for _, f := range mod.defs {
		inner = l.c.define(inner, f)
		out = &scope{up: out, depth: out.depth, kind: scopeFunc, name: prefix + f.name, arity: len(f.params), fn: inner.fn}
	}
	l.c.src = src
	return out, root
}

// searchPaths reads "search" of an import's metadata.
func searchPaths(meta *Object) []string {
	if meta == nil {
		return nil
	}
	v, _ := meta.Get("search")
	switch v := v.(type) {
	case string:
		return []string{v}
	case *Array:
		var dirs []string
		for _, d := range v.v {
			if s, ok := d.(string); ok {
				dirs = append(dirs, s)
			}
		}
		return dirs
	}
	return nil
}

// moduleMeta is modulemeta: what a module says of itself, and what it needs.
func moduleMeta(vm *machine, in Value, _ []Value) (Value, error) {
	name, ok := in.(string)
	if !ok {
		return nil, errorf("modulemeta input module name must be a string")
	}
	if vm.o.Module == nil {
		return nil, errorf("module not found: %s\n", name)
	}
	content, _, err := vm.o.Module(name, "", nil, false)
	if err != nil {
		return nil, &Error{err.Error()}
	}
	m, err := parse(content, vm.takeToken)
	if err != nil {
		return nil, &Error{err.Error()}
	}
	out := NewObject()
	if meta, ok := m.meta.(*Object); ok {
		for i, k := range meta.keys {
			out.put(k, meta.vals[i])
		}
	}
	deps := &Array{}
	for _, imp := range m.imports {
		o := NewObject()
		if imp.meta != nil {
			for i, k := range imp.meta.keys {
				o.put(k, imp.meta.vals[i])
			}
		}
		if imp.name != "" {
			o.put("as", imp.name)
		}
		o.put("is_data", imp.isData)
		o.put("relpath", imp.path)
		deps.v = append(deps.v, o) // bounded: by the tokens of the module, which are charged
	}
	out.put("deps", deps)
	defs := &Array{}
	for _, f := range m.defs {
		defs.v = append(defs.v, arityName(f.name, len(f.params))) // bounded: by the tokens of the module, which are charged
	}
	out.put("defs", defs)
	return out, nil
}
