package host

import (
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// harmlessFiles are the names of files that programs write on the side, in the home directory: without them they lose a
// history and nothing else. A name before a dot or a dash is that of a temporary file (.zsh_history.new, .viminfo.tmp).
var harmlessFiles = []string{
	".ash_history", ".bash_history", ".history", ".irb_history", ".lesshst", ".mysql_history", ".node_repl_history", ".psql_history",
	".python_history", ".rediscli_history", ".sqlite_history", ".viminfo", ".wget-hsts", ".zsh_history", "fish_history",
}

// harmlessDirectories are parts of paths of files that programs write on the side.
var harmlessDirectories = []string{"/.config/go/telemetry", "/.local/share/applications", "/.local/share/fish", "/.local/state/less"}

// harmlessHosts are hosts that programs ask on the side: for updates, certificates and settings of browsers, and with figures
// about use. A name that begins with a dot stands for all names that end so.
var harmlessHosts = []string{
	"telemetry.go.dev", "update.googleapis.com", "clients1.google.com", "clients2.google.com", "optimizationguide-pa.googleapis.com",
	"content-autofill.googleapis.com", "safebrowsing.googleapis.com", "safebrowsingohttpgateway.googleapis.com", ".gvt1.com",
	"accounts.google.com", "android.clients.google.com", "mtalk.google.com", "detectportal.firefox.com", ".services.mozilla.com",
	".telemetry.mozilla.org", "aus5.mozilla.org", "push.services.mozilla.com", ".cdn.mozilla.net",
}

// optionalFiles are ends of paths at which a program that succeeded could do without the file: the directory of settings in a home that
// has none, into which Go counts and top looks, and git's configuration, which husky and "git branch -d" write although
// nothing changes.
var optionalFiles = []string{"/.config", "/.git/config.lock"}

// IsHarmless reports whether a denial is one that programs expect or do not notice, so that a command which did its work can end
// in silence. status is the command's exit status.
func IsHarmless(d sandbox.Denial, status int) bool {
	switch d.Kind {
	case sandbox.DeniedFile:
		if status == 0 && slices.ContainsFunc(optionalFiles, func(end string) bool { return strings.HasSuffix(d.Target, end) }) {
			return true
		}
		name := path.Base(d.Target)
		for _, f := range harmlessFiles {
			if rest, ok := strings.CutPrefix(name, f); ok && (rest == "" || rest[0] == '.' || rest[0] == '-') {
				return true
			}
		}
		for _, dir := range harmlessDirectories {
			if strings.Contains(d.Target+"/", dir+"/") {
				return true
			}
		}
	case sandbox.DeniedHost:
		name, _, _ := strings.Cut(d.Target, ":")
		for _, h := range harmlessHosts {
			if name == h || h[0] == '.' && strings.HasSuffix(name, h) {
				return true
			}
		}
	case sandbox.DeniedSocket, sandbox.DeniedCommand, sandbox.DeniedCall, sandbox.DeniedLimit:
	}
	return false
}
