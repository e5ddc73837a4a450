package interpreter

// filterMaker makes a filter of its arguments.
type filterMaker func(c *compiler, a []filter) filter

// nativeFilter returns a function that takes filters, or has more or fewer results than
// one, by name and number of arguments; nil for none of that name.
func nativeFilter(name string) filterMaker {
	switch name {
	case "empty/0":
		return func(c *compiler, _ []filter) filter { return c.nothing() }
	case "error/0":
		return func(c *compiler, _ []filter) filter {
			return c.values(func(_ *env, in Value, _ func(Value) error) error { return &Error{in} })
		}
	case "error/1":
		return errorFilter
	case "path/1":
		return pathFilter
	case "select/1":
		return selectFilter
	case "recurse/0":
		return func(c *compiler, _ []filter) filter { return recurseFilter(c, c.eachIfAny()) }
	case "recurse/1":
		return func(c *compiler, a []filter) filter { return recurseFilter(c, a[0]) }
	case "range/1", "range/2", "range/3":
		return rangeFilter
	case "first/1":
		return firstFilter
	case "last/1":
		return lastFilter
	case "limit/2":
		return limitFilter
	case "skip/2":
		return skipFilter
	case "until/2":
		return untilFilter
	case "while/2":
		return whileFilter
	case "repeat/1":
		return repeatFilter
	case "isempty/1":
		return isEmptyFilter
	case "add/1":
		return func(c *compiler, a []filter) filter { return addFilter(c, a[0]) }
	case "add/0":
		return func(c *compiler, _ []filter) filter { return addFilter(c, c.each()) }
	case "map/1":
		return mapFilter
	case "input/0":
		return inputFilter
	case "inputs/0":
		return inputsFilter
	case "getpath/1":
		return getpathFilter
	case "sort_by/1":
		return byFilter(sortBy)
	case "group_by/1":
		return byFilter(groupBy)
	case "unique_by/1":
		return byFilter(uniqueBy)
	case "min_by/1":
		return byFilter(minBy)
	case "max_by/1":
		return byFilter(maxBy)
	case "capture/1", "capture/2":
		return captureFilter
	case "scan/1", "scan/2":
		return scanFilter
	case "test/1", "test/2":
		return testFilter
	case "match/1", "match/2":
		return matchFilter
	case "split/2":
		return splitFilter
	case "splits/1", "splits/2":
		return splitsFilter
	case "sub/2", "sub/3":
		return subFilter("")
	case "gsub/2", "gsub/3":
		return subFilter("g")
	}
	return quantifier(name)
}

// quantifier is nativeFilter for the functions that test a condition.
func quantifier(name string) filterMaker {
	switch name {
	case "any/2":
		return func(c *compiler, a []filter) filter { return anyFilter(c, a[0], a[1], true) }
	case "all/2":
		return func(c *compiler, a []filter) filter { return anyFilter(c, a[0], a[1], false) }
	case "any/1":
		return func(c *compiler, a []filter) filter { return anyFilter(c, c.each(), a[0], true) }
	case "all/1":
		return func(c *compiler, a []filter) filter { return anyFilter(c, c.each(), a[0], false) }
	case "any/0":
		return func(c *compiler, _ []filter) filter { return anyFilter(c, c.each(), c.expr(nil, identity{}), true) }
	case "all/0":
		return func(c *compiler, _ []filter) filter { return anyFilter(c, c.each(), c.expr(nil, identity{}), false) }
	}
	return nil
}

func errorFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, _ func(Value) error) error {
		return a[0].run(e, in, func(v Value) error { return &Error{v} })
	})
}

func selectFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				if !isTrue(v) {
					return vm.tick()
				}
				return out(in)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				if !isTrue(v) {
					return vm.tick()
				}
				return out(p, in)
			})
		},
	}
}

func (*stopError) Error() string { return "stop" }

// anyFilter reports whether a condition has the value want for one of the results of gen.
func anyFilter(c *compiler, gen, cond filter, want bool) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		mark := &stopError{}
		err := gen.run(e, in, func(v Value) error {
			return cond.run(e, v, func(w Value) error {
				if isTrue(w) == want {
					return mark
				}
				return nil
			})
		})
		if err == mark { //nolint:errorlint // It is itself or something else.
			return out(want)
		}
		if err != nil {
			return err
		}
		return out(!want)
	})
}

func addFilter(c *compiler, f filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		var sum Value
		var text []byte
		strings := false
		flush := func() {
			if strings {
				sum, strings, text = string(text), false, nil
			}
		}
		err := f.run(e, in, func(v Value) error {
			// Strings are put together at the end: adding one by one would be quadratic.
			if s, ok := v.(string); ok {
				if first, isText := sum.(string); sum == nil || isText || strings {
					if !strings {
						text, strings = []byte(first), true
					}
					text = append(text, s...)
					if len(text) > maxString {
						return errTooBig
					}
					return vm.hold(len(s))
				}
			}
			flush()
			var err error
			sum, err = add(vm, sum, v)
			return err
		})
		if err != nil {
			return err
		}
		flush()
		return out(sum)
	})
}

func mapFilter(c *compiler, a []filter) filter {
	inner := c.pipe(c.each(), a[0])
	return c.simple(func(e *env, in Value) (Value, error) {
		var v []Value
		if in, ok := in.(*Array); ok {
			if err := c.vm.hold(16 * len(in.v)); err != nil {
				return nil, err
			}
			v = make([]Value, 0, len(in.v))
		}
		err := inner.run(e, in, func(w Value) error {
			var err error
			v, err = c.vm.collect(v, w, 0)
			return err
		})
		if err != nil {
			return nil, err
		}
		return &Array{v: v}, nil
	})
}
