package regex

import (
	"bytes"
	"strings"
)

// needle is a text to look for by its rarest byte.
type needle struct {
	text []byte
	rare int // position of the rarest byte in text
}

// common has the bytes of ordinary text, the most frequent first.
const common = " etaoinsrhldcumfpgwybvkxjqz\n.,0123456789-_/()\"':;=ETAOINSRHLDCUMFPGWYBVKXJQZ"

func newNeedle(text []byte) needle {
	n := needle{text: text}
	best := -1
	for i, c := range text {
		rank := strings.IndexByte(common, c)
		if rank < 0 {
			rank = len(common)
		}
		if rank > best {
			best, n.rare = rank, i
		}
	}
	return n
}

// index is bytes.Index.
func (n *needle) index(b []byte) int {
	if len(n.text) == 0 {
		return 0
	}
	vain := 0
	for i := n.rare; i < len(b); i++ {
		o := bytes.IndexByte(b[i:], n.text[n.rare])
		if o < 0 {
			return -1
		}
		i += o
		if bytes.HasPrefix(b[i-n.rare:], n.text) {
			return i - n.rare
		}
		// In a text that is full of that byte, looking for all of them together is faster.
		if vain++; vain > 8+i>>5 {
			at := i - n.rare + 1
			if o = bytes.Index(b[at:], n.text); o < 0 {
				return -1
			}
			return at + o
		}
	}
	return -1
}
