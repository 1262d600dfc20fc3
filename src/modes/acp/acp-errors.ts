import { RequestError } from "@agentclientprotocol/sdk";
import { describeError, PiError, type PiErrorCode } from "../../errors.js";
import { nextStep } from "../request-error.js";

/** Error codes of the protocol. */
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

/** Codes of errors that the client can react to; all others are internal errors. */
const CODES: Partial<Readonly<Record<PiErrorCode, number>>> = {
	bad_arguments: INVALID_PARAMS,
	model_unknown: INVALID_PARAMS,
	prompt_refused: INVALID_PARAMS,
	prompt_too_large: INVALID_PARAMS,
	key_missing: AUTH_REQUIRED,
	model_missing: AUTH_REQUIRED,
	log_not_found: NOT_FOUND,
};

/** An error of pi as the protocol carries it: a line for the user, and pi's own code in `data`. */
export function toRequestError(error: unknown): RequestError {
	if (error instanceof RequestError) return error;
	if (!(error instanceof PiError)) return new RequestError(INTERNAL, describeError(error));
	return new RequestError(CODES[error.code] ?? INTERNAL, describeError(error), { code: error.code });
}

/** The error for parameters that the schema allows but pi cannot use. */
export function invalidParams(message: string, hint?: string): RequestError {
	return toRequestError(new PiError("bad_arguments", message, hint === undefined ? {} : { hint }));
}

/** The next step for the user of a client, which has no `/login` and `/new`, after an error from `describeFailure`. */
export function clientStep(text: string): string {
	return nextStep(text).replace("/login", "/login in pi").replace(" with /new", "");
}

/** The error when no model can answer. */
export function missingModel(): PiError {
	return new PiError("model_missing", "No model is available", {
		hint: "use /login in pi, or set an API key such as ANTHROPIC_API_KEY for pi acp",
	});
}

/** The error for the id of a session that is not open. */
export function sessionNotOpen(sessionId: string): RequestError {
	const message = `Session ${JSON.stringify(sessionId)} is not open · begin one with session/new, or use session/load`;
	return new RequestError(NOT_FOUND, message, { sessionId });
}

/** Names the field in errors of the schema check, whose own message is only "Invalid params". */
export function explainInvalidParams<T>(message: T): T {
	if (typeof message !== "object" || message === null || !("error" in message)) return message;
	const { error } = message;
	if (typeof error !== "object" || error === null || !("data" in error && "message" in error)) return message;
	if (error.message !== "Invalid params") return message;
	const found = firstProblem(error.data, []);
	return found === null ? message : { ...message, error: { ...error, message: `Invalid params: ${found}` } };
}

/** The first problem in a tree of fields, with its path; null if all fields are valid. */
function firstProblem(node: unknown, path: readonly string[]): string | null {
	if (typeof node !== "object" || node === null) return null;
	const problems: unknown = "_errors" in node ? node._errors : [];
	const [first]: unknown[] = Array.isArray(problems) ? problems : [];
	if (typeof first === "string") return path.length === 0 ? first : `${path.join(".")}: ${first}`;
	for (const [name, child] of Object.entries(node)) {
		const found = name === "_errors" ? null : firstProblem(child, [...path, name]);
		if (found !== null) return found;
	}
	return null;
}
