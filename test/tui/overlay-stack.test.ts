import { Container, Editor } from "@mariozechner/pi-tui";
import { expect, onTestFinished, test } from "vitest";
import { createKeymap } from "../../src/tui/keymap.js";
import { LiveTUI } from "../../src/tui/live-tui.js";
import { type OverlayOptions, OverlayStack } from "../../src/tui/overlay-stack.js";
import { SelectDialog } from "../../src/tui/select-dialog.js";
import { createTheme } from "../../src/tui/theme.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

const theme = createTheme("plain");

function start() {
	const terminal = new VirtualTerminal(60, 12);
	const tui = new LiveTUI(terminal);
	const editor = new Editor(tui, theme.editor);
	const slot = new Container();
	tui.addChild(slot);
	const changes: string[] = [];
	const overlays = new OverlayStack(tui, slot, editor, (shown) => changes.push(shown));
	tui.setFocus(editor);
	tui.start();
	onTestFinished(() => tui.stop());
	const keymap = createKeymap();
	const choose = (title: string, options: Partial<OverlayOptions<never>> = {}) =>
		overlays.open<string | null>(
			(settle) =>
				new SelectDialog(
					{ theme, keymap },
					{
						title,
						items: ["one", "two"].map((label) => ({ label, value: label })),
						onSelect: settle,
						onCancel: () => settle(null),
					},
				),
			{ ...options, canceled: null },
		);
	return { terminal, editor, overlays, choose, changes };
}

test("a dialog replaces the editor; afterwards the draft and the focus return", async () => {
	const { terminal, editor, overlays, choose, changes } = start();
	await terminal.type("draft");
	const answer = choose("Which?");
	await terminal.waitFor("Which?");
	expect((await terminal.screen()).join()).not.toContain("draft");
	expect(overlays.isOpen).toBe(true);
	await terminal.press("down", "enter");
	expect(await answer).toBe("two");
	await terminal.type(" goes on");
	expect(editor.getText()).toBe("draft goes on");
	expect(overlays.isOpen).toBe(false);
	expect(changes).toEqual(["dialog", "editor"]);
});

test("dialogs of the same owner open over its component, in order, and it returns with its state", async () => {
	const { terminal, editor, overlays, choose } = start();
	const below = choose("Below?", { coveredBy: "game" });
	const other = choose("Other?", { owner: "gate" });
	await terminal.waitFor("Below?");
	await terminal.press("down");
	const first = choose("First?", { owner: "game" });
	const second = choose("Second?", { owner: "game" });
	await terminal.waitFor("First?");
	expect(overlays.waiting).toBe(2);
	await terminal.press("enter");
	expect(await first).toBe("one");
	await terminal.waitFor("Second?");
	await terminal.press("escape");
	expect(await second).toBeNull();
	await terminal.waitFor("Below?");
	await terminal.press("enter");
	expect(await below).toBe("two");
	await terminal.waitFor("Other?");
	await terminal.press("escape");
	expect(await other).toBeNull();
	await terminal.type("draft");
	expect(editor.getText()).toBe("draft");
});

test("a dialog that opens while its component is built stays over it", async () => {
	const { terminal, overlays, choose } = start();
	let inner: Promise<string | null> | undefined;
	const outer = overlays.open<string | null>(
		(settle) => {
			inner = choose("Inner?", { owner: "game" });
			return { render: () => ["Outer"], invalidate() {}, handleInput: () => settle("closed") };
		},
		{ canceled: null, coveredBy: "game" },
	);
	await terminal.waitFor("Inner?");
	await terminal.press("enter");
	expect(await inner).toBe("one");
	await terminal.waitFor("Outer");
	await terminal.type("x");
	expect(await outer).toBe("closed");
});

test("a dialog that its component opens after a short wait is shown over it", async () => {
	const { terminal, overlays, choose } = start();
	let inner: Promise<string | null> = Promise.resolve(null);
	const opened = async () => {
		await null;
		inner = choose("Inner?", { owner: "game" });
	};
	const outer = overlays.open<string | null>(
		(settle) => {
			void opened();
			return { render: () => ["Outer"], invalidate() {}, handleInput: () => settle("closed") };
		},
		{ canceled: null, coveredBy: "game" },
	);
	await terminal.waitFor("Inner?");
	await terminal.press("enter");
	expect(await inner).toBe("one");
	await terminal.waitFor("Outer");
	await terminal.type("x");
	expect(await outer).toBe("closed");
});

test("several dialogs queue and each gets its own answer", async () => {
	const { terminal, choose } = start();
	const answers = Promise.all([choose("First?"), choose("Second?"), choose("Third?")]);
	await terminal.waitFor("First?");
	await terminal.press("enter");
	await terminal.waitFor("Second?");
	await terminal.press("escape");
	await terminal.waitFor("Third?");
	await terminal.press("down", "enter");
	expect(await answers).toEqual(["one", null, "two"]);
});

test("an aborted signal cancels an open dialog, a queued one, and one opened afterwards", async () => {
	const { terminal, overlays, choose } = start();
	const open = new AbortController();
	const waiting = new AbortController();
	const first = choose("First?", { signal: open.signal });
	const second = choose("Second?", { signal: waiting.signal });
	const third = choose("Third?");
	waiting.abort();
	expect(await second).toBeNull();
	open.abort();
	expect(await first).toBeNull();
	await terminal.waitFor("Third?");
	expect(await choose("Late?", { signal: open.signal })).toBeNull();
	overlays.closeAll();
	expect(await third).toBeNull();
});

test("a timeout cancels, and a late answer changes nothing", async () => {
	const { overlays } = start();
	let late: (value: string) => void = () => {};
	const answer = overlays.open<string>(
		(settle) => {
			late = settle;
			return { render: () => ["?"], invalidate() {} };
		},
		{ timeoutMs: 5, canceled: "canceled" },
	);
	expect(await answer).toBe("canceled");
	late("too late");
	expect(await answer).toBe("canceled");
	expect(overlays.isOpen).toBe(false);
});

test("a dialog that cannot be built fails alone", async () => {
	const { terminal, overlays, choose } = start();
	const broken = overlays.open(
		() => {
			throw new Error("broken");
		},
		{ canceled: null },
	);
	const next = choose("Next?");
	await expect(broken).rejects.toThrow("broken");
	await terminal.waitFor("Next?");
	overlays.closeAll();
	expect(await next).toBeNull();
});

test("an overlay on top opens over a dialog, which returns with its state before the others", async () => {
	const { terminal, overlays, choose } = start();
	const below = choose("Below?");
	const later = choose("Later?");
	await terminal.waitFor("Below?");
	await terminal.press("down");
	expect(overlays.isDialog).toBe(true);
	const top = choose("Top?", { isOnTop: true, isFullScreen: true });
	await terminal.waitFor("Top?");
	expect([overlays.isDialog, overlays.waiting]).toEqual([false, 1]);
	await terminal.press("enter");
	expect(await top).toBe("one");
	await terminal.waitFor("Below?");
	await terminal.press("enter");
	expect(await below).toBe("two");
	await terminal.press("enter");
	expect(await later).toBe("one");
});
