// Package interpreter compiles and runs hooks: esbuild makes one script of TypeScript and modules, and goja runs it.
// Only the program of workers, tests and benchmarks link it, because goja calls methods by name: the linker keeps every
// exported method of a program that does so.
package interpreter
