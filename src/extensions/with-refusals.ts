import { PiError } from "../errors.js";
import { describeRefusal } from "./refusals.js";
import { REFUSED_VALUES, UNKNOWN_NAME } from "./refused-values.js";

/** Members that the runtime and loaders of modules look for. */
const PROBES: ReadonlySet<string> = new Set(["then", "toJSON", "default", "__esModule"]);

const isName = (member: string | symbol): member is string => typeof member === "string" && !PROBES.has(member);

/**
 * An object for extensions whose unknown members are functions that throw an error with their name: a plain
 * `is not a function` would not say that pi lacks it. For what extensions import; they test members of `pi`, `ctx` and
 * its objects before use, because versions of the API differ, so those are undefined.
 */
export function withRefusals<T extends object>(name: string, members: T): T {
	return new Proxy(members, {
		...READ_ONLY,
		// jiti binds the functions that it does not find here: those have no prototype and no members.
		has: (target, member) => isName(member) || Reflect.has(target, member),
		get(target, member, receiver) {
			// A loader that does not find a name looks there.
			if (member === "default") return receiver;
			if (!isName(member) || Reflect.has(target, member)) return Reflect.get(target, member, receiver);
			return refusedValue(`${name}.${member}`, REFUSED_VALUES.get(member) ?? UNKNOWN_NAME);
		},
	});
}

/** Not frozen, because a proxy around a frozen object cannot answer otherwise for its members. */
const READ_ONLY = { set: () => false, defineProperty: () => false, deleteProperty: () => false };

/** A function, class or object that throws when it is used, but not when it is extended or passed on. */
function refusedValue(name: string, reason: string): object {
	// Not an arrow function: an extension may use it as a class.
	function refused(): never {
		throw notAvailable(`${new.target ? "new " : ""}${name}`, reason);
	}
	refused.prototype = refusedMembers({}, `${name}.prototype`, reason);
	return refusedMembers(refused, name, reason);
}

/** An object whose unknown members can neither be read nor set. */
function refusedMembers<T extends object>(members: T, name: string, reason: string): T {
	const refuse = (member: string) => {
		throw notAvailable(`${name}.${member}`, reason);
	};
	return new Proxy(members, {
		get: (target, member, receiver) =>
			!isName(member) || member in target ? Reflect.get(target, member, receiver) : refuse(member),
		set: (_, member) => refuse(String(member)),
	});
}

/** The error for something that pi does not have. */
export function notAvailable(what: string, reason: string): PiError {
	return new PiError("hook_failed", describeRefusal(what, reason));
}
