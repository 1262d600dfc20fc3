import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { paths as findPaths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { PackageManager } from "../../src/packages/manage.js";
import { run } from "../cli/subcommands/run.js";
import { isObject, objects, parseJson } from "../helpers/json.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { example } from "../hooks-examples/example.js";

const NAMES = BUNDLED_HOOKS.map(({ name }) => name);

/** What `pi hooks list --json` prints of hooks from one place, by the names of the files. */
async function listHooks(scope: string, place: Parameters<typeof run>[1]) {
	const { stdout, stderr } = await run({ name: "hooks", action: "list" }, { ...place, json: true });
	const list = parseJson(stdout);
	const rows = objects(isObject(list) ? list.hooks : []).filter((row) => row.scope === scope);
	const registered = rows.map(({ path, scope: _scope, trust: _trust, ...rest }) => [
		String(path).replace(/^.*\/|\.ts$/g, ""),
		rest,
	]);
	return { stderr, hooks: Object.fromEntries(registered) };
}

test("every example, installed as a package from a registry, registers the same as with --hook", async () => {
	const registry = await startNpmRegistry();
	const agentDir = tempAgentDir({ settings: { hookGrants: { "task-reminder.ts": ["systemItems"] } } });
	const [cwd, home] = [tempDir("pi-project-"), tempDir("pi-home-")];
	const env = { PATH: process.env.PATH ?? "", PI_CODING_AGENT_DIR: agentDir, HOME: home, ...registry.env };
	const paths = findPaths(env, cwd, home);
	for (const name of NAMES) {
		const manifest = {
			name: `pi-example-${name}`,
			keywords: ["pi-package"],
			peerDependencies: { "@mariozechner/pi-coding-agent": "*" },
		};
		registry.publish(definePackage(manifest, { [`hooks/${name}.ts`]: readFileSync(example(`${name}.ts`), "utf8") }));
		const manager = new PackageManager({ paths, env, settings: new SettingsStore(paths) });
		expect(await manager.install(`npm:pi-example-${name}`, "user")).toMatchObject({
			brings: "1 hook",
			dependencies: 0,
		});
	}
	const installed = await listHooks("package", { agentDir, cwd, env, trust: true });
	const named = await listHooks("flag", {
		...{ agentDir, cwd, env, findHooks: false },
		hooks: NAMES.map((name) => example(`${name}.ts`)),
	});
	expect(Object.keys(installed.hooks).sort()).toEqual([...NAMES].sort());
	expect(installed).toEqual(named);
	for (const { name, commands } of BUNDLED_HOOKS)
		expect(installed.hooks[name], name).toMatchObject({ loaded: true, commands });
}, 300_000);
