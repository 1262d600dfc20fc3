import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { PACKAGE_ROOT } from "../helpers/installed-package.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const TSC = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");

/** A machine on which nothing but Node and pi is installed: an empty home, and no other environment than PATH. */
function cleanMachine() {
	const home = tempDir("pi-home-");
	const cwd = join(home, "project");
	mkdirSync(cwd);
	const PATH = [dirname(inject("program") ?? ""), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
	/** Runs a line in a shell, with an empty stdin. */
	const sh = (line: string) => {
		const child = spawn("/bin/sh", ["-c", line], { cwd, env: { HOME: home, PATH } });
		onTestFinished(() => void child.kill("SIGKILL"));
		child.stdin.end();
		const output = { stdout: "", stderr: "" };
		for (const name of ["stdout", "stderr"] as const) {
			child[name].setEncoding("utf8").on("data", (chunk: string) => {
				output[name] += chunk;
			});
		}
		return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
			child.once("close", (code) => resolve({ code, ...output }));
		});
	};
	return { home, agentDir: join(home, ".pi/agent"), cwd, sh };
}

test("the installed command runs the demo on the Node of the PATH", async () => {
	const { home, sh } = cleanMachine();
	expect(await sh("node --version")).toMatchObject({ stdout: `${process.version}\n` });
	const { code, stdout } = await sh("pi --demo");
	expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("All tests pass.") });
	// The demo runs `npm test`, which makes .npm.
	expect(readdirSync(home).sort()).toEqual([".npm", ".pi", "project"]);
});

test("pi answers with a configured server, and keeps keys and sessions private", async () => {
	const { agentDir, sh } = cleanMachine();
	expect(await sh("pi -p hello")).toMatchObject({ code: 1, stderr: expect.stringContaining("No model is chosen") });
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "pwd" })], "Hello.");
	writeFiles(agentDir, { "models.json": provider.modelsJson() });
	expect(await sh("pi -p hello")).toEqual({ code: 0, stdout: "Hello.\n", stderr: "bash pwd\n" });
	expect(provider.requests[1]?.messages.at(-1)?.text).toContain("/project");
	for (const name of ["", "sessions"]) expect(statSync(join(agentDir, name)).mode & 0o777).toBe(0o700);
});

test("a new hook has types, and runs", async () => {
	const { agentDir, sh } = cleanMachine();
	const provider = await startProvider();
	provider.reply("Hello.");
	writeFiles(agentDir, { "models.json": provider.modelsJson() });
	expect(await sh("pi hooks new count")).toMatchObject({ code: 0, stderr: "" });
	writeFiles(agentDir, {
		"hooks/wrong.ts": `${readFileSync(join(agentDir, "hooks/count.ts"), "utf8")}\nexport const wrong: number = "text";\n`,
	});
	const compiled = await sh(`node ${TSC} --pretty false -p ${join(agentDir, "hooks")}`);
	expect(compiled.stdout).toMatch(/^\S*\bwrong\.ts\(\d+,14\): error TS2322: [^\n]*\n$/);
	const { code, stdout } = await sh(`rm ${join(agentDir, "hooks/wrong.ts")} && pi -p "say hello" /count`);
	expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello.\n0 tool calls, 3 entries in the session\n" });
});
