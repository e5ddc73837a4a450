package filetype

import (
	"regexp"
	"strings"
	"sync"
)

// textSigns are the first words of known text formats.
var textSigns = []sign{
	{"<?php", "PHP script text", "text/x-php"},
	{"<?\n", "PHP script text", "text/x-php"},
	{"diff ", "diff output text", "text/x-diff"},
	{"*** ", "context diff output text", "text/x-diff"},
	{"Only in ", "diff output text", "text/x-diff"},
	{"Index:", "RCS/CVS diff output text", "text/x-diff"},
	{"Received:", "RFC 822 mail text", "message/rfc822"},
	{"Return-Path:", "SMTP mail text", "message/rfc822"},
	{"From:", "news or mail text", "message/rfc822"},
	{"Date:", "news or mail text", "message/rfc822"},
	{"MIME-Version:", "MIME entity text", mimeText},
	{`.\"`, "troff or preprocessor input text", "text/troff"},
	{`'\"`, "troff or preprocessor input text", "text/troff"},
	{`\"`, "troff or preprocessor input text", "text/troff"},
	{".TH ", "troff or preprocessor input text", "text/troff"},
	{".SH ", "troff or preprocessor input text", "text/troff"},
	{".Dd ", "troff or preprocessor input text", "text/troff"},
	{".de ", "troff or preprocessor input text", "text/troff"},
	{"\\input", "TeX document text", "text/x-tex"},
	{"#EXTM3U", "M3U playlist text", mimeText},
	{"[InternetShortcut]", "MS Windows 95 Internet shortcut text", "application/x-mswinurl"},
	{`eval "exec perl`, "Perl script text", "text/x-perl"},
	{`"""`, "Python script text executable", mimeText},
}

// sourceHead is the part of a text that is searched, in bytes.
const sourceHead = 8 << 10

// kindByText detects the type of a text; what is "" for an unknown type.
func kindByText(text string) (what, mime string) {
	if what, mime, ok := scriptKind(text); ok {
		return what, mime
	}
	text = text[:min(len(text), sourceHead)]
	if version, ok := xmlVersion(text); ok {
		return "XML " + version + " document text", "text/xml"
	}
	if isUnifiedDiff(text) {
		return "unified diff output text", "text/x-diff"
	}
	if s := strings.ToLower(text[:min(len(text), 16)]); strings.HasPrefix(s, "@echo off") {
		return "DOS batch file text", "text/x-msdos-batch"
	}
	if what, mime, ok := netpbmKind(text); ok {
		return what, mime
	}
	for _, s := range textSigns {
		if strings.HasPrefix(text, s.start) {
			return s.text, s.mime
		}
	}
	if isHTML(text) {
		return "HTML document text", "text/html"
	}
	if strings.HasPrefix(text, "<!DOCTYPE ") {
		return "exported SGML document text", mimeText
	}
	return languageKind(text)
}

// xmlVersion returns the version of a declaration.
func xmlVersion(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "<?xml version=")
	if !ok || len(rest) < 3 || rest[0] != '"' && rest[0] != '\'' {
		return "", false
	}
	version, _, ok := strings.Cut(rest[1:min(len(rest), 16)], rest[:1])
	return version, ok
}

func isHTML(text string) bool {
	text = strings.ToLower(text[:min(len(text), 4096)])
	for _, tag := range []string{"<!doctype html", "<html", "<head>", "<title>", "<script>", "<style>", "<table>", "<a href="} {
		if strings.Contains(text, tag) {
			return true
		}
	}
	return false
}

// isUnifiedDiff looks for the head of a file's changes.
func isUnifiedDiff(text string) bool {
	for i := 0; i >= 0 && i < len(text); {
		if rest, ok := strings.CutPrefix(text[i:], "--- "); ok {
			_, rest, _ = strings.Cut(rest, "\n")
			if rest, ok = strings.CutPrefix(rest, "+++ "); ok {
				if _, rest, _ = strings.Cut(rest, "\n"); strings.HasPrefix(rest, "@@ ") {
					return true
				}
			}
		}
		next := strings.IndexByte(text[i:], '\n')
		if next < 0 {
			return false
		}
		i += next + 1
	}
	return false
}

// language is a line by which the source of a language is known.
type language struct{ line, text, mime string }

// languages are looked for in this order, each in all lines.
var languages = []language{
	{`(class[ \t]+\w+(\(.*\))?:|[ \t]*def[ \t]+\w+[ \t]*\(.*\):[ \t]*\r?$|from[ \t]+[\w.]+[ \t]+import\b|if __name__ == ['"]__main__['"]:|except.*:)`, "Python script text executable", mimePython},
	{`(import java\.|import ["'].*;|public (final )?class \w+ .*\n.*public static)`, "Java source text", "text/x-java"},
	{`('use strict'|"use strict"|module\.exports|(const|let|var) .*= *require\(|import [^'"]* from ['"]|export (const|default|function|class|async)\b|\(function *\()`, "JavaScript source text", mimeJS},
	{`(template[ \t]*<|class[ \t]+\w+[ \t]*(:[^:\n]*)?\{|namespace[ \t]+\w+|using namespace |virtual |public:|private:|protected:)`, "C++ source text", "text/x-c++"},
	{`(#[ \t]*include\b|#[ \t]*pragma\b|#[ \t]*ifndef .*\n#[ \t]*define|extern\b|struct[ \t]+\w+|union[ \t]+\w+|\w+[ \t]+\**main[ \t]*\()`, "C source text", "text/x-c"},
	{`(CFLAGS|VPATH|LDFLAGS|all:|SUBDIRS|AUTOMAKE_OPTIONS|\.PRECIOUS|\.SUFFIXES)`, "makefile script text", "text/x-makefile"},
	{`package[ \t]+[\w:]+;`, "Perl5 module source text", mimeText},
	{`BEGIN[ \t]*\{`, "awk or perl script text", mimeText},
	{`\\(documentclass|documentstyle)`, "LaTeX 2e document text", "text/x-tex"},
	{`\\(begin|section|chapter|title)\b`, "LaTeX document text", "text/x-tex"},
	{`\d+\r?\n\d\d:\d\d:\d\d,\d\d\d --> `, "SubRip text", "application/x-subrip"},
	{`@(article|book|inproceedings|misc)\{`, "BibTeX text file", mimeText},
}

// languageLines are the expressions of languages. A text that matches more than one belongs to the first.
var languageLines = sync.OnceValue(func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(languages))
	for i := range languages {
		list[i] = regexp.MustCompile(`(?m)^` + languages[i].line)
	}
	return list
})

// rubyLines are a definition, and its end.
var rubyLines = sync.OnceValues(func() (begin, end *regexp.Regexp) {
	return regexp.MustCompile(`(?m)^[ \t]*(def|class|module)[ \t]+\w+`), regexp.MustCompile(`(?m)^[ \t]*end\r?$`)
})

// languageKind knows a source by its lines.
func languageKind(text string) (what, mime string) {
	for i, line := range languageLines() {
		if line.MatchString(text) {
			return languages[i].text, languages[i].mime
		}
	}
	if begin, end := rubyLines(); begin.MatchString(text) && end.MatchString(text) {
		return "Ruby script text", "text/x-ruby"
	}
	if rest, ok := strings.CutPrefix(text, "begin "); ok {
		first, _, _ := strings.Cut(rest, "\n")
		if mode, name, ok := strings.Cut(first, " "); ok && len(mode) == 3 && strings.Trim(mode, "01234567") == "" {
			return `uuencoded or xxencoded text, file name "` + name + `"`, mimeText
		}
	}
	return "", mimeText
}
