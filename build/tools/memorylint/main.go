// Command memorylint checks the programs of the in-memory machine, whose only boundary is this project's code:
//
//	memorylint -loops -test=false PACKAGE...
//	memorylint -buffers -test=false PACKAGE...
//
// The rule loops reports a loop whose end depends neither on a comparison nor on a text, list or chain that it shortens, and in which
// nothing asks whether the command may continue: no context, no Spend, Reserve or Take of the machine, no read or write of
// a stream, no channel. A comment "bounded: REASON" at the end of the line, or in the line above, exempts it.
//
// The rule buffers reports what grows with the input of a command: a list, map or text that gets more in each turn of such a
// loop, a list with an element for each byte of a text, a size that is neither a constant nor a length, a function that holds an
// input of any length, a constant size of 1 MiB or more. Nothing is reported in a function that charges, or whose callers do:
// a charge is Reserve, Take, Charge or Hold with a number of bytes, up to two calls away. The comment also exempts a variable, a
// field or a function when it stands at the declaration.
//
// The counts of recursion and the limits of reading whole inputs are checked in test/e2e/house.
package main

import "golang.org/x/tools/go/analysis/multichecker"

func main() { multichecker.Main(loops, buffers) }
