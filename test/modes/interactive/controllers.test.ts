import { Container } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test } from "vitest";
import type { PaletteItem } from "../../../src/commands/command.js";
import { PiError } from "../../../src/errors.js";
import type { SelectOption } from "../../../src/hooks/types.js";
import { AppKeys } from "../../../src/modes/interactive/app-keys.js";
import { DialogController } from "../../../src/modes/interactive/dialog-controller.js";
import { PaletteController } from "../../../src/modes/interactive/palette-controller.js";
import { PromptController } from "../../../src/modes/interactive/prompt-controller.js";
import { parseSubmission, type Submission } from "../../../src/modes/submission.js";
import type { Activity, RunPhase } from "../../../src/session/activity.js";
import type { PromptResult } from "../../../src/session/prompt/prompter.js";
import { createLocalMachine } from "../../../src/tools/machine/local-machine.js";
import { createKeymap } from "../../../src/tui/keymap.js";
import { LiveTUI } from "../../../src/tui/live-tui.js";
import { OverlayStack } from "../../../src/tui/overlay-stack.js";
import { PromptEditor } from "../../../src/tui/prompt-editor.js";
import { createTheme } from "../../../src/tui/theme.js";
import { model } from "../../helpers/model.js";
import { skipTime } from "../../helpers/skip-time.js";
import { VirtualTerminal } from "../../helpers/virtual-terminal.js";

const IDLE: Activity = { state: "idle", phase: null, operations: [] };

const theme = createTheme("plain");

/** An editor with all controllers. Their effects are recorded in `log`. */
function start() {
	const terminal = new VirtualTerminal(60, 16);
	const tui = new LiveTUI(terminal);
	const keymap = createKeymap();
	const palette = new PaletteController(() => ({
		...createLocalMachine("/"),
		async search({ onFile }) {
			onFile?.("src/price.ts");
			return { status: "done", complete: true };
		},
	}));
	const editor = new PromptEditor(tui, { theme, keymap, completion: palette.completion });
	const slot = new Container();
	tui.addChild(slot);
	const overlays = new OverlayStack(tui, slot, editor);
	tui.setFocus(editor);
	tui.start();
	onTestFinished(() => tui.stop());

	const log: unknown[] = [];
	const items: PaletteItem[] = [];
	const state = {
		items,
		running: false,
		shell: null as { phase: "ending" | null } | null,
		phase: "streaming" as RunPhase,
		jobs: 0,
		now: 0,
		queue: ["queued"],
		whileEditing: () => {},
	};
	const takeQueue = () => state.queue.splice(0);
	const note = (name: string) => () => void log.push(name);
	const session = {
		get activity(): Activity {
			const run = { id: 1, kind: "run" as const, name: "", phase: state.phase };
			const shell =
				state.shell === null ? [] : [{ id: 2, kind: "shell" as const, name: "ls", phase: state.shell.phase }];
			return state.running ? { state: "run", phase: run.phase, operations: [run, ...shell] } : IDLE;
		},
		model: null,
		abort: async () => {
			state.running = false;
			log.push("abort");
			return takeQueue();
		},
		abortBash: async () => {
			state.shell = null;
			log.push("abort command");
		},
		takeQueued: () => {
			const text = state.queue.pop();
			return text === undefined ? null : { text, isFollowUp: state.queue.length > 0 };
		},
		prompt: async (text: string): Promise<PromptResult> => {
			log.push(text);
			return { kind: "command", status: null };
		},
		cycleModel: async (step: 1 | -1) => {
			log.push(`cycle ${step}`);
			return model("loopback", "other");
		},
		jobs: {
			list: () => [],
			get running() {
				return state.jobs;
			},
			endAll: () => null,
		},
		moveToBackground: () => null,
		palette: () => state.items,
		shortcuts: [],
		runShortcut: async () => ({ kind: "command" as const, status: null }),
		cycleThinkingLevel: () => {
			log.push("level");
			return "off" as const;
		},
	};
	const waiting: number[] = [];
	const prompts = new PromptController(
		editor,
		(error) => log.push(error),
		(list) => waiting.push(list.length),
	);
	new AppKeys(
		editor,
		keymap,
		{
			screen: {
				hint: (text, ms) => void log.push({ hint: text, ...(ms && { ms }) }),
				transcript: { toggleThinking: note("thinking") },
			},
			session: () => session,
			takeWaiting: () => prompts.takeWaiting(),
			quit: note("quit"),
			leave: note("leave"),
			suspend: note("suspend"),
			searchHistory: note("history"),
			openTranscript: note("transcript"),
			pasteImage: note("image"),
			editExternally: async (text) => {
				state.whileEditing();
				return `${text} edited`;
			},
			failed: (error) => void log.push(error),
		},
		() => state.now,
	);
	const dialogs = new DialogController(overlays, { theme, keymap }, (level, message) =>
		log.push(`${level} ${message}`),
	);
	const target = {
		prompt: async (text: string) => void log.push({ prompt: text }),
		followUp: async (text: string) => void log.push({ followUp: text }),
		runBash: async (command: string, options: object) => void log.push({ bash: command, ...options }),
		untilRunEnded: () => null,
	};
	return { terminal, editor, log, state, prompts, palette, dialogs, waiting, target };
}

test("escape stops a run and puts queued prompts in front of the draft", async () => {
	const { terminal, editor, log, state } = start();
	state.running = true;
	await terminal.type("draft");
	await terminal.press("escape");
	expect(log).toEqual(["abort"]);
	expect(editor.getText()).toBe("queued\n\ndraft");
});

test("escape stops the shell command that the status line names, and only the next one the run", async () => {
	const { terminal, log, state } = start();
	state.running = true;
	state.shell = { phase: null };
	await terminal.press("escape");
	expect(log).toEqual(["abort command"]);
	// One that has ended waits for the run.
	state.shell = { phase: "ending" };
	await terminal.press("escape");
	expect(log).toEqual(["abort command", "abort"]);
});

test("after its last reply a run is over for the user: ctrl+c quits next, and a double escape opens the branch picker", async () => {
	const { terminal, log, state } = start();
	Object.assign(state, { running: true, phase: "ending", queue: [] });
	await terminal.type("draft");
	await terminal.press("ctrl+c");
	expect(log).toEqual([{ hint: "press ctrl+c again to quit", ms: 2000 }]);
	await terminal.press("ctrl+c");
	expect(log.slice(1)).toEqual(["quit"]);
	await terminal.press("escape");
	await terminal.press("escape");
	expect(log.slice(2)).toEqual(["abort", "/branch"]);
});

test("a double escape opens the branch picker, except when slow, with a draft, or after another key", async () => {
	const { terminal, log, state } = start();
	state.queue = [];
	await terminal.press("escape");
	state.now = 600;
	await terminal.press("escape");
	await terminal.press("left");
	await terminal.press("escape");
	await terminal.type("x");
	await terminal.press("escape", "escape", "backspace");
	expect(log).toEqual([]);
	await terminal.press("escape", "escape");
	expect(log).toEqual(["/branch"]);
});

test("ctrl+c clears the editor and shows that a second one quits", async () => {
	const { terminal, editor, log, state } = start();
	await terminal.type("draft");
	await terminal.press("ctrl+c");
	expect(editor.getText()).toBe("");
	expect(log).toEqual([{ hint: "press ctrl+c again to quit", ms: 2_000 }]);
	state.now = 2_001;
	await terminal.press("ctrl+c");
	await terminal.type("a");
	await terminal.press("ctrl+c");
	await terminal.paste("pasted");
	await terminal.press("ctrl+c");
	state.now = 4_000;
	await terminal.press("ctrl+c");
	expect(log.slice(1)).toEqual([
		{ hint: "press ctrl+c again to quit", ms: 2_000 },
		{ hint: "press ctrl+c again to quit", ms: 2_000 },
		{ hint: "press ctrl+c again to quit", ms: 2_000 },
		"quit",
	]);
});

test("ctrl+c in an empty editor stops the run, and the next one quits", async () => {
	const { terminal, log, state } = start();
	Object.assign(state, { running: true, queue: [], jobs: 2 });
	await terminal.press("ctrl+c");
	expect(log).toEqual(["abort", { hint: "press ctrl+c again to quit and end 2 background commands", ms: 2_000 }]);
	await terminal.press("ctrl+c");
	expect(log.slice(2)).toEqual(["quit"]);
});

test("ctrl+c during a run clears a draft first, then stops the run, and then quits", async () => {
	const { terminal, editor, log, state } = start();
	Object.assign(state, { running: true, queue: [] });
	await terminal.type("draft");
	await terminal.press("ctrl+c");
	expect([editor.getText(), ...log]).toEqual(["", { hint: "press ctrl+c again to stop the run", ms: 2_000 }]);
	await terminal.press("ctrl+c");
	expect(log.slice(1)).toEqual(["abort", { hint: "press ctrl+c again to quit", ms: 2_000 }]);
	await terminal.press("ctrl+c");
	expect(log.slice(3)).toEqual(["quit"]);
});

test("a slow second ctrl+c during a run stops it again and does not quit", async () => {
	const { terminal, log, state } = start();
	Object.assign(state, { running: true, queue: [] });
	await terminal.press("ctrl+c");
	Object.assign(state, { running: true, now: 2_001 });
	await terminal.press("ctrl+c");
	expect(log.filter((item) => typeof item === "string")).toEqual(["abort", "abort"]);
});

test("ctrl+d leaves when the editor is empty, and deletes otherwise", async () => {
	const { terminal, editor, log } = start();
	await terminal.type("ab");
	await terminal.press("left", "ctrl+d");
	expect(editor.getText()).toBe("a");
	expect(log).toEqual([]);
	await terminal.press("backspace", "ctrl+d");
	expect(log).toEqual(["leave"]);
});

test("the mode key runs the command of the hook with modes, and says how to get modes without one", async () => {
	const { terminal, state, log } = start();
	await terminal.press("shift+tab");
	expect(log).toEqual([{ hint: "alt+t changes the thinking level · for modes turn on pi:plan-mode in /hooks" }]);
	// A template of that name is no hook.
	state.items = [{ name: "mode", description: "", origin: "prompt" }];
	await terminal.press("shift+tab");
	expect(log).toHaveLength(2);
	state.items = [{ name: "mode", description: "", origin: "hook plan-mode" }];
	await terminal.press("shift+tab");
	expect(log.at(-1)).toBe("/mode next");
});

test("each other app key runs its action", async () => {
	const { terminal, editor, log } = start();
	await terminal.press("ctrl+z", "ctrl+l", "ctrl+p", "shift+ctrl+p", "alt+t", "ctrl+o", "ctrl+t", "ctrl+r", "ctrl+v");
	expect(log).toEqual([
		"suspend",
		"/model",
		"cycle 1",
		"cycle -1",
		"level",
		"transcript",
		"thinking",
		"history",
		"image",
	]);
	await terminal.press("alt+up");
	expect(editor.getText()).toBe("queued");
	await terminal.press("ctrl+g");
	expect(editor.getText()).toBe("queued edited");
});

test.each([
	["a prompt is put back", (editor: PromptEditor) => editor.putBack("returned"), "returned\n\nthe draft edited"],
	["a hook inserts text", (editor: PromptEditor) => editor.insertTextAtCursor(" more"), "more\n\nthe draft edited"],
	["a hook replaces the text", (editor: PromptEditor) => editor.setText("new"), "new\n\nthe draft edited"],
])(
	"the text of the external editor does not overwrite the draft's change when %s meanwhile",
	async (_, change, all) => {
		const { terminal, editor, state } = start();
		await terminal.type("the draft");
		state.whileEditing = () => change(editor);
		await terminal.press("ctrl+g");
		expect(editor.getText()).toBe(all);
	},
);

test("text submitted before the session starts is delivered in order", async () => {
	const { terminal, editor, log, prompts, waiting, target } = start();
	await terminal.type("first");
	await terminal.press("enter");
	await terminal.type("!!ls -l");
	await terminal.press("enter");
	await terminal.type("later");
	await terminal.press("alt+enter", "enter");
	expect(log).toEqual([]);
	prompts.attach(target);
	await terminal.settle();
	expect(log).toEqual([{ prompt: "first" }, { bash: "ls -l", excludeFromContext: true }, { followUp: "later" }]);
	expect(waiting).toEqual([1, 2, 3, 2, 1, 0]);
	await terminal.press("up");
	expect(editor.getText()).toBe("later");
	await terminal.press("up", "up");
	expect(editor.getText()).toBe("first");
});

test("after a shell command from before the session, the next submission waits for its end", async () => {
	const { terminal, editor, state, log, prompts, target } = start();
	let end = () => {};
	const runBash = (command: string) => {
		log.push(command);
		return new Promise<void>((resolve) => {
			end = resolve;
		});
	};
	for (const text of ["!a", "!b", "!!c"]) {
		await terminal.type(text);
		await terminal.press("enter");
	}
	prompts.attach({ ...target, runBash });
	await terminal.type("later");
	await terminal.press("enter");
	expect(log).toEqual(["a"]);
	end();
	await terminal.settle();
	expect(log).toEqual(["a", "b"]);
	state.running = true;
	await terminal.press("escape");
	end();
	await terminal.settle();
	expect(log).toEqual(["a", "b", "abort"]);
	expect(editor.getText()).toBe("queued\n\n!!c\n\nlater");
});

test("the key that edits the queue also takes submissions from before the session", async () => {
	const { terminal, editor, log, state, prompts, target } = start();
	state.queue = [];
	for (const text of ["!!ls", "first"]) {
		await terminal.type(text);
		await terminal.press("enter");
	}
	await terminal.press("alt+up");
	expect(editor.getText()).toBe("!!ls\n\nfirst");
	prompts.attach(target);
	expect(log).toEqual([]);
});

test.each([
	["a prompt without a key", "explain this", "key_missing", "explain this"],
	["an unknown command", "/modle", "bad_arguments", "/modle"],
	["a shell command while another runs", "!!ls", "session_busy", "!!ls"],
	["a command that must wait, which is only suggested", "/compact", "session_busy", ""],
	["a prompt that is too large", "explain this", "prompt_too_large", "explain this"],
	["an unknown tool", "/tools off nosuch", "tool_unknown", "/tools off nosuch"],
	["an unknown model", "/model nosuch", "model_unknown", "/model nosuch"],
	["a prompt whose request failed", "explain this", "request_failed", ""],
] as const)("text that is rejected before it is logged returns to the editor: %s", async (_, text, code, left) => {
	const { terminal, editor, prompts, target } = start();
	const refuse = () => Promise.reject(new PiError(code, "refused"));
	prompts.attach({ ...target, prompt: refuse, runBash: refuse });
	await terminal.type(text);
	await terminal.press("enter");
	await terminal.settle();
	expect(editor.getText()).toBe(left);
});

test("a submission that the session rejects is reported", async () => {
	const { terminal, log, prompts, target } = start();
	const refusal = new Error("no model");
	prompts.attach({ ...target, prompt: () => Promise.reject(refusal) });
	await terminal.type("hello");
	await terminal.press("enter");
	expect(log).toEqual([refusal]);
});

test.each<[string, Submission | null]>([
	["  ", null],
	["!", null],
	["!! ", null],
	[" text ", { kind: "prompt", text: "text" }],
	["/pop 1", { kind: "prompt", text: "/pop 1" }],
	["exit", { kind: "prompt", text: "/quit" }],
	[" :q! ", { kind: "prompt", text: "/quit" }],
	["exit now", { kind: "prompt", text: "exit now" }],
	["! npm test", { kind: "bash", command: "npm test", excludeFromContext: false }],
	["!!env\nls", { kind: "bash", command: "env\nls", excludeFromContext: true }],
])("%j is parsed as %j", (text, expected) => {
	expect(parseSubmission(text)).toEqual(expected);
});

test("the palette lists the session's commands once it has started, and omits malformed suggestions", async () => {
	const { terminal, palette } = start();
	await terminal.type("/");
	expect(await terminal.screen()).toHaveLength(3);
	const malformed: { value: string }[] = JSON.parse('[{"value":"7"},{"value":7},null]');
	palette.attach({
		palette: () => [{ name: "pop", description: "Pop", argumentHint: "[turn]", origin: "hook stack" }],
		completeArguments: async () => malformed,
	});
	await terminal.type("p");
	expect((await terminal.screen())[3]).toBe(" → /pop [turn]  Pop                              hook stack");
	await terminal.press("tab");
	await terminal.waitFor(/^ {3}7$/m);
	expect(await terminal.screen()).toHaveLength(5);
});

test("the palette also finds commands by their descriptions, after those by name, and enter only inserts them", async () => {
	const { terminal, palette } = start();
	const command = (name: string, description: string) => ({ name, description, origin: "built-in" });
	palette.attach({
		palette: () => [command("usage", "Show tokens and cost"), command("cosmos", "Travel"), command("x", "pacost")],
		completeArguments: async () => [],
	});
	await terminal.type("/cos");
	const screen = await terminal.waitFor("/usage");
	expect(screen.slice(3).map((row) => row.trim().replace(/ {2}.*/, ""))).toEqual(["→ /cosmos", "/usage"]);
	await terminal.type("t");
	await terminal.waitFor("→ /usage");
	await terminal.press("enter");
	expect((await terminal.screen()).join("\n")).toContain("/usage");
});

test("select returns the identical value for string and object options", async () => {
	const { terminal, dialogs } = start();
	const text = dialogs.select("Which?", ["a", "b"]);
	await terminal.waitFor("Which?");
	await terminal.press("down", "enter");
	expect(await text).toBe("b");
	const value = { deep: true };
	const option = dialogs.select("Which one?", [{ label: "the one", value, description: "right" }]);
	await terminal.waitFor("the one");
	await terminal.press("enter");
	expect(await option).toBe(value);
});

test("malformed options are shown as text, and an empty list opens no dialog", async () => {
	const { terminal, dialogs } = start();
	expect(await dialogs.select("Which?", [])).toBeNull();
	const circular: Record<string, unknown> = {};
	circular.self = circular;
	const nothing = Object.create(null);
	const values: unknown[] = [7, null, undefined, { a: 1 }, circular, nothing, Symbol("s")];
	const options: SelectOption[] = values.map((value) => ({ label: String(typeof value), value }));
	const bare = dialogs.select<unknown>("Values?", Object.assign([...options], values));
	const screen = await terminal.waitFor("Values?");
	expect(screen.slice(2, 9).map((row) => row.slice(3))).toEqual([
		"7",
		"null",
		"undefined",
		'{"a":1}',
		"(cannot be shown)",
		"{}",
		"Symbol(s)",
	]);
	await terminal.press("up", "up", "enter");
	expect(await bare).toBe(nothing);
});

test("a timeout, a signal and closeAll cancel dialogs", async () => {
	const { dialogs } = start();
	const controller = new AbortController();
	const answers = Promise.all([
		dialogs.confirm("Sure?", "really", { timeout: 5 }),
		dialogs.input("Name?", undefined, { signal: controller.signal }),
		dialogs.secret("Key?"),
	]);
	controller.abort();
	dialogs.closeAll();
	expect(await answers).toEqual([false, null, null]);
});

test("confirm and input return the answer, and notify shows a notice", async () => {
	const { terminal, dialogs, log } = start();
	const sure = dialogs.confirm("Sure?", "it deletes\nall");
	await terminal.waitFor("it deletes");
	skipTime(1);
	await terminal.type("y");
	expect(await sure).toBe(true);
	const name = dialogs.input("Name?", "yours");
	await terminal.waitFor("yours");
	await terminal.type("me");
	await terminal.press("enter");
	expect(await name).toBe("me");
	const edited = dialogs.input("Name?", "yours", { initial: "som" });
	await terminal.waitFor("som");
	await terminal.type("eone");
	await terminal.press("enter");
	expect(await edited).toBe("someone");
	dialogs.notify("done");
	dialogs.notify("careful", "warning");
	expect(log).toEqual(["info done", "warning careful"]);
});
