import { existsSync, realpathSync } from "node:fs";
import { readJsonFile } from "../../config/json-file.js";
import type { Environment, Paths } from "../../config/paths.js";
import { describeError, PiError } from "../../errors.js";
import type { McpSource } from "../../mcp/config.js";
import { findServerFiles } from "../../trust/code-files.js";
import type { AcceptedCode } from "../../trust/gate.js";
import { isAsAccepted } from "./config-files.js";

export interface McpFilesOptions {
	paths: Paths;
	/** Fills the variables of servers. */
	env: Environment;
	/** False: no server is used (`--no-mcp`). */
	enabled: boolean;
	/** Files of `--mcp`, absolute. */
	explicit: readonly string[];
	/** The `mcpServers` of an SDK program, as in mcp.json. */
	servers: Readonly<Record<string, unknown>>;
}

/** Finds the files that define the MCP servers of a session. Loads no code of MCP. */
export class McpFiles {
	#ofProject: readonly McpSource[] = [];

	constructor(private readonly options: McpFilesOptions) {}

	/** The project's files that exist; they are used once the user has accepted them. */
	get projectFiles(): string[] {
		const { paths, enabled } = this.options;
		return enabled ? [paths.project.sharedMcp, paths.project.mcp].filter((path) => existsSync(path)) : [];
	}

	/** Every file that can define servers. */
	get paths(): string[] {
		const { paths, explicit } = this.options;
		return [paths.mcp, paths.project.sharedMcp, paths.project.mcp, ...explicit];
	}

	/** True if servers may be defined. */
	get exist(): boolean {
		return this.sources.length > 0 || this.projectFiles.length > 0;
	}

	/** The sources to read, lowest precedence first. */
	get sources(): McpSource[] {
		const { paths, enabled, explicit, servers } = this.options;
		if (!enabled) return [];
		return [
			...(existsSync(paths.mcp) ? [{ path: paths.mcp, scope: "user" as const }] : []),
			...this.#ofProject,
			...explicit.map((path) => ({ path, scope: "flag" as const })),
			...(Object.keys(servers).length > 0
				? [{ path: "the SDK", scope: "sdk" as const, content: { mcpServers: servers } }]
				: []),
		];
	}

	/** @throws PiError `bad_arguments` for a file of `explicit` that cannot be read */
	checkNamed(): void {
		const { enabled, explicit } = this.options;
		for (const path of enabled ? explicit : []) {
			let file: unknown;
			try {
				file = readJsonFile(path);
			} catch (error) {
				throw new PiError("bad_arguments", describeError(error), { cause: error });
			}
			if (file === null) throw new PiError("bad_arguments", `${path} does not exist`, { hint: "correct --mcp" });
		}
	}

	/** Uses the project's files as the user accepted them; null: none. */
	async useProject(accepted: AcceptedCode | null): Promise<void> {
		const { paths } = this.options;
		this.#ofProject = [];
		if (!accepted || this.projectFiles.length === 0) return;
		const find = () => findServerFiles(paths.cwd, { env: this.options.env, home: paths.home });
		// If the files cannot be checked now, no server starts until they can be.
		const all = await find().catch(() => []);
		const definitions = this.projectFiles.map((path) => realpathSync(path));
		const files = all.filter((path) => !definitions.includes(path));
		this.#ofProject = this.projectFiles.flatMap((path): McpSource[] => {
			const copy = accepted.get(realpathSync(path));
			if (copy === undefined) return [];
			const scope = path === paths.project.sharedMcp ? "shared" : "project";
			// A server runs its files in the project. One that is new since then could replace a module, and a missing one could be
			// replaced.
			const findChanged = async () => {
				const current = new Set([...all, ...(await find())]);
				return [...current].find((file) => !isAsAccepted(file, accepted)) ?? null;
			};
			return [{ path, scope, copy, files, findChanged }];
		});
	}
}
