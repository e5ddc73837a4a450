package vfs

// Load reads into memory what the file with that inode number still takes from name in the
// layer, because name is about to change. It is no error if it takes nothing from there. The
// limits hold: ENOSPC.
func (l *Layer) Load(f *FS, ino uint64, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.inode(ino)
	if n == nil || n.lower == nil || n.lower.origin.dir.layer != l || n.lower.origin.path() != name {
		return nil
	}
	n = f.own(n)
	mtime, ctime := n.mtime, n.ctime
	for off := int64(0); off < n.lower.size; off += chunkSize {
		if n.chunk(uint64(off)>>chunkBits) != nil {
			continue
		}
		part := make([]byte, min(chunkSize, n.lower.size-off))
		e := n.lower.readAt(part, off)
		if e == 0 {
			_, _, e = f.write(n, part, off, mtime)
		}
		if e != 0 {
			return pathError("load", name, e)
		}
	}
	n.mtime, n.ctime, n.lower = mtime, ctime, nil
	return nil
}
