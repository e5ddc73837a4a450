package coreutils

// charsetSample is a text in a character set.
type charsetSample struct {
	names []string // of the character set
	text  string   // "ab" in it
}

// charsetSamples returns a sample for each character set.
func charsetSamples() []charsetSample {
	var samples []charsetSample
	for _, c := range charsets() {
		encode := c.encoder()
		text, _ := encode(nil, 'a')
		text, _ = encode(text, 'b')
		samples = append(samples, charsetSample{names: c.names, text: string(text)})
	}
	return samples
}
