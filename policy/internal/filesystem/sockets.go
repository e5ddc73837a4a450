package filesystem

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// dockerSocket returns the host's Docker socket: DOCKER_HOST when it is a Unix
// socket, else the usual place.
func (h Host) dockerSocket() string {
	if path, ok := strings.CutPrefix(h.Env["DOCKER_HOST"], "unix://"); ok && filepath.IsAbs(path) {
		return path
	}
	return "/var/run/docker.sock"
}

// socketRules adds the sockets of layers[i]. A socket that does not exist yet
// is allowed as well: its server may start later.
func (f *Resolution) socketRules(i int) error {
	const key = "filesystem.sockets"
	l := &f.layers[i]
	for n, written := range l.Policy.Filesystem.Sockets {
		matches, err := f.expand(written)
		if err != nil {
			return layer.EntryErrorf(l, key, n, sandbox.Invalid, "%q: %w", written, err)
		}
		for _, m := range matches {
			if m.none {
				continue
			}
			path, err := f.socket(m)
			switch {
			case err != nil:
				return layer.EntryErrorf(l, key, n, sandbox.CodeOf(err), "%q: %w", written, err).WithHint("%s", sandbox.HintOf(err))
			case path != "":
				f.sockets = append(f.sockets, path)
			}
		}
	}
	slices.Sort(f.sockets)
	f.sockets = slices.Compact(f.sockets)
	return nil
}

// socket resolves one socket; "" when a glob matched something else.
func (f *Resolution) socket(m match) (string, error) {
	at, err := f.look.Locate(m.path)
	if err != nil {
		return "", sandbox.Errorf(sandbox.Invalid, "%w", err)
	}
	if link := f.planted(at); link != "" {
		return "", sandbox.Errorf(sandbox.Denied, "%s is a link that a sandbox could have made, and leads to %s", link, at.Path)
	}
	docker, _ := f.look.Locate(f.dockerSocket()) // the zero place equals no path
	if at.Path == docker.Path || filepath.Base(at.Path) == "docker.sock" {
		return "", sandbox.Errorf(sandbox.Invalid, "the Docker socket is root on this machine").WithHint("use docker: true or --docker if that is meant")
	}
	if !at.Exists {
		return at.Path, nil
	}
	info, err := os.Lstat(at.Path)
	switch {
	case err == nil && info.Mode()&fs.ModeSocket != 0:
		return at.Path, nil
	case !m.exact:
		return "", nil
	}
	return "", sandbox.Errorf(sandbox.Invalid, "is not a socket")
}

// AddDocker adds the Docker socket, which must exist: an error now is better than
// a failure inside the sandbox.
func (f *Resolution) AddDocker() error {
	path := f.dockerSocket()
	at, err := f.look.Locate(path)
	if err != nil || !at.Exists {
		return sandbox.Errorf(sandbox.NotFound, "docker socket not found: %s", path).
			WithHint("start Docker, or set DOCKER_HOST to unix://PATH")
	}
	f.sockets = append(f.sockets, at.Path)
	slices.Sort(f.sockets)
	f.sockets = slices.Compact(f.sockets)
	return nil
}

// UsesSSHAgent reports whether commands may use a part of the user's SSH agent.
func (f *Resolution) UsesSSHAgent() bool { return f.presets[preset.SSHAgent] }

// SSHAgent returns the socket of the user's SSH agent, resolved. It must exist: an error now is better than a failure
// inside the sandbox.
func (f *Resolution) SSHAgent() (string, error) {
	path := f.Env["SSH_AUTH_SOCK"]
	fail := func(format string, args ...any) error {
		return sandbox.Errorf(sandbox.NotFound, preset.SSHAgent+": "+format, args...).WithHint("start it: eval $(ssh-agent) && ssh-add")
	}
	if !filepath.IsAbs(path) {
		return "", fail("no SSH agent: SSH_AUTH_SOCK is not set to an absolute path")
	}
	at, err := f.look.Locate(path)
	if err != nil {
		return "", fail("%s: %w", path, err)
	}
	// A command could have put a server of its own there, which would see what is signed.
	if link := f.planted(at); link != "" {
		return "", sandbox.Errorf(sandbox.Denied, "%s: %s is a link that a sandbox could have made, and leads to %s", preset.SSHAgent, link, at.Path)
	}
	if info, err := os.Lstat(at.Path); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return "", fail("%s of SSH_AUTH_SOCK is not a socket", path)
	}
	return at.Path, nil
}
