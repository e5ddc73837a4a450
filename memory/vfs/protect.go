package vfs

// Protect sets what may be done with what is at a path; a link is not followed. It is for whoever
// furnishes a tree: no Cred is asked, and what is Masked stays as it is but for what keeps it from being
// read. Snapshots and forks keep it, packs do not. It returns what was set before.
func (f *FS) Protect(path string, p Protection) (before Protection, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, e := f.find(&Cred{}, path, false)
	if e == 0 {
		n = f.own(n)
		before, n.protection = n.protection, p
	}
	return before, pathError("protect", path, e)
}
