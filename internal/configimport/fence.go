package configimport

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const maxExtends = 10 // fence's own bound

// fence is the state of reading a file of fence and the files that it extends. It joins
// lists; a boolean is true if one file sets it to true.
type fence struct {
	d     *draft
	files []string // files that are being read; detects a circle of "extends"

	allow, deny       []item // domains
	refused, excepted []item // commands
	useDefaults       *item
	strict            *item // the setting that denies reads
	upstream, action  *item
	ssh               fenceSSH
}

// fenceSSH is fence's policy for ssh.
type fenceSSH struct {
	hosts, denied []item
	commands      bool  // remote commands are restricted
	all           *item // allowAllCommands
}

// readFence reads a file of fence.
func (d *draft) readFence(f File) {
	c := &fence{d: d}
	c.file(f.Name, f.Data)
	if d.err == nil {
		c.finish()
	}
}

func (c *fence) file(name string, data []byte) {
	n, err := parse(name, data)
	if err != nil {
		c.d.err = err
		return
	}
	c.files = append(c.files, name)
	o := c.d.top(c.d.host.short(name), n)
	o.text("$schema")
	if base := o.text("extends"); base != nil {
		c.extend(*base, filepath.Dir(name))
	}
	if c.d.closed == nil {
		c.d.closed = &source{file: o.file, line: n.Line(), key: "filesystem.allowWrite"}
		c.d.filtered = &source{file: o.file, line: n.Line(), key: "network.allowedDomains"}
	}
	c.network(o.object("network"))
	c.filesystem(o.object("filesystem"))
	c.command(o.object("command"))
	c.secureShell(o.object("ssh"))
	c.devices(o.object("devices"))
	o.note(Moot, macOnly, "", "macos")
	o.note(Moot, "commands can use terminals", "", "allowPty", "forceNewSession")
	o.done()
}

// extend reads the file that a file extends, before the file itself.
func (c *fence) extend(base item, dir string) {
	d := c.d
	switch {
	case base.value == "@base":
		for _, group := range d.host.fenceBase() {
			for _, file := range group {
				if c.include(base, file, true) {
					return
				}
			}
		}
	case strings.ContainsAny(base.value, `/\`) || strings.HasPrefix(base.value, "."):
		file := base.value
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		c.include(base, file, false)
	default:
		d.say(base.lack(Restriction, "the template is built into fence",
			"'fence config show > FILE.json' writes all out; import that file with --from fence"))
	}
}

// include reads one more file. It returns false if an optional file is missing.
func (c *fence) include(base item, file string, optional bool) bool {
	d := c.d
	switch {
	case slices.Contains(c.files, file):
		d.fail(base.from, "%s extends itself", jsonc.OneLine(file))
		return true
	case len(c.files) > maxExtends:
		d.fail(base.from, "more than %d files extend each other", maxExtends)
		return true
	case d.host.Read == nil:
		d.fail(base.from, "%s cannot be read here", jsonc.Clip(base.value))
		return true
	}
	data, err := d.host.Read(file)
	if optional && errors.Is(err, sandbox.ErrNotFound) {
		return false
	}
	switch {
	case err == nil:
		c.file(file, data)
	case d.err == nil:
		d.err = base.from.problem("%v", err).Wrap(err)
	}
	return true
}

func (c *fence) network(o *object) {
	if o == nil {
		return
	}
	c.allow = append(c.allow, o.list("allowedDomains")...)
	c.deny = append(c.deny, o.list("deniedDomains")...)
	c.d.unixSockets(o)
	o.note(Grant, "the host's loopback is reached through the proxy only, by address", `network.allow with "127.0.0.1:PORT"`, "allowLocalOutbound")
	for _, it := range o.numbers("allowLocalOutboundPorts") {
		c.d.say(it.lack(Grant, "the host's loopback is reached through the proxy only, by address", `network.allow with "127.0.0.1:`+it.value+`"`))
	}
	o.note(Moot, "agent-sandbox chooses the port of its proxy", "", "httpProxyPort", "socksProxyPort")
	if it := o.text("upstreamProxy"); it != nil {
		c.upstream = it
	}
	if it := o.text("defaultAction"); it != nil {
		c.action = it
	}
	o.done()
}

func (c *fence) filesystem(o *object) {
	if o == nil {
		return
	}
	d, s := c.d, syntax{braces: true}
	for _, it := range o.list("allowRead") {
		d.add(&d.allowRead, it, s, true, Grant)
	}
	for _, it := range o.list("allowWrite") {
		d.add(&d.allowWrite, it, s, true, Grant)
	}
	for _, it := range o.list("denyRead") {
		d.add(&d.denyRead, it, s, false, Restriction)
	}
	for _, it := range o.list("denyWrite") {
		d.add(&d.denyWrite, it, s, false, Restriction)
	}
	for _, key := range []string{"defaultDenyRead", "strictDenyRead"} {
		if it := o.bool(key); it.is("true") {
			c.strict = it
		}
	}
	for _, it := range o.list("allowExecute") {
		d.say(it.lack(Grant, "commands can execute only files that they can read", "filesystem.ro"))
	}
	o.note(Grant, "git's configuration stays protected", `filesystem.rw with ".git/config"`, "allowGitConfig")
	o.note(Moot, "it applies to Windows only", "", "wslInterop")
	o.done()
}

func (c *fence) command(o *object) {
	if o == nil {
		return
	}
	c.refused = append(c.refused, o.list("deny")...)
	c.excepted = append(c.excepted, o.list("allow")...)
	if it := o.bool("useDefaults"); it != nil {
		c.useDefaults = it
	}
	o.note(Moot, "a command is refused in whichever process starts it", "", "runtimeExecPolicy")
	o.note(Moot, "refusing one name of a program does not refuse its other names", "", "acceptSharedBinaryCannotRuntimeDeny")
	o.done()
}

func (c *fence) secureShell(o *object) {
	if o == nil {
		return
	}
	c.ssh.hosts = append(c.ssh.hosts, o.list("allowedHosts")...)
	c.ssh.denied = append(c.ssh.denied, o.list("deniedHosts")...)
	if it := o.bool("allowAllCommands"); it.is("true") {
		c.ssh.all = it
	}
	c.ssh.commands = c.ssh.commands || len(o.list("deniedCommands")) > 0 || o.bool("inheritDeny").is("true")
	o.list("allowedCommands")
	o.done()
}

func (c *fence) devices(o *object) {
	if o == nil {
		return
	}
	if it := o.text("mode"); it.is("host") {
		c.d.say(it.lack(Grant, "a sandbox has a /dev of its own", ""))
	}
	for _, it := range o.list("allow") {
		c.d.say(it.lack(Grant, "a sandbox has a /dev of its own", ""))
	}
	o.done()
}
