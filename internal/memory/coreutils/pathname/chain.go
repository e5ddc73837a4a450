package pathname

// Chain are the directories around what is copied, against circles of links.
type Chain struct {
	Ino  uint64
	Next *Chain
}

// Has reports whether a directory of the chain has the inode number. A nil chain is empty.
func (d *Chain) Has(ino uint64) bool {
	for ; d != nil; d = d.Next {
		if d.Ino == ino {
			return true
		}
	}
	return false
}
