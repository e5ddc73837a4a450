package policy

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/trust"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Sources lists where configuration comes from. Load reads nothing else: no
// environment and no working directory.
type Sources struct {
	Home       string         // absolute; empty: no ~/.config
	ConfigHome string         // XDG_CONFIG_HOME; empty or, as its specification asks, relative: Home/.config
	Dir        string         // absolute working directory; empty: no project file
	ConfigFile string         // the file of -c, read in place of the project file and trusted; relative to Dir; empty: none
	Flags      sandbox.Policy // the last layer
	Trust      *Trust         // which project files the user trusts; nil: none
}

// Trust remembers which project files the user has read and trusts. See package trust.
type Trust = trust.Store

// TrustEntry is one trusted content of one file.
type TrustEntry = trust.Entry

// Load reads the layers of configuration, lowest first: "defaults", "global",
// then "project" or, with a ConfigFile, "config", and "flags". A file that does
// not exist gives no layer, except that a ConfigFile must exist.
//
// A project file is Trusted only when Sources.Trust holds exactly the bytes that
// were decoded. Whether an untrusted one only tightens is for the resolution to say.
//
// Errors are one line. Their code is Invalid for content and for things that are
// not regular files, NotFound for a missing ConfigFile, Denied for one that cannot be read.
func Load(s Sources) ([]sandbox.Layer, error) {
	for _, dir := range []string{s.Home, s.Dir} {
		if dir != "" && !filepath.IsAbs(dir) {
			return nil, sandbox.Errorf(sandbox.Invalid, "found the directory %s, expected an absolute path", jsonc.Clip(dir))
		}
	}
	layers := []sandbox.Layer{Defaults()}
	for _, p := range s.places() {
		l, err := p.load(s.Trust)
		if err != nil {
			return nil, err
		}
		if l != nil {
			layers = append(layers, *l)
		}
	}
	flags := sandbox.Layer{Name: LayerFlags, Trusted: true, Policy: s.Flags}
	if err := layer.Check(flags); err != nil {
		return nil, err
	}
	return append(layers, flags), nil
}

// ConfigFiles lists every path that decides about later runs, whether it exists or not: the configuration files that are or could
// be read, the project's also when a ConfigFile replaces them, and the directory of the trust store. No command in a sandbox may
// write them.
func ConfigFiles(s Sources) []string {
	var files []string
	for _, p := range s.places() {
		files = append(files, p.files...)
	}
	if s.ConfigFile != "" && s.Dir != "" {
		files = append(files, projectFiles(s.Dir)...)
	}
	if s.Trust != nil && s.Trust.Dir != "" {
		files = append(files, s.Trust.Dir)
	}
	return files
}

// ReadConfig returns the content of one configuration file, or of any other file
// that is treated with the same care: a regular file of at most [MaxConfig]
// bytes. It never waits for a FIFO or a device.
func ReadConfig(file string) ([]byte, error) {
	data, err := readRegular(file)
	if err != nil {
		return nil, sandbox.Errorf(err.Code, "%s: %w", jsonc.OneLine(file), err.Err)
	}
	return data, nil
}

// configPlace holds the possible files of one layer, of which only one may exist.
type configPlace struct {
	layer    string
	files    []string
	required bool
}

func (s Sources) places() []configPlace {
	var places []configPlace
	home := s.ConfigHome
	if !filepath.IsAbs(home) {
		home = ""
		if s.Home != "" {
			home = filepath.Join(s.Home, ".config")
		}
	}
	if home != "" {
		base := filepath.Join(home, "agent-sandbox", "config.json")
		places = append(places, configPlace{layer: LayerGlobal, files: []string{base, base + "c"}})
	}
	switch {
	case s.ConfigFile != "":
		file := s.ConfigFile
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.Dir, file)
		}
		places = append(places, configPlace{layer: LayerConfig, files: []string{file}, required: true})
	case s.Dir != "":
		places = append(places, configPlace{layer: LayerProject, files: projectFiles(s.Dir)})
	}
	return places
}

func projectFiles(dir string) []string {
	base := filepath.Join(dir, ".agent-sandbox.json")
	return []string{base, base + "c"}
}

// load returns the layer in the file at p, or nil when there is none.
func (p configPlace) load(store *Trust) (*sandbox.Layer, error) {
	var (
		file string
		data []byte
		err  error
	)
	for _, f := range p.files {
		d, rerr := ReadConfig(f)
		if errors.Is(rerr, sandbox.ErrNotFound) && !p.required {
			continue
		}
		if sandbox.CodeOf(rerr) == sandbox.Denied {
			if p.layer == LayerGlobal && isOfAnotherUser(f) {
				continue
			}
			return nil, rerr
		}
		if file != "" {
			return nil, layer.FileErrorf(file, 0, "", "found %s beside it, expected one of them", jsonc.OneLine(filepath.Base(f))).
				WithHint("remove one of the two")
		}
		file, data, err = f, d, rerr
	}
	if file == "" || err != nil {
		return nil, err
	}
	return decodeLayer(p.layer, file, data, store)
}

// isOfAnotherUser reports whether a directory of another user is what keeps this one from reaching file, as where a user was
// changed and HOME was not. What is in it is not this user's configuration. No command of this user's can make such a directory.
func isOfAnotherUser(file string) bool {
	for name := file; name != filepath.Dir(name); name = filepath.Dir(name) {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrPermission) {
			return false
		}
		if info, err := os.Stat(filepath.Dir(name)); err == nil {
			st, ok := info.Sys().(*syscall.Stat_t)
			return ok && int(st.Uid) != os.Geteuid()
		}
	}
	return false
}

func decodeLayer(name, file string, data []byte, store *Trust) (*sandbox.Layer, error) {
	content, lines, err := Decode(file, data)
	if err != nil {
		return nil, err
	}
	l := &sandbox.Layer{Name: name, File: file, Trusted: name != LayerProject, Policy: content, Lines: lines}
	if name == LayerProject && store != nil {
		// data, not the file: the file may have been replaced since it was read.
		if l.Trusted, err = store.Trusted(file, data); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// readRegular reads a small regular file. The error does not contain the name.
func readRegular(name string) ([]byte, *sandbox.Error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, missingError(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRegularError(info.Mode())
	}
	// O_NONBLOCK, and a second look at what was opened, against a FIFO that takes
	// the file's place in between.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, missingError(name, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, missingError(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notRegularError(info.Mode())
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxConfig+1))
	if err != nil {
		return nil, missingError(name, err)
	}
	if len(data) > MaxConfig {
		return nil, sandbox.Errorf(sandbox.Invalid, "found more than %s, expected a smaller file", sandbox.Bytes(MaxConfig))
	}
	return data, nil
}

// missingError classifies the error of an attempt to open name.
func missingError(name string, err error) *sandbox.Error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return sandbox.Errorf(sandbox.Invalid, "found a loop of symbolic links, expected a regular file")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		// A dangling link is a mistake: without an error the policy would be ignored silently.
		if _, lerr := os.Lstat(name); lerr == nil {
			return sandbox.Errorf(sandbox.Invalid, "found a symbolic link to nothing, expected a regular file")
		}
		return sandbox.Errorf(sandbox.NotFound, "no such file")
	case errors.Is(err, fs.ErrPermission):
		return sandbox.Errorf(sandbox.Denied, "permission denied")
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return sandbox.Errorf(sandbox.Invalid, "%w", err)
}

func notRegularError(m fs.FileMode) *sandbox.Error {
	kind := "a special file"
	switch {
	case m.IsDir():
		kind = "a directory"
	case m&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	}
	return sandbox.Errorf(sandbox.Invalid, "found %s, expected a regular file", kind)
}
