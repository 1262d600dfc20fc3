import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createShell, type ShellHost } from "../../../src/modes/interactive/screen-shell.js";

function shellWith(clipboardPrograms: ShellHost["clipboardPrograms"]) {
	const written: string[] = [];
	const shell = createShell({
		write: (data) => written.push(data),
		setEditorText: () => {},
		quit: () => {},
		secret: async () => null,
		hotkeys: () => [],
		rereadFiles: () => ({ read: [], problems: [] }),
		page: () => () => {},
		clipboardPrograms,
	});
	return { shell, written };
}

test("copied text goes to the terminal and to the first clipboard program that works", async () => {
	const dir = mkdtempSync(join(tmpdir(), "pi-copy-"));
	onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
	const file = join(dir, "clipboard");
	const { shell, written } = shellWith([
		["no-such-program"],
		["false"],
		["sh", "-c", 'cat > "$0"', file],
		["sh", "-c", 'rm "$0"', file],
	]);
	await shell.copy("naïve ✓");
	expect(written).toEqual([`\u001b]52;c;${Buffer.from("naïve ✓").toString("base64")}\u0007`]);
	expect(readFileSync(file, "utf8")).toBe("naïve ✓");
});

test("a text that is too long for the terminal needs a clipboard program; without one, copying fails with a hint", async () => {
	const { shell, written } = shellWith([["no-such-program"]]);
	await expect(shell.copy("x".repeat(200_000))).rejects.toMatchObject({ code: "command_failed", hint: /export/ });
	expect(written).toEqual([]);
});
