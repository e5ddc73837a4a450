package assistant

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The bounds of the content that can be trusted.
const (
	maxTrustedFiles = 20_000
	maxTrustedBytes = 256 << 20
	maxTrustedDepth = 32
)

// IsTrusted reports whether the user trusts the assistant as it was read: it belongs to the user's own configuration, or the user
// trusted its exact content.
func (a *Assistant) IsTrusted() bool { return a.trusted }

// CheckTrust returns nil for a trusted assistant, and otherwise an error with code Denied and the command that trusts it. Use
// nothing of an assistant that is not trusted: its connector decides which server receives the users' messages and a key of this
// host, its servers and its key's command run on this host, and its hooks and prompts speak for the user.
func (a *Assistant) CheckTrust() error {
	if a.trusted {
		return nil
	}
	return sandbox.Errorf(sandbox.Denied, "the assistant %s is not trusted as it is now (%s)", a.Name, jsonc.OneLine(a.File)).
		WithHint("read it, then run: agent-sandbox trust %s", shellWord(a.File))
}

// shellWord quotes a path for a shell if that is necessary.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%"
	if strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Content lists the files that have to be trusted, one per line: every file of the assistant's directory except .git, and every
// connector of its root, each with the hash of its content, its executable bit and its name. Any change to a file that can run
// changes the content. Denied: a link leads out of the assistant's directory. Exhausted: there are too many files or bytes.
func (a *Assistant) Content() ([]byte, error) {
	if a.content != nil {
		return a.content, nil
	}
	t, err := a.root.tree()
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	return collectContent(t, a.Name, maps.Clone(a.sums))
}

// Digest returns the SHA-256 of Content in hex.
func (a *Assistant) Digest() (string, error) {
	content, err := a.Content()
	return hashContent(content), err
}

// ReadFile reads a file of the assistant, at most MaxFile bytes, by its slash-separated path below Dir. Denied: the assistant is
// trusted by its content, and the file has changed since.
func (a *Assistant) ReadFile(name string) ([]byte, error) {
	at := path.Join(assistantsDir, a.Name, name)
	if !fs.ValidPath(name) {
		return nil, sandbox.Errorf(sandbox.Denied, "%s is not a path inside the assistant", jsonc.Clip(name))
	}
	t, err := a.root.tree()
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	data, err := t.read(at, MaxFile)
	if err == nil && a.content != nil && a.sums[at] != hashContent(data) {
		err = sandbox.Errorf(sandbox.Denied, "%s has changed since the assistant was read", jsonc.OneLine(t.abs(at)))
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Vouch checks data that the caller read from a file of the assistant by other means than [Assistant.ReadFile]. Denied: the
// assistant is trusted by its content, and data is not the content of any trusted file.
func (a *Assistant) Vouch(data []byte) error {
	if a.content == nil {
		return nil
	}
	sum := hashContent(data)
	for _, known := range a.sums {
		if known == sum {
			return nil
		}
	}
	return sandbox.Errorf(sandbox.Denied, "it has changed since the assistant was read")
}

// trust looks up whether the user trusts the assistant.
func (l *loading) trust() {
	a, r := l.a, l.a.root
	a.trusted = r.Own
	if !r.Own && a.File != "" && IsValid(l.problems) {
		var err error
		a.content, err = collectContent(l.t, a.Name, a.sums)
		if err == nil && r.Trust != nil {
			a.trusted, err = r.Trust.Trusted(a.File, a.content)
		}
		if err != nil {
			l.add(convertError(a.Dir, err))
		}
	}
	if a.Sandbox != nil {
		a.Sandbox.Layer.Trusted = a.trusted
	}
}

// collectContent returns the content of an assistant. sums has the hashes of files that were already read, and gets those of the
// others.
func collectContent(t *tree, name string, sums map[string]string) ([]byte, error) {
	s := &summing{t: t, sums: sums, left: maxTrustedBytes, top: path.Join(assistantsDir, name)}
	err := s.dir(s.top, 0)
	places := findConnectors(t)
	for _, id := range places.ids() {
		if err == nil {
			err = s.file(places.byID[id])
		}
	}
	if err != nil {
		return nil, err
	}
	return []byte(s.out.String()), nil
}

// summing is the state of collectContent.
type summing struct {
	t     *tree
	top   string
	sums  map[string]string // known hashes are not computed again: what was read is what is trusted
	out   strings.Builder
	files int
	left  int64
}

func (s *summing) dir(name string, depth int) error {
	entries, err := s.t.entries(name)
	if err != nil {
		return err
	}
	if depth > maxTrustedDepth {
		return s.tooMuch()
	}
	for _, e := range entries {
		at := path.Join(name, e.Name())
		switch {
		case e.Name() == ".git":
		case e.IsDir():
			err = s.dir(at, depth+1)
		case e.Type()&fs.ModeSymlink != 0:
			err = s.link(at)
		default:
			err = s.file(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link adds a symbolic link. Its target must be part of the content.
func (s *summing) link(name string) error {
	target, err := s.t.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return s.t.fileError(name, err)
	}
	to := path.Join(path.Dir(name), filepath.ToSlash(target))
	// if b is a link, "b/../x" is not x
	if filepath.IsAbs(target) || path.Clean(target) != target || to != s.top && !strings.HasPrefix(to, s.top+"/") {
		e := jsonc.Problem{
			File: s.t.abs(name), Text: "found a symbolic link that leads out of the assistant, whose content could not be trusted",
		}.Err()
		e.Code = sandbox.Denied
		return e
	}
	if _, err := s.t.root.Stat(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.t.fileError(name, err)
	}
	fmt.Fprintf(&s.out, "link %s %s\n", strconv.Quote(target), strconv.Quote(name))
	return s.count(0)
}

func (s *summing) file(name string) error {
	f, info, err := s.t.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, known := s.sums[name]
	if !known {
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(f, s.left+1))
		if err != nil {
			return s.t.fileError(name, err)
		}
		if err := s.count(n); err != nil {
			return err
		}
		sum = hex.EncodeToString(h.Sum(nil))
		s.sums[name] = sum
	}
	bit := "-"
	if info.Mode()&0o111 != 0 {
		bit = "x"
	}
	fmt.Fprintf(&s.out, "%s %s %s\n", bit, sum, strconv.Quote(name))
	return s.count(0)
}

func (s *summing) count(bytes int64) error {
	s.left -= bytes
	if bytes == 0 {
		s.files++
	}
	if s.left < 0 || s.files > maxTrustedFiles {
		return s.tooMuch()
	}
	return nil
}

func (s *summing) tooMuch() error {
	e := jsonc.Problem{
		File: s.t.abs(s.top), Hint: "put what it does not need elsewhere, such as node_modules of a server",
		Text: fmt.Sprintf("found too much to be trusted, expected at most %d files and %s", maxTrustedFiles, sandbox.Bytes(maxTrustedBytes)),
	}.Err()
	e.Code = sandbox.Exhausted
	return e
}

func hashContent(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
