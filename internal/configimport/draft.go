package configimport

import (
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// draft holds a tool's settings in the syntax of a policy, but with the tool's meaning. The
// readers fill it; settle converts the meaning.
type draft struct {
	tool  Tool
	host  Host
	err   error
	items int
	lacks []Lack

	denyRead, allowRead   []access
	denyWrite, allowWrite []access
	closed                *source // set: only the paths of allowWrite are writable
	sockets               []item

	filtered     *source // set: connections are filtered
	allow, deny  []item  // rules of package egress
	any          bool
	upstream, ca *item
	commands     []item // names of refused commands
	env          []item // variables that commands do not get
	secrets      []secret
}

// access is one path or glob of a list.
type access struct {
	pattern

	from    source
	written string
	weak    bool // every rule that denies reading wins over it, even a more general one
	soft    bool // it denies reading, but does not win over more specific weak rules
}

// secret is a credential that the sandbox must not see.
type secret struct {
	name  string
	value sandbox.Secret
	from  source
}

func (d *draft) say(l Lack) { d.lacks = append(d.lacks, l) }

// count bounds the number of entries, because they are compared with each other.
func (d *draft) count(at source, n int) {
	if d.items += n; d.items > maxItems {
		d.fail(at, "found more than %d entries in all lists, expected fewer", maxItems)
	}
}

// add translates a path and adds it to a list. It reports a path that cannot be translated as a
// lack of that kind.
func (d *draft) add(list *[]access, it item, s syntax, weak bool, kind Kind) {
	d.addPath(list, it.value, it, s, weak, kind)
}

// addPath adds a path that is only a part of the value, as add does for a whole value.
func (d *draft) addPath(list *[]access, path string, it item, s syntax, weak bool, kind Kind) {
	patterns, why := d.patterns(path, s)
	if why != "" {
		d.say(it.lack(kind, why, "filesystem."+nearestList(kind)))
		return
	}
	for _, p := range patterns {
		*list = append(*list, access{pattern: p, from: it.from, written: it.value, weak: weak})
	}
}

func nearestList(kind Kind) string {
	if kind == Restriction {
		return "exclude or filesystem.ro"
	}
	return "rw or filesystem.ro"
}

func (a access) lack(kind Kind, why, nearest string) Lack {
	return item{value: a.written, from: a.from}.lack(kind, why, nearest)
}
