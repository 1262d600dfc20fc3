import type { ToolHostFactory } from "./types.js";

const SCHEME = /^[a-z][a-z0-9-]*$/;

/** Checks the arguments of `pi.toolHost`. @throws TypeError */
export function checkToolHost(scheme: unknown, factory: unknown): ToolHostFactory {
	if (typeof scheme !== "string" || !SCHEME.test(scheme)) {
		const given = JSON.stringify(scheme) ?? String(scheme);
		throw new TypeError(`${given} is not a valid scheme: use lowercase letters, digits and "-"`);
	}
	if (typeof factory !== "function") throw new TypeError(`the factory of the host ${scheme}: is not a function`);
	return factory as ToolHostFactory;
}
