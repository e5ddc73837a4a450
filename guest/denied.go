package guest

import "strings"

// DeniedPrefix begins the abstract name of a Unix socket (unix(7)) that nobody listens
// at. To connect to it is how a wrapper tells the host what it refused, where
// the host sees every connect: the command's name, a NUL and a few words follow. Whoever is inside
// can do that too, so it is good for a list that people read and for nothing else.
const DeniedPrefix = "agent-sandbox/denied/"

// maxDeniedName keeps such a name within the 107 bytes of an address.
const maxDeniedName = 107 - len(DeniedPrefix)

// DeniedName makes such a name, without the NUL in front.
func DeniedName(command, what string) string {
	text := DeniedPrefix + command + "\x00" + what
	return text[:min(len(text), len(DeniedPrefix)+maxDeniedName)]
}

// ParseDenied takes one apart, printable and with what never empty.
func ParseDenied(name string) (command, what string, ok bool) {
	rest, ok := strings.CutPrefix(name, DeniedPrefix)
	if !ok {
		return "", "", false
	}
	command, what, _ = strings.Cut(rest, "\x00")
	command, what = printable(command), printable(what)
	if what == "" {
		what = command
	}
	return command, what, command != ""
}
