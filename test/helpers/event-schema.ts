import { readFileSync } from "node:fs";
import Schema from "typebox/schema";
import { onTestFinished } from "vitest";
import { eventsSchema } from "../../src/modes/event-schema.js";
import type { RpcClient } from "../../src/modes/rpc/client.js";
import type { RpcEvent } from "../../src/modes/rpc/protocol.js";
import { isObject, type JsonObject, parseJson } from "./json.js";

const shipped: JsonObject = JSON.parse(readFileSync(new URL("../../schemas/events.json", import.meta.url), "utf8"));
const jsonMode = Schema.Compile(shipped);
const rpc = Schema.Compile(rpcSchema());

/** The schema of the events of RPC mode: those of JSON mode, but with complete updates and results, and dialogs. */
function rpcSchema(): JsonObject {
	const { $id: _, anyOf, $defs, ...rest } = Object(eventsSchema());
	const typeOf = (schema: unknown) => Object(schema).properties.type.const;
	const refer = (name: string) => ({ $ref: `#/$defs/${name}` });
	const exact = (properties: object, optional: readonly string[] = []) => ({
		type: "object",
		properties,
		required: Object.keys(properties).filter((name) => !optional.includes(name)),
		additionalProperties: false,
	});
	const event = (type: string): JsonObject => anyOf.find((schema: unknown) => typeOf(schema) === type).properties;
	const [text, args] = [{ type: "string" }, { type: "object" }];
	const own = {
		message_update: { ...event("message_update"), message: refer("Message") },
		tool_execution_update: {
			type: { const: "tool_execution_update" },
			toolCallId: text,
			toolName: text,
			args,
			partialResult: Object(event("tool_execution_end")).result,
		},
		bash_update: { type: { const: "bash_update" }, output: text },
		hook_ui_closed: { type: { const: "hook_ui_closed" }, id: text },
	};
	const request = {
		type: "object",
		properties: { type: { const: "hook_ui_request" }, id: text, hook: text, method: text },
		required: ["type", "id", "method"],
	};
	const { ToolResultMessage } = $defs;
	return {
		...rest,
		anyOf: [
			...anyOf.filter((schema: unknown) => !Object.hasOwn(own, typeOf(schema))),
			...Object.values(own).map((properties) => exact(properties)),
			request,
		],
		$defs: {
			...$defs,
			ToolResultMessage: { ...ToolResultMessage, required: [...ToolResultMessage.required, "content"] },
		},
	};
}

/** @throws Error naming the first line of the complete ones that the schema does not allow */
function check(lines: readonly string[], schema: typeof jsonMode, isChecked: (line: JsonObject) => boolean): void {
	for (const line of lines) {
		const event = parseJson(line);
		if (isObject(event) && !isChecked(event)) continue;
		if (schema.Check(event)) continue;
		const [, errors] = schema.Errors(event);
		throw new Error(`Not an event of schemas/events.json: ${line}\n${JSON.stringify(errors.slice(-5), null, 1)}`);
	}
}

/**
 * Checks the output of the program against the schema of its events, if its arguments choose JSON or RPC mode.
 * @throws Error naming the first line that is not an event
 */
export function checkEvents(args: readonly string[], stdout: string): void {
	const mode = args[args.indexOf("--mode") + 1];
	if (!args.includes("--mode") || (mode !== "json" && mode !== "rpc")) return;
	const complete = stdout
		.slice(0, stdout.lastIndexOf("\n") + 1)
		.split("\n")
		.slice(0, -1);
	if (mode === "json") check(complete.slice(1), jsonMode, () => true);
	else check(complete, rpc, ({ type }) => type !== "response");
}

/** Checks events of RPC mode. @throws Error naming the first one that is not an event */
export function checkRpcEvents(events: readonly unknown[]): void {
	check(
		events.map((event) => JSON.stringify(event)),
		rpc,
		({ type }) => type !== "response",
	);
}

/** Checks every event that a client receives, when the test ends. */
export function checkClientEvents(client: Pick<RpcClient, "subscribe">): void {
	const events: RpcEvent[] = [];
	client.subscribe((event) => void events.push(event));
	onTestFinished(() => checkRpcEvents(events));
}
