package configimport

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// credentials reads the files and variables that the sandbox must not see. The gateway
// sends a masked credential without domains to the domains of reachable; if that is nil,
// it masks none.
func (d *draft) credentials(o *object, s syntax, reachable []item) {
	if o == nil {
		return
	}
	for _, file := range o.objects("files") {
		path, mode := file.text("path"), file.text("mode")
		switch {
		case path == nil:
			file.fail(file.value, file.path, "an object with a path")
			return
		case mode.is("mask"):
			d.maskFile(file, *path, reachable)
		default:
			d.add(&d.denyRead, *path, s, false, Restriction)
		}
		maskOptions(file)
	}
	for _, v := range o.objects("envVars") {
		name, mode := v.text("name"), v.text("mode")
		switch {
		case name == nil || !isVariableName(name.value):
			v.fail(v.value, v.path, "an object with the name of a variable")
			return
		case mode.is("mask"):
			d.maskVariable(v, *name, reachable)
		default:
			d.env = append(d.env, *name)
		}
		maskOptions(v)
	}
	o.note(Grant, "secrets go to hosts over TLS only", `secrets with "hosts": ["http://..."]`, "allowPlaintextInject")
	o.note(Stricter, "requests are not signed again: what was signed with a placeholder is refused by the server", "", "awsPairs", "sigv4")
}

func maskOptions(o *object) {
	o.note(Stricter, "the whole value is masked", "secrets", "extract", "decode", "maskClaims")
	o.note(Moot, "the whole value is masked", "", "onExtractNoMatch", "maskDuplicates")
	o.list("injectHosts")
	o.done()
}

func (d *draft) maskVariable(o *object, name item, reachable []item) {
	hosts := d.injectHosts(o, reachable)
	if len(hosts) == 0 {
		d.env = append(d.env, name) // without a host the value is never used
		return
	}
	value := sandbox.Secret{Hosts: hosts}
	if !canDecode("secrets", map[string]sandbox.Secret{name.value: value}) {
		d.say(name.lack(Stricter, "the sandbox sets this variable itself: the host's value does not pass", "env.deny"))
		d.env = append(d.env, name)
		return
	}
	d.mask(name.value, value, name.from)
}

func (d *draft) maskFile(o *object, path item, reachable []item) {
	hosts := d.injectHosts(o, reachable)
	patterns, why := d.patterns(path.value, syntax{})
	if why != "" || len(patterns) != 1 || patterns[0].isGlob() {
		d.say(path.lack(Restriction, "a secret is in one file of a fixed name", "filesystem.exclude"))
		return
	}
	if len(hosts) == 0 {
		d.add(&d.denyRead, path, syntax{}, false, Restriction)
		return
	}
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, strings.ToUpper(patterns[0].text))
	file := patterns[0].text
	d.mask("FILE_"+strings.Trim(name, "_"), sandbox.Secret{FromFile: file, File: file, Hosts: hosts}, path.from)
}

// mask adds a secret. For a variable that is declared twice the last declaration decides.
// A name that is made of a file's path may be in use already.
func (d *draft) mask(name string, value sandbox.Secret, from source) {
	if d.ca == nil {
		d.ca = &item{"ephemeral", from}
	}
	for i := range d.secrets {
		if s := &d.secrets[i]; s.name == name && s.value.File == value.File {
			s.value.Hosts = value.Hosts
			return
		} else if s.name == name {
			name += "_2"
		}
	}
	d.secrets = append(d.secrets, secret{name, value, from})
}

// injectHosts returns the rules for the hosts that receive a secret: web hosts by name.
func (d *draft) injectHosts(o *object, reachable []item) []string {
	entries := o.list("injectHosts")
	if entries == nil {
		entries = reachable
	}
	var hosts []string
	for _, it := range entries {
		rule, why := translateHost(it.value)
		host, port := splitHostPort(rule)
		if why != "" || isWide(rule) || isLocal(rule) || port != "" && port != "443" {
			d.say(it.lack(Stricter, "a secret goes to named hosts over TLS on port 443", "secrets"))
			continue
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// isVariableName reports whether s is a POSIX name.
func isVariableName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// canDecode reports whether package policy accepts a value at a key.
func canDecode(key string, value any) bool {
	text := encode(map[string]any{key: value})
	_, _, err := policy.Decode("", text)
	return err == nil
}
