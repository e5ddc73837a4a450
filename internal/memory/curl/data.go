package curl

import (
	"io"
	"strings"
)

// dataKind says how -d and its variants interpret their argument.
type dataKind uint8

const (
	dataText   dataKind = iota // @FILE without line ends and NUL
	dataBinary                 // @FILE as it is
	dataRaw                    // no @
)

// data is -d, --data-binary and --data-raw.
func (p *parser) data(v string, kind dataKind) error {
	text := []byte(v)
	if name, isFile := strings.CutPrefix(v, "@"); isFile && kind != dataRaw {
		var err error
		if text, err = p.dataFile(name); err != nil {
			return err
		}
		if kind == dataText {
			text = []byte(strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(string(text)))
		}
	}
	return p.post(text, "&")
}

// dataFile reads the data to send. A missing file causes a warning and empty data.
func (p *parser) dataFile(name string) ([]byte, error) {
	text, err := p.tool.readFile(name)
	switch {
	case err == nil:
	case err == errNoMemory || p.tool.p.Context().Err() != nil: //nolint:errorlint // It is made here.
		return nil, err
	default:
		p.tool.warn("Couldn't read data from file \"%s\", this makes an empty POST.", name)
	}
	return text, nil
}

// post adds to the request's body.
func (p *parser) post(text []byte, between string) error {
	if len(p.c.data)+len(text) > maxData {
		return errNoMemory
	}
	// What is empty is not part of its own.
	if len(p.c.data) > 0 {
		text = append([]byte(between), text...)
	}
	p.c.data, p.c.hasData = append(p.c.data, text...), true // bounded: readAll and options are charged
	return nil
}

// encode reads an argument of --data-urlencode: "content", "=content", "name=content", "@file", "name@file".
func (p *parser) encode(v string) (string, error) {
	i := strings.IndexAny(v, "=@")
	if eq := strings.IndexByte(v, '='); eq >= 0 {
		i = eq
	}
	if i < 0 {
		return formEscape(v), nil
	}
	name, content := v[:i], v[i+1:]
	if v[i] == '@' {
		data, err := p.dataFile(content)
		if err != nil {
			return "", err
		}
		content = string(data)
	}
	if p.tool.p.Reserve(escapedWeight*len(content)) != nil {
		return "", errNoMemory
	}
	if name != "" {
		return name + "=" + formEscape(content), nil
	}
	return formEscape(content), nil
}

// escapedWeight is how many bytes of memory a byte takes at most while it is escaped: twice as %20, and as +.
const escapedWeight = 8

// formEscape is escape with + for blanks.
func formEscape(s string) string { return strings.ReplaceAll(escape(s), "%20", "+") }

func (p *parser) dataURLEncode(v string) error {
	text, err := p.encode(v)
	if err != nil {
		return err
	}
	return p.post([]byte(text), "&")
}

func (p *parser) jsonData(v string) error {
	text := []byte(v)
	if name, isFile := strings.CutPrefix(v, "@"); isFile {
		var err error
		if text, err = p.dataFile(name); err != nil {
			return err
		}
	}
	p.c.json = true
	return p.post(text, "")
}

// query is --url-query.
func (p *parser) query(v string) error {
	if raw, ok := strings.CutPrefix(v, "+"); ok {
		p.c.urlQuery = append(p.c.urlQuery, raw)
		return nil
	}
	text, err := p.encode(v)
	if err != nil {
		return err
	}
	p.c.urlQuery = append(p.c.urlQuery, text)
	return nil
}

// payload is a request's body. open may be called again for a redirection or a retry.
type payload struct {
	size int64 // -1: unknown
	open func() (io.ReadCloser, error)
	once bool // it cannot be opened again

	contentType string // of a form
	upload      bool
}

func bytesPayload(b []byte) *payload {
	return &payload{size: int64(len(b)), open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(b))), nil }}
}
