package files

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The two ends of "agent-sandbox files OPERATION NAME..." agree on this:
//
//	open NAME         the file's bytes on stdout
//	create NAME PERM  the file's content on stdin, in chunks; PERM is octal
//	stat NAME         one wireInfo on stdout
//	list NAME         a wireInfo for each entry on stdout, one JSON object a line
//	remove NAME       NAME and all below it
//	rename FROM TO
//	mkdir NAME PERM   NAME and what is missing above it
//	search NAME QUERY a wireQuery as JSON; one wireFound on stdout
//	pack NAME         the directory as tar on stdout
//	unpack NAME       a tar archive on stdin, in chunks
//
// Exit status 0 says that everything was done and written. Status 3 comes with
// exactly one line on stderr, a wireError.
const (
	command   = "files"
	exitFiles = 3

	opOpen   = "open"
	opCreate = "create"
	opStat   = "stat"
	opList   = "list"
	opRemove = "remove"
	opRename = "rename"
	opMkdir  = "mkdir"
	opSearch = "search"
	opPack   = "pack"
	opUnpack = "unpack"
)

// wireInfo is a sandbox.FileInfo that preserves names that are not UTF-8: encoding/json writes []byte
// as base64.
type wireInfo struct {
	Name   []byte      `json:"name"`
	Size   int64       `json:"size"`
	Mode   fs.FileMode `json:"mode"`
	Time   time.Time   `json:"time"`
	Target []byte      `json:"target,omitempty"`
}

// wireQuery and wireFound are the types of package sandbox with names and texts that are preserved as
// in wireInfo.
type wireQuery struct {
	Name []byte `json:"name,omitempty"`
	Text []byte `json:"text,omitempty"`
	Max  int    `json:"max,omitempty"`
}

type wireFound struct {
	Matches []wireMatch `json:"matches"`
	Cut     bool        `json:"cut"`
}

type wireMatch struct {
	Name []byte `json:"name"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
}

type wireError struct {
	Code sandbox.Code `json:"code"`
	Text string       `json:"error"`
}

// maxChunk bounds one chunk of a file being created.
const maxChunk = 64 << 10

// chunkReader turns a stream into chunks: a length of 4 bytes, big endian, then so many bytes; length
// 0 ends the file. Without that end the other side discards the file, so that a source that fails
// half-way does not create half a file.
type chunkReader struct {
	r     io.Reader
	buf   [4 + maxChunk]byte
	ready []byte // bytes of buf that Read has not returned yet
	err   error  // after ready
}

func (c *chunkReader) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		n, err := c.r.Read(c.buf[4:])
		switch {
		case n > 0:
			c.frame(n)
			c.err = err
			if errors.Is(err, io.EOF) {
				c.err = nil // the next Read returns the error again
			}
		case errors.Is(err, io.EOF):
			c.frame(0)
			c.err = io.EOF
		default:
			c.err = err
		}
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

func (c *chunkReader) frame(n int) {
	binary.BigEndian.PutUint32(c.buf[:4], uint32(n))
	c.ready = c.buf[:4+n]
}

var errIncomplete = errors.New("the content ended before it was complete")

// copyChunks writes the content of chunks from in to w.
func copyChunks(w io.Writer, in io.Reader) error {
	var head [4]byte
	r, buf := bufio.NewReaderSize(in, maxChunk+len(head)), make([]byte, maxChunk)
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return errIncomplete
		}
		n := binary.BigEndian.Uint32(head[:])
		if n == 0 {
			return nil
		}
		if n > maxChunk {
			return errIncomplete
		}
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return errIncomplete
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
	}
}
