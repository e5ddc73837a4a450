package curl

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// part is a field of a form.
type part struct {
	name    string
	data    []byte
	file    string // read when it is sent; data is then empty
	isFile  bool
	shown   string // filename
	hasName bool
	kind    string // content type
	headers []string
}

// form is -F "NAME=CONTENT;type=...": CONTENT may be @FILE[,FILE...], <FILE, "TEXT" or TEXT.
func (p *parser) form(v string, literal bool) error {
	name, content, ok := strings.Cut(v, "=")
	if !ok {
		p.tool.warn("Illegally formatted input field!")
		return errBadUse
	}
	if err := p.choose(kindForm); err != nil {
		return err
	}
	switch {
	case literal:
		p.c.form = append(p.c.form, part{name: name, data: []byte(content)}) // bounded: by options, each of which is charged
	case strings.HasPrefix(content, "@"):
		return p.formFiles(name, content[1:])
	case strings.HasPrefix(content, "<"):
		q := part{name: name}
		rest := p.formWord(content[1:], ";", &q.file)
		p.formOptions(rest, &q)
		return p.formLoad(&q, false)
	default:
		q := part{name: name}
		var text string
		rest := p.formWord(content, ";", &text)
		q.data = []byte(text)
		p.formOptions(rest, &q)
		p.c.form = append(p.c.form, q) // bounded: by options, each of which is charged
	}
	return nil
}

// formFiles is a list of files; several are one field with several parts.
func (p *parser) formFiles(name, list string) error {
	for first := true; first || list != ""; first = false {
		q := part{name: name, isFile: true}
		list = p.formWord(list, ",;", &q.file)
		list = p.formOptions(list, &q)
		if !q.hasName {
			q.shown = path.Base(q.file)
			if q.file == "-" {
				q.shown = "-"
			}
		}
		if q.kind == "" && q.file != "-" {
			q.kind = guessType(q.file, q.shown)
		}
		list = strings.TrimPrefix(list, ",")
		if err := p.formLoad(&q, true); err != nil {
			return err
		}
	}
	return nil
}

// formLoad reads standard input at once; files are opened when they are sent.
func (p *parser) formLoad(q *part, file bool) error {
	if q.file == "-" {
		data, err := p.tool.readAll(p.tool.p.Stdin)
		if err != nil {
			return err
		}
		q.data, q.file = data, ""
	}
	q.isFile = file
	if err := p.tool.charge(q.shown); err != nil {
		return err
	}
	p.c.form = append(p.c.form, *q) // bounded: charged above
	return nil
}

// formWord reads a word up to one of the ends, or one in double quotes, and returns the rest.
func (p *parser) formWord(s, ends string, to *string) (rest string) {
	s = strings.TrimLeft(s, " \t")
	if strings.HasPrefix(s, `"`) {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '"'):
				i++
				b.WriteByte(s[i])
			case s[i] == '"':
				after := strings.TrimLeft(s[i+1:], " \t")
				if after != "" && !strings.ContainsRune(ends, rune(after[0])) {
					p.tool.warn("Trailing data after quoted form parameter")
					if j := strings.IndexAny(after, ends); j >= 0 {
						after = after[j:]
					} else {
						after = ""
					}
				}
				*to = b.String()
				return after
			default:
				b.WriteByte(s[i])
			}
		}
	}
	end := strings.IndexAny(s, ends)
	if end < 0 {
		end = len(s)
	}
	*to = s[:end]
	return s[end:]
}

// formOptions reads ";type=...;filename=..." and returns what follows.
func (p *parser) formOptions(s string, q *part) (rest string) {
	for strings.HasPrefix(s, ";") {
		s = strings.TrimLeft(s[1:], " \t")
		switch {
		case strings.HasPrefix(s, "type="):
			s = p.formType(s[len("type="):], q)
		case strings.HasPrefix(s, "filename="):
			s = p.formWord(s[len("filename="):], ",;", &q.shown)
			q.hasName = true
		case strings.HasPrefix(s, "headers="):
			var text string
			s = p.formWord(s[len("headers="):], ",;", &text)
			if name, isFile := strings.CutPrefix(text, "@"); isFile {
				_ = p.header("@"+strings.TrimPrefix(name, "<"), &q.headers) // It has warned.
			} else {
				q.headers = append(q.headers, text) // bounded: by the text of an option, which is charged
			}
		case strings.HasPrefix(s, "encoder="):
			var encoder string
			s = p.formWord(s[len("encoder="):], ",;", &encoder)
			if encoder != "binary" && encoder != "8bit" {
				p.tool.warn("the encoder %s is not there", encoder)
			}
		default:
			var odd string
			s = p.formWord(s, ",;", &odd)
			if odd != "" {
				p.tool.warn("skip unknown form field: %s", odd)
			}
		}
	}
	return s
}

// formType reads a content type, which may have parameters of its own.
func (p *parser) formType(s string, q *part) (rest string) {
	end := len(s)
	for i := 0; i < len(s); i++ {
		if s[i] == ',' {
			end = i
			break
		}
		if s[i] == ';' {
			after := strings.TrimLeft(s[i+1:], " \t")
			known := false
			for _, o := range []string{"type=", "filename=", "headers=", "encoder="} {
				known = known || strings.HasPrefix(after, o)
			}
			if known {
				end = i
				break
			}
		}
	}
	q.kind = strings.TrimRight(s[:end], " \t")
	return s[end:]
}

// guessType returns the content type that libcurl guesses for a file.
func guessType(names ...string) string {
	types := map[string]string{
		".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain",
		".htm": "text/html", ".html": "text/html", ".pdf": "application/pdf", ".xml": "application/xml",
	}
	for _, n := range names {
		if t := types[strings.ToLower(path.Ext(n))]; t != "" {
			return t
		}
	}
	return "application/octet-stream"
}

// formPayload makes a body of the parts. A file that cannot be read is a fault now.
func (t *transfer) formPayload(boundary string) (*payload, *fault) {
	disposition := "form-data"
	if v, ok := t.custom("Content-Type"); ok && v != "" && !strings.HasPrefix(strings.ToLower(v), "multipart/form-data") {
		disposition = "attachment"
	}
	type piece struct {
		text string
		file string
	}
	var pieces []piece
	total := int64(0)
	add := func(s string) { pieces, total = append(pieces, piece{text: s}), total+int64(len(s)) } // bounded: by the parts of a form, which are charged
	for i := range t.config.form {
		q := &t.config.form[i]
		add("--" + boundary + "\r\n" + q.header(disposition))
		if q.file == "" {
			add(string(q.data))
		} else {
			info, err := t.tool.p.Stat(q.file)
			if err != nil || !info.Mode.IsRegular() || t.tool.p.Access(q.file, 4) != nil {
				return nil, failed(codeRead, "Failed to open/read local data from file/application")
			}
			pieces, total = append(pieces, piece{file: q.file}), total+info.Size
		}
		add("\r\n")
	}
	add("--" + boundary + "--\r\n")
	open := func() (io.ReadCloser, error) {
		var readers []io.Reader
		m := &multi{}
		for _, s := range pieces {
			if s.file == "" {
				readers = append(readers, strings.NewReader(s.text))
				continue
			}
			f, err := t.tool.p.Open(s.file)
			if err != nil {
				_ = m.Close()
				return nil, failed(codeRead, "Failed to open/read local data from file/application")
			}
			m.closers = append(m.closers, f) // bounded: by the parts of a form, which are charged
			readers = append(readers, f)
		}
		m.Reader = io.MultiReader(readers...)
		return m, nil
	}
	return &payload{size: total, open: open, contentType: "multipart/form-data; boundary=" + boundary}, nil
}

// header is a part's header with the empty line.
func (q *part) header(disposition string) string {
	quote := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
	var b strings.Builder
	fmt.Fprintf(&b, "Content-Disposition: %s; name=\"%s\"", disposition, quote.Replace(q.name))
	if q.isFile || q.hasName {
		fmt.Fprintf(&b, "; filename=\"%s\"", quote.Replace(q.shown))
	}
	b.WriteString("\r\n")
	if q.kind != "" {
		b.WriteString("Content-Type: " + q.kind + "\r\n")
	}
	for _, h := range q.headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n"
}

// multi joins several readers, with their closers.
type multi struct {
	io.Reader

	closers []io.Closer
}

// Close closes the files.
func (m *multi) Close() error {
	for _, c := range m.closers {
		_ = c.Close() // They were read only.
	}
	return nil
}
