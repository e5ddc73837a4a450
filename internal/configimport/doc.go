// Package configimport turns the sandbox settings of other tools into a policy: Claude
// Code ("permissions" and "sandbox"), Anthropic's sandbox-runtime (srt) and fence.
//
// Every setting without an equivalent is reported. A grant that cannot be
// expressed is not given. A restriction that cannot be expressed is replaced by a
// stricter one; where there is none either, it is a [Lack] of kind [Restriction] and
// the [Result] is not complete.
//
// In these tools a deny rule wins over a more specific rule; here the longer path wins.
// Rules that would change their meaning by that are left out or doubled. Relative paths
// start at the working directory there as here, so a result is made for one directory.
package configimport
