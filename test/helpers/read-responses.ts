import { isObject, type JsonObject, objects, parseJson, stringOr } from "./json.js";
import { judgeCall, judgeTools, type ReadRequest, type WireMessage } from "./wire-message.js";

/** Starts of the ids of items that the model or the server wrote. */
const ITEM_IDS: Record<string, RegExp> = {
	message: /^msg_/,
	function_call: /^fc_/,
	reasoning: /^rs_/,
	compaction: /^cmp_/,
};

/** Reads a responses request. The items of a reply become one assistant message. */
export function readResponsesRequest(body: JsonObject): ReadRequest {
	const issues: string[] = [];
	if (stringOr(body.model, "") === "") issues.push("the request names no model");
	if (body.stream !== true) issues.push("the request does not ask for a stream");
	if (body.store !== false) issues.push("the request would be stored");
	const tools = objects(body.tools).filter(({ type }) => type !== "web_search");
	for (const tool of tools) if (tool.type !== "function") issues.push(`a tool has the type ${String(tool.type)}`);
	issues.push(...judgeTools(tools.map((tool) => ({ name: stringOr(tool.name, ""), schema: tool.parameters }))));

	const messages: WireMessage[] = [];
	const reply = (): WireMessage => {
		const last = messages.at(-1);
		if (last?.role === "assistant") return last;
		const message: WireMessage = { role: "assistant", text: "", images: 0 };
		messages.push(message);
		return message;
	};
	const items = objects(body.input);
	issues.push(...judgeItems(items));
	items.forEach((item, index) => {
		const where = `item ${index} (${String(item.type ?? item.role)})`;
		if (item.type === "function_call") {
			const message = reply();
			message.toolCalls = [...(message.toolCalls ?? []), readCall(item, where, issues)];
		} else if (item.type === "function_call_output") {
			const toolCallId = stringOr(item.call_id, "");
			messages.push({ role: "tool", ...readContent(item.output, "input", where, issues), toolCallId });
		} else if (item.type === "reasoning") {
			const message = reply();
			const text = objects(item.summary).map((part) => stringOr(part.text, ""));
			message.thinking = [message.thinking, ...text].filter(Boolean).join("\n");
		} else if (item.type === "compaction") {
			// What it replaces began with a prompt.
			messages.push({ role: "user", text: "(compaction of the server)", images: 0 });
			if (stringOr(item.encrypted_content, "") === "") issues.push(`${where} has no encrypted content`);
		} else if (item.role === "assistant") {
			const message = reply();
			const { text } = readContent(item.content, "output", where, issues);
			message.text = [message.text, text].filter(Boolean).join("\n");
		} else if (item.role === "user")
			messages.push({ role: "user", ...readContent(item.content, "input", where, issues) });
		else if (item.type === "additional_tools") messages.push({ role: "system", text: "", images: 0, isAddition: true });
		else if (item.role === "system" || item.role === "developer") {
			messages.push({ role: "system", ...readContent(item.content, "input", where, issues) });
		} else issues.push(`${where} has an unknown type`);
	});
	return { messages, issues };
}

/** Rules about ids, and about reasoning, which is only valid in front of what it led to. */
function judgeItems(items: readonly JsonObject[]): string[] {
	const issues: string[] = [];
	const seen = new Set<string>();
	items.forEach((item, index) => {
		const where = `item ${index} (${String(item.type ?? item.role)})`;
		const expected = ITEM_IDS[stringOr(item.type, "")];
		if (item.id !== undefined) {
			const id = stringOr(item.id, "");
			if (!expected?.test(id) || id.length > 64) issues.push(`${where} has the id ${JSON.stringify(item.id)}`);
			if (seen.has(id)) issues.push(`${where} has the id ${id} of another item`);
			seen.add(id);
		}
		if (item.type !== "reasoning") return;
		if (item.id === undefined) issues.push(`${where} has no id`);
		if (stringOr(item.encrypted_content, "") === "") issues.push(`${where} has no encrypted content`);
		const next = items[index + 1];
		if (next?.type !== "function_call" && next?.role !== "assistant") issues.push(`${where} has nothing after it`);
	});
	return issues;
}

function readContent(content: unknown, kind: "input" | "output", where: string, issues: string[]) {
	if (typeof content === "string") return { text: content, images: 0 };
	const texts: string[] = [];
	let images = 0;
	for (const part of objects(content)) {
		if (part.type === `${kind}_text`) {
			texts.push(stringOr(part.text, ""));
			if (stringOr(part.text, "") === "") issues.push(`${where} has an empty text part`);
		} else if (part.type === "input_image" && kind === "input") {
			images += 1;
			if (!/^data:image\/[a-z+]+;base64,./.test(stringOr(part.image_url, ""))) {
				issues.push(`${where} has an image that is no data URL`);
			}
		} else issues.push(`${where} has a part of type ${String(part.type)}`);
	}
	return { text: texts.join("\n"), images };
}

function readCall(item: JsonObject, where: string, issues: string[]) {
	const id = stringOr(item.call_id, "");
	const name = stringOr(item.name, "");
	issues.push(...judgeCall(where, id, name));
	const args = parseJson(stringOr(item.arguments, ""));
	if (!isObject(args)) issues.push(`${where} has arguments of ${name} that are no JSON object`);
	return { id, name, arguments: isObject(args) ? args : {} };
}
