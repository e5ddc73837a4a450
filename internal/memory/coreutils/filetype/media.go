package filetype

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// imageKind describes pictures.
func imageKind(b *fileBytes, start string) string {
	switch start {
	case "\x89PNG\r\n\x1a\n":
		return pngKind(b)
	case "GIF8":
		if h := b.at(0, 10); h != nil && h[5] == 'a' {
			return fmt.Sprintf("GIF image data, version %s, %d x %d", h[3:6], binary.LittleEndian.Uint16(h[6:]), binary.LittleEndian.Uint16(h[8:]))
		}
	case "\xff\xd8\xff":
		return jpegKind(b)
	case "BM":
		return bmpKind(b)
	case "II*\x00":
		return tiffKind(b, "little", binary.LittleEndian)
	case "MM\x00*":
		return tiffKind(b, "big", binary.BigEndian)
	}
	return ""
}

// pngColors are the names by the number of the kind of color.
var pngColors = [256]string{0: " grayscale", 2: "/color RGB", 3: " colormap", 4: " gray+alpha", 6: "/color RGBA"}

func pngKind(b *fileBytes) string {
	h := b.at(12, 17)
	if h == nil || string(h[:4]) != "IHDR" {
		return "PNG image data"
	}
	interlaced := "non-interlaced"
	if h[16] == 1 {
		interlaced = "interlaced"
	}
	return fmt.Sprintf("PNG image data, %d x %d, %d-bit%s, %s",
		binary.BigEndian.Uint32(h[4:]), binary.BigEndian.Uint32(h[8:]), h[12], pngColors[h[13]], interlaced)
}

func bmpKind(b *fileBytes) string {
	h := make([]byte, 54)
	if copy(h, b.head) < 34 || binary.LittleEndian.Uint32(h[14:]) != 40 {
		return ""
	}
	n := func(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }
	s := fmt.Sprintf("PC bitmap, Windows 3.x format, %d x %d x %d", int32(n(18)), int32(n(22)), binary.LittleEndian.Uint16(h[28:]))
	if size := n(34); size != 0 {
		s += fmt.Sprintf(", image size %d", size)
	}
	if x := n(38); x != 0 {
		s += fmt.Sprintf(", resolution %d x %d px/m", x, n(42))
	}
	if colors := n(46); colors != 0 {
		s += fmt.Sprintf(", %d important colors", colors)
	}
	return s + fmt.Sprintf(", cbSize %d, bits offset %d", n(2), n(10))
}

func tiffKind(b *fileBytes, order string, bytes binary.ByteOrder) string {
	h := b.at(4, 4)
	if h == nil {
		return ""
	}
	s := "TIFF image data, " + order + "-endian"
	if n := b.at(int64(bytes.Uint32(h)), 2); n != nil {
		return s + fmt.Sprintf(", direntries=%d", bytes.Uint16(n))
	}
	return s + ", direntries=0"
}

// jpegKind reads the segments up to the frame.
func jpegKind(b *fileBytes) string {
	var s strings.Builder
	s.WriteString("JPEG image data")
	at := int64(2)
	for range 64 {
		h := b.at(at, 4)
		if h == nil || h[0] != 0xff {
			break
		}
		length := int(binary.BigEndian.Uint16(h[2:]))
		body := b.at(at+4, max(0, length-2))
		switch marker := h[1]; {
		case marker == 0xe0 && len(body) >= 14 && string(body[:5]) == "JFIF\x00":
			unit := map[byte]string{0: "aspect ratio", 1: "resolution (DPI)", 2: "resolution (DPCM)"}[body[7]]
			fmt.Fprintf(&s, ", JFIF standard %d.%02d, %s, density %dx%d, segment length %d", body[5], body[6], unit,
				binary.BigEndian.Uint16(body[8:]), binary.BigEndian.Uint16(body[10:]), length)
			if body[12] != 0 {
				fmt.Fprintf(&s, ", thumbnail %dx%d", body[12], body[13])
			}
		case marker == 0xfe && length > 2:
			s.WriteString(`, comment: "` + quoting.EscapeOctal(strings.TrimRight(string(body), "\x00")) + `"`)
		case marker >= 0xc0 && marker <= 0xc2 && len(body) >= 6:
			frame := map[byte]string{0xc0: "baseline", 0xc1: "extended sequential", 0xc2: "progressive"}[marker]
			return s.String() + fmt.Sprintf(", %s, precision %d, %dx%d, components %d", frame, body[0],
				binary.BigEndian.Uint16(body[3:]), binary.BigEndian.Uint16(body[1:]), body[5])
		case marker == 0xd9 || marker == 0xda:
			return s.String()
		}
		at += 2 + int64(length)
	}
	return s.String()
}

// riffKind detects sound, pictures and films in RIFF.
func riffKind(b *fileBytes) (text, mime string) {
	h := b.at(8, 4)
	if h == nil {
		return "", ""
	}
	const riff = "RIFF (little-endian) data"
	switch string(h) {
	case "WAVE":
		text = riff + ", WAVE audio"
		if f := b.at(20, 16); f != nil && binary.LittleEndian.Uint16(f) == 1 {
			channels := map[uint16]string{1: "mono", 2: "stereo"}[binary.LittleEndian.Uint16(f[2:])]
			if channels == "" {
				channels = fmt.Sprintf("%d channels", binary.LittleEndian.Uint16(f[2:]))
			}
			text += fmt.Sprintf(", Microsoft PCM, %d bit, %s %d Hz", binary.LittleEndian.Uint16(f[14:]), channels, binary.LittleEndian.Uint32(f[4:]))
		}
		return text, "audio/x-wav"
	case "WEBP":
		return riff + ", Web/P image", "image/webp"
	case "AVI ":
		return riff + ", AVI", "video/x-msvideo"
	}
	return riff, mimeData
}

// isoMedia detects films and pictures in ISO's container.
func isoMedia(head []byte) (text, mime string) {
	brand := string(head[8:min(len(head), 12)])
	switch brand {
	case "isom":
		return "ISO Media, MP4 Base Media v1 [ISO 14496-12:2003]", "video/mp4"
	case "iso2":
		return "ISO Media, MP4 Base Media v2 [ISO 14496-12:2005]", "video/mp4"
	case "mp41":
		return "ISO Media, MP4 v1 [ISO 14496-1:ch13]", "video/mp4"
	case "mp42":
		return "ISO Media, MP4 v2 [ISO 14496-14]", "video/mp4"
	case "qt  ":
		return "ISO Media, Apple QuickTime movie, Apple QuickTime (.MOV/QT)", "video/quicktime"
	case "M4A ":
		return "ISO Media, Apple iTunes ALAC/AAC-LC (.M4A) Audio", "audio/x-m4a"
	case "M4V ":
		return "ISO Media, Apple iTunes Video (.M4V) Video", "video/x-m4v"
	case "avif":
		return "ISO Media, AVIF Image", "image/avif"
	case "heic":
		return "ISO Media, HEIF Image HEVC Main or Main Still Picture Profile", "image/heic"
	}
	return "ISO Media", "video/mp4"
}

// netpbmKind knows pictures whose head is text.
func netpbmKind(text string) (what, mime string, ok bool) {
	f := strings.Fields(text[:min(len(text), 64)]) // bounded: by 64 bytes
	if len(f) < 4 || len(f[0]) != 2 || f[0][0] != 'P' {
		return "", "", false
	}
	for _, number := range f[1:3] {
		if strings.Trim(number, "0123456789") != "" {
			return "", "", false
		}
	}
	what = "Netpbm image data, size = " + f[1] + " x " + f[2]
	switch f[0][1] {
	case '2':
		return what + ", greymap", "image/x-portable-greymap", true
	case '3':
		return what + ", pixmap", "image/x-portable-pixmap", true
	case '5':
		return what + ", rawbits, greymap", "image/x-portable-greymap", true
	case '6':
		return what + ", rawbits, pixmap", "image/x-portable-pixmap", true
	}
	return "", "", false
}
