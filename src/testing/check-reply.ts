import { PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";

const FIELDS = ["thinking", "text", "toolCalls"];

/** @param name names the reply in the error, such as `replies[2]` @throws PiError `bad_arguments` for a malformed reply */
export function checkReply(reply: unknown, name: string): void {
	const fault = findFault(reply);
	if (fault !== null) throw new PiError("bad_arguments", `${name} ${fault}`);
}

function findFault(reply: unknown): string | null {
	if (typeof reply === "string") return null;
	if (!isRecord(reply)) return "must be a text, an object or a function";
	if ("error" in reply) {
		if (typeof reply.error !== "string") return "has an error that is not a text";
		return Object.keys(reply).length > 1 ? "has an error and other fields; use error alone" : null;
	}
	const unknown = Object.keys(reply).find((key) => !FIELDS.includes(key));
	if (unknown !== undefined) return `has the unknown field ${unknown}; a reply has ${FIELDS.join(", ")} or error`;
	const { thinking = "", text = "", toolCalls = [] } = reply;
	if (typeof thinking !== "string") return "has thinking that is not a text";
	if (typeof text !== "string") return "has a text that is not a text";
	if (!Array.isArray(toolCalls)) return "has toolCalls that are not a list";
	const at = toolCalls.findIndex(
		(call) => !isRecord(call) || typeof call.name !== "string" || !isRecord(call.arguments),
	);
	return at < 0 ? null : `has a malformed toolCalls[${at}]: it must be { name, arguments } with an object as arguments`;
}
