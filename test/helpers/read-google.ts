import { isObject, type JsonObject, objects, stringOr } from "./json.js";
import { judgeCall, judgeTools, type ReadRequest, type WireMessage } from "./wire-message.js";

/** Stands for the signature of a call by another model. https://ai.google.dev/gemini-api/docs/thought-signatures */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** Reads a `generateContent` request. It has no ids of tool calls: results belong to the calls before them, in order. */
export function readGoogleRequest(body: JsonObject): ReadRequest {
	const issues: string[] = [];
	const tools = objects(body.tools).flatMap((tool) => objects(tool.functionDeclarations));
	const schemaOf = (tool: JsonObject) => tool.parametersJsonSchema ?? tool.parameters;
	issues.push(...judgeTools(tools.map((tool) => ({ name: stringOr(tool.name, ""), schema: schemaOf(tool) }))));

	const messages: WireMessage[] = [];
	if (isObject(body.systemInstruction)) {
		messages.push({ role: "system", ...readParts(objects(body.systemInstruction.parts), "the system prompt", issues) });
	}
	let open: { id: string; name: string }[] = [];
	let calls = 0;
	objects(body.contents).forEach((content, index) => {
		const where = `content ${index} (${String(content.role)})`;
		const parts = objects(content.parts);
		if (parts.length === 0) issues.push(`${where} has no parts`);
		if (content.role === "model") {
			const toolCalls = parts.flatMap(({ functionCall }) => {
				if (!isObject(functionCall)) return [];
				const name = stringOr(functionCall.name, "");
				const id = `call_${++calls}`;
				issues.push(...judgeCall(where, id, name));
				if (!isObject(functionCall.args)) issues.push(`${where} has a tool call whose args are no object`);
				return [{ id, name, arguments: isObject(functionCall.args) ? functionCall.args : {} }];
			});
			const thoughts = parts.filter(({ thought }) => thought === true).map(({ text }) => stringOr(text, ""));
			messages.push({
				role: "assistant",
				...readParts(
					parts.filter(({ thought }) => thought !== true),
					where,
					issues,
				),
				...(thoughts.length > 0 && { thinking: thoughts.join("\n") }),
				...(toolCalls.length > 0 && { toolCalls }),
			});
			open = [...toolCalls];
		} else if (content.role === "user") {
			const results = parts.flatMap(({ functionResponse }) => (isObject(functionResponse) ? [functionResponse] : []));
			if (results.length > 0 && results.length !== open.length) {
				issues.push(`${where} has ${results.length} function responses to ${open.length} function calls`);
			}
			for (const result of results) messages.push(readResult(result, open.shift(), where, issues));
			const rest = parts.filter(({ functionResponse }) => !isObject(functionResponse));
			if (rest.length > 0) messages.push({ role: "user", ...readParts(rest, where, issues) });
		} else issues.push(`${where} has an unknown role`);
	});
	return { messages, issues };
}

function readResult(
	result: JsonObject,
	call: { id: string; name: string } | undefined,
	where: string,
	issues: string[],
): WireMessage {
	const name = stringOr(result.name, "");
	if (call && call.name !== name) issues.push(`${where} has a response of ${name} to a call of ${call.name}`);
	const response = isObject(result.response) ? result.response : {};
	const isError = response.error !== undefined;
	const text = stringOr(isError ? response.error : response.output, "");
	const { images } = readParts(objects(result.parts), where, issues);
	return { role: "tool", text, images, toolCallId: call?.id ?? "", isError };
}

function readParts(parts: readonly JsonObject[], where: string, issues: string[]): { text: string; images: number } {
	const texts: string[] = [];
	let images = 0;
	for (const part of parts) {
		const { text, inlineData, thoughtSignature } = part;
		if (
			thoughtSignature !== undefined &&
			thoughtSignature !== NO_SIGNATURE &&
			!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(stringOr(thoughtSignature, " "))
		) {
			issues.push(`${where} has a thought signature that is not base64`);
		}
		if (typeof text === "string") {
			texts.push(text);
			if (text === "") issues.push(`${where} has an empty text part`);
		} else if (isObject(inlineData)) {
			images += 1;
			const isImage = /^image\/[a-z+]+$/.test(stringOr(inlineData.mimeType, ""));
			if (!isImage || stringOr(inlineData.data, "") === "") issues.push(`${where} has inline data that is no image`);
		} else if (!isObject(part.functionCall))
			issues.push(`${where} has an unknown part: ${Object.keys(part).join(", ")}`);
	}
	return { text: texts.join("\n"), images };
}
