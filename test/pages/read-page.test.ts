import { expect, test } from "vitest";
import { readPage } from "../../src/pages/read-page.js";

const URL = "https://site.example/docs/page.html";
const read = (html: string) => readPage(html, { url: URL });

const SENTENCE = "The parser reads one line after another, and keeps what it does not know in its place. ";

test("an article becomes Markdown without what surrounds it, with absolute links", async () => {
	const { title, byline, markdown } = await read(`<!doctype html><html><head><title>The
		parser</title><meta name="author" content="Ada Example"></head><body>
		<nav><a href="/">Home</a><a href="/news">News</a></nav>
		<article><h1>The parser</h1><p>${SENTENCE.repeat(5)}</p><p>${SENTENCE.repeat(3)} <a href="../api?q=1#top">API</a></p>
		<ul><li>one</li><li>two <em>and</em> a <code>half</code></li></ul>
		<pre><code class="language-ts">let a = 1;\n  let b;</code></pre></article>
		<footer>Copyright by everybody</footer></body></html>`);
	expect([title, byline]).toEqual(["The parser", "Ada Example"]);
	expect(markdown).toContain("[API](https://site.example/api?q=1#top)");
	expect(markdown).toContain("-   one\n-   two *and* a `half`");
	expect(markdown).toContain("```ts\nlet a = 1;\n  let b;\n```");
	expect(markdown).not.toMatch(/Home|Copyright/);
});

test("a page without a main text is converted completely", async () => {
	const links = Array.from({ length: 30 }, (_, at) => `<li><a href="/${at}">Item ${at}</a></li>`).join("");
	const { markdown } = await read(`<html><body><ul>${links}</ul></body></html>`);
	expect(markdown.split("\n")).toHaveLength(30);
	expect(markdown).toContain("[Item 29](https://site.example/29)");
});

test("tables are kept, except those that only arrange parts of a page", async () => {
	const table =
		"<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1 | 2</td><td>3<br>4</td></tr></tbody></table>";
	const expected = "| a | b |\n| --- | --- |\n| 1 \\| 2 | 3 4 |";
	expect((await read(table)).markdown).toBe(expected);
	expect((await read(`<table><tr><td>left</td><td>${table}</td></tr></table>`)).markdown).toBe(`left\n\n${expected}`);
	expect((await read("<table><tr><td>1</td></tr><tr><td>2</td></tr></table>")).markdown).toBe("| 1 |\n| --- |\n| 2 |");
});

test("what readers do not see is left out", async () => {
	const hidden = [
		"<script>HIDDEN</script><style>HIDDEN</style><noscript>HIDDEN</noscript><template>HIDDEN</template>",
		"<!-- HIDDEN --><svg><text>HIDDEN</text></svg><iframe srcdoc='HIDDEN'>HIDDEN</iframe>",
		"<p hidden>HIDDEN</p><p aria-hidden='true'>HIDDEN</p><textarea>HIDDEN</textarea>",
		"<p style='display:none'>HIDDEN</p><p style='color: red; Display : NONE !important;'>HIDDEN</p>",
		"<p style='visibility:hidden'>HIDDEN</p><div style='opacity:0'><p>HIDDEN</p></div><p style='font-size:0px'>HIDDEN</p>",
		"<p title='HIDDEN' data-x='HIDDEN'></p><img alt='' src='data:text/plain,HIDDEN'><a href='javascript:HIDDEN()'>a</a>",
		"<a href='https://b.example/' title='HIDDEN'>b</a><object>HIDDEN</object>",
	].join("");
	const { title, markdown } = await read(`<html><head><title>t</title></head><body><p>seen</p>${hidden}</body></html>`);
	expect(title).toBe("t");
	expect(markdown).toMatch(/^seen/);
	expect(markdown).not.toContain("HIDDEN");
	expect((await read("<p style='font-size:0.9em'>small</p><p style='opacity:0.5'>pale</p>")).markdown).toBe(
		"small\n\npale",
	);
});

test("hidden text that lies very deep is left out too", async () => {
	const { markdown } = await read(`${"<div>".repeat(250)}seen<p hidden>HIDDEN</p><script>HIDDEN</script>`);
	expect(markdown).toBe("seen");
});

test.each([
	["elements", "<div>", 30_000],
	["styles", "<b><i>", 15_000],
	["quotes", "<blockquote>", 30_000],
	["tables", "<table><tr><td>", 10_000],
])("%s that are nested 30,000 deep keep their text", async (_, tags, count) => {
	expect((await read(`${tags.repeat(count)}hello`)).markdown).toContain("hello");
});

test.each([
	["", ""],
	["only text & more", "only text & more"],
	["<p>a fragment</p><p>of two</p>", "a fragment\n\nof two"],
	["<html><body></body></html>", ""],
	["<!doctype html><title>t</title><h1>no body</h1><p>and no head", "## no body\n\nand no head"],
	["<html><head><title>t</title><body><p>open head", "open head"],
	["<html lang=en><title>t</title><p>no body", "no body"],
	["<HTML><BODY><P>CAPITALS</BODY></HTML>", "CAPITALS"],
	["<frameset><frame src=x></frameset>", ""],
	["<p>broken <b>tags</p></i>", "broken **tags**"],
])("%j is converted", async (html, markdown) => {
	expect((await read(html)).markdown).toBe(markdown);
});

test("a huge title and a huge author are cut", async () => {
	const { title, byline } = await read(
		`<html><head><title>${"x".repeat(100_000)}</title><meta name="author" content="${"y ".repeat(50_000)}"></head><body><p>a</p></body></html>`,
	);
	expect(title).toBe(`${"x".repeat(300)}…`);
	expect(byline.length).toBeLessThanOrEqual(301);
});

test("links are relative to the base of the page", async () => {
	const { markdown } = await read('<html><head><base href="/other/"></head><body><a href="x">x</a></body></html>');
	expect(markdown).toBe("[x](https://site.example/other/x)");
});

test("nothing is converted after an abort", async () => {
	const reason = new Error("stopped");
	await expect(readPage("<p>x</p>", { url: URL, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
