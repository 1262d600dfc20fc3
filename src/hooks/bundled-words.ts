import { join } from "node:path";
import { PiError } from "../errors.js";
import { nearest } from "../util/nearest.js";
import { packageRoot } from "../util/package-root.js";
import { BUNDLED_HOOKS } from "./bundled.js";
import type { BundledHook, HookGroup } from "./bundled-hook.js";
import { BUNDLED_PREFIX } from "./hook-name.js";

/** The path of a bundled hook in messages and settings, such as `pi:redact`. */
export function bundledPath(name: string): string {
	return BUNDLED_PREFIX + name;
}

/** The file that contains a bundled hook's code, for stack traces: its source, or its own file of the bundle. */
export function bundledFile(name: string): string {
	const isSource = import.meta.url.endsWith(".ts");
	return join(packageRoot(), ...(isSource ? ["hooks-examples", `${name}.ts`] : ["dist", "bundled", `${name}.cjs`]));
}

/** Words that turn on all bundled hooks that provide hosts: whose flags count before the user has chosen a session. */
export function allMachineWords(): string[] {
	return BUNDLED_HOOKS.filter(({ hosts }) => hosts !== undefined).map(({ name }) => bundledPath(name));
}

/** The words that turn on the bundled hook for a host: the one that `--on`, the setting `on` or the log of the session names. */
export function machineWords(spec: string | null | undefined): string[] {
	const scheme = spec?.split(":", 1)[0]?.toLowerCase() ?? "";
	return BUNDLED_HOOKS.filter(({ hosts = [] }) => hosts.includes(scheme)).map(({ name }) => bundledPath(name));
}

/** True for words that turn a bundled hook on or off: `pi:redact`, `-pi:fold`. */
export function isBundledWord(word: string): boolean {
	return word.startsWith(BUNDLED_PREFIX) || word.startsWith(`-${BUNDLED_PREFIX}`);
}

/** Former names of bundled hooks, which still turn them on and off. */
const RENAMED: Readonly<Record<string, string>> = { prune: "clear" };

/** A word that turns a bundled hook on or off, with the hook's present name: `pi:clear` for `pi:prune`. Others are unchanged. */
export function presentWord(word: string): string {
	const sign = word.startsWith("-") ? "-" : "";
	const path = word.slice(sign.length);
	const name = path.startsWith(BUNDLED_PREFIX) ? RENAMED[path.slice(BUNDLED_PREFIX.length)] : undefined;
	return name === undefined ? word : sign + bundledPath(name);
}

/** Finds a bundled hook by its path, also by a former one. */
export function findBundled(path: string): BundledHook | undefined {
	return BUNDLED_HOOKS.find(({ name }) => bundledPath(name) === presentWord(path));
}

/** True for the path of a bundled hook that is off unless the user turns it on. */
export function isOptional(path: string): boolean {
	const bundled = findBundled(path);
	return bundled !== undefined && bundled.isDefault !== true;
}

/**
 * The bundled hooks that are on.
 * @param words `pi:name` and `-pi:name`; the last one for a name wins. Others are ignored.
 * @param defaults false: only those that `words` turn on
 * @returns the hooks in running order, an error for each word that names no bundled hook, and one for each former name
 */
export function selectBundled(
	words: readonly string[],
	defaults: boolean,
): { hooks: readonly BundledHook[]; errors: PiError[]; renamed: PiError[] } {
	const chosen = new Map<string, boolean>();
	const errors: PiError[] = [];
	const renamed: PiError[] = [];
	for (const word of words.filter(isBundledWord)) {
		const present = presentWord(word);
		const isOn = present.startsWith(BUNDLED_PREFIX);
		const path = isOn ? present : present.slice(1);
		if (!findBundled(path)) {
			errors.push(unknownBundled(path));
			continue;
		}
		chosen.set(path, isOn);
		if (present === word) continue;
		const message = `The bundled hook ${isOn ? word : word.slice(1)} is now ${path}`;
		renamed.push(new PiError("hook_load_failed", message, { hint: `write ${present} instead of ${word}` }));
	}
	const isOn = ({ name, isDefault = false }: BundledHook) => chosen.get(bundledPath(name)) ?? (defaults && isDefault);
	return { hooks: BUNDLED_HOOKS.filter(isOn), errors, renamed };
}

/** The words of the setting `hooks` after the user turns a bundled hook on or off. */
export function switchBundled(words: readonly string[], { name, isDefault = false }: BundledHook, isOn: boolean) {
	const path = bundledPath(name);
	const others = words.filter((word) => ![path, `-${path}`].includes(presentWord(word)));
	if (isOn === isDefault) return others;
	return [...others, isOn ? path : `-${path}`];
}

/** Of several bundled hooks with a command, or with a type of entries, the one to turn on: that of the name, else not a guard. */
export function preferredHook(hooks: readonly BundledHook[], name: string): BundledHook | undefined {
	return hooks.find((hook) => hook.name === name) ?? hooks.find(({ group }) => group !== "guards") ?? hooks[0];
}

/** False for groups whose hooks change no request. */
export function changesRequests(group: HookGroup): boolean {
	return group === "context" || group === "guards" || group === "model";
}

/** What replaces bundled hooks that pi had. */
const REPLACED: Readonly<Record<string, string>> = {
	todo: 'the task list replaces it: "features": { "tasks": true } in settings.json',
};

function unknownBundled(path: string): PiError {
	const paths = BUNDLED_HOOKS.map(({ name }) => bundledPath(name));
	const [near] = nearest(path, paths, 1);
	const similar = near ? `did you mean ${near}?` : "/hooks lists the bundled hooks";
	return new PiError("hook_load_failed", `There is no bundled hook ${path}`, {
		hint: REPLACED[path.slice(BUNDLED_PREFIX.length)] ?? similar,
	});
}
