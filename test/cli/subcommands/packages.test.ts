import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paths as findPaths } from "../../../src/config/paths.js";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { PackageGate } from "../../../src/services/code/package-code.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

const HOOK = `export default function (pi) { pi.command("hello", { description: "Says hello", handler: () => ({ status: "hi" }) }); }\n`;

/** A package at a path in the settings of the user. */
function place() {
	const kit = tempDir();
	writeFiles(kit, { "hooks/hello.ts": HOOK, "package.json": { name: "kit", version: "1.0.0" } });
	const agentDir = tempAgentDir({ settings: { packages: [kit] } });
	return { kit, agentDir, cwd: tempDir() };
}

async function trust(agentDir: string, cwd: string): Promise<void> {
	const paths = findPaths({ PI_CODING_AGENT_DIR: agentDir }, cwd, tempDir());
	const gate = new PackageGate({
		...{ paths, env: {}, run: [], discovery: true, trust: undefined, copyDir: paths.projectCache },
		settings: new SettingsStore(paths),
		ask: async () => "trust",
	});
	await gate.accept(() => {});
}

test("pi list, pi hooks list and pi doctor know a package before and after the user trusts it, and when it changes", async () => {
	const { kit, agentDir, cwd } = place();
	const list = async () => (await run({ name: "list" }, { agentDir, cwd })).stdout;
	expect(await list()).toBe(`${kit}  1.0.0  user  not trusted  1 hook\n`);
	const before = await run({ name: "hooks", action: "list" }, { agentDir, cwd });
	expect([before.stdout.includes("hello"), before.stderr]).toEqual([
		false,
		expect.stringContaining(`Package ${kit} was not loaded: it is not trusted`),
	]);
	expect((await run({ name: "doctor" }, { agentDir, cwd })).stdout).toContain(`${kit} 1.0.0 is not trusted`);

	await trust(agentDir, cwd);
	expect(await list()).toBe(`${kit}  1.0.0  user  trusted  1 hook\n`);
	expect((await run({ name: "hooks", action: "list" }, { agentDir, cwd })).stdout).toContain(
		join(kit, "hooks/hello.ts"),
	);

	writeFileSync(join(kit, "hooks/hello.ts"), `${HOOK}// changed\n`);
	expect(await list()).toBe(`${kit}  1.0.0  user  changed since it was trusted  1 hook\n`);
	expect(JSON.parse((await run({ name: "list" }, { agentDir, cwd, json: true })).stdout)).toMatchObject([
		{ name: kit, source: kit, scope: "user", trusted: false, hooks: ["hooks/hello.ts"], problem: null },
	]);
});

test("/trust shows packages with their changed files, and forgets them", async () => {
	const { kit, agentDir } = place();
	const answers: string[] = [];
	const { session, notices } = await startSession({
		agentDir,
		askTrust: async (set) => {
			answers.push(set.package?.name ?? "project");
			return "trust";
		},
	});
	await session.prompt("/trust");
	expect(notices().at(-1)).toMatch(new RegExp(`^Trust\\n.*\\n.*\\n?.*${kit} 1\\.0\\.0: trusted on \\d{4}-`, "s"));
	writeFileSync(join(kit, "hooks/hello.ts"), `${HOOK}// changed\n`);
	await session.prompt("/reload");
	expect(answers).toEqual([kit, kit]);
	await session.prompt("/trust forget");
	await session.prompt("/reload");
	expect(answers).toEqual([kit, kit, kit]);
});
