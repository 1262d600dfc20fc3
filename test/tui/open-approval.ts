import { ApprovalDialog } from "../../src/tui/approval-dialog.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { createTheme } from "../../src/tui/theme.js";
import type { Approval, ApprovalAnswer } from "../../src/util/approval.js";
import { FakeTiming } from "../helpers/fake-timing.js";

export const UP = "\x1b[A";
export const DOWN = "\x1b[B";
export const PAGE_UP = "\x1b[5~";
export const PAGE_DOWN = "\x1b[6~";
export const END = "\x1b[F";
export const ENTER = "\r";
export const ESCAPE = "\x1b";
export const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;
/** Long enough for each rule. */
export const CALM = 1000;

export const PUSH: Approval = {
	question: "permissions asks: Run this command?",
	subject: { kind: "command", head: "bash: ", text: "git push --force origin main", more: "timeout: 5" },
	choices: [
		{ label: "Yes, for this session" },
		{
			label: "Yes, always",
			rule: "git push *",
			check: (rule) => (rule === "*" ? "it would allow everything" : null),
		},
	],
	takesMessage: true,
};
export const EDIT: Approval = {
	question: "permissions asks: Change this file?",
	subject: {
		kind: "diff",
		head: "edit: src/price.ts\n",
		text: "- const tax = 0.19;\n+ const tax = 0.07;\n  replaceAll: true",
	},
	choices: [{ label: "Yes, all edits of this session" }],
	takesMessage: true,
};
export const LONG: Approval = {
	...PUSH,
	subject: { kind: "command", head: "bash: ", text: `echo ${"a ".repeat(400)}; rm -rf ~/work ; ${"b".repeat(400)}` },
};
export const LINES: Approval = { ...PUSH, subject: { kind: "text", text: lines(60) } };

export function lines(count: number): string {
	return Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");
}

interface Setup {
	approval?: Approval;
	width?: number;
	rows?: number;
	theme?: Parameters<typeof createTheme>[0];
	lastKeyAgoMs?: number;
	/** Whether it has just been drawn, instead of long ago. */
	isNew?: boolean;
}

/** A dialog on a screen, with a clock that tests move. */
export function openApproval({
	approval = PUSH,
	width = 80,
	rows = 24,
	theme = "plain",
	lastKeyAgoMs,
	isNew = false,
}: Setup = {}) {
	const timing = new FakeTiming();
	let keyAt = lastKeyAgoMs === undefined ? Number.NEGATIVE_INFINITY : timing.now() - lastKeyAgoMs;
	const answers: ApprovalAnswer[] = [];
	const style = { theme: createTheme(theme), keymap: createKeymap(), rows: () => rows };
	const guard = {
		timing,
		requestRender: () => void draw(),
		lastKeyAt: () => keyAt,
	};
	const dialog = new ApprovalDialog(style, approval, (answer) => answers.push(answer), guard);
	dialog.focused = true;
	const draw = () => dialog.render(width).map((line) => line.replace(/\x1b_pi:c\x07/g, "").trimEnd());
	draw();
	if (!isNew) timing.pass(CALM);
	return {
		dialog,
		answers,
		timing,
		draw,
		/** Another dialog covers it, in which a key is pressed after a while. */
		cover() {
			dialog.focused = false;
			timing.pass(CALM);
			keyAt = timing.now();
			dialog.focused = true;
			draw();
		},
		/** Presses keys, with a frame after each, and after each frame time. */
		press(keys: Iterable<string>, ms = CALM) {
			for (const key of keys) {
				dialog.handleInput(key);
				draw();
				timing.pass(ms);
				draw();
			}
			return draw().join("\n");
		},
	};
}
