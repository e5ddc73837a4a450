// Package interpreter is the calculators of GNU bc 1.07. Machine is the language of bc: numbers of any length with a
// scale, bases, functions, arrays and the library of -l, whose functions are computed with guard digits and
// then cut off; messages at run time lack the address within GNU's byte code. Desk is dc, on the same numbers.
package interpreter
