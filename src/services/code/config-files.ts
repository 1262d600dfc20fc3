import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findJsonError } from "../../config/json-error.js";
import { describeError, PiError } from "../../errors.js";
import type { ConfigFile } from "../../hooks/types.js";
import { findCommandFiles } from "../../trust/code-files.js";
import type { AcceptedCode } from "../../trust/gate.js";
import type { ServerContext } from "../../trust/server-code.js";
import { readServerFile } from "../../trust/server-file.js";
import { findForeignWriter } from "../../util/foreign-writers.js";
import { isNotFound, readRegularFileSync, realPathOrNull } from "../../util/fs.js";
import type { AcceptedPackages } from "./package-code.js";

const MAX_BYTES = 1024 * 1024;
/** Directory of files with commands. */
const COMMAND_FOLDER = "claude-hooks";
/** Directories of a project that need the user's trust. */
const TRUSTED_FOLDERS = ["agents", COMMAND_FOLDER];

export interface ConfigDirs {
	agentDir: string;
	cwd: string;
	/** `.pi` of the project. */
	projectDir: string;
	/** What fills the variables of commands. */
	context: ServerContext;
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
	{ agentDir, cwd, projectDir, context, accepted, packages }: ConfigDirs,
): ConfigFile[] {
	if (typeof folder !== "string" || !/^[\w-]+$/.test(folder))
		throw new PiError(
			"bad_arguments",
			`ctx.configFiles expects the name of a directory, not ${JSON.stringify(folder)}`,
		);
	const user = namesIn(join(agentDir, folder)).map((path): ConfigFile => {
		const writer = findForeignWriter(path, agentDir, { allowsOwnGroup: true });
		if (writer) return { path, scope: "user", text: null, problem: `${writer.problem} · ${writer.hint}` };
		return readConfigFile(path, "user", path);
	});
	const ofPackages = folder === "agents" ? (packages?.agents ?? []) : [];
	const project = namesIn(join(projectDir, folder)).flatMap((path) => {
		const real = realPathOrNull(path);
		const copy = real === null ? undefined : accepted?.get(real);
		if (copy === undefined || accepted === null || user.some((file) => file.path === path)) return [];
		const file = readConfigFile(path, "project", copy);
		if (folder !== COMMAND_FOLDER) return [file];
		const findChanged = async (commands: readonly string[]) => {
			const config = JSON.stringify(commands.map((command) => ({ command })));
			return (await findCommandFiles(cwd, config, context)).find((found) => !isAsAccepted(found, accepted)) ?? null;
		};
		return [{ ...file, findChanged }];
	});
	return [...ofPackages.map(({ path, copy }) => readConfigFile(path, "user", copy)), ...user, ...project];
}

/** True if the project has files of its configuration that need the user's trust. */
export function needsTrust(projectDir: string): boolean {
	return TRUSTED_FOLDERS.some((folder) => namesIn(join(projectDir, folder)).length > 0);
}

/** Whether a file that a command runs in the project has the contents that the user accepted. @param path its real path */
export function isAsAccepted(path: string, accepted: AcceptedCode): boolean {
	const copy = accepted.get(path);
	try {
		return copy !== undefined && readServerFile(path).equals(readFileSync(copy));
	} catch {
		return false;
	}
}

/** @throws Error if the directory cannot be read: what hooks must not miss may be in it */
function namesIn(dir: string): string[] {
	try {
		return readdirSync(dir, { withFileTypes: true })
			.filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
			.map(({ name }) => join(dir, name))
			.sort();
	} catch (error) {
		if (isNotFound(error)) return [];
		throw error;
	}
}

function readConfigFile(path: string, scope: ConfigFile["scope"], content: string): ConfigFile {
	try {
		const text = readRegularFileSync(content, { maxBytes: MAX_BYTES }).toString("utf8");
		const error = path.endsWith(".json") ? findJsonError(text.replace(/^\ufeff/, "")) : null;
		if (!error) return { path, scope, text };
		// The reason may quote a part of the file.
		const at = `line ${error.line}, column ${error.column}`;
		return { path, scope, text: null, problem: `it is not valid JSON in ${at}` };
	} catch (error) {
		return { path, scope, text: null, problem: describeError(error) };
	}
}
