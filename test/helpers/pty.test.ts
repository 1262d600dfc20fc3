import { join } from "node:path";
import { expect, test } from "vitest";
import { startPi } from "./pty.js";
import { runPi, spawnPi } from "./run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "./temp.js";

/** A small program instead of pi: prints its environment and echoes keys. */
const ECHO = `
	process.stdin.setRawMode?.(true);
	process.stdout.write("ready " + process.argv.slice(2).join(" ") + " " + process.stdout.columns + "x" + process.stdout.rows + "\\r\\n");
	process.stdout.on("resize", () => process.stdout.write("now " + process.stdout.columns + "\\r\\n"));
	process.stdin.on("data", (data) => {
		const text = JSON.stringify(data.toString());
		if (text === '"q"') { for (let n = 0; n < 40; n++) process.stdout.write("line " + n + "\\r\\n"); process.exitCode = 7; process.stdin.pause(); }
		else if (text === '"?"') process.stdout.write("\\x1b[c");
		else process.stdout.write("got " + text + "\\r\\n");
	});
`;

function program(source: string): string {
	const dir = tempDir();
	writeFiles(dir, { "program.cjs": source });
	return join(dir, "program.cjs");
}

test("a terminal shows the program's output, sends it keys and answers its queries", async () => {
	const pi = startPi({ entry: program(ECHO), args: ["--flag"], columns: 50, rows: 10 });
	expect(await pi.waitForText("ready")).toBe("ready --flag 50x10");
	pi.type("hallo");
	await pi.waitForText('got "hallo"');
	await pi.press("escape", "ctrl+c");
	await pi.waitForText('got "\\u0003"');
	await pi.press("alt+enter");
	await pi.waitForText('got "\\u001b\\r"');
	pi.resize(60, 10);
	await pi.waitForText("now 60");
	pi.type("?");
	await pi.waitForText(/got "\\u001b\[\?.*c"/);
	pi.type("q");
	expect(await pi.exited).toEqual({ code: 7, signal: 0 });
	expect((await pi.screen()).split("\n").at(-1)).toBe("line 39");
	expect(await pi.scrollback()).toContain("ready --flag");
});

test("a busy program reads an escape alone, even if the next key follows at once", async () => {
	const busy =
		'process.stdin.on("data", (data) => { for (const end = Date.now() + 400; String(data).startsWith("b") && Date.now() < end; ); });\n';
	const pi = startPi({ entry: program(busy + ECHO) });
	await pi.waitForText("ready");
	pi.type("b");
	await pi.press("escape");
	pi.type("x");
	await pi.waitForText('got "x"');
	expect(await pi.screen()).toMatch(/\\u001b"\ngot "x"$/);
});

test("the screen is that of the last complete frame", async () => {
	const source = `
		process.stdin.setRawMode(true);
		process.stdin.on("data", () => process.stdout.write("text\\x1b[?2026l"));
		process.stdout.write("\\x1b[?2026htitle\\r\\n");
	`;
	const pi = startPi({ entry: program(source) });
	const screen = pi.waitForText("title");
	await expect.poll(() => pi.output()).toContain("title");
	pi.type("go on");
	expect(await screen).toBe("title\ntext");
	expect(await pi.screen()).toBe("title\ntext");
});

test("a wait that fails rejects with the screen", async () => {
	const pi = startPi({ entry: program("console.log('bye')") });
	await expect(pi.waitForText("hello")).rejects.toThrow(/ended \(code 0, signal 0\) before hello to show.*\n*bye/);
});

test("a killed program reports its signal", async () => {
	const pi = startPi({ entry: program(ECHO) });
	await pi.waitForText("ready");
	pi.kill("SIGKILL");
	expect((await pi.exited).signal).toBe(9);
});

test("the program runs in private directories without the machine's environment", async () => {
	const agentDir = tempAgentDir({ settings: { theme: "dark" }, hooks: { "a.ts": "export default () => {}" } });
	const source = `
		const { readFileSync } = require("node:fs");
		const settings = JSON.parse(readFileSync(process.env.PI_CODING_AGENT_DIR + "/settings.json", "utf8"));
		console.log(JSON.stringify({ names: Object.keys(process.env).sort(), settings, args: process.argv.slice(2) }));
		console.error("home " + (process.cwd().startsWith(process.env.HOME)));
		process.stdin.on("data", (data) => process.stdout.write("in " + data));
	`;
	const run = await runPi(["-p", "x"], { entry: program(source), agentDir, stdin: "piped", env: { EXTRA: "1" } });
	expect({ ...run, stdout: run.stdout.split("\n") }).toEqual({
		code: 0,
		signal: null,
		stdout: [
			JSON.stringify({
				names: ["EXTRA", "HOME", "LANG", "PATH", "PI_CODING_AGENT_DIR", "SHELL", "TMPDIR", "TZ"],
				settings: { theme: "dark" },
				args: ["-p", "x"],
			}),
			"in piped",
		],
		stderr: "home true\n",
	});
});

test("a program with pipes reads input and writes output while it runs", async () => {
	const pi = spawnPi([], { entry: program(ECHO.replace(/process.stdout.columns/g, "0")) });
	await pi.waitFor(({ stdout }) => stdout.includes("ready"));
	pi.write("hi");
	await pi.waitFor(({ stdout }) => stdout.includes('got "hi"'));
	pi.kill();
	expect((await pi.exited).signal).toBe("SIGTERM");
	await expect(pi.waitFor(({ stdout }) => stdout.includes("never"))).rejects.toThrow("ended before");
});
