package house_test

import (
	"debug/elf"
	"os"
	"testing"
)

// elfFacts returns a program's size and whether it names a dynamic loader.
func elfFacts(t *testing.T, name string) (size int64, interp bool) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		interp = interp || p.Type == elf.PT_INTERP
	}
	return info.Size(), interp
}
