import { PiError } from "../errors.js";
import { describeRefusal } from "./refusals.js";
import { REFUSED_VALUES, UNKNOWN_NAME } from "./refused-values.js";

/**
 * An object for extensions whose unknown members are functions that throw an error with their name, because a plain
 * `is not a function` would not say that pi lacks it.
 */
export function withRefusals<T extends object>(name: string, members: T): T {
	return new Proxy(Object.freeze(members), {
		get(target, member, receiver) {
			if (typeof member === "symbol" || member === "then" || member === "toJSON" || Reflect.has(target, member)) {
				return Reflect.get(target, member, receiver);
			}
			// Not an arrow function: an extension may use it as a class.
			return function refused(): never {
				const reason = REFUSED_VALUES.get(member) ?? UNKNOWN_NAME;
				throw notAvailable(`${new.target ? "new " : ""}${name}.${member}`, reason);
			};
		},
	});
}

/** The error for something that pi does not have. */
export function notAvailable(what: string, reason: string): PiError {
	return new PiError("hook_failed", describeRefusal(what, reason));
}
