import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { agentDirFor } from "../e2e/support.js";
import {
	LOOPBACK_PROVIDERS,
	type LoopbackApi,
	type LoopbackProvider,
	startProvider,
} from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { type Driver, drive } from "./driver.js";
import { bytesOf, expectAppended, expectNoStack } from "./judge.js";
import type { Random } from "./random.js";
import { faultTest } from "./rounds.js";

/** Files that one process loads. */
const FILES = 500;
/** A session with every type of entry. */
const SESSION = readFileSync(new URL("fixtures/session.jsonl", import.meta.url));
const APIS: LoopbackApi[] = ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"];
const SETTINGS = { retry: { enabled: false }, rememberModel: false };

interface Place {
	provider: LoopbackProvider;
	agentDir: string;
	cwd: string;
	/** Creates a session file. @returns its path */
	write(bytes: Buffer): string;
}

async function place(): Promise<Place> {
	const provider = await startProvider();
	provider.on(() => "Answer.");
	const agentDir = agentDirFor(provider, { settings: SETTINGS, models: provider.modelsJson({ apis: APIS }) });
	const sessions = join(agentDir, "sessions");
	mkdirSync(sessions);
	let files = 0;
	const write = (bytes: Buffer) => {
		const path = join(sessions, `file${++files}.jsonl`);
		writeFileSync(path, bytes);
		return path;
	};
	return { provider, agentDir, cwd: tempDir(), write };
}

let running: { at: Place; driver: Driver; loaded: number } | undefined;

/** Registers the tests of session files that were damaged in one way. @param name of the family is `<damage> files` */
export function testDamagedFiles(damage: string, change: (file: Buffer, random: Random) => Buffer): void {
	const family = `${damage} files`;
	faultTest(
		family,
		"sessions load unchanged and are continued",
		{ short: 8, long: 10_000, perTest: FILES },
		async ({ random }) => {
			if (!running || running.driver.hasExited()) {
				const at = await place();
				running = { at, driver: drive(["--no-session"], at), loaded: 0 };
			}
			const { at, driver } = running;
			const bytes = change(SESSION, random);
			const file = at.write(bytes);
			if (await load(driver, file, bytes, random.pick(APIS))) await driver.client.call("reset");
			expect(at.provider.violations).toEqual([]);
			expectNoStack(driver.stderr());
			rmSync(file);
			expect(driver.hasExited()).toBe(false);
		},
	);

	faultTest(family, "programs check and continue a session", { short: 0, long: 150 }, async ({ random }) => {
		const at = await place();
		const bytes = change(SESSION, random);
		const file = at.write(bytes);
		const checked = await runPi(["sessions", "check", file], at);
		expect([0, 1]).toContain(checked.code);
		expectNoStack(checked.stderr);
		expect(bytesOf(file).equals(bytes)).toBe(true);
		const run = await runPi(["-p", "--session", file, "go on"], at);
		expectNoStack(run.stderr);
		if (run.code === 0) expect(run.stdout).toBe("Answer.\n");
		else expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/\S/) });
		if (run.code === 0 && !isReplaced(bytes)) expectAppended(bytes, file);
		expect(at.provider.violations).toEqual([]);
	});
}

/** Opens a session file and sends a prompt in it. @returns false if pi refused the file, with the reason */
async function load(driver: Driver, file: string, bytes: Buffer, api: LoopbackApi): Promise<boolean> {
	try {
		await driver.client.call("switch_session", { sessionPath: file });
	} catch (error) {
		expect(String(error)).toMatch(/not a session|header|format|No session/i);
		expect(bytesOf(file).equals(bytes)).toBe(true);
		return false;
	}
	expect(bytesOf(file).equals(bytes)).toBe(true);
	await driver.client.call("get_messages");
	await driver.client.call("get_session_stats");
	expect(bytesOf(file).equals(bytes)).toBe(true);
	// The file names the first model; other providers have other rules.
	await driver.client.call("set_model", { provider: LOOPBACK_PROVIDERS[api], modelId: "scripted" });
	await driver.ask("go on");
	if (!isReplaced(bytes)) expectAppended(bytes, file);
	return true;
}

/** True for a file without a line to keep, which pi renames when it begins a new session there. */
function isReplaced(bytes: Buffer): boolean {
	return !bytes.includes("\n");
}
