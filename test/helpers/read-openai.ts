import { isObject, type JsonObject, objects, parseJson, stringOr } from "./json.js";
import { judgeCall, judgeTools, type ReadRequest, type WireMessage } from "./wire-message.js";

const ROLES: Record<string, WireMessage["role"]> = {
	system: "system",
	developer: "system",
	user: "user",
	assistant: "assistant",
	tool: "tool",
};

/** Reads a chat completions request. */
export function readOpenaiRequest(body: JsonObject): ReadRequest {
	const issues: string[] = [];
	if (stringOr(body.model, "") === "") issues.push("the request names no model");
	if (body.stream !== true) issues.push("the request does not ask for a stream");
	const tools = objects(body.tools).map((tool) => (isObject(tool.function) ? tool.function : {}));
	issues.push(...judgeTools(tools.map((tool) => ({ name: stringOr(tool.name, ""), schema: tool.parameters }))));

	const messages: WireMessage[] = [];
	objects(body.messages).forEach((raw, index) => {
		const role = ROLES[stringOr(raw.role, "")];
		const where = `message ${index} (${String(raw.role)})`;
		if (!role) {
			issues.push(`${where} has an unknown role`);
			return;
		}
		const message: WireMessage = { role, ...readContent(raw.content, where, issues) };
		if (typeof raw.reasoning_content === "string") message.thinking = raw.reasoning_content;
		if (role === "system" && Array.isArray(raw.tools)) message.isAddition = true;
		if (role === "tool") message.toolCallId = stringOr(raw.tool_call_id, "");
		if (Array.isArray(raw.tool_calls)) {
			if (raw.tool_calls.length === 0) issues.push(`${where} has an empty list of tool calls`);
			message.toolCalls = objects(raw.tool_calls).map((call) => readCall(call, where, issues));
		}
		messages.push(message);
	});
	return { messages, issues };
}

function readContent(content: unknown, where: string, issues: string[]): { text: string; images: number } {
	if (content === null || content === undefined) return { text: "", images: 0 };
	if (typeof content === "string") return { text: content, images: 0 };
	const texts: string[] = [];
	let images = 0;
	for (const part of objects(content)) {
		if (part.type === "text") {
			texts.push(stringOr(part.text, ""));
			if (stringOr(part.text, "") === "") issues.push(`${where} has an empty text part`);
		} else if (part.type === "image_url" && isObject(part.image_url)) {
			images += 1;
			if (!/^data:image\/[a-z+]+;base64,./.test(stringOr(part.image_url.url, ""))) {
				issues.push(`${where} has an image that is no data URL`);
			}
		} else issues.push(`${where} has a part of type ${String(part.type)}`);
	}
	return { text: texts.join("\n"), images };
}

function readCall(call: JsonObject, where: string, issues: string[]) {
	const target = isObject(call.function) ? call.function : {};
	const id = stringOr(call.id, "");
	const name = stringOr(target.name, "");
	issues.push(...judgeCall(where, id, name));
	const args = parseJson(stringOr(target.arguments, ""));
	if (!isObject(args)) issues.push(`${where} has arguments of ${name} that are no JSON object`);
	return { id, name, arguments: isObject(args) ? args : {} };
}
