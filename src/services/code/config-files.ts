import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describeError, PiError } from "../../errors.js";
import type { ConfigFile } from "../../hooks/types.js";
import type { AcceptedCode } from "../../trust/gate.js";
import { readRegularFileSync, realPathOrNull } from "../../util/fs.js";
import type { AcceptedPackages } from "./package-code.js";

const MAX_BYTES = 1024 * 1024;

export interface ConfigDirs {
	agentDir: string;
	/** `.pi` of the project. */
	projectDir: string;
	/** The project's files that may be used, or null. */
	accepted: AcceptedCode | null;
	/** The files of packages that may be used. */
	packages: AcceptedPackages | null;
}

/**
 * The files in a directory of the user's configuration and, as far as they were accepted, in that of the project. Without
 * directories below it and hidden files; the user's first, each sorted by name.
 * @throws PiError `bad_arguments` for a name that is not that of a directory
 */
export function findConfigFiles(
	folder: unknown,
	{ agentDir, projectDir, accepted, packages }: ConfigDirs,
): ConfigFile[] {
	if (typeof folder !== "string" || !/^[\w-]+$/.test(folder))
		throw new PiError(
			"bad_arguments",
			`ctx.configFiles expects the name of a directory, not ${JSON.stringify(folder)}`,
		);
	const user = namesIn(join(agentDir, folder)).map((path) => readConfigFile(path, "user", path));
	const ofPackages = folder === "agents" ? (packages?.agents ?? []) : [];
	const project = namesIn(join(projectDir, folder)).flatMap((path) => {
		const real = realPathOrNull(path);
		const copy = real === null ? undefined : accepted?.get(real);
		return copy === undefined || user.some((file) => file.path === path) ? [] : [readConfigFile(path, "project", copy)];
	});
	return [...ofPackages.map(({ path, copy }) => readConfigFile(path, "user", copy)), ...user, ...project];
}

/** True if the project has files in a directory of its configuration, which need the user's trust. */
export function hasConfigFiles(projectDir: string, folder: string): boolean {
	return namesIn(join(projectDir, folder)).length > 0;
}

function namesIn(dir: string): string[] {
	try {
		return readdirSync(dir, { withFileTypes: true })
			.filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
			.map(({ name }) => join(dir, name))
			.sort();
	} catch {
		return []; // it does not exist
	}
}

function readConfigFile(path: string, scope: ConfigFile["scope"], content: string): ConfigFile {
	try {
		return { path, scope, text: readRegularFileSync(content, { maxBytes: MAX_BYTES }).toString("utf8") };
	} catch (error) {
		return { path, scope, text: null, problem: describeError(error) };
	}
}
