import { expect, test } from "vitest";
import { bashExecutionText } from "../../src/context/bash-execution-text.js";
import type { BashExecutionMessage } from "../../src/log/entry.js";
import { bashExecution as bash } from "../helpers/entries.js";

test.each<[string, BashExecutionMessage, string]>([
	["no output", { ...bash, output: " \n" }, "Ran `ls`\n```\n(no output)\n```"],
	["blanks at the end", { ...bash, output: " a \n" }, "Ran `ls`\n```\n a\n```"],
	["a fence", { ...bash, output: "````x````` ``" }, "Ran `ls`\n``````\n````x````` ``\n``````"],
	["two backticks", { ...bash, output: "``" }, "Ran `ls`\n```\n``\n```"],
	["a failure", { ...bash, exitCode: 3 }, "Ran `ls`\n```\na\n```\nThe command exited with code 3."],
	["no exit code", { ...bash, exitCode: null }, "Ran `ls`\n```\na\n```"],
	["a cancellation", { ...bash, exitCode: 3, cancelled: true }, "Ran `ls`\n```\na\n```\nThe command was cancelled."],
	["a truncation", { ...bash, truncated: true, fullOutputPath: "/o" }, "Ran `ls`\n```\na\n```\nFull output: /o"],
	["a truncation without a file", { ...bash, truncated: true }, "Ran `ls`\n```\na\n```"],
	["a file of a complete output", { ...bash, fullOutputPath: "/o" }, "Ran `ls`\n```\na\n```"],
])("the text of a command with %s", (_, message, expected) => {
	expect(bashExecutionText(message)).toBe(expected);
});
