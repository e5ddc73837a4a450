// Package trust remembers which files of projects the user has read and trusts.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Store holds the exact content of trusted files at their exact places: any change of
// either takes the trust away. A place is the directory, resolved, and a name in it; a file
// that is a symbolic link is never trusted, because it would borrow the trust of another place.
//
// Each entry is a small file of its own, so that processes need no lock. An entry
// counts only when it and the directory belong to the user and other users cannot
// write to them.
type Store struct {
	Dir string // absolute directory of the entries, made when the first is added
}

// Entry is one trusted content of one file.
type Entry struct {
	File string `json:"file"` // its directory is resolved through symbolic links
	Sum  string `json:"sum"`  // hex SHA-256 of File, a NUL byte and the content
}

// Trusted reports whether content is trusted as the content of file, an absolute
// path. An entry that other users could have written does not count. A missing entry or
// store and a file that is a symbolic link give false; the error means that the store could not be read.
func (t *Store) Trusted(file string, content []byte) (bool, error) {
	want, err := newEntry(file, content)
	if err != nil || IsLink(want.File) {
		return false, err
	}
	if ok, err := t.isSecure(); !ok {
		return false, err
	}
	got, err := readEntry(filepath.Join(t.Dir, want.Sum))
	return err == nil && got == want, err
}

// Add trusts content as the content of file. A symbolic link is Invalid. A store that others may write to
// is Denied.
func (t *Store) Add(file string, content []byte) error {
	entry, err := newEntry(file, content)
	if err != nil {
		return err
	}
	if IsLink(entry.File) {
		return sandbox.Errorf(sandbox.Invalid, "%s: found a symbolic link, expected a regular file", jsonc.OneLine(file)).
			WithHint("trust is for a content at one place: put a copy there instead of the link")
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return storeError(err)
	}
	ok, err := t.isSecure()
	if err != nil {
		return err
	}
	if !ok {
		return sandbox.Errorf(sandbox.Denied, "%s: others may write to the trust store", jsonc.OneLine(t.Dir)).
			WithHint("make it yours alone: chmod 700")
	}
	return storeError(writeAtomic(filepath.Join(t.Dir, entry.Sum), []byte(entry.Sum+"\x00"+entry.File)))
}

// Remove removes all entries of file. The error has code NotFound when there was none. The file itself need not exist any more.
func (t *Store) Remove(file string) error {
	resolved, err := resolveFile(file)
	if err != nil {
		return err
	}
	entries, err := t.List()
	if err != nil {
		return err
	}
	removed := false
	for _, e := range entries {
		if e.File != resolved && e.File != file {
			continue
		}
		removed = true
		if err := os.Remove(filepath.Join(t.Dir, e.Sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storeError(err)
		}
	}
	if !removed {
		return sandbox.Errorf(sandbox.NotFound, "%s is not trusted", jsonc.OneLine(file))
	}
	return nil
}

// List returns the entries that count, by file and then by sum.
func (t *Store) List() ([]Entry, error) {
	if ok, err := t.isSecure(); !ok {
		return nil, err
	}
	dir, err := os.ReadDir(t.Dir)
	if err != nil {
		return nil, storeError(err)
	}
	var entries []Entry
	for _, d := range dir {
		if raw, err := hex.DecodeString(d.Name()); err != nil || len(raw) != sha256.Size {
			continue
		}
		e, err := readEntry(filepath.Join(t.Dir, d.Name()))
		if err != nil {
			return nil, err
		}
		if e.Sum == d.Name() {
			entries = append(entries, e)
		}
	}
	sort.Slice(entries, func(i, j int) bool {
		return entries[i].File+"\x00"+entries[i].Sum < entries[j].File+"\x00"+entries[j].Sum
	})
	return entries, nil
}

// Ignored is a part of a store that does not count.
type Ignored struct{ Path, Reason string }

// Ignored returns what does not count: the whole store, or entries.
func (t *Store) Ignored() ([]Ignored, error) {
	ok, err := t.isSecure()
	if err != nil {
		return nil, err
	}
	dir, err := os.ReadDir(t.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, storeError(err)
	case !ok:
		return []Ignored{{t.Dir, "other users may write to it, or own it"}}, nil
	}
	var list []Ignored
	for _, d := range dir {
		path := filepath.Join(t.Dir, d.Name())
		if raw, err := hex.DecodeString(d.Name()); err != nil || len(raw) != sha256.Size {
			continue // a file that is being written
		}
		e, err := readEntry(path)
		switch {
		case err != nil:
			return nil, err
		case e == Entry{}:
			list = append(list, Ignored{path, "it is empty or not a regular file, or other users may write to it"})
		case e.Sum != d.Name() || e.File == "":
			list = append(list, Ignored{path, "its content is damaged"})
		}
	}
	return list, nil
}

// isSecure reports whether the store exists and only the user can write to it.
func (t *Store) isSecure() (bool, error) {
	if !filepath.IsAbs(t.Dir) {
		return false, sandbox.Errorf(sandbox.Invalid, "found the trust store %s, expected an absolute path", jsonc.Clip(t.Dir))
	}
	info, err := os.Stat(t.Dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, storeError(err)
	}
	return info.IsDir() && isOursAlone(info), nil
}

// isOursAlone reports whether the user owns a file and only the user may write to it.
func isOursAlone(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

func newEntry(file string, content []byte) (Entry, error) {
	resolved, err := resolveFile(file)
	if err != nil {
		return Entry{}, err
	}
	h := sha256.New()
	h.Write([]byte(resolved))
	h.Write([]byte{0})
	h.Write(content)
	return Entry{File: resolved, Sum: hex.EncodeToString(h.Sum(nil))}, nil
}

// IsLink reports whether file itself is a symbolic link.
func IsLink(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// resolveFile resolves the directory of file, which need not exist, and not file itself.
func resolveFile(file string) (string, error) {
	if !filepath.IsAbs(file) {
		return "", sandbox.Errorf(sandbox.Invalid, "found the file %s, expected an absolute path", jsonc.Clip(file))
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Clean(file), nil
	}
	return filepath.Join(dir, filepath.Base(file)), storeError(err)
}

// readEntry returns the zero entry for one that is missing or does not count.
func readEntry(name string) (Entry, error) {
	// O_NOFOLLOW: a link planted in the store must not borrow another file's owner.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, storeError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Entry{}, storeError(err)
	}
	if !info.Mode().IsRegular() || !isOursAlone(info) {
		return Entry{}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, jsonc.MaxFile))
	if err != nil {
		return Entry{}, storeError(err)
	}
	sum, file, _ := strings.Cut(string(data), "\x00")
	return Entry{File: file, Sum: sum}, nil
}

// writeAtomic makes name appear with all of data or not at all, also when another
// process does the same.
func writeAtomic(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// storeError gives an error of the file system the matching code.
func storeError(err error) error {
	if err == nil {
		return nil
	}
	return &sandbox.Error{Code: sandbox.CodeOf(err), Op: "trust", Err: err}
}
