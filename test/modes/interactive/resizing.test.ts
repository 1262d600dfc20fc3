import { Container, visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createKeymap } from "../../../src/tui/keymap.js";
import { OverlayStack } from "../../../src/tui/overlay-stack.js";
import { PromptEditor } from "../../../src/tui/prompt-editor.js";
import { SelectDialog } from "../../../src/tui/select-dialog.js";
import { reply, Script } from "./script.js";
import { createStage } from "./stage.js";

/** Control sequences that move the cursor to another row or to the start of its row, or ask for its place or for an answer. */
const MOVES = /[\r\n]+|\x1b\[\d*[ABGJKL]|\x1b\[\?2026[hl]|\x1b\[[56]n/;
const TITLE = "Pick one";
const DRAFT = "draft";
const WORDS = "A paragraph with **bold** words, `code` and 語 that goes on until it has to wrap.";
const MARKDOWN = [
	`## Title\n\n${WORDS}\n\n- one\n- ${WORDS}\n\n`,
	"| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst text = 'x';\n",
	"const more = 1;\n```\n\n",
];

/** A transcript with an editor below it, during a reply with a running tool, and an overlay that can be opened. */
async function createScreen() {
	const stage = await createStage({ columns: 80, rows: 24 });
	const { tui, terminal } = stage;
	const keymap = createKeymap();
	const editor = new PromptEditor(tui, { theme: stage.style.theme, keymap });
	const slot = new Container();
	tui.addChild(slot);
	const overlays = new OverlayStack(tui, slot, editor);
	tui.setFocus(editor);
	const script = new Script();
	const args = { command: "npm test" };
	stage.play({ type: "agent_start" }, ...script.user("go on"));
	stage.play(
		...script.reply([{ id: "c1", tool: "bash", args }], { stop: "toolUse" }),
		script.toolStart("c1", "bash", args),
	);
	const answer = reply([{ text: "" }]);
	stage.play(...script.replyStart(answer));
	let output = "";
	let streamed = 0;
	let cancel = () => {};
	terminal.send(DRAFT);
	return {
		tui,
		terminal,
		overlays,
		stream() {
			const delta = MARKDOWN[streamed++ % MARKDOWN.length] ?? "";
			const event = { type: "text_delta" as const, contentIndex: 0, delta, partial: answer };
			stage.play({ type: "message_update", message: answer, assistantMessageEvent: event });
		},
		runTool() {
			output += `✓ case ${output.length} of a test with a long name that may not fit into the width\n`;
			stage.play(script.toolOutput("c1", "bash", args, output));
		},
		toggleOverlay() {
			if (overlays.isOpen) return cancel();
			const items = Array.from({ length: 30 }, (_, value) => ({ label: `item ${value}`, value }));
			void overlays.open<number | null>(
				(settle) => {
					cancel = () => settle(null);
					const style = { theme: stage.style.theme, keymap, rows: () => terminal.rows };
					return new SelectDialog(style, { title: TITLE, items, onSelect: settle, onCancel: cancel });
				},
				{ canceled: null },
			);
		},
	};
}

const size = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({ columns: fc.integer({ min: 20, max: 250 }), rows: fc.integer({ min: 5, max: 80 }) }),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			{ columns: 1, rows: 1 },
			{ columns: 1, rows: 50 },
			{ columns: 2, rows: 2 },
			{ columns: 5, rows: 3 },
			{ columns: 250, rows: 1 },
		),
	},
);
const step = fc.record({
	size,
	doings: fc.array(fc.constantFrom("stream", "runTool", "toggleOverlay", "key"), { maxLength: 4 }),
	rests: fc.boolean(),
});

test("100 resizes while text and output stream in, with and without an overlay, leave complete rows and the cursor in the draft", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 25 }), async (steps) => {
			const { terminal, tui, overlays, ...doing } = await createScreen();
			try {
				for (const { size, doings, rests } of steps) {
					terminal.resize(size.columns, size.rows);
					const from = terminal.writes.length;
					for (const name of doings) {
						if (name !== "key") doing[name]();
						else if (!overlays.isOpen) {
							terminal.send("\x1b[D");
							terminal.send("\x1b[C");
						}
					}
					if (!rests) continue;
					doing.stream();
					await terminal.settle(45);
					const written = terminal.writes.slice(from).join("").split(MOVES);
					expect(written.filter((text) => visibleWidth(text) > terminal.columns)).toEqual([]);
					const rows = await terminal.rowsNow();
					if (size.columns < 20 || size.rows < 5) continue;
					if (overlays.isOpen) expect(rows.join("\n")).toContain(TITLE);
					else {
						const { row, column } = await terminal.cursor();
						expect({ row: rows[row]?.trimEnd(), column }).toEqual({ row: ` ${DRAFT}`, column: DRAFT.length + 1 });
					}
				}
				expect(tui.isRunning).toBe(true);
				expect(terminal.output).not.toMatch(/\x1b\[[23]J/);
			} finally {
				tui.stop();
			}
		}),
		{ numRuns: 4, endOnFailure: true },
	);
}, 60_000);
