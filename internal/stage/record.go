package stage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
)

// rawPath is a path whose bytes are preserved in JSON, which supports only UTF-8.
type rawPath string

// MarshalText quotes bytes that are not ASCII.
func (p rawPath) MarshalText() ([]byte, error) {
	return []byte(strconv.QuoteToASCII(string(p))), nil
}

// UnmarshalText reverses MarshalText.
func (p *rawPath) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(string(text))
	*p = rawPath(s)
	return err
}

// pathMap is a map by path whose keys are preserved in JSON.
type pathMap[T any] map[string]T

// MarshalJSON quotes the keys, because encoding/json replaces invalid UTF-8.
func (m pathMap[T]) MarshalJSON() ([]byte, error) {
	out := make(map[string]T, len(m))
	for path, value := range m {
		out[strconv.QuoteToASCII(path)] = value
	}
	return json.Marshal(out)
}

// UnmarshalJSON reverses MarshalJSON.
func (m *pathMap[T]) UnmarshalJSON(text []byte) error {
	var in map[string]T
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*m = make(pathMap[T], len(in))
	for key, value := range in {
		path, err := strconv.Unquote(key)
		if err != nil {
			return err
		}
		(*m)[path] = value
	}
	return nil
}

// writeJSON replaces the file name in one step: readers see the old or the new one, also
// after a kill or a power failure.
func writeJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	temp := name + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		_ = f.Close() // the caller reports the write's error
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close() // likewise
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func readJSON(name string, value any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
