import { fileURLToPath } from "node:url";
import * as pty from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("./guarded-screen.ts", import.meta.url));

/** Runs the program in a terminal until `ready` shows, then does `act`. @returns all output and how it ended */
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
			// It has ended by itself.
		}
	});
	let output = "";
	let acted = false;
	let answered = false;
	child.onData((data) => {
		output += data;
		if (kitty && !answered && output.includes("\x1b[?u")) {
			answered = true;
			child.write("\x1b[?1u");
		}
		// The key report mode comes on last.
		if (!acted && output.includes("ready") && output.includes(kitty ? "\x1b[>7u" : "\x1b[>4;2m")) {
			acted = true;
			act(child);
		}
	});
	const outcome = await new Promise<{ exitCode: number; signal?: number }>((resolve) => child.onExit(resolve));
	return { output, ...outcome };
}

test.each([
	["a call of exit", "exit", 3],
	["an error that nobody catches", "throw", 1],
	["closing in good order", "close", 0],
	["a suspension that nobody carries out", "suspend", 5],
])("the terminal is given back after %s", async (_, end, exitCode) => {
	const outcome = await run(end, (child) => child.write("x"));
	expect(outcome.exitCode).toBe(exitCode);
	expectRestored(outcome.output);
	// The screen goes before the error comes.
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

test("SIGTSTP gives the terminal back, and where nothing stops the program its screen comes back once", async () => {
	const { output, exitCode } = await run("stop", (child) => child.write("x"));
	expect(exitCode).toBe(6);
	expect(output.split("\x1b[?2004h")).toHaveLength(3);
	expectRestored(output);
});

test("the Kitty keyboard protocol is taken back too", async () => {
	const { output } = await run("exit", (child) => child.write("x"), { kitty: true });
	expect(output.lastIndexOf("\x1b[<u")).toBeGreaterThan(output.lastIndexOf("\x1b[>7u"));
	expect(output).not.toContain("\x1b[>4;2m");
});

function expectRestored(output: string): void {
	for (const [on, off] of [
		["\x1b[?2004h", "\x1b[?2004l"],
		["\x1b[>4;2m", "\x1b[>4;0m"],
		["\x1b[?25l", "\x1b[?25h"],
		["\x1b[?2026h", "\x1b[?2026l"],
	] as const) {
		expect(output.lastIndexOf(off)).toBeGreaterThan(output.lastIndexOf(on));
	}
}
