package filesystem

import (
	"crypto/sha1" // GnuPG names a directory by it
	"encoding/base32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// GPGAgent is the user's GnuPG agent and keyring.
type GPGAgent struct {
	Socket  string   // of the agent, resolved; empty: commands may not use it
	Home    string   // GnuPG's directory, resolved
	Session []string // the options with which the user's own gpg would begin, such as "display=:0": pinentry asks there
}

// UsesGPGAgent reports whether commands may use a part of the user's GnuPG agent.
func (f *Resolution) UsesGPGAgent() bool { return f.presets[preset.GPGAgent] }

// GPGAgent returns the user's GnuPG agent, whose socket must exist: an error now is better than a failure inside the sandbox.
func (f *Resolution) GPGAgent() (GPGAgent, error) {
	none := GPGAgent{}
	home := f.Env["GNUPGHOME"]
	if home == "" && f.Home != "" {
		home = filepath.Join(f.Home, ".gnupg")
	}
	if !filepath.IsAbs(home) {
		return none, sandbox.Errorf(sandbox.Invalid, preset.GPGAgent+": %q of GNUPGHOME is not an absolute path", home)
	}
	at, err := f.look.Locate(home)
	if err != nil {
		return none, sandbox.Errorf(sandbox.Invalid, preset.GPGAgent+": %s: %w", home, err)
	}
	// A command could have put a keyring and an agent of its own there.
	if link := f.planted(at); link != "" {
		return none, sandbox.Errorf(sandbox.Denied, "%s: %s is a link that a sandbox could have made, and leads to %s", preset.GPGAgent, link, at.Path)
	}
	if !at.Dir {
		return none, sandbox.Errorf(sandbox.NotFound, preset.GPGAgent+": no keyring: %s is not a directory", home).WithHint("make a key: gpg --full-generate-key")
	}
	for _, socket := range f.agentSockets(home) {
		at, err := f.look.Locate(socket)
		if err != nil || f.planted(at) != "" {
			continue
		}
		if info, err := os.Lstat(at.Path); err == nil && info.Mode()&fs.ModeSocket != 0 {
			home, err := f.look.Locate(home)
			return GPGAgent{Socket: at.Path, Home: home.Path, Session: f.pinentry()}, err
		}
	}
	return none, sandbox.Errorf(sandbox.NotFound, preset.GPGAgent+": the GnuPG agent does not run: %s has no socket S.gpg-agent", home).
		WithHint("start it: gpgconf --launch gpg-agent")
}

// agentSockets returns where the agent of GnuPG's directory may listen, as gpgconf --list-dirs agent-socket chooses it: in the user's
// directory below /run if there is one, and otherwise in GnuPG's own.
func (f *Resolution) agentSockets(home string) (all []string) {
	const name = "S.gpg-agent"
	own := ""
	if f.Home == "" || home != filepath.Join(f.Home, ".gnupg") {
		own = socketDir(home)
	}
	for _, run := range []string{"/run/gnupg", "/run"} {
		all = append(all, filepath.Join(run, "user", strconv.Itoa(os.Getuid()), "gnupg", own, name))
	}
	return append(all, filepath.Join(home, name))
}

// zBase32 is the encoding of GnuPG's names, which has letters that are hard to confuse.
var zBase32 = base32.NewEncoding("ybndrfg8ejkmcpqxot1uwisza345h769").WithPadding(base32.NoPadding)

// socketDir returns the name of the directory for the sockets of a GnuPG directory that is not the usual one.
func socketDir(home string) string {
	sum := sha1.Sum([]byte(home))
	return "d." + zBase32.EncodeToString(sum[:15])
}

// pinentry returns the options that tell the agent where its pinentry asks.
func (f *Resolution) pinentry() (options []string) {
	add := func(option string, variables ...string) {
		for _, name := range variables {
			if value := f.Env[name]; value != "" {
				options = append(options, option+"="+value)
				return
			}
		}
	}
	add("ttyname", "GPG_TTY")
	add("ttytype", "TERM")
	add("display", "DISPLAY")
	add("xauthority", "XAUTHORITY")
	add("lc-ctype", "LC_ALL", "LC_CTYPE", "LANG")
	add("lc-messages", "LC_ALL", "LC_MESSAGES", "LANG")
	for _, name := range []string{"WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "DBUS_SESSION_BUS_ADDRESS"} {
		add("putenv="+name, name)
	}
	return options
}
