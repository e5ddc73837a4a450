package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// attachments is the directory of attached files in a workspace.
const attachments = ".attachments"

// Attachment is a file that a user attached, in a workspace.
type Attachment struct {
	Path      string `json:"path"`       // relative to the workspace, with slashes
	MediaType string `json:"media_type"` // detected from the content
	Size      int64  `json:"size"`       // bytes
	Data      []byte `json:"-"`          // of a message's part; nil for other files
}

// String returns the line that replaces the file in a message.
func (a Attachment) String() string {
	return fmt.Sprintf("[Attached file: %s (%s, %s)]", a.Path, a.MediaType, formatSize(a.Size))
}

// Attach copies a file into the workspace and does not replace files of the same name. It reads at most
// Options.MaxAttachment; Exhausted: the file is longer, and nothing of it remains. Attach makes the name safe.
func (w *Workspace) Attach(ctx context.Context, name string, from io.Reader) (Attachment, error) {
	dir, err := w.attachments()
	if err != nil {
		return Attachment{}, err
	}
	defer dir.Close()
	f, name, err := createFile(dir, safeName(name), nil)
	if err != nil {
		return Attachment{}, err
	}
	a, err := w.fill(ctx, f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = dir.Remove(name) // the first error is returned
		if _, ok := errors.AsType[*sandbox.Error](err); !ok {
			err = sandbox.Errorf(sandbox.CodeOf(err), "attach %s: %w", quoteBriefly(name), err)
		}
		return Attachment{}, err
	}
	a.Path = path.Join(attachments, name)
	return a, nil
}

// Place converts a message for a program that has the workspace and reads only text: it writes files and images into the
// workspace, once for each name and content, and replaces each with a line. It returns the files with the message.
func (w *Workspace) Place(ctx context.Context, m message.Message) (message.Message, []Attachment, error) {
	out := message.Message{Role: m.Role}
	var files []Attachment
	for i, p := range m.Parts {
		if p.Type == message.Text || len(p.Data) == 0 {
			out.Parts = append(out.Parts, p)
			continue
		}
		if p.Name == "" {
			p.Name = fmt.Sprintf("%s-%d%s", p.Type, i+1, extension(p))
		}
		a, err := w.placed(ctx, p)
		if err != nil {
			return message.Message{}, nil, err
		}
		a.Data = p.Data
		files = append(files, a)
		out.Parts = append(out.Parts, message.Part{Type: message.Text, Text: a.String()})
	}
	return out, files, nil
}

// placed returns the path of a part's data in the workspace and writes the file if it is missing.
func (w *Workspace) placed(ctx context.Context, p message.Part) (Attachment, error) {
	dir, err := w.attachments()
	if err != nil {
		return Attachment{}, err
	}
	defer dir.Close()
	f, name, err := createFile(dir, safeName(p.Name), p.Data)
	if err != nil {
		return Attachment{}, err
	}
	if f == nil {
		return Attachment{Path: path.Join(attachments, name), MediaType: mediaType(p.Data), Size: int64(len(p.Data))}, nil
	}
	a, err := w.fill(ctx, f, bytes.NewReader(p.Data))
	if err = errors.Join(err, f.Close()); err != nil {
		_ = dir.Remove(name) // the first error is returned
		return Attachment{}, err
	}
	a.Path = path.Join(attachments, name)
	return a, nil
}

// attachments opens the directory of attached files. An agent may have replaced it with anything: links are not followed,
// even if one appears meanwhile.
func (w *Workspace) attachments() (*os.Root, error) {
	wrong := sandbox.Errorf(sandbox.Denied, "the workspace has something else than a directory at %s", attachments).WithHint("remove %s/%s", w.Dir, attachments)
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.CodeOf(err), "workspace: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(attachments, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, sandbox.Errorf(sandbox.CodeOf(err), "workspace: %w", err)
	}
	info, err := root.Lstat(attachments)
	if err != nil || !info.IsDir() {
		return nil, wrong
	}
	dir, err := root.OpenRoot(attachments)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.CodeOf(err), "workspace: %w", err)
	}
	if opened, err := dir.Stat("."); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(wrong, dir.Close())
	}
	return dir, nil
}

// createFile creates a file with the name, or with the name and a number. If data is given and such a file already has that
// content, create returns its name and no file.
func createFile(dir *os.Root, name string, data []byte) (*os.File, string, error) {
	const most = 1000
	ext := path.Ext(name)
	if ext == name {
		ext = ""
	}
	for n := range most {
		next := name
		if n > 0 {
			next = strings.TrimSuffix(name, ext) + "_" + strconv.Itoa(n) + ext
		}
		f, err := dir.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		switch {
		case err == nil:
			return f, next, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, "", sandbox.Errorf(sandbox.CodeOf(err), "attach %s: %w", quoteBriefly(name), err)
		case data != nil && hasContent(dir, next, data):
			return nil, next, nil
		}
	}
	return nil, "", sandbox.Errorf(sandbox.Exhausted, "attach %s: the workspace has %d files of that name", quoteBriefly(name), most)
}

// hasContent reports whether a file has this content. An agent may have put any file there and may change it meanwhile.
func hasContent(dir *os.Root, name string, data []byte) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return false
	}
	got, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	return err == nil && bytes.Equal(got, data)
}

// fill writes a file and returns its description.
func (w *Workspace) fill(ctx context.Context, f *os.File, from io.Reader) (Attachment, error) {
	most := w.store.opts.MaxAttachment
	var head bytes.Buffer
	n, err := io.Copy(f, io.TeeReader(io.LimitReader(readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return from.Read(p)
	}), most+1), &begin{&head}))
	if err != nil {
		return Attachment{}, err
	}
	if n > most {
		return Attachment{}, sandbox.Errorf(sandbox.Exhausted, "attach %s: over %s, which is the most", quoteBriefly(path.Base(f.Name())), formatSize(most)).
			WithHint("attach a smaller file")
	}
	return Attachment{MediaType: mediaType(head.Bytes()), Size: n}, nil
}

// readFunc makes a function an io.Reader.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// sniffed is the number of bytes from which net/http detects a type.
const sniffed = 512

// begin retains the first bytes that are written to it.
type begin struct{ *bytes.Buffer }

func (b *begin) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), max(0, sniffed-b.Len()))]) // Buffer.Write never fails
	return len(p), nil
}

func mediaType(data []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(data[:min(len(data), sniffed)]), ";")
	return kind
}

// safeName makes a path component from the last one of a given name, without characters that could forge a line.
func safeName(name string) string {
	const most = 120
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	ext := path.Ext(name)
	if len(ext) > 20 {
		ext = ""
	}
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most-len(ext)], "") + ext
	}
	if name == "" {
		return "file"
	}
	return name
}

// extension returns the usual extension of images, which often have no name.
func extension(p message.Part) string {
	return map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}[p.MediaType]
}

func formatSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
