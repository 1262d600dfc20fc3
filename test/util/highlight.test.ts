import { beforeAll, expect, test } from "vitest";
import { compileGrammars, createHighlighter, loadHighlighter } from "../../src/util/highlight.js";

/** Writes the kind of each token around it. */
const NAMED = {
	keyword: named("keyword"),
	string: named("string"),
	number: named("number"),
	comment: named("comment"),
	title: named("title"),
	type: named("type"),
	added: named("added"),
	removed: named("removed"),
};

function named(kind: string): (text: string) => string {
	return (text) => `‹${kind} ${text}›`;
}

beforeAll(loadHighlighter);

test.each([
	["ts", "const a = 'b'; // c", ["‹keyword const› a = ‹string 'b'›; ‹comment // c›"]],
	["python", "def f(x):\n  return 1", ["‹keyword def› ‹title f›(x):", "  ‹keyword return› ‹number 1›"]],
	["diff", "+new\n-old", ["‹added +new›", "‹removed -old›"]],
	["c", "int a = b < c && d > 1;", ["‹type int› a = b < c && d > ‹number 1›;"]],
])("%s is highlighted by the kinds of its tokens", (language, code, lines) => {
	expect(createHighlighter(NAMED)(code, language)).toEqual(lines);
});

test("a token of several lines is styled line by line", () => {
	expect(createHighlighter(NAMED)("/* a\n\n   b */", "ts")).toEqual(["‹comment /* a›", "", "‹comment    b */›"]);
});

test("embedded code is highlighted in its own language", () => {
	expect(createHighlighter(NAMED)("<script>let a</script>", "html")).toEqual([
		"‹keyword <›‹title script›‹keyword >›‹keyword let› a‹keyword </›‹title script›‹keyword >›",
	]);
});

test("tokens without a kind inside a string have the color of the string", () => {
	expect(createHighlighter(NAMED)("'a #{b + 1} c'".replaceAll("'", '"'), "ruby")).toEqual([
		'‹string "a #{b + ›‹number 1›‹string } c"›',
	]);
});

test.each(["", "nonsense"])("code of the language %j stays plain", (language) => {
	expect(createHighlighter(NAMED)("const a;", language)).toEqual(["const a;"]);
});

test("the plain style applies to all text without a kind, also in code without a known language", () => {
	const highlight = createHighlighter({ ...NAMED, plain: (text) => text.replaceAll("<", "&lt;") });
	expect(highlight("a < 1;\nb", "ts")).toEqual(["a &lt; ‹number 1›;", "b"]);
	expect(highlight("a < 1;\n<b>", "no-such-language")).toEqual(["a &lt; 1;", "&lt;b>"]);
});

test("compiled grammars highlight as before", async () => {
	const highlight = createHighlighter(NAMED);
	const before = highlight("let a = 1", "js");
	await compileGrammars();
	expect(highlight("let b = 1", "js")).toEqual(before.map((line) => line.replace("a", "b")));
	expect(createHighlighter(NAMED)("let a = 1", "js")).toEqual(before);
});
