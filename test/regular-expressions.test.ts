import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Bundled hooks that read foreign text. */
const HOOKS = readdirSync(join(root, "hooks-examples/web"))
	.map((file) => `hooks-examples/web/${file}`)
	.concat("hooks-examples/web.ts");

/** What expressions stumble over: many equal starts, each of which a match tries again. */
const UNITS = [
	...[
		" ",
		"\t",
		"\n",
		"\r\n",
		" \n",
		"a",
		"A",
		"0",
		"_",
		"-",
		"=",
		"/",
		"\\",
		'"',
		"'",
		"`",
		"<",
		"(",
		"[",
		"{",
		"*",
		"#",
		".",
	],
	...[
		"a ",
		"a\n",
		"a.",
		"a-",
		"a/",
		"_a_",
		"[a](",
		"<a ",
		"\x1b[",
		"\u202e",
		"&amp;",
		"1.",
		"a=",
		"${",
		"at x (",
		"| ",
	],
];
/** A text of this length takes a quadratic expression about a tenth of a second. UTF-16 units. */
const LENGTH = 16_000;
/** Work of a linear expression for `LENGTH` ends far below it. Milliseconds. */
const NOTICEABLE_MS = 20;
/** A text four times as long takes a linear expression four times as long, a quadratic one sixteen times. */
const MAX_GROWTH = 8;
/** More than the growth of what is noticeable, also on a busy machine. */
const MAX_MS = 10_000;

interface Expression {
	place: string;
	pattern: string;
	flags: string;
}

/** The regular expressions that a module writes down. */
function expressionsOf(file: string): Expression[] {
	const code = readFileSync(join(root, file), "utf8");
	const found: Expression[] = [];
	const visit = (node: unknown): void => {
		if (typeof node !== "object" || node === null) return;
		if ("regex" in node && "start" in node) {
			const { pattern, flags } = node.regex as Expression;
			found.push({ place: `${file}:${code.slice(0, Number(node.start)).split("\n").length}`, pattern, flags });
		}
		for (const part of Object.values(node)) visit(part);
	};
	visit(parseAst(code, { lang: "ts" }, file));
	return found;
}

const sandbox = createContext({ expression: /x/, text: "" });
const once = new Script("expression.test(text)");
const everywhere = new Script("for (const _ of text.matchAll(expression));");

/** Time that an expression needs to look through a text, in ms; more than `MAX_MS` counts as that. */
function timeOf({ pattern, flags }: Expression, text: string): number {
	Object.assign(sandbox, { expression: new RegExp(pattern, flags), text });
	const start = performance.now();
	try {
		(flags.includes("g") ? everywhere : once).runInContext(sandbox, { timeout: MAX_MS });
	} catch {
		return MAX_MS;
	}
	return performance.now() - start;
}

function hostileTexts(length: number): string[] {
	return UNITS.flatMap((unit) => {
		const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
		return [`${text}!`, `x${text}\0y`];
	});
}

const long = hostileTexts(LENGTH);
const short = hostileTexts(LENGTH / 4);

/** Whether the work for a text grows faster than its length. The least of several times leaves out slow moments of the machine. */
function isSuperlinear(expression: Expression, at: number): boolean {
	let [time, timeOfShort] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
	for (let attempt = 0; attempt < 8; attempt++) {
		time = Math.min(time, timeOf(expression, long[at] ?? ""));
		if (time < NOTICEABLE_MS) return false;
		timeOfShort = Math.min(timeOfShort, timeOf(expression, short[at] ?? ""));
	}
	return time >= MAX_GROWTH * timeOfShort;
}

test("every regular expression takes linear time for hostile text", { timeout: 120_000 }, () => {
	const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".ts"))
		.map((file) => join("src", file));
	const expressions = [...files, ...HOOKS].flatMap(expressionsOf);
	expect(expressions.length).toBeGreaterThan(300);
	// Work without an open repetition is bounded at each start; equal expressions need one look.
	const repeating = expressions.filter(({ pattern }) => /[*+]|\{\d+,\}/.test(pattern));
	const different = new Map(repeating.map((expression) => [`/${expression.pattern}/${expression.flags}`, expression]));
	const slow = [...different.values()].flatMap((expression) => {
		const at = long.findIndex((_, index) => isSuperlinear(expression, index));
		return at < 0 ? [] : [`${expression.place} /${expression.pattern}/ for ${JSON.stringify(long[at]?.slice(0, 8))}…`];
	});
	expect(slow).toEqual([]);
});

test.each([/\s+$/, /a*b/, /\s*\n\s*/g])("finds that %s does not", { timeout: 120_000 }, ({ source, flags }) => {
	const expression = { place: "here", pattern: source, flags };
	expect(long.some((_, index) => isSuperlinear(expression, index))).toBe(true);
});
