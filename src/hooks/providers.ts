import type { CustomProvider } from "../models/models-file.js";
import { readProvider } from "../models/models-file.js";
import { stripAll } from "../util/sanitize.js";
import { hookName } from "./hook-name.js";
import type { ProviderOptions } from "./types.js";

/** A provider that a hook registered. */
export interface HookProvider extends CustomProvider {
	/** Path of the hook. */
	readonly hook: string;
	/** Sends the requests. Absent: pi-ai does, as the provider's `api` says. */
	readonly stream?: NonNullable<ProviderOptions["stream"]>;
}

/** A hook that registers providers. */
interface ProviderOwner {
	readonly path: string;
	readonly providers: ReadonlyMap<string, HookProvider>;
}

const PROVIDER_NAME = /^[a-z0-9][\w.-]*$/i;

/** Checks the arguments of `pi.provider`. @throws TypeError that names every invalid field */
export function checkProvider(name: unknown, options: unknown, { path }: Pick<ProviderOwner, "path">): HookProvider {
	if (typeof name !== "string" || !PROVIDER_NAME.test(name)) {
		const given = JSON.stringify(name) ?? String(name);
		throw new TypeError(`${given} is not a valid provider name: use letters, digits, "_", "." and "-"`);
	}
	const invalid = (reasons: readonly string[]) =>
		new TypeError(`the provider ${name} is invalid: ${reasons.join("; ")}`);
	if (typeof options !== "object" || options === null) throw invalid(["it must be an object"]);
	const { stream, ...fields }: ProviderOptions = options;
	const { provider, problems } = readProvider(name, fields);
	if (stream !== undefined && typeof stream !== "function") problems.push("stream must be a function");
	if (!provider || problems.length > 0) throw invalid(problems);
	const source = stripAll(`hook ${hookName(path)}`);
	if (!stream) return { ...provider, source, hook: path };
	return {
		...provider,
		source,
		hook: path,
		stream,
		api: provider.api ?? `hook:${name}`,
		baseUrl: provider.baseUrl ?? "",
		keyless: provider.apiKey === undefined,
	};
}

/** The providers of hooks; a later one replaces an earlier one of the same name, with a warning. */
export function listProviders(hooks: readonly ProviderOwner[]): { providers: HookProvider[]; warnings: string[] } {
	const byName = new Map<string, HookProvider>();
	const warnings: string[] = [];
	for (const { path, providers } of hooks) {
		for (const [name, provider] of providers) {
			const taken = byName.get(name);
			if (taken) warnings.push(`The provider ${name} is registered by ${taken.hook} and ${path}; the latter is used`);
			byName.set(name, provider);
		}
	}
	return { providers: [...byName.values()], warnings };
}
