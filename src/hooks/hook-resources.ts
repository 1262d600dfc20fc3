import { dirname, resolve } from "node:path";
import { isRecord } from "../util/is-record.js";
import type { HookResources } from "./types.js";

/** Absolute paths of skills, prompt templates and themes. */
export type ResourcePaths = { readonly [K in keyof Required<HookResources>]: readonly string[] };

const KINDS = ["skills", "prompts", "themes"] as const satisfies readonly (keyof HookResources)[];

/** @param file of the hook, from which relative paths start @throws TypeError that names a malformed field */
export function checkResources(given: unknown, file: string): ResourcePaths {
	if (!isRecord(given)) throw new TypeError("pi.resources expects { skills, prompts, themes }");
	const unknown = Object.keys(given).find((name) => !KINDS.some((kind) => kind === name));
	if (unknown !== undefined) throw new TypeError(`pi.resources: unknown field ${JSON.stringify(unknown)}`);
	const read = (kind: keyof HookResources): string[] => {
		const paths: unknown = given[kind] ?? [];
		const isList = Array.isArray(paths) && paths.every((path) => typeof path === "string" && path !== "");
		if (!isList) throw new TypeError(`pi.resources: ${kind} must be a list of paths`);
		return paths.map((path: string) => resolve(dirname(file), path));
	};
	return { skills: read("skills"), prompts: read("prompts"), themes: read("themes") };
}

/** The resources of all hooks, in load order. */
export function listResources(hooks: readonly { readonly resources: ResourcePaths | null }[]): ResourcePaths {
	const all = (kind: keyof ResourcePaths) => hooks.flatMap(({ resources }) => resources?.[kind] ?? []);
	return { skills: all("skills"), prompts: all("prompts"), themes: all("themes") };
}
