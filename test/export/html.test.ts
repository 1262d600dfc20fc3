import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportHtml } from "../../src/export/html.js";
import type { MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { assistant, assistantMessage, compaction, custom, header, result, user } from "../helpers/entries.js";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Every tag that a page may contain, with its attributes. */
const ALLOWED = [
	/^<!doctype html>$/,
	/^<\/?(?:html|head|body|main|title|summary|dl|dt|dd|pre|code|p|h[1-6]|ul|ol|li|em|strong|del|blockquote|table|thead|tbody|tr)>$/,
	/^<html lang="en">$/,
	/^<meta (?:charset="utf-8"|http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-[\w+/=]+'; img-src data:; base-uri 'none'; form-action 'none'"|name="referrer" content="no-referrer"|name="viewport" content="[^"]*")>$/,
	/^<style nonce="[\w+/=]+">$/,
	/^<\/(?:style|section|a|div|details|span|th|td)>$/,
	/^<(?:br|hr)>$/,
	/^<section id="entry-\d+"(?: class="hidden")?>$/,
	/^<a class="index" href="#entry-\d+">$/,
	/^<a href="(?:https?:\/\/|mailto:)[^"<>]*" rel="noopener noreferrer nofollow">$/,
	/^<(?:p|div|span|details) class="(?:note|error|user|typed|assistant|added|removed|compaction|custom|thinking|tool|tool failed)">$/,
	/^<img alt="" src="data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]*">$/,
	/^<(?:th|td)(?: align="(?:left|right|center)")?>$/,
	/^<ol start="\d+">$/,
];

/** Tags of a page that no rule allows. */
function forbiddenTags(html: string): string[] {
	const page = html.replace(/(<style[^>]*>)[\s\S]*?<\/style>/, "$1</style>");
	return (page.match(/<[^>]*>?/g) ?? []).filter((tag) => !ALLOWED.some((rule) => rule.test(tag)));
}

function page(...entries: SessionEntry[]): string {
	return exportHtml({ entries: [header(), ...entries], title: "A session" });
}

test("a call shows which hook blocked or changed it", () => {
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
	const html = page(user("go"), assistant("", calls), blocked, changed);
	expect(html).toContain("<summary>bash rm x · blocked by &lt;gate&gt;</summary>");
	expect(html).toContain('<p class="note">changed by gate · command: ls → ls -a</p>');
});

/** A session with the text in every field that can contain text. */
function everywhere(text: string): SessionEntry[] {
	const failed: MessageEntry = {
		type: "message",
		timestamp: TIMESTAMP,
		message: { ...assistantMessage(text, [], "error"), errorMessage: text },
	};
	const bash: MessageEntry = {
		type: "message",
		timestamp: TIMESTAMP,
		message: {
			role: "bashExecution",
			command: text,
			output: text,
			exitCode: 1,
			cancelled: false,
			truncated: false,
			timestamp: 1,
		},
	};
	const thinking: MessageEntry = {
		type: "message",
		timestamp: TIMESTAMP,
		message: { ...assistantMessage(""), content: [{ type: "thinking", thinking: text }], model: text, provider: text },
	};
	const edited = result("call-2", text, text);
	if (edited.message.role === "toolResult") edited.message.details = { diff: `+1 ${text}\n-2 ${text}` };
	return [
		{ ...header(), id: text, cwd: text },
		user(text),
		user([
			{ type: "text", text },
			{ type: "image", data: text, mimeType: text },
			{ type: "image", data: text, mimeType: "image/png" },
		]),
		assistant(text, [
			{ id: "call-1", name: text, arguments: { command: text, [text]: text, nested: { [text]: [text] } } },
			{ id: "call-2", name: "edit", arguments: { path: text } },
		]),
		result("call-1", text, text),
		edited,
		result("nowhere", text, text),
		failed,
		thinking,
		bash,
		compaction(1, text),
		custom(text, { [text]: text }),
		{ type: "model_change", timestamp: TIMESTAMP, provider: text, modelId: text },
		{ type: "session_info", timestamp: TIMESTAMP, name: text },
		{ type: "system_item", timestamp: TIMESTAMP, source: text, item: { kind: "notification", text } },
		{ type: "opaque", reason: text },
	];
}

const HOSTILE = [
	"<script>alert(1)</script>",
	"</style><script>alert(1)</script>",
	'"><img src=x onerror=alert(1)>',
	"' onmouseover='alert(1)",
	"[a](javascript:alert(1))",
	"[a](  java\nscript:alert(1))",
	"[a](data:text/html,<script>alert(1)</script>)",
	"[a](&#106;avascript:alert(1))",
	'[a](https://x.test/"onclick=alert(1))',
	"![a](https://evil.test/pixel.png)",
	"![a](javascript:alert(1))",
	"<https://x.test/><javascript:alert(1)>",
	"[a]: javascript:alert(1)\n\n[a]",
	"<pre><b>raw</pre>",
	"<!-- --><iframe src=//x.test>",
	"```html onload=alert(1)\n<script>\n```",
	"| a |\n|:-:|\n| <b> |",
	"&lt;script&gt; &amp;lt; &#x3c;script&#62;",
	"\u0000\u001b]0;title\u0007\u202e\ud800",
	"> ".repeat(2000),
];

test("a long line is exported in full", () => {
	const long = "word ".repeat(2000).trim();
	expect(page(user(long), assistant(long)).split(long)).toHaveLength(3);
});

describe("exportHtml", () => {
	test.each(HOSTILE)("escapes scripts and requests in %j in every field", (text) => {
		const html = exportHtml({
			entries: everywhere(text),
			context: { hidden: [{ entryIndex: 1, by: { kind: "hook", hook: text } }] },
			title: text,
		});
		expect(forbiddenTags(html)).toEqual([]);
		expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
		expect(html.isWellFormed()).toBe(true);
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
			fc.property(fc.array(fc.oneof(fragments, fc.string({ unit: "binary" })), { maxLength: 12 }), (chosen) => {
				expect(forbiddenTags(exportHtml({ entries: everywhere(chosen.join("")), title: "t" }))).toEqual([]);
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
		expect(html).toContain("<pre><code>const a = 1 &lt; 2;</code></pre>");
		expect(html).toContain(
			'<a href="https://example.test/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">docs</a> &copy;',
		);
		expect(html).toContain("☑ ");
	});

	test("folds a tool call with its arguments and result, and shows the diff of an edit", () => {
		const edit = result("b", "done", "edit");
		if (edit.message.role === "toolResult") edit.message.details = { diff: "-1 old\n+1 new", added: 1, removed: 1 };
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
			'<details class="tool"><summary>bash ls -l</summary><dl><dt>command</dt><dd><pre>ls -l\npwd</pre></dd></dl><pre>file.txt</pre></details>',
		);
		expect(html).toContain('<pre><span class="removed">-1 old</span>\n<span class="added">+1 new</span></pre>');
		expect(html).toContain('<summary>read</summary><p class="note">no result</p>');
		expect(html.match(/file\.txt/g)).toHaveLength(1);
	});

	test("embeds images and marks entries that are not in the context", () => {
		const html = exportHtml({
			entries: [header(), user([{ type: "image", data: PIXEL, mimeType: "image/png" }]), user("later")],
			context: { hidden: [{ entryIndex: 1, by: { kind: "compaction" } }] },
			title: "t",
		});
		expect(html).toContain(`<img alt="" src="data:image/png;base64,${PIXEL}">`);
		expect(html).toMatch(/<section id="entry-1" class="hidden">.*not in the context: hidden by compaction/);
		expect(html).toMatch(/<section id="entry-2">/);
	});

	test("contains no references to external resources", () => {
		const html = page(user("hi"), assistant("![x](https://evil.test/a.png) <img src=https://evil.test/b.png>"));
		expect(html).not.toMatch(/(?:src|srcset|poster|background)\s*=\s*["']?https?:/i);
		expect(html).not.toMatch(/url\(|@import|<link/i);
	});
});
