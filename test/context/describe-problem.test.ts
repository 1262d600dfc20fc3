import { expect, test } from "vitest";
import { describeProblem } from "../../src/context/describe-problem.js";

const OWN_ID = 'whose id is neither one of pi nor "<name of the hook>:<name>"';

test.each([
	["known_role", "", "message 3 has no role"],
	["known_role", "system", "message 3 has the unknown role system"],
	["well_formed_content", "user", "message 3 is malformed: content must be a text or a list of text and image blocks"],
	[
		"well_formed_content",
		"assistant",
		"message 3 is malformed: content must be a list of text, thinking and toolCall blocks",
	],
	[
		"well_formed_content",
		"toolResult",
		"message 3 is malformed: it needs toolCallId, toolName and a list of text and image blocks as content",
	],
	["well_formed_content", "bashExecution", "message 3 is malformed: it needs command and output, both texts"],
	["well_formed_content", "", "message 3 is malformed"],
	["result_answers_call", "c1", "the tool result in message 3 answers no earlier tool call: c1"],
	["call_has_result", "c1", "tool call c1 in message 3 has no result"],
	["one_result_per_call", "c1", "message 3 is a second result of tool call c1"],
	["user_message_remains", "", "no user message with content remains"],
	["prompt_comes_last", "", "message 3, a reply, is the last message, so nothing is left to answer"],
	[
		"answer_has_messages",
		"",
		"the answer is not an object with a list of messages, systemPrompt, tools, append or provider",
	],
	[
		"answer_has_known_fields",
		"message",
		'unknown field "message"; an answer has messages, systemPrompt, tools, append or provider',
	],
	["answer_can_be_read", "", "message 3 cannot be read"],
	[
		"signed_thinking_unchanged",
		"12",
		"the signed thinking of entry 12 was changed; keep the reply as it is or drop it together with its results",
	],
	["entry_has_message", "9", "entryIndex 9 of message 3 is not an entry with a message"],
	[
		"entry_index_is_own",
		"9",
		"message 3 has entryIndex 9 but is the object of another message; to replace entry 9, create a new one",
	],
	["one_message_per_entry", "9", "message 3 has the entryIndex 9 of an earlier message"],
	["one_use_per_message", "", "message 3 is the same object as an earlier message"],
	["entry_index_is_integer", "", "entryIndex of message 3 is neither an integer nor null"],
	["system_prompt_is_list", "", "systemPrompt is not a list of sections"],
	["section_has_id_and_text", "", "systemPrompt[3] is not { id, text } with two strings"],
	["one_section_per_id", "", "systemPrompt[3] has the id of an earlier section"],
	[
		"one_section_per_id",
		"freeze",
		"systemPrompt[3] has the id of an earlier section, which the frozen context kept (/uncompact undoes the freeze)",
	],
	["section_id_is_own", "", `systemPrompt[3] is a new section ${OWN_ID}`],
	["system_prompt_not_empty", "", "systemPrompt leaves no section with text"],
	["tools_is_list", "", "tools is not a list of names"],
	["known_tool", "", "tools[3] is not the name of a tool that is on"],
	["one_offer_per_tool", "", "tools[3] repeats an earlier name"],
	[
		"compaction_index_clamped",
		"",
		"firstKeptEntryIndex of the compaction in entry 3 is outside of the session, so the nearest valid index is used",
	],
	["a_later_rule", "", "a later rule (message 3)"],
] as const)("the rule %s with the detail %j is a sentence", (rule, detail, sentence) => {
	const problem = { rule, position: 3, ...(detail === "" ? {} : { detail }) };
	expect(describeProblem(problem as Parameters<typeof describeProblem>[0])).toBe(sentence);
});

test("a long id with control characters is one short line", () => {
	const detail = `a\n\n\t b\u001b[2J${"x".repeat(100)}`;
	const sentence = describeProblem({ rule: "call_has_result", position: 0, detail });
	expect(sentence).toMatch(/^tool call a b\S*x+ in message 0 has no result$/);
	expect(sentence.length).toBe("tool call  in message 0 has no result".length + 60);
	expect(sentence).not.toContain("\u001b");
});
