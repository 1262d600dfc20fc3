import {
	appendFileSync,
	existsSync,
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piProgram } from "../helpers/pi-environment.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { type Driver, drive, faultEnv } from "./driver.js";
import { acknowledgedBy, expectNoStack, lostEntries } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest, IS_LONG } from "./rounds.js";

const PROMPTS = 4;

async function place() {
	const provider = await startProvider();
	provider.on(({ messages }) =>
		messages.at(-1)?.role === "user" ? [toolCall("bash", { command: "echo text" })] : "Fine.",
	);
	const agentDir = agentDirFor(provider);
	const file = join(agentDir, "sessions", "session.jsonl");
	mkdirSync(dirname(file));
	return { provider, agentDir, file };
}

/** The notices about the session file, in order. */
function saveNotices({ events }: Driver): string[] {
	return events.flatMap((event) => (event.type === "notice" && /session/.test(event.message) ? [event.message] : []));
}

faultTest(
	"disk",
	"writes that fail for a while cost one line and no entry",
	{ short: 1, long: 100 },
	async ({ random }) => {
		const { provider, agentDir, file } = await place();
		const log = join(tempDir(), "calls");
		const [first, count] = [random.below(20), 1 + random.below(8)];
		const code = random.pick(["ENOSPC", "EIO", "EDQUOT", "EROFS", "EACCES"]);
		const env = faultEnv({ under: dirname(file), log, failing: [first, count], code, isShort: random.chance(0.5) });
		const driver = drive(["--session", file], { agentDir, env });
		for (let prompt = 0; prompt < PROMPTS; prompt++) {
			await driver.ask(`prompt ${prompt}`);
			expect(await driver.client.call("get_last_assistant_text")).toEqual({ text: "Fine." });
		}
		driver.end();
		expect(await driver.exited).toEqual({ code: 0, signal: null });
		const notices = saveNotices(driver);
		expect(notices.length).toBeLessThanOrEqual(count);
		for (const notice of notices) expect(notice).toMatch(/^[^\n]+$/);
		expectNoStack(driver.stderr());
		const calls = readFileSync(log, "utf8").split("\n").length - 1;
		// Once calls succeed again, the next append writes everything.
		if (calls > first + count + 4) expect(lostEntries(file, acknowledgedBy(driver.events))).toEqual([]);
		expect(provider.violations).toEqual([]);
	},
);

const INCIDENTS: Record<string, (file: string, random: Random) => void> = {
	"file removed": (file) => rmSync(file),
	"directory removed": (file) => rmSync(dirname(file), { recursive: true }),
	"file renamed": (file) => renameSync(file, `${file}.moved`),
	"file replaced": (file) => {
		writeFileSync(`${file}.new`, "other text\n");
		renameSync(`${file}.new`, file);
	},
	"file truncated": (file, random) => truncateSync(file, random.below(readFileSync(file).length)),
	"lines appended": (file) => appendFileSync(file, 'not JSON\n{"type":"foreign_note"}\n'),
	"directory in the way": (file) => {
		rmSync(file);
		mkdirSync(file);
	},
	"lock removed": (file) => rmSync(`${file}.lock`, { force: true }),
};

faultTest(
	"disk",
	"a session file that disappears or changes while pi runs is complete at the end",
	{ short: 1, long: 40 },
	async ({ random }) => {
		const { provider, agentDir, file } = await place();
		const driver = drive(["--session", file], { agentDir });
		const incidents: string[] = [];
		for (let prompt = 0; prompt < PROMPTS; prompt++) {
			await driver.ask(`prompt ${prompt}`);
			expect(await driver.client.call("get_last_assistant_text")).toEqual({ text: "Fine." });
			if (prompt === PROMPTS - 1 || !existsSync(file)) break;
			const incident = random.pick(Object.keys(INCIDENTS));
			incidents.push(incident);
			INCIDENTS[incident]?.(file, random);
			if (incident === "directory in the way") break;
		}
		driver.end();
		expect(await driver.exited).toEqual({ code: 0, signal: null });
		expectNoStack(driver.stderr());
		if (!incidents.includes("directory in the way")) {
			expect(lostEntries(file, acknowledgedBy(driver.events)), incidents.join(", ")).toEqual([]);
		}
		expect(provider.violations).toEqual([]);
	},
);

test.runIf(IS_LONG)("disk: with a limit on the size of files, one line says so and the answer is given", async () => {
	const { provider, agentDir, file } = await place();
	const cwd = tempDir();
	const command = 'ulimit -f 8; exec "$@"';
	writeFiles(cwd, {
		"start.cjs": `
			const { spawnSync } = require("node:child_process");
			const program = [process.execPath, ${JSON.stringify(piProgram())}, ...process.argv.slice(2)];
			const run = spawnSync("sh", ["-c", ${JSON.stringify(command)}, "sh", ...program], { stdio: "inherit" });
			process.exit(run.status ?? 1);
		`,
	});
	provider.reply("x".repeat(20_000));
	const run = await runPi(["-p", "--session", file, "first question", "second question"], {
		agentDir,
		cwd,
		entry: join(cwd, "start.cjs"),
	});
	expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/Fine\.\n$/) });
	expect(run.stderr.split("\n").filter((line) => line.includes("Cannot save the session"))).toHaveLength(1);
	expectNoStack(run.stderr);
});
