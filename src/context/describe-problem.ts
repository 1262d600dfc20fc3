import { stripAll } from "../util/sanitize.js";
import type { ContextProblem } from "./context-message.js";

/** Maximum length of a tool call id or role in a sentence, in characters. */
const MAX_DETAIL = 60;

const FORMS: Readonly<Record<string, string>> = {
	user: "content must be a text or a list of text and image blocks",
	assistant: "content must be a list of text, thinking and toolCall blocks",
	toolResult: "it needs toolCallId, toolName and a list of text and image blocks as content",
	bashExecution: "it needs command and output, both texts",
};

/**
 * Rules as sentences. `at` is the position, from 0; `detail` the id of the tool call, the role of the
 * message, or the name of the field. Sections and tools are named by field, and their values are not quoted.
 */
const SENTENCES: Readonly<Record<string, (at: number, detail: string) => string>> = {
	known_role: (at, role) => (role === "" ? `message ${at} has no role` : `message ${at} has the unknown role ${role}`),
	well_formed_content: (at, role) => `message ${at} is malformed${FORMS[role] ? `: ${FORMS[role]}` : ""}`,
	result_answers_call: (at, id) => `the tool result in message ${at} answers no earlier tool call: ${id}`,
	call_has_result: (at, id) => `tool call ${id} in message ${at} has no result`,
	one_result_per_call: (at, id) => `message ${at} is a second result of tool call ${id}`,
	signed_thinking_unchanged: (_, entry) =>
		`the signed thinking of entry ${entry} was changed; keep the reply as it is or drop it together with its results`,
	user_message_remains: () => "no user message with content remains",
	prompt_comes_last: (at) => `message ${at}, a reply, is the last message, so nothing is left to answer`,
	answer_has_messages: () =>
		"the answer is not an object with a list of messages, systemPrompt, tools, append or provider",
	answer_has_known_fields: (_, name) =>
		`unknown field ${JSON.stringify(name)}; an answer has messages, systemPrompt, tools, append or provider`,
	answer_can_be_read: (at) => `message ${at} cannot be read`,
	entry_index_is_integer: (at) => `entryIndex of message ${at} is neither an integer nor null`,
	entry_has_message: (at, index) => `entryIndex ${index} of message ${at} is not an entry with a message`,
	entry_index_is_own: (at, index) =>
		`message ${at} has entryIndex ${index} but is the object of another message; to replace entry ${index}, create a new one`,
	one_message_per_entry: (at, index) => `message ${at} has the entryIndex ${index} of an earlier message`,
	one_use_per_message: (at) => `message ${at} is the same object as an earlier message`,
	system_prompt_is_list: () => "systemPrompt is not a list of sections",
	section_has_id_and_text: (at) => `systemPrompt[${at}] is not { id, text } with two strings`,
	one_section_per_id: (at, by) =>
		`systemPrompt[${at}] has the id of an earlier section${by === "freeze" ? ", which the frozen context kept (/uncompact undoes the freeze)" : ""}`,
	section_id_is_own: (at) =>
		`systemPrompt[${at}] is a new section whose id is neither one of pi nor "<name of the hook>:<name>"`,
	system_prompt_not_empty: () => "systemPrompt leaves no section with text",
	tools_is_list: () => "tools is not a list of names",
	known_tool: (at) => `tools[${at}] is not the name of a tool that is on`,
	one_offer_per_tool: (at) => `tools[${at}] repeats an earlier name`,
	append_is_list: () => "append is not a list",
	append_has_place: (at) => `append[${at}].after is not the index of an entry`,
	append_has_content: (at) => `append[${at}] has neither instructions as a text nor tools as a list of names`,
	append_has_known_fields: (at, name) =>
		`append[${at}] has the unknown field ${name}; an item has after, instructions and tools`,
	append_names_tools: (at) => `append[${at}].tools has a name that is not that of a tool that is on`,
	provider_is_object: () => "provider is not an object with an object of fields for each wire format",
	provider_is_small: () => "provider has more than 10,000 characters of JSON",
	provider_field_is_free: (_, name) => `provider must not have the field ${name}, which pi writes`,
	compaction_index_clamped: (entry) =>
		`firstKeptEntryIndex of the compaction in entry ${entry} is outside of the session, so the nearest valid index is used`,
};

/** A problem as a sentence without a final period. Messages are counted from 0. */
export function describeProblem({ rule, position, detail = "" }: Omit<ContextProblem, "hook">): string {
	const shown = stripAll(detail).replace(/\s+/g, " ").slice(0, MAX_DETAIL);
	return SENTENCES[rule]?.(position, shown) ?? `${rule.replaceAll("_", " ")} (message ${position})`;
}
