// Package configimport turns the sandbox settings of other tools into a policy: Claude
// Code ("permissions" and "sandbox"), Anthropic's sandbox-runtime (srt) and fence.
//
// Every setting without an equivalent is reported. Import omits a grant that a policy
// cannot express. It replaces a restriction that a policy cannot express by a stricter
// one. Where there is none, it reports a [Lack] of kind [Restriction], and the [Result]
// is not complete.
//
// In these tools a deny rule wins over a more specific rule; here the longer path wins.
// Import omits or doubles rules whose meaning would change by that. Relative paths start
// at the working directory in those tools and here, so a result is valid for one
// directory.
package configimport
