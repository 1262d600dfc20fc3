import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";

test("an extension draws the editor and its keys with a CustomEditor, and sees keys before it", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/modal.ts": `import { CustomEditor } from "@earendil-works/pi-coding-agent";
			import { matchesKey } from "@earendil-works/pi-tui";
			class Modal extends CustomEditor {
				isNormal = false;
				handleInput(data) {
					if (matchesKey(data, "escape") && !this.isNormal) { this.isNormal = true; return; }
					if (this.isNormal && data === "i") { this.isNormal = false; return; }
					if (this.isNormal && data === "x") { super.handleInput("\\x7f"); return; }
					super.handleInput(data);
				}
				render(width) {
					const lines = super.render(width);
					lines[0] = this.borderColor((this.isNormal ? "normal " : "insert ").padEnd(width, "."));
					return lines;
				}
			}
			export default (pi) => pi.on("session_start", (event, ctx) => {
				ctx.ui.setEditorComponent((...parts) => new Modal(...parts));
				const stop = ctx.ui.onTerminalInput((data) => data === "q" ? { consume: true } : data === "w" ? { data: "v" } : undefined);
				pi.registerCommand("free", { handler: async () => stop() });
			});`,
	});
	const { submit, terminal, provider } = await startApp({ agentDir });
	await terminal.waitFor("insert ....");
	await terminal.type("abqw");
	await terminal.waitFor(/^ abv $/m);
	await terminal.press("escape");
	await terminal.waitFor("normal ....");
	await terminal.type("xxi");
	await terminal.waitFor("insert ....");
	await terminal.waitFor(/^ a $/m);
	await terminal.press("ctrl+c");
	await submit("/free");
	provider.reply("heard");
	await submit("qw");
	await terminal.waitFor("heard");
	expect(JSON.stringify(provider.requests[0]?.messages)).toContain("qw");
});

test("renderers of messages learn whether the transcript shows them in full", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/long.ts": `export default (pi) => {
			pi.registerMessageRenderer("long", (message, { expanded }) =>
				({ render: () => [expanded ? "in full" : "in short"], invalidate() {} }));
			pi.registerCommand("long", { handler: async () => pi.sendMessage({ customType: "long", content: "x", display: true }) });
			pi.registerCommand("expand", { handler: async (args, ctx) => ctx.ui.setToolsExpanded(true) });
		};`,
	});
	const { submit, terminal } = await startApp({ agentDir });
	await submit("/long");
	await terminal.waitFor("in short");
	await submit("/expand");
	await terminal.waitFor("in full");
});

test("a prompt that begins with a question mark reaches an extension from the command line, and typed after a blank", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/quick.ts": `export default (pi) => pi.on("input", ({ text }) =>
			text.startsWith("?quick ") ? { action: "transform", text: "In one sentence: " + text.slice(7) } : { action: "continue" });`,
	});
	const { submit, terminal, provider } = await startApp({ agentDir, mode: { prompts: [{ text: "?quick why" }] } });
	provider.reply("Because.", "So.");
	await terminal.waitFor("Because.");
	await submit(" ?quick how");
	await terminal.waitFor("So.");
	const sent = provider.requests.map(({ messages }) => messages.at(-1)?.text);
	expect(sent).toEqual(["In one sentence: why", "In one sentence: how"]);
});

test("a message that starts a run is drawn once, by its renderer, and not at all without display", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/wake.ts": `export default (pi) => {
			pi.registerMessageRenderer("wake", (message) => ({ render: () => ["[" + message.content + "]"], invalidate() {} }));
			pi.registerCommand("wake", { handler: async (args) =>
				pi.sendMessage({ customType: "wake", content: args, display: args !== "hidden" }, { triggerTurn: true }) });
		};`,
	});
	const { submit, terminal, provider } = await startApp({ agentDir });
	await terminal.waitFor("0%");
	provider.reply("first answer", "second answer");
	await submit("/wake seen");
	await terminal.waitFor("first answer");
	await submit("/wake hidden");
	await terminal.waitFor("second answer");
	const text = await terminal.text();
	expect(text.match(/.*seen.*/g)?.map((row) => row.trim())).toEqual([expect.stringMatching(/^\W*\[seen\]$/)]);
	expect(text).not.toContain("hidden");
	expect(JSON.stringify(provider.requests[1]?.messages)).toContain("hidden");
});

test("hints of extensions name the keys that the user has bound, by the older names of actions", async () => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/hints.ts": `import { keyHint, keyText } from "@earendil-works/pi-coding-agent";
			export default (pi) => pi.registerCommand("hints", { handler: async (args, ctx) => {
				const hints = [keyHint("app.tools.expand", "to expand"), keyText("tui.select.cancel"), keyHint("app.tree.editLabel", "to label")];
				ctx.ui.notify(hints.join("; "));
				await ctx.ui.custom((tui, theme, keys, done) => ({
					render: () => ["waits for the key"],
					invalidate() {},
					handleInput: (data) => keys.matches(data, "app.tools.expand") && done(),
				}));
				ctx.ui.notify("expanded");
			} });`,
	});
	const bindings = { value: { "app.transcript": ["f7", "f8"] }, placeOf: () => "", problem: null };
	const { submit, terminal } = await startApp({ agentDir, mode: { keybindings: () => bindings } });
	await submit("/hints");
	await terminal.waitFor("f7/f8 to expand; escape/ctrl+c; to label");
	await terminal.waitFor("waits for the key");
	terminal.send("\x1b[18~");
	await terminal.waitFor("expanded");
});

test.each([
	[
		"makes an editor of its own",
		"() => ({ render: () => ['mine'], invalidate() {}, getText: () => '' })",
		"extend CustomEditor",
	],
	["fails", "() => { throw new Error('no editor today'); }", "no editor today"],
])("when the factory of an extension %s, the reason is shown and the editor stays", async (_, factory, reason) => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/own.ts": `export default (pi) => pi.on("session_start", (event, ctx) => ctx.ui.setEditorComponent(${factory}));`,
	});
	const { terminal } = await startApp({ agentDir });
	await terminal.waitFor(reason);
	await terminal.type("works");
	await terminal.waitFor(/^ works $/m);
});

const fixture = (name: string) => readFileSync(new URL(`../fixtures/extensions/${name}.ts`, import.meta.url), "utf8");

test.each([40, 120])("at %d columns an extension shows status, widget and message like a hook", async (columns) => {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, {
		"extensions/plan-mode.ts": fixture("plan-mode"),
		"extensions/note.ts": `export default (pi) => pi.registerCommand("note", { handler: async (text) =>
			pi.sendMessage({ customType: "note", content: text, display: true }) });`,
	});
	const { submit, terminal } = await startApp({ agentDir, columns });
	await submit("/plan");
	await terminal.waitFor("Plan mode is on");
	await submit("/note remember the milk");
	await terminal.waitFor("note remember the milk");
	const rows = await terminal.screen();
	const widget = rows.findIndex((row) => row.trim() === "Plan mode: the model may only read");
	const editor = rows.findIndex((row) => row.startsWith("────"));
	expect(widget).toBeGreaterThan(rows.findIndex((row) => row.includes("note remember the milk")));
	expect(widget).toBe(editor - 1);
	expect(rows.filter((row) => row.trim() === "plan")).toHaveLength(1);
	expect(rows.every((row) => row.length <= columns)).toBe(true);
});
