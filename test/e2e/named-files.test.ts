import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

/** A working directory with files that cannot be used. */
function directory(): string {
	const cwd = tempDir();
	writeFileSync(join(cwd, "syntax.ts"), "export default function (pi) {");
	writeFileSync(join(cwd, "broken.json"), '{"mcpServers": }');
	writeFileSync(join(cwd, "SKILL.md"), "no front matter");
	return cwd;
}

const REFUSED: [string[], string][] = [
	[["--hook", "guard.ts"], "guard.ts cannot be read"],
	[["--hook", "syntax.ts"], "syntax.ts:1:31 did not load"],
	[["--no-hooks", "--hook", "pi:permission-gaet"], "There is no bundled hook pi:permission-gaet"],
	[["-e", "guard.ts"], "guard.ts cannot be read"],
	[["--tool", "gone.ts"], "gone.ts cannot be read"],
	[["--tool", "syntax.ts"], "syntax.ts:1:31 did not load"],
	[["--skill", "gone"], "gone: no such file or directory"],
	[["--skill", "SKILL.md"], "SKILL.md:1: begin the file with a name and a description"],
	[["--mcp", "gone.json"], "gone.json does not exist · correct --mcp"],
	[["--mcp", "broken.json"], "broken.json:1:16"],
];

test.each(REFUSED)("%j ends pi with code 2 and one line, and nothing is sent", async (args, line) => {
	const provider = await startProvider();
	provider.on(() => "Sent unguarded.");
	const run = { agentDir: agentDirFor(provider), cwd: directory() };
	const { code, stdout, stderr } = await runPi(["-p", ...args, "hi"], run);
	expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	expect(stderr).toContain(line);
	expect(stderr.trim().split("\n")).toHaveLength(1);
	expect(provider.requests).toEqual([]);
});

test.each([
	["--mode", "json"],
	["--mode", "rpc"],
])("%s %s too", async (...mode) => {
	const provider = await startProvider();
	provider.on(() => "Sent unguarded.");
	const run = { agentDir: agentDirFor(provider), cwd: directory() };
	const prompt = mode.includes("rpc") ? [] : ["hi"];
	const { code, stderr } = await runPi([...mode, "--hook", "guard.ts", ...prompt], run);
	expect(code).toBe(2);
	expect(stderr).toContain("guard.ts cannot be read");
	expect(provider.requests).toEqual([]);
});

test.each([[], ["--plain"]])("a terminal ends before the first prompt is sent %j", async (...mode) => {
	const provider = await startProvider();
	provider.on(() => "Sent unguarded.");
	const pi = startPi({
		args: [...mode, "--hook", "guard.ts", "hi"],
		agentDir: agentDirFor(provider),
		cwd: directory(),
		columns: 200,
	});
	expect((await pi.exited).code).toBe(2);
	expect(pi.output()).toContain("guard.ts cannot be read");
	expect(provider.requests).toEqual([]);
});
