import { Value } from "typebox/value";
import { didYouMean } from "../../util/nearest.js";
import {
	type HookUIResponse,
	RPC_COMMANDS,
	type RpcCommand,
	type RpcCommandName,
	type RpcResponse,
} from "./protocol.js";

/** What a line of a client turned out to be. */
export type RpcLine =
	| { kind: "command"; command: RpcCommand }
	| { kind: "ui_response"; response: HookUIResponse }
	/** It asks for nothing that can be done: this is its answer. */
	| { kind: "refused"; response: RpcResponse };

const UI_RESPONSE = "hook_ui_response";

/** Reads one line. Never throws. */
export function readLine(line: string): RpcLine {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch (error) {
		return refused(undefined, "parse", `Not JSON: ${error instanceof Error ? error.message : String(error)}`);
	}
	if (!isObject(value)) return refused(undefined, "parse", "Expected an object with a type");
	const { type, id } = value;
	if (typeof type !== "string") return refused(id, "parse", "The type must be a string");
	if (type === UI_RESPONSE) return readUIResponse(value);
	if (!isCommandName(type)) {
		const hint = didYouMean(type, Object.keys(RPC_COMMANDS));
		return refused(id, type, `Unknown command ${JSON.stringify(type)}${hint ? ` · ${hint}` : ""}`);
	}
	const problem = findProblem(type, value);
	if (problem !== null) return refused(id, type, problem);
	// The schema has been checked: this is where an unknown value becomes a command.
	return { kind: "command", command: value as unknown as RpcCommand };
}

function readUIResponse(value: Record<string, unknown>): RpcLine {
	const { id, value: chosen, confirmed, cancelled } = value;
	if (typeof id !== "string") return refused(id, UI_RESPONSE, "The id must be that of a hook_ui_request");
	return {
		kind: "ui_response",
		response: {
			type: UI_RESPONSE,
			id,
			...(typeof chosen === "string" ? { value: chosen } : {}),
			...(typeof confirmed === "boolean" ? { confirmed } : {}),
			...(cancelled === true ? { cancelled } : {}),
		},
	};
}

/** The first thing that is wrong with a command's fields, as a sentence. */
function findProblem(name: RpcCommandName, value: Record<string, unknown>): string | null {
	const schema = RPC_COMMANDS[name];
	if (Value.Check(schema, value)) return null;
	const errors = [...Value.Errors(schema, value)];
	const [first] = errors;
	const field = first?.instancePath.slice(1).replaceAll("/", ".") ?? "";
	if (first?.keyword === "required") {
		const missing = first.params.requiredProperties.map((property) => (field ? `${field}.${property}` : property));
		return `${name} needs ${missing.join(", ")}`;
	}
	const choices = errors.flatMap((error) =>
		error.instancePath === first?.instancePath && error.keyword === "const"
			? [JSON.stringify(error.params.allowedValue)]
			: [],
	);
	return `${name}: ${field} ${choices.length > 0 ? `must be one of ${choices.join(", ")}` : (first?.message ?? "is not valid")}`;
}

function refused(id: unknown, command: string, error: string): RpcLine {
	return {
		kind: "refused",
		response: { ...(id === undefined ? {} : { id }), type: "response", command, success: false, error },
	};
}

function isCommandName(name: string): name is RpcCommandName {
	return Object.hasOwn(RPC_COMMANDS, name);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
