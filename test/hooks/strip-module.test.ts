import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { minifySync, transformSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { stripModule } from "../../src/hooks/strip/strip-module.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Evaluates a module and returns its exports. */
async function run(source: string, modules: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
	const stripped = stripModule(source);
	if (!stripped) throw new Error("the module was not stripped");
	const exported: Record<string, unknown> = {};
	const start = new Script(stripped.head + stripped.code).runInThisContext();
	const define = (getters: Record<string, () => unknown>) => {
		for (const [name, get] of Object.entries(getters)) Object.defineProperty(exported, name, { get, enumerable: true });
	};
	await start(
		define,
		(name: string) => modules[name],
		async (name: string) => modules[name],
		{ url: "file:///a.ts" },
	);
	return { ...exported };
}

/** Code as another compiler prints it, without types, imports, exports and semicolons. */
function printed(code: string, lang: "ts" | "js"): string {
	const { code: all, errors } = transformSync(`a.${lang}`, code, { lang });
	expect(errors).toEqual([]);
	const { code: bare } = minifySync("a.js", all, {
		compress: false,
		mangle: false,
		codegen: { removeWhitespace: false },
	});
	return bare
		.replace(/^import .*;$/gm, "")
		.replace(/^export \{[^}]*\};$/gm, "")
		.replace(/^(?:export default |export |\$pi_export = )/gm, "")
		.replaceAll("$pi_meta", "import.meta")
		.replaceAll("$pi_in(", "import(")
		.replaceAll(";", "")
		.replace(/^\s*\n/gm, "")
		.trim();
}

describe("a stripped module behaves like the module", () => {
	test.each([
		["as and satisfies", "const a = (1 as unknown) as number + 2; export const r = [a satisfies number, a!];", [3, 3]],
		[
			"less than",
			"const a = 1, b = 2, c = 0; export const r = [a < b, a < b && b > c, a < b || c > (a)];",
			[true, true, true],
		],
		[
			"type arguments",
			"const f = <T,>(x: T): T => x; export const r = [f<Map<string, number[]>[]>([]), new Set<number>([1]).size];",
			[[], 1],
		],
		["arrows in branches", "const t = true, a = (1); export const r = t ? (a) : (b: number): number => b;", 1],
		[
			"arrows with a return type in branches",
			"const t = true; export const r = (t ? (b: number): number => b + 1 : null)?.(1);",
			2,
		],
		["an object in a branch", "const t = false; export const r = t ? { a: 1 } : { b: (2 as number) };", { b: 2 }],
		[
			"predicates",
			"function is(x: unknown): x is string { return typeof x === 'string'; } function check(x: unknown): asserts x {} check(1); export const r = is('a');",
			true,
		],
		[
			"overloads",
			`export function f(a: string): string;\nexport function f(a: number): string;\nexport function f(a: unknown) { return \`\${a}\`; }\nexport const r = f(1);`,
			"1",
		],
		[
			"a class",
			"abstract class A<T> implements Iterable<T> { private readonly a?: number = 1; declare b: string; abstract c(): void; [key: string]: unknown; static #n: number = 2; get v(): number { return this.a! + A.#n; } *[Symbol.iterator](): any { yield 4; } }\nclass B extends A<Map<string, Set<number>>> { override c(): void {} }\nexport const r = [new B().v, ...new B(), Object.keys(new B())];",
			[3, 4, ["a"]],
		],
		[
			"templates and regular expressions",
			`const a = 4; export const r = \`\${\`\${a as number}\`}/\${/[/"']/.test('/')}\` + 8 / a / 2;`,
			"4/true1",
		],
		[
			"labels and loops",
			"let n: number = 0; out: for (const x of [1, 2] as number[]) for (let i: number = 0; i < 3; i++) { if (i > x) continue out; n += i; }\nexport const r = n;",
			4,
		],
		[
			"catch and default values",
			"const f = ({ a = 1 as number, ...b }: { a?: number; b?: number } = {}, [c]: [number?] = []): number => a + (b.b ?? 0) + (c ?? 0);\nlet e: unknown; try { throw 1; } catch (x: unknown) { e = x; }\nexport const r = [f(), f({ b: 2 }, [3]), e];",
			[1, 6, 1],
		],
		[
			"types between lines",
			`const a = () => 1\ninterface B { a: string }\n;(a)()\ntype C = (x: number) => \`a\${string}\`\n[1].forEach(() => {})\nexport const r = a();`,
			1,
		],
		[
			"words that are also keywords",
			"const type = 1, of = 2, is = 4, declare = 5; const o = { type, get: 1, async: 2, as: 3, set(x: number) { return x; } };\nexport const r = [type, of, o.as, is, declare, o.get, o.async, o.set(1)];",
			[1, 2, 3, 4, 5, 1, 2, 1],
		],
		[
			"types of every form",
			`type A<T> = T extends { a: infer U }[] ? keyof U | (abstract new (...x: never[]) => T) : typeof import('x')['y'][] & readonly [a: string, b?: -1];\nlet a: A<string> | unique symbol | \`x\${'}'}\` | { [K in 'a']?: K } | (<T>(this: void, x: T) => x is T) | null = null;\nexport const r = a;`,
			null,
		],
		["umlauts and astral characters", "const größe: string = '😀'; /* ü */ export const r = größe as string;", "😀"],
	])("%s", async (_, source, expected) => {
		expect((await run(source)).r).toEqual(expected);
	});

	test("of imports, only those whose names are read load a module", async () => {
		const source = `import { T, value } from "a"; import { U } from "b"; import type { V } from "c"; import "d"; import type from "e";
			import fallback, * as all from "f"; import { type W, x as y } from "g";
			export const r: [T, U, V, W] = [value, y, fallback, all.n, type] as never;`;
		const modules = { a: { value: 1 }, e: { default: 5 }, f: { n: 3 }, g: { x: 2 } };
		expect((await run(source, modules)).r).toEqual([1, 2, { n: 3 }, 3, 5]);
		expect(stripModule(source)?.imports).toEqual(["a", "d", "e", "f", "g"]);
	});

	test.each([
		["a named function", "export default function f() { return 1; }"],
		["a function", "export default function () { return 1; }\nconst a = 1;"],
		["an async generator", "export default async function* () {}"],
		["an arrow function", "export default (a?: number): number => 1"],
		["a class", "export default class { static a: number = 1; }"],
		["a named class", "export default class A extends Array<number> {}"],
		["a name", "const f = () => 1; export { f as default };"],
	])("the default export can be %s", async (_, source) => {
		expect((await run(source)).default).toBeTypeOf("function");
	});

	test("exports are live, and types are no exports", async () => {
		const source =
			"export let a: number = 1; export const [b, { c }] = [2, { c: 3 }]; interface I {} export { I, a as d };\na++;";
		expect(await run(source)).toEqual({ a: 2, b: 2, c: 3, d: 2 });
		expect(stripModule(source)?.hasMutableExports).toBe(true);
	});
});

test("every position is that in the source", () => {
	const source =
		"import { a } from 'a';\nexport default function f(x: string): void {\n\tconst y: Map<\n\t\tstring, number> = new Map(); throw (x as unknown); }\n";
	const code = stripModule(source)?.code.split("\n") ?? [];
	for (const [row, line] of source.trimEnd().split("\n").entries()) {
		for (const { 0: word, index } of line.matchAll(/\b(?:function|const|new|throw)\b/g))
			expect(code[row]?.slice(index, index + word.length)).toBe(word);
		expect(code[row]?.trimEnd().length).toBeLessThanOrEqual(line.length);
	}
});

test.each([
	["an enum", "enum A { a }"],
	["a const enum", "const enum A { a }"],
	["a namespace", "namespace A { export const a = 1; }"],
	["a parameter property", "class A { constructor(private a: number) {} }"],
	["a decorator", "@d class A {}"],
	["a decorated member", "class A { @d a = 1; }"],
	["import =", 'import a = require("a");'],
	["export =", "export = 1;"],
	["a cast in angle brackets", "const a = <string>b;"],
	["CommonJS", "module.exports = 1;"],
	["a re-export", 'export { a } from "a";'],
	["export *", 'export * from "a";'],
	["a computed import()", "await import(name);"],
	["import.meta.resolve", 'import.meta.resolve("a");'],
	["an import with attributes", 'import a from "a" with { type: "json" };'],
	["an ambient declaration", "declare const a: string;"],
	["a cast before a line that would continue it", "const a = b as string\n[c].map(d)"],
	["type parameters on two lines", "const f = () => { return <\nT>(a: T) => a; }"],
	["a return type on two lines before an arrow", "const f = (): {\n a: 1 } => g;"],
	["a hashbang", "#!/usr/bin/env node\n"],
	["a return outside a function", "return 1;"],
	["pi's own names", "const $pi_meta = 1;"],
	["an open template", "const a = `1"],
	["an open class", "class A {"],
	["an open type", "type A = {"],
	["a stray bracket", "f(1));"],
])("%s needs another compiler", (_, source) => {
	expect(stripModule(source)).toBeNull();
});

test("all of pi's own code loses its types as in another compiler, and nothing else", () => {
	const files = ["src", "hooks-examples", "test"].flatMap((folder) =>
		readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
			.filter((name) => /(?<!\.d)\.ts$/.test(name))
			.map((name) => join(ROOT, folder, name)),
	);
	let stripped = 0;
	for (const file of files) {
		const source = readFileSync(file, "utf8");
		const module = stripModule(source);
		if (!module) continue;
		stripped++;
		new Script(module.head + module.code);
		expect(printed(module.code.replace(/\n\}\)$/, ""), "js"), file).toBe(printed(source, "ts"));
	}
	expect(stripped).toBeGreaterThan(0.75 * files.length);
});
