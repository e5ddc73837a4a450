package configimport

import (
	"slices"
	"strings"
)

// fenceDefaults are the commands that fence refuses by name unless useDefaults is false. Its
// defaults with arguments are not needed: a sandbox has no Docker socket, system bus or
// capability for those commands.
var fenceDefaults = []string{
	"chroot", "dd", "fdisk", "halt", "insmod", "kexec", "mkfs", "mkfs.btrfs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mkfs.ntfs",
	"mkfs.vfat", "mkfs.xfs", "modprobe", "nsenter", "parted", "poweroff", "reboot", "rmmod", "shutdown", "unshare",
}

// finish makes the decisions that depend on all files.
func (c *fence) finish() {
	d := c.d
	d.domains(c.allow, c.deny, true)
	c.commands()
	c.shellHosts()
	if c.strict != nil {
		c.denyReads()
	}
	switch {
	case c.upstream != nil && c.action.is("proxy"):
		d.say(c.action.lack(Grant, "a connection that no rule allows is refused, not forwarded", "network.upstream"))
	case c.upstream != nil:
		d.say(c.upstream.lack(Moot, `it has no effect without "defaultAction": "proxy"`, ""))
	}
}

func (c *fence) commands() {
	d := c.d
	var allowed []string
	for _, it := range c.excepted {
		allowed = append(allowed, strings.Join(strings.Fields(it.value), " "))
		d.say(it.lack(Moot, "every command that is not refused may run; a refused command cannot have an exception", wrapperScript))
	}
	for _, it := range c.refused {
		words := strings.Fields(it.value)
		switch {
		case len(words) == 0:
			continue
		case slices.Contains(allowed, strings.Join(words, " ")):
			d.say(it.lack(Moot, "command.allow allows it again", ""))
		default:
			d.refuse(it, words, true, false)
		}
	}
	if c.useDefaults.is("false") {
		return
	}
	from := source{key: "commands that fence refuses by default"}
	for _, name := range fenceDefaults {
		if !slices.Contains(allowed, name) && !slices.ContainsFunc(d.commands, func(it item) bool { return it.value == name }) {
			d.commands = append(d.commands, item{name, from})
		}
	}
}

// shellHosts opens port 22 of hosts that fence lets ssh reach with any command. The other
// hosts stay closed, because a connection cannot be restricted to some commands.
func (c *fence) shellHosts() {
	d := c.d
	var denied []item
	open := c.ssh.all != nil && !c.ssh.commands
	for _, it := range c.ssh.denied {
		rule, why := translateHost(it.value)
		if why != "" {
			open = false // it might deny one of the hosts that would be opened
			continue
		}
		denied = append(denied, item{addSSHPort(rule), it.from})
	}
	for _, it := range c.ssh.hosts {
		rule, why := translateHost(it.value)
		switch {
		case why != "" || isWide(rule) || isLocal(rule):
			d.say(it.lack(Grant, "a host is named by its full name", `network.allow with "HOST:22"`))
		case !slices.ContainsFunc(d.allow, func(a item) bool { return isIncluded(a.value, rule) }):
			d.say(it.lack(Moot, "network.allowedDomains does not contain the host", ""))
		case !open:
			d.say(it.lack(Grant, "ssh cannot be restricted to commands or by patterns, so its port stays closed", `network.allow with "HOST:22"`))
		default:
			d.allow = append(d.allow, item{addSSHPort(rule), it.from})
		}
	}
	if open {
		d.deny = append(d.deny, denied...)
	}
}

// isIncluded reports whether the rule outer allows all hosts of inner.
func isIncluded(outer, inner string) bool {
	outer, _ = splitHostPort(outer)
	inner, _ = splitHostPort(inner)
	suffix, wild := strings.CutPrefix(outer, "*")
	return outer == inner || wild && strings.HasSuffix(inner, suffix)
}

func addSSHPort(rule string) string {
	if _, port := splitHostPort(rule); port != "" {
		return rule
	}
	return rule + ":22"
}

// denyReads approximates a file system in which only the system's directories and the listed
// paths are readable.
func (c *fence) denyReads() {
	d := c.d
	for _, dir := range []string{"~", "/home", "/root", "/srv", "/mnt", "/media"} {
		d.add(&d.denyRead, item{dir, c.strict.from}, syntax{}, false, Restriction)
	}
	for i := range d.denyRead {
		if a := &d.denyRead[i]; a.from == c.strict.from {
			a.soft = true
		}
	}
	d.say(c.strict.lack(Restriction, "the home directories and mounted disks are hidden, other directories at the root stay readable", "filesystem.exclude"))
}
