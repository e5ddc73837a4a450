package program

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// ErrTooBig is the error for a file with more than MaxText bytes.
var ErrTooBig = errors.New("memory exhausted")

// MaxText bounds a file that has to be held as a whole.
const MaxText = 256 << 20

// lineCost is about what is held of a line beside its text: where it is, its class, whether it changed.
const lineCost = 48

// ReadInput reads a whole file, "-" being standard input.
func ReadInput(p *shell.Proc, name string) ([]byte, error) {
	in, err := OpenInput(p, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readCounted(p, in, math.MaxInt, func(chunk []byte) int { return len(chunk) })
}

// ReadWhole reads all of in, up to MaxText bytes. The machine counts it, with what its lines will take.
func ReadWhole(p *shell.Proc, in io.Reader) ([]byte, error) {
	return readCounted(p, in, MaxText, func(chunk []byte) int { return 2*len(chunk) + lineCost*bytes.Count(chunk, []byte("\n")) })
}

// readCounted reads all of in, up to most bytes, at a cost of memory for what is held of each chunk.
func readCounted(p *shell.Proc, in io.Reader, most int, cost func(chunk []byte) int) ([]byte, error) {
	var b bytes.Buffer
	for {
		b.Grow(BufferSize)
		n, err := in.Read(b.AvailableBuffer()[:BufferSize])
		chunk := b.AvailableBuffer()[:n]
		if e := p.Reserve(cost(chunk)); e != nil {
			return nil, e
		}
		b.Write(chunk)
		if e := p.Spend(1 + n>>6); e != nil {
			return nil, e
		}
		if IsEnd(err) {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		if b.Len() > most {
			return nil, ErrTooBig
		}
	}
}
