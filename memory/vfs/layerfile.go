package vfs

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"syscall"
)

const layerFiles = 16 // so many a layer keeps open

// layerFile is an open file of a layer. It is guarded by the layer's mu.
type layerFile struct {
	file fs.File
	at   io.ReaderAt
	refs int
	old  bool // to be closed after its last use
}

// file returns l's file, which done takes back.
func (y *Layer) file(l *lowerFile) (*layerFile, syscall.Errno) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.closed {
		return nil, syscall.EIO
	}
	if f := y.files[l]; f != nil {
		f.refs++
		if last := len(y.recent) - 1; y.recent[last] != l {
			y.recent = append(slices.DeleteFunc(y.recent, func(k *lowerFile) bool { return k == l }), l)
		}
		return f, 0
	}
	f, e := y.open(l)
	if e != 0 {
		return nil, e
	}
	if len(y.recent) == layerFiles {
		y.drop(y.recent[0])
		y.recent = slices.Delete(y.recent, 0, 1)
	}
	f.refs = 1
	y.files[l] = f
	y.recent = append(y.recent, l)
	return f, 0
}

// open opens l's file and checks that it is still the one that was described.
func (y *Layer) open(l *lowerFile) (*layerFile, syscall.Errno) {
	file, err := y.fsys.Open(l.origin.path())
	if err != nil {
		return nil, lowerErrno(err)
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || newStamp(info.ModTime()) != l.mtime) {
		_ = file.Close()
		return nil, syscall.ESTALE
	}
	if at, ok := file.(io.ReaderAt); ok && err == nil {
		return &layerFile{file: file, at: at}, 0
	}
	// What can be read only from its beginning, as in a zip, is read at once.
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(file, l.size))
	}
	if err != nil {
		_ = file.Close()
		return nil, lowerErrno(err)
	}
	return &layerFile{file: file, at: bytes.NewReader(data)}, 0
}

func (y *Layer) done(f *layerFile) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if f.refs--; f.refs == 0 && f.old {
		_ = f.file.Close()
	}
}

// drop forgets a file; the caller holds mu and takes it out of recent.
func (y *Layer) drop(l *lowerFile) {
	f := y.files[l]
	delete(y.files, l)
	if f.old = true; f.refs == 0 {
		_ = f.file.Close()
	}
}
