import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths as findPaths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { PackageManager } from "../../src/packages/package-manager.js";
import { definePackage } from "../helpers/package-files.js";
import { writeFiles } from "../helpers/temp.js";
import { demo, failure, HOOK, place } from "./place.js";

describe("the lock file", () => {
	test.each<[string, (dir: string) => void, RegExp]>([
		["a changed file", (dir) => writeFileSync(join(dir, "package/hooks/hello.ts"), "evil"), /: hooks\/hello\.ts · /],
		["an added file", (dir) => writeFiles(dir, { "package/hooks/evil.ts": HOOK }), /: hooks\/evil\.ts · /],
		[
			"a changed dependency",
			(dir) => writeFileSync(join(dir, "node_modules/left/index.js"), "evil"),
			/: node_modules\/left · /,
		],
		["an added dependency", (dir) => writeFiles(dir, { "node_modules/evil/index.js": "" }), /: node_modules\/evil · /],
		[
			"an own dependency",
			(dir) => writeFiles(dir, { "package/node_modules/evil/index.js": "" }),
			/: package\/node_modules\/evil · /,
		],
	])("names %s, and pi install restores the package", async (_, tamper, line) => {
		const { registry, manager, lock, load, paths } = await place();
		registry.publish(definePackage({ name: "left", version: "1.0.0" }, { "index.js": "" }));
		registry.publish(demo("1.0.0", { dependencies: { left: "1" } }));
		await manager().install("npm:demo", "user");
		registry.publish(definePackage({ name: "left", version: "1.1.0" }, { "index.js": "" }));
		expect(await load()).toMatchObject([{ version: "1.0.0" }]);
		tamper(join(paths.packages, lock().get("npm:demo")?.dir ?? ""));
		const [problem] = await load();
		expect(problem).toMatch(/^Package npm:demo was not loaded: it differs from packages\.lock\.json/);
		expect(problem).toMatch(line);
		expect(await manager().restore("user")).toMatchObject([{ now: "1.0.0", dependencies: 1 }]);
		expect(await load()).toMatchObject([{ dependencies: [{ title: "node_modules/left 1.0.0" }] }]);
	});

	test("installs the same versions for everybody who uses a project, or nothing", async () => {
		const { registry, manager, lock, paths, cwd } = await place();
		registry.publish(definePackage({ name: "left", version: "1.0.0" }, { "index.js": "" }));
		registry.publish(demo("1.0.0", { dependencies: { left: "1" } }));
		await manager().install("npm:demo", "project");
		registry.publish(definePackage({ name: "left", version: "1.1.0" }, { "index.js": "" }));
		registry.publish(demo("1.1.0", { dependencies: { left: "1" } }));
		const other = await place();
		const theirs = findPaths(other.env, cwd, other.home);
		const fresh = new PackageManager({
			paths: theirs,
			env: { ...other.env, ...registry.env },
			settings: new SettingsStore(theirs),
		});
		const { dir } = lock("project").get("npm:demo") ?? {};
		expect(await fresh.restore("project")).toMatchObject([{ now: "1.0.0" }]);
		expect(readdirSync(theirs.packages)).toEqual([dir]);
		const text = readFileSync(paths.project.packagesLock, "utf8");
		writeFileSync(paths.project.packagesLock, text.replace(/"hooks\/hello.ts": "\w/, '"hooks/hello.ts": "x'));
		expect(await failure(fresh.restore("project"))).toBe(
			"npm:demo differs from packages.lock.json: hooks/hello.ts · nothing was installed · pi update installs and locks another version",
		);
	});

	test("names no directory outside of the packages", async () => {
		const { paths, lock } = await place();
		const entry = { resolved: "x", files: {}, dependencies: {} };
		const packages = { "npm:a": { ...entry, dir: "../../x" }, "npm:b": { ...entry, dir: "b" }, "npm:c": 1 };
		writeFiles(paths.agentDir, { "packages.lock.json": { version: 1, packages } });
		expect([...lock().keys()]).toEqual(["npm:b"]);
	});
});
