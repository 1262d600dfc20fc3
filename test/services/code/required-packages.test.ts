import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths as findPaths } from "../../../src/config/paths.js";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { configuredPackages } from "../../../src/packages/configured.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

const GATE = `export default (pi) => pi.on("tool_call", () => ({ block: true, reason: "the gate" }));\n`;

/** A session of a user whose package has a gate. */
function place(gate = GATE) {
	const [agentDir, cwd, dir] = [tempAgentDir(), tempDir("pi-project-"), tempDir("pi-gate-")];
	writeFiles(dir, { "package.json": { name: "user-gate", version: "1.0.0" }, "hooks/gate.ts": gate });
	writeFiles(agentDir, { "settings.json": { packages: [dir] } });
	const start = (options: TestSessionOptions = {}) => startSession({ agentDir, cwd, ...options });
	const trusting = { askTrust: async () => "trust" as const };
	return { agentDir, cwd, dir, start, trusting };
}

describe("a project", () => {
	test("neither replaces nor filters a package of the user", async () => {
		const { agentDir, cwd, dir, start, trusting } = place();
		writeFiles(cwd, { ".pi/settings.json": { packages: [{ source: dir, hooks: [] }, dir] } });
		const { session, provider, notices } = await start(trusting);
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		expect(provider.requests[1]?.messages.at(-1)?.text).toContain("the gate");
		expect(notices()).toContain(
			`The project's package ${dir} is ignored, because your settings have this package · its filters do not apply`,
		);
		const paths = findPaths({ PI_CODING_AGENT_DIR: agentDir }, cwd, tempDir());
		expect(configuredPackages(new SettingsStore(paths), paths).packages.map(({ scope }) => scope)).toEqual(["user"]);
	});

	test.each([
		["another version", "npm:user-gate@9.9.9"],
		["another case of a repository's address", "git:https://EXAMPLE.com/ada/gate.git@evil"],
	])("does not replace it with %s", (_name, other) => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir()];
		const own = other.startsWith("npm") ? "npm:user-gate@1" : "git:https://example.com/ada/gate.git@v1";
		writeFiles(agentDir, { "settings.json": { packages: [own] } });
		writeFiles(cwd, { ".pi/settings.json": { packages: [other] } });
		const paths = findPaths({ PI_CODING_AGENT_DIR: agentDir }, cwd, tempDir());
		const { packages } = configuredPackages(new SettingsStore(paths), paths);
		expect(packages.find(({ scope }) => scope === "user")?.text).toBe(own);
	});
});

const BROKEN: [string, (at: ReturnType<typeof place>) => void, RegExp][] = [
	["is missing", ({ dir }) => rmSync(dir, { recursive: true }), /the directory does not exist/],
	[
		"is not installed",
		({ agentDir }) => writeFileSync(join(agentDir, "settings.json"), '{"packages":["npm:user-gate"]}'),
		/Package npm:user-gate was not loaded: it is not installed/,
	],
	[
		"has no valid source",
		({ agentDir }) => writeFileSync(join(agentDir, "settings.json"), '{"packages":["npm:"]}'),
		/npm:/,
	],
	["brings nothing", ({ dir }) => rmSync(join(dir, "hooks"), { recursive: true }), /user-gate|brings no hooks/],
	[
		"has a hook that throws",
		({ dir }) => writeFileSync(join(dir, "hooks/gate.ts"), "throw new Error('no');"),
		/did not load.*no/,
	],
	[
		"has a hook with a syntax error",
		({ dir }) => writeFileSync(join(dir, "hooks/gate.ts"), "export default ("),
		/did not load/,
	],
];

describe.each(BROKEN)("a package of the user that %s", (_name, damage, reason) => {
	test("ends a session that can ask nobody", async () => {
		const at = place();
		damage(at);
		await expect(at.start({ trust: true })).rejects.toMatchObject({
			code: "package_unloaded",
			message: expect.stringMatching(reason),
		});
	});

	test("blocks tool calls until the user decides", async () => {
		const at = place();
		damage(at);
		const questions: string[] = [];
		const answers = ["Block the call", "Run tool calls without it"];
		const select = async (title: string) => {
			questions.push(title);
			return answers.shift() ?? null;
		};
		const { session, provider, notices } = await at.start({ ...at.trusting, ui: { select: select as never } });
		expect(notices().join("\n")).toMatch(reason);
		const results: (string | undefined)[] = [];
		for (let run = 0; run < 3; run++) {
			provider.reply([toolCall("ls", {})], "done");
			await session.prompt("go");
			results.push(provider.requests.at(-1)?.messages.at(-1)?.text);
		}
		expect(results[0]).toMatch(reason);
		expect(results[0]).toMatch(/^Blocked/);
		expect(results[1]).not.toMatch(/Blocked/);
		expect(results[2]).not.toMatch(/Blocked/);
		expect(questions).toHaveLength(2);
		expect(questions[0]).toMatch(reason);
	});
});

test("a package of the project that is not installed is only named", async () => {
	const { agentDir, cwd, start } = place();
	writeFiles(agentDir, { "settings.json": {} });
	writeFiles(cwd, { ".pi/settings.json": { packages: ["npm:other"] } });
	const { session, notices } = await start({});
	expect(notices()).toEqual(["Package npm:other was not loaded: it is not installed · pi install --local"]);
	await session.dispose();
});

test("a package whose hook breaks keeps its previous hook at a reload", async () => {
	const { dir, start, trusting } = place();
	const { session, provider } = await start({ ...trusting, ui: {} });
	writeFileSync(join(dir, "hooks/gate.ts"), "export default (");
	await session.prompt("/reload");
	provider.reply([toolCall("ls", {})], "done");
	await session.prompt("go");
	expect(provider.requests.at(-1)?.messages.at(-1)?.text).toContain("the gate");
});
