package hook_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
)

// The language features that work, so that the test notices when a new version of the engine
// loses one.
func Test_Hooks_Can_Use_Modern_JavaScript(t *testing.T) {
	t.Parallel()
	e := newEngine(t, inProcess())
	for _, c := range []struct{ name, body, want string }{
		{"template literals", "const a = 3; return {data: `a is ${a + 1}`}", `"a is 4"`},
		{"optional chaining and ??", "return {data: [payload?.none?.x ?? 'no', payload?.none?.(), payload.messages?.[0]?.role]}", `["no",null,"user"]`},
		{"logical assignment", "let a: any = null; a ??= 4; a &&= a + 1; return {data: a}", `5`},
		{"classes with private, static and computed members", "class A { #x = 1; static made = 0; static { A.made = 7 } get x() { return this.#x } set x(v) { this.#x = v } ['na' + 'me']() { return 'n' } }; class B extends A { constructor() { super(); this.x += 1 } }; const b = new B(); return {data: [b.x, A.made, b.name()]}", `[2,7,"n"]`},
		{"spread, rest and destructuring", "const {a, ...rest} = {a: 1, b: 2, c: 3}; const f = (x, ...ys) => [x, ...ys]; const [p, , q = 9] = [1, 2]; return {data: [a, rest, f(...[1, 2, 3]), {...rest, d: 4}, p, q]}", `[1,{"b":2,"c":3},[1,2,3],{"b":2,"c":3,"d":4},1,9]`},
		{"Map, Set, WeakMap and Symbol", "const m = new Map([['a', 1]]); const s = new Set([1, 1, 2]); const w = new WeakMap(); w.set(m, 3); return {data: [[...m], [...s], w.get(m), typeof Symbol.iterator]}", `[[["a",1]],[1,2],3,"symbol"]`},
		{"generators and for of", "function* g() { yield 1; yield* [2, 3] }; let n = 0; for (const x of g()) n += x; return {data: n}", `6`},
		{"async functions and Promise", "return (async () => { const xs = await Promise.all([1, Promise.resolve(2), (async () => 3)()]); try { await Promise.reject(new Error('x')) } catch (e) { xs.push(e.message) } finally { xs.push('f') } return {data: xs} })()", `[1,2,3,"x","f"]`},
		{"async generators and for await", "async function* g() { yield 1; yield 2 }; return (async () => { let n = 0; for await (const x of g()) n += x; return {data: n} })()", `3`},
		{"Proxy and Reflect", "const p = new Proxy({}, {get: (_, k) => String(k) + '!'}); return {data: [p.hi, Reflect.ownKeys({a: 1})]}", `["hi!",["a"]]`},
		{"BigInt and exponents", "return {data: [String(2n ** 70n), 2 ** 10]}", `["1180591620717411303424",1024]`},
		{"regular expressions with names, looking around, and u", `return {data: ['2026-01-02'.match(/(?<y>\d+)-(?<m>\d+)/).groups.m, 'price 12'.match(/(?<=price )\d+/)[0], /^.$/u.test('😀'), 'aXbX'.replaceAll('X', '-')]}`, `["01","12",true,"a-b-"]`},
		{"newer methods of arrays, objects and strings", "return {data: [[1, [2]].flat(), [3, 1].toSorted?.() ?? 'none', Object.fromEntries([['a', 1]]), [1, 2].at(-1), 'x'.padStart(3, '.'), [1, 2].includes(2), Object.entries({a: 1})]}", `[[1,2],[1,3],{"a":1},2,"..x",true,[["a",1]]]`},
		{"JSON", `return {data: JSON.parse(JSON.stringify({a: [1, null, "é"]}))}`, `{"a":[1,null,"é"]}`},
		{"dates", "return {data: [new Date(0).toISOString(), typeof Date.now(), Date.UTC(2026, 0, 2)]}", `["1970-01-01T00:00:00.000Z","number",1767312000000]`},
		{"Math.random differs", "const x = Math.random(); return {data: x >= 0 && x < 1 && x !== Math.random()}", `true`},
		{"labels, switch and comma", "let n = 0; out: for (let i = 0; ; i++) for (let j = 0; j < 3; j++) { if (i === 2) break out; switch (j) { case 1: continue out; default: n++, n++ } } return {data: n}", `4`},
		{"types, enums, namespaces, casts and decorators of TypeScript's own", "enum Color { Red = 1, Blue }; const f = <T,>(x: T): T => x as unknown as T; let u: string | undefined; abstract class A { constructor(private readonly v: number) {} get() { return this.v! } }; class B extends A {}; return {data: [Color.Blue, Color[1], f<number>(4), new B(5).get(), (u satisfies string | undefined) ?? 'u']}", `[2,"Red",4,5,"u"]`},
		{"comments for a checker", "// @ts-ignore\nconst n: number = 'text'; /* eslint-disable */ return {data: n}", `"text"`},
		{"what JSON has not is null", "return {data: [undefined, NaN, () => 1]}", `[null,null,null]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := next(t, e, &hook.Request{}, c.body)
			if err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// Globals of other JavaScript environments that hooks do not have.
func Test_Hooks_Cannot_Access_The_Host(t *testing.T) {
	t.Parallel()
	e := newEngine(t, inProcess())
	for _, name := range []string{
		"require", "process", "module", "exports", "fetch", "XMLHttpRequest", "WebSocket", "setTimeout", "setInterval", "setImmediate", "queueMicrotask",
		"Deno", "Bun", "Buffer", "navigator", "window", "self", "global", "WebAssembly", "SharedArrayBuffer", "Atomics", "Worker", "importScripts",
		"Intl", "Go", "go", "java", "Packages", "std", "os", "print", "load", "read", "__agentSandbox", "structuredClone", "Process", "http", "$",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := next(t, e, &hook.Request{}, "return {data: typeof (globalThis as any)['"+name+"']}")
			if err != nil || got != `"undefined"` {
				t.Errorf("%s is %s, %v", name, got, err)
			}
		})
	}
	got, err := next(t, e, &hook.Request{}, "return {data: Object.getOwnPropertyNames(globalThis).filter(n => !/^[A-Z]/.test(n)).sort()}")
	want := `["console","decodeURI","decodeURIComponent","encodeURI","encodeURIComponent","escape","eval","globalThis","isFinite","isNaN","log","parseFloat","parseInt","undefined","unescape"]`
	if err != nil || got != want {
		t.Errorf("the globals in small letters are %s, %v\nwant %s", got, err, want)
	}
}
