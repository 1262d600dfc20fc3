import type { Progress, Tool } from "@modelcontextprotocol/client";
import type { TSchema } from "typebox";
import type { JsonObject } from "../config/json-file.js";
import { estimateText } from "../context/tokens.js";
import { formatBytes, plainOutput } from "../tools/output.js";
import type { AnyTool, ToolContext } from "../tools/tool.js";
import { isRecord } from "../util/is-record.js";
import { revealLine } from "../util/reveal.js";
import { throttle } from "../util/throttle.js";
import { toolName } from "./names.js";
import { toToolResult } from "./results.js";
import type { McpServer } from "./server.js";

/** Maximum size of the definition of one tool. */
const MAX_DEFINITION_BYTES = 32 * 1024;
/** Time between two partial results of a call, ms. */
const UPDATE_INTERVAL_MS = 100;

/** A tool of a server as the model gets it. */
export interface McpTool {
	tool: AnyTool;
	server: McpServer;
	/** Size of its definition in a request. */
	bytes: number;
	tokens: number;
}

/** Creates the tool of a definition. @returns the problem if it cannot be offered */
export function createMcpTool(server: McpServer, definition: Tool): McpTool | string {
	const malformed = findMalformed(definition);
	const called = isText(definition.name) ? `The tool ${revealLine(definition.name, { maxLength: 80 })}` : "A tool";
	const problem = (reason: string) => `${called} of the MCP server ${server.name} is ignored: ${reason}`;
	if (malformed !== null) return problem(malformed);
	const name = toolName(server.name, definition.name);
	const description = plainOutput(definition.description ?? definition.title ?? definition.name);
	const parameters = toParameters(definition.inputSchema);
	if (parameters === null) return problem("its input schema is not that of an object");
	let text: string;
	try {
		text = JSON.stringify({ name, description, parameters });
	} catch {
		return problem("its input schema is nested too deeply");
	}
	const bytes = Buffer.byteLength(text);
	if (bytes > MAX_DEFINITION_BYTES) {
		return problem(`its definition has ${formatBytes(bytes)}, more than ${formatBytes(MAX_DEFINITION_BYTES)}`);
	}
	const tool: AnyTool = {
		name,
		description: description.trim() === "" ? definition.name : description,
		parameters,
		...(definition.annotations?.readOnlyHint === true ? { readOnly: true } : {}),
		checkArguments: (args) => checkArguments(args, parameters),
		run: (args, context) => runMcpTool(server, definition.name, args, context),
	};
	return { tool, server, bytes, tokens: estimateText(text) };
}

/** What is wrong with a definition that the client has not checked; null if nothing that pi reads is. */
function findMalformed({ name, description, title }: Readonly<Record<string, unknown>>): string | null {
	if (!isText(name) || name === "") return "it has no name";
	if (description !== undefined && !isText(description)) return "its description is not a text";
	return title !== undefined && !isText(title) ? "its title is not a text" : null;
}

function isText(value: unknown): value is string {
	return typeof value === "string";
}

/** The schema of the arguments as every provider accepts it: an object, without the names of dialects. */
function toParameters(schema: unknown): (TSchema & JsonObject) | null {
	if (!isRecord(schema) || schema.type !== "object") return null;
	const { $schema: _dialect, $id: _id, ...rest } = schema;
	return { ...rest, type: "object", properties: isRecord(rest.properties) ? rest.properties : {} };
}

/**
 * Checks what every schema demands alike; the server checks the rest. pi never runs the patterns of a foreign schema.
 * @throws Error that tells the model what to correct
 */
function checkArguments(args: unknown, { required }: JsonObject): Record<string, unknown> {
	if (!isRecord(args)) throw new Error("The arguments must be an object.");
	const missing = Array.isArray(required)
		? required.filter((name) => typeof name === "string" && !Object.hasOwn(args, name))
		: [];
	if (missing.length > 0) throw new Error(`Missing arguments: ${missing.slice(0, 20).join(", ")}.`);
	return args;
}

async function runMcpTool(server: McpServer, name: string, args: unknown, context: ToolContext) {
	const { signal, tmpDir, onUpdate } = context;
	const details = { server: server.name, tool: name };
	let text = "";
	const updates = throttle(() => onUpdate?.({ content: [{ type: "text", text }], details }), UPDATE_INTERVAL_MS);
	const onProgress = (progress: Progress) => {
		text = describeProgress(progress);
		updates.note();
	};
	try {
		const result = await server.callTool(name, isRecord(args) ? args : {}, { signal, onProgress });
		return await toToolResult(result, details, tmpDir);
	} finally {
		updates.finish();
	}
}

/** `3 of 10 · copying`. */
function describeProgress({ progress, total, message }: Progress): string {
	const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
	return message === undefined ? amount : `${amount} · ${revealLine(message)}`;
}
