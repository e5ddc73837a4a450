package tarfile

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runsMax bounds the parts of a file with holes.
const runsMax = 1 << 18

// records reads the records of an extended header into m. Keys of a file's parts come often:
// their values are strung together with commas.
func records(data []byte, m map[string]string) error {
	var parts strings.Builder
	for len(data) > 0 {
		at := bytes.IndexByte(data, ' ')
		if at <= 0 {
			return ErrMalformed
		}
		size, err := strconv.Atoi(string(data[:at]))
		if err != nil || size <= at+1 || size > len(data) || data[size-1] != '\n' {
			return ErrMalformed
		}
		key, value, ok := strings.Cut(string(data[at+1:size-1]), "=")
		if !ok || key == "" {
			return ErrMalformed
		}
		data = data[size:]
		switch key {
		case "GNU.sparse.offset", "GNU.sparse.numbytes":
			parts.WriteString("," + value)
		default:
			m[key] = value
		}
	}
	if parts.Len() > 0 {
		m["GNU.sparse.map"] = parts.String()[1:]
	}
	return nil
}

// extend takes the values of an extended header.
func (h *Header) extend(m map[string]string, size *int64) error {
	for key, value := range m {
		if err := h.value(key, value, size); err != nil {
			return err
		}
	}
	if name, ok := m["GNU.sparse.name"]; ok {
		h.Name = name
	}
	slices.Sort(h.Unknown)
	return nil
}

func (h *Header) value(key, value string, size *int64) (err error) {
	switch key {
	case "path":
		h.Name = value
	case "linkpath":
		h.Link = value
	case "uname":
		h.User = value
	case "gname":
		h.Group = value
	case "uid":
		h.UID, err = paxID(value)
	case "gid":
		h.GID, err = paxID(value)
	case "size":
		*size, err = paxNumber(value)
	case "mtime":
		h.Mtime, err = paxTime(value)
	case "atime":
		h.Atime, err = paxTime(value)
	case "ctime":
		h.Ctime, err = paxTime(value)
	case "GNU.sparse.size", "GNU.sparse.realsize":
		h.Size, err = paxNumber(value)
		h.Holes = true
	case "GNU.sparse.map":
		h.Holes = true
		err = h.runList(value)
	case "GNU.sparse.name", "GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.numblocks", "comment", "charset", "hdrcharset":
	default:
		if !strings.HasPrefix(key, "SCHILY.xattr.") && !strings.HasPrefix(key, "SCHILY.acl.") && !strings.HasPrefix(key, "RHT.security.") &&
			!strings.HasPrefix(key, "GNU.volume.") && !strings.HasPrefix(key, "GNU.dumpdir") && len(h.Unknown) < 64 {
			h.Unknown = append(h.Unknown, key)
		}
	}
	return err
}

func paxNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, ErrMalformed
	}
	return n, nil
}

func paxID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, ErrMalformed
	}
	return uint32(n), nil
}

// paxTime reads seconds with a fraction.
func paxTime(s string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || sec > math.MaxInt32<<16 || sec < math.MinInt32<<16 {
		return time.Time{}, ErrMalformed
	}
	nsec := int64(0)
	for i := range 9 {
		digit := byte('0')
		if i < len(fraction) {
			digit = fraction[i]
		}
		if digit < '0' || digit > '9' {
			return time.Time{}, ErrMalformed
		}
		nsec = nsec*10 + int64(digit-'0')
	}
	if strings.HasPrefix(whole, "-") {
		nsec = -nsec
	}
	return time.Unix(sec, nsec), nil
}

// runList reads offsets and sizes in turn.
func (h *Header) runList(s string) error {
	h.Runs = nil
	off := int64(-1)
	for part := range strings.SplitSeq(s, ",") {
		n, err := paxNumber(part)
		switch {
		case err != nil || len(h.Runs) >= runsMax:
			return ErrMalformed
		case off < 0:
			off = n
		default:
			h.Runs = append(h.Runs, Run{off, n})
			off = -1
		}
	}
	if off >= 0 {
		return ErrMalformed
	}
	return nil
}

// sparseMap reads the list of parts before the data, in whole blocks.
func (r *Reader) sparseMap(h *Header) error {
	h.Holes = true
	var line []byte
	at := BlockSize
	next := func() (int64, error) {
		line = line[:0]
		for {
			if at == BlockSize {
				if r.left < BlockSize {
					return 0, ErrMalformed
				}
				if err := r.readBlock(); err != nil {
					return 0, truncated(err)
				}
				r.left -= BlockSize
				h.Stored -= BlockSize
				at = 0
			}
			c := r.block[at]
			at++
			if c == '\n' {
				return paxNumber(string(line))
			}
			if line = append(line, c); len(line) > 20 {
				return 0, ErrMalformed
			}
		}
	}
	count, err := next()
	if err != nil {
		return err
	}
	if count > runsMax {
		return ErrLarge
	}
	h.Runs = nil
	for range count {
		off, err := next()
		if err != nil {
			return err
		}
		size, err := next()
		if err != nil {
			return err
		}
		h.Runs = append(h.Runs, Run{off, size})
	}
	return h.checkRuns()
}

// oldSparse reads the parts of GNU's old way: four in the header, more in blocks behind it.
func (r *Reader) oldSparse(h *Header) error {
	h.Holes = true
	b, entries, more := r.block[386:], 4, r.block[482] != 0
	for {
		for i := range entries {
			e := b[i*24:]
			if e[0] == 0 {
				break
			}
			off, ok := number(e[:12])
			size, ok2 := number(e[12:24])
			if !ok || !ok2 || len(h.Runs) >= runsMax {
				return ErrMalformed
			}
			h.Runs = append(h.Runs, Run{off, size})
		}
		if !more {
			return h.checkRuns()
		}
		if _, err := io.ReadFull(r.in, r.block[:]); err != nil {
			return truncated(err)
		}
		r.blocks++
		b, entries, more = r.block[:], 21, r.block[504] != 0
	}
}
