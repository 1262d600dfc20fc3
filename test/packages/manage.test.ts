import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths as findPaths } from "../../src/config/paths.js";
import { SettingsStore } from "../../src/config/settings-store.js";
import { PiError } from "../../src/errors.js";
import { configuredPackages, scopeFiles } from "../../src/packages/configured.js";
import { loadPackage } from "../../src/packages/load-package.js";
import { readLockFile } from "../../src/packages/lock-file.js";
import { PackageManager, type SavedScope } from "../../src/packages/manage.js";
import { startGitServer } from "../helpers/git-server.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const HOOK = "export default function () {}\n";

/** An empty agent directory and project, and everything that manages packages in them. */
async function place() {
	const registry = await startNpmRegistry();
	const agentDir = tempAgentDir();
	const [cwd, home] = [tempDir(), tempDir()];
	const env = { PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, HOME: home, ...registry.env };
	const paths = findPaths(env, cwd, home);
	const manager = (signal?: AbortSignal) =>
		new PackageManager({ paths, env, settings: new SettingsStore(paths), ...(signal ? { signal } : {}) });
	const lock = (scope: SavedScope = "user") => readLockFile(scopeFiles(scope, paths).lock).packages;
	const load = async () => {
		const { packages } = configuredPackages(new SettingsStore(paths), paths);
		return Promise.all(
			packages.map((one) =>
				loadPackage(one, lock(one.scope === "project" ? "project" : "user").get(one.name), {
					store: paths.packages,
					agentDir,
				}),
			),
		);
	};
	const settings = () => JSON.parse(readFileSync(paths.settings, "utf8"));
	const stored = () => (existsSync(paths.packages) ? readdirSync(paths.packages) : []);
	return { registry, agentDir, cwd, home, env, paths, manager, lock, load, settings, stored };
}

const demo = (version = "1.0.0", more: Record<string, unknown> = {}, files: Record<string, string> = {}) =>
	definePackage({ name: "demo", version, ...more }, { "hooks/hello.ts": HOOK, "skills/s/SKILL.md": "---\n", ...files });

async function failure(work: Promise<unknown>): Promise<string> {
	const error: unknown = await work.then(
		() => null,
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof PiError)) throw new Error(`Expected a PiError, not ${String(error)}`);
	return `${error.message}${error.hint ? ` · ${error.hint}` : ""}`;
}

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

describe("pi install git:", () => {
	test("installs a branch, tag or commit with its dependencies, and locks the commit", async () => {
		const { registry, env, paths, lock, settings } = await place();
		const server = await startGitServer();
		const repository = await server.create("ada/demo");
		registry.publish(definePackage({ name: "left", version: "1.0.0" }, { "index.js": "" }));
		const manifest = { name: "demo", version: "2.0.0", dependencies: { left: "1", "@mariozechner/pi-ai": "*" } };
		const first = await repository.commit({ "package.json": { json: manifest }, "hooks/one.ts": HOOK });
		await repository.tag("v1");
		await repository.commit({ "package.json": { json: manifest }, "hooks/two.ts": HOOK });
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		for (const ref of ["@v1", `@${first}`, ""]) {
			const change = await manager.install(`git:${repository.url}${ref}`, "user");
			expect(change).toMatchObject({ brings: "1 hook", dependencies: 1 });
			expect(lock().get(change.name)?.commit === first).toBe(ref !== "");
			expect(settings()).toEqual({ packages: [`git:${repository.url}${ref}`] });
		}
		const [locked] = [...lock().values()];
		expect(Object.keys(locked?.files ?? {})).toEqual(["hooks/two.ts", "package.json"]);
		expect(existsSync(join(paths.packages, locked?.dir ?? "", "package", ".git"))).toBe(false);
		expect(locked?.dependencies).toMatchObject({ "node_modules/left": { version: "1.0.0" } });
	});

	test("runs no hooks of git, fetches no submodules and reads no npm configuration of the repository", async () => {
		const { env, paths, lock, cwd } = await place();
		const server = await startGitServer();
		const repository = await server.create("demo");
		const mark = join(cwd, "ran");
		await repository.commit({
			"hooks/one.ts": HOOK,
			".npmrc": `git=${mark}\nignore-scripts=false\n`,
			".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ${mark}"\n`,
			".gitattributes": "*.ts filter=evil\n",
			"package.json": { json: { name: "demo", version: "1.0.0", scripts: { prepare: `touch ${mark}` } } },
		});
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		await manager.install(`git:${repository.url}`, "user");
		expect([...lock().values()]).toHaveLength(1);
		expect(existsSync(mark)).toBe(false);
	});

	test("reports what is missing in one line, and changes nothing", async () => {
		const { env, paths, stored } = await place();
		const server = await startGitServer();
		const repository = await server.create("demo");
		await repository.commit({ "hooks/one.ts": HOOK });
		const other = (variables: Record<string, string> = {}) =>
			new PackageManager({ paths, env: { ...env, ...server.env, ...variables }, settings: new SettingsStore(paths) });
		const address = `git:${repository.url}`;
		const lines = [
			await failure(other().install(`${address}@v9`, "user")),
			await failure(other().install(`git:${server.url}/other.git`, "user")),
			await failure(other().install("git:http://127.0.0.1:9/x.git", "user")),
			await failure(other({ PATH: tempDir() }).install(address, "user")),
		];
		expect(lines).toEqual([
			`Cannot install ${address}: it has no branch, tag or commit v9 · check the part after @`,
			`Cannot install git:${server.url}/other.git: there is no such repository, or you have no access · check the address and your access`,
			"Cannot install git:http://127.0.0.1:9/x.git: the server cannot be reached · check the network and the proxy",
			"git is not installed, or not in PATH · install git",
		]);
		expect(stored()).toEqual([]);
	});

	test("refuses dependencies that are not in a registry", async () => {
		const { env, paths } = await place();
		const server = await startGitServer();
		const repository = await server.create("demo");
		const manifest = { name: "demo", version: "1.0.0", dependencies: { left: "git+ssh://git@example.com/left.git" } };
		await repository.commit({ "hooks/one.ts": HOOK, "package.json": { json: manifest } });
		const manager = new PackageManager({ paths, env: { ...env, ...server.env }, settings: new SettingsStore(paths) });
		expect(await failure(manager.install(`git:${repository.url}`, "user"))).toMatch(
			/^It depends on left at git\+ssh:\/\/git@example.com\/left.git, which is not in a registry/,
		);
	});
});

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

	test("a settings file that cannot be read is reported before anything is downloaded", async () => {
		const { registry, manager, paths, stored } = await place();
		registry.publish(demo());
		writeFileSync(paths.settings, "{ packages");
		expect(await failure(manager().install("npm:demo", "user"))).toMatch(/settings\.json:1:3/);
		expect([stored(), registry.requests]).toEqual([[], []]);
	});
});

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
