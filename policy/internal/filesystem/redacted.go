package filesystem

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/redact"
)

// redactedFiles are the files of the home directory that can be shown without their credentials: a program that does not see
// its configuration asks another server, such as the public registry for a private package. hidden are those that @base hides in
// any case; the others are hidden when they have credentials, and are as on the host otherwise.
var redactedFiles = []struct {
	path   string
	format redact.Format
	hidden bool
}{
	{"~/.npmrc", redact.Npm, true},
	{"~/.config/pip/pip.conf", redact.Pip, false},
	{"~/.pip/pip.conf", redact.Pip, false},
	{"~/.cargo/config.toml", redact.Cargo, false},
	{"~/.cargo/config", redact.Cargo, false},
	{"~/.cargo/credentials.toml", redact.CargoCredentials, true},
	{"~/.cargo/credentials", redact.CargoCredentials, true},
	{"~/.m2/settings.xml", redact.Maven, true},
	{"~/.docker/config.json", redact.Docker, true},
	{"~/.config/pnpm/rc", redact.Npm, false},
	{"~/.config/pnpm/auth.ini", redact.Npm, true},
	{"~/.yarnrc.yml", redact.Yarn, true},
	{"~/.yarnrc", redact.YarnClassic, false},
	{"~/.bunfig.toml", redact.Bun, true},
	{"~/.config/.bunfig.toml", redact.Bun, false},
	{"~/.config/uv/uv.toml", redact.Uv, false},
	{"~/.config/pypoetry/auth.toml", redact.Poetry, true},
	{"~/.bundle/config", redact.Bundler, true},
	{"~/.composer/auth.json", redact.Composer, true},
	{"~/.config/composer/auth.json", redact.Composer, true},
	{"~/.gradle/gradle.properties", redact.Gradle, true},
	{"~/.nuget/NuGet/NuGet.Config", redact.NuGet, true},
	{"~/.config/NuGet/NuGet.Config", redact.NuGet, false},
	{"~/.gitconfig", redact.Git, false},
	{"~/.config/git/config", redact.Git, false},
}

// maxRedacted is one byte more than package redact reads.
const maxRedacted = 1<<20 + 1

// Redacted is a file that is hidden for its credentials and can be shown without them.
type Redacted struct {
	Path   string // resolved
	Format redact.Format
	File   *redact.File // nil: the file was not understood
	Err    error        // why not
}

// hideCredentials reads the files that can be shown without their credentials, and hides those that have some.
func (f *Resolution) hideCredentials() {
	if f.Home == "" || !f.presets["@base"] {
		return
	}
	for _, r := range redactedFiles {
		path, err := hostpath.Anchor(r.path, f.Home, f.Workspace)
		if err != nil {
			continue
		}
		left := maxIncludes
		f.hideCredentialFile(path, r.path, r.format, r.hidden, &left)
	}
}

// hideCredentialFile reads one file, and those that it includes.
func (f *Resolution) hideCredentialFile(path, pattern string, format redact.Format, hidden bool, left *int) {
	at, err := f.look.Locate(path)
	if err != nil || !at.Exists || at.Dir || at.Blocked != "" || hostpath.ReservedRoot(at.Path) != "" || f.planted(at) != "" || f.isRedacted(at.Path) {
		return
	}
	r := Redacted{Path: at.Path, Format: format}
	r.File, r.Err = ReadRedacted(r.Path, format, f.Env)
	if errors.Is(r.Err, fs.ErrPermission) || errors.Is(r.Err, fs.ErrNotExist) {
		return
	}
	if !hidden && r.Err == nil && len(r.File.Credentials) == 0 {
		f.hideIncludes(r, left)
		return
	}
	if !hidden {
		f.preset("@base", presetRule{path: pattern, access: Exclude, guard: true})
	}
	f.redacted = append(f.redacted, r)
	if r.Err == nil {
		f.hideIncludes(r, left)
	}
}

// hideIncludes reads the files that a configuration of git includes. Those below the workspace belong to the project.
func (f *Resolution) hideIncludes(r Redacted, left *int) {
	for _, name := range r.File.Includes {
		if *left--; *left < 0 {
			return
		}
		path := name
		switch {
		case strings.HasPrefix(name, "~/"):
			path = filepath.Join(f.Home, name[2:])
		case !filepath.IsAbs(name):
			path = filepath.Join(filepath.Dir(r.Path), name)
		}
		if f.Home != "" && hostpath.IsWithin(path, f.Home) && (f.Workspace == "" || !hostpath.IsWithin(path, f.Workspace)) {
			f.hideCredentialFile(path, path, r.Format, false, left)
		}
	}
}

func (f *Resolution) isRedacted(path string) bool {
	for _, r := range f.redacted {
		if r.Path == path {
			return true
		}
	}
	return false
}

// ReadRedacted reads a file at a resolved path. env has the host's variables.
func ReadRedacted(path string, format redact.Format, env map[string]string) (*redact.File, error) {
	data, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	return redact.Parse(format, data, redact.Source{
		Env: func(name string) (string, bool) {
			v, ok := env[name]
			return v, ok
		},
		Beside: func(name string) []byte {
			data, _ := readRegular(filepath.Join(filepath.Dir(path), name)) // most have none
			return data
		},
	})
}

// readRegular reads a regular file. It does not wait for a FIFO.
func readRegular(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(file, maxRedacted))
}
