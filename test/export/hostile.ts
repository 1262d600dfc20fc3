import type { MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { assistant, assistantMessage, compaction, custom, header, result, user } from "../helpers/entries.js";

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/** A session with the text in every field that can contain text. */
export function everywhere(text: string): SessionEntry[] {
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
	const gated = result("call-6", text, text);
	Object.assign(gated.message, {
		gate: { blockedBy: text, changed: { by: [text], from: { [text]: text }, to: { [text]: [text] } } },
	});
	return [
		{ ...header(), id: text, cwd: text },
		{ ...user(text), typed: text },
		assistant("", [{ id: "call-6", name: text, arguments: {} }]),
		gated,
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
		{
			type: "image_omission",
			timestamp: TIMESTAMP,
			images: [{ digest: text, entryIndex: 1 }],
			provider: text,
			modelId: text,
			reason: text,
		},
		{
			type: "request_usage",
			timestamp: TIMESTAMP,
			purpose: text,
			provider: text,
			modelId: text,
			usage: assistantMessage("").usage,
		},
		{ ...compaction(1, text), details: { model: text } },
		result("nowhere", text, text),
		assistant("", [
			{ id: "call-3", name: "write", arguments: { path: `${text}.ts`, content: text } },
			{ id: "call-4", name: "read", arguments: { path: `${text}.html` } },
			{ id: "call-5", name: "bash", arguments: { command: text, timeout: 1 } },
		]),
		result("call-3", text, "write"),
		result("call-4", text, "read"),
		result("call-5", text, "bash"),
		assistant(`\`\`\`html\n${text}\n\`\`\`\n\n\`\`\`${text}\nx\n\`\`\``),
		{
			...assistant(text),
			retried: true,
			context: {
				digest: text,
				messages: 1,
				tokens: 1,
				shape: [{ message: { role: "user", content: text, timestamp: 1 }, entryIndex: 1 }],
			},
		},
		{
			...assistant(text),
			context: {
				digest: text,
				messages: 2,
				tokens: 1,
				shape: [
					{
						message: {
							role: "user",
							content: [
								{ type: "text", text },
								{ type: "image", data: text, mimeType: text },
							],
							timestamp: 1,
						},
						entryIndex: 1,
					},
					{
						message: assistantMessage(text, [{ id: text, name: text, arguments: { [text]: text } }]),
						entryIndex: null,
					},
				],
			},
		},
	];
}

/** Texts that try to leave their place in a page. */
export const HOSTILE = [
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
	"</SCRIPT ><svg onload=alert(1)><!--<script>",
	"<style>*{display:none}</style><p style=position:fixed>",
	"`code` ```ts\n</code></pre><script>alert(1)</script>\n```",
	"| a |\n|:-:|\n| <b> |",
	"&lt;script&gt; &amp;lt; &#x3c;script&#62;",
	"&#x202e;&#8238;&#0;&#xffffff;&rlm;&zwj;&ZeroWidthSpace;",
	"\u0000\u001b]0;title\u0007\u202e\ud800",
	"> ".repeat(2000),
];
