import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { paths as findPaths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { BUNDLED_HOOKS } from "../../src/hooks/bundled.js";
import { PackageManager } from "../../src/packages/package-manager.js";
import { run } from "../cli/subcommands/run.js";
import { isObject, objects, parseJson } from "../helpers/json.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
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

/** The files of an example: its own, and those that it imports. */
function filesOf(name: string): Record<string, string> {
	const files = new Map<string, string>();
	const add = (file: string) => {
		if (files.has(file)) return;
		const source = readFileSync(example(file), "utf8");
		files.set(file, source);
		for (const [, path = ""] of source.matchAll(/(?:from|import\() ?"(\.[^"]+)\.js"/g))
			add(join(dirname(file), `${path}.ts`));
	};
	add(`${name}.ts`);
	return Object.fromEntries([...files].map(([file, source]) => [`hooks/${file}`, source]));
}

/** These come from the registry, the others from directories: an installation with npm takes a second. */
const PUBLISHED = ["pin", "question", "sandbox"];

test("every example, installed as a package, registers the same as with --hook", async () => {
	const registry = await startNpmRegistry();
	const [cwd, home, local] = [tempDir("pi-project-"), tempDir("pi-home-"), tempDir("pi-local-")];
	const agentDir = tempAgentDir({
		// A file name does not grant anything to a package, so it is named by its path as well.
		settings: {
			hookGrants: {
				"task-reminder.ts": ["systemItems"],
				[`${local}/task-reminder/hooks/task-reminder.ts`]: ["systemItems"],
			},
		},
	});
	const env = { PATH: process.env.PATH ?? "", PI_CODING_AGENT_DIR: agentDir, HOME: home, ...registry.env };
	const paths = findPaths(env, cwd, home);
	for (const name of NAMES) {
		const manifest = {
			name: `pi-example-${name}`,
			keywords: ["pi-package"],
			peerDependencies: { "@mariozechner/pi-coding-agent": "*" },
			// Without the examples that it imports.
			pi: { hooks: [`hooks/${name}.ts`] },
		};
		const isPublished = PUBLISHED.includes(name);
		if (isPublished) registry.publish(definePackage(manifest, filesOf(name)));
		else writeFiles(join(local, name), { "package.json": manifest, ...filesOf(name) });
		const manager = new PackageManager({ paths, env, settings: new SettingsStore(paths) });
		const source = isPublished ? `npm:pi-example-${name}` : join(local, name);
		expect(await manager.install(source, "user")).toMatchObject({ brings: "1 hook", dependencies: 0 });
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
}, 120_000);
