package charset

// charsetSample is a text in a character set.
type charsetSample struct {
	Names []string // of the character set
	Text  string   // "ab" in it
}

// CharsetSamples returns a sample for each character set.
func CharsetSamples() []charsetSample {
	var samples []charsetSample
	for _, c := range charsets() {
		encode := c.encoder()
		text, _ := encode(nil, 'a')
		text, _ = encode(text, 'b')
		samples = append(samples, charsetSample{Names: c.names, Text: string(text)})
	}
	return samples
}
