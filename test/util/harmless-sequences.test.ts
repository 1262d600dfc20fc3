import { expect, test } from "vitest";
import { takeHarmless } from "../../src/util/harmless-sequences.js";

test.each([
	["\x1b]0;both\x07"],
	["\x1b]1;icon\x1b\\"],
	["\x1b]2;title ✓\x1b\\"],
	["\x1b]9;The build is done\x07"],
	["\x1b]9;4;1;50\x07"],
	["\x1b]9;4;0\x07"],
	["\x1b]99;;plain\x1b\\"],
	["\x1b]99;i=1:d=0;Title\x1b\\"],
	["\x1b]99;i=1:p=body;Text; more\x1b\\"],
	["\x1b]777;notify;Pi;Ready for input\x07"],
])("%j passes", (sequence) => {
	expect(takeHarmless(sequence)).toEqual({ sequences: sequence, rest: "" });
	expect(takeHarmless(`a ${sequence}b`)).toEqual({ sequences: sequence, rest: "a b" });
});

test.each([
	["the clipboard", "\x1b]52;c;aGk=\x07"],
	["a color of the terminal", "\x1b]4;1;#ff0000\x07"],
	["a query of the title", "\x1b[21t"],
	["a macro of the terminal", '\x1b]9;6;"Macro"\x07'],
	["a program of the terminal", "\x1b]9;7;cmd\x07"],
	["a wait for input", "\x1b]9;5\x07"],
	["an unknown progress", "\x1b]9;4;1;50;x\x07"],
	["another command of rxvt", "\x1b]777;exec;ls\x07"],
	["a notification that reports clicks", "\x1b]99;i=1:a=report;x\x1b\\"],
	["a question to the terminal", "\x1b]99;i=1:p=?;\x1b\\"],
	["a notification that reports its end", "\x1b]99;i=1:c=1;x\x1b\\"],
	["a link", "\x1b]8;;http://x\x07"],
	["a sequence in the text", "\x1b]2;a\x1b[31m\x07"],
	["an override of the direction", "\x1b]2;a\u202eb\x07"],
	["a text without an end", "\x1b]2;abc"],
	["a text that is too long", `\x1b]2;${"x".repeat(1001)}\x07`],
])("%s does not pass", (_, sequence) => {
	expect(takeHarmless(sequence)).toEqual({ sequences: "", rest: sequence });
});
