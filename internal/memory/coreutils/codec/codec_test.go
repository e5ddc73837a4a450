package codec

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

var samples = map[string][]byte{
	"nothing": {}, "one byte": {'x'}, "two bytes": []byte("ab"), "one byte often": bytes.Repeat([]byte{0}, 100000),
	"a word often": bytes.Repeat([]byte("hello world\n"), 90000), "runs of four": bytes.Repeat([]byte("aaaabbbbb"), 5000),
	"runs of 255 to 260": []byte(strings.Repeat("x", 255) + "y" + strings.Repeat("x", 256) + "y" + strings.Repeat("x", 259) + "y" + strings.Repeat("x", 260)),
	"noise":              noise(300000), "banana": []byte("banana"), "all bytes": allBytes(),
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // It never fails.
	return b
}

func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

var programs = map[Format]string{Gzip: "gzip", Bzip2: "bzip2", Xz: "xz", Lzma: "lzma", Zstd: "zstd"}

func compressed(t *testing.T, f Format, level int, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(f, &b, level, int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func piped(t *testing.T, data []byte, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = bytes.NewReader(data)
	var msg bytes.Buffer
	cmd.Stderr = &msg
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, msg.String())
	}
	return out
}

func Test_Real_Programs_Read_Our_Output(t *testing.T) {
	t.Parallel()
	for f, program := range programs {
		for name, data := range samples {
			t.Run(program+" "+name, func(t *testing.T) {
				t.Parallel()
				for _, level := range []int{1, 6, 9} {
					packed := compressed(t, f, level, data)
					if got := piped(t, packed, program, "-dc"); !bytes.Equal(got, data) {
						t.Errorf("level %d: %d bytes came back, want %d", level, len(got), len(data))
					}
				}
			})
		}
	}
}

func Test_Output_Of_Real_Programs_Can_Be_Read(t *testing.T) {
	t.Parallel()
	for f, program := range programs {
		for name, data := range samples {
			t.Run(program+" "+name, func(t *testing.T) {
				t.Parallel()
				packed := piped(t, data, program, "-c")
				if f != Lzma {
					packed = append(packed, packed...)
				}
				if got := Sniff(packed); got != f {
					t.Fatalf("it looks like %v", got)
				}
				got, err := io.ReadAll(NewReader(f, bufio.NewReader(bytes.NewReader(packed)), nil))
				if err != nil {
					t.Fatal(err)
				}
				want := data
				if f != Lzma {
					want = append(bytes.Clone(data), data...)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%d bytes came back, want %d", len(got), len(want))
				}
			})
		}
	}
}

func Test_A_Stream_That_Is_Cut_Or_Spoilt_Is_Found(t *testing.T) {
	t.Parallel()
	data := samples["a word often"][:20000]
	for f, program := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			packed := compressed(t, f, 6, data)
			for n := range len(packed) {
				got, err := io.ReadAll(NewReader(f, bufio.NewReader(bytes.NewReader(packed[:n])), nil))
				if want := FaultOf(err); want != Truncated && want != NotFormat {
					t.Fatalf("cut at %d of %d: %d bytes, %v", n, len(packed), len(got), err)
				}
			}
			for i := range packed {
				spoilt := bytes.Clone(packed)
				spoilt[i] ^= 0x10
				got, err := io.ReadAll(NewReader(f, bufio.NewReader(bytes.NewReader(spoilt)), nil))
				// A header of gzip has bytes that do not matter, and lzma has no check sum.
				if err == nil && !bytes.Equal(got, data) && f != Lzma {
					t.Fatalf("spoilt at %d of %d: %d bytes, no error", i, len(packed), len(got))
				}
				if err != nil && FaultOf(err) == 0 {
					t.Fatalf("spoilt at %d: %v is no fault", i, err)
				}
			}
		})
	}
}

func Test_Rotations_Are_Sorted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "ab", "ba", "aaaa", "abab", "banana", "mississippi", "zyxzyxzyx", "abracadabra", "cabcab"} {
		got, origin := rotationSort([]byte(text))
		if back := unrotated(got, origin); string(back) != text {
			t.Errorf("%s becomes %s", text, back)
		}
	}
}

// unrotated finds the text by sorting the column again and again.
func unrotated(last []byte, origin int) []byte {
	var count, before [256]int
	for _, c := range last {
		count[c]++
	}
	sum := 0
	for c, n := range count {
		before[c] = sum
		sum += n
	}
	next := make([]int, len(last))
	for i, c := range last {
		next[before[c]] = i
		before[c]++
	}
	out := make([]byte, 0, len(last))
	for at := next[origin]; len(out) < len(last); at = next[at] {
		out = append(out, last[at])
	}
	return out
}
