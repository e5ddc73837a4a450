// Command memorylint checks the programs of the in-memory machine, whose only boundary is this project's code:
//
//	memorylint -test=false PACKAGE...
//
// It reports a loop whose end depends neither on a comparison nor on a text, list or chain that it shortens, and in which
// nothing asks whether the command may continue: no context, no Spend, Reserve or Take of the machine, no read or write of
// a stream, no channel. A comment "bounded: REASON" at the end of the line, or in the line above, exempts it.
//
// The counts of recursion and the limits of reading whole inputs are checked in test/e2e/house.
package main

import "golang.org/x/tools/go/analysis/singlechecker"

func main() { singlechecker.Main(loops) }
