package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

type readInput struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset,omitempty" jsonschema:"the first byte that is returned"`
	Limit  int    `json:"limit,omitempty" jsonschema:"bytes that are returned; 1048576 without it, 4194304 at most"`
}

type readOutput struct {
	Content  string `json:"content"`
	Encoding string `json:"encoding" jsonschema:"utf-8 or base64"`
	Bytes    int    `json:"bytes" jsonschema:"how many were returned"`
	More     bool   `json:"more" jsonschema:"whether the file goes on"`
}

func (b *boxed) read(ctx context.Context, in readInput) (out readOutput, err error) {
	switch {
	case in.Offset < 0:
		return out, sandbox.Errorf(sandbox.Invalid, "offset: %d is before the file", in.Offset)
	case in.Limit < 0 || in.Limit > mostFile:
		return out, sandbox.Errorf(sandbox.Invalid, "limit: expected 1 to %d, got %d", mostFile, in.Limit)
	case in.Limit == 0:
		in.Limit = maxFile
	}
	f, err := b.sandbox().Files().Open(ctx, b.name(in.Path))
	if err != nil {
		return out, err
	}
	defer f.Close() // the result is read; Close reports unread data
	if _, err := io.CopyN(io.Discard, f, in.Offset); err != nil && !errors.Is(err, io.EOF) {
		return out, err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(in.Limit)+1))
	if err != nil {
		return out, err
	}
	if out.More = len(data) > in.Limit; out.More {
		data = data[:in.Limit]
	}
	out.Content, out.Encoding, out.Bytes = string(data), "utf-8", len(data)
	if !utf8.Valid(data) {
		out.Content, out.Encoding = base64.StdEncoding.EncodeToString(data), "base64"
	}
	return out, nil
}

type writeInput struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Encoding string `json:"encoding,omitempty" jsonschema:"of content: utf-8 or base64; utf-8 without it"`
	Mode     string `json:"mode,omitempty" jsonschema:"octal permissions; 0644 without it"`
}

type writeOutput struct {
	Bytes int `json:"bytes"`
}

func (b *boxed) write(ctx context.Context, in writeInput) (out writeOutput, err error) {
	data := []byte(in.Content)
	switch in.Encoding {
	case "", "utf-8":
	case "base64":
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return out, sandbox.Errorf(sandbox.Invalid, "content: %w", err)
		}
	default:
		return out, sandbox.Errorf(sandbox.Invalid, "encoding: expected utf-8 or base64, got %.100q", in.Encoding)
	}
	mode := uint64(0o644)
	if in.Mode != "" {
		if mode, err = strconv.ParseUint(in.Mode, 8, 32); err != nil || mode > 0o777 {
			return out, sandbox.Errorf(sandbox.Invalid, "mode: expected octal permissions up to 0777, got %.100q", in.Mode)
		}
	}
	err = b.sandbox().Files().Create(ctx, b.name(in.Path), fs.FileMode(mode), bytes.NewReader(data))
	return writeOutput{len(data)}, err
}

type listInput struct {
	Path string `json:"path,omitempty" jsonschema:"the start directory without it"`
}

type listOutput struct {
	Entries []entry `json:"entries"`
	More    bool    `json:"more" jsonschema:"whether there are more entries than are returned"`
}

type entry struct {
	Name   string `json:"name"`
	Type   string `json:"type" jsonschema:"file, directory, link or other"`
	Size   int64  `json:"size"`
	Mode   string `json:"mode" jsonschema:"octal permissions"`
	Time   string `json:"modified"`
	Target string `json:"target,omitempty" jsonschema:"where a link leads"`
}

func (b *boxed) list(ctx context.Context, in listInput) (listOutput, error) {
	if in.Path == "" {
		in.Path = "."
	}
	all, err := b.sandbox().Files().List(ctx, b.name(in.Path))
	if err != nil {
		return listOutput{}, err
	}
	out := listOutput{Entries: []entry{}, More: len(all) > maxEntries}
	for _, f := range all[:min(len(all), maxEntries)] {
		out.Entries = append(out.Entries, entry{
			Name: validText(f.Name), Type: fileType(f.Mode), Size: f.Size, Target: validText(f.Target),
			Mode: "0" + strconv.FormatUint(uint64(f.Mode.Perm()), 8), Time: f.Time.UTC().Format(time.RFC3339),
		})
	}
	return out, nil
}

// name returns the absolute path of a client's name.
func (b *boxed) name(path string) string {
	if b.options.Dir == "" || strings.HasPrefix(path, "/") {
		return path
	}
	return b.options.Dir + "/" + path
}

func fileType(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

type snapshotInput struct {
	Name string `json:"name" jsonschema:"up to 63 letters, digits, '_', '.' and '-'"`
}

type snapshotOutput struct {
	Name string `json:"name"`
}

func (b *boxed) snapshot(ctx context.Context, in snapshotInput) (snapshotOutput, error) {
	return snapshotOutput(in), b.sandbox().Snapshot(ctx, in.Name)
}

func (b *boxed) restore(ctx context.Context, in snapshotInput) (snapshotOutput, error) {
	return snapshotOutput(in), b.sandbox().Restore(ctx, in.Name)
}

type snapshotsOutput struct {
	Snapshots []sandbox.SnapshotInfo `json:"snapshots"`
}

func (b *boxed) snapshots(ctx context.Context, _ struct{}) (snapshotsOutput, error) {
	list, err := b.sandbox().Snapshots(ctx)
	if list == nil {
		list = []sandbox.SnapshotInfo{}
	}
	return snapshotsOutput{list}, err
}
