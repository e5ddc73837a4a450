// Package gpgagent serves a part of a GnuPG agent: who connects can ask which secret keys there are and have them sign, and do nothing
// else. The protocol is Assuan (the manual of libassuan), with the commands of gpg-agent (gpg-agent --help, agent/command.c of
// GnuPG lists them).
package gpgagent

import (
	"regexp"
	"slices"
	"strings"
)

// maxLine is the length of the longest line without its end, as in libassuan.
const maxLine = 1000

// verdict is what becomes of a request.
type verdict int

const (
	refuse verdict = iota // answer with an error
	pass                  // send it to the agent
	accept                // answer OK; the agent does not get it
	end                   // answer OK and close
)

const (
	keygrip = `[0-9A-F]{40}`
	spaces  = ` +`
)

// requests are the permitted requests, each a whole line.
var requests = []struct {
	line    *regexp.Regexp
	verdict verdict
}{
	{regexp.MustCompile(`^NOP$`), accept},
	{regexp.MustCompile(`^BYE$`), end},
	{regexp.MustCompile(`^RESET$`), pass},
	// The names of terminals and displays are files and programs of the host to the agent's pinentry, which would open what a command
	// names: the server sends the user's own.
	{regexp.MustCompile(`^OPTION (ttyname|ttytype|lc-ctype|lc-messages|display|xauthority|putenv|pinentry-user-data|allow-pinentry-notify|agent-awareness|pretend-request-origin)\b`), accept},
	{regexp.MustCompile(`^GETINFO (version|restricted)$`), pass},
	{regexp.MustCompile(`^GETINFO cmd_has_option [A-Z]{1,20} [a-z-]{1,20}$`), pass},
	{regexp.MustCompile(`^HAVEKEY( ` + keygrip + `){1,20}$`), pass},
	{regexp.MustCompile(`^HAVEKEY --list(=[0-9]{1,6})?$`), pass},
	{regexp.MustCompile(`^KEYINFO (--list|` + keygrip + `)$`), pass},
	{regexp.MustCompile(`^SIGKEY ` + keygrip + `$`), pass},
	{regexp.MustCompile(`^SETKEYDESC [!-~]{1,1000}$`), pass},
	{regexp.MustCompile(`^PKSIGN( -- [0-9A-Fa-f]{1,64})?$`), pass},
}

// digests are the numbers and names of hash algorithms (RFC 4880, section 9.4) with the length of their values in bytes. Without a
// hash, what is signed could be anything, such as a message that is to be decrypted.
var digests = map[string]int{
	"2": 20, "3": 20, "8": 32, "9": 48, "10": 64, "11": 28,
	"--hash=sha1": 20, "--hash=rmd160": 20, "--hash=sha256": 32, "--hash=sha384": 48, "--hash=sha512": 64, "--hash=sha224": 28,
}

var setHash = regexp.MustCompile(`^SETHASH (\S+)` + spaces + `([0-9A-Fa-f]+)$`)

// judge returns what becomes of a line from a command, without its end.
func judge(line string) verdict {
	if m := setHash.FindStringSubmatch(line); m != nil {
		if size := digests[m[1]]; size > 0 && len(m[2]) == 2*size {
			return pass
		}
		return refuse
	}
	for _, r := range requests {
		if r.line.MatchString(line) {
			return r.verdict
		}
	}
	return refuse
}

// descriptionOf is what the user reads first when pinentry asks for a passphrase.
const descriptionOf = "SETKEYDESC A+command+in+a+sandbox+of+agent-sandbox+asks+to+sign.%0A%0A"

// describeKey returns the request with the text that pinentry shows, which says who asks. A text that is too long is cut.
func describeKey(line string) string {
	text := descriptionOf + strings.TrimPrefix(line, "SETKEYDESC ")
	if len(text) <= maxLine {
		return text
	}
	text = text[:maxLine]
	if i := strings.LastIndexByte(text, '%'); i >= maxLine-2 { // an escape is not cut
		text = text[:i]
	}
	return text
}

// names are the commands of which a report says more than that they are unknown.
var names = map[string]string{
	"PKDECRYPT": "decrypt", "SETKEY": "decrypt", "EXPORT_KEY": "export a secret key", "IMPORT_KEY": "import a secret key", "KEYWRAP_KEY": "export a secret key",
	"GENKEY": "generate a key", "DELETE_KEY": "delete a secret key", "PASSWD": "change a passphrase", "PRESET_PASSPHRASE": "preset a passphrase",
	"CLEAR_PASSPHRASE": "clear a passphrase", "GET_PASSPHRASE": "ask the user for a passphrase", "GET_CONFIRMATION": "ask the user for a confirmation",
	"SCD": "use a smartcard", "LEARN": "use a smartcard", "KEYTOCARD": "use a smartcard", "KILLAGENT": "end the agent", "RELOADAGENT": "reload the agent",
	"UPDATESTARTUPTTY": "change the agent's terminal", "MARKTRUSTED": "trust a certificate", "LISTTRUSTED": "list trusted certificates", "ISTRUSTED": "list trusted certificates",
	"GETVAL": "read a variable of the agent", "PUTVAL": "change a variable of the agent", "GETEVENTCOUNTER": "read the agent's counters", "READKEY": "read a public key",
	"GETINFO": "describe itself", "OPTION": "set an option", "SETHASH": "sign something other than a hash of a known kind", "KEYATTR": "change a key's attributes",
	"HAVEKEY": "list keys in an unusual request", "KEYINFO": "list keys in an unusual request", "SIGKEY": "sign in an unusual request",
	"SETKEYDESC": "sign in an unusual request", "PKSIGN": "sign in an unusual request",
}

// describe returns what a refused request asks for, as one of a few texts: a command can make any number of requests.
func describe(line string) string {
	command, _, _ := strings.Cut(line, " ")
	if name := names[strings.ToUpper(command)]; name != "" {
		return name
	}
	return "make an unknown request"
}

// checkOptions returns those requests to set an option that are one line each.
func checkOptions(options []string) []string {
	return slices.DeleteFunc(slices.Clone(options), func(o string) bool {
		return len(o) > maxLine-len("OPTION ") || strings.ContainsAny(o, "\r\n\x00")
	})
}
