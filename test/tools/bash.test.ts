import { readdir, readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { bashTool } from "../../src/tools/bash.js";
import { OutputRecorder } from "../../src/tools/output-recorder.js";
import type { ToolResult } from "../../src/tools/tool.js";
import { TEST_HOST } from "../helpers/tool-hosts.js";
import { textOf, toolContext } from "./context.js";

test("a command's output is returned", async () => {
	const context = await toolContext();
	const result = await bashTool.run({ command: "pwd; echo hi" }, context);
	expect(result).toEqual({
		content: [{ type: "text", text: `${context.cwd}\nhi` }],
		details: { exitCode: 0, durationMs: expect.any(Number) },
	});
});

test("stdout and stderr keep their order", async () => {
	const result = await bashTool.run({ command: "echo 1; echo 2 >&2; echo 3; echo 4 >&2" }, await toolContext());
	expect(textOf(result)).toBe("1\n2\n3\n4");
});

test("the result of a command without output says so", async () => {
	expect(textOf(await bashTool.run({ command: "true" }, await toolContext()))).toBe("(no output)");
});

test("a failing command returns an error with its output and exit code", async () => {
	const result = await bashTool.run({ command: "echo oops >&2; exit 7" }, await toolContext());
	expect(result).toMatchObject({ isError: true, details: { exitCode: 7 } });
	expect(textOf(result)).toBe("oops\n\nexit code 7");
});

test("a syntax error is reported in the shell's words", async () => {
	const result = await bashTool.run({ command: "foo (" }, await toolContext());
	expect(result.isError).toBe(true);
	expect(textOf(result)).toMatch(TEST_HOST === "busybox" ? /^sh: syntax error: unexpected end of file/ : /`foo \('/);
});

test("the result of a command killed by a signal names the signal", async () => {
	const result = await bashTool.run({ command: "kill -s KILL $$" }, await toolContext());
	expect(result).toMatchObject({ isError: true, details: { exitCode: null, endedBy: "SIGKILL" } });
	expect(textOf(result)).toContain("Ended by signal SIGKILL.");
});

test("a timeout returns the output so far, even if the command ignores SIGTERM", async () => {
	// A container needs longer to start it.
	const timeout = ["podman", "busybox"].includes(TEST_HOST) ? 1 : 0.2;
	const result = await bashTool.run(
		{ command: "trap '' TERM; echo before; sleep 1000; sleep 1000", timeout },
		await toolContext(),
	);
	expect(result).toMatchObject({ isError: true, details: { exitCode: null, endedBy: "timeout" } });
	expect(textOf(result)).toBe(
		`before\n\nTimed out after ${timeout} s; the command and all processes it started were killed. Use a larger timeout if it needs more time.`,
	);
});

test("an abort returns the output so far", async () => {
	const controller = new AbortController();
	const context = await toolContext({ signal: controller.signal, onUpdate: () => controller.abort() });
	const result = await bashTool.run({ command: "echo before; sleep 1000" }, context);
	expect(result).toMatchObject({ isError: true, details: { exitCode: null, endedBy: "abort" } });
	expect(textOf(result)).toBe("before\n\nAborted by the user; the command and all processes it started were killed.");
});

test("output is reported while the command runs", async () => {
	const updates: ToolResult[] = [];
	const context = await toolContext({ onUpdate: (partial) => updates.push(partial) });
	await bashTool.run(
		{ command: "echo first; while [ ! -e go ]; do sleep 0.02; done & sleep 0.3; echo second; touch go; wait" },
		context,
	);
	expect(updates[0]).toEqual({ content: [{ type: "text", text: "first\n" }], details: {} });
	expect(updates.length).toBeGreaterThan(0);
	expect(updates.length).toBeLessThan(6);
});

test("a background process does not delay the result, which mentions it", async () => {
	const result = await bashTool.run({ command: "sleep 30 & echo started" }, await toolContext());
	expect(result.isError).toBeUndefined();
	expect(textOf(result)).toContain("started\n\n[Background processes may still be running");
});

test("for 100 MB of output, the end is returned, all of it is saved in a private file, and few updates are sent", async () => {
	let updates = 0;
	let updateBytes = 0;
	const context = await toolContext({
		onUpdate: (partial) => {
			updates++;
			updateBytes += Buffer.byteLength(JSON.stringify(partial));
		},
	});
	const before = process.memoryUsage().arrayBuffers;
	const result = await bashTool.run({ command: "yes 0123456789 | head -c 110000000; echo; echo the end" }, context);
	expect(textOf(result)).toContain("\nthe end\n\n[Cut: only the last 2000 of 10000002 lines");
	const { details } = result;
	expect(details?.truncation).toMatchObject({
		truncated: true,
		truncatedBy: "lines",
		totalLines: 10_000_002,
		totalBytes: 110_000_009,
		outputLines: 2000,
	});
	const path = details?.fullOutputPath ?? "";
	expect(textOf(result)).toContain(path);
	const { size, mode } = await stat(path);
	expect({ size, mode: mode & 0o777 }).toEqual({ size: 110_000_009, mode: 0o600 });
	expect(((await stat(context.tmpDir)).mode & 0o777).toString(8)).toBe("700");
	expect(updateBytes).toBeLessThan(updates * 60 * 1024);
	expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * 1024 * 1024);
});

test("output that is long only because of its colors is complete and needs no file", async () => {
	const context = await toolContext();
	const command =
		"for i in $(seq 1 1500); do printf '\\033[38;2;100;100;100m\\033[48;2;1;2;3mx\\033[0m\\033[0m\\033[0m\\n'; done";
	const result = await bashTool.run({ command }, context);
	expect(result.details?.truncation).toBeUndefined();
	expect(textOf(result)).toBe(`${"x\n".repeat(1499)}x`);
	expect(await readdir(context.tmpDir)).toEqual([]);
});

test("a line longer than the limit is cut", async () => {
	const result = await bashTool.run({ command: "head -c 3000000 /dev/zero | tr '\\0' x" }, await toolContext());
	expect(result.details?.truncation).toMatchObject({ truncatedBy: "bytes", totalLines: 1, outputBytes: 51_200 });
	expect(textOf(result)).toContain("[Cut: only the last 50 KB of a line are shown. Full output: ");
});

test("colors, NUL and invalid UTF-8 are removed or replaced", async () => {
	const command = "printf '\\033[31mred\\033[0m\\0nul \\377 \\342\\202\\254\\n10%%\\r100%%\\n'";
	expect(textOf(await bashTool.run({ command }, await toolContext()))).toBe("rednul \uFFFD €\n100%");
});

test("a missing shell, a NUL character and a command that is too long are reported", async () => {
	const context = await toolContext();
	const missing = await bashTool.run({ command: "true" }, { ...context, shellPath: "/no/shell" });
	expect(missing.isError).toBe(true);
	expect(textOf(missing)).toBe("/no/shell: command not found");
	expect(textOf(await bashTool.run({ command: "echo \0" }, context))).toContain("NUL character");
	expect(textOf(await bashTool.run({ command: `: ${"x".repeat(200_000)}` }, context))).toContain("write it to a file");
});

test("the configured shell is used", async () => {
	const result = await bashTool.run({ command: "echo $0" }, await toolContext({ shellPath: "/bin/sh" }));
	expect(textOf(result)).toBe("/bin/sh");
});

test("output is returned even if it cannot be saved", async () => {
	const context = await toolContext({ tmpDir: "/proc/nowhere/tmp" });
	const result = await bashTool.run({ command: "seq 1 3000" }, context);
	expect(result.details?.fullOutputPath).toBeUndefined();
	expect(textOf(result)).toMatch(/\n3000\n\n\[Cut: .* could not be saved/);
});

test("OutputRecorder returns the same end regardless of chunk boundaries", async () => {
	const { tmpDir } = await toolContext();
	const all = Buffer.from("zeile mit ümlaut und 😀\n".repeat(60_000));
	const record = async (size: number) => {
		const recorder = new OutputRecorder(tmpDir);
		for (let at = 0; at < all.length; at += size) await recorder.add(all.subarray(at, at + size));
		return recorder.finish();
	};
	const [one, other] = [await record(65_536), await record(997)];
	expect({ ...one, fullOutputPath: "" }).toEqual({ ...other, fullOutputPath: "" });
	expect(one.text).not.toContain("\uFFFD");
	expect((await readFile(other.fullOutputPath ?? "")).equals(all)).toBe(true);
});
