import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fleetFile } from "../helpers/fleet-files.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { missingPrograms, skipLine } from "../helpers/programs.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

const RUNS = 20;

/** A repository with the scripts of docs/fleet.md, and an environment in which `pi` is the program. */
function fleet(agentDir: string, tasks: readonly string[]) {
	const bin = tempDir();
	writeFiles(bin, { pi: `#!/bin/sh\nexec '${process.execPath}' '${piProgram()}' "$@"\n` });
	chmodSync(join(bin, "pi"), 0o755);
	const { env } = piPlace({ agentDir });
	const cwd = tempDir();
	spawnSync("git", ["init", "-q"], { cwd });
	writeFiles(cwd, {
		"run-task.sh": fleetFile("run-task.sh"),
		"xargs.sh": fleetFile("xargs.sh").replace("-P 4", `-P ${RUNS}`),
		"parallel.sh": fleetFile("parallel.sh"),
		"answers.sh": fleetFile("answers.sh"),
		"tasks.txt": `${tasks.join("\n")}\n`,
	});
	const run = (script: string) =>
		new Promise<{ code: number; stdout: string }>((resolve) => {
			const options = { cwd, env: { ...env, PATH: `${bin}:${env.PATH}` } };
			execFile("sh", [script], options, (error, stdout) => resolve({ code: Number(error?.code ?? 0), stdout }));
		});
	return { cwd, run };
}

test("20 runs at once share a home directory and a repository", async () => {
	const provider = await startProvider();
	const tasks = Array.from({ length: RUNS }, (_, i) => `Task number ${i + 1}: it's "quoted"`);
	for (let i = 0; i < RUNS; i++) provider.reply([toolCall("bash", { command: "git status --porcelain | wc -l" })]);
	for (let i = 0; i < RUNS; i++) provider.reply("Done.");
	const agentDir = agentDirFor(provider);
	const { cwd, run } = fleet(agentDir, tasks);
	expect((await run("xargs.sh")).code).toBe(0);

	const prompts: string[] = [];
	const sessions = new Set<string>();
	for (let id = 1; id <= RUNS; id++) {
		const lines = readFileSync(join(cwd, "runs", `${id}.jsonl`), "utf8")
			.trim()
			.split("\n");
		const events = lines.map((line) => JSON.parse(line));
		sessions.add(events[0].id);
		prompts.push(events.find((event) => event.message?.role === "user").message.content);
		expect(events.at(-1)?.type, `run ${id}`).not.toBe("error");
		expect(readFileSync(join(cwd, "runs", `${id}.err`), "utf8")).toBe("");
	}
	expect(prompts.map((prompt) => (typeof prompt === "string" ? prompt : JSON.stringify(prompt)))).toEqual(tasks);
	expect(sessions.size).toBe(RUNS);
	expect(readdirSync(join(cwd, "runs", "sessions")).filter((name) => name.endsWith(".jsonl"))).toHaveLength(RUNS);
	expect(existsSync(join(cwd, "runs", "failed.txt"))).toBe(false);
	// Nothing half-written or locked is left behind in the shared directory.
	expect(readdirSync(agentDir, { recursive: true }).filter((name) => /\.(?:lock|tmp|bad)/.test(String(name)))).toEqual(
		[],
	);
	if (missingPrograms("the recipe with jq", { jq: "jq" }) === undefined) {
		expect((await run("answers.sh")).stdout.trim().split("\n").sort()[0]).toBe("runs/1.jsonl: Done.");
	}
});

/** Exit codes in the log of GNU parallel. */
function exitsIn(cwd: string): (string | undefined)[] {
	const lines = readFileSync(join(cwd, "runs.log"), "utf8").trim().split("\n").slice(1);
	return lines.map((line) => line.split("\t")[6]);
}

/** moreutils has another program of this name. */
const NO_PARALLEL =
	missingPrograms("GNU parallel", { parallel: "parallel" }) ??
	(spawnSync("parallel", ["--version"], { encoding: "utf8" }).stdout.startsWith("GNU parallel")
		? undefined
		: skipLine("GNU parallel", "parallel is another program (package parallel)"));

test.skipIf(NO_PARALLEL !== undefined)(
	"GNU parallel starts the runs, and its log names those that failed",
	async () => {
		const provider = await startProvider();
		const tasks = ['First: it\'s "quoted"', "Second $HOME `id`", "Third \\ *", "Fourth"];
		for (const _ of tasks) provider.reply("Done.");
		const { cwd, run } = fleet(agentDirFor(provider), tasks);
		expect((await run("parallel.sh")).code).toBe(0);
		const prompts = tasks.map((_, index) => {
			const lines = readFileSync(join(cwd, "runs", `${index + 1}.jsonl`), "utf8")
				.trim()
				.split("\n");
			const events = lines.map((line) => JSON.parse(line));
			return events.find((event) => event.message?.role === "user").message.content;
		});
		expect(prompts.map((prompt) => (typeof prompt === "string" ? prompt : prompt[0].text))).toEqual(tasks);
		expect(exitsIn(cwd)).toEqual(["0", "0", "0", "0"]);

		const failing = fleet(tempAgentDir(), ["one", "two"]);
		expect((await failing.run("parallel.sh")).code).toBe(2);
		expect(exitsIn(failing.cwd)).toEqual([expect.stringMatching(/^[12]$/), expect.stringMatching(/^[12]$/)]);
	},
);

test("a failed run is listed with its exit code, and xargs fails", async () => {
	const { cwd, run } = fleet(tempAgentDir(), ["one", "two"]);
	expect((await run("xargs.sh")).code).toBe(123);
	const failed = readFileSync(join(cwd, "runs", "failed.txt"), "utf8")
		.trim()
		.split("\n")
		.sort();
	expect(failed).toEqual([expect.stringMatching(/^1 [12]$/), expect.stringMatching(/^2 [12]$/)]);
	expect(readFileSync(join(cwd, "runs", "1.err"), "utf8")).toMatch(/^No model is chosen/);
});
