// Package shell is the bash language on processes that exist only in memory: no
// process, file, descriptor, signal or socket of the host is used.
//
//   - Package syntax reads a script command by command, as bash does: an alias or an
//     option counts from the next line, an error in line 9 comes after lines 1 to 8 have
//     run. Arithmetic, patterns and subscripts stay text where bash keeps them text.
//   - A command is compiled once into closures, func(*interp) int, cached by source text.
//     Names of variables become numbers of slots; a call that makes a variable local puts
//     the old cell aside and back afterwards, which is bash's dynamic scope in O(1).
//   - A cell keeps the integer beside the string, so that loops do not convert. Arrays
//     are slices until they get holes; associative arrays keep bash's order of hashes.
//   - A process is an interp, which consists of parts with their own state: execution, variables, functions,
//     expansion, jobControl, trapRun and others. A fork copies it and its table of cells; the cells belong to
//     the epoch that made them and are copied when another one writes. A substitution runs
//     on the goroutine of its parent, which gets its epoch back when the child has left
//     no process behind; pipelines and jobs get a goroutine each.
//   - Descriptors are numbers of shared open file descriptions, counted; pipes are those
//     of vfs, 64 KiB in memory. A write to a pipe without readers is SIGPIPE.
//   - Signals are bits that a process looks at between commands and at each turn of a
//     loop; blocking calls end with the process's context. KILL and the end of the run
//     cannot be caught.
//   - Fuel is taken for each command, turn and 64 bytes; memory, depth, processes and
//     descriptors are counted by the machine. Without fuel the run ends.
//
// Commands such as ls are not here: they are registered (Command) and see their process
// as a Proc. The table of them is exchanged as a whole, never changed. An extension that replaces a
// builtin is found where the builtin would have run, so that builtin, command and exec lead to it too;
// only Proc.Original passes by it.
package shell
