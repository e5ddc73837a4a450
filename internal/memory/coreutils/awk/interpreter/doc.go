// Package interpreter runs awk programs as GNU awk 5.2 does, on a process in memory: files, pipes and
// commands are those of a shell.Proc. A program is parsed to a tree, its names are resolved to
// slots once (a name is a scalar or an array for good), and it is compiled to closures that
// return the type that their user needs: a number, a text, a truth value or any value. Records are pieces of
// the text that was read, and fields pieces of those, cut only as far as they are asked for.
//
// It has no loadable extensions, no namespaces, no SYMTAB and no network.
package interpreter
