import { expect, onTestFinished, test, vi } from "vitest";
import { divertConsole, divertWrites } from "../../src/cli/stray-errors.js";

test("direct writes of hooks are passed on as lines, and writes of pi reach the stream", async () => {
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
			// pi shows the line, so its writes are not attributed to the hook that called it.
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

test("notifications and titles that hooks write reach the terminal, and the text around them does not", () => {
	const written: string[] = [];
	const spy = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => written.push(String(chunk)) > 0);
	onTestFinished(() => spy.mockRestore());
	const lines: string[] = [];
	const release = divertWrites({ isCalledByHook: () => true }, (line) => lines.push(line));
	process.stdout.write("\x1b]777;notify;Pi;Ready\x07");
	process.stdout.write(Buffer.from("\x1b]2;title\x07and text\x1b]52;c;aGk=\x07\n"));
	release();
	expect(written).toEqual(["\x1b]777;notify;Pi;Ready\x07", "\x1b]2;title\x07"]);
	expect(lines).toEqual(["and text\x1b]52;c;aGk=\x07"]);
});

test("the console formats values as Node does", () => {
	const lines: string[] = [];
	const release = divertConsole((line) => lines.push(line));
	onTestFinished(release);
	console.log("%s has %d of %j", "ada", 2, { a: 1 }, "and", new Map([["k", undefined]]));
	console.info(undefined, NaN, 10n, () => 1, { f: undefined });
	console.dir({ deep: { set: new Set([1]) } });
	console.table([{ a: 1 }]);
	console.count("calls");
	console.assert(false, "no %s", "way");
	console.time("work");
	console.timeEnd("work");
	console.error({
		get [Symbol.for("nodejs.util.inspect.custom")](): unknown {
			throw new Error("broken");
		},
	});
	release();
	expect(lines).toEqual([
		"ada has 2 of {\"a\":1} and Map(1) { 'k' => undefined }",
		"undefined NaN 10n [Function (anonymous)] { f: undefined }",
		"{ deep: { set: Set(1) { 1 } } }",
		expect.stringContaining("│ 0       │ "),
		"calls: 1",
		"Assertion failed: no way",
		expect.stringMatching(/^work: \S+ms$/),
		"[cannot be printed: broken]",
	]);
});
