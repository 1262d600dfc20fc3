import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { exportToFile } from "../../src/export/formats.js";
import { SCRIPT } from "../../src/export/page-script.js";
import { STYLE } from "../../src/export/page-style.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { skillPromptText } from "../../src/log/prompt-text.js";
import { loadHighlighter } from "../../src/util/highlight.js";
import { loadWordDiff } from "../../src/util/word-diff.js";
import { anyText } from "../helpers/any-text.js";
import { assistant, bashExecution, compaction, header, result, user } from "../helpers/entries.js";
import { tempDir } from "../helpers/temp.js";
import { everywhere, HOSTILE } from "./hostile.js";
import { PIXEL, pageOf, sampleSession } from "./sample-session.js";

beforeAll(async () => {
	await Promise.all([loadHighlighter(), loadWordDiff()]);
});

/** Every tag that a page may contain, with its attributes. */
const ALLOWED = [
	/^<!doctype html>$/,
	/^<\/?(?:html|head|body|header|main|footer|title|style|summary|dl|dt|dd|pre|code|p|b|i|h[1-6]|ul|ol|li|em|strong|del|blockquote|table|thead|tbody|tr)>$/,
	/^<html lang="en">$/,
	/^<meta (?:charset="utf-8"|http-equiv="Content-Security-Policy" content="[^"]*"|name="referrer" content="no-referrer"|name="viewport" content="[^"]*")>$/,
	/^<\/(?:section|a|div|nav|details|span|th|td|button|svg|script)>$/,
	/^<(?:br|hr|div)>$/,
	/^<section id="entry-\d+"(?: class="hidden")?>$/,
	/^<section id="hook-\d+">$/,
	/^<a class="index" href="#entry-\d+">$/,
	/^<a href="(?:https?:\/\/|mailto:)[^"<>]*" rel="noopener noreferrer nofollow">$/,
	/^<a href="#entry-\d+">$/,
	/^<(?:p|div|pre|span) class="(?:about|added|assistant|c|context|diff|error|f|facts|gap|index|k|n|note|note outside|output|page|preview|removed|row|s|status|t|tools|track|typed|user)">$/,
	/^<details class="(?:compaction|custom|thinking|tool|tool failed)"(?: data-entry="\d+")?>$/,
	/^<img alt="Image" src="data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]*">$/,
	/^<(?:th|td)(?: align="(?:left|right|center)")?>$/,
	/^<ol start="\d+">$/,
	/^<nav aria-label="Prompts">$/,
	/^<button type="button" id="(?:prompts|folds|back|forth|context)"[\w\s="-]*>$/,
	/^<input type="(?:search|range)"[\w\s="-]*>$/,
	/^<span id="found" role="status">$/,
	/^<div id="ledger-text">$/,
	/^<svg viewBox="0 0 \d+ 100" preserveAspectRatio="none" aria-hidden="true">$/,
	/^<path d="[ML\d,Z]*"\/>$/,
	/^<script type="application\/json" id="ledger">$/,
];

/** Tags of a page that no rule allows. The style sheet, the script and the data of the page must be there exactly once. */
function forbiddenTags(html: string): string[] {
	const data = /(<script type="application\/json" id="ledger">)[^<]*(?=<\/script>)/;
	const parts = html.split(`<style>${STYLE}</style>`).flatMap((part) => part.split(`<script>${SCRIPT}</script>`));
	if (parts.length !== 3) return ["style sheet or script"];
	const rest = parts.join("").replace(data, "$1");
	return (rest.match(/<[^>]*>?/g) ?? []).filter((tag) => !ALLOWED.some((rule) => rule.test(tag)));
}

function page(...entries: SessionEntry[]): string {
	return pageOf({ entries: [header(), ...entries], title: "A session" });
}

test("the output of a command that the user kept from the model is not exported", () => {
	const entry = (extra: object) => ({
		type: "message" as const,
		timestamp: header().timestamp,
		message: { ...bashExecution, command: "env", output: "SECRET", ...extra },
	});
	expect(page(entry({}))).toContain("SECRET");
	const html = page(entry({ excludeFromContext: true }));
	expect(html).toContain("env (not in the context)");
	expect(html).not.toContain("SECRET");
});

test("an undone summary says so", () => {
	const undo = { type: "context_undo" as const, timestamp: header().timestamp, entryIndex: 2 };
	const html = page(user("hi"), compaction(1, "Undone."), undo, compaction(1, "In force."));
	const titles = [...html.matchAll(/<details class="compaction"[^>]*><summary>([^<]*)/g)].map(([, title]) => title);
	expect(titles).toEqual([
		"A summary replaced the earlier messages until it was undone",
		"A summary replaces the earlier messages",
	]);
});

test("a call shows which hook blocked or changed it, and a prompt what was typed", () => {
	const calls = [
		{ id: "c1", name: "bash", arguments: { command: "rm x" } },
		{ id: "c2", name: "bash", arguments: { command: "ls" } },
	];
	const blocked = result("c1", "no", "bash");
	const changed = result("c2", "a.ts", "bash");
	Object.assign(blocked.message, { isError: true, gate: { blockedBy: "<gate>" } });
	Object.assign(changed.message, {
		gate: { changed: { by: ["gate"], from: { command: "ls" }, to: { command: "ls -a" } } },
	});
	const html = page({ ...user("go now"), typed: "go", changedBy: ["polite"] }, assistant("", calls), blocked, changed);
	expect(html).toContain('<summary><b>bash</b> rm x <span class="status">blocked by &lt;gate&gt;</span></summary>');
	expect(html).toContain('<p class="note">changed by gate · command: ls → ls -a</p>');
	expect(html).toContain('<p class="note">changed by polite · typed: go</p>');
});

test("a prompt with a skill is its command, with the text of the skill folded", () => {
	const text = skillPromptText({ name: "tea", directory: "/s/tea", body: "Boil <water>.\nPour.", rest: "with milk" });
	const html = page(user(text));
	expect(html).toContain('<div class="typed">/skill:tea with milk</div>');
	expect(html).toContain('<summary><b>skill</b> tea <span class="status">2 lines</span></summary>');
	expect(html).toContain("Boil &lt;water&gt;.");
	expect(html).not.toContain("directory=");
	expect(forbiddenTags(html)).toEqual([]);
});

test("the text of a hook that draws its tool replaces that of pi", () => {
	const html = pageOf({
		entries: [header(), assistant("", [{ id: "a", name: "deploy", arguments: { to: "test" } }]), result("a", "raw")],
		title: "t",
		drawTool: ({ name }) =>
			name === "deploy" ? { title: "Deploy <x>", body: "done <b>", errors: ["late <i>"] } : null,
	});
	expect(html).toContain(
		'<summary>Deploy &lt;x&gt;</summary><dl><dt>to</dt><dd><pre>test</pre></dd></dl><pre>done &lt;b&gt;</pre><p class="error">late &lt;i&gt;</p></details>',
	);
	expect(html).not.toContain("raw");
});

test("a long line is exported in full", () => {
	const long = "word ".repeat(2000).trim();
	expect(page(user(long), assistant(long)).split(long)).toHaveLength(3);
});

describe("the HTML page", () => {
	test.each(HOSTILE)("escapes scripts and requests in %j in every field", (text) => {
		const html = pageOf({
			entries: everywhere(text),
			context: { hidden: [{ entryIndex: 1, by: { kind: "hook", hook: text } }] },
			title: text,
		});
		expect(forbiddenTags(html)).toEqual([]);
		expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
		expect(html.isWellFormed()).toBe(true);
	});

	test("entities of invisible characters are shown, those of visible ones mean what they say", () => {
		const html = page(user("go"), assistant("a &#x202e;b&rlm;c &lt;d&gt; &#8594; &rarr; &amp;"));
		expect(html).toContain("a ‹U+202E›b&amp;rlm;c &lt;d&gt; → → &amp;");
	});

	test("escapes scripts and requests in any mix of hostile fragments", () => {
		const fragments = fc.constantFrom(
			...HOSTILE.slice(0, -1),
			"`",
			"``",
			"~~",
			"**",
			"[",
			"](",
			")",
			"<",
			">",
			'"',
			"'",
			"\n",
			"\n\n",
			"- ",
			"1. ",
			"| ",
			"\\",
			"&",
			"x",
			"http://a.test/",
		);
		fc.assert(
			fc.property(fc.array(fc.oneof(fragments, anyText()), { maxLength: 12 }), (chosen) => {
				expect(forbiddenTags(pageOf({ entries: everywhere(chosen.join("")), title: "t" }))).toEqual([]);
			}),
			{ numRuns: 150 },
		);
	}, 60_000);

	test("renders Markdown of the model with code, lists, tables, safe links and lower heading levels", () => {
		const html = page(
			assistant(
				"# Title\n\n**bold** `a < b`\n\n- one\n- [x] two\n\n```ts\nconst a = 1 < 2;\n```\n\n[docs](https://example.test/a?b=1&c=2) &copy;",
			),
		);
		expect(html).toContain("<h3>Title</h3>");
		expect(html).toContain("<strong>bold</strong> <code>a &lt; b</code>");
		expect(html).toContain(
			'<pre><code><span class="k">const</span> a = <span class="n">1</span> &lt; <span class="n">2</span>;</code></pre>',
		);
		expect(html).toContain(
			'<a href="https://example.test/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">docs</a> ©',
		);
		expect(html).toContain("☑ ");
	});

	test("folds a tool call with its arguments and result, and shows the diff of an edit", () => {
		const edit = result("b", "done", "edit");
		if (edit.message.role === "toolResult")
			edit.message.details = { diff: "-1 old line\n+1 new line", added: 1, removed: 1 };
		const html = page(
			user("go"),
			assistant("", [
				{ id: "a", name: "bash", arguments: { command: "ls -l\npwd" } },
				{ id: "b", name: "edit", arguments: { path: "a.ts" } },
				{ id: "c", name: "read", arguments: {} },
			]),
			result("a", "file.txt", "bash"),
			edit,
		);
		expect(html).toContain(
			'<details class="tool" data-entry="3"><summary><b>bash</b> ls -l ↵ +1</summary><pre><code><span class="t">ls</span> -l\n<span class="t">pwd</span></code></pre><pre class="output"><code>file.txt</code></pre></details>',
		);
		expect(html).toContain(
			'<summary><b>edit</b> a.ts <span class="status">+1 −1</span></summary><pre class="diff"><span class="removed"><i>1</i> − <b>old</b> line\n</span><span class="added"><i>1</i> + <b>new</b> line\n</span></pre>',
		);
		expect(html).toContain('<summary><b>read</b> <span class="status">no result</span></summary></details>');
		expect(html.match(/file\.txt/g)).toHaveLength(1);
	});

	test("shows the path of a call once: in the title that pi words, or among the arguments", () => {
		const reads = { id: "a", name: "read", arguments: { path: "a.ts", offset: 10, limit: 5 } };
		const deploys = { id: "b", name: "deploy", arguments: { path: "b.ts" } };
		const html = pageOf({
			entries: [header(), assistant("", [reads, deploys])],
			title: "t",
			drawTool: ({ name }) => (name === "deploy" ? { title: "Deploy", body: null, errors: [] } : null),
		});
		expect(html).toContain("<b>read</b> a.ts:10-14");
		expect(html).not.toContain("<dd>a.ts</dd>");
		expect(html.match(/b\.ts/g)).toHaveLength(1);
	});

	test("omits an image whose data is not base64, however much white space precedes the mistake", () => {
		const image = (data: string) => {
			const content = [{ type: "image" as const, data, mimeType: "image/png" }];
			return pageOf({ entries: [header(), user(content)], title: "t" });
		};
		expect(image(`${" ".repeat(500_000)}!`)).toContain("Image of type image/png omitted");
		expect(image("QQ==QQ==")).toContain("Image of type image/png omitted");
		expect(image(" QU\nI=\n")).toContain('src="data:image/png;base64,QUI="');
	});

	test("says on which machine tools work", () => {
		const host = (on: string | null, name: string) => ({ type: "tool_host", timestamp: "", on, name });
		const entries = [header(), host("ssh:build", "<build>"), user("one"), host(null, "")];
		const html = pageOf({ entries, title: "t" });
		expect(html).toContain('<p class="note">Tools work on: &lt;build&gt;</p>');
		expect(html).toContain('<p class="note">Tools work on: this machine</p>');
		expect(html).not.toContain("from a hook");
	});

	test("embeds images and marks entries that are not in the context", () => {
		const html = pageOf({
			entries: [
				header(),
				user([{ type: "image", data: PIXEL, mimeType: "image/png" }]),
				compaction(2, "s"),
				user("later"),
			],
			title: "t",
		});
		expect(html).toContain(`<img alt="Image" src="data:image/png;base64,${PIXEL}">`);
		expect(html).toMatch(
			/<section id="entry-1" class="hidden">.*not in the context: summarized by the compaction in entry 2/,
		);
		expect(html).toMatch(/<section id="entry-3">/);
		const hooked = pageOf({
			entries: [header(), user("one"), user("two")],
			context: { hidden: [{ entryIndex: 1, by: { kind: "hook", hook: "pop.ts" } }] },
			title: "t",
		});
		expect(hooked).toMatch(/<section id="entry-1" class="hidden">.*not in the context: hidden by the hook pop.ts/);
		expect(hooked).toMatch(/<section id="entry-2">/);
	});

	test("allows only its own style sheet and script by their hashes", () => {
		const html = page(user("hi"));
		const hash = (text: string) => `sha256-${createHash("sha256").update(text).digest("base64")}`;
		expect(html).toContain(
			`content="default-src 'none'; style-src '${hash(STYLE)}'; script-src '${hash(SCRIPT)}'; img-src data:; base-uri 'none'; form-action 'none'"`,
		);
		expect(() => new Script(SCRIPT)).not.toThrow();
	});

	test("shows a title, models, cost, prompts and the source of system items, entries and messages of hooks", () => {
		const html = pageOf({ entries: sampleSession(), title: "Prices" });
		expect(html).toContain("<h1>Prices</h1>");
		expect(html).toContain('<div class="facts">acme/coder-2 · $0.03 · 15 messages</div>');
		expect(html).toContain('<li><a href="#entry-14">And in Python?</a></li>');
		expect(html).toContain("<summary><b>task reminder</b> from tasks</summary>");
		expect(html).toContain("<summary><b>stack-marker</b> from a hook</summary>");
		expect(html).toMatch(
			/<section id="hook-0">.*A hook added this message.*Two earlier questions[\s\S]*<section id="entry-18">/,
		);
		expect(html.match(/Two earlier questions/g)).toHaveLength(1);
	});

	test("shows each result once: with the call before it, or alone", () => {
		const html = page(
			result("a", "before the call"),
			assistant("", [{ id: "a" }, { id: "a" }]),
			result("a", "first"),
			result("a", "second"),
			result("a", "third"),
		);
		expect(html).toMatch(/entry-1".*Result of <b>read<\/b>.*before the call/);
		expect(html).toMatch(/entry-2".*data-entry="3".*first.*data-entry="4".*second/);
		expect(html).toMatch(/entry-5".*Result of <b>read<\/b>.*third/);
		for (const text of ["before the call", "first", "second", "third"])
			expect(html.split(`<code>${text}</code>`)).toHaveLength(2);
	});

	test("contains no references to external resources", () => {
		const html = page(user("hi"), assistant("![x](https://evil.test/a.png) <img src=https://evil.test/b.png>"));
		expect(html).not.toMatch(/(?:src|srcset|poster|background)\s*=\s*["']?https?:/i);
		expect(html).not.toMatch(
			/url\(|@import|<link|fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|innerHTML|eval\(/i,
		);
	});
});

describe("exportToFile", () => {
	test("reads each entry a few times, keeps none, and lets other work continue", async () => {
		const entries = [header(), ...Array.from({ length: 2000 }, (_, at) => [user(`${at}`), assistant("b")]).flat()];
		let reads = 0;
		const source = {
			length: entries.length,
			at: () => {
				throw new Error("at() keeps the entry in memory");
			},
			lastOfTypes: () => -1,
			peek: (index: number) => {
				reads++;
				return structuredClone(entries[index]);
			},
		};
		const path = join(tempDir(), "page.html");
		let turns = 0;
		const timer = setInterval(() => turns++, 1);
		await exportToFile(path, "html", { entries: source, name: "A session" });
		clearInterval(timer);
		expect(readFileSync(path, "utf8")).toBe(pageOf({ entries, title: "A session" }));
		expect(reads).toBe(2 * entries.length);
		expect(turns).toBeGreaterThan(5);
	});

	test("leaves an existing file unchanged when it fails", async () => {
		const path = join(tempDir(), "page.html");
		const before = pageOf({ entries: [header()], title: "t" });
		writeFileSync(path, before);
		const source = {
			length: 2,
			at: (index: number) => {
				if (index === 1) throw new Error("the disk failed");
				return header();
			},
		};
		await expect(exportToFile(path, "html", { entries: source, name: "t" })).rejects.toThrow(`Cannot write ${path}`);
		expect(readFileSync(path, "utf8")).toBe(before);
	});
});
