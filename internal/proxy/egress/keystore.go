package egress

import (
	"crypto/sha1" // the format of the file demands it
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"time"
	"unicode/utf16"
)

// storePassword is the password of Java's own store of authorities. It need not be secret, because the store
// contains only public data.
const storePassword = "changeit"

// KeyStore returns the certificates of a PEM file as a Java KeyStore (JKS, version 2), which every Java reads.
func KeyStore(bundle []byte) []byte {
	var certs [][]byte
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			certs = append(certs, block.Bytes)
		}
	}
	const magic, version, trustedCertificate = 0xfeedfeed, 2, 2
	out := binary.BigEndian.AppendUint32(nil, magic)
	out = binary.BigEndian.AppendUint32(out, version)
	out = binary.BigEndian.AppendUint32(out, uint32(len(certs)))
	for i, cert := range certs {
		out = binary.BigEndian.AppendUint32(out, trustedCertificate)
		out = appendText(out, fmt.Sprintf("authority-%d", i))
		out = binary.BigEndian.AppendUint64(out, uint64(time.Now().UnixMilli()))
		out = appendText(out, "X.509")
		out = binary.BigEndian.AppendUint32(out, uint32(len(cert)))
		out = append(out, cert...)
	}
	sum := sha1.New()
	for _, unit := range utf16.Encode([]rune(storePassword)) {
		sum.Write(binary.BigEndian.AppendUint16(nil, unit))
	}
	sum.Write([]byte("Mighty Aphrodite")) // a constant of the format
	sum.Write(out)
	return sum.Sum(out)
}

// appendText appends a short ASCII text as Java's DataOutput.writeUTF does.
func appendText(out []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint16(out, uint16(len(text))), text...)
}
