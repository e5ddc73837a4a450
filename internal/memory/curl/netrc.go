package curl

import "strings"

// fromNetrc looks the server up in .netrc, for the user when one is named.
func (t *transfer) fromNetrc(user string, must bool) (name, password string, ok bool, f *fault) {
	file := t.config.netrcFile
	if file == "" {
		home := t.tool.p.Getenv("HOME")
		if home == "" {
			return "", "", false, nil
		}
		file = strings.TrimRight(home, "/") + "/.netrc"
	}
	data, err := t.tool.readFile(file)
	if err != nil {
		if must && t.config.netrcFile != "" {
			return "", "", false, failed(codeRead, ".netrc parser error")
		}
		return "", "", false, nil
	}
	if err := t.tool.p.Reserve(16 * len(data)); err != nil { // A word of a byte and a blank, in a list that grows.
		return "", "", false, &fault{codeMemory, "Out of memory", err}
	}
	words := netrcWords(string(data))
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "machine":
			i++
			if i >= len(words) || !strings.EqualFold(words[i], t.url.host) {
				continue
			}
		case "default":
		default:
			continue
		}
		name, password, i = netrcEntry(words, i+1)
		if user == "" || user == name {
			return name, password, true, nil
		}
	}
	return "", "", false, nil
}

// netrcEntry reads a login and password from i on, and returns the place of the last word.
func netrcEntry(words []string, i int) (name, password string, last int) {
	for ; i < len(words); i++ {
		switch words[i] {
		case "machine", "default":
			return name, password, i - 1
		case "login":
			if i++; i < len(words) {
				name = words[i]
			}
		case "password":
			if i++; i < len(words) {
				password = words[i]
			}
		case "account":
			i++
		}
	}
	return name, password, i
}

// netrcWords splits at blanks outside of double quotes, without comments and macros.
func netrcWords(text string) []string {
	var words []string // bounded: the caller has charged for them
	macro := false
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if macro {
			macro = trimmed != ""
			continue
		}
		if strings.HasPrefix(trimmed, "#") {
			continue
		}
		if strings.HasPrefix(trimmed, "macdef") {
			macro = true
			continue
		}
		for trimmed != "" {
			if trimmed[0] == '"' {
				end := strings.IndexByte(trimmed[1:], '"')
				if end < 0 {
					end = len(trimmed) - 1
				}
				words = append(words, trimmed[1:1+end])
				trimmed = strings.TrimLeft(trimmed[min(len(trimmed), end+2):], " \t")
				continue
			}
			word, rest, _ := strings.Cut(strings.ReplaceAll(trimmed, "\t", " "), " ")
			words = append(words, word)
			trimmed = strings.TrimLeft(rest, " ")
		}
	}
	return words
}
