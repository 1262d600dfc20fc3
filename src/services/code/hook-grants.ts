import { resolveUserPath } from "../../config/paths.js";
import type { SettingsStore } from "../../config/settings-store.js";
import { describeError } from "../../errors.js";
import type { HookFile } from "../../hooks/discover.js";
import {
	type GrantAnswer,
	type GrantRequest,
	grantedHandles,
	HOST_HANDLE_NAMES,
	type HostHandleName,
} from "../../hooks/granted-handles.js";

export interface HookGrantsOptions {
	settings: SettingsStore;
	agentDir: string;
	home: string;
	/** Asks the user; undefined without a user. */
	ask: ((request: GrantRequest) => Promise<GrantAnswer>) | undefined;
}

/** Handles that the user grants to hooks, through the settings and through answers. */
export class HookGrants {
	/** Handles granted for this process only, by path. */
	readonly #once = new Map<string, Set<HostHandleName>>();

	constructor(private readonly options: HookGrantsOptions) {}

	/** The handles granted to a hook. */
	of(file: HookFile): HostHandleName[] {
		const { settings, agentDir, home } = this.options;
		const saved = grantedHandles(settings.current.hookGrants, file, (path) => resolveUserPath(path, agentDir, home));
		const once = this.#once.get(file.path);
		return HOST_HANDLE_NAMES.filter((name) => saved.includes(name) || once?.has(name));
	}

	/**
	 * Asks for a handle that a hook requires. A permanent grant is saved in the settings before this resolves.
	 * @param onWarning called when the settings cannot be written; the grant then applies to this process only
	 * @returns true when the hook has the handle now
	 */
	async request(request: GrantRequest, onWarning: (line: string) => void): Promise<boolean> {
		const answer = (await this.options.ask?.(request)) ?? "no";
		if (answer === "no") return false;
		const { path } = request.file;
		this.#once.set(path, new Set([...(this.#once.get(path) ?? []), request.handle]));
		if (answer === "grant") await this.#save(request).catch((error: unknown) => onWarning(describeError(error)));
		return true;
	}

	async #save({ file, handle }: GrantRequest): Promise<void> {
		const { settings } = this.options;
		const names = new Set([...(settings.current.hookGrants[file.path] ?? []), handle]);
		await settings.setMember("hookGrants", file.path, [...names]);
	}
}
