import { errorText } from "../errors.js";

/** Rules of the validator's library that repeat what the line already says. */
const MISSING = /^( {2}- )(.+): must have required properties (.+)$/gm;

/** The text of an error of `ArgumentValidator` for the model: missing arguments are named as missing. */
export function describeInvalidArguments(error: unknown): string {
	const text = error instanceof Error ? error.message : errorText(error);
	return text.replace(MISSING, (_, start: string, path: string, names: string) => {
		const parent = path.slice(0, path.lastIndexOf(".") + 1);
		const missing = names.split(", ").map((name) => `${parent}${name}`);
		return `${start}${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing`;
	});
}
