package pathname

import (
	"math/rand/v2"
)

const temporaryLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// RandomLetters returns n letters and digits for the name of a temporary file.
func RandomLetters(r *rand.Rand, n int) string {
	b := make([]byte, n) // bounded: by the letters of a template
	for i := range b {
		b[i] = temporaryLetters[r.IntN(len(temporaryLetters))]
	}
	return string(b)
}
