import { expect, test } from "vitest";
import { fitLines } from "../../src/cli/standard-io.js";
import { runSubcommand } from "../../src/cli/subcommands/index.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { SessionLog } from "../../src/log/session-log.js";
import { recordIO } from "../helpers/record-io.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";

test("sentences are wrapped between words with an indent, and rows are cut", () => {
	const line = "problem: ./clock.ts: 1 time: it returns different results for the same entries";
	expect(fitLines([line, "short"], 40)).toEqual([
		"problem: ./clock.ts: 1 time: it returns",
		"  different results for the same entries",
		"short",
	]);
	expect(fitLines([line], 40, "cut")).toEqual(["problem: ./clock.ts: 1 time: it returns…"]);
	expect(fitLines([line], undefined)).toEqual([line]);
	// A word is never divided: a path stays whole for whoever copies it.
	const path = `/home/someone/${"directory/".repeat(6)}session.jsonl`;
	expect(fitLines([`${path} is not played`], 40)).toEqual([path, "  is not played"]);
	expect(fitLines([`${"x".repeat(38)}🙂 and more`], 40, "cut")).toEqual([`${"x".repeat(38)}…`]);
});

test("no line of pi context bench --show and of the notes of a bench is wider than the terminal", async () => {
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	const { session, provider } = await startSession({ ...place, session: { kind: "new" } });
	provider.reply("hello");
	await session.prompt("a prompt that is long enough to fill a row of the table, and then some more of it to be sure");
	const file = session.sessionFile ?? "";
	await session.dispose();
	const { entries } = SessionLog.open(file, { readOnly: true });
	const show = entries.findIndex((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	const options = { hooks: [], findHooks: true, trust: false, offline: true, verbose: false, json: false };
	const at = {
		...{ env: { PI_CODING_AGENT_DIR: place.agentDir, PATH: process.env.PATH }, home: tempDir("pi-home-") },
		...{ cwd: place.cwd, localServers: { ports: {} } },
	};
	const bench = { name: "bench" as const, strategies: ["pi:clear"], sessions: [file], failIf: [] };
	for (const command of [bench, { ...bench, show }]) {
		const io = recordIO(true, 80);
		await runSubcommand(command, options, io, at);
		const wide = io
			.stdout()
			.split("\n")
			.filter((line) => line.length > 80);
		// The path of the session may be longer than a line.
		expect(wide.filter((line) => /\S\s+\S/.test(line.trim()))).toEqual([]);
		expect(io.stdout()).toMatch(command === bench ? /^pi:clear /m : /^ *\d+ +user .*…$/m);
	}
});
