package policy

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// readWrapper returns the text of the script that a rule names.
func readWrapper(r commandRule, dir, home string) ([]byte, error) {
	written := string(r.rule)
	path := written
	switch rest, tilde := strings.CutPrefix(written, "~/"); {
	case tilde && home == "":
		return nil, layerErrorf(r.layer, r.key, "found %s, but there is no home directory, expected another path", clip(written))
	case tilde:
		path = filepath.Join(home, rest)
	case !filepath.IsAbs(written):
		path = filepath.Join(dir, written)
	}
	text, err := readRegular(path)
	if err != nil {
		wrong := layerErrorf(r.layer, r.key, "script %s: %w", oneLine(path), err.Err)
		wrong.Code = err.Code
		return nil, wrong
	}
	// The launcher executes the text itself: without the first line that would fail
	// at every use.
	if !strings.HasPrefix(string(text), "#!") {
		return nil, layerErrorf(r.layer, r.key, "script %s: found no #! line, expected one such as #!/bin/sh", oneLine(path))
	}
	return text, nil
}

// neighborTree returns the directory that must come along when program runs from
// another place, or "". A script of a Node package loads files beside itself and
// from packages beside its own; its node_modules directory holds both. Nothing wider
// is taken along for other scripts: two levels above ~/bin/tool is the home directory.
func neighborTree(program string) string {
	if !isScript(program) {
		return ""
	}
	before, _, ok := strings.Cut(program, "/node_modules/")
	if !ok {
		return ""
	}
	return before + "/node_modules"
}

func isScript(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// linkCount is how many names a file has.
func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // 32 or 16 bits wide on other systems
	}
	return 1
}
