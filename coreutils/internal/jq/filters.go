package jq

import (
	"errors"
	"math"
)

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

// quantifier is nativeFilter for what tells whether a condition holds.
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

func pathFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return a[0].trace(e, nil, in, func(p *path, v Value) error {
			if err := p.checkEnd(v); err != nil {
				return err
			}
			return out(&Array{v: p.keys()})
		})
	})
}

func selectFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				if !truth(v) {
					return vm.tick()
				}
				return out(in)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				if !truth(v) {
					return vm.tick()
				}
				return out(p, in)
			})
		},
	}
}

// eachIfAny is .[]?.
func (c *compiler) eachIfAny() filter {
	each := c.each()
	holds := func(v Value) bool {
		switch v.(type) {
		case *Array, *Object:
			return true
		}
		return false
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			if !holds(in) {
				return nil
			}
			return each.run(e, in, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			if !holds(in) {
				return p.checkEach(in)
			}
			return each.trace(e, p, in, out)
		},
	}
}

func recurseFilter(c *compiler, f filter) filter {
	vm := c.vm
	var r run
	var t trace
	r = func(e *env, in Value, out func(Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		if err := out(in); err != nil {
			return err
		}
		return f.run(e, in, func(v Value) error { return r(e, v, out) })
	}
	t = func(e *env, p *path, in Value, out func(*path, Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		if err := out(p, in); err != nil {
			return err
		}
		return f.trace(e, p, in, func(p *path, v Value) error { return t(e, p, v, out) })
	}
	return filter{r, t}
}

func rangeFilter(c *compiler, a []filter) filter {
	zero := func(_ *env, _ Value, out func(Value) error) error { return out(0.0) }
	one := func(_ *env, _ Value, out func(Value) error) error { return out(1.0) }
	from, upto, by := run(zero), a[0].run, run(one)
	if len(a) > 1 {
		from, upto = a[0].run, a[1].run
	}
	if len(a) > 2 {
		by = a[2].run
	}
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return from(e, in, func(f Value) error {
			return upto(e, in, func(u Value) error {
				return by(e, in, func(b Value) error {
					x, okX := number(f)
					y, okY := number(u)
					z, okZ := number(b)
					if !okX || !okY || !okZ {
						return errorf("Range bounds must be numeric")
					}
					if len(a) > 2 && z == 0 {
						// It would never get there.
						if x >= y {
							return nil
						}
						for {
							if err := vm.tick(); err != nil {
								return err
							}
							if err := out(x); err != nil {
								return err
							}
						}
					}
					return rangeOf(vm, x, y, z, out)
				})
			})
		})
	})
}

// stopped turns the own end of a generator into no error.
func stopped(err error, mark error) error {
	if err == mark { //nolint:errorlint // It is itself or something else.
		return nil
	}
	return err
}

// stopError is an end that no other generator takes for its own.
type stopError struct{ _ byte }

func (*stopError) Error() string { return "stop" }

func firstFilter(_ *compiler, a []filter) filter {
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			mark := &stopError{}
			return stopped(a[0].run(e, in, func(v Value) error {
				if err := out(v); err != nil {
					return err
				}
				return mark
			}), mark)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			mark := &stopError{}
			return stopped(a[0].trace(e, p, in, func(p *path, v Value) error {
				if err := out(p, v); err != nil {
					return err
				}
				return mark
			}), mark)
		},
	}
}

func lastFilter(_ *compiler, a []filter) filter {
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			var last Value
			found := false
			err := a[0].run(e, in, func(v Value) error {
				last, found = v, true
				return nil
			})
			if err != nil || !found {
				return err
			}
			return out(last)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			var at *path
			var last Value
			found := false
			err := a[0].trace(e, p, in, func(p *path, v Value) error {
				at, last, found = p, v, true
				return nil
			})
			if err != nil || !found {
				return err
			}
			return out(at, last)
		},
	}
}

// counted runs f for each value of n, with a function that tells how many more are wanted.
func limitFilter(_ *compiler, a []filter) filter {
	start := func(n Value) float64 {
		f, ok := number(n)
		if !ok {
			if Compare(n, 0.0) > 0 {
				return math.Inf(1)
			}
			return -1
		}
		return f
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return a[0].run(e, in, func(n Value) error {
				left := start(n)
				if left == 0 {
					return nil
				}
				if left < 0 {
					return a[1].run(e, in, out)
				}
				mark := &stopError{}
				return stopped(a[1].run(e, in, func(v Value) error {
					left--
					if err := out(v); err != nil {
						return err
					}
					if left <= 0 {
						return mark
					}
					return nil
				}), mark)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return a[0].run(e, in, func(n Value) error {
				left := start(n)
				if left == 0 {
					return nil
				}
				if left < 0 {
					return a[1].trace(e, p, in, out)
				}
				mark := &stopError{}
				return stopped(a[1].trace(e, p, in, func(p *path, v Value) error {
					left--
					if err := out(p, v); err != nil {
						return err
					}
					if left <= 0 {
						return mark
					}
					return nil
				}), mark)
			})
		},
	}
}

func skipFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return a[0].run(e, in, func(n Value) error {
			left, _ := number(n)
			return a[1].run(e, in, func(v Value) error {
				if left > 0 {
					left--
					return nil
				}
				return out(v)
			})
		})
	})
}

// results collects what a filter gives; it is for filters that are called again and again on their
// own results, which must not pile up on the stack.
func results(f run, e *env, in Value) ([]Value, error) {
	var all []Value
	err := f(e, in, func(v Value) error {
		all = append(all, v)
		return nil
	})
	return all, err
}

func untilFilter(c *compiler, a []filter) filter {
	vm := c.vm
	var r run
	r = func(e *env, in Value, out func(Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		for {
			if err := vm.tick(); err != nil {
				return err
			}
			conds, err := results(a[0].run, e, in)
			if err != nil {
				return err
			}
			var next []Value
			for i, cond := range conds {
				if truth(cond) {
					if err := out(in); err != nil {
						return err
					}
					continue
				}
				values, err := results(a[1].run, e, in)
				if err != nil {
					return err
				}
				if i == len(conds)-1 {
					next = values
					break
				}
				for _, v := range values {
					if err := r(e, v, out); err != nil {
						return err
					}
				}
			}
			if len(next) == 0 {
				return nil
			}
			for _, v := range next[:len(next)-1] {
				if err := r(e, v, out); err != nil {
					return err
				}
			}
			in = next[len(next)-1]
		}
	}
	return c.values(r)
}

func whileFilter(c *compiler, a []filter) filter {
	return chain(c, func(e *env, in Value) (bool, error) {
		conds, err := results(a[0].run, e, in)
		return err == nil && len(conds) > 0 && truth(conds[0]), err
	}, a[1])
}

func repeatFilter(c *compiler, a []filter) filter {
	return chain(c, func(*env, Value) (bool, error) { return true, nil }, a[0])
}

// chain gives its input, and then the same for each result of f, as long as goOn says so. The
// last result is not a call inside the call, so that a chain may be of any length.
func chain(c *compiler, goOn func(e *env, in Value) (bool, error), f filter) filter {
	vm := c.vm
	var r run
	r = func(e *env, in Value, out func(Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		for {
			ok, err := goOn(e, in)
			if err != nil || !ok {
				return err
			}
			if err := vm.tick(); err != nil {
				return err
			}
			if err := out(in); err != nil {
				return err
			}
			next, err := results(f.run, e, in)
			if len(next) == 0 || err != nil {
				for _, v := range next {
					if err := r(e, v, out); err != nil {
						return err
					}
				}
				return err
			}
			for _, v := range next[:len(next)-1] {
				if err := r(e, v, out); err != nil {
					return err
				}
			}
			in = next[len(next)-1]
		}
	}
	var t trace
	t = func(e *env, p *path, in Value, out func(*path, Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		ok, err := goOn(e, in)
		if err != nil || !ok {
			return err
		}
		if err := out(p, in); err != nil {
			return err
		}
		return f.trace(e, p, in, func(p *path, v Value) error { return t(e, p, v, out) })
	}
	return filter{r, t}
}

func isEmptyFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		mark := &stopError{}
		err := a[0].run(e, in, func(Value) error { return mark })
		if err == mark { //nolint:errorlint // It is itself or something else.
			return out(false)
		}
		if err != nil {
			return err
		}
		return out(true)
	})
}

// anyFilter tells whether a condition has the value want for one of the results of gen.
func anyFilter(c *compiler, gen, cond filter, want bool) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		mark := &stopError{}
		err := gen.run(e, in, func(v Value) error {
			return cond.run(e, v, func(w Value) error {
				if truth(w) == want {
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
			v = make([]Value, 0, len(in.v))
		}
		err := inner.run(e, in, func(w Value) error {
			if len(v) >= maxArray {
				return errTooBig
			}
			v = append(v, w)
			return nil
		})
		if err != nil {
			return nil, err
		}
		return &Array{v: v}, c.vm.hold(16 * len(v))
	})
}

func inputFilter(c *compiler, _ []filter) filter {
	return c.values(func(_ *env, _ Value, out func(Value) error) error {
		v, err := c.vm.nextInput()
		if err != nil {
			return err
		}
		return out(v)
	})
}

func inputsFilter(c *compiler, _ []filter) filter {
	return c.values(func(_ *env, _ Value, out func(Value) error) error {
		for {
			v, err := c.vm.nextInput()
			var e *Error
			if errors.As(err, &e) && e.Value == "No more inputs" {
				return nil
			}
			if err != nil {
				return err
			}
			if err := out(v); err != nil {
				return err
			}
		}
	})
}

func getpathFilter(_ *compiler, a []filter) filter {
	keysOf := func(v Value) ([]Value, error) {
		keys, ok := v.(*Array)
		if !ok {
			return nil, errorf("Path must be specified as an array")
		}
		return keys.v, nil
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				keys, err := keysOf(v)
				if err != nil {
					return err
				}
				w, err := getPath(in, keys)
				if err != nil {
					return err
				}
				return out(w)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				keys, err := keysOf(v)
				if err != nil {
					return err
				}
				if err := p.check(in, v); err != nil {
					return err
				}
				w, err := getPath(in, keys)
				if err != nil {
					return err
				}
				at := p
				for _, k := range keys {
					at = at.to(k)
				}
				return out(at, w)
			})
		},
	}
}
