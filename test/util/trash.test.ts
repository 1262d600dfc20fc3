import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { moveToTrash, type TrashCommand } from "../../src/log/manage-sessions.js";
import { tempDir } from "../helpers/temp.js";

function place() {
	const dir = tempDir();
	const path = join(dir, "a file.jsonl");
	writeFileSync(path, "x");
	const program = (script: string): TrashCommand => {
		const file = join(dir, `tool-${script.length}`);
		writeFileSync(file, `#!/bin/sh\n${script}\n`);
		chmodSync(file, 0o755);
		return [file, "trash"];
	};
	return { dir, path, program };
}

test("the first program that exists and works moves the file, which it gets as its last argument", async () => {
	const { dir, path, program } = place();
	const mover = program(`test "$1" = trash && mv "$2" "${dir}/moved"`);
	expect(await moveToTrash(path, [["pi-no-such-program"], program("echo full >&2; exit 1"), mover])).toBeNull();
	expect([existsSync(path), existsSync(join(dir, "moved"))]).toEqual([false, true]);
});

test("without a program that works, the reason is returned and the file is unchanged", async () => {
	const { path, program } = place();
	expect(await moveToTrash(path, [])).toBe("this system has no trash that pi can use");
	expect(await moveToTrash(path, [["pi-no-such-program"]])).toBe("this system has no trash that pi can use");
	const failing = program("echo 'no space' >&2; echo more >&2; exit 1");
	expect(await moveToTrash(path, [failing, ["pi-no-such-program"]])).toBe("no space");
	expect(await moveToTrash(path, [program("exit 0")])).toMatch(/tool-\d+ failed with exit code 0$/);
	expect(existsSync(path)).toBe(true);
});
