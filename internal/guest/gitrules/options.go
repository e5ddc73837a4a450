package gitrules

import "strings"

// option is one option of a git command.
type option struct {
	short byte   // 0: none
	long  string // "": none
	value byte   // 0: a flag, '=': takes a value, '?': takes only a joined value
}

func (o option) name() string {
	if o.long != "" {
		return o.long
	}
	return string(o.short)
}

// parseTable reads a table of options: words "m,message=", "quiet", "z", "S,gpg-sign?".
func parseTable(table string) []option {
	words := strings.Fields(table)
	options := make([]option, 0, len(words))
	for _, w := range words {
		var o option
		if last := w[len(w)-1]; last == '=' || last == '?' {
			o.value, w = last, w[:len(w)-1]
		}
		if len(w) == 1 || w[1] == ',' {
			o.short, w = w[0], strings.TrimPrefix(w[1:], ",")
		}
		o.long = w
		options = append(options, o)
	}
	return options
}

// options are the options and operands of one command, as parse-options.c of
// git understands them: operands and options mixed until "--", clusters of short
// options, unambiguous abbreviations of long ones, and "--no-" forms, the last one wins.
type options struct {
	state  map[string]bool   // by name: set or, by its negation, unset
	order  map[string]int    // the position of its last use
	values map[string]string // the last value
	args   []string          // operands
	dashed bool              // "--" separates operands
	before int               // the number of operands before it
}

func (o options) has(name string) bool { return o.state[name] }

func (o options) any(names ...string) bool {
	for _, n := range names {
		if o.state[n] {
			return true
		}
	}
	return false
}

// last returns the one of names that was set last, or "". The options exclude one
// another.
func (o options) last(names ...string) string {
	best, at := "", -1
	for _, n := range names {
		if i, ok := o.order[n]; ok && o.state[n] && i > at {
			best, at = n, i
		}
	}
	return best
}

// parseOptions parses args by table. It treats unknown options as flags.
func parseOptions(table string, args []string) options {
	p := optionParser{syntax: parseTable(table), rest: args, out: options{
		state: map[string]bool{}, order: map[string]int{}, values: map[string]string{},
	}}
	for len(p.rest) > 0 {
		arg := p.next()
		switch {
		case arg == "--" || arg == "--end-of-options":
			p.out.dashed, p.out.before = arg == "--", len(p.out.args)
			p.out.args = append(p.out.args, p.rest...)
			return p.out
		case strings.HasPrefix(arg, "--"):
			p.long(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			p.cluster(arg[1:])
		default:
			p.out.args = append(p.out.args, arg)
		}
	}
	return p.out
}

type optionParser struct {
	syntax []option
	rest   []string
	seen   int
	out    options
}

// next takes one argument, or "" if there is none: git refuses the command line then.
func (p *optionParser) next() string {
	if len(p.rest) == 0 {
		return ""
	}
	arg := p.rest[0]
	p.rest = p.rest[1:]
	return arg
}

func (p *optionParser) mark(o option, on bool, value string) {
	p.seen++
	p.out.state[o.name()] = on
	p.out.order[o.name()] = p.seen
	p.out.values[o.name()] = value
}

// cluster reads "anm" of "-anm": the first option with a value takes the rest of
// the word, or the next argument. Letters after an unknown one still count,
// because git refuses the whole line then.
func (p *optionParser) cluster(letters string) {
	for i := range len(letters) {
		o, ok := p.short(letters[i])
		if !ok {
			continue
		}
		rest := letters[i+1:]
		if o.value == '=' && rest == "" {
			rest = p.next()
		}
		p.mark(o, true, rest)
		if o.value != 0 {
			return
		}
	}
}

func (p *optionParser) short(letter byte) (option, bool) {
	for _, o := range p.syntax {
		if o.short == letter {
			return o, true
		}
	}
	return option{}, false
}

// optionMatch is an option to which a long word refers, negated or not.
type optionMatch struct {
	option option
	on     bool
}

// long reads "message=x" of "--message=x". An ambiguous abbreviation, which git refuses,
// counts as every option that it could mean.
func (p *optionParser) long(word string) {
	name, value, joined := strings.Cut(word, "=")
	exact, prefixes := p.match(name)
	if exact != nil {
		prefixes = []optionMatch{*exact}
	}
	if len(prefixes) == 1 && prefixes[0].on && prefixes[0].option.value == '=' && !joined {
		value = p.next()
	}
	for _, m := range prefixes {
		p.mark(m.option, m.on, value)
	}
}

func (p *optionParser) match(name string) (*optionMatch, []optionMatch) {
	var prefixes []optionMatch
	for _, o := range p.syntax {
		if o.long == "" {
			continue
		}
		negation, isNegation := strings.CutPrefix(o.long, "no-")
		if !isNegation {
			negation = "no-" + o.long
		}
		for _, form := range []optionMatch{{o, true}, {o, false}} {
			text := o.long
			if !form.on {
				text = negation
			}
			if text == name {
				return &form, nil
			}
			if strings.HasPrefix(text, name) {
				prefixes = append(prefixes, form)
			}
		}
	}
	return nil, prefixes
}
