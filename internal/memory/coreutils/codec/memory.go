package codec

// Memory counts what readers and writers hold: windows, dictionaries and tables. Streams that follow each other share one,
// which is charged for the largest of them. The zero value and nil charge nothing.
type Memory struct {
	// Reserve charges n more bytes before they are allocated. Its error ends the stream.
	Reserve func(n int) error

	held int
}

// hold charges what a stream of n bytes takes beyond those before it.
func (m *Memory) hold(n int) error {
	if m == nil || m.Reserve == nil || n <= m.held {
		return nil
	}
	if err := m.Reserve(n - m.held); err != nil {
		return err
	}
	m.held = n
	return nil
}

// add charges n bytes that stay until the program ends.
func (m *Memory) add(n int) error {
	if m == nil || m.Reserve == nil {
		return nil
	}
	return m.Reserve(n)
}

// What the libraries take, as measured, in bytes.
const (
	gzipWriterMemory  = 3 << 19
	bzip2WriterFactor = 15 // for each byte of a block, which is sorted
	bzip2ReaderMemory = 1 << 18
	xzWriterMemory    = 9 << 19
	xzReaderMemory    = 1 << 18
	xzSizesMemory     = 16 // of a block in the index of a stream
	zstdReaderMemory  = 1 << 20
	// zstdLeastWindow is charged for each reader: every frame may ask for it, RFC 8878 says, and later frames of a stream are
	// not known at its beginning.
	zstdLeastWindow = 8 << 20
)

// dictionaryWriterMemory returns what a writer of LZMA takes for a dictionary of a size.
func dictionaryWriterMemory(dict int) int { return xzWriterMemory + 5*dict + dict/4 }

// zstdWriterMemory returns what a writer takes at a level of zstd.
func zstdWriterMemory(level int) int {
	switch {
	case level < 3:
		return 5 << 20
	case level < 6:
		return 21 << 19
	case level < 10:
		return 27 << 19
	}
	return 45 << 20
}
