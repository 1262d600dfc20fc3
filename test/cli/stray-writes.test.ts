import { expect, onTestFinished, test, vi } from "vitest";
import { divertWrites } from "../../src/cli/stray-errors.js";

test("what hooks write past the console is handed on as lines; pi's own writes go where they should", async () => {
	const written: unknown[] = [];
	for (const stream of [process.stdout, process.stderr]) {
		const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
		onTestFinished(() => spy.mockRestore());
	}
	const lines: string[] = [];
	const release = divertWrites(
		{ isCalledByHook: (stack) => stack.split("\n")[1]?.includes("writeAsHook") === true },
		(line) => {
			lines.push(line);
			// Showing the line is pi's own work, however deep below the hook's call it is done.
			process.stdout.write(`frame with ${line}`);
		},
	);
	function writeAsHook(stream: NodeJS.WriteStream, chunk: string | Uint8Array, done?: () => void): void {
		stream.write(chunk, done);
	}
	process.stdout.write("frame");
	writeAsHook(process.stdout, "text\n");
	writeAsHook(process.stderr, new TextEncoder().encode("bytes"));
	await new Promise<void>((resolve) => writeAsHook(process.stdout, "waited for", resolve));
	release();
	process.stdout.write("last");
	expect(lines).toEqual(["text", "bytes", "waited for"]);
	expect(written).toEqual(["frame", "frame with text", "frame with bytes", "frame with waited for", "last"]);
});
