import type { LoadedHook } from "../hooks/registry.js";
import type { SessionResources } from "./session-setup.js";

/** What is loaded, for the header. */
export interface LoadedSummary {
	hooks: { path: string; name: string; scope: string }[];
	skills: string[];
	templates: string[];
	contextFiles: string[];
	/** What went wrong while loading, one line each. */
	warnings: string[];
}

/** Names what is loaded. */
export function summarizeLoaded(
	{ templates, skills, contextFiles }: SessionResources,
	hooks: readonly LoadedHook[],
	warnings: readonly string[],
): LoadedSummary {
	return {
		hooks: hooks.map(({ path, name, scope }) => ({ path, name, scope })),
		skills: skills.map(({ name }) => name),
		templates: templates.map(({ name }) => name),
		contextFiles: [...contextFiles],
		warnings: [...warnings],
	};
}
