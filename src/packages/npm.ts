import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../config/json-file.js";
import { PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";
import { type ProgramOptions, runProgram } from "./run-program.js";

/** What npm installed, from its package-lock.json. */
export interface NpmResult {
	/** `packages` of package-lock.json: by path from the directory. */
	packages: JsonObject;
}

/** Names of pi's own packages: packages import them from the running program. */
const OWN_PACKAGES = ["@mariozechner", "@earendil-works"].flatMap((scope) =>
	["pi-ai", "pi-tui", "pi-agent-core", "pi-coding-agent"].map((name) => `${scope}/${name}`),
);
/** Packages that pi provides as well, and that other dependencies may need in a version of their own. */
const PROVIDED = ["typebox", "@sinclair/typebox"];

/** npm's `--git`: dependencies in git repositories could run scripts while npm prepares them. */
const NO_GIT = "pi-installs-no-git-dependencies";

const FLAGS = [
	"--ignore-scripts",
	"--no-audit",
	"--no-fund",
	"--no-update-notifier",
	"--omit=dev",
	// Peer dependencies are pi's packages, which the running program provides.
	"--legacy-peer-deps",
	"--no-bin-links",
	"--install-strategy=hoisted",
	"--no-global",
	"--fetch-retries=1",
	"--fetch-retry-mintimeout=500",
	"--loglevel=error",
	`--git=${NO_GIT}`,
];

/** True for a package that is a part of pi. */
export function isOwnPackage(name: string): boolean {
	return OWN_PACKAGES.includes(name) || PROVIDED.includes(name);
}

/**
 * Installs packages into `node_modules` of a directory with the npm of this machine. Install scripts never run, and pi's own
 * packages are not installed.
 * @param dependencies versions, ranges or tags by name
 * @param locked `packages` of an earlier result: exactly these versions are installed
 * @throws PiError `package_failed` with the reason in one sentence
 */
export async function installWithNpm(
	what: string,
	dependencies: Readonly<Record<string, string>>,
	{ locked, ...options }: ProgramOptions & { locked?: JsonObject },
): Promise<NpmResult> {
	const { cwd } = options;
	const stub = join(cwd, ".own");
	mkdirSync(stub, { recursive: true });
	writeJson(join(stub, "package.json"), { name: "provided-by-pi", version: "0.0.0" });
	// npm finds these instead of downloading pi again for a package that has it among its dependencies.
	const overrides = Object.fromEntries(OWN_PACKAGES.map((name) => [name, "file:./.own"]));
	const manifest = { name: "pi-package", private: true, dependencies, overrides };
	writeJson(join(cwd, "package.json"), manifest);
	if (locked) writeJson(join(cwd, "package-lock.json"), { ...manifest, lockfileVersion: 3, packages: locked });
	const result = await runProgram("npm", [locked ? "ci" : "install", ...FLAGS], options);
	if (result.code !== 0) throw describeFailure(what, `${result.stderr}\n${result.stdout}`);
	const lock = readJson(join(cwd, "package-lock.json"));
	const packages = isRecord(lock.packages) ? lock.packages : {};
	for (const name of OWN_PACKAGES) rmSync(join(cwd, "node_modules", name), { recursive: true, force: true });
	for (const name of PROVIDED) {
		if (!isNeeded(name, packages, Object.keys(dependencies))) {
			rmSync(join(cwd, "node_modules", name), { recursive: true, force: true });
		}
	}
	for (const file of ["package.json", "package-lock.json", ".own", "node_modules/.package-lock.json"]) {
		rmSync(join(cwd, file), { recursive: true, force: true });
	}
	return { packages };
}

/** Version, address and integrity of an installed package. @param path such as `node_modules/left-pad` */
export function installedAs(packages: JsonObject, path: string) {
	const entry = packages[path];
	const text = (name: string) => {
		const value = isRecord(entry) ? entry[name] : undefined;
		return typeof value === "string" ? value : undefined;
	};
	return { version: text("version"), resolved: text("resolved"), integrity: text("integrity") };
}

/** True if a package other than the installed one itself depends on a package that pi provides. */
function isNeeded(name: string, packages: JsonObject, direct: readonly string[]): boolean {
	return Object.entries(packages).some(([path, entry]) => {
		const isRoot = path === "" || direct.some((own) => path === `node_modules/${own}`);
		const own = isRecord(entry) && isRecord(entry.dependencies) ? entry.dependencies : {};
		return !isRoot && Object.hasOwn(own, name);
	});
}

const NETWORK =
	/\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;

function describeFailure(what: string, output: string): PiError {
	const code = /npm (?:error|ERR!) code (\S+)/.exec(output)?.[1] ?? "";
	const fail = (reason: string, hint: string) =>
		new PiError("package_failed", `Cannot install ${what}: ${reason}`, { hint });
	if (output.includes(NO_GIT)) {
		return fail(
			"it depends on a git repository, which pi does not install",
			"ask its author to publish the dependency",
		);
	}
	if (code === "E404") return fail(describeMissing(output), "check the name and the registry");
	if (code === "ETARGET")
		return fail(`there is no matching version${missingTarget(output)}`, "npm view <name> versions lists all");
	if (code === "EINTEGRITY" || code === "EBADINTEGRITY") {
		return fail(
			"the downloaded archive does not have the expected integrity",
			"try again, and report it to the registry if it happens again",
		);
	}
	if (code === "E401" || code === "E403" || code === "ENEEDAUTH")
		return fail("the registry denies access", "run npm login");
	if (code === "ENOSPC") return fail("the disk is full", "free disk space");
	if (NETWORK.test(code) || NETWORK.test(output)) {
		return fail("the registry cannot be reached", "check the network, the proxy and the registry of npm");
	}
	const lines = output
		.split("\n")
		.flatMap((line) => /^npm (?:error|ERR!) (?!code |A complete log)(\S.*)$/.exec(line)?.[1] ?? []);
	return fail(`npm failed${code ? ` with ${code}` : ""}${lines[0] ? `: ${lines[0]}` : ""}`, "npm install shows more");
}

/** Names the missing package if it is a dependency. */
function describeMissing(output: string): string {
	const address = /404 Not Found - GET (?:https?:\/\/[^/\s]+\/)(\S+)/.exec(output)?.[1];
	const name = address?.replace(/%2f/gi, "/").split("/-/")[0];
	return name === undefined ? "the registry has no such package" : `the registry has no package ${name}`;
}

function missingTarget(output: string): string {
	const target = /No matching version found for (\S+?)\.?(?:\s|$)/.exec(output)?.[1];
	return target === undefined ? "" : `: ${target}`;
}

function writeJson(path: string, value: unknown): void {
	writeFileSync(path, `${JSON.stringify(value, null, "\t")}\n`, { mode: 0o600 });
}

function readJson(path: string): JsonObject {
	if (!existsSync(path)) return {};
	const value: unknown = JSON.parse(readFileSync(path, "utf8"));
	return isRecord(value) ? value : {};
}
