// Package arglist hands a program its arguments in a file instead of on its command line: bubblewrap takes 9,000 arguments
// in all, its own options among them (MAX_ARGS in bubblewrap.c), and a shell's pattern can expand to more.
package arglist

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

// Command is the guest's operation that executes the command in a file.
const Command = "arguments"

// Line returns the command line that executes the command which the inherited descriptor fd contains.
func Line(fd int) []string { return []string{layout.Program, Command, strconv.Itoa(fd)} }

// Encode returns the content of such a file: each argument with a NUL byte after it. No argument contains one.
func Encode(args []string) []byte {
	var b bytes.Buffer
	for _, arg := range args {
		b.WriteString(arg)
		b.WriteByte(0)
	}
	return b.Bytes()
}

// Read reads the arguments in the inherited descriptor whose number is the only one of words, and closes it.
func Read(words []string) ([]string, error) {
	if len(words) != 1 {
		return nil, fmt.Errorf("%d arguments; expected the number of a descriptor", len(words))
	}
	fd, err := strconv.Atoi(words[0])
	if err != nil || fd <= 2 {
		return nil, fmt.Errorf("invalid descriptor %q; expected a number above 2", words[0])
	}
	f := os.NewFile(uintptr(fd), "arguments")
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	text, ended := strings.CutSuffix(string(data), "\x00")
	if !ended {
		return nil, fmt.Errorf("read the arguments: %d bytes without an end", len(data))
	}
	return strings.Split(text, "\x00"), nil
}
