import { visibleWidth } from "@mariozechner/pi-tui";
import { describe, expect, test } from "vitest";
import { ApprovalDialog } from "../../src/tui/approval-dialog.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { SelectDialog } from "../../src/tui/select-dialog.js";
import { createTheme } from "../../src/tui/theme.js";

const style = (rows: number) => ({ theme: createTheme("plain"), keymap: createKeymap(), rows: () => rows });
const PAGE_DOWN = "\x1b[6~";
const PAGE_UP = "\x1b[5~";

/** A command on one line whose middle is what matters. */
const COMMAND = `echo ${"a ".repeat(3000)}; rm -rf ~/work ; ${"b".repeat(3000)}`;

/** Everything that a dialog shows while it is scrolled to its end, without blanks. */
function scrolled(dialog: { render(width: number): string[]; handleInput(data: string): void }, width: number): string {
	const seen = new Set<string>();
	for (let page = 0; page < 800; page++) {
		const lines = dialog.render(width);
		for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
		seen.add(lines.join("\n"));
		dialog.handleInput(PAGE_DOWN);
	}
	return [...seen].join("\n").replace(/\s/g, "");
}

describe.each([40, 80])("at %d columns", (width) => {
	test("a select dialog shows all of a long title, and Enter pages until its end", () => {
		const chosen: string[] = [];
		const dialog = new SelectDialog(style(24), {
			title: `Allow bash? ${COMMAND}`,
			items: ["Yes, once", "No"].map((label) => ({ label, value: label })),
			onSelect: (value) => chosen.push(value),
			onCancel: () => {},
		});
		dialog.render(width);
		dialog.handleInput("\r");
		expect(chosen).toEqual([]);
		expect(dialog.render(width).join("\n")).toMatch(/^ (?:lines )?8–15 of \d+ · pageUp pageDown /m);
		expect(scrolled(dialog, width)).toContain("rm-rf~/work;");
		dialog.handleInput(PAGE_UP);
		dialog.render(width);
		dialog.handleInput("\r");
		expect(chosen).toEqual(["Yes, once"]);
	});
});

test.each([40, 80])(
	"a title of a select dialog whose marks for line ends need another row is complete at %i columns",
	(width) => {
		const rows = ["a", "b", "c", "d"].map((letter) => letter.repeat(width - 2));
		const dialog = new SelectDialog(style(24), {
			title: rows.join("\n"),
			items: [{ label: "No", value: 0 }],
			onSelect: () => {},
			onCancel: () => {},
		});
		expect(scrolled(dialog, width)).toContain("d".repeat(width - 2));
	},
);

test("a line of a million characters is shown without delay", () => {
	const dialog = new ApprovalDialog(
		style(24),
		{ question: "Run it?", subject: { kind: "command", text: "x".repeat(1_000_000) } },
		() => {},
	);
	const time = (frames: number) => {
		const started = performance.now();
		for (let frame = 0; frame < frames; frame++) dialog.render(80);
		return performance.now() - started;
	};
	// The text is wrapped once, not for each frame.
	const first = time(1);
	expect(time(20)).toBeLessThan(first * 10);
});
