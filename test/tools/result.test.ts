import { expect, test } from "vitest";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import { failedToWrite } from "../../src/tools/result.js";

test("a file that cannot be written is named once, without the temporary file", () => {
	const call = "open '/work/.pi-597-vm-59126f0e.tmp'";
	const error = Object.assign(new Error(`EROFS: read-only file system, ${call}`), { code: "EROFS", syscall: "open" });
	const { content, isError } = failedToWrite(createLocalMachine("/work"), "/work/x.txt", error);
	expect([content, isError]).toEqual([
		[{ type: "text", text: "Cannot write x.txt: EROFS: read-only file system." }],
		true,
	]);
});
