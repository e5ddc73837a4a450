package transfer

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// PutStream extracts the user's own archive into a directory of a sandbox. If the stream is not a tar archive, it
// becomes the content of the file insidePath. When ctx ends, PutStream returns; a read of r that waits then, as one of a terminal or
// a pipe does, goes on until r has something, and its bytes are dropped.
func PutStream(ctx context.Context, box *sandbox.Sandbox, r io.Reader, insidePath string) error {
	passed, w := io.Pipe()
	defer passed.Close()
	defer context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })() // documented to return nil
	go func() {                                                                // nothing stops a read of standard input
		_, err := io.Copy(w, r)
		_ = w.CloseWithError(err) // documented to return nil
	}()
	input := bufio.NewReader(passed)
	first, err := input.Peek(tarBlock)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !isTar(first) {
		return putFile(ctx, box, input, insidePath)
	}
	t, err := treesOf(box)
	if err != nil {
		return err
	}
	return t.Unpack(ctx, insidePath, input)
}

// tarBlock is the size of an archive's header in bytes; pax(1), "ustar Interchange Format".
const tarBlock = 512

// isTar reports whether the first block of a stream is one of a tar archive: a header with the right checksum, or the end of an
// archive without entries.
func isTar(first []byte) bool {
	if len(first) < tarBlock {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(first)).Next()
	return !errors.Is(err, tar.ErrHeader)
}

// putFile writes a stream to a file of a sandbox.
func putFile(ctx context.Context, box *sandbox.Sandbox, r io.Reader, insidePath string) error {
	if dir, err := isInsideDir(ctx, box, insidePath); err != nil {
		return err
	} else if dir {
		return sandbox.Errorf(sandbox.Invalid, "%s is a directory in the sandbox, and the input is not a tar archive", insidePath).
			WithHint("name the file, as in NAME:DIRECTORY/FILE")
	}
	dest, _, err := resolveInside(ctx, box, "-", insidePath, false)
	if err != nil {
		return err
	}
	return box.Files().Create(ctx, dest, 0o644, plainReader{ctx, r})
}

// GetTar writes a file or directory of a sandbox as tar, below its base name, with the names and links that [Out] would
// create. It returns the names of the others in left.
func GetTar(ctx context.Context, box *sandbox.Sandbox, insidePath string, w io.Writer, o OutOptions) (left []string, err error) {
	dir, err := isInsideDir(ctx, box, insidePath)
	if err == nil && !dir {
		return nil, fileTar(ctx, box, insidePath, w, o)
	}
	if err != nil {
		return nil, err
	}
	t, err := treesOf(box)
	if err != nil {
		return nil, err
	}
	base := path.Base(insidePath)
	if isContents(insidePath) || base == ".." || base == "/" {
		base = "."
	}
	r, err := t.Pack(ctx, insidePath)
	if err != nil {
		return nil, err
	}
	left, err = rename(ctx, r, w, base, o)
	if err != nil {
		_ = r.Close() // the first error counts
		return left, archiveError(err)
	}
	return left, r.Close()
}

// fileTar writes one file as tar.
func fileTar(ctx context.Context, box *sandbox.Sandbox, insidePath string, w io.Writer, o OutOptions) error {
	base, err := safeBase(insidePath)
	if err != nil {
		return err
	}
	info, err := box.Files().Stat(ctx, insidePath)
	if err != nil {
		return err
	}
	if !info.Mode.IsRegular() {
		return sandbox.Errorf(sandbox.Invalid, "%s is neither a file nor a directory", insidePath)
	}
	if o.Bytes > 0 && info.Size > o.Bytes {
		return archiveError(fmt.Errorf("%w: more than %d bytes", ErrTooBig, o.Bytes))
	}
	r, err := box.Files().Open(ctx, insidePath)
	if err != nil {
		return err
	}
	if o.Created != nil {
		o.Created(base)
	}
	out := tar.NewWriter(w)
	err = out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: base, Size: info.Size, Mode: int64(info.Mode.Perm()), ModTime: info.Time.Truncate(time.Second),
	})
	if err == nil {
		_, err = io.CopyBuffer(plainWriter{out}, plainReader{ctx, r}, make([]byte, bufferSize))
	}
	return errors.Join(err, r.Close(), out.Close())
}

// rename copies an archive and puts all names below base.
func rename(ctx context.Context, r io.Reader, w io.Writer, base string, o OutOptions) ([]string, error) {
	u := &unpacker{ctx: ctx, tar: tar.NewReader(plainReader{ctx, r}), options: Options{Limits: o.Limits, Created: o.created(base)}}
	out, buf := tar.NewWriter(w), make([]byte, bufferSize)
	for {
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, io.LimitReader(r, maxTrailer))
			return u.left, errors.Join(err, out.Close())
		}
		if err != nil {
			return u.left, err
		}
		name, err := u.admit(h)
		if err != nil {
			return u.left, err
		}
		if name == "" {
			continue
		}
		plain := &tar.Header{
			Typeflag: h.Typeflag, Name: path.Join(base, name), Linkname: h.Linkname, Size: h.Size, Mode: h.Mode & 0o777, ModTime: h.ModTime,
		}
		switch h.Typeflag {
		case tar.TypeDir:
			plain.Name += "/"
		case tar.TypeLink:
			link, err := cleanName(h.Linkname)
			if err != nil {
				return u.left, err
			}
			plain.Linkname = base + "/" + link
		case tar.TypeGNUSparse:
			plain.Typeflag = tar.TypeReg
		}
		if err := out.WriteHeader(plain); err != nil {
			return u.left, err
		}
		if _, err := io.CopyBuffer(plainWriter{out}, plainReader{ctx, u.tar}, buf); err != nil {
			return u.left, err
		}
	}
}
