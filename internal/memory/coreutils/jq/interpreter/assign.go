package interpreter

// paths collects the paths of a filter in in.
func (vm *machine) paths(f filter, e *env, in Value) ([][]Value, error) {
	var all [][]Value
	err := f.trace(e, nil, in, func(p *path, v Value) error {
		if err := p.checkEnd(v); err != nil {
			return err
		}
		keys := p.keys()
		all = append(all, keys)
		return vm.hold(2*24 + 16*len(keys))
	})
	return all, err
}

func (c *compiler) assign(s *scope, x assign) filter {
	l, r := c.expr(s, x.l), c.expr(s, x.r).run
	switch x.op {
	case "=":
		return c.values(func(e *env, in Value, out func(Value) error) error {
			return r(e, in, func(w Value) error {
				all, err := c.vm.paths(l, e, in)
				if err != nil {
					return err
				}
				v := in
				for _, keys := range all {
					if v, err = c.vm.setPath(v, keys, w); err != nil {
						return err
					}
				}
				return out(v)
			})
		})
	case "|=":
		return c.values(func(e *env, in Value, out func(Value) error) error {
			v, err := c.modify(l, e, in, func(v Value, use func(Value) error) error { return r(e, v, use) })
			if err != nil {
				return err
			}
			return out(v)
		})
	}
	op := operators[x.op[:len(x.op)-1]]
	if x.op == "//=" {
		op = func(_ *machine, a, b Value) (Value, error) {
			if isTrue(a) {
				return a, nil
			}
			return b, nil
		}
	}
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return r(e, in, func(w Value) error {
			v, err := c.modify(l, e, in, func(v Value, use func(Value) error) error {
				v, err := op(c.vm, v, w)
				if err != nil {
					return err
				}
				return use(v)
			})
			if err != nil {
				return err
			}
			return out(v)
		})
	})
}

// values makes a filter of new values.
func (c *compiler) values(r run) filter { return filter{r, traceNewValues(r)} }

// modify replaces each part by the first result of update; parts without one are deleted.
func (c *compiler) modify(l filter, e *env, in Value, update func(v Value, use func(Value) error) error) (Value, error) {
	all, err := c.vm.paths(l, e, in)
	if err != nil {
		return nil, err
	}
	v := in
	var gone []Value
	for _, keys := range all {
		old, err := getPath(v, keys)
		if err != nil {
			return nil, err
		}
		var fresh Value
		found := false
		err = update(old, func(w Value) error {
			fresh, found = w, true
			return errStop
		})
		if err != nil && err != errStop { //nolint:errorlint // It is itself or something else.
			return nil, err
		}
		if !found {
			gone = append(gone, &Array{v: keys})
			continue
		}
		if v, err = c.vm.setPath(v, keys, fresh); err != nil {
			return nil, err
		}
	}
	if len(gone) == 0 {
		return v, nil
	}
	return c.vm.deletePaths(v, gone)
}
