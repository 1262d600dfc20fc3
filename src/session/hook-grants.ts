import { resolveUserPath } from "../config/paths.js";
import type { SettingsStore } from "../config/settings-store.js";
import { describeError } from "../errors.js";
import type { HookFile } from "../hooks/discover.js";
import type { GrantAnswer, GrantRequest } from "../hooks/handles.js";
import { grantedHandles, HOST_HANDLE_NAMES, type HostHandleName } from "../hooks/handles.js";

/** What grants are made with. */
export interface HookGrantsOptions {
	settings: SettingsStore;
	agentDir: string;
	home: string;
	/** Asks the user; absent where there is nobody. */
	ask: ((request: GrantRequest) => Promise<GrantAnswer>) | undefined;
}

/** What the user lets hooks do beyond what every hook may: by the settings, and by answers. */
export class HookGrants {
	/** What was granted for this run, by path. */
	readonly #once = new Map<string, Set<HostHandleName>>();

	constructor(private readonly options: HookGrantsOptions) {}

	/** The handles that a hook has. */
	of(file: HookFile): HostHandleName[] {
		const { settings, agentDir, home } = this.options;
		const kept = grantedHandles(settings.current.hookGrants, file, (path) => resolveUserPath(path, agentDir, home));
		const once = this.#once.get(file.path);
		return HOST_HANDLE_NAMES.filter((name) => kept.includes(name) || once?.has(name));
	}

	/**
	 * Asks for a handle that a hook requires. What the user grants for good is in the settings when this resolves.
	 * @param onWarning told when the settings cannot be written: then the grant holds for this run
	 * @returns true when the hook has it now
	 */
	async request(request: GrantRequest, onWarning: (line: string) => void): Promise<boolean> {
		const answer = (await this.options.ask?.(request)) ?? "no";
		if (answer === "no") return false;
		const { path } = request.file;
		this.#once.set(path, new Set([...(this.#once.get(path) ?? []), request.handle]));
		if (answer === "grant") await this.#keep(request).catch((error: unknown) => onWarning(describeError(error)));
		return true;
	}

	async #keep({ file, handle }: GrantRequest): Promise<void> {
		const { settings } = this.options;
		const names = new Set([...(settings.current.hookGrants[file.path] ?? []), handle]);
		await settings.setMember("hookGrants", file.path, [...names]);
	}
}
