// Package bc is the calculator language of GNU bc 1.07: numbers of any length with a scale,
// bases, functions, arrays and the library of -l, whose functions are computed with guard digits
// and then cut off. Messages at run time lack the address within GNU's byte code.
package bc
