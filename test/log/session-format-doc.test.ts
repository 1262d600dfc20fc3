import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeLine, encodeEntry } from "../../src/log/codec.js";
import { RESERVED_ENTRY_TYPES } from "../../src/log/entry.js";
import { SessionLog } from "../../src/log/session-log.js";
import { closing, fileWith } from "./support.js";

const page = readFileSync(new URL("../../docs/session-format.md", import.meta.url), "utf8");
const lines = [...page.matchAll(/```jsonl\n([\s\S]*?)```/g)].flatMap(([, block]) => block?.trim().split("\n") ?? []);

test.each(lines)("the documented line %.50s… is decoded and encoded unchanged", (line) => {
	expect(decodeLine(line)).toEqual(JSON.parse(line));
	expect(JSON.parse(encodeEntry(decodeLine(line)))).toEqual(JSON.parse(line));
});

test("the documented lines form a session with every core type", () => {
	const log = closing(SessionLog.open(fileWith(lines.join("\n")), { readOnly: true }));
	const types = new Set(log.entries.map(({ type }) => type));
	expect(log.length).toBe(lines.length);
	for (const type of RESERVED_ENTRY_TYPES) {
		if (type !== "opaque") expect([...types]).toContain(type);
	}
});
