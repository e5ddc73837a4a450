package diff

import (
	"fmt"
)

// reject writes a hunk to the rejects, in the patch's format.
func (f *patchedFile) reject(fp *filePatch, h *patchHunk) {
	kind := f.j.rejectKind
	if kind == patchUnknown {
		kind = patchContext
		if fp.kind == patchUnified {
			kind = patchUnified
		}
	}
	if f.rejects.Len() == 0 {
		f.rejectHead(fp, kind)
	}
	if kind == patchUnified {
		f.rejectUnified(h)
		return
	}
	f.rejectContext(fp, h)
}

func (f *patchedFile) rejectHead(fp *filePatch, kind patchKind) {
	var title [2]string
	for i := range title {
		side := f.j.side(i)
		switch {
		case fp.names[side] != "":
			title[i] = fp.names[side]
			if fp.rest[side] != "" {
				title[i] += "\t" + fp.rest[side]
			}
		case fp.git:
			title[i] = f.name
		default:
			title[i] = "/dev/null"
		}
	}
	if n := fp.names[sideIndex]; n != "" && fp.names[sideOld] == "" && fp.names[sideNew] == "" {
		f.rejects.WriteString("Index: " + n + "\n") // bounded: ReadWhole has charged for the patch
	}
	marks := [2]string{"***", "---"}
	if kind == patchUnified {
		marks = [2]string{"---", "+++"}
	}
	fmt.Fprintf(&f.rejects, "%s %s\n%s %s\n", marks[0], title[0], marks[1], title[1])
}

func (f *patchedFile) rejectUnified(h *patchHunk) {
	size := func(lines []string, first int) string {
		switch n := len(lines); n {
		case 0:
			return fmt.Sprintf("%d,0", first-1)
		case 1:
			return fmt.Sprint(first)
		default:
			return fmt.Sprintf("%d,%d", first, n)
		}
	}
	fmt.Fprintf(&f.rejects, "@@ -%s +%s @@%s\n", size(h.old(), h.first+f.grown), size(h.fresh(), h.newFirst+f.grown), h.note)
	for _, o := range h.ops {
		f.rejectLine(string([]byte{o.kind}), o.text)
	}
}

// markBoth marks lines that are deleted and added in one place as changed.
func (h *patchHunk) markBoth() {
	for i := 0; i < len(h.ops); i++ {
		end, kinds := i, map[byte]bool{}
		for end < len(h.ops) && h.ops[end].kind != ' ' {
			kinds[h.ops[end].kind] = true
			end++
		}
		for k := i; k < end; k++ {
			h.ops[k].both = len(kinds) == 2
		}
		i = max(i, end-1)
	}
}

func (f *patchedFile) rejectLine(mark, text string) {
	// A missing newline is not marked, as in GNU patch.
	f.rejects.WriteString(mark + text) // bounded: ReadWhole has charged for the patch
}

func (f *patchedFile) rejectContext(fp *filePatch, h *patchHunk) {
	stars, dashes := " ****", " ----"
	if fp.kind == patchNormal || fp.kind == patchContextOld {
		stars, dashes = "", " -----"
	}
	if fp.kind == patchUnified {
		h.markBoth()
	}
	size := func(lines []string, first int) string {
		first += f.grown
		switch n := len(lines); n {
		case 0:
			return "0"
		case 1:
			return fmt.Sprint(first)
		default:
			return fmt.Sprintf("%d,%d", first, first+n-1)
		}
	}
	half := func(kind byte) {
		for _, o := range h.ops {
			switch {
			case o.kind == ' ':
				f.rejectLine("  ", o.text)
			case o.kind == kind && o.both:
				f.rejectLine("! ", o.text)
			case o.kind == kind:
				f.rejectLine(string([]byte{kind, ' '}), o.text)
			}
		}
	}
	fmt.Fprintf(&f.rejects, "***************%s\n*** %s%s\n", h.note, size(h.old(), h.first), stars)
	half('-')
	fmt.Fprintf(&f.rejects, "--- %s%s\n", size(h.fresh(), h.newFirst), dashes)
	half('+')
}
