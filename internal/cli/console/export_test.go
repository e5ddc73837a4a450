package console

import "strings"

// ForeignFlags calls f for each name of a flag of another program, with the text about ours and the name of our flag; both are
// empty where none is needed.
func ForeignFlags(f func(name, use, own string)) {
	for _, row := range foreign {
		for name := range strings.FieldsSeq(row.names) {
			f(name, row.use, ownFlag(row.use))
		}
	}
}
