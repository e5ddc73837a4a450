package guest

import "strings"

// gitOption is one option of a git command.
type gitOption struct {
	short byte   // 0: none
	long  string // "": none
	value byte   // 0: a flag, '=': takes a value, '?': takes one only when joined
}

func (o gitOption) name() string {
	if o.long != "" {
		return o.long
	}
	return string(o.short)
}

// gitSyntax reads a table of options: words "m,message=", "quiet", "z", "S,gpg-sign?".
func gitSyntax(table string) []gitOption {
	words := strings.Fields(table)
	options := make([]gitOption, 0, len(words))
	for _, w := range words {
		var o gitOption
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

// gitOptions are the options and operands of one command, as parse-options.c of
// git understands them: operands and options mixed until "--", clusters of short
// options, unambiguous abbreviations of long ones, and "--no-" forms, the last one wins.
type gitOptions struct {
	state  map[string]bool   // by name: set or, by its negation, unset
	order  map[string]int    // when it was last mentioned
	values map[string]string // the last value
	args   []string          // operands
}

func (o gitOptions) has(name string) bool { return o.state[name] }

func (o gitOptions) any(names ...string) bool {
	for _, n := range names {
		if o.state[n] {
			return true
		}
	}
	return false
}

// last returns which of names was set last, or "": they exclude one another.
func (o gitOptions) last(names ...string) string {
	best, at := "", -1
	for _, n := range names {
		if i, ok := o.order[n]; ok && o.state[n] && i > at {
			best, at = n, i
		}
	}
	return best
}

// parseGitOptions parses args by table. An option that the table does not know
// is taken for a flag.
func parseGitOptions(table string, args []string) gitOptions {
	p := gitParser{syntax: gitSyntax(table), rest: args, out: gitOptions{
		state: map[string]bool{}, order: map[string]int{}, values: map[string]string{},
	}}
	for len(p.rest) > 0 {
		arg := p.next()
		switch {
		case arg == "--" || arg == "--end-of-options":
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

type gitParser struct {
	syntax []gitOption
	rest   []string
	seen   int
	out    gitOptions
}

// next takes one argument, or "" when there is none: git refuses that then.
func (p *gitParser) next() string {
	if len(p.rest) == 0 {
		return ""
	}
	arg := p.rest[0]
	p.rest = p.rest[1:]
	return arg
}

func (p *gitParser) mark(o gitOption, on bool, value string) {
	p.seen++
	p.out.state[o.name()] = on
	p.out.order[o.name()] = p.seen
	p.out.values[o.name()] = value
}

// cluster reads "anm" of "-anm": the first option with a value takes the rest of
// the word, or the next argument. Letters after an unknown one still count,
// because git refuses the whole line then.
func (p *gitParser) cluster(letters string) {
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

func (p *gitParser) short(letter byte) (gitOption, bool) {
	for _, o := range p.syntax {
		if o.short == letter {
			return o, true
		}
	}
	return gitOption{}, false
}

// gitMatch is an option meant by a long word, negated or not.
type gitMatch struct {
	option gitOption
	on     bool
}

// long reads "message=x" of "--message=x". An ambiguous abbreviation, which git
// refuses, counts as all that it could mean.
func (p *gitParser) long(word string) {
	name, value, joined := strings.Cut(word, "=")
	exact, prefixes := p.match(name)
	if exact != nil {
		prefixes = []gitMatch{*exact}
	}
	if len(prefixes) == 1 && prefixes[0].on && prefixes[0].option.value == '=' && !joined {
		value = p.next()
	}
	for _, m := range prefixes {
		p.mark(m.option, m.on, value)
	}
}

func (p *gitParser) match(name string) (*gitMatch, []gitMatch) {
	var prefixes []gitMatch
	for _, o := range p.syntax {
		if o.long == "" {
			continue
		}
		negation, isNegation := strings.CutPrefix(o.long, "no-")
		if !isNegation {
			negation = "no-" + o.long
		}
		for _, form := range []gitMatch{{o, true}, {o, false}} {
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
