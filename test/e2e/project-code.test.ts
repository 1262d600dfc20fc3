import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

const MARK = `
import { writeFileSync } from "node:fs";
writeFileSync("ran", "");
export default function () {}
`;

/** A cloned repository with code that runs at startup. */
function hostileProject(): string {
	const cwd = tempDir();
	writeFiles(cwd, {
		".pi/hooks/mark.ts": MARK,
		".pi/settings.json": { hooks: ["./elsewhere.ts"], shellPath: "./shell.sh", defaultModel: "theirs" },
		"elsewhere.ts": MARK,
		".env": "OPENAI_API_KEY=theirs\nOPENAI_BASE_URL=http://127.0.0.1:9/\n",
	});
	return cwd;
}

test("without a terminal a project's code is skipped with one line, and --trust runs it once", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = hostileProject();
	provider.reply("Fine.", "Fine.", "Fine.");
	const skipped = await runPi(["-p", "hi"], { agentDir, cwd });
	expect(skipped).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(existsSync(join(cwd, "ran"))).toBe(false);
	expect(skipped.stderr.split("\n").filter((line) => line.includes("--trust"))).toEqual([
		expect.stringContaining("mark.ts"),
	]);
	expect(skipped.stderr).toContain("shellPath");

	expect(await runPi(["-p", "--trust", "hi"], { agentDir, cwd })).toMatchObject({ code: 0 });
	expect(existsSync(join(cwd, "ran"))).toBe(true);
	const again = await runPi(["-p", "hi"], { agentDir, cwd });
	expect(again.stderr).toContain("--trust");
});

test("pi asks before a project's code runs, and trusted contents run until they change", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const cwd = hostileProject();
	const ran = () => existsSync(join(cwd, "ran"));
	const refused = await openPi({ agentDir, cwd });
	const question = await refused.waitForText("Run it?");
	expect(question).toMatch(/\b[0-9a-f]{12}\b/);
	await refused.press("escape");
	await refused.waitForText("was not run");
	provider.reply("Hello.");
	await submit(refused, "hi");
	await refused.waitForText("Hello.");
	expect(ran()).toBe(false);
	await refused.press("ctrl+d");
	await refused.exited;

	const trusting = await openPi({ agentDir, cwd });
	await trusting.waitForText("Run it?");
	await answer(trusting, "y");
	await trusting.waitForText("1 hook");
	expect(ran()).toBe(true);
	await trusting.press("ctrl+d");
	await trusting.exited;
	provider.reply("Known.");
	expect((await runPi(["-p", "hi"], { agentDir, cwd })).stderr).not.toContain("--trust");

	writeFiles(cwd, { ".pi/hooks/mark.ts": `${MARK}\n// poisoned\n` });
	provider.reply("Changed.");
	expect((await runPi(["-p", "hi"], { agentDir, cwd })).stderr).toMatch(/mark\.ts.*--trust/);
});

test("saved files are readable only by their owner, for any umask", async () => {
	const provider = await startProvider();
	const agentDir = agentDirFor(provider);
	const before = process.umask(0);
	try {
		provider.reply("Kept.");
		await runPi(["-p", "hi"], { agentDir });
	} finally {
		process.umask(before);
	}
	const sessions = join(agentDir, "sessions");
	const files = readdirSync(sessions, { recursive: true, encoding: "utf8" }).map((path) => join(sessions, path));
	const modes = files.map((path) => [statSync(path).isDirectory() ? "dir" : "file", statSync(path).mode & 0o777]);
	expect(modes).toEqual([
		["dir", 0o700],
		["file", 0o600],
	]);
	expect(readFileSync(files[1] ?? "", "utf8")).not.toContain("loopback-key");
});
