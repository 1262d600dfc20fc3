import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createHookTest, type HookTestOptions, toolCall } from "../../src/testing/index.js";
import { type Attack, hostilePackage } from "../fixtures/hostile-packages.js";
import {
	packageOf,
	packageOfAll,
	packageWithDependencies,
	packageWithScripts,
	RESOURCE_KINDS,
	tamperedPackage,
} from "../fixtures/packages.js";
import { startGitServer } from "./git-server.js";
import { type NpmRegistry, startNpmRegistry } from "./npm-registry.js";
import { readPackage, writePackage } from "./package-files.js";
import { tempDir } from "./temp.js";

const ATTACKS = ["paths", "links", "names", "size", "outside", "programs", "configuration", "own copies"] as const;

/** Installs packages into an empty directory with the real npm. @returns the directory */
async function install(registry: NpmRegistry, names: readonly string[], ...options: string[]): Promise<string> {
	const cwd = join(tempDir(), "a/b/c/d");
	writePackage(cwd, { "package.json": { json: { name: "consumer", private: true } } });
	const env = { PATH: process.env.PATH, HOME: tempDir("pi-home-"), ...registry.env };
	const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--legacy-peer-deps"];
	await promisify(execFile)("npm", ["install", ...names, ...quiet, ...options], { cwd, env });
	return cwd;
}

async function tryHook(options: HookTestOptions) {
	const t = await createHookTest(options);
	onTestFinished(() => t.dispose());
	return t;
}

function filesOf(dir: string): string[] {
	return Object.keys(readPackage(dir).files).sort();
}

test("npm installs a package of each kind with its files", async () => {
	const registry = await startNpmRegistry();
	const packages = [
		...RESOURCE_KINDS.map((kind) => packageOf(kind)),
		packageOfAll(),
		packageOfAll({ name: "pi-listed", listed: true }),
	];
	for (const fixture of packages) registry.publish(fixture);
	const cwd = await install(
		registry,
		packages.map(({ name }) => name),
	);
	for (const { name, files } of packages) {
		expect(filesOf(join(cwd, "node_modules", name))).toEqual(Object.keys(files).sort());
	}
});

test("the hook, the extension and the tool of the packages work", async () => {
	const dir = tempDir();
	writePackage(dir, packageOfAll().files);
	const t = await tryHook({
		hooks: [join(dir, "hooks/demo-hook.ts")],
		extensions: [join(dir, "extensions/demo-extension.ts")],
		settings: { customTools: [join(dir, "tools/demo/index.ts")] },
		replies: [toolCall("demo_tool", { text: "ab" }), "done"],
	});
	expect(await t.run("/demo-hook")).toMatchObject({ status: "The hook works" });
	await t.run("/demo-extension");
	await t.run("go");
	expect(t.requests[1]?.messages.at(-1)).toEqual({ role: "toolResult", text: "abab" });
	expect([t.notices, t.errors]).toEqual([["The hook works", "The extension works"], []]);
});

test("npm installs 200 dependencies, and the hook adds their numbers", async () => {
	const registry = await startNpmRegistry();
	const { fixture, dependencies, sum } = packageWithDependencies();
	for (const each of [fixture, ...dependencies]) registry.publish(each);
	const cwd = await install(registry, [fixture.name]);
	expect(readdirSync(join(cwd, "node_modules")).filter((name) => name.startsWith("pi-part-"))).toHaveLength(200);
	const t = await tryHook({ hooks: [join(cwd, "node_modules", fixture.name, "hooks/sum.ts")] });
	expect(await t.run("/sum")).toMatchObject({ status: String(sum) });
}, 60_000);

test("the scripts of a package write markers when npm runs them, and none when it does not", async () => {
	const markers = tempDir();
	const { fixture, dependency } = packageWithScripts(join(markers, "ran"));
	const registry = await startNpmRegistry();
	for (const each of [fixture, dependency]) registry.publish(each);
	await install(registry, [fixture.name], "--ignore-scripts");
	expect(readdirSync(markers)).toEqual([]);
	await install(registry, [fixture.name], "--ignore-scripts=false", "--dangerously-allow-all-scripts");
	expect(readdirSync(markers)).toEqual(
		expect.arrayContaining(["ran.package-postinstall", "ran.dependency-preinstall"]),
	);
}, 60_000);

test("the tampered hook writes its marker when it loads", async () => {
	const dir = tempDir();
	const marker = join(dir, "marker");
	const { original, tampered } = tamperedPackage(marker);
	writePackage(dir, original.files);
	const hooks = [join(dir, "hooks/demo-hook.ts")];
	await (await tryHook({ hooks })).run("/demo-hook");
	expect(existsSync(marker)).toBe(false);
	writePackage(dir, tampered.files);
	await (await tryHook({ hooks })).run("/demo-hook");
	expect(readFileSync(marker, "utf8")).toBe("ran");
});

/** The files of hostile packages that npm does not install: it drops links, and paths that leave the package. */
const DROPPED: Partial<Record<Attack, string[]>> = {
	paths: ["../../../../escaped.txt", "hooks/../../../../../escaped.ts"],
	links: ["hooks/absolute.ts", "hooks/relative.ts", "prompts/secret.md", "skills"],
};

test("npm installs the hostile packages without running anything", async () => {
	const outside = tempDir();
	const registry = await startNpmRegistry();
	const packages = ATTACKS.map((attack) => ({ attack, fixture: hostilePackage(attack, join(outside, "marker")) }));
	const parts = packageWithDependencies().dependencies.slice(0, 5);
	for (const fixture of [...packages.map(({ fixture }) => fixture), ...parts]) registry.publish(fixture);
	const names = packages.map(({ fixture }) => fixture.name);
	const cwd = await install(registry, names, "--ignore-scripts");
	for (const { attack, fixture } of packages) {
		const dir = join(cwd, "node_modules", fixture.name);
		const dropped = DROPPED[attack] ?? [];
		const installed = Object.keys(fixture.files).filter(
			(path) => !dropped.includes(path) && !path.startsWith("node_modules"),
		);
		expect(filesOf(dir), attack).toEqual(expect.arrayContaining(installed));
		expect(existsSync(join(dir, "node_modules/typebox/index.js")), attack).toBe(attack === "own copies");
	}
	const root = dirname(dirname(dirname(dirname(cwd))));
	expect(readdirSync(root)).toEqual(["a"]);
	expect(readdirSync(outside)).toEqual([]);
}, 60_000);

test("npm does not install dependencies that run commands, nor from outside", async () => {
	const outside = tempDir();
	const fixture = hostilePackage("dependencies", join(outside, "marker"));
	const registry = await startNpmRegistry();
	registry.publish(fixture);
	await expect(install(registry, [fixture.name], "--ignore-scripts")).rejects.toThrow("npm error");
	expect(readdirSync(outside)).toEqual([]);
});

test("git clones the hostile packages, and a directory can have their files", async () => {
	const outside = tempDir();
	const server = await startGitServer();
	const env = { PATH: process.env.PATH, ...server.env };
	const cwd = tempDir();
	for (const attack of ["links", "names", "outside", "programs", "configuration"] as const) {
		const { name, files } = hostilePackage(attack, join(outside, "marker"));
		const repository = await server.create(name);
		await repository.commit(files);
		await promisify(execFile)("git", ["clone", "--quiet", repository.url, name], { cwd, env });
		expect(filesOf(join(cwd, name)), attack).toEqual(Object.keys(files).sort());
	}
	expect(readdirSync(outside)).toEqual([]);
}, 60_000);
