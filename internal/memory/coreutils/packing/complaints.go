package packing

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
)

const (
	// Bzip2Hint follows the messages about broken data.
	Bzip2Hint   = "\nYou can use the `bzip2recover' program to attempt to recover\ndata from undamaged sections of corrupted files.\n\n"
	bzip2Advice = "\nIt is possible that the compressed file(s) have become corrupted.\nYou can use the -tvv option to test integrity of such files.\n" + Bzip2Hint
)

// Bzip2Complaint returns the message of bzip2 about a stream that it cannot read.
func Bzip2Complaint(program, in, out string, err error) string {
	files := "\tInput file = " + in + ", output file = " + out + "\n"
	switch codec.FaultOf(err) {
	case codec.NotFormat:
		return program + ": " + in + " is not a bzip2 file.\n"
	case codec.Garbage:
		return "\n" + program + ": " + in + ": trailing garbage after EOF ignored\n"
	case codec.Truncated:
		// The reason is what the program's last system call left behind.
		return "\n" + program + ": Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.\n" +
			program + ": Inappropriate ioctl for device\n" + files + bzip2Advice
	default:
		return "\n" + program + ": Data integrity error when decompressing.\n" + files + bzip2Advice
	}
}

// XzComplaints are xz's words.
var XzComplaints = map[codec.Fault]string{
	codec.NotFormat: "File format not recognized", codec.Truncated: "Unexpected end of input", codec.Unsupported: "Unsupported options",
	codec.TooLarge: "Memory usage limit reached",
}
