package proxy

import (
	"encoding/base64"
	"strings"
	"testing"
)

const placeholder = "PLACEHOLDERplaceholder24"

func Test_Conceal_Replaces_Values(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	raw := base64.RawURLEncoding.EncodeToString
	const value = `s3cr/et+va"l&ue=`
	for _, row := range []struct{ name, text, want string }{
		{"text stays that does not hold the value", "machine a login b", "machine a login b"},
		{"the value is replaced wherever it stands", value + " and " + value, placeholder + " and " + placeholder},
		{"in JSON, where a quotation mark is escaped", `{"t":"s3cr/et+va\"l&ue="}`, `{"t":"` + placeholder + `"}`},
		{"in JSON that is safe for HTML", `{"t":"s3cr/et+va\"l\u0026ue="}`, `{"t":"` + placeholder + `"}`},
		{"in the URL of .git-credentials", "https://me:s3cr%2Fet+va%22l&ue=@host", "https://me:" + placeholder + "@host"},
		{"in a URL with escapes in lower case", "https://me:s3cr%2fet+va%22l&ue=@host", "https://me:" + placeholder + "@host"},
		{"in a query", "?t=s3cr%2Fet%2Bva%22l%26ue%3D&x=1", "?t=" + placeholder + "&x=1"},
		{"as user and password in Docker's config.json", `{"auth":"` + b64([]byte("me:"+value)) + `"}`, `{"auth":"` + b64([]byte("me:"+placeholder)) + `"}`},
		{"as _auth in .npmrc", "//host/:_auth=" + b64([]byte("user:"+value)), "//host/:_auth=" + b64([]byte("user:"+placeholder))},
		{"as _password in .npmrc", "_password=" + b64([]byte(value)) + "\n", "_password=" + b64([]byte(placeholder)) + "\n"},
		{"in Base64 of the URL alphabet without padding", raw([]byte("\xff\xfe" + value)), raw([]byte("\xff\xfe" + placeholder))},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := string(conceal([]byte(row.text), value, placeholder))
			if got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if hasValue(got, value) {
				t.Errorf("%q still holds the value", got)
			}
			if row.text != row.want && !hasValue(row.text, value) {
				t.Errorf("the value is not found in %q", row.text)
			}
		})
	}
}

func Test_Values_Are_Found_In_Text_And_Base64(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	for _, row := range []struct {
		name, text, value string
		want              bool
	}{
		{"a short value is never found", "1 1 1", "1", false},
		{"a part of another word", "xxlong-enough-valuexx", "long-enough-value", true},
		{"Base64 behind one byte", b64([]byte("a" + "long-enough-value" + "zzz")), "long-enough-value", true},
		{"Base64 behind two bytes", b64([]byte("ab" + "long-enough-value" + "z")), "long-enough-value", true},
		{"Base64 glued to other text", "x" + b64([]byte("long-enough-value")), "long-enough-value", true},
		{"Base64 in lines", strings.Join(strings.SplitAfterN(b64([]byte("me:long-enough-value")), "", 9), "\n  "), "long-enough-value", true},
		{"Base64 of another value", b64([]byte("me:long-enough-other")), "long-enough-value", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := hasValue(row.text, row.value); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}
