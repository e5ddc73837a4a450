package redact

import "strings"

// gradleKey is the name of a property.
var gradleKey = compileLater(`^[A-Za-z_][A-Za-z0-9_.-]{0,199}$`)

// parseGradle reads a gradle.properties. Its credentials are properties that builds read, which name no host: they are empty.
func parseGradle(f *File, text string, _ Source) error {
	for i, line := range regexpLines().Split(text, -1) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		end := strings.IndexAny(line, "=: \t")
		if end < 0 {
			end = len(line)
		}
		key, text := line[:end], strings.TrimSpace(strings.TrimLeft(line[end:], " \t"))
		if text != "" && (text[0] == '=' || text[0] == ':') {
			text = strings.TrimSpace(text[1:])
		}
		// Escapes and lines that go on may hide the name of a property.
		if !gradleKey().MatchString(key) || isToken(key) || !isPrintable(text) || strings.Contains(text, `\`) {
			return lineFault(i+1, errSyntax)
		}
		v := f.gradleValue(key, text)
		f.write(key, "=")
		f.writeValue(v, unquote)
		f.write("\n")
	}
	return nil
}

func (f *File) gradleValue(key, text string) value {
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch low := strings.ToLower(name); {
	case isSecretName(key), isSecretName(name), isSecretName(snake(name)), strings.HasSuffix(low, "pass"), strings.HasSuffix(low, "passwd"), strings.HasSuffix(low, "pwd"):
		return f.add(text)
	case strings.Contains(text, "://") && !strings.ContainsAny(text, " \t"):
		if v, err := f.url(text, nil); err == nil {
			return v
		}
	case isPlain(text) && !strings.Contains(text, "@"):
		return literal(text)
	}
	return f.add(text)
}

// snake returns a name in camel case as words with lines between them: artifactoryApiKey is artifactory_Api_Key.
func snake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && 'A' <= name[i] && name[i] <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
