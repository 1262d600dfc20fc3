import { describe, expect, test } from "vitest";
import { NO_UI } from "../../src/hooks/session-ui.js";
import type { HookUIRequest } from "../../src/modes/rpc/protocol.js";
import { startSession } from "../helpers/session.js";
import { skipTime } from "../helpers/skip-time.js";
import { startApp } from "../modes/interactive/app.js";
import { serve } from "../modes/rpc/serve.js";

type Sent = Partial<Omit<HookUIRequest, "id" | "type">> & Record<string, unknown>;

/** What each member does in each mode. */
interface MemberCase {
	/** An expression with `ctx.ui`; its value is shown as the status of the command. */
	call: string;
	/** The value without a user, as JSON. */
	withoutUser: string;
	/** What the screen shows. */
	screen: string | RegExp;
	/** Keys that close a dialog on the screen. */
	keys?: Parameters<Awaited<ReturnType<typeof startApp>>["terminal"]["press"]>;
	/** Characters that answer it. */
	typed?: string;
	/** The value on the screen, as JSON; for dialogs. */
	answered?: string;
	/** What an RPC client receives; null: nothing. */
	rpc: Sent | null;
	/** What the RPC client answers, and the value then. */
	rpcAnswer?: [answer: string | string[] | boolean, value: string];
}

const COMPONENT = '{ render: () => ["drawn by board"], invalidate() {} }';

const MEMBERS: Record<string, MemberCase> = {
	select: {
		call: 'ctx.ui.select("Which?", ["a", "b"])',
		withoutUser: "null",
		screen: "board asks: Which?",
		keys: ["down", "enter"],
		answered: '"b"',
		rpc: { hook: "board", method: "select", title: "Which?", options: ["a", "b"] },
		rpcAnswer: ["a", '"a"'],
	},
	"select multiple": {
		call: 'ctx.ui.select("Which?", ["a", "b", "c"], { multiple: true, initial: ["a"] })',
		withoutUser: "null",
		screen: "→ ● a",
		keys: ["down", "space", "enter"],
		answered: '["a","b"]',
		rpc: { hook: "board", method: "select", title: "Which?", options: ["a", "b", "c"], multiple: true, initial: ["a"] },
		rpcAnswer: [["c", "a"], '["a","c"]'],
	},
	confirm: {
		call: 'ctx.ui.confirm("Sure?", "really")',
		withoutUser: "false",
		screen: "board asks: Sure?",
		typed: "y",
		answered: "true",
		rpc: { hook: "board", method: "confirm", title: "Sure?", message: "really" },
		rpcAnswer: [true, "true"],
	},
	approve: {
		call: 'ctx.ui.approve({ question: "Run it?", subject: { kind: "command", text: "rm x" }, choices: [{ label: "Always" }] })',
		withoutUser: '{"allowed":false,"isClosed":true}',
		screen: "board asks: Run it?",
		typed: "1",
		answered: '{"allowed":true,"choice":0}',
		rpc: {
			...{ hook: "board", method: "select", title: "Run it?\n\nrm x", initial: ["No"], filter: false },
			options: ["Yes, once", "Always", "No"],
		},
		rpcAnswer: ["Yes, once", '{"allowed":true,"choice":-1}'],
	},
	input: {
		call: 'ctx.ui.input("Word?", "a word")',
		withoutUser: "null",
		screen: "board asks: Word?",
		keys: ["enter"],
		answered: '""',
		rpc: { hook: "board", method: "input", title: "Word?", placeholder: "a word" },
		rpcAnswer: ["yes", '"yes"'],
	},
	editor: {
		call: 'ctx.ui.editor("Text?", "one\\ntwo")',
		withoutUser: "null",
		screen: "board asks: Text?",
		keys: ["enter"],
		answered: '"one\\ntwo"',
		rpc: { hook: "board", method: "editor", title: "Text?", initial: "one\ntwo" },
		rpcAnswer: ["one\nthree", '"one\\nthree"'],
	},
	notify: {
		call: 'ctx.ui.notify("a notice", "warning")',
		withoutUser: "undefined",
		screen: "a notice",
		rpc: { method: "notify", message: "a notice", notifyType: "warning" },
	},
	setStatus: {
		call: 'ctx.ui.setStatus("s", "a status")',
		withoutUser: "undefined",
		screen: "a status",
		rpc: { hook: "board", method: "setStatus", statusKey: "s", statusText: "a status" },
	},
	setWidget: {
		call: 'ctx.ui.setWidget("w", ["a widget"], { placement: "belowEditor" })',
		withoutUser: "undefined",
		screen: "a widget",
		rpc: {
			hook: "board",
			method: "setWidget",
			widgetKey: "w",
			widgetLines: ["a widget"],
			widgetPlacement: "belowEditor",
		},
	},
	"setWidget with a component": {
		call: `ctx.ui.setWidget("w", () => (${COMPONENT}))`,
		withoutUser: "undefined",
		screen: "drawn by board",
		rpc: null,
	},
	custom: {
		call: `ctx.ui.custom((tui, theme, keys, done) => ({ ...${COMPONENT}, handleInput: () => done("closed") }))`,
		withoutUser: "null",
		screen: "drawn by board",
		keys: ["enter"],
		answered: '"closed"',
		rpc: null,
	},
	setTitle: {
		call: 'ctx.ui.setTitle("a title")',
		withoutUser: "undefined",
		screen: /^/,
		rpc: { hook: "board", method: "setTitle", title: "a title" },
	},
	setWorkingMessage: {
		call: 'ctx.ui.setWorkingMessage("a message")',
		withoutUser: "undefined",
		screen: /^/,
		rpc: { hook: "board", method: "setWorkingMessage", message: "a message" },
	},
	setEditor: {
		call: `ctx.ui.setEditor((tui, theme, keys, editor) => ({ ...editor, render: (width) => ["around", ...editor.render(width)] }))`,
		withoutUser: "undefined",
		screen: "around",
		rpc: null,
	},
	"setLook with a theme": {
		call: 'ctx.ui.setLook("theme", ctx.ui.themes[0]?.name)',
		withoutUser: "undefined",
		screen: /^/,
		rpc: null,
	},
	setFooter: {
		call: `ctx.ui.setFooter(() => (${COMPONENT}))`,
		withoutUser: "undefined",
		screen: "drawn by board",
		rpc: null,
	},
	setHeader: {
		call: `ctx.ui.setHeader(() => (${COMPONENT}))`,
		withoutUser: "undefined",
		screen: "drawn by board",
		rpc: null,
	},
	addAutocompleteProvider: {
		call: "ctx.ui.addAutocompleteProvider((current) => current)",
		withoutUser: "undefined",
		screen: /^/,
		rpc: null,
	},
	pasteToEditor: {
		call: 'ctx.ui.pasteToEditor("pasted")',
		withoutUser: "undefined",
		screen: "pasted",
		rpc: { method: "set_editor_text", text: "pasted" },
	},
	getEditorText: {
		call: "ctx.ui.getEditorText()",
		withoutUser: '""',
		screen: 'value ""',
		rpc: null,
	},
	setEditorText: {
		call: 'ctx.ui.setEditorText("replaced")',
		withoutUser: "undefined",
		screen: "replaced",
		rpc: { method: "set_editor_text", text: "replaced" },
	},
	themes: {
		call: "ctx.ui.themes.length",
		withoutUser: "0",
		screen: "value 4",
		answered: "4",
		rpc: null,
	},
	theme: {
		call: 'ctx.ui.theme.bold("text").length > 0',
		withoutUser: "true",
		screen: "value true",
		rpc: null,
	},
};

const hookFor = (call: string) =>
	`export default (pi) => pi.command("call", { handler: async (ctx) => ({ status: "value " + JSON.stringify(await (${call})) }) });`;

test("the table has every member of ctx.ui", async () => {
	const { session } = await startSession({
		hooks: {
			"names.ts":
				'export default (pi) => pi.command("names", { handler: (ctx) => ({ status: Object.keys(ctx.ui).sort().join() }) });',
		},
	});
	const members = [...new Set(Object.keys(MEMBERS).map((name) => name.split(" ")[0]))].sort();
	expect(await session.prompt("/names")).toMatchObject({ status: members.join() });
});

describe.each(Object.entries(MEMBERS))("ctx.ui.%s", (_, member) => {
	test("on the screen", async () => {
		const app = await startApp({ hooks: { "board.ts": hookFor(member.call) } });
		await app.terminal.waitFor("0%");
		await app.submit("/call");
		await app.terminal.waitFor(member.screen);
		skipTime(1);
		if (member.typed) await app.terminal.type(member.typed);
		if (member.keys) await app.terminal.press(...member.keys);
		await app.terminal.waitFor(`value ${member.answered ?? member.withoutUser}`);
	});

	test("over RPC", async () => {
		const { client, events } = await serve({ hooks: { "board.ts": hookFor(member.call) } });
		client.onDialog(() => member.rpcAnswer?.[0] ?? null);
		const answer = await client.call("prompt", { message: "/call" });
		expect(answer).toMatchObject({ status: `value ${member.rpcAnswer?.[1] ?? member.withoutUser}` });
		const requests = events("hook_ui_request");
		expect(requests).toEqual(
			member.rpc === null ? [] : [{ type: "hook_ui_request", id: expect.any(String), ...member.rpc }],
		);
	});

	test("in print mode", async () => {
		const { session } = await startSession({ hooks: { "board.ts": hookFor(member.call) }, ui: NO_UI });
		expect(await session.prompt("/call")).toEqual({ kind: "command", status: `value ${member.withoutUser}` });
	});
});

const APPROVAL = "approval must be { question, subject: { kind, text }, yes, no, choices, takesMessage }";

test.each([
	["setStatus", 'ctx.ui.setStatus("", "x")', "key must be a non-empty string"],
	["setStatus", 'ctx.ui.setStatus("a", 7)', "text must be a string or undefined"],
	["setWidget", 'ctx.ui.setWidget("a", "lines")', "content must be a list of strings, a function or undefined"],
	[
		"setWidget",
		'ctx.ui.setWidget("a", ["x"], { placement: "left" })',
		'placement must be "aboveEditor" or "belowEditor"',
	],
	["custom", "ctx.ui.custom({})", "factory must be a function"],
	["custom", "ctx.ui.custom(() => {}, { overlay: 1 })", "overlay must be true or false"],
	["editor", 'ctx.ui.editor("t", 7)', "initial must be a string or undefined"],
	["setTitle", "ctx.ui.setTitle(null)", "title must be a string or undefined"],
	[
		"setLook",
		'ctx.ui.setLook("font", "x")',
		'name must be "theme", "working", "indicator", "thinkingLabel", "expanded"',
	],
	["setLook", 'ctx.ui.setLook("theme", 7)', "theme must be a string or undefined"],
	["setLook", 'ctx.ui.setLook("working", 0)', "working must be true, false or undefined"],
	[
		"setLook",
		'ctx.ui.setLook("indicator", { frames: "abc" })',
		"indicator must be { frames, intervalMs } with a list of strings and a number or undefined",
	],
	["setFooter", "ctx.ui.setFooter([])", "factory must be a function or undefined"],
	["setEditorText", "ctx.ui.setEditorText()", "text must be a string"],
	["setWidget", 'ctx.ui.setWidget("a", ["x"], "belowEditor")', "options must be an object or undefined"],
	["custom", 'ctx.ui.custom(() => {}, "overlay")', "options must be an object or undefined"],
	["editor", "ctx.ui.editor()", "title must be a string"],
	["editor", 'ctx.ui.editor("t", "x", { timeout: "5" })', "timeout must be a number of ms from 0 on"],
	["select", 'ctx.ui.select("t", ["a"], { filter: "no" })', "filter must be true or false"],
	["select", 'ctx.ui.select(["a", "b"])', "title must be a string"],
	["select", 'ctx.ui.select("t", "abc")', "options must be a list"],
	["select", 'ctx.ui.select("t", ["a"], true)', "the last argument must be an object or undefined"],
	["select", 'ctx.ui.select("t", ["a"], { signal: {} })', "signal must be an AbortSignal"],
	["select", 'ctx.ui.select("t", ["a"], { timeout: -1 })', "timeout must be a number of ms from 0 on"],
	["confirm", "ctx.ui.confirm(undefined, 'x')", "title must be a string"],
	["confirm", 'ctx.ui.confirm("t", { timeout: 5 })', "message must be a string"],
	["confirm", 'ctx.ui.confirm("t", "m", { timeout: NaN })', "timeout must be a number of ms from 0 on"],
	["approve", 'ctx.ui.approve({ question: "q" })', APPROVAL],
	["approve", 'ctx.ui.approve({ question: "q", subject: { kind: "command", text: "x" }, choices: ["a"] })', APPROVAL],
	["approve", 'ctx.ui.approve({ question: 1, subject: { kind: "text", text: "x" } })', APPROVAL],
	["input", 'ctx.ui.input("t", { initial: "x" })', "placeholder must be a string or undefined"],
	["input", 'ctx.ui.input("t", "p", { initial: 7 })', "initial must be a string or undefined"],
	["notify", "ctx.ui.notify()", "message must be a string"],
	["notify", "ctx.ui.notify({ message: 1 })", "message must be a string"],
	["notify", 'ctx.ui.notify("m", "fatal")', 'type must be "info", "warning", "error" or undefined'],
])("a malformed argument of %s is refused by name: %s", async (member, call, reason) => {
	const { session } = await startSession({ hooks: { "board.ts": hookFor(call) } });
	await expect(session.prompt("/call")).rejects.toThrow(`ctx.ui.${member}: ${reason}`);
});

test.each([
	["ctx.ui.notify(new TypeError('no luck'))", "TypeError: no luck"],
	["ctx.ui.notify(7)", "7"],
	["ctx.ui.select(5, ['a'])", "5"],
	["ctx.ui.confirm(true, null)", "true"],
	["ctx.ui.confirm('without a message')", "without a message"],
])("%s shows %j", async (call, shown) => {
	const texts: string[] = [];
	const ui = {
		notify: (text: string) => void texts.push(text),
		confirm: async (title: string) => texts.push(title) > 0,
		select: async (title: string) => {
			texts.push(title);
			return null;
		},
	};
	const { session } = await startSession({ ui, hooks: { "board.ts": hookFor(call) } });
	await session.prompt("/call");
	expect(texts).toEqual([shown]);
});

test("each notice reaches the mode with its level, which is info by default", async () => {
	const notices: string[][] = [];
	const notify = (...notice: string[]) => void notices.push(notice);
	const call = '[ctx.ui.notify("saved"), ctx.ui.notify("slow", "warning")]';
	const { session } = await startSession({ ui: { notify }, hooks: { "board.ts": hookFor(call) } });
	await session.prompt("/call");
	expect(notices).toEqual([
		["saved", "info"],
		["slow", "warning"],
	]);
});
