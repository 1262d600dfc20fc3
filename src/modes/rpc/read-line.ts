import { Value } from "typebox/value";
import { isRecord } from "../../util/is-record.js";
import { didYouMean } from "../../util/nearest.js";
import {
	type HookUIResponse,
	RPC_COMMANDS,
	type RpcCommand,
	type RpcCommandName,
	type RpcResponse,
} from "./protocol.js";

/** A parsed line of the client. */
export type RpcLine =
	| { kind: "command"; command: RpcCommand }
	| { kind: "ui_response"; response: HookUIResponse }
	/** An invalid line and its answer. */
	| { kind: "rejected"; response: RpcResponse };

const UI_RESPONSE = "hook_ui_response";

/** Parses one line. Never throws. */
export function readLine(line: string): RpcLine {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch (error) {
		return rejected(undefined, "parse", `Not JSON: ${error instanceof Error ? error.message : String(error)}`);
	}
	if (!isRecord(value)) return rejected(undefined, "parse", "Expected an object with a type");
	const { type, id } = value;
	if (typeof type !== "string") return rejected(id, "parse", "The type must be a string");
	if (type === UI_RESPONSE) return readUIResponse(value);
	if (!isCommandName(type)) {
		const hint = didYouMean(type, Object.keys(RPC_COMMANDS));
		return rejected(id, type, `Unknown command ${JSON.stringify(type)}${hint ? ` · ${hint}` : ""}`);
	}
	const problem = findProblem(type, value);
	if (problem !== null) return rejected(id, type, problem);
	// The value matches the schema of its type.
	return { kind: "command", command: value as unknown as RpcCommand };
}

function readUIResponse(value: Record<string, unknown>): RpcLine {
	const { id, value: chosen, confirmed, cancelled } = value;
	if (typeof id !== "string") return rejected(id, UI_RESPONSE, "The id must be the id of a hook_ui_request");
	return {
		kind: "ui_response",
		response: {
			type: UI_RESPONSE,
			id,
			...(typeof chosen === "string" || isTexts(chosen) ? { value: chosen } : {}),
			...(typeof confirmed === "boolean" ? { confirmed } : {}),
			...(cancelled === true ? { cancelled } : {}),
		},
	};
}

/** Describes the first invalid field of a command; null if all are valid. */
function findProblem(name: RpcCommandName, value: Record<string, unknown>): string | null {
	const schema = RPC_COMMANDS[name];
	if (Value.Check(schema, value)) return null;
	const errors = [...Value.Errors(schema, value)];
	const [first] = errors;
	const field = first?.instancePath.slice(1).replaceAll("/", ".") ?? "";
	if (first?.keyword === "required") {
		const missing = first.params.requiredProperties.map((property) => (field ? `${field}.${property}` : property));
		return `${name} requires ${missing.join(", ")}`;
	}
	const choices = errors.flatMap((error) =>
		error.instancePath === first?.instancePath && error.keyword === "const"
			? [JSON.stringify(error.params.allowedValue)]
			: [],
	);
	return `${name}: ${field} ${choices.length > 0 ? `must be one of ${choices.join(", ")}` : (first?.message ?? "is not valid")}`;
}

function rejected(id: unknown, command: string, error: string): RpcLine {
	return {
		kind: "rejected",
		response: {
			...(id === undefined ? {} : { id }),
			type: "response",
			command,
			success: false,
			error,
			code: "bad_arguments",
		},
	};
}

function isCommandName(name: string): name is RpcCommandName {
	return Object.hasOwn(RPC_COMMANDS, name);
}

function isTexts(value: unknown): value is string[] {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}
