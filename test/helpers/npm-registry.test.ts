import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isObject, parseJson } from "./json.js";
import { type NpmRegistry, startNpmRegistry } from "./npm-registry.js";
import { definePackage, writePackage } from "./package-files.js";
import { tempDir } from "./temp.js";

const DEMO = definePackage(
	{ name: "demo", dependencies: { "@scope/part": "^1.0.0" } },
	{ "index.js": "exports.demo = 1;\n" },
);
const PART = definePackage({ name: "@scope/part", version: "1.2.0" }, { "lib/part.js": "exports.part = 1;\n" });

/** Runs the real npm. @returns its exit code and what it printed */
async function npm(registry: NpmRegistry, cwd: string, ...args: string[]) {
	const env = { PATH: process.env.PATH, HOME: tempDir("pi-home-"), ...registry.env };
	const options = ["--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=0", "--fetch-timeout=3000"];
	try {
		const { stdout } = await promisify(execFile)("npm", [...args, ...options], { cwd, env });
		return { code: 0, output: stdout };
	} catch (error) {
		if (!isObject(error)) throw error;
		return { code: error.code, output: `${error.stdout}${error.stderr}` };
	}
}

test("npm installs a package and its dependencies, with integrities in the lock file", async () => {
	const registry = await startNpmRegistry();
	const integrities = { demo: registry.publish(DEMO), part: registry.publish(PART) };
	const cwd = tempDir();
	expect(await npm(registry, cwd, "install", "demo")).toMatchObject({ code: 0 });
	expect(readFileSync(join(cwd, "node_modules/demo/index.js"), "utf8")).toBe("exports.demo = 1;\n");
	expect(existsSync(join(cwd, "node_modules/@scope/part/lib/part.js"))).toBe(true);
	expect(parseJson(readFileSync(join(cwd, "package-lock.json"), "utf8"))).toMatchObject({
		packages: {
			"node_modules/demo": {
				version: "1.0.0",
				resolved: `${registry.url}demo/-/demo-1.0.0.tgz`,
				integrity: integrities.demo,
			},
			"node_modules/@scope/part": { version: "1.2.0", integrity: integrities.part },
		},
	});
	expect([...registry.requests].sort()).toEqual([
		"GET /@scope/part",
		"GET /@scope/part/-/part-1.2.0.tgz",
		"GET /demo",
		"GET /demo/-/demo-1.0.0.tgz",
	]);
});

test("npm finds a version by number, by range and by tag", async () => {
	const registry = await startNpmRegistry();
	for (const version of ["1.0.0", "1.1.0", "2.0.0"]) registry.publish(definePackage({ name: "demo", version }, {}));
	registry.publish(definePackage({ name: "demo", version: "3.0.0-rc.1" }, {}), "next");
	const versions = await Promise.all(
		["demo", "demo@1", "demo@1.0.0", "demo@next"].map(async (spec) => {
			const { output } = await npm(registry, tempDir(), "view", spec, "version", "--json");
			return parseJson(output);
		}),
	);
	expect(versions).toEqual(["2.0.0", ["1.0.0", "1.1.0"], "1.0.0", "3.0.0-rc.1"]);
	registry.unpublish("demo", "2.0.0");
	expect((await npm(registry, tempDir(), "install", "demo@2.0.0")).output).toContain("ETARGET");
	expect((await npm(registry, tempDir(), "install", "missing")).output).toContain("E404");
});

test("npm packs and installs what a directory contains", async () => {
	const registry = await startNpmRegistry();
	const dir = tempDir();
	writePackage(dir, {
		...DEMO.files,
		"bin/run.sh": { program: "#!/bin/sh\n" },
		"package.json": { json: { name: "demo", version: "0.1.0" } },
	});
	registry.publishDirectory(dir);
	const cwd = tempDir();
	expect(await npm(registry, cwd, "install", "demo@0.1.0")).toMatchObject({ code: 0 });
	expect(readFileSync(join(cwd, "node_modules/demo/bin/run.sh"), "utf8")).toBe("#!/bin/sh\n");
});

test("npm refuses a tarball that does not match its integrity", async () => {
	const registry = await startNpmRegistry();
	registry.publish(PART);
	registry.tamper({ ...PART, files: { ...PART.files, "lib/part.js": "exports.part = 2;\n" } });
	const cwd = tempDir();
	const { code, output } = await npm(registry, cwd, "install", "@scope/part");
	expect([code, output]).toEqual([1, expect.stringContaining("EINTEGRITY")]);
	expect(existsSync(join(cwd, "node_modules/@scope/part"))).toBe(false);
});

const FAULTS = [
	["versions", { status: 503 }, "E503"],
	["versions", "garbage", "invalid json"],
	["versions", "cut", "npm error"],
	["versions", "silent", "ETIMEDOUT|FETCH_ERROR|timeout"],
	["tarball", { status: 404 }, "E404"],
	["tarball", "garbage", "EINTEGRITY"],
	["tarball", "cut", "npm error"],
] as const;

test("npm reports how each request fails, and installs the package once it succeeds", async () => {
	const registry = await startNpmRegistry();
	const faults = FAULTS.map(([what, fault, reason], index) => ({ name: `@scope/part-${index}`, what, fault, reason }));
	for (const { name } of faults) registry.publish(definePackage({ name, version: "1.0.0" }, {}));
	for (const { name, what, fault, reason } of faults) {
		registry.fail(name, what, fault);
		const { code, output } = await npm(registry, tempDir(), "install", name);
		expect(code, name).not.toBe(0);
		expect(output, name).toMatch(new RegExp(reason));
		registry.fail(name, what, undefined);
	}
	const cwd = tempDir();
	const names = faults.map(({ name }) => name);
	expect(await npm(registry, cwd, "install", ...names)).toMatchObject({ code: 0 });
	expect(names.filter((name) => !existsSync(join(cwd, "node_modules", name)))).toEqual([]);
}, 60_000);

test("npm waits for a slow answer", async () => {
	const registry = await startNpmRegistry();
	registry.publish(PART);
	registry.fail("@scope/part", "tarball", { delayMs: 500 });
	const start = performance.now();
	expect(await npm(registry, tempDir(), "install", "@scope/part")).toMatchObject({ code: 0 });
	expect(performance.now() - start).toBeGreaterThan(500);
});

test("npm reads the registry from the home directory, too", async () => {
	const registry = await startNpmRegistry();
	registry.publish(PART);
	const home = tempDir("pi-home-");
	registry.configure(home);
	const env = { PATH: process.env.PATH, HOME: home };
	const { stdout } = await promisify(execFile)("npm", ["view", "@scope/part", "version"], { cwd: tempDir(), env });
	expect(stdout.trim()).toBe("1.2.0");
});
