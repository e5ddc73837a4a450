// Package configimport turns the sandbox settings of other tools into a policy: Claude
// Code ("permissions" and "sandbox"), Anthropic's sandbox-runtime (srt) and fence.
//
// What has no equivalent is named, never dropped in silence. A grant that cannot be
// expressed is not given. A restriction that cannot be expressed is replaced by a
// stricter one; where there is none either, it is a [Lack] of kind [Restriction] and
// the [Result] is not complete.
//
// These tools let a deny rule win whatever is more specific; here the longer path wins.
// Rules that would change their meaning by that are left out or doubled. Relative paths
// start at the working directory there as here, so a result is made for one directory.
package configimport
