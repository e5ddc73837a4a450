package interpreter

// name reads the letter of a register.
func (d *Desk) name() (byte, bool) {
	c, ok := d.next()
	switch {
	case ok:
	case d.frames[len(d.frames)-1].in == nil:
		d.complain("unexpected EOS")
	default:
		d.complain("unexpected EOF")
		panic(&stop{errQuit})
	}
	return c, ok
}

func (d *Desk) registerOf(name byte) *deskRegister {
	r := d.registers[name]
	if r == nil {
		r = &deskRegister{}
		d.registers[name] = r
	}
	return r
}

// top returns the current level, made if need be.
func (r *deskRegister) top() *deskLevel {
	if len(r.levels) == 0 {
		r.levels = append(r.levels, deskLevel{})
	}
	return &r.levels[len(r.levels)-1]
}

func (d *Desk) register(c byte) {
	name, ok := d.name()
	if !ok {
		return
	}
	r := d.registerOf(name)
	switch c {
	case 's':
		if d.hasValues(1) {
			top := r.top()
			top.value, top.set = d.pop(), true
		}
	case 'S':
		if d.hasValues(1) {
			d.hold(64)
			r.levels = append(r.levels, deskLevel{value: d.pop(), set: true})
		}
	case 'l':
		if n := len(r.levels); n > 0 && r.levels[n-1].set {
			d.push(r.levels[n-1].value)
		} else {
			d.pushNumber(whole(0))
		}
	case 'L':
		n := len(r.levels)
		if n == 0 || !r.levels[n-1].set {
			d.complain("stack register '%c' (%#o) is empty", name, name)
			return
		}
		d.push(r.levels[n-1].value)
		r.levels = r.levels[:n-1]
	case ':':
		d.store(r)
	case ';':
		d.fetch(r)
	}
}

// store puts a value into an array.
func (d *Desk) store(r *deskRegister) {
	if !d.hasValues(2) {
		return
	}
	index, v := d.pop(), d.pop()
	i, ok := d.index(index)
	if !ok {
		return
	}
	top := r.top()
	if top.array == nil {
		top.array = map[int]deskValue{}
	}
	d.hold(128)
	top.array[i] = v
}

func (d *Desk) fetch(r *deskRegister) {
	if !d.hasValues(1) {
		return
	}
	i, ok := d.index(d.pop())
	if !ok {
		return
	}
	if n := len(r.levels); n > 0 {
		if v, ok := r.levels[n-1].array[i]; ok {
			d.push(v)
			return
		}
	}
	d.pushNumber(whole(0))
}

func (d *Desk) index(v deskValue) (int, bool) {
	if !v.isStr {
		if i, ok := toBoundedInt(v.num, 1<<31-1); ok && v.num.v.Sign() >= 0 {
			return i, true
		}
	}
	d.complain("array index must be a nonnegative integer")
	return 0, false
}

// flow runs strings and leaves them.
func (d *Desk) flow(c byte) {
	switch c {
	case 'x':
		if d.hasValues(1) {
			d.execute(d.pop())
		}
	case '?':
		_ = d.h.Out.Flush()
		if line, ok := d.Line(); ok {
			d.call(line)
		}
	case 'q':
		if len(d.frames) == 1 || !d.leave(2) {
			panic(&stop{errQuit})
		}
	case 'Q':
		d.quitLevels()
	case '!':
		d.exclamation()
	default:
		if name, ok := d.name(); ok {
			d.compare(c, name, true)
		}
	}
}

func (d *Desk) execute(v deskValue) {
	if !v.isStr {
		d.push(v)
		return
	}
	d.call(v.text)
}

func (d *Desk) quitLevels() {
	if !d.hasValues(1) {
		return
	}
	v := d.pop()
	n, ok := 0, false
	if !v.isStr {
		n, ok = toBoundedInt(v.num, 1<<31-1)
		if !ok && v.num.v.Sign() > 0 {
			n, ok = 1<<31-1, true
		}
	}
	if !ok || n < 1 {
		d.complain("Q command requires a number >= 1")
		return
	}
	if n == 1 && len(d.frames) > 1 {
		return // GNU's leaves nothing then.
	}
	if !d.leave(n) {
		d.complain("Q command argument exceeded string execution depth")
	}
}

// exclamation negates a comparison, or begins a command of the system.
func (d *Desk) exclamation() {
	c, ok := d.next()
	if ok && (c == '<' || c == '>' || c == '=') {
		if name, ok := d.name(); ok {
			d.compare(c, name, false)
		}
		return
	}
	command := ""
	if ok && c != '\n' {
		command = string([]byte{c}) + d.restOfLine()
	}
	_ = d.h.Out.Flush()
	d.spend(16)
	d.System(command)
	d.spend(1)
}

// compare runs a register when the comparison comes out as wanted.
func (d *Desk) compare(c, name byte, want bool) {
	if !d.hasNumbers(2) {
		return
	}
	top, below := d.pop().num, d.pop().num
	d.work(top.size() + below.size())
	order := top.cmp(below)
	if (order < 0 && c == '<' || order > 0 && c == '>' || order == 0 && c == '=') != want {
		return
	}
	if r := d.registerOf(name); len(r.levels) > 0 && r.levels[len(r.levels)-1].set {
		d.execute(r.levels[len(r.levels)-1].value)
	}
}
