import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SettingsStore } from "../../src/config/settings-store.js";
import { PackageManager } from "../../src/packages/package-manager.js";
import type { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import { tempDir } from "../helpers/temp.js";
import { demo, failure, HOOK, place } from "./place.js";

describe("pi install npm:", () => {
	test("installs a version with its dependencies, locks versions and digests, and adds the source to the settings", async () => {
		const { registry, manager, lock, load, settings, stored, paths } = await place();
		registry.publish(definePackage({ name: "left", version: "1.3.0" }, { "index.js": "module.exports = 1;\n" }));
		const integrity = registry.publish(demo("1.2.0", { dependencies: { left: "^1.0.0" } }));
		expect(await manager().install("npm:demo@^1", "user")).toEqual({
			name: "npm:demo",
			scope: "user",
			before: null,
			now: "1.2.0",
			brings: "1 hook, 1 skill",
			dependencies: 1,
			isChanged: true,
			bench: null,
		});
		expect(settings()).toEqual({ packages: ["npm:demo@^1"] });
		const locked = lock().get("npm:demo");
		expect(locked).toMatchObject({ version: "1.2.0", integrity });
		expect(Object.keys(locked?.files ?? {})).toEqual(["hooks/hello.ts", "package.json", "skills/s/SKILL.md"]);
		expect(locked?.dependencies).toEqual({
			"node_modules/left": {
				version: "1.3.0",
				integrity: expect.stringMatching(/^sha512-/),
				sha256: expect.any(String),
			},
		});
		expect(stored()).toEqual([locked?.dir]);
		expect(readdirSync(join(paths.packages, locked?.dir ?? "")).sort()).toEqual(["node_modules", "package"]);
		const [loaded] = await load();
		expect(loaded).toMatchObject({
			version: "1.2.0",
			resources: { hooks: ["hooks/hello.ts"], skills: ["skills/s/SKILL.md"], tools: [] },
			dependencies: [{ rel: "node_modules/left", title: "node_modules/left 1.3.0" }],
		});
	});

	test("runs no install script, of the package or of a dependency", async () => {
		const { registry, manager, cwd, home, agentDir } = await place();
		const mark = join(cwd, "ran");
		const scripts = Object.fromEntries(
			["preinstall", "install", "postinstall", "prepare"].map((name) => [name, `touch ${mark}`]),
		);
		registry.publish(definePackage({ name: "left", version: "1.0.0", scripts }, { "index.js": "" }));
		registry.publish(demo("1.0.0", { scripts, dependencies: { left: "1" } }));
		await manager().install("npm:demo", "user");
		expect([existsSync(mark), readdirSync(home), readdirSync(agentDir).sort()]).toEqual([
			false,
			[],
			["packages", "packages.lock.json", "settings.json"],
		]);
	});

	test("does not install pi again for a package that depends on it, nor its peers", async () => {
		const { registry, manager, lock, paths } = await place();
		registry.publish(
			demo("1.0.0", {
				dependencies: { "@mariozechner/pi-ai": "*", typebox: "*" },
				peerDependencies: { "@earendil-works/pi-coding-agent": "*" },
			}),
		);
		registry.publish(definePackage({ name: "typebox", version: "1.0.0" }, { "index.js": "" }));
		await manager().install("npm:demo", "user");
		expect(lock().get("npm:demo")?.dependencies).toEqual({});
		expect(registry.requests.filter((line) => line.includes("pi-"))).toEqual([]);
		expect(existsSync(join(paths.packages, lock().get("npm:demo")?.dir ?? "", "node_modules", "typebox"))).toBe(false);
	});

	test("keeps a dependency that the package has in another version than its dependencies", async () => {
		const { registry, manager, lock, load } = await place();
		for (const version of ["1.0.0", "2.0.0"]) {
			registry.publish(definePackage({ name: "left", version }, { "index.js": version }));
		}
		registry.publish(
			definePackage({ name: "right", version: "1.0.0", dependencies: { left: "1" } }, { "index.js": "" }),
		);
		registry.publish(demo("1.0.0", { dependencies: { left: "2", right: "1" } }));
		await manager().install("npm:demo", "user");
		const dependencies = lock().get("npm:demo")?.dependencies ?? {};
		const versions = Object.entries(dependencies).map(([name, { version }]) => `${name} ${version}`);
		expect(versions.some((line) => line.endsWith("left 2.0.0"))).toBe(true);
		expect(await load()).toMatchObject([{ version: "1.0.0" }]);
	});

	test.each<[string, (registry: Awaited<ReturnType<typeof startNpmRegistry>>) => string, string]>([
		[
			"a missing package",
			() => "npm:nothing",
			"Cannot install npm:nothing: the registry has no package nothing · check the name and the registry",
		],
		[
			"a missing version",
			(registry) => {
				registry.publish(demo());
				return "npm:demo@9";
			},
			"Cannot install npm:demo: there is no matching version: demo@9 · npm view <name> versions lists all",
		],
		[
			"an archive with other bytes",
			(registry) => {
				registry.publish(demo());
				registry.tamper(demo("1.0.0", {}, { "hooks/evil.ts": HOOK }));
				return "npm:demo";
			},
			"Cannot install npm:demo: the downloaded archive does not have the expected integrity · try again, and report it to the registry if it happens again",
		],
		[
			"a package without anything for pi",
			(registry) => {
				registry.publish(definePackage({ name: "demo" }, { "index.js": "" }));
				return "npm:demo";
			},
			"Cannot install npm:demo: it brings no hooks, extensions, tools, agents, skills, prompts or themes · check that it is a package for pi",
		],
		[
			"a part of pi",
			() => "npm:@mariozechner/pi-ai",
			"@mariozechner/pi-ai is a part of pi, which provides it to all packages",
		],
	])("reports %s, and changes nothing", async (_, prepare, line) => {
		const { registry, manager, stored, paths } = await place();
		const source = prepare(registry);
		expect(await failure(manager().install(source, "user"))).toBe(line);
		expect([stored(), existsSync(paths.settings), existsSync(paths.packagesLock)]).toEqual([[], false, false]);
	});

	test("reports a registry that cannot be reached, and a missing npm", async () => {
		const { paths, env, manager } = await place();
		const other = (variables: Record<string, string | undefined>) =>
			new PackageManager({ paths, env: { ...env, ...variables }, settings: new SettingsStore(paths) });
		expect(await failure(other({ npm_config_registry: "http://127.0.0.1:9/" }).install("npm:demo", "user"))).toBe(
			"Cannot install npm:demo: the registry cannot be reached · check the network, the proxy and the registry of npm",
		);
		expect(await failure(other({ PATH: tempDir() }).install("npm:demo", "user"))).toBe(
			"npm is not installed, or not in PATH · install Node.js with npm",
		);
		expect(await failure(manager(AbortSignal.abort()).install("npm:demo", "user"))).toBe(
			"The installation was stopped; nothing has changed",
		);
	});
});
