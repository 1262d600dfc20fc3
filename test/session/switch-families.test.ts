import { expect, test } from "vitest";
import { text, thinking } from "../helpers/loopback-provider.js";
import {
	busyReply,
	CALLS,
	callsOf,
	imagesIn,
	PAIRS,
	SIGNATURES,
	saidIn,
	startFamilies,
	TODAY,
	thoughtIn,
} from "./families.js";

/** Ends the run of a busy reply. */
const lastReply = (name: string) => [thinking(`${name} ends`, SIGNATURES[1]), text(`${name} is done`)];

test.each(PAIRS)("%s → %s and back stays legal, with tool calls and images", async (from, to) => {
	const { model, run } = await startFamilies();
	await model(TODAY[from][0]);
	await run("look", busyReply("first"), lastReply("first"));
	await model(TODAY[to][0]);
	const second = await run("go on", busyReply("second"), lastReply("second"));
	expect(callsOf(second)).toEqual([...CALLS, ...CALLS]);
	expect(imagesIn(second)).toBe(3);
	if (from !== to) {
		expect(thoughtIn(second)).not.toContain("first");
		expect(saidIn(second)).toContain("first thinks");
	}
	await model(TODAY[from][0]);
	const back = await run("and back", "ok");
	expect(thoughtIn(back)).toContain("first thinks");
	expect(callsOf(back)).toEqual([...CALLS, ...CALLS]);
});

test.each(PAIRS)("%s → %s during a run stays legal", async (from, to) => {
	const { model, run } = await startFamilies();
	await model(TODAY[from][0]);
	const request = await run(
		"look",
		async () => {
			await model(TODAY[to][0]);
			return busyReply("first");
		},
		lastReply("second"),
	);
	expect(request.api).toBe(TODAY[to][1]);
	expect(callsOf(request)).toEqual(CALLS);
	expect(imagesIn(request)).toBe(2);
});
