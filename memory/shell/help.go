package shell

import (
	"slices"
	"strings"
)

// topic is what help knows of a builtin or program.
type topic struct {
	name, usage, about, body string
}

// help describes builtins and the programs of the machine.
func (sh *interp) help(args []string) int {
	list, rest, st := sh.flags2(args, "dms")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 {
		return sh.outString(sh.helpList())
	}
	style := byte(0)
	for _, f := range list {
		style = f.c
	}
	topics := sh.topics()
	var b strings.Builder
	found := false
	for _, name := range rest {
		wild := strings.ContainsAny(name, "*?[")
		if wild {
			b.WriteString("Shell commands matching keyword `" + name + "'\n\n")
		}
		for _, t := range topics {
			if t.name == name || wild && sh.patternOf(name, 0).Match(work{sh}, t.name) {
				b.WriteString(t.text(style))
				found = true
			}
		}
	}
	if !found {
		return sh.fail("no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", rest[0], rest[0], rest[0])
	}
	return sh.outString(b.String())
}

// helpList is what help says without a name.
func (sh *interp) helpList() string {
	var b strings.Builder
	b.WriteString("Commands of the shell itself; `help NAME' describes one of them.\n\n")
	for _, t := range sh.builtinTopics() {
		b.WriteString(" " + t.usage + "\n")
	}
	b.WriteString("\nThese programs are there as well; `NAME --help' describes them.\n\n")
	for _, c := range sh.m.list() {
		usage, _, _ := strings.Cut(c.Usage, "\n")
		b.WriteString(" " + strings.TrimRight(c.Name+" "+usage, " ") + "\n")
		if c.Summary != "" {
			b.WriteString("\t" + c.Summary + "\n")
		}
		if len(c.Aliases) > 0 {
			b.WriteString("\talso called " + strings.Join(c.Aliases, ", ") + "\n")
		}
	}
	return b.String()
}

// builtinTopics describes the builtins, or what stands in their place.
func (sh *interp) builtinTopics() []topic {
	var list []topic
	for _, b := range builtinTable() {
		t := topic{name: b.name, usage: strings.TrimSpace(b.usage), about: b.about}
		if c := sh.m.replacement(b.name); c != nil && c.hasHelp() {
			t = c.topic(b.name)
		}
		list = append(list, t)
	}
	return list
}

// topics are those of builtins, then those of programs that are no builtins too.
func (sh *interp) topics() []topic {
	list := sh.builtinTopics()
	var more []topic
	for name, c := range sh.m.programs.Load().byName {
		if sh.m.lib.builtins[name] == nil {
			more = append(more, c.topic(name))
		}
	}
	slices.SortFunc(more, func(a, b topic) int { return strings.Compare(a.name, b.name) })
	return append(list, more...)
}

func (c *Command) topic(name string) topic {
	usage := strings.ReplaceAll(c.Usage, "\n", "\n"+name+": "+name+" ")
	return topic{name: name, usage: strings.TrimRight(name+" "+usage, " "), about: c.Summary, body: c.Help}
}

// text is the topic as -d, -s and -m want it; 0 is without any of them.
func (t topic) text(style byte) string {
	switch style {
	case 'd':
		return t.name + " - " + t.about + "\n"
	case 's':
		return t.name + ": " + t.usage + "\n"
	}
	var b strings.Builder
	b.WriteString(t.name + ": " + t.usage + "\n")
	if t.about != "" {
		b.WriteString("    " + t.about + "\n")
	}
	if t.body != "" {
		for line := range strings.Lines("\n" + strings.TrimRight(t.body, "\n") + "\n") {
			if line != "\n" {
				line = "    " + line
			}
			b.WriteString(line)
		}
	}
	return b.String()
}
