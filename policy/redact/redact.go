// Package redact reads the configuration files of tools that log in to servers, and writes them again with placeholders in place
// of the credentials. It writes nothing that it has not understood: comments and unknown keys are left out, and a file with a
// fault is an error. Errors hold nothing of a file's values.
package redact

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Format is the syntax of a file.
type Format string

// The formats.
const (
	Npm              Format = "npm"               // .npmrc
	Pip              Format = "pip"               // pip.conf
	Cargo            Format = "cargo"             // config.toml of Cargo
	CargoCredentials Format = "cargo-credentials" // credentials.toml of Cargo
	Maven            Format = "maven"             // settings.xml
	Docker           Format = "docker"            // config.json of Docker
	Git              Format = "git"               // .gitconfig
	Yarn             Format = "yarn"              // .yarnrc.yml
	YarnClassic      Format = "yarnclassic"       // .yarnrc
	NuGet            Format = "nuget"             // NuGet.Config
	Bundler          Format = "bundler"           // ~/.bundle/config
	Uv               Format = "uv"                // uv.toml
	Bun              Format = "bun"               // .bunfig.toml
	Poetry           Format = "poetry"            // auth.toml of Poetry
	Composer         Format = "composer"          // auth.json of Composer
	Gradle           Format = "gradle"            // gradle.properties
	maxFile                 = 1 << 20
	maxCredentials          = 64
	errTooLarge      fault  = "it is larger than 1 MiB"
	errManyLogins    fault  = "it has more than 64 credentials"
	errSyntax        fault  = "its syntax is not understood"
	errTokenShape    fault  = "a value outside the known places of credentials looks like a token"
	errAddress       fault  = "an address in it is not understood"
	errUnknownFormat fault  = "its format is not known"
	errWithoutAHost  fault  = "a key in it does not name a host"
)

// fault is an error about a file, which repeats nothing of it.
type fault string

func (f fault) Error() string { return string(f) }

func lineFault(line int, f fault) error { return fmt.Errorf("line %d: %w", line, f) }

// Source resolves what a file refers to.
type Source struct {
	Env    func(name string) (value string, ok bool) // a variable of the host; nil: none is set
	Beside func(name string) []byte                  // another file of the same directory; nil: there is none
}

func (s Source) env(name string) (string, bool) {
	if s.Env == nil {
		return "", false
	}
	return s.Env(name)
}

func (s Source) beside(name string) []byte {
	if s.Beside == nil {
		return nil
	}
	return s.Beside(name)
}

// Credential is a password, token or login that a program authenticates with.
type Credential struct {
	Value string   // never empty
	Hosts []string // "https://HOST[:PORT]" or http://, as package hosts reads bindings; none: the file does not name a host for it
}

// File is a file that was understood.
type File struct {
	Credentials []Credential
	Includes    []string // the files that git reads in addition, as they are written

	text []part
}

// part is literal text, or the placeholder of a credential.
type part struct {
	text       string
	credential int  // counted from 1; 0: text is literal
	encoded    bool // as Base64 of text, which is a login with its colon, and the placeholder
}

// value is a text that contains credentials.
type value []part

func literal(s string) value { return value{{text: s}} }

// Parse reads a file.
func Parse(format Format, data []byte, s Source) (*File, error) {
	if len(data) > maxFile {
		return nil, errTooLarge
	}
	if strings.ContainsRune(string(data), 0) {
		return nil, errSyntax
	}
	parse := map[Format]func(*File, string, Source) error{
		Npm: parseNpm, Pip: parsePip, Cargo: parseCargo, CargoCredentials: parseCargoCredentials, Maven: parseMaven,
		Docker: parseDocker, Git: parseGit, Yarn: parseYarn, YarnClassic: parseYarnClassic, NuGet: parseNuGet, Bundler: parseBundler, Uv: parseUv, Bun: parseBun,
		Poetry: parsePoetry, Composer: parseComposer, Gradle: parseGradle,
	}[format]
	if parse == nil {
		return nil, errUnknownFormat
	}
	f := &File{}
	if err := parse(f, strings.TrimPrefix(string(data), "\ufeff"), s); err != nil {
		return nil, err
	}
	if len(f.Credentials) > maxCredentials {
		return nil, errManyLogins
	}
	// The file may contain the text of a credential a second time, in a place that is not known for credentials.
	if f.repeats() {
		return nil, errors.New("it contains a credential a second time, outside the known places")
	}
	return f, nil
}

// Text returns the file with placeholders[i] in the place of Credentials[i]. A placeholder consists of letters, digits, - _ and
// dots, so that no syntax has to quote it.
func (f *File) Text(placeholders []string) []byte {
	var b strings.Builder
	for _, p := range f.text {
		switch {
		case p.credential == 0:
			b.WriteString(p.text)
		case p.encoded:
			b.WriteString(base64.StdEncoding.EncodeToString([]byte(p.text + placeholders[p.credential-1])))
		default:
			b.WriteString(placeholders[p.credential-1])
		}
	}
	return []byte(b.String())
}

// repeats reports whether the literal text holds a credential.
func (f *File) repeats() bool {
	var b strings.Builder
	for _, p := range f.text {
		b.WriteString(p.text)
		b.WriteByte(0)
	}
	for _, c := range f.Credentials {
		if strings.Contains(b.String(), c.Value) {
			return true
		}
	}
	return false
}

// add makes a credential and returns its place in a value. An empty one needs no placeholder.
func (f *File) add(secret string, hosts ...string) value {
	if secret == "" {
		return nil
	}
	f.Credentials = append(f.Credentials, Credential{Value: secret, Hosts: hosts})
	return value{{credential: len(f.Credentials)}}
}

// addLogin makes a credential of the password in a Base64 login: "user:" and a password.
func (f *File) addLogin(encoded string, hosts ...string) value {
	user, password, ok := decodeLogin(encoded)
	if !ok {
		return f.add(encoded, hosts...)
	}
	f.Credentials = append(f.Credentials, Credential{Value: password, Hosts: hosts})
	return value{{text: user + ":", credential: len(f.Credentials), encoded: true}}
}

func decodeLogin(encoded string) (user, password string, ok bool) {
	plain, ok := decode(encoded)
	if !ok {
		return "", "", false
	}
	user, password, ok = strings.Cut(plain, ":")
	return user, password, ok && password != "" && isPlain(user)
}

// decode decodes Base64 with or without padding, to printable text.
func decode(s string) (string, bool) {
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(strings.TrimRight(s, "=")); err == nil {
			return string(b), isPrintable(string(b))
		}
	}
	return "", false
}

// write appends text to the file.
func (f *File) write(text ...string) {
	for _, t := range text {
		f.text = append(f.text, part{text: t})
	}
}

// writeValue appends a value, whose literal parts quote makes fit.
func (f *File) writeValue(v value, quote func(string) string) {
	for _, p := range v {
		if p.credential == 0 {
			p.text = quote(p.text)
		}
		f.text = append(f.text, p)
	}
}

func unquote(s string) string { return s }
