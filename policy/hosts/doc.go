// Package hosts is the grammar of host rules, and decides by them which hosts, addresses and requests a sandbox may reach.
//
// [Compile] turns a [Policy] into [Rules]. A host is parsed once, by [ParseHost], into its one canonical form, so that two
// parsers never disagree about it. The proxy enforces the rules, the packet filter those of [Rules.Endpoints].
package hosts
