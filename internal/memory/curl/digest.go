package curl

import (
	"crypto/md5" // Many servers support only the MD5 of RFC 7616.
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// wantsDigest answers a server's challenge, once; true: the request is to be made again.
func (t *transfer) wantsDigest(res *response) bool {
	if !t.config.digest || res.status != 401 || t.challenge != "" || t.config.user == "" || t.body != nil && t.body.once {
		return false
	}
	for _, h := range res.fields {
		if !strings.EqualFold(h.name, "WWW-Authenticate") {
			continue
		}
		if text, ok := cutFold(h.value, "Digest "); ok {
			if auth := t.digest(challengeFields(text)); auth != "" {
				t.challenge, t.auth = text, auth
				return true
			}
		}
		if _, ok := cutFold(h.value, "Basic"); ok {
			user, password, _ := cutPassword(t.config.user)
			t.challenge, t.auth = h.value, basic(user, password)
			return true
		}
	}
	return false
}

// challengeFields reads `realm="x", nonce="y"`.
func challengeFields(s string) map[string]string {
	fields := map[string]string{}
	for s != "" {
		key, rest, ok := strings.Cut(s, "=")
		if !ok {
			break
		}
		var value string
		rest = strings.TrimLeft(rest, " ")
		if strings.HasPrefix(rest, `"`) {
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				break
			}
			value, rest = rest[1:1+end], rest[end+2:]
			_, rest, _ = strings.Cut(rest, ",")
		} else {
			value, rest, _ = strings.Cut(rest, ",")
			value = strings.TrimSpace(value)
		}
		fields[strings.ToLower(strings.TrimSpace(key))] = value // bounded: maxLine
		s = rest
	}
	return fields
}

// digest is the Authorization for a challenge, RFC 7616; "" for an algorithm that is not known.
func (t *transfer) digest(c map[string]string) string {
	var sum func(string) string
	switch strings.ToLower(strings.TrimSuffix(c["algorithm"], "-sess")) {
	case "", "md5":
		sum = func(s string) string { h := md5.Sum([]byte(s)); return hex.EncodeToString(h[:]) }
	case "sha-256":
		sum = func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	default:
		return ""
	}
	user, password, _ := cutPassword(t.config.user)
	uri := t.url.path + t.url.query
	cnonce := fmt.Sprintf("%016x", t.tool.p.Rand().Uint64())
	ha1 := sum(user + ":" + c["realm"] + ":" + password)
	if strings.HasSuffix(strings.ToLower(c["algorithm"]), "-sess") {
		ha1 = sum(ha1 + ":" + c["nonce"] + ":" + cnonce)
	}
	ha2 := sum(t.sentMethod() + ":" + uri)
	out := fmt.Sprintf("Digest username=\"%s\", realm=\"%s\", nonce=\"%s\", uri=\"%s\"", quoteField(user), quoteField(c["realm"]), c["nonce"], uri)
	if strings.Contains(c["qop"], "auth") {
		out += fmt.Sprintf(", cnonce=\"%s\", nc=00000001, qop=auth, response=\"%s\"", cnonce,
			sum(strings.Join([]string{ha1, c["nonce"], "00000001", cnonce, "auth", ha2}, ":")))
	} else {
		out += fmt.Sprintf(", response=\"%s\"", sum(ha1+":"+c["nonce"]+":"+ha2))
	}
	if c["opaque"] != "" {
		out += fmt.Sprintf(", opaque=\"%s\"", c["opaque"])
	}
	if c["algorithm"] != "" {
		out += ", algorithm=" + c["algorithm"]
	}
	return out
}

func quoteField(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }
