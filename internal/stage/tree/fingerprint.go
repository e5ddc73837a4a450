package tree

// Fingerprint identifies one state of an entry.
type Fingerprint struct {
	Inode uint64 `json:"i"`
	Size  int64  `json:"s"`
	Mtime int64  `json:"m"`
	Ctime int64  `json:"c"`
	Mode  uint32 `json:"p"` // with the type
	Links uint64 `json:"l"`
}

// IsSame reports whether two fingerprints describe the same state. It ignores the change time of a file with several
// names, because the removal of another name changes it.
func (f Fingerprint) IsSame(other Fingerprint) bool {
	if f.Links > 1 || other.Links > 1 {
		f.Ctime, f.Links = other.Ctime, other.Links
	}
	return f == other
}
