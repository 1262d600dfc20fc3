import { fileURLToPath } from "node:url";
import * as pty from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("./guarded-screen.ts", import.meta.url));

/** Runs the program in a terminal until it shows `ready`, then calls `act`. @returns all output and the exit */
async function run(end: string, act: (child: pty.IPty) => void, { kitty = false } = {}) {
	const child = pty.spawn(process.execPath, ["--import", "./bin/run-from-source.js", program, end], {
		cwd: root,
		cols: 60,
		rows: 10,
		env: { ...process.env, TERM: "xterm-256color" },
	});
	onTestFinished(() => {
		try {
			child.kill("SIGKILL");
		} catch {
			// It has already exited.
		}
	});
	let output = "";
	let acted = false;
	let answered = 0;
	child.onData((data) => {
		output += data;
		// Without a protocol for keys, a terminal only tells what it is.
		const questions = output.split("\x1b[c").length - 1;
		for (; answered < questions; answered += 1) child.write(`${kitty ? "\x1b[?7u" : ""}\x1b[?62c`);
		// Key reports are turned on last.
		if (!acted && output.includes("ready") && (kitty ? answered > 0 : output.includes("\x1b[>4;2m"))) {
			acted = true;
			act(child);
		}
	});
	const outcome = await new Promise<{ exitCode: number; signal?: number }>((resolve) => child.onExit(resolve));
	return { output, ...outcome };
}

test.each([
	["a call of exit", "exit", 3],
	["an uncaught error", "throw", 1],
	["closing the screen", "close", 0],
	["a suspension without job control", "suspend", 5],
])("the terminal is given back after %s", async (_, end, exitCode) => {
	const outcome = await run(end, (child) => child.write("x"));
	expect(outcome.exitCode).toBe(exitCode);
	expectRestored(outcome.output);
	// The screen is restored before the error is printed.
	if (end === "throw") expect(outcome.output.indexOf("a bug")).toBeGreaterThan(outcome.output.indexOf("\x1b[?2004l"));
});

test.each([
	["SIGTERM", 143],
	["SIGINT", 130],
	["SIGQUIT", 131],
	["SIGHUP", 129],
])("the terminal is given back after %s", async (signal, exitCode) => {
	const outcome = await run("wait", (child) => child.kill(signal));
	expect(outcome.exitCode).toBe(exitCode);
	expectRestored(outcome.output);
});

test("SIGTSTP restores the terminal, and without job control the screen starts again once", async () => {
	const { output, exitCode } = await run("stop", (child) => child.write("x"));
	expect(exitCode).toBe(6);
	expect(output.split("\x1b[?2004h")).toHaveLength(3);
	expectRestored(output);
});

test("the Kitty keyboard protocol is turned off too", async () => {
	const { output } = await run("exit", (child) => child.write("x"), { kitty: true });
	expect(output.lastIndexOf("\x1b[<u")).toBeGreaterThan(output.lastIndexOf("\x1b[>7u"));
	expect(output).not.toContain("\x1b[>4;2m");
});

test("key reports stay off after a screen that was open for a moment", async () => {
	const { output, exitCode } = await run("soon", () => {});
	expect(exitCode).toBe(0);
	expectRestored(output);
});

function expectRestored(output: string): void {
	for (const [on, off] of [
		["\x1b[?2004h", "\x1b[?2004l"],
		["\x1b[>7u", "\x1b[<u"],
		["\x1b[>4;2m", "\x1b[>4;0m"],
		["\x1b[?25l", "\x1b[?25h"],
		["\x1b[?2026h", "\x1b[?2026l"],
	] as const) {
		if (output.includes(on)) expect(output.lastIndexOf(off)).toBeGreaterThan(output.lastIndexOf(on));
	}
	expect(output).toContain("\x1b[?2004l");
}
