package configimport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// document is a policy with the source of each entry.
type document struct {
	sections []section
}

// section is an object or a value in the policy.
type section struct {
	key   string
	value json.RawMessage // the single value; nil: the section is an object
	from  []source
	parts []part
}

// part is a member of a section: a list, or a single value.
type part struct {
	key   string
	list  entries
	value json.RawMessage
	from  []source
}

func (d *draft) document() document {
	r := d.settle()
	var doc document
	doc.add(d.networkSection())
	var sockets entries
	for _, it := range d.sockets {
		sockets.add(it.value, it.from)
	}
	doc.add(section{key: "filesystem", parts: []part{
		{key: "presets", list: r.presets},
		{key: "ro", list: r.ro},
		{key: "rw", list: r.rw},
		{key: "exclude", list: r.exclude},
		{key: "sockets", list: sockets},
	}})
	doc.add(d.commandSection())
	secrets := section{key: "secrets"}
	for _, s := range d.secrets {
		secrets.parts = append(secrets.parts, part{key: s.name, value: encode(s.value), from: []source{s.from}})
	}
	doc.add(secrets)
	var env entries
	for _, it := range d.env {
		env.add(it.value, it.from)
	}
	doc.add(section{key: "env", parts: []part{{key: "deny", list: env}}})
	return doc
}

// add appends a section unless it is empty.
func (doc *document) add(s section) {
	s.parts = slices.DeleteFunc(s.parts, func(p part) bool { return p.value == nil && len(p.list) == 0 })
	if s.value != nil || len(s.parts) > 0 {
		doc.sections = append(doc.sections, s)
	}
}

func (d *draft) networkSection() section {
	var allow, deny entries
	for _, it := range d.allow {
		allow.add(it.value, it.from)
	}
	for _, it := range d.deny {
		deny.add(it.value, it.from)
	}
	switch {
	case len(allow)+len(deny) == 0 && d.upstream == nil && d.filtered != nil:
		return section{key: "network", value: quote("none"), from: []source{*d.filtered}}
	case d.filtered == nil && len(allow)+len(deny) == 0:
		return section{}
	}
	s := section{key: "network", parts: []part{{key: "allow", list: allow}, {key: "deny", list: deny}}}
	if d.any && len(allow) > 0 {
		s.parts = append(s.parts, part{key: "any", value: quoteBool(true), from: []source{{key: "for rules that match any host"}}})
	}
	if d.ca != nil && len(allow) > 0 {
		s.parts = append(s.parts, part{key: "ca", value: quote(d.ca.value), from: []source{d.ca.from}})
	}
	if d.upstream != nil {
		s.parts = append(s.parts, part{key: "upstream", value: quote(d.upstream.value), from: []source{d.upstream.from}})
	}
	return s
}

func (d *draft) commandSection() section {
	var names entries
	for _, it := range d.commands {
		names.add(it.value, it.from)
	}
	sort.Slice(names, func(i, j int) bool { return names[i].value < names[j].value })
	s := section{key: "commands"}
	for _, e := range names {
		s.parts = append(s.parts, part{key: e.value, value: quoteBool(false), from: e.from})
	}
	return s
}

// JSONC returns the policy as a configuration file, with a comment after each entry that
// names its source. Equal settings give equal bytes.
func (r *Result) JSONC() []byte {
	var b bytes.Buffer
	b.WriteString("// Made by 'agent-sandbox import --from " + string(r.Tool) + "' for " + jsonc.OneLine(r.Dir) + ".\n")
	b.WriteString("// Relative paths start at the working directory.\n{\n")
	for i, s := range r.doc.sections {
		comma := separator(i, len(r.doc.sections))
		if s.value != nil {
			line(&b, "  ", s.key, s.value, comma, s.from)
			continue
		}
		b.WriteString("  " + string(quote(s.key)) + ": {\n")
		for j, p := range s.parts {
			p.write(&b, separator(j, len(s.parts)))
		}
		b.WriteString("  }" + comma + "\n")
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func (p part) write(b *bytes.Buffer, comma string) {
	if p.value != nil {
		line(b, "    ", p.key, p.value, comma, p.from)
		return
	}
	b.WriteString("    " + string(quote(p.key)) + ": [\n")
	for i, e := range p.list {
		line(b, "      ", "", quote(e.value), separator(i, len(p.list)), e.from)
	}
	b.WriteString("    ]" + comma + "\n")
}

func line(b *bytes.Buffer, indent, key string, value json.RawMessage, comma string, from []source) {
	b.WriteString(indent)
	if key != "" {
		b.Write(quote(key))
		b.WriteString(": ")
	}
	b.Write(value)
	b.WriteString(comma)
	for i, s := range from {
		b.WriteString([]string{" // ", "; "}[min(i, 1)] + s.String())
	}
	b.WriteByte('\n')
}

func separator(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}

func quote(s string) json.RawMessage { return encode(s) }

// encode returns JSON with printable characters only, because terminals show the values.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings, and structs of them
	text := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

func quoteBool(v bool) json.RawMessage { return strconv.AppendBool(nil, v) }

// Origins returns where each entry of the policy comes from: "filesystem.ro[0]" →
// "FILE:LINE: KEY".
func (r *Result) Origins() map[string]string {
	out := map[string]string{}
	for _, s := range r.doc.sections {
		if s.value != nil {
			out[s.key] = join(s.from)
		}
		for _, p := range s.parts {
			if p.value != nil {
				out[s.key+"."+p.key] = join(p.from)
			}
			for i, e := range p.list {
				out[s.key+"."+p.key+"["+strconv.Itoa(i)+"]"] = join(e.from)
			}
		}
	}
	return out
}

func join(from []source) string {
	texts := make([]string, len(from))
	for i, s := range from {
		texts[i] = s.String()
	}
	return strings.Join(texts, "; ")
}
