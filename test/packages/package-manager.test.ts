import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { definePackage } from "../helpers/package-files.js";
import { writeFiles } from "../helpers/temp.js";
import { demo, failure, HOOK, place } from "./place.js";

describe("pi install <path>", () => {
	test("adds a directory, which stays where it is, and says what is missing in one that does not exist", async () => {
		const { manager, settings, cwd, load, stored, lock } = await place();
		writeFiles(cwd, { "tools/kit/hooks/a.ts": HOOK });
		expect(await manager().install("./tools/kit", "user")).toMatchObject({
			name: join(cwd, "tools/kit"),
			brings: "1 hook",
		});
		expect(settings()).toEqual({ packages: [join(cwd, "tools/kit")] });
		expect(await load()).toMatchObject([{ resources: { hooks: ["a.ts"].map((name) => `hooks/${name}`) } }]);
		expect([stored(), [...lock()]]).toEqual([[], []]);
		expect(await failure(manager().install("./nothing", "user"))).toBe(
			`Cannot install ${join(cwd, "nothing")}: the directory does not exist · use npm:<name>, git:<url> or the path of a directory`,
		);
	});

	test("is relative to the project with --local", async () => {
		const { manager, cwd, paths } = await place();
		writeFiles(cwd, { "kit/hooks/a.ts": HOOK });
		await manager().install("kit", "project");
		expect(JSON.parse(readFileSync(paths.project.settings, "utf8"))).toEqual({ packages: ["./kit"] });
	});
});

describe("pi update and pi remove", () => {
	test("installs the newest version that the settings allow, keeps filters, and removes everything", async () => {
		const { registry, manager, settings, stored, lock, paths } = await place();
		registry.publish(demo("1.0.0"));
		await manager().install("npm:demo@^1", "user");
		writeFileSync(paths.settings, JSON.stringify({ theme: "dark", packages: [{ source: "npm:demo@^1", skills: [] }] }));
		expect(await manager().update(undefined, "user")).toMatchObject([
			{ before: "1.0.0", now: "1.0.0", isChanged: false },
		]);
		registry.publish(demo("1.1.0", {}, { "hooks/more.ts": HOOK }));
		registry.publish(demo("2.0.0"));
		expect(await manager().update("demo", "user")).toMatchObject([{ before: "1.0.0", now: "1.1.0", isChanged: true }]);
		await manager().install("npm:demo@2", "user");
		expect(settings()).toEqual({ theme: "dark", packages: [{ source: "npm:demo@2", skills: [] }] });
		expect(await failure(manager().remove("dema", "user"))).toBe(
			"No package dema is installed for all projects · did you mean demo?",
		);
		const { dir = "" } = lock().get("npm:demo") ?? {};
		expect(await manager().remove("demo", "user")).toMatchObject({ name: "npm:demo" });
		expect([settings(), [...lock()], stored().includes(dir)]).toEqual([{ theme: "dark" }, [], false]);
	});

	test("pi remove removes what was not used for a month, but no other version and nothing that is locked", async () => {
		const { registry, manager, lock, stored, paths } = await place();
		const dirs: string[] = [];
		for (const version of ["1.0.0", "1.1.0", "1.2.0"]) {
			registry.publish(demo(version));
			await manager().install(`npm:demo@${version}`, "user");
			dirs.push(lock().get("npm:demo")?.dir ?? "");
		}
		const [unused = "", recent = "", current = ""] = dirs;
		await manager().install("npm:demo@1.2.0", "project");
		const longAgo = new Date(Date.now() - 40 * 24 * 60 * 60 * 1000);
		utimesSync(join(paths.packages, unused), longAgo, longAgo);
		const left = () => [unused, recent, current].map((dir) => stored().includes(dir));
		await manager().remove("demo", "user");
		expect(left()).toEqual([false, true, true]);
		await manager().remove("demo", "project");
		expect(left()).toEqual([false, true, false]);
	});

	test("a settings file that cannot be read is reported before anything is downloaded", async () => {
		const { registry, manager, paths, stored } = await place();
		registry.publish(demo());
		writeFileSync(paths.settings, "{ packages");
		expect(await failure(manager().install("npm:demo", "user"))).toMatch(/settings\.json:1:3/);
		expect([stored(), registry.requests]).toEqual([[], []]);
	});
});

test("a directory that cannot be written is named with what to do, and nothing has changed", async () => {
	const { registry, manager, paths } = await place();
	registry.publish(demo());
	writeFileSync(paths.packages, "");
	expect(await failure(manager().install("npm:demo", "user"))).toBe(
		`Cannot write to ${paths.packages} · check its permissions, or set PI_CODING_AGENT_DIR to another directory`,
	);
	expect([registry.requests, existsSync(paths.settings)]).toEqual([[], false]);
});

test("two installations at the same time wait for each other, and leftovers of an interrupted one are removed", async () => {
	const { registry, manager, stored, lock, paths } = await place();
	registry.publish(demo());
	registry.publish(definePackage({ name: "other" }, { "hooks/o.ts": HOOK }));
	writeFiles(paths.packages, { ".new-left/package/hooks/half.ts": HOOK });
	await Promise.all([manager().install("npm:demo", "user"), manager().install("npm:other", "user")]);
	expect(stored().sort()).toEqual([...lock().values()].map(({ dir }) => dir).sort());
	expect(JSON.parse(readFileSync(paths.settings, "utf8")).packages.sort()).toEqual(["npm:demo", "npm:other"]);
});

test("a package with 200 dependencies is locked completely, and read again in little time", async () => {
	const { registry, manager, lock, load } = await place();
	const names = Array.from({ length: 200 }, (_, at) => `dep-${at}`);
	for (const name of names)
		registry.publish(definePackage({ name, version: "1.0.0" }, { "index.js": name, "lib/a.js": "" }));
	registry.publish(demo("1.0.0", { dependencies: Object.fromEntries(names.map((name) => [name, "1"])) }));
	await manager().install("npm:demo", "user");
	expect(Object.keys(lock().get("npm:demo")?.dependencies ?? {})).toHaveLength(200);
	await load();
	const begun = performance.now();
	expect(await load()).toMatchObject([{ version: "1.0.0" }]);
	expect(performance.now() - begun).toBeLessThan(1000);
});
