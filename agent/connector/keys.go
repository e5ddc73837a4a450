package connector

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// MaxKey is the size in bytes above which a key is refused.
const MaxKey = 16 << 10

const (
	defaultKeep    = 5 * time.Minute
	defaultTimeout = time.Minute
)

// Keys is the Source for secrets of this host. Set its fields before its first use. It caches keys, and callers that ask for
// the same key at the same time share one fetch. Safe for concurrent use.
type Keys struct {
	Env     []string      // the environment, "NAME=VALUE", for variables and for commands
	Home    string        // absolute; replaces "~"; "": files below "~/" are not found
	Keep    time.Duration // how long a fetched key is reused; 0: five minutes, negative: not at all
	Timeout time.Duration // of a command; 0: a minute

	mu    sync.Mutex
	cache map[string]*fetch
}

// fetch is a request for a key, running or finished.
type fetch struct {
	done      chan struct{} // closed when the other fields are valid
	key       string
	err       error
	abandoned bool // the caller that fetched the key gave up
	at        time.Time
}

// Key returns the key of a secret; see [Source]. NotFound: the place has no key. Denied: other users may read the file.
// Invalid: a header cannot hold the key. Timeout and Unavailable: the command failed. Canceled or Timeout: ctx has ended. When
// a caller gives up, a caller that waits for its fetch takes over.
func (k *Keys) Key(ctx context.Context, s Secret) (string, error) {
	if s.Value != "" || s.IsEmpty() {
		return s.Value, nil
	}
	id := strings.Join(append([]string{s.Env, s.File}, s.Command...), "\x00")
	for {
		f, mine := k.join(id)
		if mine {
			f.key, f.err = k.fetch(ctx, s)
			f.abandoned = f.err != nil && ctx.Err() != nil
			k.finish(id, f)
			return f.key, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return "", keyError(s, ctx.Err())
		}
		if !f.abandoned { // the context of the other caller ended, not ours
			return f.key, f.err
		}
	}
}

// join returns the running or still valid fetch of a key. mine: the caller has to fetch the key.
func (k *Keys) join(id string) (f *fetch, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.cache[id]; ok && (f.at.IsZero() || time.Since(f.at) < k.keep()) {
		return f, false
	}
	if k.cache == nil {
		k.cache = map[string]*fetch{}
	}
	f = &fetch{done: make(chan struct{})}
	k.cache[id] = f
	return f, true
}

// finish passes the result to the callers that wait. It caches a key, but not an error.
func (k *Keys) finish(id string, f *fetch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f.at = time.Now()
	if f.err != nil || k.keep() <= 0 {
		delete(k.cache, id)
	}
	close(f.done)
}

func (k *Keys) keep() time.Duration {
	if k.Keep == 0 {
		return defaultKeep
	}
	return k.Keep
}

func (k *Keys) fetch(ctx context.Context, s Secret) (string, error) {
	var key string
	var err error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case s.Env != "":
		if key = lookupVariable(k.Env, s.Env); key == "" {
			err = sandbox.Errorf(sandbox.NotFound, "the variable is not set").WithHint("export %s, which holds the key", s.Env)
		}
	case s.File != "":
		key, err = k.file(s.File)
	default:
		key, err = k.command(ctx, s.Command)
	}
	if err == nil {
		key = strings.TrimRight(key, "\r\n")
		err = checkKey(key)
	}
	if err != nil {
		return "", keyError(s, err)
	}
	return key, nil
}

// keyError adds the place of the key to an error.
func keyError(s Secret, err error) error {
	code := sandbox.CodeOf(err)
	if code == sandbox.Internal {
		code = sandbox.Unavailable
	}
	e := sandbox.Errorf(code, "the key (%s): %w", s.String(), err)
	e.Hint = sandbox.HintOf(err)
	return e
}

// checkKey returns an error for a key that a header cannot hold.
func checkKey(key string) error {
	switch {
	case key == "":
		return sandbox.Errorf(sandbox.NotFound, "it is empty")
	case len(key) > MaxKey:
		return sandbox.Errorf(sandbox.Invalid, "it is larger than %s", sandbox.Bytes(MaxKey))
	case strings.ContainsAny(key, "\r\n"):
		return sandbox.Errorf(sandbox.Invalid, "it has more than one line, which no header can hold")
	case strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return sandbox.Errorf(sandbox.Invalid, "it has a control character, which no header can hold")
	}
	return nil
}

// lookupVariable returns the value of a variable; of several, the last one.
func lookupVariable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// file reads a key from a file.
func (k *Keys) file(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if k.Home == "" {
			return "", sandbox.Errorf(sandbox.NotFound, "there is no home directory")
		}
		name = filepath.Join(k.Home, rest)
	}
	// A pipe without a writer would block the open.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", fileError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fileError(err)
	}
	if !info.Mode().IsRegular() {
		return "", sandbox.Errorf(sandbox.Invalid, "it is not a regular file")
	}
	if isReadableByOthers(name, info) {
		return "", sandbox.Errorf(sandbox.Denied, "others may read it").WithHint("make it yours alone: chmod 600 %s", jsonc.OneLine(name))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxKey+3)) // a final line break is not part of the key
	if err != nil {
		return "", fileError(err)
	}
	return string(data), nil
}

// isReadableByOthers reports whether other users can read a file of this user that this user can change. Files that an
// administrator or a container engine mounts read-only are their decision.
func isReadableByOthers(name string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 != 0 &&
		!errors.Is(unix.Access(name, unix.W_OK), unix.EROFS)
}

func fileError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return sandbox.Errorf(sandbox.CodeOf(err), "%w", err)
}
